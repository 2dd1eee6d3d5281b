"""Results of judged and characterised managers: a sentence, a page, a file for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.answers.figure import Figure, of_one_panel
from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.aqm.scenarios import LEFT_OUT
from sojourn.aqm.suite import BAND, MEASURES, OWN, Measured, Result, measures_of
from sojourn.judging.bands import Band, estimate_json, number_cell, place_of
from sojourn.judging.conditions import Numbered
from sojourn.plots.spec import Axis, Dots, Mark, Panel
from sojourn.report.checks import SCHEMA, Block, Section, rows_table, write_check_page
from sojourn.stats.estimate import Estimate

ENDS = {
    "utilisation": ("less used than any known manager", "more used than any known manager"),
    "sojourn_mean": ("shorter waits than any known manager", "longer waits than any known manager"),
    "sojourn_p95": ("shorter waits than any known manager", "longer waits than any known manager"),
    "loss_rate": ("fewer losses than any known manager", "more losses than any known manager"),
}
"""Meaning of the two ends of the band."""


MOST_DRAWN = 6
"""More managers than this have no picture together: there are no more distinct looks."""


def sentence(results: Sequence[Result], band: Band) -> str:
    """Return what is said first.

    The document has no pass: a manager keeps laws or breaks them, and stands within the band of known ones or beside it.
    """
    failed = [(result, row) for result in results for row in result.failed]
    rows = sum(row.verdict != "not judged" for result in results for row in result.judged)
    if len(results) > 1:
        if not failed:
            return f"{len(results)} managers keep all of {rows} rows of contract and law."
        names = ", ".join(dict.fromkeys(result.manager.name for result, _ in failed))
        return f"{len(failed)} of {rows} rows of contract and law fail: {names}."
    (result,) = results
    name = result.manager.name
    if failed:
        first = failed[0][1]
        more = len(failed) - 1
        others = f", and {more} more row{'s' if more > 1 else ''}" if more else ""
        return f"{name} fails {first.item}{others}: {first.found}."
    beside = _beside(result, band)
    if not result.measured:
        return f"{name} keeps all {rows} rows of contract and law."
    within = sum(
        place_in_band(measured, name, band)[0] == "in band" for measured in result.measured for name, _, _ in MEASURES
    )
    total = len(result.measured) * len(MEASURES)
    told = f"; most of all it has {beside}" if beside else ""
    return (
        f"{name} keeps all {rows} rows of contract and law, and {within} of {total} numbers of RFC 7928's scenarios lie "
        f"in the band of known managers{told}."
    )


def _beside(result: Result, band: Band) -> str:
    """Return where it is outside of the band most often, in words."""
    count: dict[str, int] = {}
    for measured in result.measured:
        for name, _, _ in MEASURES:
            place, words = place_in_band(measured, name, band)
            if place in ("below", "above"):
                count[words] = count.get(words, 0) + 1
    most = max(count.items(), key=lambda item: item[1], default=None)
    return "" if most is None else f"{most[0]} ({most[1]} scenarios)"


def place_in_band(measured: Measured, measure: str, band: Band) -> tuple[str, str]:
    """Return `in band`, `below`, `above` or `shown`, and what that means.

    A value is beside the band only if its whole interval is.
    """
    place = place_of(measured.values.get(measure, Estimate(None)), band.ends(measured.cell.item, measure))
    words = ENDS.get(measure, ("lower than of any known manager", "higher than of any known manager"))
    return place, {"below": words[0], "above": words[1]}.get(place, "")


def _cell(measured: Measured, measure: str, unit: str, band: Band) -> PlainCell:
    ends = band.ends(measured.cell.item, measure)
    return number_cell(measured.values.get(measure), unit, ends)


def _laws(result: Result) -> PlainTable:
    return rows_table(
        f"laws-{result.manager.name}",
        "What can fail",
        "X1 to X8 hold for every manager; the others are laws of the document that it follows, seen from outside.",
        result.judged,
    )


def _scenarios(result: Result, band: Band, seeds: int) -> PlainTable:
    rows = tuple(
        (
            PlainCell(measured.cell.item),
            PlainCell(measured.cell.section, detail=measured.cell.word),
            PlainCell(measured.cell.what),
            *(_cell(measured, name, unit, band) for name, _, unit in MEASURES),
            *_own(measured, band),
        )
        for measured in result.measured
    )
    return PlainTable(
        f"scenarios-{result.manager.name}",
        "Scenarios of RFC 7928",
        f"{'One seed' if seeds == 1 else f'Means of {seeds} seeds'}; below each the band of {', '.join(BAND)}. ▼ and ▲: the whole 95 % interval is "
        "outside of it. The document has no thresholds: nothing here passes or fails.",
        ("scenario", "section", "what", *(words for _, words, _ in MEASURES), "its own number", "of what"),
        rows,
    )


def _own(measured: Measured, band: Band) -> tuple[PlainCell, PlainCell]:
    """Return the number that only this scenario has, and its name."""
    own = measured.cell.own
    if own is None:
        return PlainCell(""), PlainCell("")
    return _cell(measured, OWN, own.unit, band), PlainCell(own.title)


def _graph(results: Sequence[Result], band: Band) -> Figure:
    """Queuing delay against utilisation, one dot a scenario, known managers in grey (section 2.7)."""
    marks: list[Mark] = []
    items = [measured.cell.item for result in results for measured in result.measured]
    known = [
        (band.values[item, "utilisation"][name], band.values[item, "sojourn_mean"][name])
        for item in dict.fromkeys(items)
        for name in BAND
        if name in band.values.get((item, "utilisation"), {})
    ]
    if known:
        x, y = np.array(known).T
        marks.append(Dots(100 * x, y, "reference", "known managers", small=True))
    for place, result in enumerate(results):
        values = [
            (measured.values["utilisation"].value, measured.values["sojourn_mean"].value)
            for measured in result.measured
        ]
        points = np.array([pair for pair in values if None not in pair], dtype=float).reshape(-1, 2)
        texts = tuple(
            measured.cell.item if len(results) == 1 and len(measured.cell.item) == 2 else ""
            for measured in result.measured
        )
        marks.append(Dots(100 * points[:, 0], points[:, 1], f"cycle-{place}", result.manager.name, texts=texts))
    panel = Panel(
        x=Axis("utilisation", "%", low=0.0, high=102.0), y=Axis("mean queuing delay", "ms", low=0.0), marks=tuple(marks)
    )
    return of_one_panel(
        "delay-and-utilisation",
        "Delay and utilisation",
        panel,
        caption="Each dot is a scenario; down and to the right is better.",
        description="Mean queuing delay against utilisation, one dot a scenario; better is down and to the right.",
    )


def write_page(directory: Path, results: Sequence[Result], band: Band, *, seeds: int, facts: Sequence[str]) -> None:
    """Write `report.html` and its figure into a new directory."""
    count = len(results)
    drawn = count <= MOST_DRAWN and any(result.measured for result in results)
    write_check_page(
        directory,
        title=f"{count} queue managers" if count > 1 else f"Queue manager {results[0].manager.name}",
        headline=sentence(results, band),
        facts=facts,
        figures=[_graph(results, band)] if drawn else [],
        sections=[_section(result, band, seeds, alone=count == 1) for result in results],
        left_out=[f"Section {section}, {what}: {why}." for section, what, why in LEFT_OUT],
        remark="The flow counts of section 8.2 name levels of congestion and predict no loss rate. Behind a short queue LEDBAT is "
        "an ordinary flow. CoDel leaves its target beside many flows or one that does not answer: a property of it, and no defect.",
        command="check-aqm",
    )


def _section(result: Result, band: Band, seeds: int, *, alone: bool) -> Section:
    """Return the tables of a manager, folded if there are others."""
    laws = _laws(result)
    failed = len(result.failed)
    summary = "" if alone else f"{laws.title}: {failed} of {len(laws.rows)} rows fail"
    blocks = [Block(laws, summary, is_open=failed > 0)]
    if result.measured:
        table = _scenarios(result, band, seeds)
        blocks.append(Block(table, "" if alone else f"{table.title} ({len(table.rows)})"))
    name = result.manager.name
    return Section(name, blocks, "" if alone else name)


def numbers_of(results: Sequence[Result], band: Band) -> list[Numbered]:
    """Return the numbers of all scenarios, for limits on them."""
    return [
        Numbered(
            result.manager.name,
            measured.cell.item,
            name,
            unit,
            measured.values.get(name, Estimate(None)),
            band.ends(measured.cell.item, name),
        )
        for result in results
        for measured in result.measured
        for name, unit in measures_of(measured.cell)
    ]


def as_json(results: Sequence[Result], band: Band) -> dict[str, Any]:
    """Return all of it for programs, by the schema `sojourn-check 1`."""
    return {
        "schema": SCHEMA,
        "headline": sentence(results, band),
        "managers": [
            {
                "manager": result.manager.name,
                "like": result.manager.like,
                "settings": list(result.manager.settings),
                "sha256": None if result.manager.plugin is None else result.manager.plugin.sha256,
                "rows": [row.as_json() for row in result.judged],
                "scenarios": [_measured_json(measured, band) for measured in result.measured],
            }
            for result in results
        ],
        "left_out": [{"section": section, "what": what, "why": why} for section, what, why in LEFT_OUT],
    }


def _measured_json(measured: Measured, band: Band) -> Mapping[str, Any]:
    return {
        "id": measured.cell.item,
        "section": measured.cell.section,
        "measures": {
            name: estimate_json(estimate, band.ends(measured.cell.item, name))
            for name, estimate in measured.values.items()
        },
    }
