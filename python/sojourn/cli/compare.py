"""`sojourn compare`: what moved between two results of a study or two runs, or between the points of one."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    import polars as pl

    from sojourn.answers.report_content import PlainTable
    from sojourn.cli.arguments import Parser
    from sojourn.judging.conditions import Outcome
    from sojourn.simulation.run_directory import SingleRun
    from sojourn.study.result import StudyResult


def arguments(parser: Parser) -> None:
    from sojourn.cli.fail_on import fail_on

    parser.add_argument("before", metavar="DIR_A", type=Path, help="Result to compare with.")
    parser.add_argument(
        "after", metavar="DIR_B", type=Path, nargs="?", help="Result to compare; without it, give --by."
    )
    parser.option("--by", "LABEL", "Compare the points of DIR_A that differ in this label.")
    parser.option("--against", "VALUE", "Value of the label to compare with; default: the study's first.")
    parser.option("--html", "FILE", "Also write a page.", type=Path)
    parser.option(
        "--markdown", "FILE", "Also write a summary in Markdown with a picture, for a merge request.", type=Path
    )
    fail_on(parser, "game.delay_up_p99 > 5 %%")
    parser.flag("--fail-on-change", "Exit with 1 if something moved or may have moved.")
    parser.flag("--all", "Also print what has not moved, and each point.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> int:
    from sojourn.base.errors import ExitStatus, UsageError

    if (options.after is None) == (options.by is None):
        raise UsageError(
            "compare two results, or the points of one by a label",
            "sojourn compare DIR_A DIR_B, or: sojourn compare DIR --by LABEL",
        )
    if options.against is not None and options.by is None:
        raise UsageError("--against needs --by", "for example: --by queue --against pie")
    return ExitStatus.FAILED if (_results(options) if options.by is None else _points(options)) else ExitStatus.DONE


def _points(options: Namespace) -> bool:
    """Compare points; return whether `--fail-on` or `--fail-on-change` has it fail."""
    from sojourn.cli.console import print_json, print_table, say
    from sojourn.cli.fail_on import conditions_of, say_outcomes
    from sojourn.judging.conditions import exceeded, of_labels
    from sojourn.report.comparison import by_effect, comparison_table, effect_table
    from sojourn.report.first import headline_of_result
    from sojourn.study.compare import compare_labels
    from sojourn.study.result import StudyResult

    by, html, show_all = options.by, options.html, options.all
    conditions = conditions_of(options)
    result = StudyResult.load(options.before)
    found = compare_labels(result, by, options.against)
    outcomes = of_labels(conditions, result, by, options.against)
    headline = headline_of_result(result, by, found.against)
    sentence = found.headline if headline is None else headline.sentence
    graded = "" if headline is None else headline.graded
    overall, each = _shown(found.overall, show_all=show_all), _shown(found.each, show_all=show_all)
    if html is not None:
        details = effect_table(
            each,
            [by, *found.others],
            name="each",
            title="Point by point",
            caption="Paired by seed within each point; the largest effect first.",
        )
        title = f"{result.definition.title or result.name}: what {by} changes"
        tables = [comparison_table(found), details]
        _write_page(html, title, _labelled(sentence, result), tables, graded)
    _summarise(options.markdown, _labelled(sentence, result), outcomes, overall, [by])
    if options.json:
        print_json(
            {
                "by": by,
                "reduced": result.reduced,
                "against": found.against,
                "headline": {"sentence": sentence} if headline is None else headline.as_json(),
                "counts": _counts(found.each),
                "overall": overall.to_dicts(),
                "changes": each.to_dicts(),
                "conditions": [outcome.as_json() for outcome in outcomes],
            }
        )
    else:
        _warn_of_less(result)
        say_outcomes(outcomes)
        say(sentence)
        if headline is not None:  # and value by value
            if graded:
                say(graded)
            for one in found.sentences:
                say(one)
        _print_changes(overall, [by], show_all=show_all)
        if show_all:
            print()
            print_table(*by_effect(each, [by, *found.others]))
    return exceeded(outcomes) or (options.fail_on_change and found.changed)


def _results(options: Namespace) -> bool:
    """Compare results; return whether `--fail-on` or `--fail-on-change` has it fail."""
    import polars as pl

    from sojourn.base.errors import UsageError
    from sojourn.cli.console import note, print_json
    from sojourn.cli.fail_on import conditions_of, say_outcomes
    from sojourn.headline.compared import headline_of_frame
    from sojourn.judging.conditions import exceeded, of_results
    from sojourn.report.comparison import effect_table
    from sojourn.simulation.run_directory import SingleRun, is_run
    from sojourn.study.compare import CHANGED, compare_results
    from sojourn.study.result import StudyResult

    before, after, html = options.before, options.after, options.html
    conditions = conditions_of(options)
    are_runs = is_run(before)
    if are_runs != is_run(after):
        single, study = (before, after) if are_runs else (after, before)
        raise UsageError(
            f"{single} is a single run and {study} the result of a study",
            "compare two runs, or two results of the same study",
        )
    kind = SingleRun if are_runs else StudyResult
    results = kind.load(before), kind.load(after)
    table = compare_results(*results)
    if table.is_empty():
        raise UsageError(
            f"{before} and {after} have no point and seed in common",
            "compare two results of the same study, or two runs with the same seed",
        )
    outcomes = of_results(conditions, *results)
    places = [] if are_runs else ["point"]
    counts = _counts(table)
    shown = _shown(table, show_all=options.all)
    headline = headline_of_frame(table.to_dicts())
    tally = (
        f"{table.height} values: {counts['same']} the same bit for bit, "
        f"{counts['within chance']} within chance, {counts['moved']} moved"
        + (f", {counts['one seed']} differ on one seed, which cannot tell" if counts["one seed"] else "")
    )
    if html is not None:
        changes = effect_table(
            shown,
            places,
            name="changes",
            title="What moved",
            caption=f"{tally}. Paired by seed; moved: p below 0.05 after Holm's correction. The largest effect first.",
        )
        said = _labelled(headline.sentence, *results)
        _write_page(html, f"{before} and {after}", said, [changes])
    _summarise(options.markdown, _labelled(headline.sentence, *results), outcomes, shown, places)
    if options.json:
        print_json(
            {
                "headline": headline.as_json(),
                "reduced": [result.reduced for result in results],
                "counts": counts,
                "changes": shown.to_dicts(),
                "conditions": [outcome.as_json() for outcome in outcomes],
            }
        )
    else:
        _warn_of_less(*results)
        say_outcomes(outcomes)
        print(headline.sentence)
        note(tally)
        _print_changes(shown, places, show_all=options.all)
    changed = bool(table.select(pl.col("verdict").is_in(list(CHANGED)).any()).item())
    return exceeded(outcomes) or (options.fail_on_change and changed)


def _print_changes(table: pl.DataFrame, first: list[str], *, show_all: bool) -> None:
    """Print changes by effect; those that three digits do not show are counted."""
    from sojourn.cli.console import note, print_table
    from sojourn.report.comparison import by_effect, seen_to_move

    seen = table if show_all else seen_to_move(table)
    if not seen.is_empty():
        print()
        print_table(*by_effect(seen, first))
    if less := table.height - seen.height:
        note(f"{less} more moved by less than three digits show; --all prints them")


def _warn_of_less(*results: StudyResult | SingleRun) -> None:
    """Say which results are not those of the whole study."""
    from sojourn.cli.console import note

    for result in results:
        if result.reduced:
            note(f"{result.directory} is a {result.reduced} run: less than the study asks for")


def _labelled(sentence: str, *results: StudyResult | SingleRun) -> str:
    """Return a sentence on results that says if they are not those of the whole study."""
    words = dict.fromkeys(result.reduced for result in results if result.reduced)
    return f"{sentence} ({'; '.join(words)} run, not the study's verdict)" if words else sentence


def _counts(table: pl.DataFrame) -> dict[str, int]:
    found: dict[str, Any] = dict(table["verdict"].value_counts().iter_rows())
    verdicts = ["same", "within chance", "one seed", "moved", "better", "worse"]
    return {name: int(found.get(name, 0)) for name in verdicts}


def _shown(table: pl.DataFrame, *, show_all: bool) -> pl.DataFrame:
    from sojourn.study.compare import CHANGED

    return table if show_all else table.filter(table["verdict"].is_in(list(CHANGED)))


def _summarise(
    path: Path | None, headline: str, outcomes: list[Outcome], changes: pl.DataFrame, places: list[str]
) -> None:
    """Write the summary in Markdown, if one is asked for."""
    from sojourn.base.files import write_file
    from sojourn.base.output import writing
    from sojourn.cli.console import note
    from sojourn.report.comparison import markdown_of

    if path is not None:
        text = markdown_of(headline, [outcome.sentence for outcome in outcomes], changes, places)
        with writing(path, ""):
            write_file(path, text)
        note(f"summary: {path}")


def _write_page(path: Path, title: str, headline: str, tables: list[PlainTable], graded: str = "") -> None:
    from sojourn.base.output import writing
    from sojourn.cli.console import note
    from sojourn.report.comparison import write_comparison_page

    with writing(path, ""):
        write_comparison_page(path, title=title, headline=headline, graded=graded, tables=tables)
    note(f"page: {path}")
