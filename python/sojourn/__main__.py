"""`python -m sojourn` is the command `sojourn`."""

from sojourn.isolated import forget_current_directory

if __name__ == "__main__":
    forget_current_directory()
    from sojourn.cli import main

    main()
