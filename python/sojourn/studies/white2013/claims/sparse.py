"""Claims about packets that leave sooner than one request-grant loop behind SFQ-CoDel.

Source: White 2013, section 4.1.1: a grant that one flow requested carries a packet of another.
Deviations: delays are judged at full resolution; the document rounds them up to whole milliseconds.
"""

from __future__ import annotations

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.numbers import by_group as by_case
from sojourn.studies.numbers import number
from sojourn.studies.view import StudyView
from sojourn.studies.white2013 import cases
from sojourn.studies.white2013.cases import SFQ_CODEL
from sojourn.studies.white2013.claims.measures import (
    EASY_GROUPS,
    NONE,
    game,
    median_over_seeds,
    share_below,
)

claim = ClaimBook()

#: One request-grant loop at its shortest, and the way to the other end (section 4.1.1).
LOOP_MS = 5.0


def share_of_load(view: StudyView, load: str) -> float:
    """Share of game packets that beat the loop in one household without RF congestion."""
    by_seed = cases.game_delays(view, load, NONE, SFQ_CODEL)
    return median_over_seeds([one.share_below(LOOP_MS) for one in by_seed.values()])


@claim("W13-58")
def _fastest(view: StudyView) -> Outcome:
    first = game(view, "x02", NONE, SFQ_CODEL, "delay_p01")
    least = game(view, "x02", NONE, SFQ_CODEL, "delay_min")
    return Outcome.of(first <= 2.5, f"{number(first)} ms, at least {number(least)} ms")


@claim("W13-59")
def _four_of_five(view: StudyView) -> Outcome:
    groups = {
        group: share_below(view, SFQ_CODEL, LOOP_MS, [(NONE, group)]) for group in EASY_GROUPS
    }
    both = sum(groups.values()) / len(groups)
    overall = share_below(view, SFQ_CODEL, LOOP_MS)
    percent = by_case({name: 100 * v for name, v in groups.items()}, 3, "%")
    return Outcome.of(
        0.65 <= both <= 0.95,
        f"{number(100 * both)} %: {percent}; overall {number(100 * overall)} %",
    )


@claim("W13-60")
def _rides_other_grants(view: StudyView) -> Outcome:
    share = {load: 100 * share_of_load(view, load) for load in ("x01", "x02")}
    return Outcome.of(share["x02"] > share["x01"], by_case(share, 3, "%"))
