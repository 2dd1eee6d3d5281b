"""What could take away some of what BitTorrent costs the game: LEDBAT's target, and a sub-flow of its own.

Source: White 2013, section 4.1.1: LEDBAT backs off at delays on the order of 100 ms, while the module that
the simulator used aims at 25 ms by itself; marked as background, BitTorrent could share one sub-flow.
Deviations: the document compares neither; these runs last half an hour.
"""

from __future__ import annotations

from sojourn.studies.figure import Figure
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import (
    BITTORRENT,
    LOADS,
    MANAGER_LABELS,
    MANAGERS,
    SFQ_CODEL,
    point_of,
)
from sojourn.studies.white2013.figures import variants
from sojourn.studies.white2013.figures.scenarios import household


def ledbat_target(view: StudyView) -> Figure:
    """Draw BitTorrent with both targets of LEDBAT."""
    rows = tuple(
        (load, manager)
        for load in BITTORRENT
        for manager in MANAGERS
        if {point_25ms(load, manager), point_of(load, "none", manager)} <= view.points
    )
    if not rows:
        message = "needs BitTorrent with both targets of LEDBAT"
        raise NotRecorded(message)
    compared = variants.Variants(
        tuple(f"{load} ({LOADS[load].rtt_ms} ms), {MANAGER_LABELS[m]}" for load, m in rows),
        {
            "target-100ms": tuple(point_of(load, "none", manager) for load, manager in rows),
            "target-25ms": tuple(point_25ms(load, manager) for load, manager in rows),
        },
        {"target-100ms": "LEDBAT target 100 ms", "target-25ms": "LEDBAT target 25 ms"},
    )
    plot = variants.plot(
        view,
        compared,
        (variants.DELAY, variants.LOSS, variants.LOAD_TIME, variants.GOODPUT),
        name="ledbat-target",
        title="BitTorrent with the two targets of LEDBAT, without RF congestion",
        height=34.0 + 7.0 * len(rows),
        description="For two BitTorrent households and each queue manager: 95th percentile of the game's "
        "delay, its losses, median page load time and the goodput of BitTorrent, with LEDBAT aiming at "
        "100 ms and at 25 ms.",
    )
    return Figure(
        "ledbat-target",
        plot,
        f"{_changes(view, rows)} Dashed: 20 ms. 100 ms as published, 25 ms in runs of half an hour. "
        f"{compared.spread(view)}",
        "delay",
    )


def background(view: StudyView) -> Figure:
    """Draw SFQ-CoDel with BitTorrent in sub-flows like all others, and in one of its own."""
    loads = tuple(
        load
        for load in BITTORRENT
        if {point_cs1(load), point_of(load, "none", SFQ_CODEL)} <= view.points
    )
    if not loads:
        message = "needs BitTorrent marked as background"
        raise NotRecorded(message)
    compared = variants.Variants(
        tuple(household(load) for load in loads),
        {
            SFQ_CODEL: tuple(point_of(load, "none", SFQ_CODEL) for load in loads),
            "background": tuple(point_cs1(load) for load in loads),
        },
        {SFQ_CODEL: "SFQ-CoDel as published", "background": "BitTorrent in a sub-flow of its own"},
    )
    plot = variants.plot(
        view,
        compared,
        (variants.DELAY, variants.LOSS, variants.LOAD_TIME, variants.GOODPUT),
        name="background",
        title="BitTorrent marked as background, without RF congestion",
        height=34.0 + 12.0 * len(loads),
        description="For two BitTorrent households behind SFQ-CoDel: 95th percentile of the game's delay, its "
        "losses, median page load time and the goodput of BitTorrent, with and without a sub-flow for "
        "background traffic.",
    )
    return Figure(
        "background",
        plot,
        "Section 4.1.1 suggests to map packets with the CS1 code point into one sub-flow. Dashed: 20 ms. Half "
        f"an hour each. {compared.spread(view)}",
        "delay",
    )


def point_25ms(load: str, manager: str) -> str:
    """Return the point of a household with a LEDBAT target of 25 ms."""
    return f"{load}-target-25ms-{manager}"


def point_cs1(load: str) -> str:
    """Return the point of a household whose BitTorrent is marked as background."""
    return f"{load}-cs1"


def percent(change: float) -> str:
    """Write a relative change with its sign.

    Examples
    --------
    >>> percent(0.281), percent(-0.5), percent(-0.001)
    ('+28 %', '−50 %', '0 %')
    """
    whole = round(100 * change)
    return f"{whole:+d} %".replace("-", "−") if whole else "0 %"


def _changes(view: StudyView, rows: tuple[tuple[str, str], ...]) -> str:
    """Say how much of the delay of each condition goes with the smaller target."""
    words: list[str] = []
    for load in BITTORRENT:
        found = [
            f"{MANAGER_LABELS[manager]} {percent(small / large - 1)}"
            for one, manager in rows
            if one == load
            and (small := _p95(view, point_25ms(load, manager)))
            and (large := _p95(view, point_of(load, "none", manager)))
        ]
        if found:
            words.append(f"{load} {', '.join(found)}")
    return f"P95 of delay with 25 ms against 100 ms: {'; '.join(words)}." if words else ""


def _p95(view: StudyView, point: str) -> float | None:
    return variants.estimate(view, point, "game", "delay_p95").value
