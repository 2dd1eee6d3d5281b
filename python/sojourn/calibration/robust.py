"""A fit to what holds where the dynamics of a real queue differ from the model's: rate, idle round trip and the tail of delay.

Source: approximate Bayesian computation with an error of the model (Wilkinson 2013), on five statistics and without a regression.
Deviations: a draw of another rate is the same line at another speed, and its sizes are brought to the goodput. Draws are weighted by a Gaussian of noise
and model error in place of the nearest 120; the tail's two statistics share one error. Families are also separated by whether a first burst gets
through: PIE and CoDel let 100 ms of it wait, a plain buffer its size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sojourn.calibration.fit import Posterior, noise_of
from sojourn.calibration.inversion import OFFLOAD_FRAMES, PAYLOAD
from sojourn.calibration.line import FAMILIES
from sojourn.calibration.measurement import Load, Seen
from sojourn.calibration.statistics import NAMES, RATES_FROM_S, ROBUST, packet_ms
from sojourn.calibration.table import Table

TAIL_ERROR, PACKETS_ERROR = 0.1, 0.5
"""How far the tail of a real queue may be from the model's: a tenth of it, and half a packet. chosen: what offload of segments, and a
token bucket of one packet, do to a queue; nine uploads measured in a laboratory with known buffers lie within."""

SIZES = ("rate", "buffer", "bucket")
"""Unknowns that grow with the rate where delays stay: draws are scaled to the goodput that was seen."""

OTHER_ERROR = {"idle_median": 0.01, "first_second": 0.2, "first_peak": 0.15}
"""The same of other statistics, in their units. chosen: a percent; a fifth of a first second, which a socket's buffer changes."""

FEWEST_EFFECTIVE = 60.0
"""Draws that have to count; with fewer, errors are widened. chosen: six beyond each end of 90 % of 120."""


END_ERROR = math.sqrt(2 / 3)
"""Standard deviation of what a sender's count is off by, in units of segmentation offload. Source: what waits in its socket is off by up to one
unit, evenly, where the counting begins and where it ends."""


ENDS_S = 1.0
"""Around where counting begins and ends. chosen: four or five samples at each end, of which one may fall into the recovery of a loss."""


def goodput_error(load: Load, goodput: float, tests: int, seen: Sequence[Seen] = ()) -> float:
    """Return the standard deviation of the logarithm of a goodput, Mb/s, that senders counted; 0 if receivers did.

    While a loss is recovered, a socket gets no room, and when it has been, room for all that it holds at once: a count that begins or ends
    meanwhile is short by up to a whole socket. How far that goes, tests themselves say that were seen.

    Examples
    --------
    >>> ten_seconds = Load("up", 1, 5.0, 10.0, 200.0, 84, "sender")
    >>> round(goodput_error(ten_seconds, 4.77, 1), 4)
    0.0112
    """
    if load.where == "receiver":
        return 0.0
    carried = goodput * 1e6 / 8 * (load.length_s - RATES_FROM_S)
    units = END_ERROR * OFFLOAD_FRAMES * PAYLOAD * math.sqrt(load.streams / tests) / carried
    swings = math.hypot(*(_swing(one, load) for one in seen)) / max(1, len(seen))
    return math.hypot(units, swings)


def _swing(seen: Seen, load: Load) -> float:
    """Return the standard deviation of the logarithms of goodputs that are counted from and to other samples nearby."""
    at, carried = seen.at_s, seen.carried
    first = (at >= RATES_FROM_S) & (at <= RATES_FROM_S + ENDS_S)
    last = (at >= load.length_s - ENDS_S) & (at <= load.length_s + 0.5)
    apart = np.subtract.outer(at[last], at[first])
    volume = np.subtract.outer(carried[last], carried[first])
    counted = (apart > 0) & (volume > 0)
    return float(np.log(volume[counted] / apart[counted]).std()) if counted.any() else 0.0


def robust_fit(
    table: Table, observed: np.ndarray, goodput: float, full_shares: np.ndarray, rate_error: float = 0.0
) -> tuple[Posterior, float]:
    """Return the posterior of the robust statistics, and how many errors the nearest draw is away.

    Parameters
    ----------
    table
        Draws and their statistics.
    observed
        Statistics of what was seen.
    goodput
        Its rate of payload, Mb/s.
    full_shares
        Of families, by all statistics; multiplied with those of the robust ones.
    rate_error
        Of the goodput, as `goodput_error` has it.
    """
    names = tuple(
        name for name in (*ROBUST, "first_peak") if name != "goodput" and math.isfinite(observed[NAMES.index(name)])
    )
    columns = [NAMES.index(name) for name in names]
    errors = _errors(table, observed, columns, names, packet_ms(goodput))
    apart = table.statistics[:, columns] - observed[columns]
    apart = np.where(np.isfinite(apart), apart, 1e3)
    few = [number for number, name in enumerate(names) if name != "first_peak"]
    squares = _squares(apart[:, few], errors[np.ix_(few, few)])
    weights = _kernel(squares, table.weights)
    with_peak = _kernel(_squares(apart, errors), table.weights)
    shares = full_shares * [with_peak[table.families == family].sum() for family in range(len(FAMILIES))]
    shares = shares / shares.sum() if shares.sum() > 0 else full_shares
    kept = np.flatnonzero(weights > 1e-4 * weights.max())
    kept = kept[shares[table.families[kept]] >= LEAST_SHARE]
    weight = weights[kept].copy()
    for family in range(len(FAMILIES)):
        members = table.families[kept] == family
        if members.any():
            weight[members] *= shares[family] / weight[members].sum()
    values = table.values[kept].copy()
    number = NAMES.index("goodput")
    # Draws of the error belong to draws of the table, so that the same input gives the same bytes.
    off = rate_error * np.random.default_rng(len(table)).standard_normal(len(table))[kept]
    faster = np.exp(observed[number] - table.statistics[kept, number] + off)
    for column, one in enumerate(table.unknowns):
        if one.name in SIZES and one.low < one.high:
            values[:, column] = np.clip(values[:, column] * faster, one.low, one.high)
    posterior = Posterior(shares, table.families[kept], values, weight / weight.sum(), is_robust=True)
    return posterior, float(math.sqrt(squares.min() / len(few)))


LEAST_SHARE = 0.02
"""Of a family, below which its draws are left out. chosen: the prior share of a family after fifty draws of others."""


def _squares(apart: np.ndarray, errors: np.ndarray) -> np.ndarray:
    return np.einsum("ij,jk,ik->i", apart, np.linalg.inv(errors), apart)


def _kernel(squares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weights of draws, with errors as wide as it takes for enough of them to count."""
    wider = 1.0
    while True:
        found = weights * np.exp(-0.5 * (squares - squares.min()) / wider)
        effective = float(found.sum() ** 2 / (found**2).sum())
        if effective >= FEWEST_EFFECTIVE or wider > 1e4:
            return found
        wider *= 1.3


def _errors(
    table: Table, observed: np.ndarray, columns: list[int], names: tuple[str, ...], packet: float
) -> np.ndarray:
    """Return the covariance of noise and of what the model gets wrong."""
    noise = np.maximum(noise_of(table, columns), 1e-3)
    errors = np.diag(noise**2)
    tail = [number for number, name in enumerate(names) if name in ("p95", "second_largest")]
    for number, name in enumerate(names):
        if number not in tail:
            errors[number, number] += OTHER_ERROR[name] ** 2
    for one in tail:
        for other in tail:
            errors[one, other] += _tail_error(observed[columns[one]], packet) * _tail_error(
                observed[columns[other]], packet
            )
    return errors


def _tail_error(value: float, packet: float) -> float:
    """Return the error of a delay, given and returned as log(1 + ms)."""
    delay = math.expm1(value)
    return math.hypot(TAIL_ERROR * delay, PACKETS_ERROR * packet) / (1 + delay)
