"""Figures 12 to 14: how long packets of the game wait in the modem.

Source: White 2013, section 4.1.1; the document's plots themselves were not read. Delays are rounded
up to whole milliseconds, as there.
Deviations: the axis is logarithmic.
"""

from __future__ import annotations

from sojourn.plots.spec import Rule
from sojourn.studies.figure import Figure
from sojourn.studies.view import StudyView
from sojourn.studies.white2013.cases import GAME_LIMIT_MS, game_delays
from sojourn.studies.white2013.figures import grids

DELAYS = grids.Subject(
    samples=game_delays,
    quantity="delay of the game",
    unit="ms",
    low=1.0,
    high=4000.0,
    ticks=(1, 2, 5, 10, 20, 50, 100, 300, 1000, 3000),
    rules=(Rule(GAME_LIMIT_MS, "x"),),
    rounded=True,
)


def figure_12(view: StudyView) -> Figure:
    """Draw the nine cells."""
    return grids.figure(
        view,
        DELAYS,
        grids.detail,
        item="figure-12",
        title="Figure 12. Gaming traffic latency, detail",
        description="Distributions of the access delay of the game's packets upstream, rounded up to "
        "milliseconds, for three levels of RF congestion and three groups of load, five queue "
        "managers each.",
        words="Dashed: the 20 ms that section 4.1.3 asks for. Full, the drop-tail queues delay by 50 ms and 1 s "
        "without congestion, twice that at 2.5 Mb/s, and three times at 1.7 Mb/s.",
    )


def figure_13(view: StudyView) -> Figure:
    """Draw rows and columns of the nine cells."""
    return grids.figure(
        view,
        DELAYS,
        grids.sides,
        item="figure-13",
        title="Figure 13. Gaming traffic latency by RF congestion (left) and by load (right)",
        description="The same distributions, with the three groups of load mixed at equal weights for "
        "each level of congestion, and the other way round.",
        words="Left: the three groups of load weigh the same. Right: the three levels of congestion do.",
    )


def figure_14(view: StudyView) -> Figure:
    """Draw all cells together."""
    return grids.figure(
        view,
        DELAYS,
        grids.overall,
        item="figure-14",
        title="Figure 14. Gaming traffic latency, summary",
        description="Distributions of the access delay of the game's packets upstream, all nine cells "
        "mixed at equal weights, for five queue managers.",
        words="All nine cells, at equal weights.",
    )
