"""Claims about drop-tail buffers: their size, and at which end they drop.

Source: White 2013, sections 1.3, 1.4, 2.1 and 5.1, Figures 3 and 4, Table 1.
Deviations: the document compares head and tail in words only; here drop-tail that refuses arrivals meets
drop-tail that gives up its oldest packets.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.numbers import by_group as by_case
from sojourn.studies.numbers import number
from sojourn.studies.view import LinkSeries, StudyView
from sojourn.studies.white2012.study import settled
from sojourn.studies.white2013.cases import BUFFERBLOAT, DROP_TAIL, MANAGER_LABELS
from sojourn.studies.white2013.claims.measures import (
    NONE,
    game,
    games,
    median_over_seeds,
)
from sojourn.studies.white2013.typical import typical

claim = ClaimBook()

#: Idle round trips in ms for which the ratio of section 1.4 is judged; chosen: measured lines of 2011.
IDLE_MS = (12.0, 25.0)


def buffer_point(load: str, milliseconds: int) -> str:
    """Return the point of a drop-tail buffer."""
    return f"{load}-buffer-{milliseconds}ms"


@claim("W13-16")
def _fuller_with_more_flows(view: StudyView) -> Outcome:
    parts: list[str] = []
    held = True
    for manager in DROP_TAIL:
        fill = games(view, manager, NONE, "delay_mean", ("x02", "x04", "x03", "x05"))
        held = held and fill["x04"] > fill["x02"] and fill["x05"] > fill["x03"]
        parts.append(f"{MANAGER_LABELS[manager]} {by_case(fill, 3, 'ms')}")
    return Outcome.of(held, "; ".join(parts))


@claim("W13-17")
def _fuller_if_larger(view: StudyView) -> Outcome:
    sizes = (50, 100, 250, 500, 1000)
    delay = {
        f"{size} ms": median_over_seeds(
            view.values(buffer_point("x02", size), "game", "delay_mean")
        )
        for size in sizes
    }
    held = all(small < large for small, large in pairwise(delay.values()))
    return Outcome.of(held, by_case(delay, 3, "ms"))


@claim("W13-20")
def _half_a_minute(view: StudyView) -> Outcome:
    times = {
        f"{size // 1000} s": median_over_seeds(
            view.values(buffer_point("x02", size), "page", "page_load_time_median")
        )
        for size in (2000, 4000)
    }
    five = {
        f"{size // 1000} s": median_over_seeds(
            view.values(buffer_point("x04", size), "page", "page_load_time_median")
        )
        for size in (2000, 4000)
    }
    held = all(20 <= v <= 70 for v in times.values())
    return Outcome.of(held, by_case(times, 3, "s"), f"beside five uploads {by_case(five, 3, 's')}")


@claim("W13-21")
def _loaded_against_idle(view: StudyView) -> Outcome:
    loaded, idle = (game(view, load, NONE, BUFFERBLOAT, "delay_p50") for load in ("x02", "x01"))
    ratio = {f"{trip:g} ms": (trip + loaded - idle) / trip for trip in IDLE_MS}
    return Outcome.of(all(30 <= v <= 90 for v in ratio.values()), by_case(ratio, 3))


#: A loss is a first one if none came in so many seconds before it (chosen: above any round trip here).
QUIET_S = 2.0

#: The backlog has fallen when so much of it is left.
FALLEN = 0.95


def responses(series: LinkSeries) -> list[tuple[float, float]]:
    """Find first losses after the burst: seconds until the backlog falls, and the delay in s then."""
    lossy = np.flatnonzero((series.dropped_packets > 0) & settled(series))
    found: list[tuple[float, float]] = []
    for place, first in enumerate(lossy):
        if place and (first - lossy[place - 1]) * series.width_s <= QUIET_S:
            continue
        level = series.backlog_packets_mean[first:]
        fallen = np.flatnonzero(level < FALLEN * level[0])
        if len(fallen):
            waits = float(series.sojourn_max_ms[first]) / 1000
            found.append((float(fallen[0]) * series.width_s, waits))
    return found


def response_s(series: LinkSeries) -> float:
    """Median time from a first loss until the backlog falls; NaN without losses."""
    found = responses(series)
    return float(np.median([takes for takes, _ in found])) if found else np.nan


def full_delay_s(series: LinkSeries) -> float:
    """Median delay of the buffer when it overflows; NaN without losses."""
    found = responses(series)
    return float(np.median([waits for _, waits in found])) if found else np.nan


@claim("W13-31")
def _head_tells_earlier(view: StudyView) -> Outcome:
    takes = {end: typical(view, f"losses-at-the-{end}", response_s) for end in ("tail", "head")}
    buffer = typical(view, "losses-at-the-tail", full_delay_s)
    earlier = takes["tail"] - takes["head"]
    held = abs(earlier / buffer - 1) <= 0.2
    return Outcome.of(
        held, f"{by_case(takes, 3, 's')}: earlier by {number(earlier)} of {number(buffer)} s"
    )


def downstream_ms(view: StudyView, point: str) -> float:
    """Median delay of the game's packets on their way to the subscriber."""
    by_seed = view.delays(point, "game", "downstream")
    return median_over_seeds([one.quantile(0.5) for one in by_seed.values()])


@claim("W13-107")
def _downstream_too(view: StudyView) -> Outcome:
    delay = {
        title: downstream_ms(view, point)
        for title, point in (
            ("alone", "downstream-no-download"),
            ("beside a download", "downstream-with-download"),
            ("with CoDel", "downstream-with-download-codel"),
        )
    }
    held = delay["beside a download"] >= 10 * delay["alone"]
    return Outcome.of(held, by_case(delay, 3, "ms"))
