"""The directory of a calibration: scenario, ensemble with its study, posterior, manifest, and the page, which comes last."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import polars as pl

import sojourn._engine as _engine
from sojourn.base.errors import RunError, plain
from sojourn.base.files import write_file
from sojourn.base.output import dated, new_directory
from sojourn.base.toml_text import parse_toml, toml_value
from sojourn.calibration.answer import Answer
from sojourn.calibration.fit import Posterior
from sojourn.calibration.line import FAMILIES
from sojourn.calibration.report import write_page
from sojourn.calibration.side import Side
from sojourn.scenario.scenario_file import Scenario
from sojourn.version import VERSION


def write_calibration(calibration: Answer, directory: Path | None = None) -> Path:
    """Write everything into a new directory, whole or not at all; a page that cannot be made costs itself alone.

    Raises `UsageError` if the directory is in use; `RunError` if the page cannot be made; everything else is there.

    Parameters
    ----------
    calibration
        What was found.
    directory
        Below `results/` if left out.

    Returns
    -------
    pathlib.Path
        The page.
    """
    out = dated("calibrate") if directory is None else directory
    with new_directory(out, is_ours=directory is None) as unfinished:
        members = calibration.ensemble()
        if members:
            write_file(unfinished / "calibrated.toml", calibration.scenario())
            (unfinished / "ensemble").mkdir()
            for number, text in enumerate(members, start=1):
                write_file(unfinished / "ensemble" / f"{number:02d}.toml", text)
            write_file(unfinished / "ensemble.toml", _study(members))
            for side in calibration.sides:
                if side.posterior is not None:
                    _write_posterior(unfinished / f"posterior-{side.direction}.parquet", side, side.posterior)
        write_file(unfinished / "manifest.json", json.dumps(_manifest(calibration), indent=1) + "\n")
        failed: Exception | None = None
        try:
            write_page(calibration, unfinished)
        except Exception as error:  # the fit took minutes, and is not lost by a fault of its page
            failed = error
    if failed is not None:
        raise RunError(
            f"the page of {plain(out)} could not be made: {type(failed).__name__}: {plain(failed)}",
            "numbers, scenario and ensemble are there; this is a fault of Sojourn",
        ) from failed
    return out / "report.html"


def _write_posterior(path: Path, side: Side, posterior: Posterior) -> None:
    """Write the draws: family, values by name, weight."""
    families = [FAMILIES[int(number)] for number in posterior.families]
    columns = {one.name: posterior.values[:, column] for column, one in enumerate(side.unknowns)}
    frame = pl.DataFrame({"family": families, **columns, "weight": posterior.weights}).fill_nan(None)
    buffer = BytesIO()
    frame.write_parquet(buffer)
    write_file(path, buffer.getvalue())


def _study(members: list[str]) -> str:
    """Return a study whose axis is the line: what is asked of it is answered for all that it may be."""
    numbers = [f"{number:02d}" for number in range(1, len(members) + 1)]
    lines = [
        "# Twenty lines that may be the one that was measured. Ask of all of them at once:",
        "#   sojourn study run ensemble.toml",
        "schema = 1",
        'name = "ensemble"',
        'title = "What does the line do, for all that it may be?"',
        'scenario = "calibrated.toml"',
        "seeds = 1",
        "",
        "[axes]",
        f"line = [{', '.join(json.dumps(number) for number in numbers)}]",
    ]
    for number, text in zip(numbers, members, strict=True):
        document = parse_toml(
            Scenario.parse(text).canonical()
        )  # with all defaults: absent keys are not taken from the base
        for direction in ("upstream", "downstream"):
            lines += ["", f'[overlays."{number}".access.{direction}]']
            lines += [f"{key} = {toml_value(value)}" for key, value in document["access"][direction].items()]
        for entry in document["traffic"]:
            lines += ["", f'[overlays."{number}".traffic.{entry["name"]}]']
            lines += [f"{key} = {toml_value(value)}" for key, value in entry.items() if key in ("rtt", "stack")]
    return "\n".join(lines) + "\n"


def _manifest(calibration: Answer) -> dict[str, object]:
    choices = calibration.choices
    return {
        "schema": 1,
        "kind": "calibration",
        "version": VERSION,
        "engine_version": _engine.engine_version(),
        "files": [
            {"name": Path(name).name, "sha256": digest}
            for side in calibration.sides
            for name, digest in zip(side.measured.names, side.measured.digests, strict=True)
        ],
        "options": {
            "access": calibration.access.name,
            "families": list(choices.families),
            "bounds": {name: list(ends) for name, ends in (choices.bounds or {}).items()},
            "budget_s": choices.budget_s,
            "runs": choices.runs,
            "statistics": choices.statistics,
            "seed": choices.seed,
        },
        **calibration.as_json(),
    }
