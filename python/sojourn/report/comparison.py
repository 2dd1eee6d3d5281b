"""Points of a study against each other, as tables of a report and as a page of its own."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.base.digits import significant
from sojourn.base.errors import plain
from sojourn.base.files import write_file
from sojourn.base.metrics import words_of
from sojourn.headline.applications import application_of
from sojourn.report.page import page_of
from sojourn.stats.quantity import quantity_of
from sojourn.study.compare import LabelComparison, compare_labels
from sojourn.study.result import StudyResult


def comparisons_of(result: StudyResult, *, most: int = 4) -> list[LabelComparison]:
    """Return the comparisons by each label of a study.

    Labels with one value, and labels whose points cannot be paired, are left out; so are labels beyond
    `most`. For any report: they need nothing but the metrics.
    """
    from sojourn.base.errors import UsageError

    found: list[LabelComparison] = []
    for label in result.labels:
        try:
            found.append(compare_labels(result, label))
        except UsageError:
            continue
    return found[:most]


def comparison_table(comparison: LabelComparison) -> PlainTable:
    """Return what moved, over all other labels: one row per value, subject and measure.

    What has a better direction comes first, then the largest relative changes.
    """
    rows = [row for row in comparison.overall.to_dicts() if row["verdict"] not in ("same", "within chance")]
    rows.sort(
        key=lambda row: (
            quantity_of(row["metric"], row["unit"]).better == "",
            -abs(row["change"]) if row["change"] is not None else 0.0,
        )
    )
    by = comparison.by
    body = tuple(
        (
            PlainCell(row[by]),
            PlainCell(row["subject"]),
            PlainCell(words_of(row["metric"])),
            PlainCell(row["unit"]),
            PlainCell(significant(row["before"])),
            PlainCell(significant(row["after"]), "best" if row["verdict"] == "better" else ""),
            PlainCell(significant(row["difference"], 3, sign=True), detail=_range(row["low"], row["high"])),
            PlainCell(significant(row["change"], 2, sign=True)),
            PlainCell(significant(row["effect"], 2, sign=True)),
            PlainCell(row["verdict"], "muted" if row["verdict"] == "one seed" else ""),
        )
        for row in rows
    )
    others = f" over {', '.join(comparison.others)}" if comparison.others else ""
    return PlainTable(
        name=f"compare-{by}",
        title=f"What {by} changes",
        caption=(
            f"{comparison.headline} Differences from {comparison.against}, paired by seed and averaged"
            f"{others}, with 95 % t intervals; p after Holm's correction below 0.05. Effect: mean "
            "difference over the standard deviation of the differences."
        ),
        headings=(
            by,
            "traffic or link",
            "measure",
            "unit",
            comparison.against,
            "value",
            "difference",
            "change, %",
            "effect",
            "verdict",
        ),
        rows=body,
    )


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f"{significant(low, 3, sign=True)} to {significant(high, 3, sign=True)}"


SMALLEST = {"ms": 0.1, "s": 1e-3, "%": 0.05, "Mb/s": 0.01}
"""Values below which a change by many times is nothing, by unit. chosen: too little to feel or to miss."""

_LINKS = ("upstream", "downstream")


def by_effect(frame: pl.DataFrame, first: Sequence[str]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return changes as people read them: by who they happen to, the largest effect first.

    Parameters
    ----------
    frame
        Of `compare_results` or `compare_labels`.
    first
        Columns that tell rows apart, in front.

    Returns
    -------
    tuple
        Headings and rows. People come before transfers, and these before links; of each, what is
        neither better nor worse comes last, and before that what was next to nothing.
    """
    told = [
        (
            *(str(row[name]) for name in first),
            row["subject"],
            words_of(row["metric"]),
            _with_unit(row["before"], row["unit"]),
            _with_unit(row["after"], row["unit"]),
            _with_unit(row["difference"], "points" if row["unit"] == "%" else row["unit"], sign=True),
            _percent(row),
            row["verdict"],
        )
        for row in _weighed(frame)
    ]
    headings = (*first, "who", "what", "before", "after", "difference", "change", "verdict")
    return headings, told


def _weighed(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return changes in the order of `by_effect`."""
    rows = frame.to_dicts()
    metrics: dict[str, list[str]] = {}
    for row in rows:
        metrics.setdefault(row["subject"], []).append(row["metric"])
    ranks = {
        subject: 2 if subject in _LINKS else 0 if application_of(names) else 1 for subject, names in metrics.items()
    }
    order = list(metrics)

    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        least = SMALLEST.get(row["unit"], 1e-9)
        before, after = abs(row["before"]), abs(row["after"])
        factor = abs(math.log(max(after, least) / max(before, least)))
        neutral = not quantity_of(row["metric"], row["unit"]).better
        who = ranks[row["subject"]], order.index(row["subject"])
        return *who, neutral, before <= least, -factor

    return sorted(rows, key=place)


def seen_to_move(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the changes that can be seen: before and after are not the same with three digits."""
    return frame.filter(
        pl.struct("before", "after").map_elements(
            lambda row: significant(row["before"], 3) != significant(row["after"], 3), return_dtype=pl.Boolean
        )
    )


def _with_unit(value: float, unit: str, *, sign: bool = False) -> str:
    return f"{significant(value, 3, sign=sign)} {unit}".strip()


def _percent(row: dict[str, Any]) -> str:
    """Return a change in percent; a share changes by points, and next to nothing by no percent."""
    percent = _percent_of(row)
    return "–" if percent is None else f"{percent:+.0f} %"


def _percent_of(row: dict[str, Any]) -> float | None:
    before = abs(row["before"])
    if row["unit"] == "%" or before <= SMALLEST.get(row["unit"], 0.0):
        return None
    return 100 * row["difference"] / before


def effect_table(frame: pl.DataFrame, first: Sequence[str], *, name: str, title: str, caption: str) -> PlainTable:
    """Return changes by effect as a table of a page."""
    headings, rows = by_effect(frame, first)
    cells = tuple(tuple(PlainCell(text) for text in row) for row in rows)
    return PlainTable(name, title, caption, headings, cells)


def write_comparison_page(path: Path, *, title: str, headline: str, graded: str, tables: Sequence[PlainTable]) -> None:
    """Write one self-contained HTML file.

    Raises `OSError` if it cannot be written.
    """
    page = page_of("comparison.html", title=title, headline=headline, graded=graded, tables=list(tables))
    write_file(path, page)


MOST_BARS, BARS_OF_EACH = 12, 3
"""Bars of the picture in a summary, and of each traffic or link. chosen: their names fit below each other."""

WIDEST_BAR = 300.0
"""Percent of before at which a bar ends. chosen: others stay long enough to be compared; the table has the number."""

_LOOK = (
    '%%{init: {"xyChart": {"width": 900, "height": 420}, '
    '"themeVariables": {"xyChart": {"plotColorPalette": "#3b7ea1, #555555"}}}}%%'
)


def markdown_of(headline: str, verdicts: Sequence[str], changes: pl.DataFrame, first: Sequence[str]) -> str:
    """Return a comparison as Markdown: verdicts of conditions, the headline, a picture and a table of what moved.

    The picture is a chart of Mermaid, which forges draw from the text; a summary of theirs shows no other.
    """
    seen = seen_to_move(changes)
    parts = [*(f"- **{_escaped(verdict)}**" for verdict in verdicts), "", _escaped(headline), ""]
    bars: list[tuple[list[str], float]] = []
    told: dict[str, int] = {}
    for row in _weighed(seen):
        percent, subject = _percent_of(row), row["subject"]
        if percent is not None and told.get(subject, 0) < BARS_OF_EACH:
            told[subject] = told.get(subject, 0) + 1
            bars.append(([*(str(row[name]) for name in first), subject, words_of(row["metric"])], percent))
    bars = bars[:MOST_BARS]
    if bars:
        names = ['"' + _NOT_DRAWN.sub(" ", " ".join(words)) + '"' for words, _ in bars]
        values = [min(WIDEST_BAR, 100 + percent) for _, percent in bars]
        parts += [
            "```mermaid",
            _LOOK,
            "xychart-beta horizontal",
            f"x-axis [{', '.join(names)}]",
            f'y-axis "after, % of before" 0 --> {math.ceil(max(110.0, *values))}',
            f"bar [{', '.join(f'{value:.1f}' for value in values)}]",
            f"line [{', '.join(['100'] * len(values))}]",
            "```",
            "",
        ]
    headings, rows = by_effect(seen, first)
    if rows:
        table = [_line(headings), _line("---" for _ in headings), *(_line(map(_escaped, row)) for row in rows)]
        parts += [f"<details><summary>{len(rows)} values moved</summary>", "", *table, "", "</details>", ""]
    return "\n".join(parts)


_NOT_DRAWN = re.compile(r"[^\w .,()-]")
"""Signs of names that mean something to Mermaid."""

_MARKUP = re.compile(r"([\\`*_\[\]<>|#!&~])")


def _escaped(text: str) -> str:
    """Return a text as Markdown that shows it; names come from files of strangers."""
    return _MARKUP.sub(r"\\\1", plain(text))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
