"""A line that was measured as a question: the lines that it may be, with a household on each.

Source: the ensemble of `sojourn calibrate`: twenty lines that are as likely as the measurement makes them.
Deviations: a direction of which the measurement gave a bound alone is a plain line at the rate that was read off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import tomli_w

from sojourn.advice.arms import WAYS, Line
from sojourn.advice.lines import line_scenario
from sojourn.base.errors import RecordError, UsageError, plain, why
from sojourn.base.files import read_file
from sojourn.base.json_text import parse_json
from sojourn.base.toml_text import parse_toml
from sojourn.calibration.calibrate import calibrate
from sojourn.calibration.line import ACCESSES
from sojourn.scenario.scenario_file import Scenario, decoded

LARGEST = 4 * 2**20
"""Bytes of a file of a calibration. chosen: a hundred times what one has."""

MOST_MEMBERS = 100
"""Lines of an ensemble. chosen: five times what a calibration writes."""

SLOW_SHARE = 0.1
"""Share of lines that are slower than the one whose cliff counts. chosen: nine lines in ten are safe."""


@dataclass(frozen=True)
class MeasuredLine:
    """Lines that a measured one may be.

    Attributes
    ----------
    centre
        The one in the middle: its rates are the medians.
    members
        All of them; their shapers get shares of these medians.
    slower
        How much slower than the median one in ten is, by direction.
    told
        What the measurement said, and what was taken beside it.
    """

    centre: Line
    members: Sequence[Line]
    slower: Mapping[str, float]
    told: Sequence[str]


def measured_line(
    paths: Sequence[Path],
    access: str | None,
    *,
    rtt: str | None,
    uses: Mapping[str, float],
    household: str,
    jobs: int,
    tell: Callable[[str, int], None] = lambda _stage, _runs: None,
) -> MeasuredLine:
    """Return the lines of a calibration, or of files of measurements, which are fitted first.

    Raises `UsageError` if nothing was fitted; `RecordError` if a directory is damaged.

    Parameters
    ----------
    paths
        The directory that `sojourn calibrate` wrote, or measurements.
    access
        Kind of line of measurements.
    rtt
        Round trip to servers; that of the measurement if left out.
    uses, household
        Who counts, and the load beside them.
    jobs, tell
        Of the runs of a fit.
    """
    if len(paths) == 1 and (paths[0] / "manifest.json").is_file():
        texts, sentence = _kept(paths[0])
    else:
        texts, sentence = _fitted(paths, access, jobs, tell)
    documents = [_document(text, place) for place, text in texts]
    trips = [_trip(document) for document in documents]
    members = [_member(document, rtt or trip, uses, household) for document, trip in zip(documents, trips, strict=True)]
    rates = {way: np.array([one.rates_mbps[way] for one in members]) for way in WAYS}
    medians = {way: float(np.median(rates[way])) for way in WAYS}
    apart = [sum(abs(np.log(rates[way][number] / medians[way])) for way in WAYS) for number in range(len(members))]
    centre = members[int(np.argmin(apart))]
    nominal = (medians["upstream"], medians["downstream"])
    return MeasuredLine(
        replace(centre, told_mbps=nominal),
        [replace(one, told_mbps=nominal) for one in members],
        {way: float(np.quantile(rates[way], SLOW_SHARE)) / medians[way] for way in WAYS},
        [
            f"Measured: {sentence}",
            f"Each seed meets another of {len(members)} lines that may be the measured one; rates are shares of their median, and the "
            "cliff is that of a line as slow as one in ten.",
        ],
    )


def _kept(directory: Path) -> tuple[list[tuple[str, str]], str]:
    """Return the members that a calibration wrote, with their places, and its sentence."""
    try:
        manifest = parse_json(read_file(directory / "manifest.json", root=directory, most=LARGEST))
    except (OSError, ValueError) as error:
        raise RecordError(f"{plain(directory)}: manifest.json: {why(error)}") from error
    content = cast("dict[str, Any]", manifest if isinstance(manifest, dict) else {})
    if content.get("kind") != "calibration":
        raise UsageError(f"{plain(directory)} is no calibration", "a directory that sojourn calibrate wrote")
    sentence = content.get("sentence")
    texts: list[tuple[str, str]] = []
    for number in range(1, MOST_MEMBERS + 1):
        path = directory / "ensemble" / f"{number:02d}.toml"
        if not path.is_file():
            break
        try:
            texts.append((plain(path), decoded(read_file(path, root=directory, most=LARGEST))))
        except (OSError, UnicodeDecodeError) as error:
            raise RecordError(f"{plain(path)}: {why(error)}") from error
    if not texts:
        raise UsageError(
            f"{plain(directory)}: nothing was fitted, and without a fit there is no line to set",
            "its page says what the measurement itself tells: --line, --up and --down take that",
        )
    return texts, plain(sentence)


def _fitted(
    paths: Sequence[Path], access: str | None, jobs: int, tell: Callable[[str, int], None]
) -> tuple[list[tuple[str, str]], str]:
    """Return the members of measurements, which are fitted now, and what the fit says."""
    if access not in ACCESSES:
        raise UsageError("what kind of line was measured?", f"--line, one of {', '.join(ACCESSES)}")
    before = [0]

    def progress(what: str, done: int, _total: int) -> None:
        tell(f"a fit to what was measured {what}", done - before[0] if done > before[0] else 1)
        before[0] = done

    found = calibrate(paths, access, jobs=jobs, progress=progress)
    members = found.ensemble()
    if not members:
        raise UsageError(f"nothing was fitted: {found.sentence}", "--line, --up and --down take what is known")
    return [(f"line {number}", text) for number, text in enumerate(members, 1)], found.sentence


def _document(text: str, place: str) -> dict[str, Any]:
    document = parse_toml(Scenario.parse(text, place).canonical())
    if "access" not in document:
        raise RecordError(f"{place}: has no access line")
    return document


def _trip(document: Mapping[str, Any]) -> str:
    """Return the base round trip of a line, as its load has it."""
    trips = [entry["rtt"] for entry in document.get("traffic", []) if "rtt" in entry]
    return str(trips[0]) if trips and isinstance(trips[0], str) else "25 ms"


def _member(document: Mapping[str, Any], rtt: str, uses: Mapping[str, float], household: str) -> Line:
    """Return a line with a household on it."""
    text = line_scenario("pon", "1 Mb/s", "1 Mb/s", rtt=rtt, uses=uses, household=household)
    merged = {**parse_toml(text), "name": f"measured-{household}", "access": document["access"]}
    return Line(Scenario.parse(tomli_w.dumps(merged)))
