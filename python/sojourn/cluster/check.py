"""Checks all points of a plan before anything starts, in several processes: each is made, read by the engine, and its runs get their keys."""

from __future__ import annotations

import queue
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

from sojourn.base.errors import EnvironmentFailure, Problem, StudyError, plain
from sojourn.cluster.child import Death, Maker
from sojourn.cluster.shared_plan import Round, SharedPlan, Span

AT_A_TIME = 2000
"""Runs that a process is asked for. chosen: half a second."""

MOST_TOLD = 20
"""Invalid runs that are listed. chosen: enough to see a pattern."""


def check_all(shared: SharedPlan, spans: Sequence[Span], processes: int) -> int:
    """Check all points of a plan; return how many runs they have.

    Parameters
    ----------
    shared
        The plan.
    spans
        Its runs.
    processes
        How many work on it.

    Raises
    ------
    StudyError
        With what is wrong with the first that are invalid.
    EnvironmentFailure
        If a process dies.
    """
    pieces = Round(spans=list(spans), runs_per_unit=AT_A_TIME, unit_s=1.0, patience_s=1.0).units()
    makers = queue.SimpleQueue[Maker]()
    every = [Maker(shared, processes) for _ in range(processes)]
    for one in every:
        makers.put(one)

    def check(piece: list[Span]) -> dict[str, Any]:
        maker = makers.get()
        try:
            request = {"spans": [span.model_dump() for span in piece], "check": True}
            answer = maker.ask(request)
        finally:
            makers.put(maker)
        if isinstance(answer, Death):
            raise EnvironmentFailure(f"a process that checks points ended with {answer.how}")
        if "error" in answer:
            raise EnvironmentFailure(str(answer["error"]))
        return answer

    threads = ThreadPoolExecutor(processes)
    try:
        answers = list(threads.map(check, pieces))
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for one in every:
            one.close()
    failed = list(chain.from_iterable(answer["failed"] for answer in answers))
    if failed:
        problems = [Problem(plain(point), plain(text)) for point, _, _, text in failed[:MOST_TOLD]]
        if len(failed) > MOST_TOLD:
            problems.append(Problem("", f"and {len(failed) - MOST_TOLD:,} more runs like these"))
        raise StudyError(problems)
    return sum(int(answer["checked"]) for answer in answers)
