"""Runs of consecutive losses: how many packets of a flow in a row are lost.

Source: Akhtar and others 2013, "RED Status" (longer runs of consecutive losses); RFC 3611 section 4.1 (runs in a trace of losses).
Units: packets.
Deviations: a segment that is lost again when it is sent again begins a run of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl


def run_lengths(losses: pl.DataFrame) -> np.ndarray:
    """Return the lengths of the runs of consecutive losses in rows of the record table `losses`, one run after the other.

    Rows of several runs of a study have a column `seed`, of several points `point`: nothing goes on from one to the next. Lost
    acknowledgements are not counted.

    Examples
    --------
    >>> import polars as pl
    >>> lost = pl.DataFrame(
    ...     {
    ...         "at_ns": [1, 2, 3, 4, 5],
    ...         "traffic": ["web"] * 5,
    ...         "server": [0] * 5,
    ...         "direction": ["downstream"] * 5,
    ...         "connection": [0, 0, 1, 0, 0],
    ...         "sequence": [7, 8, 9, 9, 12],
    ...         "data_bytes": [1448, 1448, 1448, 1448, 1],
    ...     }
    ... )
    >>> run_lengths(lost).tolist()  # 7, 8 and 9 of the first connection, its 12, and 9 of the other
    [3, 1, 1]
    """
    import polars as pl

    flow = [
        name for name in ("point", "seed", "traffic", "server", "direction", "connection") if name in losses.columns
    ]
    rows = losses.filter(pl.col("data_bytes") > 0).sort(*flow, "at_ns", maintain_order=True)
    begins = (pl.col("sequence") != pl.col("sequence").shift(1) + 1).over(flow).fill_null(value=True)
    found = rows.select(run=begins.cum_sum()).group_by("run", maintain_order=True).len()
    return found["len"].to_numpy()
