"""`sojourn study run` of a study that has more points than a list holds: workers make them, the report goes column by column."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cluster.drive import Crowd
    from sojourn.cluster.notes import DoneNote
    from sojourn.store import Store
    from sojourn.study.library import Study
    from sojourn.study.plan import RunOptions


def run_many(options: Namespace, study: Study, wishes: RunOptions, crowd: Crowd, store: Store) -> None:
    """Let workers make what is missing of a study, and write its report."""
    import time
    from datetime import UTC, datetime

    from sojourn.answers.open_study import OpenStudy
    from sojourn.answers.selection import Points
    from sojourn.base.errors import InterruptedRun
    from sojourn.base.output import dated, new_directory, writing
    from sojourn.cli.console import hand_over, note, print_json, tell_claims
    from sojourn.cluster.many import ManyPoints
    from sojourn.report.builder import summary_of
    from sojourn.report.columns import build_columns, choose
    from sojourn.study.columns import write_columns
    from sojourn.study.manifest import describe_study
    from sojourn.study.plan import RunLength
    from sojourn.study.runner import failed_runs, point_latest, share_words

    _refuse(options, study)
    definition = study.definition
    _ = OpenStudy(definition, study.path.parent, Points(())).functions  # fails now, not after a night
    quick = definition.quick
    seeds = wishes.seeds or (quick.seeds if wishes.quick else definition.seeds.count)
    first = definition.seeds.first
    count = ManyPoints(study, RunLength(), seeds).points
    many = ManyPoints(study, RunLength.asked_for(wishes, quick.duration, count), seeds)
    note(
        f"{definition.name}: {many.points:,} points, {many.runs:,} runs; the report tells measures, axes, ends and claims, "
        "and leaves out tables and figures of the study file"
    )
    began, started_at = time.perf_counter(), datetime.now(UTC)
    reduced = ["quick"] if wishes.quick else ["shortened"] if wishes.duration else []
    reduced += ["changed"] if study.settings else []
    directory = options.out if options.out is not None else dated(definition.name)
    with new_directory(directory, is_ours=options.out is None) as unfinished:
        try:
            if options.partial:
                notes, share = many.fetch(crowd, store)
                reduced += [share_words(share)] if share < 1 else []
            else:
                notes, share = many.make(crowd, store), 1.0
        except KeyboardInterrupt as error:
            raise InterruptedRun(
                "interrupted; units that are done are kept in the store", "the same command continues from there"
            ) from error
        last_run = time.perf_counter()
        note("writing the report")
        missing = _missing(notes)
        words = ", ".join(reduced)
        manifest = describe_study(study, wishes, list(range(first, first + seeds)), words, started_at=started_at)
        runs = sum(one.runs for one in notes)
        manifest |= {"runs": runs, "missing": missing, "wall_s": round(last_run - began, 3)}
        manifest |= {"share": share} if share < 1 else {}
        segments = [segment for one in notes for segment in one.segments]
        with writing(directory):
            result = write_columns(unfinished, study, store, segments, choose, manifest)
            figures, pdf = not options.no_figures, bool(options.pdf)
            parts = build_columns(result, figures=figures, pdf=pdf)
    if options.out is None:
        point_latest(directory)
    ended = time.perf_counter()
    simulated = float(result.runs["simulated_s"].sum())
    hops = int(result.runs["packet_hops"].sum())
    if options.json:
        print_json(
            {
                "study": definition.name,
                "out": str(directory),
                "quick": wishes.quick,
                "reduced": words,
                "headline": parts.headlines[0],
                "claims": summary_of(parts).claims,
                "points": many.points,
                "runs": runs,
                "missing": len(missing),
                "simulated_s": simulated,
                "wall_s": ended - began,
                "report_s": ended - last_run,
                "packet_hops": hops,
            }
        )
    else:
        note(
            f"{runs:,} runs; {simulated:,.0f} s simulated, {hops:,} packet-hops, "
            f"{last_run - began:.1f} s; report: {ended - last_run:.1f} s"
        )
        note(parts.headlines[0])
        tell_claims(summary_of(parts), words)
        hand_over(directory / "report.html")
    if missing:
        raise failed_runs(missing, runs + len(missing), f"the result without them is in {directory}")


def _missing(notes: list[DoneNote]) -> list[str]:
    from sojourn.cluster.notes import missing_of

    return [f"{point}, seed {seed}: {text}" for note in notes for point, seed, _, text in missing_of(note)]


def _refuse(options: Namespace, study: Study) -> None:
    """Make sure that nothing is asked for that needs a list of all points.

    Raises `UsageError` if something is.
    """
    from sojourn.base.errors import UsageError
    from sojourn.study.expand import MOST_POINTS

    hints = {
        "--points": (options.points, "`exclude` in the study file leaves points out"),
        "--precision": (options.precision, "--seeds N"),
        "--shard": (options.shard, "--on print tells the command of a worker, for any number"),
        "--plugin": (options.plugins, "a smaller study"),
        "--cluster": (options.cluster, "--on dask://HOST:PORT"),
        "[precision]": (not options.seeds and study.definition.precision, "--seeds N"),
    }
    for name, (is_asked, hint) in hints.items():
        if is_asked:
            raise UsageError(f"{name} is for matrices of at most {MOST_POINTS:,} points", hint)
