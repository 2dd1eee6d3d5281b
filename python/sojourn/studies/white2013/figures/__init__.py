"""The figures of White 2013 redrawn, and pictures of what its authors asked for.

Source: White 2013, Figures 9, 10, 12 to 18, 22 to 31; the document's plots themselves were not read.
Deviations: in each module.
"""

from __future__ import annotations

from collections.abc import Callable

from sojourn.studies.figure import Figure, Maker, draw
from sojourn.studies.view import StudyView
from sojourn.studies.white2013.cases import GROUPS
from sojourn.studies.white2013.figures import (
    bittorrent,
    congestion,
    flow_queueing,
    latency,
    long_term,
    loss,
    overview,
    pages,
    pie_draft,
    short_term,
    steps,
    sub_flows,
    voice,
)


def figures(view: StudyView) -> list[Figure]:
    """Return all figures that the records allow, in the order of the report."""
    return draw(
        view,
        overview.overview,
        lambda _: congestion.figure_9(),
        lambda _: congestion.figure_10(),
        latency.figure_12,
        latency.figure_13,
        latency.figure_14,
        *(_of_group(loss.figure_of, 15 + place, group) for place, group in enumerate(GROUPS)),
        loss.figure_18,
        pages.figure_22,
        pages.figure_23,
        pages.figure_24,
        *(_of_group(voice.figure_of, 25 + place, group) for place, group in enumerate(GROUPS)),
        voice.figure_28,
        short_term.figure_29,
        short_term.figure_30,
        long_term.figure_31,
        short_term.short_term_delay,
        short_term.peak_rates,
        steps.capacity_steps,
        sub_flows.sub_flows,
        flow_queueing.flow_queueing,
        bittorrent.ledbat_target,
        bittorrent.background,
        pie_draft.pie_draft,
    )


def _of_group(figure_of: Callable[[StudyView, int, str], Figure], number: int, group: str) -> Maker:
    return lambda view: figure_of(view, number, group)
