"""A number of a series, over seeds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sojourn.studies.numbers import combined
from sojourn.studies.view import LinkSeries, StudyView


def per_seed(
    view: StudyView, point: str, measure: Callable[[LinkSeries], float], link: str = "upstream"
) -> np.ndarray:
    """Measure each seed's series of one point."""
    return np.array([measure(series) for series in view.series(point, link).values()])


def typical(view: StudyView, point: str, measure: Callable[[LinkSeries], float]) -> float:
    """Median over seeds; infinite values (never reached) count as largest."""
    return combined(per_seed(view, point, measure), "median")
