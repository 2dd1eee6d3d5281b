"""The process that makes the runs of a unit, apart from the worker that claimed it: a run that kills its process kills this one.

It reads requests from standard input, an object of JSON a line, and answers in the same way. Which run is under way stands
in a file, where the worker finds it if no answer comes. When the worker is gone, so is this.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from sojourn.base.errors import RunError, SojournError, why
from sojourn.base.files import make_folder, write_file
from sojourn.base.memory import budget
from sojourn.cluster.notes import Missing
from sojourn.cluster.shared_plan import OpenPlan, Span, open_plan
from sojourn.simulation.engine import simulate
from sojourn.store import PackedRun, pack_segment
from sojourn.study.plan import RunSpec

UNDER_WAY = "under-way"
"""File with the key of the run that is being made."""

MOST_TOGETHER = 1000
"""Runs of a segment. chosen: a run of 10 s of DSL takes 0.25 kB in thousands and 0.35 in hundreds."""

LARGEST_TOGETHER = 64 * 2**20
"""Bytes in memory of what waits to be kept. chosen: as on one machine."""


def main() -> None:
    """Answer requests until the worker is gone: `plan FOLDER SHARE` as arguments, see `make_unit`."""
    plan, folder, share = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what anything else prints is no answer
    requests = queue.SimpleQueue[str]()
    threading.Thread(target=_listen, args=(requests, folder), daemon=True).start()
    opened = open_plan(plan, folder / "study")
    while True:
        request: dict[str, Any] = json.loads(requests.get())
        try:
            answer = make_unit(opened, request, folder, budget(share))
        except SojournError as error:
            answer = {"error": error.message}
        except OSError as error:  # a full disk, which is not the fault of the run under way
            answer = {"error": f"cannot write {folder}: {why(error)}"}
        _say(answers, answer)


def _say(answers: TextIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _listen(requests: queue.SimpleQueue[str], folder: Path) -> None:
    """Hand requests on; return at the end of the input."""
    for line in sys.stdin:
        requests.put(line)
    shutil.rmtree(folder.parent, ignore_errors=True)  # all that the worker had there
    os._exit(0)


def make_unit(opened: OpenPlan, request: dict[str, Any], folder: Path, memory: int) -> dict[str, Any]:
    """Make runs, and write the segments that keep them into folders.

    Parameters
    ----------
    opened
        The plan.
    request
        `spans` of the unit; `without`, keys of runs that are left out; `list` or `check`, whether runs are listed or counted
        instead of made.
    folder
        Where to write.
    memory
        Bytes that a run may take.

    Returns
    -------
    dict
        `segments`, names of folders below `folder`; `failed`, point, seed, key and what went wrong of runs without a
        result; `runs`, how many were made; `packet_hops` and `cpu_s` of them. Or `listed`, number and name of the point,
        seed and key of each, and `failed`. Or `checked`, their number, and `failed`.
    """
    without = set(request.get("without", ()))
    failed: list[Missing] = []
    specs = _specs(opened, [Span.model_validate(span) for span in request["spans"]], failed)
    if request.get("list"):
        listed = [(number, spec.point, spec.seed, spec.key) for number, spec in specs]
        return {"listed": listed, "failed": failed}
    if request.get("check"):
        return {"checked": sum(1 for _, spec in specs if spec.key), "failed": failed}
    made = _Made(folder)
    under_way = os.open(folder / UNDER_WAY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        for _, spec in specs:
            key = spec.key
            if key in without:
                continue
            os.pwrite(under_way, key.encode(), 0)
            if spec.scenario.kernel:
                failed.append((spec.point, spec.seed, key, "a run with the TCP of a kernel is made by study run alone"))
                continue
            try:
                records = simulate(spec.scenario.compiled, spec.seed, memory=memory)
            except RunError as error:
                failed.append((spec.point, spec.seed, key, error.message))
                continue
            made.add(spec, PackedRun.of(records, key, spec.seed, spec.together.canonical, spec.keep))
        os.ftruncate(under_way, 0)
    finally:
        os.close(under_way)
    made.keep()
    return {
        "segments": made.segments,
        "failed": failed,
        "runs": made.runs,
        "packet_hops": made.packet_hops,
        "cpu_s": made.cpu_s,
    }


def _specs(opened: OpenPlan, spans: list[Span], failed: list[Missing]) -> Iterator[tuple[int, RunSpec]]:
    """Give the runs of a unit with the numbers of their points; those of an invalid point have failed."""
    for span in spans:
        for number in opened.numbers(span):
            try:
                specs = opened.runs_of_point(number, span.seed, span.seeds)
            except SojournError as error:
                name = opened.points.name(number) or ""
                failed += [(name, seed, "", error.message) for seed in range(span.seed, span.seed + span.seeds)]
            else:
                yield from ((number, spec) for spec in specs)


class _Made:
    """Finished runs on their way into segments."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: list[PackedRun] = []
        self._asked: frozenset[str] = frozenset()
        self._size = 0
        self.segments: list[str] = []
        self.runs = 0
        self.packet_hops = 0
        self.cpu_s = 0.0

    def add(self, spec: RunSpec, run: PackedRun) -> None:
        """Take a run; those that keep other tables lie in a segment of their own."""
        is_full = len(self._waiting) >= MOST_TOGETHER or self._size >= LARGEST_TOGETHER
        if self._waiting and (is_full or spec.keep != self._asked):
            self.keep()
        self._asked = spec.keep
        self._waiting.append(run)
        self._size += run.size
        self.runs += 1
        self.packet_hops += run.statistics["packet_hops"]
        self.cpu_s += run.statistics["cpu_s"]

    def keep(self) -> None:
        """Write what waits."""
        if not self._waiting:
            return
        name, files = pack_segment(self._waiting, self._asked)
        place = self._folder / name
        make_folder(place, root=self._folder)
        for file, content in files.items():
            write_file(place / file, content, root=self._folder)
        self.segments.append(name)
        self._waiting, self._size = [], 0
