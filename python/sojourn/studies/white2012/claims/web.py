"""Claims about web pages: load times, their scatter, and how many complete.

Source: White and Padden 2012, Executive summary, sections 1.2, 4.3 and 5, Tables 5 and 6.
Deviations: none known.
"""

from __future__ import annotations

import math

import numpy as np

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.view import StudyView
from sojourn.studies.white2012 import cases
from sojourn.studies.white2012.cases import (
    CASES,
    CODEL,
    DROPTAIL_21,
    DROPTAIL_417,
    DROPTAIL_BYTES,
    LOADED,
    RUN_S,
    point_of,
)
from sojourn.studies.white2012.claims.words import by_case, number
from sojourn.studies.white2012.tables import printed_rows

claim = ClaimBook()

#: Pause between pages (section 3.2.3).
PAUSE_S = 5.0


def load_time(view: StudyView, case: str, manager: str) -> float:
    """Median over seeds of the median page load time; infinite if most runs completed no page."""
    ordered = np.sort(cases.page_load_times(view, case, manager))
    middle = len(ordered) // 2
    if len(ordered) % 2 or np.isinf(ordered[middle]):
        return float(ordered[middle])
    return float(0.5 * (ordered[middle - 1] + ordered[middle]))


def load_times(view: StudyView, manager: str, chosen: tuple[str, ...] = CASES) -> dict[str, float]:
    """As `load_time`, by case."""
    return {case: load_time(view, case, manager) for case in chosen}


def ratios(view: StudyView, manager: str, rival: str, chosen: tuple[str, ...]) -> dict[str, float]:
    """Load time of one manager over that of another; 0 where the other completes no page."""
    ours, theirs = load_times(view, manager, chosen), load_times(view, rival, chosen)
    return {
        c: 0.0 if math.isinf(theirs[c]) and math.isfinite(ours[c]) else ours[c] / theirs[c]
        for c in chosen
    }


def scatter(view: StudyView, case: str, manager: str) -> float:
    """Median absolute deviation over median, mean over seeds; NaN if no page completed."""
    point = point_of(case, manager)
    deviation = view.values_or_nan(point, "page", "page_load_time_mad")
    relative = deviation / view.values_or_nan(point, "page", "page_load_time_median")
    known = relative[np.isfinite(relative)]
    return float(np.mean(known)) if len(known) else math.nan


def completed(view: StudyView, case: str, manager: str) -> float:
    """Completed pages, mean over seeds."""
    return float(np.mean(cases.page(view, case, manager, "pages_completed")))


def printed_median(table: str, queue_manager: str) -> dict[str, float]:
    """Return the printed medians of a table by case, without censored ones."""
    return {
        row["test_case"][1:]: float(row["median_plt_s"])
        for row in printed_rows("web")
        if row["source"] == f"white2012 Table {table}"
        and row["queue_manager"] == queue_manager
        and row["median_plt_right_censored"] == "0"
    }


@claim("W12-02")
def _nearly_tenfold(view: StudyView) -> Outcome:
    ratio = ratios(view, CODEL, DROPTAIL_417, LOADED)
    fast = [c for c in LOADED if ratio[c] <= 0.15]
    return Outcome.of(len(fast) >= 5, f"{len(fast)} of 8; {by_case(ratio, 2)}")


@claim("W12-06")
def _faster_than_50_ms(view: StudyView) -> Outcome:
    ratio = ratios(view, CODEL, DROPTAIL_21, CASES)
    return Outcome.of(max(ratio.values()) < 0.85, by_case(ratio, 2))


@claim("W12-07")
def _smaller_gain(view: StudyView) -> Outcome:
    chosen = ("02", "03", "05", "07", "08")
    short = ratios(view, CODEL, DROPTAIL_21, chosen)
    long = ratios(view, CODEL, DROPTAIL_417, chosen)
    smaller = [c for c in chosen if short[c] > long[c]]
    return Outcome.of(len(smaller) >= 4, f"{len(smaller)} of 5: {', '.join(smaller)}")


@claim("W12-13")
def _page_penalty(view: StudyView) -> Outcome:
    penalty = load_time(view, "02", DROPTAIL_BYTES) - load_time(view, "01", DROPTAIL_BYTES)
    return Outcome.of(0.5 <= penalty <= 1.5, f"{number(penalty)} s")


@claim("W12-25")
def _bytes_against_packets(view: StudyView) -> Outcome:
    volume = float(
        np.mean(cases.upload_volume(view, "02", DROPTAIL_BYTES))
        / np.mean(cases.upload_volume(view, "02", DROPTAIL_21))
    )
    packets, in_bytes = (
        connection_loss(view, point_of("04", manager)) for manager in (DROPTAIL_21, DROPTAIL_BYTES)
    )
    pages = completed(view, "04", DROPTAIL_BYTES)
    held = abs(volume - 1) <= 0.02 and in_bytes <= 0.5 * packets and pages > 0
    return Outcome.of(
        held,
        f"volume ratio {number(volume, 4)}; connection attempts lost {number(100 * packets)} % in "
        f"packets, {number(100 * in_bytes)} % in bytes; {number(pages)} pages in bytes",
    )


def connection_loss(view: StudyView, point: str) -> float:
    """Share of the pages' connection attempts that had to be repeated, mean over seeds."""
    retries = view.values(point, "page", "connect_retries")
    attempts = retries + view.values(point, "page", "connections")
    return float(np.mean(retries / attempts))


@claim("W12-65")
def _unloaded(view: StudyView) -> Outcome:
    times = {
        "D01": load_time(view, "01", DROPTAIL_417),
        "C01": load_time(view, "01", CODEL),
    }
    spread = {
        "D01": float(np.nanmax(cases.page(view, "01", DROPTAIL_417, "page_load_time_mad"))),
        "C01": float(np.nanmax(cases.page(view, "01", CODEL, "page_load_time_mad"))),
    }
    held = all(2.62 <= v <= 2.90 for v in times.values()) and max(spread.values()) < 0.05
    return Outcome.of(held, f"median {by_case(times, 4, 's')}; MAD {by_case(spread, 2, 's')}")


@claim("W12-66")
def _behind_one_second(view: StudyView) -> Outcome:
    times = load_times(view, DROPTAIL_417)
    printed = printed_median("5", "DropTail")
    near = all(abs(times[c] / printed[c] - 1) <= 0.35 for c in LOADED)
    others = [times[c] for c in ("02", "03", "06", "07")]
    ordered = times["05"] > times["04"] > max(others) and min(others) > times["08"] > times["09"]
    outside = [c for c in LOADED if abs(times[c] / printed[c] - 1) > 0.35]
    note = f"outside 35 %: {', '.join(outside)}" if outside else "all within 35 %"
    return Outcome.of(
        near and ordered,
        by_case(times, 3, "s"),
        f"{note}; order {'holds' if ordered else 'differs'}",
    )


@claim("W12-68")
def _behind_codel(view: StudyView) -> Outcome:
    times = load_times(view, CODEL)
    printed = (printed_median("5", "CoDel"), printed_median("6", "CoDel"))
    near = all(any(abs(times[c] / p[c] - 1) <= 0.15 for p in printed) for c in CASES)
    return Outcome.of(near and max(times.values()) <= 4.2, by_case(times, 3, "s"))


@claim("W12-69")
def _steady_behind_codel(view: StudyView) -> Outcome:
    spread = {c: scatter(view, c, CODEL) for c in CASES}
    steady = [c for c in CASES if spread[c] < 0.03]
    shares = by_case({c: 100 * v for c, v in spread.items()}, 2, "%")
    return Outcome.of(len(steady) >= 6, f"{len(steady)} of 9; {shares}")


@claim("W12-70")
def _loads_unloaded(view: StudyView) -> Outcome:
    parts: list[str] = []
    held = True
    for manager, label in ((DROPTAIL_417, "D01"), (CODEL, "C01")):
        view.require_duration(point_of("01", manager), RUN_S)
        count, time = completed(view, "01", manager), load_time(view, "01", manager)
        # A run holds as many pages as load time and pause allow; the start takes up to one more.
        allowed = (RUN_S + PAUSE_S) / (time + PAUSE_S)
        held = held and abs(count / 77 - 1) <= 0.10 and allowed - 2 <= count <= allowed
        parts.append(f"{label}: {number(count)} of at most {number(allowed, 4)}")
    return Outcome.of(held, "; ".join(parts))


@claim("W12-71")
def _short_queue_slows_the_idle_page(view: StudyView) -> Outcome:
    idle = load_time(view, "01", DROPTAIL_417)
    packets = load_time(view, "01", DROPTAIL_21) / idle
    in_bytes = load_time(view, "01", DROPTAIL_BYTES) / idle
    held = 1.25 <= packets <= 1.7 and in_bytes <= 1.2
    return Outcome.of(held, f"{number(packets)} times in packets, {number(in_bytes)} in bytes")


@claim("W12-72")
def _no_page_completes(view: StudyView) -> Outcome:
    packets = {c: completed(view, c, DROPTAIL_21) for c in ("04", "06")}
    in_bytes = {c: completed(view, c, DROPTAIL_BYTES) for c in ("04", "06")}
    held = max(packets.values()) == 0 and min(in_bytes.values()) > 0
    return Outcome.of(held, f"packets {by_case(packets)}; bytes {by_case(in_bytes)}")


@claim("W12-74")
def _wide_scatter(view: StudyView) -> Outcome:
    spread = {c: scatter(view, c, DROPTAIL_21) for c in ("05", "07")}
    return Outcome.of(min(spread.values()) >= 0.2, by_case(spread, 2))


@claim("W12-75")
def _slowest_pages(view: StudyView) -> Outcome:
    slowest = {
        c: float(
            np.nanmax(view.values_or_nan(point_of(c, DROPTAIL_21), "page", "page_load_time_max"))
        )
        for c in ("05", "07")
    }
    held = all(40 <= v <= 170 for v in slowest.values()) and slowest["07"] > slowest["05"]
    return Outcome.of(held, by_case(slowest, 3, "s"), "slowest page of all runs")


@claim("W12-76")
def _buffer_control_helps(view: StudyView) -> Outcome:
    short, long = load_times(view, DROPTAIL_21), load_times(view, DROPTAIL_417)
    faster = [c for c in CASES if short[c] < long[c]]
    return Outcome.of(len(faster) >= 5, f"{len(faster)} of 9: {', '.join(faster)}")


@claim("W12-77")
def _behind_50_ms(view: StudyView) -> Outcome:
    chosen = ("02", "03", "05", "07", "08", "09")
    times, printed = load_times(view, DROPTAIL_21, chosen), printed_median("6", "DropTail")
    held = all(1 / 1.6 <= times[c] / printed[c] <= 1.6 for c in chosen)
    return Outcome.of(held, by_case(times, 3, "s"))
