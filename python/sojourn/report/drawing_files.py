"""Drawings as files: many of them take their time, so that other processes draw while this one gathers numbers.

Another process is a Python of its own that is handed plots, one after the other, and hands back what a page
shows of them; equal plots give equal bytes, wherever they are drawn.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self, cast

from sojourn.base.errors import plain
from sojourn.process.isolated import python_command

if TYPE_CHECKING:
    from sojourn.answers.figure import Figure

START = 8
"""Panels from which another process is worth its start; chosen: as measured, it takes to start as long as a score of
panels take, most of it to load Matplotlib, which this process then need not do."""

FRAME = 1
"""Cost of a plot beside its panels, in panels; chosen: as measured."""

MOST_PROCESSES = 3
"""More processes than this are not worth their start; chosen: a report has a few dozen plots."""

_WORKER = "from sojourn.report.drawing_files import work; work()"


class Drawers:
    """Processes that draw figures, if that is worth their start.

    Leave it as a context manager, and no process is left.

    Parameters
    ----------
    pdf
        Whether to write `<name>.pdf` beside `<name>.svg`.
    expected
        How many figures will come; with many of them, processes start at once and are ready for the first.

    Attributes
    ----------
    folder
        Where files go; it exists when the first figure is drawn.
    failed
        Why a figure could not be drawn, by item; it has no file.
    """

    def __init__(self, *, pdf: bool = False, expected: int = 0) -> None:
        self.folder = Path()
        self._pdf = pdf
        self._figures: list[Figure] = []
        self._cost = 0
        self._waiting: SimpleQueue[Figure | None] = SimpleQueue()
        self._drawn: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[threading.Thread] = []
        if _is_worth(expected * (1 + FRAME)):
            self._start()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End all processes, at once if something failed."""
        for process in self._processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    cast("IO[bytes]", pipe).close()

    def draw(self, figure: Figure) -> None:
        """Draw a figure, sooner or later; names of plots, and items, differ."""
        self._figures.append(figure)
        self._cost += len(figure.plot.panels) + FRAME
        self._waiting.put(figure)
        if not self._processes and _is_worth(self._cost):
            self._start()

    def finish(self) -> dict[str, str]:
        """Wait for all drawings; return them as parts of a page, by item in the order of the figures."""
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()
        for figure in self._figures:
            if figure.item not in self._drawn:  # here, its error is raised
                self._keep(figure, _drawn(figure, self.folder, pdf=self._pdf))
        return {figure.item: self._drawn[figure.item] for figure in self._figures}

    def _start(self) -> None:
        for _ in range(_most_processes()):
            process = subprocess.Popen(
                python_command(_WORKER), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self._processes.append(process)
            thread = threading.Thread(target=self._hand_over, args=(process,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _hand_over(self, process: subprocess.Popen[bytes]) -> None:
        """Hand figures to a process while there are any, and take its drawings."""
        to, back = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        while (figure := self._waiting.get()) is not None:
            try:
                pickle.dump((figure, self.folder, self._pdf), to)
                to.flush()
                drawn = pickle.load(back)
            except (OSError, EOFError, ValueError, pickle.PickleError):
                return  # the process is no more; `finish` draws what is left
            if drawn is not None:
                self._keep(figure, drawn)

    def _keep(self, figure: Figure, drawn: tuple[str, str]) -> None:
        """Keep a drawing, and why it stands in the place of another if it does."""
        self._drawn[figure.item], failure = drawn
        if failure:
            self.failed[figure.item] = failure


def draw_files(figures: Sequence[Figure], folder: Path, *, pdf: bool = False) -> dict[str, str]:
    """Write `<name>.svg` of each figure's plot; return the drawings as parts of a page, by item.

    Parameters
    ----------
    figures
        What to draw; names of plots, and items, differ.
    folder
        Where to; it exists.
    pdf
        Also write `<name>.pdf`.
    """
    with Drawers(pdf=pdf) as drawers:
        drawers.folder = folder
        for figure in figures:
            drawers.draw(figure)
        return drawers.finish()


def _is_worth(cost: int) -> bool:
    """Return whether another process has enough to draw, and a core of its own."""
    return cost > START and _most_processes() > 0


def _most_processes() -> int:
    """Return how many others draw: this process gathers numbers meanwhile and needs a core, too."""
    return min((os.cpu_count() or 1) - 1, MOST_PROCESSES) if sys.executable else 0


def _drawn(figure: Figure, folder: Path, *, pdf: bool) -> tuple[str, str]:
    """Write the files of a figure; return its drawing as part of a page, and why it has no files if it has none."""
    from sojourn.answers.figure import failed
    from sojourn.plots.backends import mpl
    from sojourn.report import drawing

    name = f"drawn-{figure.item}"
    reason = figure.failure
    if not reason:
        try:
            return drawing.inline(mpl.save(figure.plot, folder, root=folder.parent, pdf=pdf), name, figure.plot), ""
        except (OSError, MemoryError):
            raise
        except Exception as error:  # values of 1e308 end a drawing in many ways
            reason = f"{type(error).__name__}: {plain(error)[:100]}"
    instead = failed(figure.plot.name, figure.plot.title, reason)
    text = mpl.save(instead.plot, folder, root=folder.parent)
    (folder / f"{instead.plot.name}.svg").unlink(missing_ok=True)  # the page alone says why there is none
    return drawing.inline(text, name, figure.plot), reason


def work() -> None:
    """Draw what the standard input hands over, until it ends; the whole life of a process of `Drawers`."""
    from sojourn.plots.backends import mpl  # before there is something to draw

    del mpl
    with os.fdopen(os.dup(1), "wb") as back:
        os.dup2(2, 1)  # output of libraries is no answer
        while True:
            try:
                figure, folder, pdf = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            try:
                drawn = _drawn(figure, folder, pdf=pdf)
            except Exception:  # whatever it is, it is said where the figure came from
                drawn = None
            pickle.dump(drawn, back)
            back.flush()
