"""A plot as plain data: lists, numbers and strings, for tests and other tools."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import numpy as np

from sojourn.plots.spec import PlotSpec


def draw(plot: PlotSpec) -> dict[str, Any]:
    """Return the plot as nested dictionaries; each mark says its `kind`, each axis its label."""
    data: dict[str, Any] = _plain(plot)
    for panel, drawn in zip(plot.panels, data["panels"], strict=True):
        drawn["x"]["label"] = panel.x.label
        drawn["y"]["label"] = panel.y.label
        for mark, entry in zip(panel.marks, drawn["marks"], strict=True):
            entry["kind"] = type(mark).__name__.lower()
    return data


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field of any mark
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: _plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(item) for item in cast("tuple[Any, ...]", value)]
    return value
