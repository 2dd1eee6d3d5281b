"""Progress of studies: a bar with an estimate on a terminal or in a notebook, plain lines elsewhere.

The estimate weighs runs by their work, see `sojourn.study.workload`.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from sojourn.base.messages import note, visible
from sojourn.process.progress import LINE_EVERY_S, notebook_bar
from sojourn.study.workload import Pace, Workload

if TYPE_CHECKING:
    from sojourn.study.execute import Finished
    from sojourn.study.plan import Plan, RunSpec


class StudyProgress:
    """Tells how far a study is; on stderr.

    Parameters
    ----------
    place
        What the runs run on, in words.
    in_groups
        Whether workers bring them, many at once.
    """

    def __init__(self, place: str, *, in_groups: bool = False) -> None:
        self._place, self._in_groups = place, in_groups
        self._bar: Any = None
        self._task: Any = None
        self._began = 0.0
        self._said = 0.0
        self._work: Workload | None = None
        self._pace: Pace | None = None
        self._total = 0
        self._notebook = notebook_bar()
        self._name = ""
        self.done = 0
        """Runs finished so far."""
        self.found = 0
        """Runs that the store had."""

    def start(self, plan: Plan, to_do: list[RunSpec]) -> None:
        """Note that runs begin."""
        self._began = self._said = time.monotonic()
        self.done, self._total = 0, len(to_do)
        self._work = Workload(to_do)
        self._pace = Pace(self._work, self._began, in_groups=self._in_groups)
        self.found = len(plan.runs) - len(to_do)
        store = f", {self.found} more from the store" if self.found else ""
        self._name = visible(plan.study.definition.name)
        text = f"{self._name}: {_runs(len(to_do))} on {self._place}{store}"
        if self._notebook is not None:
            self._notebook.show(0.0, text)
            return
        note(text)
        if sys.stderr.isatty():
            self._start_bar()

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            TextColumn("{task.fields[runs]} runs"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("elapsed"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task("", total=1.0, runs=f"0 of {self._total}")

    def advance(self, finished: Finished) -> None:
        """Note that a run ended."""
        self.done += 1
        entry = finished.entry
        took_s = float(entry.statistics["wall_s"]) if entry is not None else 0.0
        share = 0.0
        if self._work is not None:
            self._work.finished(finished.spec.point, took_s)
            share = self._work.share
        if self._bar is not None:
            runs = f"{self.done} of {self._total}"
            self._bar.update(self._task, completed=share, runs=runs)
            return
        now = time.monotonic()
        elapsed = now - self._began
        left = self._pace.left_s(now) if self._pace is not None else None
        told = "" if left is None else f", about {left:.0f} s left"
        if self._notebook is not None:
            runs = f"{self.done} of {_runs(self._total)}"
            self._notebook.show(share, f"{self._name}: {runs}{told}")
            return
        if now - self._said >= LINE_EVERY_S and self.done < self._total:
            self._said = now
            note(f"  {self.done} of {_runs(self._total)} after {elapsed:.0f} s{told}")

    def stop(self) -> None:
        """Note that no more runs follow."""
        if self._notebook is not None:
            took = time.monotonic() - self._began
            self._notebook.stop(f"{self._name}: {_runs(self.done)} in {took:.0f} s")
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


class JsonProgress:
    """Tells how far a study is to a program: on stderr, an object a line; see `StudyProgress`."""

    def __init__(self, *, in_groups: bool = False) -> None:
        self._in_groups = in_groups
        self._began = 0.0
        self._work: Workload | None = None
        self._pace: Pace | None = None
        self._total = self._found = self._done = 0

    def start(self, plan: Plan, to_do: list[RunSpec]) -> None:
        """Note that runs begin."""
        self._began = time.monotonic()
        self._total = len(plan.runs)
        self._found = self._done = len(plan.runs) - len(to_do)
        self._work = Workload(to_do)
        self._pace = Pace(self._work, self._began, in_groups=self._in_groups)
        self._tell({"left_s": None})

    def advance(self, finished: Finished) -> None:
        """Note that a run ended."""
        self._done += 1
        took_s = 0.0 if finished.entry is None else float(finished.entry.statistics["wall_s"])
        left = None
        if self._work is not None and self._pace is not None:
            self._work.finished(finished.spec.point, took_s)
            left = self._pace.left_s(time.monotonic())
        self._tell(
            {
                "left_s": None if left is None else round(left, 1),
                "point": finished.spec.point,
                "seed": finished.spec.seed,
                "seconds": round(took_s, 3),
            }
        )

    def stop(self) -> None:
        """Note that no more runs follow."""

    def _tell(self, more: dict[str, Any]) -> None:
        said = {"done": self._done, "total": self._total, "from_store": self._found, **more}
        print(json.dumps(said), file=sys.stderr, flush=True)


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
