"""How evenly something is shared.

Source: R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource Allocation in
Shared Computer Systems", DEC-TR-301 (1984).
Deviations: none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def jain_index(amounts: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Return Jain's index of what each gets: 1 if all get the same, 1/n if one of n gets all.

    Parameters
    ----------
    amounts
        One array per competitor, with a value per run. NaN in a run in which one of them is unknown, or all are zero.

    Examples
    --------
    >>> jain_index([np.array([1.0, 4.0]), np.array([1.0, 0.0])]).tolist()
    [1.0, 0.5]
    """
    shares = np.asarray(amounts, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return shares.sum(axis=0) ** 2 / (len(shares) * (shares**2).sum(axis=0))
