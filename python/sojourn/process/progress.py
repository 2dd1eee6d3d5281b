"""Progress of a run: a bar with an estimate on a terminal or in a notebook, plain lines elsewhere.

A run says nothing before its second second.
"""

from __future__ import annotations

import sys
import time

from sojourn.base.messages import visible

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from sojourn.base.notebook import NotebookBar

LINE_EVERY_S = 5.0
"""chosen: often enough to see life in a log, seldom enough not to fill it."""


SILENT_S = 1.0
"""A run that ends earlier shows no progress."""


class RunProgress:
    """Tells how far one run is; to be given to a simulation as its `watch`.

    Parameters
    ----------
    name
        Of the scenario.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._began: float | None = None
        self._next = 0.0
        self._is_terminal = sys.stderr.isatty()
        self._shown = False
        self._notebook = notebook_bar()

    def __call__(self, share: float, said: str = "") -> None:
        """Note the share of the run that is done, and how it is said if not in percent."""
        now = time.monotonic()
        if self._began is None:  # what came before were imports
            self._began = now
            self._next = now + SILENT_S
        if now < self._next:
            return
        elapsed = now - self._began
        left = f", about {elapsed * (1 - share) / share:.0f} s left" if share > 0 else ""
        text = f"{visible(self._name)}: {said or f'{100 * share:.0f} %'} after {elapsed:.0f} s{left}"
        if self._notebook is not None:
            self._notebook.show(share, text)
            self._next = now + REDRAW_EVERY_S
        elif self._is_terminal:
            full, empty = "━╌" if (sys.stderr.encoding or "").lower().startswith("utf") else "#-"
            done = round(BAR_WIDTH * share)
            bar = full * done + empty * (BAR_WIDTH - done)
            print(f"\r\x1b[K{bar} {text}", end="", file=sys.stderr, flush=True)
            self._next = now + REDRAW_EVERY_S
        else:
            print(text, file=sys.stderr, flush=True)
            self._next = now + LINE_EVERY_S
        self._shown = True

    def stop(self) -> None:
        """Note that the run has ended: a bar goes, lines stay."""
        if self._notebook is not None and self._began is not None:
            took = time.monotonic() - self._began
            self._notebook.stop(f"{self._name}: done after {took:.0f} s")
        elif self._shown and self._is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


BAR_WIDTH = 30
REDRAW_EVERY_S = 0.2  # chosen: five times a second looks alive


def notebook_bar() -> NotebookBar | None:
    """Return what shows progress in a notebook, if this is one."""
    if "IPython" not in sys.modules:  # as everywhere on the command line
        return None
    from sojourn.base.notebook import NotebookBar, in_notebook

    return NotebookBar() if in_notebook() else None


class CountProgress:
    """Tells how many of many short runs are done: a bar with an estimate on a terminal or in a notebook, lines elsewhere.

    Parameters
    ----------
    unit
        What is counted.
    """

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._what = ""
        self._bar = RunProgress("")

    def __call__(self, what: str, done: int, total: int) -> None:
        """Note how many of what are done."""
        if what != self._what:
            self._bar.stop()
            self._bar = RunProgress(what)
            self._what = what
        self._bar(done / total, f"{done} of {total} {self._unit}")

    def stop(self) -> None:
        """Note that no more follow."""
        self._bar.stop()
