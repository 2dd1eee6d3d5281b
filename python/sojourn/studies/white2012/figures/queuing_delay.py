"""Figures 3, 5 and 7: how long the packets of uploads wait in the modem.

Source: White and Padden 2012, section 4.1; the document's plots themselves were not read. Reference marks
carry the numbers of its text.
Deviations: those of `alone`.
"""

from __future__ import annotations

from sojourn.plots.spec import Panel, PlotSpec, Rule
from sojourn.plots.timeseries import timeseries_panel
from sojourn.studies.figure import Figure
from sojourn.studies.view import StudyView
from sojourn.studies.white2012.cases import CODEL, DROPTAIL_21, DROPTAIL_417
from sojourn.studies.white2012.figures.alone import PANELS, WINDOW_S, both_round_trips, side_by_side


def figure_3(view: StudyView) -> Figure:
    """Queuing delay behind 417 packets."""
    limits = (Rule(250.2, "y", "full at 20 Mb/s: 250 ms"), Rule(1000.8, "y", "full at 5 Mb/s: 1 s"))
    return _figure(
        view,
        DROPTAIL_417,
        3,
        "Queuing delay without Buffer Control",
        limits,
        "The price: even one connection keeps the buffer full, for 250 ms of delay during the burst "
        "and 1 s after it.",
    )


def figure_5(view: StudyView) -> Figure:
    """Queuing delay behind 21 packets."""
    limits = (Rule(12.6, "y", "full at 20 Mb/s: 12.6 ms"), Rule(50.4, "y", "full at 5 Mb/s: 50 ms"))
    return _figure(
        view,
        DROPTAIL_21,
        5,
        "Queuing delay with Buffer Control",
        limits,
        "Delay is bounded at 50 ms, and five connections keep it there.",
    )


def figure_7(view: StudyView) -> Figure:
    """Queuing delay behind CoDel, whole and near the target."""
    whole = _panels(
        view, CODEL, (Rule(370.0, "y", "text: spikes up to 370 ms (five)"),), with_titles=True
    )
    near = _panels(view, CODEL, (Rule(5.0, "y", "target 5 ms"),), high=20.0)
    plot = PlotSpec(
        name="figure-7",
        title="Figure 7. Queuing delay with CoDel",
        panels=(*whole, *near),
        columns=2,
        height=115,
        legend="below",
        description="Time in the rate-shaping queue over the first 20 s behind CoDel, for one and "
        "five TCP connections; the lower panels show the same below 20 ms.",
    )
    return Figure(
        "figure-7",
        plot,
        "Below: the same, near the target. Spikes at the start and at the step to 5 Mb/s subside "
        "within seconds; in between the queue stays short.",
    )


def _panels(
    view: StudyView,
    manager: str,
    rules: tuple[Rule, ...],
    *,
    high: float | None = None,
    with_titles: bool = False,
) -> tuple[Panel, ...]:
    return tuple(
        timeseries_panel(
            both_round_trips(view, manager, pair, lambda series: series.sojourn_mean_ms),
            quantity="queuing delay",
            unit="ms",
            title=heading if with_titles else "",
            until_s=WINDOW_S,
            high=high,
            extras=rules,
        )
        for heading, pair in PANELS.items()
    )


def _figure(
    view: StudyView,
    manager: str,
    number: int,
    title: str,
    rules: tuple[Rule, ...],
    caption: str,
) -> Figure:
    panels = _panels(
        view, manager, rules, high=1.15 * max(rule.at for rule in rules), with_titles=True
    )
    return side_by_side(manager, number, title, panels, "Time in the rate-shaping queue", caption)
