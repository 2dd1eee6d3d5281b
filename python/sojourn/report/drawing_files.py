"""Drawings as files: many of them take their time, so that other processes draw a part.

Another process is a Python of its own that is handed the plots; equal plots give equal bytes, wherever
they are drawn.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sojourn.isolated import python_command
from sojourn.plots.backends import mpl
from sojourn.plots.spec import PlotSpec

#: What another process costs before it draws, in panels; chosen: as measured, it takes to start and to draw its
#: first plot as long as ten panels take.
START = 10

#: What a plot costs beside its panels, in panels; chosen: as measured.
FRAME = 2

#: More processes than this are not worth their start; chosen: a report has a few dozen plots.
MOST_PROCESSES = 4

_WORKER = "from sojourn.report.drawing_files import work; work()"


def draw_files(plots: Sequence[PlotSpec], folder: Path, *, pdf: bool = False) -> dict[str, str]:
    """Write `<name>.svg` of each plot; return the SVG texts by name.

    Parameters
    ----------
    plots
        What to draw; names differ.
    folder
        Where to; it exists.
    pdf
        Also write `<name>.pdf`.
    """
    shares = split(plots, _most_processes())
    others = [_start(share, folder, pdf=pdf) for share in shares[1:]]
    try:
        texts = {plot.name: mpl.save(plot, folder, pdf=pdf) for plot in shares[0]}
    except BaseException:
        for process in others:
            process.kill()
            process.wait()
        raise
    for process, share in zip(others, shares[1:], strict=True):
        failed = process.wait() != 0
        for plot in share:
            texts[plot.name] = (
                mpl.save(plot, folder, pdf=pdf)  # here, its error is one of ours
                if failed
                else (folder / f"{plot.name}.svg").read_text(encoding="utf-8")
            )
    return texts


def split(plots: Sequence[PlotSpec], most: int) -> list[list[PlotSpec]]:
    """Share out plots so that all shares are drawn at about the same time, the first without a start.

    Few plots give fewer shares than `most`.
    """
    shares: list[list[PlotSpec]] = [[] for _ in range(most)]
    costs = [0] + [START] * (most - 1)
    for plot in sorted(plots, key=lambda plot: -len(plot.panels)):
        cheapest = costs.index(min(costs))
        shares[cheapest].append(plot)
        costs[cheapest] += len(plot.panels) + FRAME
    return [shares[0], *(share for share in shares[1:] if share)]


def _most_processes() -> int:
    return min(os.cpu_count() or 1, MOST_PROCESSES) if sys.executable else 1


def _start(share: Sequence[PlotSpec], folder: Path, *, pdf: bool) -> subprocess.Popen[bytes]:
    """Start a process that draws a share; a file hands it over, so that nobody waits for it to read."""
    with tempfile.TemporaryFile() as handed:
        pickle.dump((list(share), folder.resolve(), pdf), handed)
        handed.seek(0)
        return subprocess.Popen(
            python_command(_WORKER),
            stdin=handed,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def work() -> None:
    """Draw what the standard input hands over; the whole life of a process of `draw_files`."""
    plots, folder, pdf = pickle.load(sys.stdin.buffer)
    for plot in plots:
        mpl.save(plot, folder, pdf=pdf)
