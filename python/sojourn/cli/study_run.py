"""`sojourn study run`: what is missing of a study, and its report."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser
    from sojourn.cluster.drive import Crowd
    from sojourn.report.drawing_files import Drawers
    from sojourn.store import Store
    from sojourn.study.plan import Plan
    from sojourn.study.result import ReportSummary, StudyResult
    from sojourn.study.runner import Outcome, Progress

MOST_SEEDS = 1_000_000  # as in study files


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import share_of, size, span, whole_number

    parser.add_argument("name", metavar="NAME|FILE", help="Study by name, or its file.")
    parser.option("--points", "GLOB", "Only points whose name fits. May be repeated.", action="append", default=[])
    parser.option(
        "--set",
        "A.B.C=V",
        "Change the base scenario; overlays come on top. May be repeated.",
        action="append",
        default=[],
        dest="settings",
    )
    parser.option("--seeds", "N", "Seeds per point.", type=whole_number(1, MOST_SEEDS))
    parser.option(
        "--precision",
        "WIDTH",
        "Seeds until intervals are as narrow: '5 %%', or 'MEASURE: 5 %% or 1 ms' of one measure.",
    )
    parser.option("--duration", "T", 'Duration of each run, such as "60 s".')
    parser.option("--jobs", "N", "Runs at a time (default: all cores).", type=whole_number(1, 1024))
    parser.option(
        "--memory", "SIZE", "Memory budget of all parallel runs, such as 8GB (default: 3/4 of what is free).", type=size
    )
    parser.option("--cluster", "URL", "Run on the workers of a Dask scheduler.")
    parser.option(
        "--on",
        "WHERE",
        "Who makes the runs: threads (default), workers, slurm[:PARTITION], dask://HOST:PORT, or print for commands.",
    )
    parser.option("--workers", "N", "Workers that --on starts (default: all cores).", type=whole_number(1, 100_000))
    parser.option(
        "--sbatch",
        "OPTION",
        "A further option of sbatch, such as --sbatch=--time=04:00:00. May be repeated.",
        action="append",
        default=[],
    )
    parser.option(
        "--patience",
        "SPAN",
        "When a unit that a worker does not finish is given to another (default: 3 times its length, at least 2 min).",
        type=span,
    )
    parser.option(
        "--shard",
        "K/N",
        "Make the K-th of N shares of the runs, from 0; the last one, which finds all in the store, writes the result.",
        type=share_of,
    )
    parser.option(
        "--plugin",
        "FILE",
        "A queue manager of your own, Python or a shared library, to compete with. It is run. May be repeated.",
        action="append",
        default=[],
        dest="plugins",
    )
    parser.flag("--partial", "Make nothing: report on those runs that the store has by now.")
    parser.flag("--quick", "Shorter runs and fewer seeds: a first look.")
    parser.flag("--no-figures", "Draw no figures: tables and verdicts only.")
    parser.flag("--pdf", "Also write each figure as PDF; doubles the time.")
    parser.option("--out", "DIR", "New directory for the result (default: results/STUDY/DATE-TIME).", type=Path)
    parser.option("--store", "URL", "Where finished runs are kept: a path, or s3://BUCKET/PREFIX.")
    parser.option(
        "--progress", "json", "Tell progress on stderr as JSON, a line for each finished run.", choices=["json"]
    )
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> int:
    import contextlib

    from sojourn.answers.checks import unanswerable
    from sojourn.base.errors import ExitStatus, InterruptedRun, UsageError
    from sojourn.base.output import refuse_used
    from sojourn.cli.console import note, print_json, show_failures, show_warnings
    from sojourn.plugins import read_plugin, try_plugins
    from sojourn.study.competitors import with_plugins
    from sojourn.study.expand import has_many_points
    from sojourn.study.library import load_study, with_settings
    from sojourn.study.plan import RunOptions, make_plan
    from sojourn.study.progress import JsonProgress, StudyProgress
    from sojourn.study.runner import available_cores, kept_runs, partial_plan, run_study

    wishes = RunOptions(tuple(options.points), options.seeds, options.duration, options.quick, options.precision)
    if options.precision and (options.seeds or options.quick):
        raise UsageError(
            "--precision, --seeds and --quick exclude each other", "--precision decides how many seeds there are"
        )
    for name, value in (("--cluster", options.cluster), ("--on", options.on)):
        if options.plugins and value:
            raise UsageError(f"--plugin and {name} exclude each other", "a plugin runs on this machine")
    if options.shard is not None and options.on not in (None, "threads"):
        raise UsageError("--shard and --on exclude each other", "workers share the runs by themselves")
    if options.cluster and options.on:
        raise UsageError("--cluster and --on exclude each other", "--on dask://HOST:PORT")
    plugins = [read_plugin(path) for path in options.plugins]
    study = with_plugins(load_study(options.name), plugins)
    study = with_settings(study, options.settings, note)
    if has_many_points(study.definition):
        from sojourn.cli.study_run_many import run_many

        crowd, store = _crowd(options, options.jobs or available_cores(), "workers")
        assert crowd is not None
        run_many(options, study, wishes, crowd, store)
        return ExitStatus.DONE
    plan = make_plan(study, wishes, unanswerable)
    if plan.precision is not None and options.shard is not None:
        raise UsageError(
            "--shard takes a number of seeds: who makes a share does not see the others' runs", "add --seeds N"
        )
    show_warnings(plan.warnings)
    if plugins:
        try_plugins(plugins)
    out, cluster, quick = options.out, options.cluster, options.quick
    if out is not None:
        refuse_used(out)
    workers = options.jobs or available_cores()
    crowd, store = _crowd(options, workers)
    place = cluster or ("1 thread" if workers == 1 else f"{workers} threads")
    if crowd is not None:
        place = crowd.executor.describe()
    in_groups = crowd is not None
    progress = JsonProgress(in_groups=in_groups) if options.progress else StudyProgress(place, in_groups=in_groups)
    if options.partial:
        if crowd is not None:
            crowd.fetch(plan, store)
        plan, crowd = partial_plan(plan, store), None
    summaries: list[ReportSummary] = []
    wanted = {"figures": not options.no_figures, "pdf": bool(options.pdf)}
    ready: list[Drawers] = []

    def prepare() -> None:
        from sojourn import report

        ready.append(begun.enter_context(report.make_ready(study.definition, **wanted)))

    def finish(result: StudyResult) -> None:
        from sojourn import report

        note("writing the report")
        from sojourn.report.precision_section import precision_sentence

        if precise := precision_sentence(result):
            note(precise)
        summaries.append(report.build(result, drawers=ready[0] if ready else None, **wanted))

    try:
        if options.shard is not None and not _make_share(options, plan, store, progress, workers):
            return ExitStatus.DONE
        with contextlib.ExitStack() as begun:
            outcome = run_study(
                plan,
                store,
                out=out,
                jobs=workers,
                cluster=cluster,
                elsewhere=None if crowd is None else crowd.make,
                memory=options.memory,
                progress=progress,
                finish=finish,
                on_last=prepare,
            )
    except KeyboardInterrupt as error:
        kept = len(kept_runs(plan, store))
        raise InterruptedRun(
            f"interrupted; {kept} of {len(plan.runs)} runs are kept in the store",
            "the same command continues from there",
        ) from error
    (summary,) = summaries
    if options.json:
        print_json(
            {
                "study": plan.study.definition.name,
                "out": str(outcome.directory),
                "quick": quick,
                "reduced": plan.reduced,
                "headline": None if summary.headline is None else summary.headline.as_json(),
                "comparison": summary.comparison,
                "claims": summary.claims,
                "failures": list(summary.failures),
                "runs": {"computed": outcome.computed, "reused": outcome.reused},
                "simulated_s": outcome.simulated_s,
                "wall_s": outcome.wall_s,
                "report_s": outcome.report_s,
                "packet_hops": outcome.packet_hops,
            }
        )
    else:
        _tell(plan, outcome, summary)
    return show_failures(summary.failures)


def _crowd(options: Namespace, cores: int, threads: str = "threads") -> tuple[Crowd | None, Store]:
    """Return the workers that were asked for, if any, and the store of this machine; `threads` is what takes the place of threads."""
    from sojourn.cli.console import note, warn
    from sojourn.store import Store, default_directory
    from sojourn.store.shared import is_address, open_objects

    store = str(options.store or default_directory())
    on = options.on or "threads"
    if on == "threads":
        # Threads keep runs on this machine only.
        on = "workers" if is_address(store) else threads
    if on == "threads":
        return None, Store(store, on_damage=warn)
    from sojourn.cluster.drive import Crowd
    from sojourn.cluster.executors import executor_of

    # Who only looks needs no batch system.
    on = "print" if options.partial else on
    executor = executor_of(on, print, options.sbatch, Path("sojourn-logs"))
    objects = open_objects(store)
    own = None if is_address(store) else store
    workers = options.workers or cores
    crowd = Crowd(objects, executor, workers, note, options.patience)
    return crowd, Store(own, on_damage=warn)


def _make_share(options: Namespace, plan: Plan, store: Store, progress: Progress, workers: int) -> bool:
    """Make the runs of a share; return whether the store has all runs of the study now."""
    from sojourn.cli.console import note, print_json
    from sojourn.study.runner import execute_plan, kept_runs

    number, count = options.shard
    own = plan.shard(number, count)
    if own.runs:
        _, computed = execute_plan(
            own, store, jobs=workers, cluster=options.cluster, memory=options.memory, progress=progress
        )
    else:
        computed = 0
    kept = len(kept_runs(plan, store))
    if kept == len({run.key for run in plan.runs}):
        return True
    note(
        f"share {number} of {count}: {computed} runs computed, {len(own.runs) - computed} from the store; "
        f"{kept} of {len(plan.runs)} runs of the study are in the store"
    )
    note("the call that finds all of them writes the result")
    if options.json:
        print_json(
            {
                "study": plan.study.definition.name,
                "out": None,
                "runs": {"computed": computed, "reused": len(own.runs) - computed},
                "kept": kept,
                "missing": len(plan.runs) - kept,
            }
        )
    return False


def _tell(plan: Plan, outcome: Outcome, summary: ReportSummary) -> None:
    from sojourn.cli.console import hand_over, note, tell_claims

    note(
        f"{outcome.computed} runs computed, {outcome.reused} from the store; "
        f"{outcome.simulated_s:,.0f} s simulated, {outcome.packet_hops:,} packet-hops, "
        f"{outcome.wall_s - outcome.report_s:.1f} s; report: {outcome.report_s:.1f} s"
    )
    if summary.headline is not None:
        note(summary.headline.sentence)
        if summary.headline.graded:
            note(summary.headline.graded)
    label = f" ({plan.reduced} run, not the study's verdict)" if plan.reduced else ""
    cells = summary.comparison
    if sum(cells.values()):
        note(f"printed cells{label}: {cells['match']} match, {cells['miss']} miss, {cells['unjudged']} unjudged")
    tell_claims(summary, plan.reduced)
    hand_over(outcome.directory / "report.html")
