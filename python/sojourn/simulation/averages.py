"""Rates of a run from where their traffic begins, beside the metrics.

Metrics average over the measured part of a run, from `measure.from` on, whatever begins when: so that they add up, and equal runs
of different traffic are compared. An upload that begins late has a lower rate by them than while it sends; first sentences and short tables of a
run have the rate from its beginning, and say so.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

Row = tuple[str, str, float, str]
"""Subject, metric, value and unit."""

LATE = 0.05
"""Share of the measured time without traffic from which it is named. chosen: a rate is off by as much."""

_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def seconds_of(text: object) -> float | None:
    """Return a time of a canonical scenario in seconds; `None` if there is none.

    Examples
    --------
    >>> seconds_of("1.5 ms"), seconds_of("never")
    (0.0015, None)
    """
    found = re.fullmatch(r"([\d.]+) (ns|us|ms|s|min|h)", text) if isinstance(text, str) else None
    return None if found is None else float(found[1]) * _UNITS[found[2]]


def since_beginnings(canonical: str, simulated_s: float, rows: Sequence[Row]) -> tuple[list[Row], list[Since]]:
    """Return the rows of metrics with rates that count from where their traffic begins, and what differs from the metrics.

    Goodput counts from the start of its own traffic, the utilisation of links from that of the first, if they begin well after the averages do.

    Parameters
    ----------
    canonical
        The scenario as it is printed, where everything is said.
    simulated_s
        Length of the run.
    rows
        Subject, metric, value and unit.

    Examples
    --------
    >>> line = 'traffic = [{ name = "upload", app = { kind = "bulk", start = "5 s" } }]'
    >>> rows, since = since_beginnings(line, 20.0, [("upload", "goodput", 7.5, "Mb/s")])
    >>> rows, since[0].sentence
    ([('upload', 'goodput', 10.0, 'Mb/s')], 'goodput of upload: 10 Mb/s from 5 s on, where its traffic begins; 7.5 Mb/s from 0 s on, in the metrics')
    """
    starts, from_s = _starts(canonical)
    found: list[Row] = []
    since: list[Since] = []
    first = min(starts.values(), default=from_s)
    for subject, metric, value, unit in rows:
        start = starts.get(subject, from_s) if metric in _RATES else first if metric == "utilisation" else from_s
        is_late = start < simulated_s and start - from_s >= LATE * (simulated_s - from_s)
        told = value * (simulated_s - from_s) / (simulated_s - start) if is_late and value > 0 else value
        if told != value:
            since.append(Since(subject, metric, told, unit, start, value, from_s))
        found.append((subject, metric, told, unit))
    return found, since


_RATES = ("goodput", "goodput_downstream")


class Since:
    """A rate that counts from where its traffic begins, beside the metric.

    A plain class: whatever declares one takes longer to load than a short run.
    """

    def __init__(
        self, subject: str, metric: str, value: float, unit: str, start_s: float, average: float, from_s: float
    ) -> None:
        self.subject, self.metric, self.value, self.unit = subject, metric, value, unit
        self.start_s = start_s
        self.average = average
        """Value of the metric, which counts from `from_s` on."""
        self.from_s = from_s

    @property
    def label(self) -> str:
        """Name of the rate in tables, beside the metric's own."""
        return f"{self.metric} from {self.start_s:g} s"

    @property
    def sentence(self) -> str:
        """Both values, and where each begins."""
        both = f"{self.value:.3g} {self.unit} from {self.start_s:g} s on, where its traffic begins; {self.average:.3g} {self.unit}"
        return f"{self.metric.replace('_', ' ')} of {self.subject}: {both} from {self.from_s:g} s on, in the metrics"


def labelled(rows: Iterable[Row], since: Iterable[Since]) -> list[Row]:
    """Return rows in which rates that count from where their traffic begins say so."""
    labels = {(one.subject, one.metric): one.label for one in since}
    return [(subject, labels.get((subject, metric), metric), value, unit) for subject, metric, value, unit in rows]


def _starts(canonical: str) -> tuple[dict[str, float], float]:
    """Return when each traffic entry begins, and from when on metrics count."""
    # Most runs begin at once: the parser is loaded for the others.
    if all(seconds_of(text) in (0.0, None) for text in re.findall(r'\bstart = "([^"]*)"', canonical)):
        return {}, 0.0
    import tomllib

    document: dict[str, Any] = tomllib.loads(canonical)
    starts: dict[str, float] = {}
    for entry in document.get("traffic", []):
        app: dict[str, Any] = entry["app"]  # canonical scenarios spell it out
        starts[entry["name"]] = seconds_of(app.get("start")) or 0.0
    return starts, seconds_of(document.get("measure", {}).get("from")) or 0.0
