"""Claims about the first seconds of one upload: 20 Mb/s while the burst lasts, then 5 Mb/s.

Source: White 2013, sections 3.8 and 4.4, Figures 29 and 30: one Reno upload and nothing else.
Deviations: rates are those of the link, headers included, in bins of 100 ms. The burst ends when the
token bucket is empty for the first time; the bin in which it ends is left out.
"""

from __future__ import annotations

import numpy as np

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.numbers import by_group as by_case
from sojourn.studies.numbers import number
from sojourn.studies.view import LinkSeries, StudyView
from sojourn.studies.white2012.study import SUSTAINED_MBPS, burst_end_s, ramp_s
from sojourn.studies.white2013.cases import (
    BUFFER_CONTROL,
    BUFFERBLOAT,
    CODEL,
    PIE,
    SFQ_CODEL,
)
from sojourn.studies.white2013.claims.measures import mean
from sojourn.studies.white2013.typical import per_seed, typical

claim = ClaimBook()

#: What the figures show, s.
SHOWN_S = 30.0

#: Length of the runs, chosen so that the time after the burst can be judged, s.
JUDGED_S = 60.0

#: The ramp metric of this study counts bytes until then (section 4.4; chosen).
EARLY_S = 6.0


def point_of(manager: str) -> str:
    """Return the point of one Reno upload."""
    return f"reno-{manager}"


def sent_early(view: StudyView, manager: str) -> float:
    """MB sent in the first 6 s."""
    return typical(view, point_of(manager), lambda series: _sent(series, EARLY_S))


def _sent(series: LinkSeries, seconds: float) -> float:
    return float(series.forwarded_bytes[series.between(0.0, seconds)].sum()) / 1e6


def reaches_s(series: LinkSeries, mbps: float) -> float:
    """End of the first bin with so much; infinite if there is none."""
    found = np.flatnonzero(series.rate_mbps >= mbps)
    return float(series.end_s[found[0]]) if len(found) else np.inf


def in_burst(series: LinkSeries) -> np.ndarray:
    """Rates from the first peak to the end of the burst, Mb/s."""
    return series.rate_mbps[
        series.between(ramp_s(series) - series.width_s, burst_end_s(series) - series.width_s)
    ]


def dip(series: LinkSeries) -> float:
    """Lowest rate after the first peak; NaN without one."""
    rates = in_burst(series)
    return float(rates.min()) if len(rates) else np.nan


def second_peak(series: LinkSeries) -> float:
    """Highest rate after the dip; NaN without one."""
    rates = in_burst(series)
    return float(rates[int(np.argmin(rates)) :].max()) if len(rates) else np.nan


def after_burst(series: LinkSeries) -> np.ndarray:
    """Rates after the burst, Mb/s."""
    return series.rate_mbps[series.start_s >= burst_end_s(series)]


def variation(series: LinkSeries) -> float:
    """Coefficient of variation after the burst; NaN if there is nothing."""
    rates = after_burst(series)
    return float(rates.std() / rates.mean()) if len(rates) and rates.mean() else np.nan


def mean_rate(series: LinkSeries) -> float:
    """Mean rate after the burst, Mb/s; NaN if there is nothing."""
    rates = after_burst(series)
    return float(rates.mean()) if len(rates) else np.nan


def unsteadiness(series: LinkSeries) -> float:
    """Largest distance of a second's rate from the sustained one, from the burst until 30 s."""
    start, sent = series.binned(1.0)
    chosen = sent[(start >= burst_end_s(series)) & (start + 1.0 <= SHOWN_S)] * 8e-6
    return float(np.abs(chosen - SUSTAINED_MBPS).max()) if len(chosen) else np.nan


def _each(view: StudyView, *managers: str) -> None:
    for manager in managers:
        view.require_duration(point_of(manager), JUDGED_S)


@claim("W13-94")
def _ideal(view: StudyView) -> Outcome:
    _each(view, BUFFERBLOAT)
    point = point_of(BUFFERBLOAT)
    ramp, low = typical(view, point, ramp_s), typical(view, point, dip)
    end, away = typical(view, point, burst_end_s), typical(view, point, unsteadiness)
    held = ramp <= 1.5 and low >= 19 and away <= 0.15
    return Outcome.of(
        held,
        f"from {number(ramp)} to {number(end)} s never below {number(low)} Mb/s; then at most "
        f"{number(away, 2)} Mb/s away from 5",
    )


@claim("W13-95")
def _slow_climb(view: StudyView) -> Outcome:
    _each(view, BUFFER_CONTROL)
    point = point_of(BUFFER_CONTROL)
    five = typical(view, point, lambda series: reaches_s(series, SUSTAINED_MBPS))
    peak = typical(view, point, ramp_s)
    held = five <= 2 and 10 <= peak <= 20
    return Outcome.of(held, f"5 Mb/s by {number(five)} s, 19 Mb/s by {number(peak)} s")


@claim("W13-96")
def _smaller_boost(view: StudyView) -> Outcome:
    points = {
        7.5: "reno-buffer-control-peak-7",
        10.0: "reno-buffer-control-peak-10",
        20.0: point_of(BUFFER_CONTROL),
    }
    takes = {
        peak: typical(view, point, lambda series, peak=peak: reaches_s(series, 0.95 * peak))
        for peak, point in points.items()
    }
    values = list(takes.values())
    held = values[0] < values[1] < values[2]
    return Outcome.of(held, by_case({f"{p:g} Mb/s": v for p, v in takes.items()}, 3, "s"))


@claim("W13-97")
def _alike(view: StudyView) -> Outcome:
    _each(view, CODEL, SFQ_CODEL)
    first, second = (view.series(point_of(manager)) for manager in (CODEL, SFQ_CODEL))
    shares: list[float] = []
    for seed in sorted(first.keys() & second.keys()):
        a, b = (one[seed].binned(1.0)[1][: int(SHOWN_S)] for one in (first, second))
        shares.append(float(np.sqrt(np.mean((a - b) ** 2)) / np.mean((a + b) / 2)))
    share = mean(shares)
    return Outcome.of(share <= 0.15, f"{number(100 * share)} % of the mean")


@claim("W13-98")
def _dip_to_twelve(view: StudyView) -> Outcome:
    _each(view, CODEL, SFQ_CODEL)
    low = {m: typical(view, point_of(m), dip) for m in (CODEL, SFQ_CODEL)}
    again = {m: typical(view, point_of(m), second_peak) for m in (CODEL, SFQ_CODEL)}
    held = all(9 <= v <= 15 for v in low.values()) and min(again.values()) >= 18
    return Outcome.of(
        held, f"down to {by_case(low, 3, 'Mb/s')}; back to {by_case(again, 3, 'Mb/s')}"
    )


@claim("W13-99")
def _earned_tokens(view: StudyView) -> Outcome:
    _each(view, BUFFERBLOAT, CODEL, SFQ_CODEL)
    varies = {m: typical(view, point_of(m), variation) for m in (BUFFERBLOAT, CODEL, SFQ_CODEL)}
    rate = {m: typical(view, point_of(m), mean_rate) for m in (CODEL, SFQ_CODEL)}
    held = min(varies[CODEL], varies[SFQ_CODEL]) > varies[BUFFERBLOAT]
    held = held and min(rate.values()) >= 0.97 * SUSTAINED_MBPS
    return Outcome.of(held, f"variation {by_case(varies, 2)}; mean {by_case(rate, 4, 'Mb/s')}")


@claim("W13-100")
def _pie_falls(view: StudyView) -> Outcome:
    _each(view, PIE)
    point = point_of(PIE)
    low, again = typical(view, point, dip), typical(view, point, second_peak)
    end = float(np.median(per_seed(view, point, burst_end_s)))
    return Outcome.of(
        low <= 4 and 9 <= again <= 15,
        f"down to {number(low)}, back to {number(again)} Mb/s; tokens until {number(end)} s",
    )


@claim("W13-101")
def _pie_oscillates(view: StudyView) -> Outcome:
    _each(view, CODEL, SFQ_CODEL, PIE)
    varies = {m: typical(view, point_of(m), variation) for m in (CODEL, SFQ_CODEL, PIE)}
    held = varies[PIE] > max(varies[CODEL], varies[SFQ_CODEL])
    return Outcome.of(held, by_case(varies, 3))
