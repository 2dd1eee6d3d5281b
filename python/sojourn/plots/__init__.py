"""Plots as data, and backends that draw them.

A plot function takes arrays or frames and returns a `PlotSpec`: panels, axes with units, marks,
annotations. A backend turns it into a picture; the `none` backend into plain data for tests.

| module | draws |
|---|---|
| `timeseries` | rates and delays over time |
| `cdf`, `ccdf` | distributions |
| `box` | spread over runs |
| `stack` | where a whole is spent: stacked horizontal bars |
| `dots` | printed beside ours, row by row |
| `scatter` | printed against ours |

Examples
--------
>>> import numpy as np
>>> from sojourn.plots import cdf, draw
>>> plot = cdf.cdf("delay", {"codel": np.array([4.0, 5.0, 9.0])}, quantity="delay", unit="ms")
>>> draw(plot, "none")["panels"][0]["x"]["label"]
'delay in ms'
"""

from __future__ import annotations

from sojourn.plots.backends import draw
from sojourn.plots.spec import PlotSpec

__all__ = ["PlotSpec", "draw"]
