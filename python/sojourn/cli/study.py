"""`sojourn study`: list, show and run studies."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sojourn.study.plan import Plan
    from sojourn.study.result import ReportSummary
    from sojourn.study.runner import Outcome

__all__ = ["study_app"]

study_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, show and run studies: many runs and what to make of them.",
)


@study_app.command("list")
def list_studies() -> None:
    """List the studies that come with Sojourn."""
    from sojourn.cli.console import print_table
    from sojourn.study.library import builtin_names, load_study

    rows = [(name, load_study(name).definition.title) for name in builtin_names()]
    print_table(["study", "title"], rows)


@study_app.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Study by name, or its file.")],
) -> None:
    """Show what a study runs."""
    from sojourn.cli.console import print_table
    from sojourn.study.library import load_study
    from sojourn.study.plan import RunOptions, make_plan

    study = load_study(name)
    plan = make_plan(study, RunOptions())
    definition = study.definition
    print(definition.title or definition.name)
    for text in (definition.source, definition.summary.strip()):
        if text:
            print(f"\n{text}")
    first, last = plan.seeds[0], plan.seeds[-1]
    seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
    print(
        f"\n{len(plan.points)} points, {seeds}: {len(plan.runs)} runs, "
        f"{plan.simulated_s:,.0f} simulated seconds\n"
    )
    labels = list(dict.fromkeys(label for item in plan.points for label in item.point.labels))
    rows = [
        [
            item.point.name,
            *(str(item.point.labels.get(label, "")) for label in labels),
            f"{item.scenario.duration_s:g} s",
            " + ".join(item.point.overlays),
        ]
        for item in plan.points
    ]
    print_table(["point", *labels, "duration", "overlays"], rows)


def _available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@study_app.command("run")
def run_study_command(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="Study by name, or its file.")],
    *,
    points: Annotated[
        list[str] | None,
        typer.Option(
            "--points", metavar="GLOB", help="Only points whose name fits. May be repeated."
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", metavar="N", min=1, help="Seeds per point.")
    ] = None,
    duration: Annotated[
        str | None, typer.Option("--duration", metavar="T", help='Of each run, such as "60 s".')
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", metavar="N", min=1, help="Runs at a time.", show_default="all cores"
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="URL", help="Run on the workers of a Dask scheduler."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Shorter runs, fewer seeds: a look in some 10 s.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="New directory for the result.",
            show_default="results/STUDY/DATE-TIME",
        ),
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="DIR", help="Where finished runs are kept.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run what is missing of a study and write its report."""
    from sojourn.cli.console import note, print_json, warn
    from sojourn.cli.progress import StudyProgress
    from sojourn.errors import InterruptedRun
    from sojourn.output import refuse_used
    from sojourn.store import Store
    from sojourn.study.library import load_study
    from sojourn.study.plan import RunOptions, make_plan
    from sojourn.study.runner import run_study

    options = RunOptions(tuple(points or ()), seeds, duration, quick)
    plan = make_plan(load_study(name), options)
    if out is not None:
        refuse_used(out)
    workers = jobs or _available_cores()
    progress = StudyProgress(cluster or ("1 thread" if workers == 1 else f"{workers} threads"))
    kept_runs = Store(store, on_damage=warn)
    summaries: list[ReportSummary] = []

    def finish(directory: Path) -> None:
        from sojourn import report
        from sojourn.study.result import StudyResult

        note("writing the report")
        summaries.append(report.build(StudyResult.load(directory)))

    try:
        outcome = run_study(
            plan,
            kept_runs,
            out=out,
            jobs=workers,
            cluster=cluster,
            progress=progress,
            finish=finish,
        )
    except KeyboardInterrupt as error:
        kept = sum(kept_runs.holds(run.key) for run in plan.runs)
        raise InterruptedRun(
            f"interrupted; {kept} of {len(plan.runs)} runs are kept in the store",
            "the same command continues from there",
        ) from error
    (summary,) = summaries
    if as_json:
        print_json(
            {
                "study": plan.study.definition.name,
                "out": str(outcome.directory),
                "quick": quick,
                "comparison": summary.comparison,
                "claims": summary.claims,
                "runs": {"computed": outcome.computed, "reused": outcome.reused},
                "simulated_s": outcome.simulated_s,
                "wall_s": outcome.wall_s,
                "packet_hops": outcome.packet_hops,
            }
        )
    else:
        _tell(plan, outcome, summary)


def _tell(plan: "Plan", outcome: "Outcome", summary: "ReportSummary") -> None:
    from sojourn.cli.console import note

    note(
        f"{outcome.computed} runs computed, {outcome.reused} from the store; "
        f"{outcome.simulated_s:,.0f} s simulated, {outcome.packet_hops:,} packet-hops, "
        f"{outcome.wall_s:.1f} s in all"
    )
    label = " (quick: shortened runs, not the study's verdict)" if plan.options.quick else ""
    cells = summary.comparison
    if sum(cells.values()):
        note(
            f"printed cells{label}: {cells['match']} match, {cells['miss']} miss, "
            f"{cells['unjudged']} unjudged"
        )
    for use, counts in summary.claims.items():
        if sum(counts.values()):
            note(
                f"claims, {use}{label}: {counts['holds']} hold, {counts['fails']} fail, "
                f"{counts['not_run']} not run"
            )
    print(outcome.directory / "report.html")
