"""`sojourn serve`: the page with live runs, lessons and results, on this machine."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Generator, Sequence

    from sojourn.cli.arguments import Parser
    from sojourn.serve.lessons import Lesson


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import size, whole_number

    parser.add_argument(
        "what",
        metavar="FILE|STUDY|RESULT",
        nargs="*",
        help="A scenario opens in Explore, a study or a result under Results; `lesson` lists the lessons, `lesson NAME` "
        "opens one; nothing opens the start. A file of that name is ./lesson. `sojourn serve export DIR` writes files "
        "for any web server.",
    )
    parser.option("--results", "DIR", "Where results lie (results).", type=Path, default=Path("results"))
    parser.option("--store", "DIR", "Where finished runs are kept.", type=Path)
    parser.option(
        "--port", "N", "Where to listen (8417, or the next free one of ten; 0 takes any).", type=whole_number(0, 65_535)
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
    parser.option("--memory", "SIZE", "Memory of a study's runs, such as 8GB.", type=size)
    parser.flag("--no-open", "Open no browser.")
    parser.flag("--check", "With `lesson`: run its claims with seeds 1 to 20, and say how each went.")
    parser.flag("--json", "Print one JSON object, with the link or with what was checked.")


def execute(options: Namespace) -> int:
    import contextlib
    import os
    import sys

    from sojourn.base.errors import ExitStatus, MissingExtra, UsageError
    from sojourn.cli.console import note, print_json, print_table
    from sojourn.serve.lessons import PAGE, lessons
    from sojourn.store import default_directory

    what: list[str] = options.what
    lesson = ""
    if what[:1] == ["lesson"]:
        known = {one.name: one for one in lessons()}
        for name in what[1:] if options.check else what[1:2]:
            if name not in known:
                raise UsageError(f"no lesson '{name}'", f"lessons are {', '.join(known)}")
        if options.check:
            return _check([known[name] for name in what[1:] or known], as_json=options.json)
        if len(what) == 1:
            print_table(["lesson", "question"], [(one.name, one.title) for one in known.values()])
            return 0
        lesson, what = what[1], what[2:]
    elif options.check:
        raise UsageError("only lessons have claims", "sojourn serve lesson --check")
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
    shows = sys.stdout.isatty() and bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))

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
                note(f"anyone who reaches {options.host} and has the link can do what you can do here")
        sys.stdout.flush()
        with contextlib.ExitStack() as stack:
            if shows and not options.no_open and not options.json:
                stack.enter_context(opened(link))
            yield

    if serve(wishes, _address(lesson, paths), ready):
        note("a study was cut off; its finished runs are in the store, and it goes on from there")
        return ExitStatus.INTERRUPTED
    return 0


def _check(chosen: Sequence[Lesson], *, as_json: bool) -> int:
    """Judge what these lessons claim; the status says whether all of it holds."""
    from sojourn.cli.console import print_json, print_rows
    from sojourn.serve.lessons import SEEDS, Verdict, judged, median_and_range

    found: dict[str, list[Verdict]] = {}

    def rows() -> Generator[tuple[str, ...]]:
        for lesson in chosen:
            found[lesson.name] = judged(lesson)
            for one in found[lesson.name]:
                median, spread = (
                    # A page sets thousands apart by a narrow space, a terminal by a comma.
                    text.replace("\N{NARROW NO-BREAK SPACE}", ",")
                    for text in median_and_range(one.values, one.claim.of)
                )
                held = f"{sum(one.holds)} of {len(one.holds)}"
                yield (lesson.name, one.strip, held, median, spread, one.claim.of, one.claim.says)

    head = ("lesson", f"seeds {SEEDS[0]} to {SEEDS[-1]}", "holds", "median", "range", "of", "claim")
    if as_json:
        list(rows())
        print_json(
            {
                "seeds": list(SEEDS),
                "lessons": {
                    name: [{"claim": one.claim.says, "holds": one.holds, "values": one.values} for one in verdicts]
                    for name, verdicts in found.items()
                },
            }
        )
    else:
        print_rows(head, rows())
    return 0 if all(one.is_kept for verdicts in found.values() for one in verdicts) else 1


def _address(lesson: str, paths: tuple[Path, ...]) -> str:
    """Return what the link opens."""
    from sojourn.serve.browse import opening

    if lesson:
        return f"lessons/{lesson}/index.html"
    return opening(paths[0]) if paths else ""


def _version() -> str:
    import sojourn._engine as _engine

    return _engine.engine_version()
