"""The first burst of a run: when it starts to flow, when the token bucket is empty, what comes after.

Source: White and Padden 2012, section 4.1, in words; section 3.1.1 for the bucket.
Deviations: times are read off bins of 100 ms.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sojourn.studies.view import LinkSeries, StudyView
from sojourn.studies.white2012.cases import BURST_BYTES, PEAK_MBPS, SUSTAINED_MBPS

#: A bin at 95 % of the peak rate counts as the peak (the ramp metric of the 2013 study).
RAMPED_MBPS = 0.95 * PEAK_MBPS

#: Spent: what is left refills within one bin of 100 ms at the sustained rate.
_SPENT_BYTES = SUSTAINED_MBPS * 1e6 / 8 * 0.1

#: Settling after the burst; chosen: twice the 2.5 s that section 4.1.3 gives the delay spike.
SETTLING_S = 5.0


def tokens(series: LinkSeries) -> np.ndarray:
    """Bytes in the bucket at the end of each bin; it starts full and holds no more than the burst."""
    refill = SUSTAINED_MBPS * 1e6 / 8 * series.width_s
    level = BURST_BYTES
    levels = np.empty(len(series.forwarded_bytes))
    for number, sent in enumerate(series.forwarded_bytes.tolist()):
        level = min(BURST_BYTES, level + refill - sent)
        levels[number] = level
    return levels


def burst_end_s(series: LinkSeries) -> float:
    """When the bucket is empty for the first time; infinite if it never is."""
    spent = np.flatnonzero(tokens(series) <= _SPENT_BYTES)
    return float(series.end_s[spent[0]]) if len(spent) else np.inf


def ramp_s(series: LinkSeries) -> float:
    """When the link first carries 95 % of the peak rate for a bin; infinite if it never does."""
    reached = np.flatnonzero(series.rate_mbps >= RAMPED_MBPS)
    return float(series.end_s[reached[0]]) if len(reached) else np.inf


def settled(series: LinkSeries) -> np.ndarray:
    """Mask of the bins after the transient."""
    return series.start_s >= burst_end_s(series) + SETTLING_S


def allowed_bytes(series: LinkSeries) -> np.ndarray:
    """Return what the shaper allows a busy link in each bin: the peak rate until the bucket is empty.

    What silence saves later is left out, so that a link which falls idle is not excused.
    """
    peak, sustained = (rate * 1e6 / 8 * series.width_s for rate in (PEAK_MBPS, SUSTAINED_MBPS))
    at_peak = np.clip((burst_end_s(series) - series.start_s) / series.width_s, 0.0, 1.0)
    return sustained + (peak - sustained) * at_peak


def utilisation(series: LinkSeries) -> float:
    """Divide the forwarded bytes after the transient by what the sustained rate carries in that time."""
    mask = settled(series)
    if not mask.any():
        return np.nan
    seconds = float(mask.sum()) * series.width_s
    return float(series.forwarded_bytes[mask].sum()) * 8e-6 / seconds / SUSTAINED_MBPS


def per_seed(
    view: StudyView, point: str, measure: Callable[[LinkSeries], float], link: str = "upstream"
) -> np.ndarray:
    """Measure each seed's series of one point."""
    return np.array([measure(series) for series in view.series(point, link).values()])


def typical(view: StudyView, point: str, measure: Callable[[LinkSeries], float]) -> float:
    """Median over seeds; infinite values (never reached) count as largest."""
    values = per_seed(view, point, measure)
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return np.nan
    ordered = np.sort(known)
    middle = len(ordered) // 2
    if len(ordered) % 2 or np.isinf(ordered[middle]):
        return float(ordered[middle])
    return float(0.5 * (ordered[middle - 1] + ordered[middle]))
