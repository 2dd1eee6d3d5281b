"""`sojourn group`: how many homes fit on the channels of a service group."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from sojourn.cli.arguments import Parser
    from sojourn.study.result import StudyResult

__all__ = ["arguments", "execute"]

MOST_HOMES = 1024
"""Four times as many are tried, and a scenario has at most 4096."""

MOST_SEEDS = 100


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import whole_number

    parser.epilog = (
        "Runs the file with a quarter to four times as many homes, of the same kinds in the same proportions, and says when "
        "calls feel their neighbours. Example: sojourn group scenarios/neighbourhood.toml --homes 200"
    )
    parser.add_argument("file", metavar="FILE", help="Scenario file with homes on a service group.")
    parser.option(
        "--homes", "N", "Homes on the channel now (default: those of the file).", type=whole_number(1, MOST_HOMES)
    )
    parser.option(
        "--set",
        "A.B.C=V",
        "Change the scenario, for example group.subcarriers=800; plan.up and plan.down are the rates that homes buy. May be repeated.",
        action="append",
        default=[],
        dest="settings",
    )
    parser.option("--seeds", "N", "Runs of each number of homes (2).", type=whole_number(1, MOST_SEEDS))
    parser.option("--out", "DIR", "New directory for the result (default: below results/).")
    parser.option("--store", "DIR", "Where finished runs are kept.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """Run the study of a neighbourhood, and say when to split the node."""
    from dataclasses import asdict

    from sojourn.cli.console import note, print_json, print_table
    from sojourn.homes.neighbourhood import Answer, counts_of, crowds_of, settings_of
    from sojourn.scenario.scenario_file import load_scenario

    text = load_scenario(options.file, settings_of(options.settings)).text
    homes = options.homes or sum(counts_of(text).values())
    out, numbers = _run(text, homes, options)
    answer = Answer(homes, crowds_of(numbers))
    if options.json:
        full = answer.split_at
        print_json(
            {
                "homes": homes,
                "split_at": None if full is None else full.homes,
                "sentence": answer.sentence,
                "crowds": [asdict(crowd) for crowd in answer.crowds],
                "out": str(out),
            }
        )
        return
    print(answer.sentence)
    headings = ["homes", "channel used, %", "tiers left", "median call, ms", "worst call, ms"]
    headings.append("calls over 50 ms, %")
    down = [(it.down_use, it.down_worst_ms) for it in answer.crowds]
    if any(use is not None for use, _ in down):
        headings += ["downstream busy, %", "worst call there, ms"]
    rows: list[list[str]] = []
    for it, (use, worst) in zip(answer.crowds, down, strict=True):
        left = "–" if it.left is None else f"{it.left:.1f}"
        row = [str(it.homes), f"{it.use:.0f}", left, f"{it.median_ms:.1f}", f"{it.worst_ms:.1f}"]
        row.append(f"{it.spoilt:.0f}")
        if use is not None:
            row += [f"{use:.0f}", "–" if worst is None else f"{worst:.1f}"]
        rows.append(row)
    print_table(headings, rows)
    note(f"report: {out}/report.html")


def _run(text: str, homes: int, options: Namespace) -> tuple[Path, dict[int, dict[str, float]]]:
    """Make the runs and the page; returns the means of the channel's metrics by number of homes."""
    import csv
    import tempfile
    from pathlib import Path

    from sojourn import report
    from sojourn.answers.checks import unanswerable
    from sojourn.base.output import refuse_used
    from sojourn.homes.neighbourhood import SEEDS, study_files
    from sojourn.store import Store
    from sojourn.study.library import load_study
    from sojourn.study.plan import RunOptions, make_plan
    from sojourn.study.progress import StudyProgress
    from sojourn.study.runner import available_cores, run_study

    def finish(result: StudyResult) -> None:
        report.build(result)

    out = options.out and Path(options.out)
    if out is not None:
        refuse_used(out)
    files = study_files(text, homes, options.seeds or SEEDS)
    with tempfile.TemporaryDirectory() as directory:
        for name, content in files.items():
            (Path(directory) / name).write_text(content, encoding="utf-8")
        study = load_study(str(Path(directory) / "study.toml"))
        outcome = run_study(
            make_plan(study, RunOptions(), unanswerable),
            Store(options.store),
            out=out,
            jobs=available_cores(),
            progress=StudyProgress(f"{available_cores()} threads"),
            finish=finish,
        )
    numbers: dict[int, dict[str, float]] = {}
    with (outcome.directory / "summary.csv").open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            channel, sign, direction = row["subject"].partition("/")
            if channel == "group" and row["homes"]:  # the picture of the day has none
                means = numbers.setdefault(int(row["homes"]), {})
                means[row["metric"] + sign + direction] = float(row["mean"])
    return outcome.directory, numbers
