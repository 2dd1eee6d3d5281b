"""Log of the collector: a bounded number of lines, however many requests are refused."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable

MOST_MESSAGES = 10
PERIOD_S = 600.0
LONGEST_MESSAGE = 2000
"""Each part of the program may log this many messages of this length in this many seconds. chosen: the first of a
kind tells what is wrong, and a day of an attack leaves a few megabytes."""


class LimitedHandler(logging.Handler):
    """Writes messages to the standard error, up to a number for each logger and period; then it counts.

    Parameters
    ----------
    clock
        Seconds, from any moment.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._periods: dict[str, tuple[float, int]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write a message, or count it."""
        now = self._clock()
        began, count = self._periods.get(record.name, (now, 0))
        if now - began >= PERIOD_S:
            if count > MOST_MESSAGES:
                self._say(f"{count - MOST_MESSAGES} more messages of {record.name} were left out")
            began, count = now, 0
        self._periods[record.name] = (began, count + 1)
        if count < MOST_MESSAGES:
            self._say(self.format(record))

    def format(self, record: logging.LogRecord) -> str:
        """Return a message with its end, where a traceback says what happened."""
        text = super().format(record)
        if len(text) <= LONGEST_MESSAGE:
            return text
        half = LONGEST_MESSAGE // 2
        return f"{text[:half]}\n[…]\n{text[-half:]}"

    @staticmethod
    def _say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)
