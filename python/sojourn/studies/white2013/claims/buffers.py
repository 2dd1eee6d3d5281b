"""Claims about the size of a drop-tail buffer.

Source: White 2013, sections 1.3 and 1.4, Figures 3 and 4.
Deviations: none known.
"""

from __future__ import annotations

from itertools import pairwise

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.view import StudyView
from sojourn.studies.white2012.claims.words import by_case
from sojourn.studies.white2013.cases import BUFFERBLOAT, DROP_TAIL, MANAGER_LABELS, point_of
from sojourn.studies.white2013.claims.measures import NONE, game, mean

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
        fill = {
            load: mean(view.values(point_of(load, NONE, manager), "upstream", "backlog_mean"))
            for load in ("x02", "x03", "x04", "x05")
        }
        held = held and fill["x04"] > fill["x02"] and fill["x05"] > fill["x03"]
        parts.append(f"{MANAGER_LABELS[manager]} {by_case(fill, 3)} packets")
    return Outcome.of(held, "; ".join(parts))


@claim("W13-17")
def _fuller_if_larger(view: StudyView) -> Outcome:
    sizes = (50, 100, 250, 500, 1000)
    delay = {
        f"{size} ms": mean(view.values(buffer_point("x02", size), "game", "delay_mean"))
        for size in sizes
    }
    held = all(small < large for small, large in pairwise(delay.values()))
    return Outcome.of(held, by_case(delay, 3, "ms"))


@claim("W13-20")
def _half_a_minute(view: StudyView) -> Outcome:
    times = {
        f"{size // 1000} s": mean(
            view.values(buffer_point("x02", size), "page", "page_load_time_median")
        )
        for size in (2000, 4000)
    }
    five = {
        f"{size // 1000} s": mean(
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
