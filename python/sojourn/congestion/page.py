"""Results of characterised controllers: a sentence, a page, a file for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.answers.figure import Figure
from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.base.digits import significant
from sojourn.congestion import general, heist
from sojourn.congestion.general.alone import QUEUE
from sojourn.congestion.scenario import Cell, Number
from sojourn.congestion.suite import BAND, Measured, Result
from sojourn.judging.bands import Band, estimate_json, number_cell, place_of
from sojourn.judging.conditions import Numbered
from sojourn.plots.spec import Axis, Dots, Mark, Panel, PlotSpec
from sojourn.report.checks import SCHEMA, Block, Section, rows_table, write_check_page
from sojourn.stats.estimate import Estimate

MOST_DRAWN = 6
"""More controllers than this have no picture together: there are no more distinct looks."""

TITLES = {
    "G1": "collapse",
    "G2": "buffers and waits alone",
    "G3": "losses",
    "G4": "fairness among its own flows",
    "G5": "short flows",
    "G6": "Reno, CUBIC and others beside it",
    "G7": "a video call beside it",
    "G9": "one tunnel",
    "G10": "wireless paths",
    "G11": "active queue management",
    "G12": "paths whose delay changes",
    "G13": "very slow and very long paths",
    "G14": "packets out of order",
    "G15": "sudden changes",
    "G16": "windows by the rate of losses",
    "G19": "timeouts",
    "G20": "rests",
    "B": "cases of BBR's draft",
    "L": "RFC 9331",
    "H": "measurements of others (heistp/l4s-tests)",
    "R": "real-time media (RFC 8867)",
}
"""Subject of the scenarios of a letter and number."""


def sentence(results: Sequence[Result], band: Band) -> str:
    """Return what is said first: which rows fail, or that none does, and where it stands among known ones."""
    failed = [(result, row) for result in results for row in result.failed]
    rows = sum(row.verdict != "not judged" for result in results for row in result.judged)
    if len(results) > 1:
        if not failed:
            return f"{len(results)} controllers keep all of {rows} rows that can fail."
        told = {result.controller.title: ", ".join(row.item for row in result.failed) for result, _ in failed}
        names = "; ".join(f"{name} {items}" for name, items in told.items())
        return f"{len(failed)} of {rows} rows fail, of {len(told)} of {len(results)} controllers: {names}."
    (result,) = results
    name = result.controller.title
    if failed:
        first, *others = [row for _, row in failed]
        told = [f"{first.item} ({first.found})", *(row.item for row in others)]
        return f"{name} fails {len(told)} of {rows} rows: {', '.join(told)}."
    numbers = [(one, number) for one in result.measured for number in one.cell.numbers]
    places = [_place(one, number, band) for one, number in numbers]
    known = [place for place in places if place != "shown"]
    let = [row.item for row in result.judged if row.verdict == "warning" and row.item != "G3"]
    kept = f"{name} keeps all {rows} rows that can fail" if rows > 1 else f"{name} keeps the row that can fail"
    if let:
        kept = f"{name} keeps {rows - len(let)} of {rows} rows that can fail, and its document lets it break {', '.join(let)}"
    if not rows:
        count = len({one.cell.item for one in result.measured})
        kept = f"{name} is characterised in {count} scenarios, of which none can fail{_beside_tcp(result)}"
    if not known:
        return f"{kept}."
    within = known.count("in band")
    told = _beside(result, band)
    most = f"; most of all, {told}" if told else ""
    return f"{kept}, and {within} of {len(known)} numbers lie in the band of known controllers{most}."


def _beside_tcp(result: Result) -> str:
    """Return what media have beside TCP, where that was measured."""
    for one in result.measured:
        if one.cell.item == "R6a" and (rate := one.values["rate"].value) is not None:
            return f"; beside one flow of CUBIC it has {significant(rate)} of {one.cell.rate_mbps:g} Mb/s"
    return ""


def _place(measured: Measured, number: Number, band: Band) -> str:
    estimate = measured.values.get(number.name, Estimate(None))
    return place_of(estimate, band.ends(measured.cell.item, number.name))


def _beside(result: Result, band: Band) -> str:
    """Return the number that is outside of the band most often, in words."""
    count: dict[str, int] = {}
    for one in result.measured:
        for number in one.cell.numbers:
            end = {"below": "less", "above": "more"}.get(_place(one, number, band))
            if end is not None:
                words = f'"{number.title}" is {end} than of any of them'
                count[words] = count.get(words, 0) + 1
    words, times = max(count.items(), key=lambda item: item[1], default=("", 0))
    return f"{words} ({times} scenario{'s' if times > 1 else ''})" if words else ""


def _overview(results: Sequence[Result], band: Band) -> PlainTable:
    """Return one row for each controller: what fails, what warns, how much lies in the band."""

    def named(result: Result, verdict: str) -> PlainCell:
        items = [row.item for row in result.judged if row.verdict == verdict]
        return PlainCell(", ".join(items) or "–")

    rows: list[tuple[PlainCell, ...]] = []
    for result in results:
        places = [_place(one, number, band) for one in result.measured for number in one.cell.numbers]
        known = len(places) - places.count("shown")
        passed = sum(row.verdict == "pass" for row in result.judged)
        rows.append(
            (
                PlainCell(result.controller.name),
                named(result, "fail"),
                named(result, "warning"),
                PlainCell(str(passed)),
                PlainCell(f"{places.count('in band')} of {known}" if known else "–"),
            )
        )
    return PlainTable(
        "overview",
        "All of them",
        "Rows stand below with their findings, and so does every number.",
        ("controller", "fails", "warns", "rows kept", "numbers in the band"),
        tuple(rows),
    )


def _rows(result: Result) -> PlainTable:
    return rows_table(
        f"rows-{result.controller.name}",
        "What can fail",
        "RFC 9743 has no thresholds: limits of rows G are chosen, to tell collapse and starvation from better and worse. "
        "The scenarios of a row stand below.",
        result.judged,
    )


def _topics(result: Result) -> Iterator[tuple[str, list[Measured]]]:
    """Return scenarios by their subject."""
    groups: dict[str, list[Measured]] = {}
    for one in result.measured:
        letter = one.cell.item[0]
        groups.setdefault(one.cell.criterion if letter == "G" else letter, []).append(one)
    yield from groups.items()


def _tables(result: Result, topic: str, found: Sequence[Measured], band: Band, seeds: int) -> Iterator[PlainTable]:
    """Return the grid of a topic, if it has one, and the scenarios that are not on it."""
    grid = [one for one in found if one.cell.is_on_grid]
    if grid:
        yield _grid(result, topic, grid, band, seeds)
    others = [one for one in found if not one.cell.is_on_grid]
    if others:
        yield _list(result, topic, others, band, seeds)


def _list(result: Result, topic: str, found: Sequence[Measured], band: Band, seeds: int) -> PlainTable:
    rows = tuple(
        (
            PlainCell(one.cell.item if first else ""),
            PlainCell(one.cell.what if first else "", detail=_source(one.cell) if first else ""),
            PlainCell(number.title),
            number_cell(one.values.get(number.name), number.unit, band.ends(one.cell.item, number.name)),
            *_printed(one, place),
        )
        for one in found
        for place, number in enumerate(one.cell.numbers)
        for first in (place == 0,)
    )
    return PlainTable(
        f"{topic}-{result.controller.name}",
        f"{topic}: {TITLES[topic]}",
        f"{_means(seeds)} below each the band of {', '.join(BAND)}. ▼ and ▲: the whole 95 % interval is outside of it.",
        ("scenario", "what", "number", "value", *(("printed",) if topic == "H" else ())),
        rows,
    )


def _means(seeds: int) -> str:
    return "One seed;" if seeds == 1 else f"Means of {seeds} seeds;"


OF_GRID = {"G2": ("used", "sojourn_mean"), "G6": ("share", "harm")}
"""Numbers that a grid shows; others are in the file for programs."""


def _grid(result: Result, topic: str, found: Sequence[Measured], band: Band, seeds: int) -> PlainTable:
    """Return one row for each rate and round trip, one column for each buffer."""
    shown = OF_GRID[topic]
    rows: dict[str, dict[str, PlainCell]] = {}
    for one in found:
        path, _, buffer = one.cell.what.rpartition(", ")
        cells = [
            number_cell(one.values.get(number.name), number.unit, band.ends(one.cell.item, number.name))
            for number in one.cell.numbers
            if number.name in shown
        ]
        text = ", ".join(cell.text for cell in cells)
        details = "; ".join(cell.detail for cell in cells if cell.detail)
        rows.setdefault(path, {})[buffer] = PlainCell(text, detail=details)
    buffers = list(dict.fromkeys(buffer for row in rows.values() for buffer in row))
    titles = [number.title for number in found[0].cell.numbers if number.name in shown]
    return PlainTable(
        f"{topic}-grid-{result.controller.name}",
        f"{topic}: {TITLES[topic]}",
        f"{titles[0].capitalize()}, {titles[1]}. {_means(seeds)} below each the bands of {', '.join(BAND)}. ▼ and ▲: the whole "
        "95 % interval is outside of it.",
        ("path", *(f"buffer {buffer}" for buffer in buffers)),
        tuple(
            (PlainCell(path), *(row.get(buffer, PlainCell("–")) for buffer in buffers)) for path, row in rows.items()
        ),
    )


def _source(cell: Cell) -> str:
    return ", ".join(part for part in (cell.section, cell.word) if part)


def _printed(one: Measured, place: int) -> tuple[PlainCell, ...]:
    """Return what others have measured, if the scenario is theirs."""
    if one.cell.item[0] != "H":
        return ()
    printed = heist.PRINTED.get(one.cell.item, ())
    unit = one.cell.numbers[place].unit
    return (PlainCell(f"{printed[place]:g} {unit}" if place < len(printed) else "–"),)


def _graph(results: Sequence[Result], band: Band) -> Figure:
    """Wait in the queue against what is used of the line, one dot a scenario of G2, known controllers in grey."""
    items = [cell.item for cell in QUEUE]
    marks: list[Mark] = []
    known = [
        (band.values[item, "used"][name], band.values[item, "sojourn_mean"][name])
        for item in items
        for name in BAND
        if name in band.values.get((item, "used"), {})
    ]
    if known:
        x, y = np.array(known).T
        marks.append(Dots(x, y, "reference", "known controllers", small=True))
    for place, result in enumerate(results):
        pairs = [
            (one.cell.item, one.values["used"].value, one.values["sojourn_mean"].value)
            for one in result.measured
            if one.cell.item in items
        ]
        points = np.array([pair[1:] for pair in pairs], dtype=float).reshape(-1, 2)
        marks.append(Dots(points[:, 0], points[:, 1], f"cycle-{place}", result.controller.name))
    plot = PlotSpec(
        name="wait-and-use",
        title="Wait and use of the line",
        panels=(
            Panel(
                x=Axis("of the line used", "%", high=102.0),
                y=Axis("mean wait in the queue", "round trips", low=0.0),
                marks=tuple(marks),
            ),
        ),
        height=80,
        legend="below",
        description="Mean wait in the queue against use of the line, one flow alone, one dot a scenario; better is down and to the right.",
    )
    return Figure("wait-and-use", plot, "One flow alone (G2). Each dot is a path; down and to the right is better.")


def _left_out(results: Sequence[Result]) -> list[str]:
    told = [f"RFC 9743 section {section}, {what}: {question}" for section, what, question in general.QUESTIONS]
    if all(result.controller.is_media for result in results):
        return ["RFC 8867 sections 6.1 to 6.3: priorities, marks and two bottlenecks are optional, and not here."]
    return told


def write_page(directory: Path, results: Sequence[Result], band: Band, *, seeds: int, facts: Sequence[str]) -> None:
    """Write `report.html` and its figure into a new directory."""
    count = len(results)
    drawn = count <= MOST_DRAWN and any(one.cell.criterion == "G2" for result in results for one in result.measured)
    write_check_page(
        directory,
        title=f"{count} congestion controllers" if count > 1 else f"Congestion controller {results[0].controller.name}",
        headline=sentence(results, band),
        facts=facts,
        figures=[_graph(results, band)] if drawn else [],
        sections=[
            *([Section("overview", [Block(_overview(results, band), is_open=True)])] if count > 1 else []),
            *(_section(result, band, seeds, alone=count == 1) for result in results),
        ],
        left_out=_left_out(results),
        remark="RFC 8867 says in words what is expected."
        if all(result.controller.is_media for result in results)
        else "All scenarios but G9, G11 and those of L4S have a drop-tail queue, as section 6.1 asks. The band has controllers that are meant to "
        "be different: LEDBAT gives way, and Prague is Reno where nothing marks. BBR's draft is about version 3; earlier versions are held to it all the same.",
        command="check-cc",
    )


def _section(result: Result, band: Band, seeds: int, *, alone: bool) -> Section:
    """Return the tables of a controller; what is about one topic is folded."""
    rows = _rows(result)
    failed = len(result.failed)
    summary = "" if alone else f"{rows.title}: {failed} of {len(rows.rows)} rows fail"
    blocks = [Block(rows, summary, is_open=failed > 0)] if rows.rows else []
    for topic, found in _topics(result):
        places = [_place(one, number, band) for one in found for number in one.cell.numbers]
        beside = len(places) - places.count("in band") - places.count("shown")
        told = f", {beside} beside the band" if beside else ""
        numbers = f"{len(places)} number{'s' if len(places) > 1 else ''}"
        for count, table in enumerate(_tables(result, topic, found, band, seeds)):
            title = f"{table.title} ({numbers}{told})" if count == 0 else f"{topic}, others"
            blocks.append(Block(table, title, is_open=alone and topic in ("G6", "R")))
    name = result.controller.name
    return Section(name, blocks, "" if alone else name)


def numbers_of(results: Sequence[Result], band: Band) -> list[Numbered]:
    """Return the numbers of all scenarios, for limits on them."""
    return [
        Numbered(
            result.controller.name,
            one.cell.item,
            number.name,
            number.unit,
            one.values.get(number.name, Estimate(None)),
            band.ends(one.cell.item, number.name),
        )
        for result in results
        for one in result.measured
        for number in one.cell.numbers
    ]


def as_json(results: Sequence[Result], band: Band) -> dict[str, Any]:
    """Return all of it for programs, by the schema `sojourn-check 1`."""
    return {
        "schema": SCHEMA,
        "headline": sentence(results, band),
        "controllers": [
            {
                "controller": result.controller.name,
                "settings": list(result.controller.settings),
                "sha256": None if result.controller.plugin is None else result.controller.plugin.sha256,
                "rows": [row.as_json() for row in result.judged],
                "scenarios": [
                    {
                        "id": one.cell.item,
                        "section": one.cell.section,
                        "what": one.cell.what,
                        "measures": {
                            name: estimate_json(estimate, band.ends(one.cell.item, name))
                            for name, estimate in one.values.items()
                        },
                    }
                    for one in result.measured
                ],
            }
            for result in results
        ],
        "left_out": _left_out(results),
    }
