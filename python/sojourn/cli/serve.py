"""`sojourn serve`: the page with live runs, lessons and results, on this machine."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Generator

    from sojourn.cli.arguments import Parser

__all__ = ["arguments", "execute"]


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import whole_number
    from sojourn.memory import memory_size

    parser.add_argument(
        "what",
        metavar="FILE|STUDY|RESULT",
        nargs="*",
        help="A scenario opens in Explore, a study or a result under Results; `lesson` lists the lessons, `lesson NAME` "
        "opens one; nothing opens the start. A file of that name is ./lesson. `sojourn serve export DIR` writes files "
        "for any web server.",
    )
    parser.option(
        "--results", "DIR", "Where results lie (results).", type=Path, default=Path("results")
    )
    parser.option("--store", "DIR", "Where finished runs are kept.", type=Path)
    parser.option(
        "--port",
        "N",
        "Where to listen (8417, or the next free one of ten; 0 takes any).",
        type=whole_number(0, 65_535),
    )
    parser.option("--host", "ADDRESS", "Listen there instead of on this machine only.", default="")
    parser.option(
        "--allow-host",
        "NAME",
        "A name that browsers of other machines ask for. May be repeated.",
        action="append",
        default=[],
    )
    parser.flag("--read-only", "Start no studies.")
    parser.option("--jobs", "N", "Runs of a study at a time.", type=whole_number(1, 1024))
    parser.option("--memory", "SIZE", "Memory of a study's runs, such as 8GB.", type=memory_size)
    parser.flag("--no-open", "Open no browser.")
    parser.flag("--json", "Print one JSON object with the link and nothing else.")


def execute(options: Namespace) -> int:
    """Serve until Ctrl-C."""
    import contextlib
    import os
    import sys

    from sojourn.cli.console import note, print_json, print_table
    from sojourn.errors import ExitStatus, MissingExtra, UsageError
    from sojourn.serve.lessons import PAGE, lessons
    from sojourn.store import default_directory

    what: list[str] = options.what
    lesson = ""
    if what[:1] == ["lesson"]:
        known = {one.name: one.title for one in lessons()}
        if len(what) == 1:
            print_table(["lesson", "question"], list(known.items()))
            return 0
        lesson, what = what[1], what[2:]
        if lesson not in known:
            raise UsageError(f"no lesson '{lesson}'", f"lessons are {', '.join(known)}")
    try:
        from sojourn.serve.service import PORT, Wishes, named, opened, serve
    except ImportError as error:
        raise MissingExtra("the page's server", str(error.name), "serve") from error

    paths = named([Path(text) for text in what])
    study_options = [] if options.store is None else [f"--store={options.store}"]
    if options.jobs is not None:
        study_options.append(f"--jobs={options.jobs}")
    if options.memory is not None:
        study_options.append(f"--memory={options.memory}")
    wishes = Wishes(
        results=options.results,
        store=options.store or default_directory(),
        named=paths,
        port=PORT if options.port is None else options.port,
        host=options.host,
        allowed=tuple(options.allow_host),
        read_only=options.read_only,
        study_options=tuple(study_options),
    )
    shows = sys.stdout.isatty() and bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )

    @contextlib.contextmanager
    def ready(link: str, port: int) -> Generator[None]:
        if options.json:
            live = "tab" if (PAGE / "engine.wasm").is_file() else "none"
            print_json({"url": link, "port": port, "engine": _version(), "live": live})
        else:
            print(link)
            if options.port is not None and options.port not in (0, port):
                note(f"port {options.port} is taken: this is {port}")
            if options.host:
                note(f"whoever reaches {options.host} and has the link can do what you can do here")
        sys.stdout.flush()
        with contextlib.ExitStack() as stack:
            if shows and not options.no_open and not options.json:
                stack.enter_context(opened(link))
            yield

    if serve(wishes, _address(lesson, paths), ready):
        note("a study was cut off; its finished runs are in the store, and it goes on from there")
        return ExitStatus.INTERRUPTED
    return 0


def _address(lesson: str, paths: tuple[Path, ...]) -> str:
    """Return what the link opens."""
    from sojourn.serve.browse import opening

    if lesson:
        return f"lessons/{lesson}/index.html"
    return opening(paths[0]) if paths else ""


def _version() -> str:
    import sojourn._engine as _engine

    return _engine.engine_version()
