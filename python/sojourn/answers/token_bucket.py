"""The first burst of an upload through a token bucket: when it flows, when it is spent, what was allowed.

Source: a token bucket that starts full; its numbers are the study's.
Deviations: times are read off the bins of a series.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sojourn.answers.view import LinkSeries


def reaches_s(series: LinkSeries, mbps: float) -> float:
    """End of the first bin with this many bytes; infinite if there is none."""
    found = np.flatnonzero(series.rate_mbps >= mbps)
    return float(series.end_s[found[0]]) if len(found) else np.inf


@dataclass(frozen=True)
class TokenBucket:
    """A shaper that lets a burst pass at its peak rate, and its sustained rate afterwards.

    Attributes
    ----------
    sustained_mbps, peak_mbps, burst_bytes
        Its numbers.
    ramped
        Share of the peak rate that counts as the peak.
    settling_s
        Seconds after the burst that belong to the transient.
    """

    sustained_mbps: float
    peak_mbps: float
    burst_bytes: float
    ramped: float = 0.95
    settling_s: float = 5.0

    def tokens(self, series: LinkSeries) -> np.ndarray:
        """Bytes in the bucket at the end of each bin; it starts full and holds no more than the burst."""
        refill = self.sustained_mbps * 1e6 / 8 * series.width_s
        gained = np.cumsum(refill - series.forwarded_bytes)
        # What overflowed so far is the furthest that it would have come above the full bucket.
        return self.burst_bytes + gained - np.maximum(np.maximum.accumulate(gained), 0.0)

    def end_s(self, series: LinkSeries) -> float:
        """Time at which the bucket is first empty, in s; infinite if it never is.

        Empty: what is left refills within 100 ms at the sustained rate.
        """
        return _end_s(self, series)

    def ramp_s(self, series: LinkSeries) -> float:
        """Time at which the link first carries the peak rate for a bin, in s; infinite if it never does."""
        return reaches_s(series, self.ramped * self.peak_mbps)

    def settled(self, series: LinkSeries) -> np.ndarray:
        """Mask of the bins after the transient."""
        return series.start_s >= self.end_s(series) + self.settling_s

    def allowed_bytes(self, series: LinkSeries) -> np.ndarray:
        """Return what a busy link may carry in each bin: the peak rate until the bucket is empty.

        What silence saves later is left out, so that a link which falls idle is not excused.
        """
        rates = (self.peak_mbps, self.sustained_mbps)
        peak, sustained = (rate * 1e6 / 8 * series.width_s for rate in rates)
        at_peak = np.clip((self.end_s(series) - series.start_s) / series.width_s, 0.0, 1.0)
        return sustained + (peak - sustained) * at_peak

    def allowed_mbps(self, series: LinkSeries) -> np.ndarray:
        """Return the same as a rate."""
        return self.allowed_bytes(series) * 8e-6 / series.width_s

    def full_share(self, series: LinkSeries) -> float:
        """Share of the seconds after the ramp that carry 98 % of what was allowed.

        The second in which the burst ends is left out: bins do not say when exactly.
        """
        start, sent = series.binned(1.0)
        group = max(1, round(1.0 / series.width_s))
        limit = self.allowed_bytes(series)[: len(sent) * group].reshape(-1, group).sum(axis=1)
        end = self.end_s(series)
        after = (start >= self.ramp_s(series)) & ~((start <= end) & (end <= start + 1.0))
        if not after.any():
            return 0.0
        full: np.ndarray = sent[after] >= 0.98 * limit[after]
        return float(full.sum()) / float(after.sum())

    def utilisation(self, series: LinkSeries) -> float:
        """Divide the bytes after the transient by what the sustained rate carries in that time."""
        mask = self.settled(series)
        if not mask.any():
            return np.nan
        seconds = float(mask.sum()) * series.width_s
        return float(series.forwarded_bytes[mask].sum()) * 8e-6 / seconds / self.sustained_mbps


@lru_cache(maxsize=256)  # chosen: more than the series of a study that asks for them
def _end_s(bucket: TokenBucket, series: LinkSeries) -> float:
    """Answer `TokenBucket.end_s`, which most questions about a burst begin with."""
    spent = np.flatnonzero(bucket.tokens(series) <= bucket.sustained_mbps * 1e6 / 8 * 0.1)
    return float(series.end_s[spent[0]]) if len(spent) else np.inf
