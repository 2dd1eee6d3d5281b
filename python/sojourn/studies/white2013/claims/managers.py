"""Claims that compare managers over several applications.

Source: White 2013, Executive summary, sections 3.7, 5 and 5.1.
Deviations: none known.
"""

from __future__ import annotations

from itertools import pairwise

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.numbers import by_group as by_case
from sojourn.studies.numbers import number
from sojourn.studies.view import StudyView
from sojourn.studies.white2013.cases import (
    BUFFER_CONTROL,
    BUFFERBLOAT,
    CODEL,
    GROUPS,
    MANAGER_LABELS,
    MANAGERS,
    PIE,
    SFQ,
    SFQ_CODEL,
)
from sojourn.studies.white2013.claims.measures import (
    NONE,
    column,
    delay,
    group_mean,
    load_time,
    row,
)
from sojourn.studies.white2013.claims.short_term import sent_early
from sojourn.studies.white2013.claims.voice import Judged, by_score

claim = ClaimBook()


@claim("W13-06")
def _pie_is_very_good(view: StudyView) -> Outcome:
    chosen = (PIE, BUFFER_CONTROL, CODEL)
    middle = {manager: delay(view, manager, 0.5) for manager in chosen}
    times = {manager: load_time(view, manager, 0.5) for manager in chosen}

    def judge(metric: str) -> Judged:
        score = {manager: group_mean(view, manager, metric) for manager in chosen}
        better = {
            rival: (middle[PIE] < middle[rival])
            + (times[PIE] < times[rival])
            + (score[PIE] > score[rival])
            for rival in (BUFFER_CONTROL, CODEL)
        }
        words = f"{by_case(middle, 3, 'ms')}; {by_case(times, 3, 's')}; score {by_case(score, 3)}"
        return better[BUFFER_CONTROL] == 3 and better[CODEL] >= 2, words

    return by_score(judge)


@claim("W13-47")
def _worse_with_load(view: StudyView) -> Outcome:
    worse: list[str] = []
    parts: list[str] = []
    for manager in MANAGERS:
        p95 = [delay(view, manager, 0.95, column(group)) for group in GROUPS]
        loss = [group_mean(view, manager, "lost", column(group)) for group in GROUPS]
        rising = [loss] if manager == BUFFERBLOAT else [p95, loss]
        if any(all(low < high for low, high in pairwise(values)) for values in rising):
            worse.append(manager)
        steps = ", ".join(number(value, 2) for value in loss)
        delays = ", ".join(number(value) for value in p95)
        parts.append(f"{MANAGER_LABELS[manager]} {delays} ms and {steps} %")
    return Outcome.of(len(worse) >= 4, f"{len(worse)} of 5: {'; '.join(parts)}")


@claim("W13-104")
def _codel_against_buffer_control(view: StudyView) -> Outcome:
    chosen = (CODEL, BUFFER_CONTROL)
    middle = {manager: delay(view, manager, 0.5) for manager in chosen}
    times = {manager: load_time(view, manager, 0.5) for manager in chosen}
    sent = {manager: sent_early(view, manager) for manager in chosen}
    better = (
        middle[CODEL] < middle[BUFFER_CONTROL]
        and times[CODEL] < times[BUFFER_CONTROL]
        and sent[CODEL] > sent[BUFFER_CONTROL]
    )

    def judge(metric: str) -> Judged:
        congested = row("light", "moderate")
        score = {manager: group_mean(view, manager, metric, congested) for manager in chosen}
        words = (
            f"{by_case(middle, 3, 'ms')}; {by_case(times, 3, 's')}; {by_case(sent, 3, 'MB')}; "
            f"score {by_case(score, 3)}"
        )
        return better and score[CODEL] > score[BUFFER_CONTROL], words

    return by_score(judge)


@claim("W13-106")
def _sub_flows_alone(view: StudyView) -> Outcome:
    share: dict[str, float] = {}
    for group in GROUPS:
        cell = [(NONE, group)]
        long, alone, both = (delay(view, m, 0.95, cell) for m in (BUFFERBLOAT, SFQ, SFQ_CODEL))
        share[group] = (long - alone) / (long - both)
    loss = {group: group_mean(view, SFQ, "lost", [(NONE, group)]) for group in GROUPS}
    held = min(share.values()) >= 0.5
    return Outcome.of(
        held,
        f"share of the gain {by_case({g: 100 * v for g, v in share.items()}, 3, '%')}",
        f"loss {by_case(loss, 2, '%')}",
    )
