"""Progress of a study: runs weigh their time of computation, not their simulated time.

A day of an idle line is done sooner than a minute of a busy one. Before any run has ended, a run weighs the packets
that its links can carry; then, what finished runs of its point took; of points without one, what their packets take
as learned from all finished runs.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.study.plan import RunSpec


@dataclass
class _Point:
    """Runs of one point."""

    packets: float
    """That the links can carry in one run."""
    left: int = 0
    runs: int = 0
    """That have ended."""
    took_s: float = 0.0
    """Of all of them."""

    @property
    def left_s(self) -> float:
        """Seconds that the others will take; none while none has ended."""
        return self.left * self.took_s / self.runs if self.runs else 0.0


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
        # Sums over points, kept while runs end: there may be a hundred thousand of both.
        self.done_s = 0.0
        """Seconds that finished runs took, one after the other."""
        self._done_packets = 0.0
        self._known_left_s = 0.0
        self._unknown_packets = sum(point.left * point.packets for point in self._points.values())

    def finished(self, point: str, took_s: float) -> None:
        """Note that a run of a point ended, and how long it took; runs that failed take no time."""
        one = self._points[point]
        self._known_left_s -= one.left_s
        if not one.runs:
            self._unknown_packets -= one.left * one.packets
        one.left -= 1
        one.runs += 1
        one.took_s += took_s
        self._known_left_s += one.left_s
        self.done_s += took_s
        self._done_packets += one.packets

    @property
    def left_s(self) -> float:
        """Seconds that the others will take; without any finished run, their packets instead."""
        per_packet = self.done_s / self._done_packets if self._done_packets and self.done_s else 1.0
        return max(0.0, self._known_left_s) + per_packet * max(0.0, self._unknown_packets)

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
    in_groups
        Whether runs come many at once, as workers bring them. The pace is then that of whole groups: by the first run of
        one, after minutes of waiting, the rest would take days.

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

    def __init__(self, work: Workload, began: float, *, in_groups: bool = False) -> None:
        self._work = work
        self._began = began
        self._in_groups = in_groups
        self._marks = deque([(began, 0.0)])

    def left_s(self, now: float) -> float | None:
        """Return how long the rest takes; `None` as long as nothing has ended."""
        done = self._work.done_s
        if self._in_groups:
            return self._left_by_groups(now, done)
        self._marks.append((now, done))
        window = max(LATE_S, LATE_SHARE * (now - self._began))
        while len(self._marks) > 2 and self._marks[1][0] <= now - window:
            self._marks.popleft()
        at, before = self._marks[0]
        if done <= before or now <= at:
            return None
        return self._work.left_s * (now - at) / (done - before)

    def _left_by_groups(self, now: float, done: float) -> float | None:
        """Return how long the rest takes by all groups so far but the last, which may have only begun.

        Workers that are killed come back after minutes, which would be most of any shorter time.
        """
        if now - self._marks[-1][0] < GROUP_S:
            self._marks[-1] = self._marks[-1][0], done
        else:
            self._marks.append((now, done))
        if len(self._marks) < 3:
            return None
        until, done = self._marks[-2]
        return self._work.left_s * (until - self._began) / done if done else None


GROUP_S = 0.5
"""Within this time runs count as one group. chosen: a segment is read in some hundredths of a second."""

LATE_S, LATE_SHARE = 10.0, 0.25
"""Time by which the pace is judged, and at least which share of all so far. chosen: some runs of a second, and not one alone."""
