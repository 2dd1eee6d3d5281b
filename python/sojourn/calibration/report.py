"""The page of a calibration: the answer, measured beside fitted, what is known, and what cannot be."""

from __future__ import annotations

import math
from pathlib import Path

from markupsafe import Markup

from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.base.files import fresh_folder, write_file
from sojourn.calibration.answer import Answer, amount
from sojourn.calibration.line import FAMILIES, FAMILY_WORDS
from sojourn.calibration.predictive import figures_of, predict, statistics_table
from sojourn.calibration.side import Side
from sojourn.report.drawing_files import draw_files
from sojourn.report.files import write_plain
from sojourn.report.page import DrawnFigure, page_of
from sojourn.version import VERSION


def write_page(calibration: Answer, directory: Path) -> None:
    """Write `report.html`, `figures/` and `tables/` into a directory."""
    folders = {name: fresh_folder(directory / name, root=directory) for name in ("figures", "tables")}
    sides: list[dict[str, object]] = []
    for side in calibration.sides:
        prediction = None if side.posterior is None else predict(side, calibration.choices.seed)
        figures = figures_of(side, prediction)
        drawings = draw_files(figures, folders["figures"])
        tables = [table for table in (_known(side), _families(side), _read_off(side)) if table is not None]
        statistics = None if prediction is None else statistics_table(side, prediction)
        for table in [*tables, *([statistics] if statistics else [])]:
            write_plain(folders["tables"] / f"{table.name}.csv", table)
        sides.append(
            {
                "title": f"{side.direction.capitalize()}stream",
                "anchor": side.direction,
                "figures": [DrawnFigure(figure, Markup(drawings[figure.item])) for figure in figures],
                "tables": tables,
                "statistics": statistics,
                "unknowable": side.unknowable,
                "misfit": _misfit(side),
                "notes": _notes(side),
            }
        )
    page = page_of(
        "calibration.html",
        sentence=calibration.sentence,
        access=calibration.access.words,
        sides=sides,
        has_ensemble=bool(calibration.ensemble()),
        provenance=_provenance(calibration),
    )
    write_file(directory / "report.html", page)


def _known(side: Side) -> PlainTable | None:
    if not side.findings:
        return None
    rows = tuple(
        (
            PlainCell(one.unknown.words, detail=f"of {FAMILY_WORDS[one.family]}" if one.family else ""),
            PlainCell("-" if one.verdict == "not identifiable" else amount(one.middle, one.unknown.unit)),
            PlainCell(f"{amount(one.low, one.unknown.unit)} to {amount(one.high, one.unknown.unit)}"),
            PlainCell(f"{amount(one.unknown.low, one.unknown.unit)} to {amount(one.unknown.high, one.unknown.unit)}"),
            PlainCell(one.verdict),
        )
        for one in side.findings
    )
    return PlainTable(
        f"quantities-{side.direction}",
        "What is known of the line",
        "90 % intervals. How well: how much of the interval that was possible before is gone.",
        ("quantity", "median", "90 %", "drawn from", "how well"),
        rows,
    )


def _families(side: Side) -> PlainTable | None:
    if side.posterior is None:
        return None
    rows = tuple(
        (PlainCell(FAMILY_WORDS[name]), PlainCell(f"{share:.2f}", "best" if number == side.posterior.best else ""))
        for number, (name, share) in enumerate(zip(FAMILIES, side.posterior.shares, strict=True))
    )
    return PlainTable(
        f"families-{side.direction}", "Which queue it may be", "Equally likely before.", ("family", "probability"), rows
    )


def _read_off(side: Side) -> PlainTable:
    reading = side.reading
    shown = (
        ("goodput", reading.goodput_mbps, "Mb/s", "payload over time, from 2 s after the start of the load"),
        ("rate", reading.rate_mbps, "Mb/s", f"goodput x {side.access.frame:g}/1448, a full packet over its payload"),
        ("idle round trip", reading.idle_ms, "ms", "median before the load"),
        ("second largest delay", reading.second_largest_ms, "ms", "beyond the idle median"),
        ("buffer", reading.buffer_bytes, "B", "at least: it never filled" if reading.is_window_limited else "if it is drop-tail and CUBIC filled it"),
        ("bucket", reading.bucket_bytes, "B", "from the knee of bytes over time"),
        ("spread of delay", reading.spread_bytes, "B", "as bytes; near 68 kB it is a unit of segmentation offload" if reading.is_offloaded else "as bytes"),
        ("MAP interval", reading.map_ms, "ms", "from the phase of idle pings"),
    )  # fmt: skip
    rows = tuple(
        (PlainCell(words), PlainCell(amount(value, unit)), PlainCell(how))
        for words, value, unit, how in shown
        if math.isfinite(value)
    )
    return PlainTable(
        f"read-off-{side.direction}",
        "Read straight off the measurement",
        "A check beside what is fitted.",
        ("quantity", "value", "how"),
        rows,
    )


def _misfit(side: Side) -> str:
    if side.table is None:
        return "Nothing was fitted: no loss was seen, so the buffer has a lower bound and no interval."
    text = f"The measurement is {side.misfit:.2g} times as far from the nearest run as runs are from each other"
    if side.misfit <= 1 and side.posterior is not None and side.posterior.is_robust:
        return f"{text}, but its dynamics contradict its rate and were left out, which makes intervals wider."
    if side.misfit <= 1:
        return f"{text}: it is like what the model makes."
    if side.posterior is None:
        return f"{text}, and {side.robust_misfit:.1f} errors away in what does not depend on dynamics: no posterior is given."
    if side.posterior.is_robust:
        return f"{text}: dynamics of its queue are unlike the model's and were left out, which makes intervals wider."
    return f"{text}: its queue is unlike the model's, and was fitted all the same."


def _notes(side: Side) -> list[str]:
    if side.is_shortened:
        return [
            f"Only the first {side.measured.load.length_s:g} s of the load count, because a run of all of it takes long."
        ]
    return []


def _provenance(calibration: Answer) -> list[tuple[str, str]]:
    choices = calibration.choices
    rows = [("version", VERSION), ("access", calibration.access.words), ("seed", str(choices.seed))]
    for side in calibration.sides:
        runs = 0 if side.table is None else len(side.table)
        rows.append((f"runs {side.direction}stream", f"{runs:,}"))
        rows += [
            (Path(name).name, f"SHA-256 {digest}")
            for name, digest in zip(side.measured.names, side.measured.digests, strict=True)
        ]
    return rows
