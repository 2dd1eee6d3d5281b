"""The claim about what happens right after the channel's capacity falls.

Source: White 2013, sections 3.3 and 4.1.1. The order of the levels is that of the model (Figure 10
could not be read): see the model page of the DOCSIS 3.0 upstream with one queue.
Deviations: the delay is the mean wait in the modem's queue per bin of 100 ms, which holds all packets,
not the game's alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.numbers import by_group as by_case
from sojourn.studies.view import LinkSeries, StudyView
from sojourn.studies.white2013.cases import CODEL, PIE, SFQ_CODEL
from sojourn.studies.white2013.typical import typical

claim = ClaimBook()

#: Capacity in Mb/s of the moderate cycle, one level each 10 s.
MODERATE_MBPS = (12.5, 3.3, 1.7, 3.3, 5.0, 1.7, 5.0, 3.3, 12.5, 1.7, 12.5, 5.0)
DWELL_S = 10.0
CYCLE_S = DWELL_S * len(MODERATE_MBPS)

#: Settled: the last 3 s before the next change (chosen).
SETTLED_FROM_S = 7.0

#: By when the delay is back within 1.5 times the settled one, s.
BACK_BY_S = {CODEL: 5.0, SFQ_CODEL: 5.0, PIE: 10.0}


def falls_s() -> tuple[float, ...]:
    """Return the times in the cycle at which the capacity falls.

    Examples
    --------
    >>> falls_s()
    (10.0, 20.0, 50.0, 70.0, 90.0, 110.0)
    """
    before = (MODERATE_MBPS[-1], *MODERATE_MBPS[:-1])
    pairs = zip(before, MODERATE_MBPS, strict=True)
    return tuple(n * DWELL_S for n, (old, new) in enumerate(pairs) if new < old)


def after_falls(series: LinkSeries) -> np.ndarray:
    """Mean delay in ms by bin after a fall, over all falls but those of the first cycle."""
    bins = round(DWELL_S / series.width_s)
    length = len(series.start_s) * series.width_s
    starts = [
        cycle * CYCLE_S + fall
        for cycle in range(1, int(length // CYCLE_S) + 1)
        for fall in falls_s()
        if cycle * CYCLE_S + fall + DWELL_S <= length + 1e-6
    ]
    first = [round(start / series.width_s) for start in starts]
    delays = np.array([series.sojourn_mean_ms[n : n + bins] for n in first])
    known = np.isfinite(delays)
    return np.where(known, delays, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)


@dataclass(frozen=True)
class Recovery:
    """How the delay rises and comes back after a fall of capacity."""

    peak_ms: float
    settled_ms: float
    back_s: float
    """When it is back within 1.5 times the settled value, from the fall; infinite if never."""


def recovery(series: LinkSeries) -> Recovery:
    """Measure the mean course after a fall."""
    course = after_falls(series)
    settled = float(course[round(SETTLED_FROM_S / series.width_s) :].mean())
    top = int(np.argmax(course))
    back = np.flatnonzero(course[top:] <= 1.5 * settled)
    when = (top + int(back[0])) * series.width_s if len(back) else np.inf
    return Recovery(float(course[top]), settled, float(when))


@claim("W13-54")
def _recovers(view: StudyView) -> Outcome:
    peak: dict[str, float] = {}
    settled: dict[str, float] = {}
    back: dict[str, float] = {}
    for manager in BACK_BY_S:
        point = f"steps-{manager}"
        view.require_duration(point, 2 * CYCLE_S)
        peak[manager] = typical(view, point, lambda series: recovery(series).peak_ms)
        settled[manager] = typical(view, point, lambda series: recovery(series).settled_ms)
        back[manager] = typical(view, point, lambda series: recovery(series).back_s)
    held = all(peak[m] > 2 * settled[m] and back[m] <= limit for m, limit in BACK_BY_S.items())
    return Outcome.of(
        held,
        f"peak {by_case(peak, 3, 'ms')}; settled {by_case(settled, 3, 'ms')}; "
        f"back after {by_case(back, 2, 's')}",
    )
