"""Claims about the first burst: how fast TCP reaches the peak rate, how long the burst lasts.

Source: White and Padden 2012, section 4.1, Figures 2, 4 and 6.
Deviations: the document does not say at which round trip its figures were drawn, nor beside which other
traffic. A start of 0.6 s, bursts of 6 and 5.8 s and a climb of 10 s fit uploads alone at 100 ms, which
judge. The other round trip is shown beside it.
"""

from __future__ import annotations

import numpy as np

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.view import LinkSeries, StudyView
from sojourn.studies.white2012.cases import CODEL, DROPTAIL_21, DROPTAIL_417, alone_point_of
from sojourn.studies.white2012.claims.words import by_case, number
from sojourn.studies.white2012.transient import (
    allowed_bytes,
    burst_end_s,
    ramp_s,
    typical,
)

claim = ClaimBook()

#: One and five uploads at 100 ms, then at 20 ms.
ONE, FIVE = "03", "05"
ONE_SHORT, FIVE_SHORT = "02", "04"


def _ramps(view: StudyView, manager: str, *chosen: str) -> dict[str, float]:
    return {case: typical(view, alone_point_of(case, manager), ramp_s) for case in chosen}


def _ends(view: StudyView, manager: str, *chosen: str) -> dict[str, float]:
    return {case: typical(view, alone_point_of(case, manager), burst_end_s) for case in chosen}


def _at_20_ms(values: dict[str, float]) -> str:
    return f"at 20 ms: {by_case(values, 3, 's')}"


@claim("W12-16")
def _slow_with_50_ms(view: StudyView) -> Outcome:
    short, long = _ramps(view, DROPTAIL_21, ONE)[ONE], _ramps(view, DROPTAIL_417, ONE)[ONE]
    end = _ends(view, DROPTAIL_21, ONE)[ONE]
    held = short >= 5 * long or short > end
    return Outcome.of(held, f"{number(short)} s against {number(long)} s")


@claim("W12-31")
def _fast_with_one_second(view: StudyView) -> Outcome:
    ramp = _ramps(view, DROPTAIL_417, ONE, FIVE)
    held = all(0.2 <= v <= 1.2 for v in ramp.values())
    note = _at_20_ms(_ramps(view, DROPTAIL_417, ONE_SHORT, FIVE_SHORT))
    return Outcome.of(held, by_case(ramp, 2, "s"), note)


@claim("W12-32")
def _full_to_the_end(view: StudyView) -> Outcome:
    share: dict[str, float] = {
        case: typical(view, alone_point_of(case, DROPTAIL_417), full_share)
        for case in (ONE_SHORT, ONE, FIVE_SHORT, FIVE)
    }
    return Outcome.of(min(share.values()) >= 0.99, by_case(share, 4), "share of full seconds")


def full_share(series: LinkSeries) -> float:
    """Share of the seconds after the ramp that carry 98 % of what was allowed.

    The second in which the burst ends is left out: bins of 100 ms do not say when exactly.
    """
    allowed = allowed_bytes(series)
    start, sent = series.binned(1.0)
    group = max(1, round(1.0 / series.width_s))
    limit = allowed[: len(sent) * group].reshape(len(sent), group).sum(axis=1)
    end = burst_end_s(series)
    after = (start >= ramp_s(series)) & ~((start <= end) & (end <= start + 1.0))
    if not after.any():
        return 0.0
    full: np.ndarray = sent[after] >= 0.98 * limit[after]
    return float(full.sum()) / float(after.sum())


@claim("W12-34")
def _burst_with_one_second(view: StudyView) -> Outcome:
    end = _ends(view, DROPTAIL_417, ONE, FIVE)
    held = all(5.3 <= v <= 6.3 for v in end.values()) and end[ONE] >= end[FIVE]
    note = _at_20_ms(_ends(view, DROPTAIL_417, ONE_SHORT, FIVE_SHORT))
    return Outcome.of(held, by_case(end, 3, "s"), note)


@claim("W12-36")
def _ramp_with_50_ms(view: StudyView) -> Outcome:
    ramp = _ramps(view, DROPTAIL_21, ONE)[ONE]
    long = _ramps(view, DROPTAIL_417, ONE)[ONE]
    held = 5 <= ramp <= 15 and ramp >= 5 * long
    note = _at_20_ms(_ramps(view, DROPTAIL_21, ONE_SHORT))
    return Outcome.of(held, f"{number(ramp)} s", note)


@claim("W12-37")
def _burst_of_one_with_50_ms(view: StudyView) -> Outcome:
    end = _ends(view, DROPTAIL_21, ONE)[ONE]
    return Outcome.of(9 <= end <= 15, f"{number(end)} s", _at_20_ms(_ends(view, DROPTAIL_21, "02")))


@claim("W12-38")
def _ramp_of_five_with_50_ms(view: StudyView) -> Outcome:
    ramp = _ramps(view, DROPTAIL_21, FIVE)[FIVE]
    return Outcome.of(
        2 <= ramp <= 7, f"{number(ramp)} s", _at_20_ms(_ramps(view, DROPTAIL_21, "04"))
    )


@claim("W12-39")
def _burst_of_five_with_50_ms(view: StudyView) -> Outcome:
    end = _ends(view, DROPTAIL_21, FIVE)[FIVE]
    return Outcome.of(6 <= end <= 8, f"{number(end)} s", _at_20_ms(_ends(view, DROPTAIL_21, "04")))


@claim("W12-40")
def _order_of_bursts(view: StudyView) -> Outcome:
    long, short = _ends(view, DROPTAIL_417, FIVE, ONE), _ends(view, DROPTAIL_21, FIVE, ONE)
    held = long[FIVE] <= long[ONE] < short[FIVE] < short[ONE]
    times = {
        "five, 417": long[FIVE],
        "one, 417": long[ONE],
        "five, 21": short[FIVE],
        "one, 21": short[ONE],
    }
    return Outcome.of(held, by_case(times, 3, "s"))


@claim("W12-43")
def _fast_with_codel(view: StudyView) -> Outcome:
    ramp = _ramps(view, CODEL, ONE, FIVE)
    note = _at_20_ms(_ramps(view, CODEL, ONE_SHORT, FIVE_SHORT))
    return Outcome.of(max(ramp.values()) <= 1.2, by_case(ramp, 2, "s"), note)


def stuck_rate(series: LinkSeries) -> float:
    """Mean rate in Mb/s from 3 s until the bucket is empty; NaN if it is empty before."""
    mask = series.between(3.0, burst_end_s(series))
    return float(series.rate_mbps[mask].mean()) if mask.any() else np.nan


@claim("W12-45")
def _stuck(view: StudyView) -> Outcome:
    rate = typical(view, alone_point_of(ONE, CODEL), stuck_rate)
    short = typical(view, alone_point_of(ONE_SHORT, CODEL), stuck_rate)
    return Outcome.of(14 <= rate <= 16.5, f"{number(rate)} Mb/s", f"at 20 ms: {number(short)} Mb/s")


@claim("W12-46")
def _not_stuck(view: StudyView) -> Outcome:
    rate = {
        f"{n} packets": typical(view, f"{alone_point_of(ONE, CODEL)}-{n}", stuck_rate)
        for n in (130, 170)
    }
    return Outcome.of(min(rate.values()) >= 18, by_case(rate, 3, "Mb/s"))


@claim("W12-47")
def _stuck_for(view: StudyView) -> Outcome:
    lasts = typical(view, alone_point_of(ONE, CODEL), burst_end_s) - 2.5
    return Outcome.of(abs(lasts - 4.8) <= 1.0, f"{number(lasts)} s")
