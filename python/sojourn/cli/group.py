"""`sojourn group`: how many homes fit on the channels of a service group."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from sojourn.cli.arguments import Parser
    from sojourn.homes.neighbourhood import Answer
    from sojourn.study.result import StudyResult

MOST_ASKED = 1_000_000
"""Homes that may be asked about; thresholds say how many nodes they are."""

MOST_SEEDS = 100


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import whole_number

    parser.epilog = (
        "Says whether N homes are fine on the channel, and searches from how many on they are not: runs of the file "
        "with more and fewer homes, of the same kinds in the same proportions. Example: sojourn group scenarios/neighbourhood.toml "
        "--homes 200"
    )
    parser.add_argument("file", metavar="FILE", help="Scenario file with homes on a service group.")
    parser.option(
        "--homes", "N", "Homes on the channel now (default: those of the file).", type=whole_number(1, MOST_ASKED)
    )
    parser.option(
        "--set",
        "A.B.C=V",
        "Change the scenario, for example group.subcarriers=800; plan.up and plan.down are the rates that homes buy, seed the first seed. May be repeated.",
        action="append",
        default=[],
        dest="settings",
    )
    parser.option("--seeds", "N", "Runs of each number of homes (3).", type=whole_number(1, MOST_SEEDS))
    parser.option("--out", "DIR", "New directory for the result (default: below results/).")
    parser.option("--store", "DIR", "Where finished runs are kept.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    from dataclasses import asdict

    from sojourn.cli.console import note, print_json, print_table
    from sojourn.homes.neighbourhood import counts_of, plant_of, settings_of
    from sojourn.scenario.scenario_file import load_scenario

    settings, first_seed = settings_of(options.settings)
    text = load_scenario(options.file, settings).text
    homes = options.homes or sum(counts_of(text).values())
    out, answer = _run(text, homes, first_seed, options)
    split = answer.split
    crowds = {one.homes: one for one in [*answer.crowds, *([answer.own] if answer.own else [])]}
    if options.json:
        print_json(
            {
                "homes": homes,
                "verdict": answer.verdict,
                "split_at": None if split is None else split.homes,
                "sentence": answer.sentence,
                "plant": plant_of(text),
                "thresholds": [asdict(one) for one in answer.thresholds],
                "crowds": [
                    {"homes": number, **{name: one.mean(name) for name in sorted(next(iter(one.seeds.values())))}}
                    for number, one in sorted(crowds.items())
                ],
                "out": str(out),
            }
        )
        return
    print(answer.sentence)
    print()
    print_table(
        ("what", "from homes (95 %)", "when"), [(one.name, one.told, one.definition) for one in answer.thresholds]
    )
    print()
    print(f"On {plant_of(text)}; another plant has other numbers.")
    note(f"report: {out}/report.html")


def _run(text: str, homes: int, first_seed: int, options: Namespace) -> tuple[Path, Answer]:
    """Search the thresholds, and make the page of all runs."""
    import tempfile
    from pathlib import Path

    from sojourn import report
    from sojourn.answers.checks import unanswerable
    from sojourn.base.output import refuse_used
    from sojourn.cli.console import note
    from sojourn.homes.neighbourhood import SEEDS, Answer, counts_of, crowds_of, study_files
    from sojourn.homes.thresholds import Crowd, most_rounds_left, next_numbers
    from sojourn.store import Store
    from sojourn.study.library import load_study
    from sojourn.study.plan import Plan, RunOptions, make_plan
    from sojourn.study.progress import StudyProgress
    from sojourn.study.runner import available_cores, execute_plan, run_study
    from sojourn.study.write import metrics_of

    def finish(result: StudyResult) -> None:
        report.build(result)

    out = options.out and Path(options.out)
    if out is not None:
        refuse_used(out)
    seeds, store, cores = options.seeds or SEEDS, Store(options.store), available_cores()
    progress = StudyProgress(f"{cores} threads")

    def planned(numbers: list[int], asked: int, folder: Path) -> Plan:
        for name, content in study_files(text, asked, numbers, seeds, first_seed).items():
            (folder / name).write_text(content, encoding="utf-8")
        return make_plan(load_study(str(folder / "study.toml")), RunOptions(), unanswerable)

    start = sum(counts_of(text).values())
    crowds: list[Crowd] = []
    with tempfile.TemporaryDirectory() as directory:
        while numbers := next_numbers(crowds, start):
            left = most_rounds_left(crowds)
            more = "" if left is None else f"; then at most {left - 1} more times" if left > 1 else "; the last ones"
            note(f"trying {' and '.join(f'{number:,}' for number in numbers)} homes{more}")
            plan = planned(numbers, numbers[0], Path(directory))
            entries, _ = execute_plan(plan, store, jobs=cores, progress=progress)
            metrics = metrics_of(list(zip(plan.runs, entries, strict=True)), plan.study.definition)
            crowds += crowds_of(metrics, {str(number): number for number in numbers})
            crowds.sort(key=lambda one: one.homes)
        searched = [one.homes for one in crowds]
        plan = planned(searched, homes, Path(directory))
        outcome = run_study(plan, store, out=out, jobs=cores, progress=progress, finish=finish)
        entries, _ = execute_plan(plan, store, jobs=cores, progress=progress)
        metrics = metrics_of(list(zip(plan.runs, entries, strict=True)), plan.study.definition)
    tried = crowds_of(metrics, {str(number): number for number in {*searched, homes}})
    return outcome.directory, Answer.of(homes, tried, searched)
