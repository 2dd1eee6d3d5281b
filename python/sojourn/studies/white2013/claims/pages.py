"""Claims about web pages: load times behind five managers, and over delay and rate.

Source: White 2013, Executive summary, sections 1.1, 1.2, 4.2 and 5, Figures 1, 2 and 22 to 24.
Deviations: pages under way at the end of a run do not count.
"""

from __future__ import annotations

import numpy as np

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.numbers import by_group as by_case
from sojourn.studies.numbers import number
from sojourn.studies.view import StudyView
from sojourn.studies.white2013 import cases
from sojourn.studies.white2013.cases import (
    BUFFER_CONTROL,
    BUFFERBLOAT,
    CODEL,
    GROUP_LOADS,
    GROUPS,
    LOADS,
    MANAGER_LABELS,
    MANAGERS,
    PIE,
    RF_LEVELS,
    SFQ_CODEL,
)
from sojourn.studies.white2013.claims.measures import (
    EASY_GROUPS,
    NONE,
    load_time,
    mean,
    median_over_seeds,
)

claim = ClaimBook()

#: Added round trips in ms of the points `page-YEAR-add-MS`.
ADDED_MS = (0, 50, 100, 200)

#: Households whose pages were also loaded with name look-ups.
WITH_NAMES = ("x02", "x05", "x10", "x13", "x16")


def idle_time(view: StudyView, point: str) -> float:
    """Median load time in s of a page on an idle line."""
    return median_over_seeds(view.values(point, "page", "page_load_time_median"))


def over_round_trips(view: StudyView, year: str) -> tuple[float, float]:
    """Slope of load time over added round trip, and the R² of the line."""
    added = np.array(ADDED_MS) / 1000
    times = np.array([idle_time(view, f"page-{year}-add-{ms}") for ms in ADDED_MS])
    slope, start = np.polyfit(added, times, 1)
    residual = times - (slope * added + start)
    scatter = float(np.sum((times - times.mean()) ** 2))
    return float(slope), 1 - float(np.sum(residual**2)) / scatter if scatter else float("nan")


def _slopes(view: StudyView) -> dict[str, float]:
    return {year: over_round_trips(view, year)[0] for year in ("2012", "2013")}


@claim("W13-03")
def _ten_times_faster(view: StudyView) -> Outcome:
    ratio = load_time(view, BUFFERBLOAT, 0.5) / load_time(view, SFQ_CODEL, 0.5)
    return Outcome.of(5 <= ratio <= 15, f"{number(ratio)} times")


@claim("W13-10")
def _many_round_trips(view: StudyView) -> Outcome:
    slope = _slopes(view)
    return Outcome.of(all(8 <= v <= 25 for v in slope.values()), by_case(slope, 3))


@claim("W13-11")
def _linear(view: StudyView) -> Outcome:
    slope, fit = over_round_trips(view, "2013")
    return Outcome.of(fit >= 0.98, f"R² {number(fit, 4)}, slope {number(slope)}; 14 in the talk")


@claim("W13-12")
def _two_hundred_ms_more(view: StudyView) -> Outcome:
    slope = _slopes(view)["2013"]
    more = idle_time(view, "page-2013-add-200") - idle_time(view, "page-2013-add-0")
    held = abs(more / (0.2 * slope) - 1) <= 0.1
    return Outcome.of(held, f"{number(more)} s; 2.8 s in the talk")


@claim("W13-13")
def _on_either_side(view: StudyView) -> Outcome:
    up = idle_time(view, "page-2013-add-100-later-upstream")
    down = idle_time(view, "page-2013-add-100-later-downstream")
    held = abs(up - down) <= 0.02 * min(up, down)
    return Outcome.of(held, f"upstream {number(up, 4)} s, downstream {number(down, 4)} s")


@claim("W13-14")
def _enough_megabits(view: StudyView) -> Outcome:
    times = {
        f"{rate} Mb/s": idle_time(view, f"page-2013-down-{rate}") for rate in (2, 4, 6, 8, 10, 20)
    }
    early, late = times["2 Mb/s"] - times["6 Mb/s"], times["6 Mb/s"] - times["20 Mb/s"]
    return Outcome.of(late < early / 3, by_case(times, 3, "s"))


@claim("W13-83")
def _faster_than_bufferbloat(view: StudyView) -> Outcome:
    long = load_time(view, BUFFERBLOAT, 0.5)
    ratio = {m: long / load_time(view, m, 0.5) for m in MANAGERS if m != BUFFERBLOAT}
    return Outcome.of(min(ratio.values()) >= 2, by_case(ratio, 3))


@claim("W13-84")
def _best_two(view: StudyView) -> Outcome:
    slow = {manager: load_time(view, manager, 0.9) for manager in MANAGERS}
    middle = {manager: load_time(view, manager, 0.5) for manager in MANAGERS}
    best = sorted(slow, key=lambda manager: slow[manager])[:2]
    return Outcome.of(
        set(best) == {SFQ_CODEL, PIE},
        f"90th percentile {by_case(slow, 3, 's')}",
        f"median {by_case(middle, 3, 's')}",
    )


@claim("W13-85")
def _buffer_control_for_pages(view: StudyView) -> Outcome:
    ratio = {
        group: load_time(view, BUFFERBLOAT, 0.5, [(NONE, group)])
        / load_time(view, BUFFER_CONTROL, 0.5, [(NONE, group)])
        for group in EASY_GROUPS
    }
    return Outcome.of(all(2.5 <= v <= 7 for v in ratio.values()), by_case(ratio, 3))


def pages_per_hour(view: StudyView, manager: str, group: str) -> float:
    """Completed pages per household and hour, mean over the levels of congestion."""
    rates = [
        median_over_seeds(cases.page(view, load, rf, manager, "pages_completed"))
        * 3600
        / view.duration_s(cases.point_of(load, rf, manager))
        for load in GROUP_LOADS[group]
        for rf in RF_LEVELS
    ]
    return mean(rates)


@claim("W13-87")
def _fewest_pages(view: StudyView) -> Outcome:
    parts: list[str] = []
    held = True
    for manager in MANAGERS:
        rate = {group: pages_per_hour(view, manager, group) for group in GROUPS}
        held = held and rate["moderate"] < min(rate["light"], rate["heavy"])
        parts.append(f"{MANAGER_LABELS[manager]} {by_case(rate, 3)}")
    return Outcome.of(held, "; ".join(parts), "judged on every published run")


def names_cost(view: StudyView, manager: str, group: str) -> float:
    """Mean load time in s with name look-ups less that without, over the households of a group."""
    return mean(
        [
            median_over_seeds(view.values(f"{load}-names-{manager}", "page", "page_load_time_mean"))
            - median_over_seeds(cases.page(view, load, NONE, manager, "page_load_time_mean"))
            for load in WITH_NAMES
            if LOADS[load].group == group
        ]
    )


@claim("W13-88")
def _lost_names(view: StudyView) -> Outcome:
    cost = {(m, g): names_cost(view, m, g) for m in MANAGERS for g in GROUPS}
    largest = sorted(cost, key=lambda cell: -cost[cell])[:3]
    held = set(largest) == {(CODEL, "moderate"), (CODEL, "heavy"), (SFQ_CODEL, "heavy")}
    expected = {
        f"{MANAGER_LABELS[m]} {g}": cost[m, g]
        for m, g in ((CODEL, "moderate"), (CODEL, "heavy"), (SFQ_CODEL, "heavy"))
    }
    found = {f"{MANAGER_LABELS[m]} {g}": cost[m, g] for m, g in largest}
    return Outcome.of(held, by_case(found, 3, "s"), f"expected: {by_case(expected, 3, 's')}")


@claim("W13-110")
def _in_a_row(view: StudyView) -> Outcome:
    slope = _slopes(view)
    return Outcome.of(min(slope.values()) >= 12, by_case(slope, 3))
