"""Figures 2, 4 and 6: the rate of uploads through the modem.

Source: White and Padden 2012, section 4.1; the document's plots themselves were not read. Reference marks
carry the numbers of its text.
Deviations: those of `alone`.
"""

from __future__ import annotations

from sojourn.plots.spec import Panel, Rule
from sojourn.plots.timeseries import Trace, timeseries_panel
from sojourn.studies.figure import Figure
from sojourn.studies.view import StudyView
from sojourn.studies.white2012.cases import (
    CODEL,
    DROPTAIL_21,
    DROPTAIL_417,
    PEAK_MBPS,
    alone_point_of,
)
from sojourn.studies.white2012.figures.alone import (
    PANELS,
    WINDOW_S,
    both_round_trips,
    first_seed,
    side_by_side,
)
from sojourn.studies.white2012.transient import allowed_bytes


def figure_2(view: StudyView) -> Figure:
    """TCP throughput behind 417 packets."""
    return _figure(
        view,
        DROPTAIL_417,
        2,
        "TCP throughput without Buffer Control",
        (
            (Rule(0.6, "x", "text: 0.6 s"), Rule(6.0, "x", "text: 6 s")),
            (Rule(5.8, "x", "text: 5.8 s"),),
        ),
        "TCP fills the link at once and keeps it full. The text says: 20 Mb/s after 0.6 s, the burst "
        "used up after 6 s by one connection and 5.8 s by five.",
    )


def figure_4(view: StudyView) -> Figure:
    """TCP throughput behind 21 packets."""
    return _figure(
        view,
        DROPTAIL_21,
        4,
        "TCP throughput with Buffer Control",
        (
            (Rule(10.0, "x", "text: 10 s"), Rule(12.0, "x", "text: 12 s")),
            (Rule(4.5, "x", "text: 4.5 s"), Rule(6.7, "x", "text: 6.7 s")),
        ),
        "A short buffer makes the peak rate hard to reach. The text says: one connection takes 10 s "
        "to 20 Mb/s and 12 s to use up the burst, five take 4.5 s and 6.7 s.",
    )


def figure_6(view: StudyView) -> Figure:
    """TCP throughput behind CoDel."""
    return _figure(
        view,
        CODEL,
        6,
        "TCP throughput with CoDel",
        ((Rule(2.5, "x", "text: falls at 2.5 s"), Rule(15.0, "y", "text: to 15 Mb/s")), ()),
        "CoDel lets TCP start as fast as the large buffer does. The text says that one CUBIC "
        "connection falls to 15 Mb/s after 2.5 s and stays there to the end of the burst.",
    )


def _figure(
    view: StudyView,
    manager: str,
    number: int,
    title: str,
    rules: tuple[tuple[Rule, ...], tuple[Rule, ...]],
    caption: str,
) -> Figure:
    panels: list[Panel] = []
    for (heading, pair), extras in zip(PANELS.items(), rules, strict=True):
        far = first_seed(view, alone_point_of(pair[1], manager))
        allowed = allowed_bytes(far) * 8e-6 / far.width_s
        panels.append(
            timeseries_panel(
                (
                    Trace(far.start_s, allowed, "reference", "allowed by the shaper", "thin"),
                    *both_round_trips(view, manager, pair, lambda series: series.rate_mbps),
                ),
                quantity="rate through the modem",
                unit="Mb/s",
                title=heading,
                until_s=WINDOW_S,
                high=1.1 * PEAK_MBPS,
                ticks=(0, 5, 10, 15, 20),
                extras=extras,
            )
        )
    return side_by_side(manager, number, title, panels, "Upstream rate", caption)
