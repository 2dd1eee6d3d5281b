"""Progress of a study: runs weigh their time of computation, not their simulated time.

A day of an idle line is done sooner than a minute of a busy one. Before any run has ended, a run weighs the packets
that its links can carry; then, what finished runs of its point took; of points without one, what their packets take
as learned from all finished runs.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.study.plan import RunSpec


@dataclass
class _Point:
    """Runs of one point."""

    packets: float
    """That the links can carry in one run."""
    left: int = 0
    took_s: list[float] = field(default_factory=list[float])


class Workload:
    """The runs that a study has to make.

    Parameters
    ----------
    specs
        All of them.
    """

    def __init__(self, specs: Sequence[RunSpec]) -> None:
        self._points = {spec.point: _Point(spec.scenario.compiled.full_packets) for spec in specs}
        for point, count in Counter(spec.point for spec in specs).items():
            self._points[point].left = count

    def finished(self, point: str, took_s: float) -> None:
        """Note that a run of a point ended, and how long it took; runs that failed take no time."""
        self._points[point].left -= 1
        self._points[point].took_s.append(took_s)

    @property
    def done_s(self) -> float:
        """Seconds that finished runs took, one after the other."""
        return sum(sum(point.took_s) for point in self._points.values())

    @property
    def left_s(self) -> float:
        """Seconds that the others will take; without any finished run, their packets instead."""
        packets = sum(point.packets * len(point.took_s) for point in self._points.values())
        per_packet = self.done_s / packets if packets and self.done_s else 1.0
        return sum(
            point.left * (sum(point.took_s) / len(point.took_s) if point.took_s else per_packet * point.packets)
            for point in self._points.values()
        )

    @property
    def share(self) -> float:
        """Share of the work that is done, from 0 to 1."""
        done = self.done_s
        return done / (done + self.left_s) if done else 0.0


class Pace:
    """How long the rest of a workload takes on the clock, at the pace of late: a start is slow, and so are other programs.

    Parameters
    ----------
    work
        The workload.
    began
        When it began, in seconds of any clock.

    Examples
    --------
    >>> class Work:
    ...     done_s, left_s = 0.0, 40.0
    >>> work = Work()
    >>> pace = Pace(work, 0.0)
    >>> work.done_s, work.left_s = 1.0, 39.0
    >>> pace.left_s(30.0)  # nothing came for half a minute
    1170.0
    >>> work.done_s, work.left_s = 21.0, 20.0
    >>> pace.left_s(40.0)  # two threads since
    10.0
    """

    def __init__(self, work: Workload, began: float) -> None:
        self._work = work
        self._began = began
        self._marks = deque([(began, 0.0)])

    def left_s(self, now: float) -> float | None:
        """Return how long the rest takes; `None` as long as nothing has ended."""
        done = self._work.done_s
        self._marks.append((now, done))
        window = max(LATE_S, LATE_SHARE * (now - self._began))
        while len(self._marks) > 2 and self._marks[1][0] <= now - window:
            self._marks.popleft()
        at, before = self._marks[0]
        if done <= before or now <= at:
            return None
        return self._work.left_s * (now - at) / (done - before)


LATE_S, LATE_SHARE = 10.0, 0.25
"""Time by which the pace is judged, and at least which share of all so far. chosen: some runs of a second, and not one alone."""
