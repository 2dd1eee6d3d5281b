"""Figures 9 and 10: what the channel has left for the modem over one cycle.

Source: White 2013, section 3.3: four levels, 120 s, each of the 12 changes once. The order is that of
the engine's profiles (models page of the DOCSIS 3.0 modem with one queue), read off a public script.
Deviations: none known; the document draws the order in a figure that was not read.
"""

from __future__ import annotations

import numpy as np

from sojourn.plots.spec import Panel, PlotSpec, Rule
from sojourn.plots.timeseries import Trace, timeseries_panel
from sojourn.studies.figure import Figure

#: How long each level lasts, s.
DWELL_S = 10.0

#: Levels in their order, Mb/s. A test holds them against the profiles of the engine.
CYCLES = {
    "light": (20.0, 5.0, 2.5, 5.0, 12.5, 2.5, 12.5, 5.0, 20.0, 2.5, 20.0, 12.5),
    "moderate": (12.5, 3.3, 1.7, 3.3, 5.0, 1.7, 5.0, 3.3, 12.5, 1.7, 12.5, 5.0),
}

#: Maximum sustained traffic rate (section 3.4), Mb/s.
SUSTAINED_MBPS = 5.0


def figure_9() -> Figure:
    """Draw the cycle of light congestion."""
    return _figure("figure-9", "Figure 9. Light RF congestion", "light")


def figure_10() -> Figure:
    """Draw the cycle of moderate congestion."""
    return _figure("figure-10", "Figure 10. Moderate RF congestion", "moderate")


def _figure(item: str, title: str, level: str) -> Figure:
    rates = CYCLES[level]
    below = sum(rate < SUSTAINED_MBPS for rate in rates) / len(rates)
    plot = PlotSpec(
        name=item,
        title=title,
        panels=(_panel(rates),),
        width=150,
        height=58,
        description=f"Rate that the channel has left over one cycle of 120 s under {level} congestion: "
        f"twelve steps of 10 s, {np.mean(rates):g} Mb/s on average.",
    )
    return Figure(
        item,
        plot,
        f"Twelve levels of 10 s, {np.mean(rates):g} Mb/s on average, {100 * below:.0f} % of the time below "
        "the 5 Mb/s that the subscriber pays for (dashed).",
    )


def _panel(rates: tuple[float, ...]) -> Panel:
    start = DWELL_S * np.arange(len(rates) + 1)
    return timeseries_panel(
        (Trace(start, np.array([*rates, rates[-1]]), "limit", "", "bold", solid=True),),
        quantity="free capacity",
        unit="Mb/s",
        until_s=DWELL_S * len(rates),
        high=22.0,
        ticks=sorted({0.0, *rates}),
        extras=(Rule(SUSTAINED_MBPS, "y"),),
    )
