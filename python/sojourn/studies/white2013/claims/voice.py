"""Claims about the quality of calls.

Source: White 2013, Executive summary, sections 1.1 and 4.3, Figures 25 to 28; the formula is that of
White and Padden 2012, section 3.2.2.
Deviations: scores count the delay. The scores printed in 2012 follow from the losses alone; where that
would turn a verdict, the outcome says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sojourn._engine import mean_opinion_score, voice_rating
from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.numbers import by_group as by_case
from sojourn.studies.numbers import number
from sojourn.studies.view import StudyView
from sojourn.studies.white2013.cases import (
    BITTORRENT,
    BUFFER_CONTROL,
    BUFFERBLOAT,
    CODEL,
    GROUPS,
    LOADS,
    PIE,
    RF_LEVELS,
    SFQ_CODEL,
    Cell,
)
from sojourn.studies.white2013.claims.measures import (
    EASY_GROUPS,
    EASY_LOADS,
    NONE,
    column,
    conditions,
    group_mean,
    mean,
)

claim = ClaimBook()

#: Where the delay begins to hurt more (2012, section 3.2.2).
KNEE_MS = 177.3

#: What judges a score: whether the claim holds, and the numbers.
Judged = tuple[bool, str]


def by_score(judge: Callable[[str], Judged]) -> Outcome:
    """Judge with the delay in the score; say so if the score without it would decide otherwise."""
    held, ours = judge("mos")
    otherwise, theirs = judge("mos_loss_only")
    if otherwise == held:
        return Outcome.of(held, ours)
    verdict = "holds" if otherwise else "fails"
    return Outcome.of(held, f"{ours}; without the delay it {verdict}: {theirs}")


def extremes(values: dict[str, float]) -> str:
    """Name the least and the largest of the scores."""
    low = min(values, key=lambda key: values[key])
    high = max(values, key=lambda key: values[key])
    return f"{number(values[low])} ({low}) to {number(values[high])} ({high})"


def score_of(view: StudyView, manager: str, metric: str, chosen: Iterable[Cell]) -> float:
    """Mean score of cells."""
    return group_mean(view, manager, metric, chosen)


def _without_loss(delay_ms: float) -> float:
    return mean_opinion_score(voice_rating(delay_ms, 0.0))


@claim("W13-04")
def _pristine(view: StudyView) -> Outcome:
    def judge(metric: str) -> Judged:
        score = {
            f"{group} {rf}": score_of(view, SFQ_CODEL, metric, [(rf, group)])
            for group in EASY_GROUPS
            for rf in RF_LEVELS
        }
        return min(score.values()) >= 4.3, by_case(score, 3)

    return by_score(judge)


@claim("W13-07")
def _below_the_knee(_: StudyView) -> Outcome:
    first = _without_loss(0.0) - _without_loss(20.0)
    last = _without_loss(KNEE_MS - 20.0) - _without_loss(KNEE_MS)
    held = f"{first:.4f} {last:.4f}" == "0.0087 0.0116"
    return Outcome.of(held, f"{first:.4f} to {last:.4f}", "recomputed from the print")


@claim("W13-08")
def _above_the_knee(_: StudyView) -> Outcome:
    step = 0.01
    knee = 20 / step * (_without_loss(KNEE_MS) - _without_loss(KNEE_MS + step))
    fall = voice_rating(KNEE_MS, 0.0) - voice_rating(KNEE_MS + 20.0, 0.0)
    middle = mean_opinion_score(67.0 + fall / 2) - mean_opinion_score(67.0 - fall / 2)
    held = f"{knee:.3f} {middle:.2f}" == "0.066 0.13"
    return Outcome.of(
        held,
        f"{knee:.3f} at the knee, {middle:.2f} at a rating of 67",
        "recomputed from the print",
    )


@claim("W13-89")
def _very_poor(view: StudyView) -> Outcome:
    loads = tuple(load for load in EASY_LOADS if LOADS[load].uploads)

    def judge(metric: str) -> Judged:
        score = conditions(view, BUFFERBLOAT, metric, loads)
        return max(score.values()) <= 2.0, extremes(score)

    return by_score(judge)


@claim("W13-90")
def _degrades_with_congestion(view: StudyView) -> Outcome:
    def judge(metric: str) -> Judged:
        score = {rf: score_of(view, BUFFER_CONTROL, metric, [(rf, "light")]) for rf in RF_LEVELS}
        held = score[NONE] >= 4.2 and score[NONE] - score["moderate"] >= 0.5
        return held, by_case(score, 3)

    return by_score(judge)


@claim("W13-91")
def _reasonably_good(view: StudyView) -> Outcome:
    def judge(metric: str) -> Judged:
        score = conditions(view, CODEL, metric)
        centre = mean(list(score.values()))
        held = min(score.values()) >= 3.0 and centre >= 3.6
        return held, f"{extremes(score)}, mean {number(centre)}"

    return by_score(judge)


@claim("W13-92")
def _ideal_until_heavy(view: StudyView) -> Outcome:
    def judge(metric: str) -> Judged:
        score = {group: score_of(view, SFQ_CODEL, metric, column(group)) for group in GROUPS}
        held = min(score[group] for group in EASY_GROUPS) >= 4.3 and score["heavy"] < 4.2
        return held, by_case(score, 3)

    return by_score(judge)


@claim("W13-93")
def _near_perfect(view: StudyView) -> Outcome:
    def judge(metric: str) -> Judged:
        score = conditions(view, PIE, metric)
        torrent = {name: v for name, v in score.items() if name.split()[0] in BITTORRENT}
        others = {name: v for name, v in score.items() if name not in torrent}
        held = min(others.values()) >= 4.0
        return held, f"{extremes(others)}; BitTorrent {extremes(torrent)}"

    return by_score(judge)
