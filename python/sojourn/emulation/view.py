"""The live view: rate, delay, queue, drops and marks of both directions, in words and numbers."""

from __future__ import annotations

import shutil
from typing import IO, TYPE_CHECKING, Any

from sojourn.emulation.sentences import duration

if TYPE_CHECKING:
    from collections.abc import Mapping

EVERY_S = 0.1
"""Time between two pictures: ten a second."""

PLAIN_EVERY_S = 1.0
"""Time between two lines where nothing can be overwritten."""


def lines(view: Mapping[str, Any], before: Mapping[str, Any] | None) -> list[str]:
    """Return an emulation at one moment: two lines for each direction and one for its clock, of 80 columns at most.

    Parameters
    ----------
    view
        The current view.
    before
        An earlier view: rates are taken between the two.
    """
    shown = [line for name in ("downstream", "upstream") for line in _direction(name, view, before)]
    late = max(view[name]["late_p99_ns"] for name in ("downstream", "upstream"))
    clock = (
        f"{view['at_ns'] / 1e9:8.1f} s  late P99 {duration(late)}, lost outside the model {view['hidden_losses']}, stalls "
        f"{view['stalls']}"
    )
    return [*shown, clock]


def _direction(name: str, view: Mapping[str, Any], before: Mapping[str, Any] | None) -> tuple[str, str]:
    now = view[name]
    rate = 0.0
    if before is not None and view["at_ns"] > before["at_ns"]:
        moved = now["delivered_bytes"] - before[name]["delivered_bytes"]
        rate = moved * 8e3 / (view["at_ns"] - before["at_ns"])
    return (
        f"{name:10} {rate:8.2f} of {now['rate_mbps']:g} Mb/s  delay {duration(now['delay_ns']):>7} "
        f"(P50 {duration(now['delay_p50_ns'])}, P99 {duration(now['delay_p99_ns'])})",
        f"{'':10} queue {now['backlog_packets']} packets, {now['backlog_bytes'] / 1e3:.0f} kB  "
        f"dropped {now['dropped']}  marked {now['marked']}",
    )


class View:
    """Draws on a stream: again and again in its place on a terminal, line by line elsewhere."""

    def __init__(self, stream: IO[str], *, is_drawn: bool) -> None:
        self._stream = stream
        self._is_drawn = is_drawn
        self._height = 0
        self._past: list[Mapping[str, Any]] = []
        self._said_ns = 0

    def show(self, view: Mapping[str, Any]) -> None:
        """Show the current view."""
        # Rates over the last second: over 0.1 s, a packet of full size is a tenth of 1 Mb/s.
        self._past = [old for old in self._past if old["at_ns"] > view["at_ns"] - 1.05e9]
        before = self._past[0] if self._past else None
        self._past.append(view)
        if self._is_drawn:
            self._draw(lines(view, before))
        elif view["at_ns"] - self._said_ns >= PLAIN_EVERY_S * 1e9:
            self._said_ns = view["at_ns"]
            for line in lines(view, before):
                self._stream.write(f"{line}\n")
            self._stream.flush()

    def _draw(self, shown: list[str]) -> None:
        # A line that wraps would take two, and the next picture would begin too low.
        width = shutil.get_terminal_size().columns
        up = f"\x1b[{self._height}A" if self._height else ""
        self._stream.write(up + "".join(f"\r{line[:width]}\x1b[K\n" for line in shown))
        self._stream.flush()
        self._height = len(shown)
