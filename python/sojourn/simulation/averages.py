"""Averages of a run and what begins later than they do.

Metrics average over the measured part of a run, from `measure.from` on, whatever begins when: so that they add up, and equal runs
of different traffic are compared. An upload that begins late has a lower rate by them than while it sends.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

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


def late_beginnings(canonical: str, simulated_s: float, metrics: Iterable[tuple[str, str, float, str]]) -> list[str]:
    """Return a sentence for each traffic entry that begins well after the averages do: its rate from then on.

    Parameters
    ----------
    canonical
        The scenario as it is printed, where everything is said.
    simulated_s
        Length of the run.
    metrics
        Rows of subject, metric, value and unit.

    Examples
    --------
    >>> line = 'traffic = [{ name = "upload", app = { kind = "bulk", start = "5 s" } }]'
    >>> late_beginnings(line, 20.0, [("upload", "goodput", 7.5, "Mb/s")])
    ['upload begins at 5 s: 10 Mb/s from then on; averages count from 0 s']
    """
    # Most runs begin at once: the parser is loaded for the others.
    if all(seconds_of(text) in (0.0, None) for text in re.findall(r'\bstart = "([^"]*)"', canonical)):
        return []
    import tomllib

    document: dict[str, Any] = tomllib.loads(canonical)
    from_s = seconds_of(document.get("measure", {}).get("from")) or 0.0
    known = {(subject, metric): value for subject, metric, value, _ in metrics}
    found: list[str] = []
    for entry in document.get("traffic", []):
        name: str = entry["name"]
        app: dict[str, Any] = entry["app"]  # canonical scenarios spell it out
        start = seconds_of(app.get("start"))
        if start is None or start >= simulated_s or start - from_s < LATE * (simulated_s - from_s):
            continue
        share = (simulated_s - start) / (simulated_s - from_s)
        rates = [known.get((name, metric)) for metric in ("goodput", "goodput_downstream")]
        told = " and ".join(f"{rate / share:.3g} Mb/s" for rate in rates if rate)
        if told:
            found.append(f"{name} begins at {start:g} s: {told} from then on; averages count from {from_s:g} s")
    return found
