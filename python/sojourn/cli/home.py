"""`sojourn home`: one household, today's modem and what could be set instead, without a file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from sojourn.cli.arguments import Parser
    from sojourn.homes.household import Household
    from sojourn.study.result import ReportSummary, StudyResult

ACCESSES = ("docsis31", "docsis30", "dsl", "fibre")
CAN = ("modem", "router", "operator")
MOST_UPLOADS = 64
BANDS = ("5ghz", "2.4ghz")
MOST_STATIONS, MOST_NEIGHBOURS = 32, 16


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import line_rate, whole_number

    parser.epilog = (
        "Compares today's modem, the recommended buffer, queue management in the modem, low latency where the access "
        "has it, and fair queueing in a router in front, beside uploads and a download; with --wifi, queues of the access point. "
        "Example: sojourn home --down 200 --up 20 --access docsis31"
    )
    parser.option("--down", "RATE", "Rate downstream, such as 200M.", type=line_rate, required=True)
    parser.option("--up", "RATE", "Rate upstream, such as 20M.", type=line_rate, required=True)
    parser.option("--access", "KIND", "docsis31, docsis30, dsl or fibre.", choices=ACCESSES, required=True)
    parser.option(
        "--for",
        "WHO",
        "Who counts, of game, call, web and video (game,call,web).",
        default="game,call,web",
        dest="feels",
    )
    parser.option("--can", "WHO", "Whose knobs are turned: modem, router or operator (all of them).", choices=CAN)
    parser.option("--uploads", "N", "Uploads at a time (1).", type=whole_number(1, MOST_UPLOADS), default=1)
    parser.option(
        "--wifi",
        "BAND",
        "Devices are behind Wi-Fi, on a channel at 5ghz or 2.4ghz: settings of the access point compete.",
        choices=BANDS,
    )
    parser.option("--stations", "N", "Devices on the channel (4).", type=whole_number(1, MOST_STATIONS))
    parser.option("--neighbours", "N", "Other homes on the channel (0).", type=whole_number(0, MOST_NEIGHBOURS))
    parser.option("--attic", "MCS", "The last device is far away: its rate, such as mcs0.")
    parser.flag("--explain", "Also write the study that is run, to go on with.")
    parser.option("--out", "DIR", "New directory for the result (default: below results/).")
    parser.option("--store", "DIR", "Where finished runs are kept.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    from pathlib import Path

    from sojourn.base.files import write_file
    from sojourn.cli.console import note, print_json
    from sojourn.homes.wireless import WirelessHome

    home = _home(options)
    explained = _explain(home) if options.explain else None
    out, summary = _run(home, options.out and Path(options.out), options.store)
    headline = summary.headline
    if isinstance(home, WirelessHome):
        answer = home.answer(out)
        sentences, setting = answer.sentences, answer.setting
    else:
        setting = home.cheapest(headline.winner) if headline and headline.winner else ""
        sentences = [] if headline is None else [headline.sentence, headline.graded, *headline.facts]
    lines = home.lines(setting) if setting else ""
    file = home.file_for(setting)
    if file is not None:
        write_file(out / "modem.toml", file[1])
    if options.json:
        print_json(
            {
                "headline": None if headline is None else headline.as_json(),
                **({"sentences": sentences} if options.wifi else {}),
                "setting": setting,
                "set": lines,
                "out": str(out),
                "study": None if explained is None else str(explained),
            }
        )
        return
    for sentence in sentences:
        if sentence:
            print(sentence)
    if lines:
        print(f"\nTo set for {home.called(setting)}:\n{lines.rstrip()}")
        if setting == "CAKE" and not options.wifi:
            line = "pon" if options.access == "fibre" else options.access
            rates = f"--up {options.up:g}M --down {options.down:g}M"
            note(f"how much faster the router may be: sojourn advise --line {line} {rates}")
    if explained is not None:
        note(f"study: {explained}")
    if file is not None:
        note(f"{home.called(file[0])} as a CM configuration file: {out}/modem.toml")
    note(f"report: {out}/report.html")


def _home(options: Namespace) -> Household:
    """Return the household that is asked about.

    Raises `UsageError` if words of Wi-Fi come without `--wifi`, or with the knobs of a modem.
    """
    from sojourn.base.errors import UsageError
    from sojourn.homes.household import Household
    from sojourn.homes.wireless import WirelessHome

    feels = _feels(options.feels)
    line = (options.access, options.down, options.up, feels, options.uploads)
    if not options.wifi:
        for word in ("stations", "neighbours", "attic"):
            if getattr(options, word) is not None:
                raise UsageError(f"--{word} is of a Wi-Fi channel", "add --wifi 5ghz")
        return Household(*line, options.can or "")
    if options.can:
        raise UsageError("--can is of a line without Wi-Fi", "leave it out: the access point and the router compete")
    if options.attic is not None and (options.stations or 4) < 2:
        raise UsageError("--attic needs a second device", "add --stations 2")
    return WirelessHome(*line, "", options.wifi, options.stations or 4, options.neighbours or 0, options.attic or "")


def _feels(text: str) -> tuple[str, ...]:
    """Read who counts.

    Raises `UsageError` if a use is not known.
    """
    from sojourn.base.errors import UsageError, nearest
    from sojourn.homes.household import APPLICATIONS

    words = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    for word in words:
        if word not in APPLICATIONS:
            hint = nearest(word, list(APPLICATIONS)) or f"one or more of {', '.join(APPLICATIONS)}"
            raise UsageError(f'--for: "{word}" is not known', hint)
    if not words:
        raise UsageError("--for names no use", f"one or more of {', '.join(APPLICATIONS)}")
    return words


def _explain(home: Household) -> Path:
    """Write the study below the current directory."""
    from pathlib import Path

    from sojourn.base.output import refuse_used, writing
    from sojourn.study.schema import write_with_schemas

    folder = Path(home.name)
    refuse_used(folder)
    with writing(folder):
        folder.mkdir(exist_ok=True)
        write_with_schemas(folder, home.study_files())
    return folder


def _run(home: Household, out: Path | None, store: str | None) -> tuple[Path, ReportSummary]:
    """Make the runs and the page."""
    import tempfile
    from pathlib import Path

    from sojourn import report
    from sojourn.answers.checks import unanswerable
    from sojourn.base.output import refuse_used
    from sojourn.store import Store
    from sojourn.study.library import load_study
    from sojourn.study.plan import RunOptions, make_plan
    from sojourn.study.progress import StudyProgress
    from sojourn.study.runner import available_cores, run_study

    if out is not None:
        refuse_used(out)
    summaries: list[ReportSummary] = []

    def finish(result: StudyResult) -> None:
        summaries.append(report.build(result))

    with tempfile.TemporaryDirectory() as directory:
        for name, text in home.study_files().items():
            (Path(directory) / name).write_text(text, encoding="utf-8")
        plan = make_plan(load_study(str(Path(directory) / "study.toml")), RunOptions(), unanswerable)
        outcome = run_study(
            plan,
            Store(store),
            out=out,
            jobs=available_cores(),
            progress=StudyProgress(f"{available_cores()} threads"),
            finish=finish,
        )
    return outcome.directory, summaries[0]
