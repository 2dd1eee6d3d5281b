"""`python -m sojourn` is the command `sojourn`."""

from sojourn.process.isolated import forget_current_directory

if __name__ == "__main__":
    try:
        forget_current_directory()
        from sojourn.cli import main
    except KeyboardInterrupt:
        raise SystemExit(3) from None  # as in `sojourn.base.errors.ExitStatus`
    main()
