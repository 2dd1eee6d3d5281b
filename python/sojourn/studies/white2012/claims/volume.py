"""Claims about what was uploaded, and about the byte budget of the upstream.

Source: White and Padden 2012, Executive summary, Tables 7 and 8; the budget follows from section
3.1.1: 600 s at 5 Mb/s and one burst of 10 MB are 385,000 kB.
Deviations: none known.
"""

from __future__ import annotations

import numpy as np

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.view import StudyView
from sojourn.studies.white2012 import cases
from sojourn.studies.white2012.cases import (
    BURST_BYTES,
    CASES,
    CODEL,
    DROPTAIL_21,
    DROPTAIL_417,
    LOADED,
    MANAGERS,
    RUN_S,
    SUSTAINED_MBPS,
    label_of,
    point_of,
)
from sojourn.studies.white2012.claims import voice, web
from sojourn.studies.white2012.claims.words import by_case, number
from sojourn.studies.white2012.tables import printed_rows

claim = ClaimBook()


def budget_kb(duration_s: float) -> float:
    """Return what the shaper lets through at most: the sustained rate and one burst.

    Examples
    --------
    >>> budget_kb(600.0)
    385000.0
    """
    return (SUSTAINED_MBPS * 1e6 / 8 * duration_s + BURST_BYTES) / 1000.0


def volumes(view: StudyView, manager: str, chosen: tuple[str, ...] = LOADED) -> dict[str, float]:
    """Upload in kB, mean over seeds, by case."""
    return {c: float(np.mean(cases.upload_volume(view, c, manager))) for c in chosen}


def _ratios(view: StudyView, rival: str) -> dict[str, float]:
    ours, theirs = volumes(view, CODEL), volumes(view, rival)
    return {c: ours[c] / theirs[c] for c in LOADED}


@claim("W12-03")
def _cost_against_one_second(view: StudyView) -> Outcome:
    ratio = _ratios(view, DROPTAIL_417)
    return Outcome.of(all(0.97 <= v <= 1.02 for v in ratio.values()), by_case(ratio, 4))


@claim("W12-04")
def _cost_against_50_ms(view: StudyView) -> Outcome:
    ratio = _ratios(view, DROPTAIL_21)
    return Outcome.of(all(0.965 <= v <= 1.005 for v in ratio.values()), by_case(ratio, 4))


@claim("W12-19")
def _good_where_good(view: StudyView) -> Outcome:
    parts = {
        "W12-04": claim.functions["W12-04"],
        "W12-05": voice.claim.functions["W12-05"],
        "W12-06": web.claim.functions["W12-06"],
        "W12-79": voice.claim.functions["W12-79"],
    }
    verdicts = {name: judge(view).verdict for name, judge in parts.items()}
    held = all(verdict == "holds" for verdict in verdicts.values())
    return Outcome.of(held, ", ".join(f"{name} {verdict}" for name, verdict in verdicts.items()))


@claim("W12-78")
def _additional_pages(view: StudyView) -> Outcome:
    chosen = ("02", "03", "04", "05")
    tail, codel = volumes(view, DROPTAIL_417, chosen), volumes(view, CODEL, chosen)
    per_page: dict[str, float] = {}
    total: dict[str, float] = {}
    for case in chosen:
        more = web.completed(view, case, CODEL) - web.completed(view, case, DROPTAIL_417)
        per_page[case] = (tail[case] - codel[case]) / more if more > 0 else np.nan
        carried = [
            float(np.mean(view.values(point_of(case, manager), "upstream", "forwarded_volume")))
            for manager in (CODEL, DROPTAIL_417)
        ]
        total[case] = carried[0] / carried[1]
    held = all(110 <= v <= 170 for v in per_page.values()) and min(total.values()) >= 0.99
    return Outcome.of(held, f"{by_case(per_page, 3, 'kB')}; whole link {by_case(total, 4)}")


@claim("W12-83")
def _volumes(view: StudyView) -> Outcome:
    deviations: dict[str, float] = {}
    for row in printed_rows("summary"):
        printed = float(row["ftp_kbytes_in_600s"])
        case = row["test_case"][1:]
        if printed == 0:
            continue
        manager = CODEL if row["queue_manager"] == "CoDel" else f"droptail-{row['buffer_packets']}"
        view.require_duration(point_of(case, manager), RUN_S)
        ours = float(np.mean(cases.upload_volume(view, case, manager)))
        suffix = "" if manager == CODEL else f"-{row['buffer_packets']}"
        deviations[label_of(case, manager) + suffix] = ours / printed - 1
    outside = {name: 100 * v for name, v in deviations.items() if abs(v) > 0.02}
    worst = max(deviations, key=lambda name: abs(deviations[name]))
    ours = f"largest deviation {number(100 * deviations[worst], 2)} % ({worst})"
    note = f"outside: {by_case(outside, 2, '%')}" if outside else ""
    return Outcome.of(not outside, ours, note)


@claim("W12-84")
def _more_upload_beside_udp(view: StudyView) -> Outcome:
    ratio = _ratios(view, DROPTAIL_417)["06"]
    lost = {
        label: float(np.mean(view.values(point_of("06", manager), "cbr", "lost")))
        for label, manager in (("C06", CODEL), ("D06", DROPTAIL_417))
    }
    held = 1.00 <= ratio <= 1.03 and lost["C06"] > lost["D06"]
    return Outcome.of(held, f"ratio {number(ratio, 4)}; UDP lost {by_case(lost, 3, '%')}")


@claim("W12-85")
def _byte_budget(view: StudyView) -> Outcome:
    largest, least = 0.0, np.inf
    for manager in MANAGERS:
        for case in CASES:
            point = point_of(case, manager)
            view.require_duration(point, RUN_S)  # slow starts weigh more in shorter runs
            budget = budget_kb(view.duration_s(point))
            carried = view.values(point, "upstream", "forwarded_volume") / budget
            largest = max(largest, float(carried.max()))
            if case in LOADED:
                least = min(least, float(carried.mean()))
    held = largest <= 1 + 1e-9 and least >= 0.96
    return Outcome.of(
        held,
        f"{number(100 * least, 4)} to {number(100 * largest, 5)} % of the budget",
        "judged on every run of the study",
    )


@claim("W12-86")
def _budget_without_pages(view: StudyView) -> Outcome:
    point = point_of("04", DROPTAIL_21)
    carried = sum(
        float(np.mean(view.values(point, traffic, "forwarded_volume")))
        for traffic in ("bulk", "call")
    )
    left = 1 - carried / budget_kb(view.duration_s(point))
    return Outcome.of(left <= 0.003, f"{number(100 * left, 2)} % left")
