"""Claims about the telephone call: losses, lateness, scores.

Source: White and Padden 2012, Executive summary, sections 4.2 and 4.4, Tables 3, 4, 7, 8.
Deviations: scores are computed without the delay term, as the printed ones were.
"""

from __future__ import annotations

import numpy as np

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.view import StudyView
from sojourn.studies.white2012 import cases
from sojourn.studies.white2012.cases import CASES, CODEL, DROPTAIL_21, DROPTAIL_417, LOADED
from sojourn.studies.white2012.claims.words import by_case, number

claim = ClaimBook()

#: Cases with five flows at 20 ms.
SHORT_FIVE = ("04", "06")


def medians(
    view: StudyView, manager: str, metric: str, chosen: tuple[str, ...] = CASES
) -> dict[str, float]:
    """Median over seeds of a metric of the call, by case: a seed is one phase, and a few are extreme."""
    return {c: float(np.nanmedian(cases.call(view, c, manager, metric))) for c in chosen}


def scores(view: StudyView, manager: str, chosen: tuple[str, ...] = CASES) -> dict[str, float]:
    """Scores as the document prints them, by case."""
    return medians(view, manager, "mos_loss_only", chosen)


@claim("W12-01")
def _gain(view: StudyView) -> Outcome:
    codel, tail = scores(view, CODEL, LOADED), scores(view, DROPTAIL_417, LOADED)
    gain = float(np.mean([codel[c] - tail[c] for c in LOADED]))
    return Outcome.of(abs(gain - 2.8) <= 0.4, f"{number(gain)} points")


@claim("W12-05")
def _equally_good(view: StudyView) -> Outcome:
    codel, tail = scores(view, CODEL), scores(view, DROPTAIL_21)
    gaps = {c: codel[c] - tail[c] for c in CASES}
    return Outcome.of(all(abs(gap) <= 0.3 for gap in gaps.values()), by_case(gaps, 2))


@claim("W12-51")
def _late_behind_one_second(view: StudyView) -> Outcome:
    late = medians(view, DROPTAIL_417, "late", ("02", "03", "04", "05", "06", "07"))
    return Outcome.of(min(late.values()) >= 90, by_case(late, 4, "%"))


@claim("W12-52")
def _late_in_bursts(view: StudyView) -> Outcome:
    late = medians(view, DROPTAIL_417, "late", ("08",))["08"]
    return Outcome.of(70 <= late <= 95, f"{number(late)} %")


@claim("W12-53")
def _less_late_in_long_bursts(view: StudyView) -> Outcome:
    late = medians(view, DROPTAIL_417, "late", ("08", "09"))
    held = 10 <= late["09"] <= 40 and late["09"] < 0.5 * late["08"]
    return Outcome.of(held, by_case(late, 3, "%"))


@claim("W12-54")
def _few_late_behind_codel(view: StudyView) -> Outcome:
    late = medians(view, CODEL, "late")
    return Outcome.of(max(late.values()) <= 2, by_case(late, 2, "%"))


@claim("W12-55")
def _codel_loss(view: StudyView) -> Outcome:
    loss = medians(view, CODEL, "loss_total")
    held = all(5 <= v <= 16 if c in SHORT_FIVE else v <= 6 for c, v in loss.items())
    return Outcome.of(held, by_case(loss, 3, "%"))


@claim("W12-56")
def _codel_ranks(view: StudyView) -> Outcome:
    loss = medians(view, CODEL, "loss_total")
    order = sorted(loss, key=lambda c: -loss[c])
    return Outcome.of(order[:4] == ["06", "04", "07", "05"], " > ".join(order[:5]))


@claim("W12-57")
def _codel_loses_less(view: StudyView) -> Outcome:
    codel = medians(view, CODEL, "loss_total", LOADED)
    tail = medians(view, DROPTAIL_417, "loss_total", LOADED)
    better = [c for c in LOADED if codel[c] < tail[c]]
    return Outcome.of(len(better) == 8, f"{len(better)} of 8")


@claim("W12-58")
def _codel_drops_more(view: StudyView) -> Outcome:
    chosen = ("03", "04", "05", "06", "07", "08")
    codel = medians(view, CODEL, "lost", chosen)
    tail = medians(view, DROPTAIL_417, "lost", chosen)
    more = [c for c in chosen if codel[c] > tail[c]]
    return Outcome.of(len(more) >= 5, f"{len(more)} of 6: {', '.join(more)}")


@claim("W12-59")
def _idle_loss(view: StudyView) -> Outcome:
    loss = {
        "D01": medians(view, DROPTAIL_417, "loss_total", ("01",))["01"],
        "C01": medians(view, CODEL, "loss_total", ("01",))["01"],
    }
    return Outcome.of(max(loss.values()) <= 0.2, by_case(loss, 2, "%"))


@claim("W12-60")
def _flow_queueing(view: StudyView) -> Outcome:
    loss = {c: view.values(f"S{c}", "call", "loss_total") for c in SHORT_FIVE}
    typical = {c: float(np.nanmedian(values)) for c, values in loss.items()}
    met = sum(int(np.sum(values >= 0.1)) for values in loss.values())
    runs = sum(len(values) for values in loss.values())
    note = f"in {met} of {runs} runs the call shares its sub-flow with an upload" if met else ""
    return Outcome.of(max(typical.values()) < 0.1, by_case(typical, 3, "%"), note)


@claim("W12-61")
def _nothing_late_behind_50_ms(view: StudyView) -> Outcome:
    late = medians(view, DROPTAIL_21, "late")
    return Outcome.of(max(late.values()) <= 0.05, by_case(late, 2, "%"))


@claim("W12-62")
def _short_queue_loss(view: StudyView) -> Outcome:
    loss = medians(view, DROPTAIL_21, "loss_total")
    held = all(4 <= v <= 18 if c in SHORT_FIVE else v <= 5 for c, v in loss.items())
    return Outcome.of(held, by_case(loss, 3, "%"))


@claim("W12-63")
def _short_queue_slightly_better(view: StudyView) -> Outcome:
    codel, tail = medians(view, CODEL, "loss_total"), medians(view, DROPTAIL_21, "loss_total")
    better = [c for c in CASES if tail[c] <= codel[c]]
    return Outcome.of(len(better) >= 6, f"{len(better)} of 9: {', '.join(better)}")


@claim("W12-64")
def _worst_cases(view: StudyView) -> Outcome:
    worst = {
        manager: sorted(sorted(loss, key=lambda c: -loss[c])[:2])
        for manager, loss in (
            ("CoDel", medians(view, CODEL, "loss_total")),
            ("21 packets", medians(view, DROPTAIL_21, "loss_total")),
        )
    }
    held = all(pair == list(SHORT_FIVE) for pair in worst.values())
    return Outcome.of(held, "; ".join(f"{m}: {' and '.join(p)}" for m, p in worst.items()))


@claim("W12-79")
def _clearly_better(view: StudyView) -> Outcome:
    codel, tail = scores(view, CODEL, LOADED), scores(view, DROPTAIL_417, LOADED)
    call = [c for c in LOADED if codel[c] >= tail[c] + 0.5]
    pages = [
        c
        for c in LOADED
        if np.median(cases.page_load_times(view, c, CODEL))
        < np.median(cases.page_load_times(view, c, DROPTAIL_417))
    ]
    held = len(call) == 8 and len(pages) == 8
    return Outcome.of(held, f"calls {len(call)} of 8, pages {len(pages)} of 8")


@claim("W12-80")
def _scores_behind_one_second(view: StudyView) -> Outcome:
    score = scores(view, DROPTAIL_417)
    held = (
        score["01"] >= 4.3
        and 2.2 <= score["09"] <= 3.3
        and all(score[c] <= 1.3 for c in LOADED if c != "09")
    )
    return Outcome.of(held, by_case(score, 2))


@claim("W12-81")
def _scores_behind_codel(view: StudyView) -> Outcome:
    score = scores(view, CODEL)
    held = all(2.9 <= v <= 4.0 if c in SHORT_FIVE else v >= 3.8 for c, v in score.items())
    return Outcome.of(held, by_case(score, 2))


@claim("W12-82")
def _scores_behind_50_ms(view: StudyView) -> Outcome:
    score = scores(view, DROPTAIL_21)
    held = all(2.7 <= v <= 4.1 if c in SHORT_FIVE else v >= 3.9 for c, v in score.items())
    return Outcome.of(held, by_case(score, 2))
