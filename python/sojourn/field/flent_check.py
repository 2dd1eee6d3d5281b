"""Flent's own summary of its files beside ours: `sojourn trial import --check-flent`.

Source: `flent -f summary`, which prints mean, median and 99th percentile of each series. For a mean it takes what the
tool gave, for the others raw samples. fping rounds samples and mean to three significant digits each, so a mean of
pings may differ by one of the last digit. Without NumPy, Flent prints one of the samples beside a quantile instead of
interpolating.
"""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sojourn.base.errors import EnvironmentFailure
from sojourn.field.flent import flent_series
from sojourn.field.reading import Unreadable, read_document

LONGEST_S = 60.0
"""How long Flent may take for one file; chosen: it takes half a second."""

HALF_DIGIT = 0.00501
"""Half of the last digit that Flent prints, and what binary fractions add."""

_ROW = re.compile(r" (\S.*?) +: +([0-9.]+) +([0-9.]+|N/A) +([0-9.]+|N/A) ")


@dataclass(frozen=True, slots=True)
class Check:
    """One series of a file, as we read it and as Flent prints it.

    Attributes
    ----------
    file, series
        Where.
    mean, median, p99
        Ours.
    flent_mean, flent_median, flent_p99
        Flent's; `None` where it prints none.
    grid
        Mean of the points of the grid.
    """

    file: str
    series: str
    mean: float | None
    flent_mean: float | None
    median: float | None
    flent_median: float | None
    p99: float | None
    flent_p99: float | None
    grid: float | None

    @property
    def agrees(self) -> bool:
        """True if each number is Flent's, to the digit that is printed."""
        if self.mean is None or self.flent_mean is None:
            return self.mean is self.flent_mean
        tolerance = HALF_DIGIT
        if self.series.startswith("Ping") and self.flent_mean > 0:
            tolerance = max(tolerance, 10.0 ** (math.floor(math.log10(self.flent_mean)) - 2))
        quantiles = ((self.median, self.flent_median), (self.p99, self.flent_p99))
        return abs(self.mean - self.flent_mean) <= tolerance and all(
            theirs is None or (ours is not None and abs(ours - theirs) <= HALF_DIGIT) for ours, theirs in quantiles
        )


def flent_summary(path: Path, program: str = "flent") -> dict[str, tuple[float | None, ...]]:
    """Return mean, median and 99th percentile of each series, as Flent prints them.

    Raises `EnvironmentFailure` if there is no Flent, or it does not end.
    """
    try:
        ended = subprocess.run(
            [program, "-f", "summary", str(path.resolve())],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LONGEST_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise EnvironmentFailure(f"there is no program {program}", "apt install flent") from error
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFailure(f"{program} does not end with {path}") from error
    rows = (_ROW.match(line) for line in ended.stdout.decode(errors="replace").splitlines())
    return {row[1]: tuple(None if text == "N/A" else float(text) for text in row.groups()[1:]) for row in rows if row}


def check_file(path: Path, name: str, program: str = "flent") -> Iterator[Check]:
    """Yield the streams and pings of a file; nothing if it is none of Flent's.

    Raises `EnvironmentFailure` if there is no Flent.
    """
    try:
        series = flent_series(read_document(path))
    except Unreadable:
        return
    printed = flent_summary(path, program)
    for one in series:
        mean, median, p99 = printed.get(one.name, (None, None, None))
        yield Check(
            name,
            one.name,
            one.mean if one.name.startswith("TCP") else one.samples.mean(),
            mean,
            one.samples.quantile(0.5),
            median,
            one.samples.quantile(0.99),
            p99,
            one.grid.mean(),
        )
