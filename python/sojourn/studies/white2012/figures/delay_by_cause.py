"""Where the call's delay is spent.

Source: our own records; nothing of this is printed.
Deviations: none known.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.plots.spec import Panel, PlotSpec
from sojourn.plots.stack import stack_panel
from sojourn.studies.figure import Figure
from sojourn.studies.view import StudyView
from sojourn.studies.white2012.cases import (
    CASES,
    DROPTAIL_417,
    MANAGER_LABELS,
    MANAGERS,
    point_of,
)

#: Causes of delay in the order in which a packet meets them, with their names in words.
CAUSES = {
    "sender": "sender",
    "queue": "rate-shaping queue",
    "request_wait": "wait for request",
    "grant_wait": "wait for grant",
    "framing": "framing",
    "serialisation": "serialisation",
    "wire": "propagation",
    "recovery": "recovery",
}


def mean_delay_parts(view: StudyView, point: str) -> dict[str, float]:
    """Mean delay of the call's packets by cause, ms, all seeds together."""
    rows = (
        view.table("delays", point)
        .filter((pl.col("traffic") == "call") & (pl.col("direction") == "upstream"))
        .group_by("cause")
        .agg(pl.col("packets").sum(), pl.col("total_ns").sum())
    )
    return {
        cause: float(total) / float(packets) / 1e6 if packets else 0.0
        for cause, packets, total in rows.iter_rows()
    }


def delay_by_cause(view: StudyView) -> Figure:
    """Where the call's delay is spent, per case and queue manager."""
    panels: list[Panel] = []
    used: set[str] = set()
    by_manager: dict[str, list[dict[str, float]]] = {}
    for manager in MANAGERS:
        by_manager[manager] = [mean_delay_parts(view, point_of(case, manager)) for case in CASES]
        for parts in by_manager[manager]:
            used |= {cause for cause, value in parts.items() if value > 0}
    for manager in MANAGERS:
        means = by_manager[manager]
        shown = {
            cause: np.array([parts.get(cause, 0.0) for parts in means])
            for cause in CAUSES
            if cause in used
        }
        panels.append(
            stack_panel(
                CASES,
                shown,
                quantity="mean delay",
                unit="ms",
                title=MANAGER_LABELS[manager],
                decimals=1 if manager != DROPTAIL_417 else 0,
                labels=CAUSES,
            )
        )
    plot = PlotSpec(
        name="delay-by-cause",
        title="Where the call's delay goes (note the three scales)",
        panels=tuple(panels),
        columns=3,
        height=88,
        legend="below",
        description="Mean access delay of the call's packets that arrived, split by cause, for nine "
        "test cases and three queue managers.",
    )
    return Figure(
        "delay-by-cause",
        plot,
        "Mean over the packets that arrived, all runs; rows are test cases. The scales differ: behind "
        "417 packets the queue is nearly everything, behind CoDel the request-grant loop weighs as much.",
        "delay",
    )
