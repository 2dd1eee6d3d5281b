"""Cliff of a shaper: the share of the line's rate at which the delay leaves the plateau.

chosen: the smallest share whose 99th percentile is above 1.5 times the plateau, to 0.01 by
bisection.
Deviations: the plateau is the delay at the smallest share that was tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

FIRST_SHARES = (0.80, 0.89, 0.98)
"""Shares of the first look: both ends, and the middle."""

CLIFF = 1.5
"""How far above the plateau a delay is over the cliff."""

STEP = 0.01
"""How exactly the cliff is found."""

MARGIN = 0.02
"""How far from the cliff a setting has to stay."""


@dataclass(frozen=True)
class Cliff:
    """Delays over shares of the line, and where they leave the plateau.

    Attributes
    ----------
    way
        Direction.
    counted
        What the router counts of a packet, in words.
    delays_ms
        99th percentile of delay by share, mean over seeds, in rising order.
    edge
        The smallest share over the cliff; `None` if none of those tried was.
    supposed
        Assumptions about unknown properties of the line, in words.
    """

    way: str
    counted: str
    delays_ms: Mapping[float, float]
    edge: float | None
    supposed: str = ""

    @property
    def plateau_ms(self) -> float:
        """The delay far from the cliff."""
        return self.delays_ms[min(self.delays_ms)]

    @property
    def most(self) -> float:
        """The largest share that keeps its distance; beyond what was tried the cliff may follow at once."""
        edge = max(self.delays_ms) + STEP if self.edge is None else self.edge
        return round(max(edge - MARGIN, min(self.delays_ms)), 4)

    def scaled(self, factor: float) -> Cliff:
        """Return the same of a line that is faster by a factor, over shares of this one's rate."""
        delays = {round(share * factor, 4): delay for share, delay in self.delays_ms.items()}
        edge = None if self.edge is None else round(self.edge * factor, 4)
        return replace(self, delays_ms=delays, edge=edge)


def find_cliff(
    way: str,
    counted: str,
    shares: Sequence[float],
    delays_of: Callable[[Sequence[float]], Sequence[float]],
    is_out_of_time: Callable[[], bool] = lambda: False,
    supposed: str = "",
) -> Cliff:
    """Look for the cliff: at each of some shares, then by bisection.

    Parameters
    ----------
    way, counted, supposed
        See `Cliff`.
    shares
        Where to look first, rising.
    delays_of
        Gives the delay at shares, ms.
    is_out_of_time
        Asked before each further look.

    Examples
    --------
    >>> found = find_cliff("up", "IP", [0.8, 0.89, 0.98], lambda shares: [7 + 90 * (s > 0.935) for s in shares])
    >>> found.edge, found.most
    (0.94, 0.92)
    """
    delays = dict(zip(shares, delays_of(shares), strict=True))
    limit = CLIFF * delays[min(delays)]
    while True:
        over = [share for share, delay in delays.items() if delay > limit]
        edge = min(over, default=None)
        if edge is None or is_out_of_time():
            break
        below = max((share for share in delays if share < edge), default=edge)
        hundredths = round((edge - below) / STEP)
        if hundredths <= 1:
            break
        middle = round(below + STEP * (hundredths // 2), 4)
        (delays[middle],) = delays_of([middle])
    return Cliff(way, counted, dict(sorted(delays.items())), edge, supposed)
