"""Claims about the latency of game packets behind five managers.

Source: White 2013, Executive summary, sections 2.2, 3.1, 4.1.1 and 5, Figures 12 to 14, Table 3.
Deviations: delays are judged at full resolution; the document rounds them up to whole milliseconds.
"""

from __future__ import annotations

import math

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.numbers import by_group as by_case
from sojourn.studies.numbers import number
from sojourn.studies.view import StudyView
from sojourn.studies.white2013.cases import (
    AQM,
    BUFFER_CONTROL,
    BUFFERBLOAT,
    CELLS,
    CODEL,
    DROP_TAIL,
    MANAGERS,
    PIE,
    SFQ_CODEL,
)
from sojourn.studies.white2013.claims.measures import (
    FILLED,
    NONE,
    delay,
    game,
    games,
    median_over_seeds,
    row,
)

claim = ClaimBook()

#: Managers that serve one queue in order.
SINGLE_QUEUE = tuple(manager for manager in MANAGERS if manager != SFQ_CODEL)


def cell_name(rf: str, group: str) -> str:
    """Name a cell of the document's grids."""
    return f"{group} load, {rf} RF"


@claim("W13-01")
def _severe(view: StudyView) -> Outcome:
    idle = game(view, "x01", NONE, BUFFERBLOAT, "delay_p50")
    loaded = games(view, BUFFERBLOAT, NONE, "delay_p50", ("x02", "x03", "x04", "x05"))
    ratio = {load: value / idle for load, value in loaded.items()}
    return Outcome.of(min(ratio.values()) >= 50, by_case(ratio, 3))


@claim("W13-02")
def _two_hundred_times(view: StudyView) -> Outcome:
    ratio = {
        cell_name(*one): delay(view, BUFFERBLOAT, 0.5, [one]) / delay(view, SFQ_CODEL, 0.5, [one])
        for one in CELLS
    }
    best = max(ratio, key=lambda name: ratio[name])
    return Outcome.of(ratio[best] >= 100, f"{number(ratio[best])} times, {best}")


@claim("W13-37")
def _hardly_touched(view: StudyView) -> Outcome:
    p95 = games(view, SFQ_CODEL, NONE, "delay_p95", ("x01", "x02"))
    return Outcome.of(p95["x02"] - p95["x01"] <= 6, by_case(p95, 3, "ms"))


@claim("W13-41")
def _one_queue_is_better(view: StudyView) -> Outcome:
    two = median_over_seeds(view.values("x04-light-codel-two-queues", "game", "delay_p95"))
    one = game(view, "x04", "light", CODEL, "delay_p95")
    return Outcome.of(one < two, f"one {number(one)} ms, two {number(two)} ms")


@claim("W13-50")
def _as_deep_as_the_buffer(view: StudyView) -> Outcome:
    long = games(view, BUFFERBLOAT, NONE, "delay_max", FILLED)
    short = games(view, BUFFER_CONTROL, NONE, "delay_max", FILLED)
    held = all(970 <= v <= 1020 for v in long.values())
    held = held and all(45 <= v <= 60 for v in short.values())
    return Outcome.of(
        held,
        f"BufferBloat {by_case(long, 4, 'ms')}; Buffer Control {by_case(short, 3, 'ms')}",
    )


def _growth(view: StudyView, rf: str, low: float, high: float) -> Outcome:
    """Judge the worst latency under congestion against that without."""
    parts: list[str] = []
    held = True
    for manager in DROP_TAIL:
        free = games(view, manager, NONE, "delay_max", FILLED)
        congested = games(view, manager, rf, "delay_max", FILLED)
        ratio = {load: congested[load] / free[load] for load in FILLED}
        held = held and all(low <= v <= high for v in ratio.values())
        parts.append(f"{manager} {by_case(ratio, 3)}")
    return Outcome.of(held, "; ".join(parts))


@claim("W13-51")
def _doubled(view: StudyView) -> Outcome:
    return _growth(view, "light", 1.85, 2.1)


@claim("W13-52")
def _tripled(view: StudyView) -> Outcome:
    return _growth(view, "moderate", 2.7, 3.1)


@claim("W13-53")
def _less_affected(view: StudyView) -> Outcome:
    ratio = {
        manager: delay(view, manager, 0.95, row("moderate")) / delay(view, manager, 0.95, row(NONE))
        for manager in MANAGERS
    }
    held = max(ratio[m] for m in AQM) < min(ratio[m] for m in DROP_TAIL)
    return Outcome.of(held, by_case(ratio, 3))


@claim("W13-55")
def _near_the_maximum(view: StudyView) -> Outcome:
    parts: list[str] = []
    held = True
    for manager in DROP_TAIL:
        middle = games(view, manager, NONE, "delay_p50", FILLED)
        largest = games(view, manager, NONE, "delay_max", FILLED)
        share = {load: middle[load] / largest[load] for load in FILLED}
        held = held and min(share.values()) >= 0.6
        parts.append(f"{manager} {by_case(share, 2)}")
    return Outcome.of(held, "; ".join(parts))


@claim("W13-56")
def _ledbat_backs_off(view: StudyView) -> Outcome:
    middle = games(view, BUFFERBLOAT, NONE, "delay_p50", ("x12", "x16", "x17"))
    largest = max(middle["x16"], middle["x17"])
    held = largest <= 250 and largest < 0.5 * middle["x12"]
    return Outcome.of(held, by_case(middle, 3, "ms"))


@claim("W13-57")
def _floor_of_one_queue(view: StudyView) -> Outcome:
    least = {
        manager: min(games(view, manager, NONE, "delay_p01").values()) for manager in SINGLE_QUEUE
    }
    held = all(4.0 <= v <= 6.5 for v in least.values())
    shown = ", ".join(f"{math.ceil(v)}" for v in least.values() if math.isfinite(v))
    first = min(games(view, CODEL, NONE, "delay_min").values())
    return Outcome.of(
        held,
        by_case(least, 3, "ms"),
        f"rounded up: {shown} ms; least packet with CoDel, whose head drops free grants (2.1.1): "
        f"{number(first)} ms",
    )


@claim("W13-61")
def _best_in_most_cells(view: StudyView) -> Outcome:
    best = {
        p: [
            one
            for one in CELLS
            if min(MANAGERS, key=lambda m, one=one, p=p: delay(view, m, p, [one])) == SFQ_CODEL
        ]
        for p in (0.5, 0.95)
    }
    held = all(len(cells) >= 6 for cells in best.values())
    words = {"median": len(best[0.5]), "95th percentile": len(best[0.95])}
    return Outcome.of(held, ", ".join(f"{name}: {n} of 9" for name, n in words.items()))


@claim("W13-62")
def _crossing(view: StudyView) -> Outcome:
    heavy = [(NONE, "heavy")]
    parts: list[str] = []
    crossed = False
    for p in (0.95, 0.99):
        sfq = delay(view, SFQ_CODEL, p, heavy)
        rival = min(delay(view, manager, p, heavy) for manager in (CODEL, PIE))
        crossed = crossed or sfq > rival
        parts.append(f"{100 * p:g} %: {number(sfq)} against {number(rival)} ms")
    return Outcome.of(crossed, "; ".join(parts))


@claim("W13-63")
def _worst_in_bittorrent(view: StudyView) -> Outcome:
    loads = ("x12", "x13", "x14", "x15", "x16", "x17")
    p95 = games(view, SFQ_CODEL, NONE, "delay_p95", loads)
    held = min(p95[x] for x in loads[4:]) > max(p95[x] for x in loads[:4])
    return Outcome.of(held, by_case(p95, 3, "ms"))


@claim("W13-74")
def _ranking(view: StudyView) -> Outcome:
    parts: list[str] = []
    held = True
    for p, title in ((0.5, "median"), (0.95, "95th percentile")):
        value = {manager: delay(view, manager, p) for manager in MANAGERS}
        active = max(value[CODEL], value[PIE])
        held = held and value[BUFFERBLOAT] > value[BUFFER_CONTROL] > active
        held = held and (p != 0.5 or active >= value[SFQ_CODEL])
        parts.append(f"{title} {by_case(value, 3, 'ms')}")
    return Outcome.of(held, "; ".join(parts))


@claim("W13-86")
def _buffer_control_for_games(view: StudyView) -> Outcome:
    middle = {manager: delay(view, manager, 0.5, row(NONE)) for manager in DROP_TAIL}
    ratio = middle[BUFFERBLOAT] / middle[BUFFER_CONTROL]
    return Outcome.of(8 <= ratio <= 22, f"{number(ratio)} times: {by_case(middle, 3, 'ms')}")
