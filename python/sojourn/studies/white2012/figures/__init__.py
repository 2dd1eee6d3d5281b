"""Figures 2 to 9 of White and Padden 2012 redrawn, and pictures of what the tables say.

Source: White and Padden 2012, sections 4.1 and 4.3.2 for what the figures show; the document's plots
themselves were not read.
Deviations: in each module.
"""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.studies.figure import Figure, draw
from sojourn.studies.table import Table
from sojourn.studies.view import StudyView
from sojourn.studies.white2012.figures import (
    agreement,
    byte_limit,
    congestion,
    delay_by_cause,
    overview,
    queue_size,
    queuing_delay,
    throughput,
)


def figures(view: StudyView, tables: Sequence[Table]) -> list[Figure]:
    """Return all figures that the records allow, in the order of the report."""
    return draw(
        view,
        overview.overview,
        lambda _: agreement.agreement(tables),
        throughput.figure_2,
        queuing_delay.figure_3,
        throughput.figure_4,
        queuing_delay.figure_5,
        throughput.figure_6,
        queuing_delay.figure_7,
        queue_size.figure_8,
        queue_size.figure_9,
        delay_by_cause.delay_by_cause,
        byte_limit.byte_limit,
        congestion.congestion,
    )
