"""Series of one upload that look as White 2013 describes them (sections 2.1, 4.1.1 and 4.4)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

BURST, SUSTAINED = 10e6, 5e6 / 8
"""Token bucket: burst in bytes, sustained rate in bytes per second."""


@dataclass(frozen=True)
class Shape:
    """Bins of the upstream link."""

    width_s: float
    rate: np.ndarray
    """Mb/s."""
    delay: np.ndarray
    """ms."""
    backlog: np.ndarray
    """Packets."""
    dropped: np.ndarray
    """Packets."""

    @property
    def seconds(self) -> float:
        """Length of the run."""
        return len(self.rate) * self.width_s

    def frame(self, point: str) -> pl.DataFrame:
        """Return the rows of a series table, without the seed."""
        count = len(self.rate)
        data = self.rate * 1e6 / 8 * self.width_s
        return pl.DataFrame(
            {
                "point": [point] * count,
                "link": ["upstream"] * count,
                "start_ns": np.round(np.arange(count) * self.width_s * 1e9).astype(np.int64),
                "width_ns": [round(self.width_s * 1e9)] * count,
                "forwarded_bytes": np.round(data).astype(np.int64),
                "forwarded_packets": np.round(data / 1500).astype(np.int64),
                "dropped_packets": self.dropped.astype(np.int64),
                "sojourn_mean_ns": self.delay * 1e6,
                "sojourn_max_ns": np.round(self.delay * 1e6).astype(np.int64),
                "backlog_packets_mean": self.backlog,
                "backlog_packets_max": np.ceil(self.backlog).astype(np.int64),
                "staged_packets_mean": np.zeros(count),
            }
        )


def shaped(wanted: np.ndarray, width_s: float) -> np.ndarray:
    """Limit rates in Mb/s to what the token bucket has."""
    level, sent = BURST, np.empty(len(wanted))
    for number, rate in enumerate(wanted.tolist()):
        most = (level + SUSTAINED * width_s) * 8e-6 / width_s
        sent[number] = min(rate, most)
        level = min(BURST, level + SUSTAINED * width_s - sent[number] * 1e6 / 8 * width_s)
    return sent


def upload(course: Callable[[np.ndarray], np.ndarray]) -> Shape:
    """Return a minute of one upload that wants so many Mb/s at each time in s."""
    time = (np.arange(600) + 0.5) * 0.1
    rate = shaped(course(time), 0.1)
    plain = np.zeros(600)
    return Shape(0.1, rate, plain + 5.0, plain, plain)


def _points(*pairs: tuple[float, float]) -> Callable[[np.ndarray], np.ndarray]:
    times, rates = zip(*pairs, strict=True)
    return lambda time: np.interp(time, times, rates)


def _bufferbloat() -> Shape:
    return upload(_points((0, 0), (0.5, 20), (60, 20)))


def _buffer_control(peak: float = 20.0, seconds: float = 11.3) -> Shape:
    return upload(_points((0, 0), (1, 5), (seconds, peak), (60, peak)))


def _codel(scale: float = 1.0) -> Shape:
    burst = _points((0, 0), (0.6, 20), (2, 20), (2.5, 12), (4.5, 20), (60, 20))

    def course(time: np.ndarray) -> np.ndarray:
        # The bucket is empty at 6.5 s; then 4 and 6 Mb/s take turns.
        wave = np.where(np.round(time * 10 - 0.5) % 2 == 0, 4.0, 6.0)
        return scale * np.where(time < 7, burst(time), wave)

    return upload(course)


def _pie() -> Shape:
    burst = _points((0, 0), (0.6, 20), (1.5, 20), (2, 1), (8, 12), (8.1, 8), (60, 8))

    def course(time: np.ndarray) -> np.ndarray:
        wave = np.where(np.floor(time) % 2 == 0, 2.0, 8.0)
        return np.where(time < 40, burst(time), wave)

    return upload(course)


def steps(settled_ms: float = 14.0, peak_ms: float = 140.0, fade_s: float = 0.8) -> Shape:
    """Return three cycles of moderate congestion, with a delay that rises after each fall of capacity."""
    time = np.arange(3600) * 0.1
    delay = np.full(len(time), settled_ms)
    for fall in (10, 20, 50, 70, 90, 110):
        since = time % 120 - fall
        after = (since >= -1e-9) & (since < 10 - 1e-9)
        delay[after] += (peak_ms - settled_ms) * np.exp(-since[after] / fade_s)
    plain = np.zeros(len(time))
    return Shape(0.1, plain + 5.0, delay, plain, plain)


def losses(after_s: float) -> Shape:
    """Return a minute behind a full second of buffer; the backlog falls so long after each loss."""
    width = 0.05
    time = np.arange(1200) * width
    plain = np.zeros(len(time))
    backlog, dropped = plain + 415.0, plain.copy()
    for loss in (20.0, 35.0, 50.0):
        dropped[round(loss / width)] = 3
        fallen = (time >= loss + after_s - 1e-9) & (time < loss + after_s + 3)
        backlog[fallen] = 350.0
    rate = shaped(plain + 20.0, width)
    return Shape(width, rate, plain + 1000.0, backlog, dropped)


SHAPES: dict[str, Callable[[], Shape]] = {
    "reno-bufferbloat": _bufferbloat,
    "reno-buffer-control": _buffer_control,
    "reno-buffer-control-peak-7": lambda: _buffer_control(7.5, 3.0),
    "reno-buffer-control-peak-10": lambda: _buffer_control(10.0, 6.0),
    "reno-codel": _codel,
    "reno-sfq-codel": lambda: _codel(0.99),
    "reno-pie": _pie,
    "steps-codel": steps,
    "steps-sfq-codel": steps,
    "steps-pie": steps,
    "losses-at-the-tail": lambda: losses(1.1),
    "losses-at-the-head": lambda: losses(0.1),
}
"""How each series is made."""
