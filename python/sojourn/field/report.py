"""The report of a trial: one HTML page, tables as CSV, figures as files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from sojourn.base.errors import RecordError
from sojourn.base.files import fresh_folder, read_file, write_file
from sojourn.base.formulas import without_formulas
from sojourn.base.on_disk import read_listing
from sojourn.field.analysis import Analysis
from sojourn.field.figures import figures
from sojourn.field.tables import headline, headlines, tables
from sojourn.field.verdicts import read

_FOLDED = {"factors", "periods"}
"""Tables that the page folds."""


def write_report(directory: Path, analysis: Analysis, tests: pl.DataFrame) -> Path:
    """Write `report.html`, `effects.csv`, `tables/` and `figures/` into an imported trial's directory.

    Returns
    -------
    pathlib.Path
        The page.
    """
    from sojourn.report.drawing_files import draw_files
    from sojourn.report.files import write_plain
    from sojourn.report.page import DrawnFigure, page_of
    from sojourn.version import VERSION

    made = figures(analysis)
    folders = {name: fresh_folder(directory / name, root=directory) for name in ("tables", "figures")}
    drawings = draw_files(made, folders["figures"])
    drawn = [DrawnFigure(figure, Markup(drawings[figure.item])) for figure in made]
    shown = tables(analysis)
    for table in shown:
        write_plain(folders["tables"] / f"{table.name}.csv", table)
    effects = pl.DataFrame(effect_rows(analysis), infer_schema_length=None)
    write_file(directory / "effects.csv", without_formulas(effects).write_csv())
    page = page_of(
        "trial.html",
        headline=headline(analysis),
        headlines=headlines(analysis),
        overview_figures=[d for d in drawn if d.figure.group == "overview"],
        other_figures=[d for d in drawn if d.figure.group != "overview"],
        shown_tables=[table for table in shown if table.name not in _FOLDED],
        folded_tables=[table for table in shown if table.name in _FOLDED],
        absent=analysis.absent,
        doubtful=_doubtful(tests),
        skipped=_skipped(directory),
        provenance=_provenance(directory, analysis, tests, VERSION),
    )
    path = directory / "report.html"
    write_file(path, page)
    return path


def effect_rows(analysis: Analysis) -> list[dict[str, Any]]:
    """Return one row per coefficient, for programs."""
    rows: list[dict[str, Any]] = []
    for found in analysis.targets:
        for c in found.fit.coefficients:
            reading = read(analysis, found, c)
            rows.append(
                {
                    "target": found.target.name,
                    "factor": c.factor,
                    "level": c.level,
                    "reference": c.reference,
                    "points": c.estimate,
                    "low": reading.low,
                    "high": reading.high,
                    "interval": reading.kind,
                    "among": reading.among,
                    "verdict": reading.verdict,
                    "standard_error": c.standard_error,
                    "hc3_error": c.robust_error,
                    "cluster_error": c.cluster_error,
                    "bootstrap_p": c.bootstrap_p,
                    "ratio": found.ratio(c.level) if c.factor == found.factor else None,
                    "tests": found.fit.observations,
                    "probes": found.fit.probes,
                    "homes_with_both": c.homes,
                }
            )
    return rows


def _doubtful(tests: pl.DataFrame) -> list[tuple[str, str, str, str]]:
    return [
        (str(row["file"]), str(row["probe"]), f"{row['time']:%Y-%m-%d %H:%M}", str(row["flags"]).replace("-", " "))
        for row in tests.filter(pl.col("flags") != "").to_dicts()
    ]


def _skipped(directory: Path) -> list[tuple[str, str]]:
    try:
        content = read_file(directory / "skipped.csv", root=directory)
        rows = pl.read_csv(content, columns=[0, 1], infer_schema=False).rows()
    except (OSError, pl.exceptions.PolarsError):
        return []
    return [(str(file), str(reason)) for file, reason in rows]


def _provenance(directory: Path, analysis: Analysis, tests: pl.DataFrame, version: str) -> list[tuple[str, str]]:
    try:
        source = str(read_listing(directory, "manifest.json").get("source", ""))
    except RecordError:
        source = ""
    tools = ", ".join(sorted(tests["tool"].unique().to_list()))
    return [
        ("version", version),
        ("made", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        ("source", source),
        (
            "tests",
            f"{analysis.tests} by {tools}, {analysis.flagged} of them doubtful"
            + (f"; {analysis.unlabelled} without a treatment left out" * (analysis.unlabelled > 0)),
        ),
        ("homes", str(analysis.probes)),
        ("measured", f"{tests['time'].min():%Y-%m-%d} to {tests['time'].max():%Y-%m-%d}, UTC"),
    ]
