"""Figures 22 to 24: how long web pages take to load.

Source: White 2013, section 4.2; the document's plots themselves were not read.
Deviations: the axis is logarithmic. Pages under way when a run ended are left out, as nothing is said
about them.
"""

from __future__ import annotations

from sojourn.studies.figure import Figure
from sojourn.studies.view import StudyView
from sojourn.studies.white2013.cases import load_times
from sojourn.studies.white2013.figures import grids

TIMES = grids.Subject(
    samples=load_times,
    quantity="page load time",
    unit="s",
    low=1.0,
    high=300.0,
    ticks=(1, 2, 5, 10, 20, 50, 100, 300),
    counted=True,
)


def figure_22(view: StudyView) -> Figure:
    """Draw the nine cells."""
    return grids.figure(
        view,
        TIMES,
        grids.detail,
        item="figure-22",
        title="Figure 22. Web page load time, detail",
        description="Distributions of the load time of completed pages for three levels of RF congestion "
        "and three groups of load, five queue managers each, with the number of pages.",
        words="Numbers: pages of each manager, in the order of the legend. Moderate load has one browser in "
        "each household, the other groups have up to four.",
    )


def figure_23(view: StudyView) -> Figure:
    """Draw rows and columns of the nine cells."""
    return grids.figure(
        view,
        TIMES,
        grids.sides,
        item="figure-23",
        title="Figure 23. Web page load time by RF congestion (left) and by load (right)",
        description="The same distributions, with the three groups of load mixed at equal weights for "
        "each level of congestion, and the other way round, with the number of pages.",
        words="Left: the three groups of load weigh the same, however many pages each has. Right: the three "
        "levels of congestion do. Numbers: pages of each manager, in the order of the legend.",
    )


def figure_24(view: StudyView) -> Figure:
    """Draw all cells together."""
    return grids.figure(
        view,
        TIMES,
        grids.overall,
        item="figure-24",
        title="Figure 24. Web page load time, summary",
        description="Distributions of the load time of completed pages, all nine cells mixed at equal "
        "weights, for five queue managers, with the number of pages.",
        words="All nine cells, at equal weights. Numbers: pages of each manager, in the order of the legend.",
    )
