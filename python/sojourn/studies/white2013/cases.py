"""The conditions of White 2013: households, congestion of the channel, queue managers, and their runs.

Source: White 2013, sections 3.2, 3.3 and 3.7, Table 2.
Deviations: none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sojourn.studies.distribution import Distribution, mixture, pooled
from sojourn.studies.estimate import Estimate, mean_of
from sojourn.studies.view import NotRecorded, StudyView

#: Congestion of the channel by other modems (section 3.3).
RF_LEVELS = ("none", "light", "moderate")
RF_TITLES = {
    "none": "no RF congestion",
    "light": "light RF congestion",
    "moderate": "moderate RF congestion",
}

#: The five managers of section 3.2, in the document's order.
BUFFERBLOAT = "bufferbloat"
BUFFER_CONTROL = "buffer-control"
CODEL = "codel"
SFQ_CODEL = "sfq-codel"
PIE = "pie"
MANAGERS = (BUFFERBLOAT, BUFFER_CONTROL, CODEL, SFQ_CODEL, PIE)
DROP_TAIL = (BUFFERBLOAT, BUFFER_CONTROL)
AQM = (CODEL, SFQ_CODEL, PIE)

#: Flow queueing that the document asks for and does not show (sections 5 and 5.1).
SFQ = "sfq"
SFQ_PIE = "sfq-pie"

#: How each manager is called in words.
MANAGER_TITLES = {
    BUFFERBLOAT: "BufferBloat: drop-tail, 625,000 B (1 s)",
    BUFFER_CONTROL: "Buffer Control: drop-tail, 31,250 B (50 ms)",
    CODEL: "CoDel, 10/150 ms",
    SFQ_CODEL: "SFQ-CoDel, 32 sub-flows, 10/150 ms",
    PIE: "PIE, 5 ms",
    SFQ: "SFQ, 32 sub-flows",
    SFQ_PIE: "SFQ-PIE, 32 sub-flows, 5 ms",
}

#: The same, for legends and narrow places.
MANAGER_LABELS = {
    BUFFERBLOAT: "BufferBloat",
    BUFFER_CONTROL: "Buffer Control",
    CODEL: "CoDel",
    SFQ_CODEL: "SFQ-CoDel",
    PIE: "PIE",
    SFQ: "SFQ",
    SFQ_PIE: "SFQ-PIE",
}


@dataclass(frozen=True)
class Load:
    """A household of Table 2."""

    group: str
    streams: int
    """Games, each also read as a call."""
    browsers: int
    uploads: int = 0
    rtt_ms: int | None = None
    kind: str = ""
    constant_rate: bool = False

    @property
    def uploads_in_words(self) -> str:
        """Number, kind and round trip of the uploads."""
        return f"{self.uploads} {self.kind}, {self.rtt_ms} ms" if self.uploads else "no upload"

    @property
    def description(self) -> str:
        """What is sent beside games and pages, in words."""
        return self.uploads_in_words + (" + 1 Mb/s UDP" if self.constant_rate else "")


#: Table 2.
LOADS = {
    "x01": Load("light", 1, 1),
    "x02": Load("light", 1, 1, 1, 20, "upload"),
    "x03": Load("light", 1, 1, 1, 100, "upload"),
    "x04": Load("moderate", 1, 1, 5, 20, "x 5 MB"),
    "x05": Load("moderate", 1, 1, 5, 100, "x 5 MB"),
    "x06": Load("moderate", 1, 1, 5, 20, "x 5 MB", constant_rate=True),
    "x07": Load("moderate", 1, 1, 5, 100, "x 5 MB", constant_rate=True),
    "x08": Load("light", 1, 1, 1, 20, "bursty upload"),
    "x09": Load("light", 1, 1, 1, 100, "bursty upload"),
    "x10": Load("light", 4, 4, 1, 20, "upload"),
    "x11": Load("light", 4, 4, 1, 100, "upload"),
    "x12": Load("heavy", 4, 4, 5, 20, "x 5 MB"),
    "x13": Load("heavy", 4, 4, 5, 100, "x 5 MB"),
    "x14": Load("heavy", 4, 4, 10, 20, "x 256 kB"),
    "x15": Load("heavy", 4, 4, 10, 100, "x 256 kB"),
    "x16": Load("heavy", 4, 1, 32, 20, "BitTorrent uploads"),
    "x17": Load("heavy", 4, 1, 32, 100, "BitTorrent uploads"),
}

#: Households with an upload.
LOADED = tuple(name for name, load in LOADS.items() if load.uploads)

#: Households that send BitTorrent.
BITTORRENT = ("x16", "x17")

#: Groups of traffic load (section 3.7).
GROUPS = ("light", "moderate", "heavy")
GROUP_LOADS = {
    group: tuple(name for name, load in LOADS.items() if load.group == group) for group in GROUPS
}

#: Length of the document's runs (section 4).
RUN_S = 7200.0

#: Latency that a game can bear in the modem (section 4.1.3).
GAME_LIMIT_MS = 20.0


def point_of(load: str, rf: str, manager: str) -> str:
    """Return the point of the study that a condition is.

    Examples
    --------
    >>> point_of("x06", "light", SFQ_CODEL)
    'x06-light-sfq-codel'
    """
    return f"{load}-{rf}-{manager}"


def game(view: StudyView, load: str, rf: str, manager: str, metric: str) -> np.ndarray:
    """Return a metric of the game streams, one value per seed."""
    return view.values(point_of(load, rf, manager), "game", metric)


def page(view: StudyView, load: str, rf: str, manager: str, metric: str) -> np.ndarray:
    """Return a metric of the web pages, one value per seed."""
    return view.values(point_of(load, rf, manager), "page", metric)


def upload(view: StudyView, load: str, rf: str, manager: str, metric: str) -> np.ndarray:
    """Return a metric of the uploads, one value per seed."""
    return view.values(point_of(load, rf, manager), "upload", metric)


def upload_rate(view: StudyView, load: str, rf: str, manager: str) -> np.ndarray:
    """Return what the link forwarded of the uploads in Mb/s, wire bytes, one value per seed."""
    point = point_of(load, rf, manager)
    kilobytes = view.values(point, "upload", "forwarded_volume")
    return kilobytes * 8e-3 / view.duration_s(point)


def game_delays(view: StudyView, load: str, rf: str, manager: str) -> dict[int, Distribution]:
    """Return the distribution of the game's access delay in ms, by seed."""
    return view.delays(point_of(load, rf, manager), "game")


def load_times(view: StudyView, load: str, rf: str, manager: str) -> dict[int, Distribution]:
    """Return the distribution of page load times in s, by seed; pages under way at the end are out."""
    return view.load_times(point_of(load, rf, manager), "page")


#: One of `game_delays` and `load_times`.
Samples = Callable[[StudyView, str, str, str], dict[int, Distribution]]

#: A cell of the document's grids: level of congestion, group of loads.
Cell = tuple[str, str]

#: All nine cells, row by row.
CELLS: tuple[Cell, ...] = tuple((rf, group) for rf in RF_LEVELS for group in GROUPS)


def cells(*, rf: Iterable[str] = RF_LEVELS, groups: Iterable[str] = GROUPS) -> Iterator[Cell]:
    """Choose cells by rows and columns."""
    chosen = tuple(groups)
    return ((level, group) for level in rf for group in chosen)


def cell(
    view: StudyView, samples: Samples, manager: str, rf: str, group: str
) -> dict[int, Distribution]:
    """Pool the households of a cell, by seed: each packet or page weighs the same.

    Raises
    ------
    NotRecorded
        If a condition of the cell was not run.
    """
    parts = [samples(view, load, rf, manager) for load in GROUP_LOADS[group]]
    return {
        seed: pooled(part[seed] for part in parts if seed in part) for seed in _seeds(parts, rf)
    }


def summary(
    view: StudyView, samples: Samples, manager: str, chosen: Iterable[Cell] = CELLS
) -> dict[int, Distribution]:
    """Mix cells, by seed: each cell weighs the same (section 4.1.1)."""
    wanted = tuple(chosen)
    parts = [cell(view, samples, manager, rf, group) for rf, group in wanted]
    return {
        seed: mixture(part[seed] for part in parts if seed in part)
        for seed in _seeds(parts, wanted[0][0])
    }


def _seeds(parts: list[dict[int, Distribution]], where: str) -> list[int]:
    seeds = sorted({seed for part in parts for seed in part})
    if not seeds:
        message = f"no samples under {where} RF congestion"
        raise NotRecorded(message)
    return seeds


def over_seeds(
    distributions: dict[int, Distribution], number: Callable[[Distribution], float]
) -> Estimate:
    """Take a number from the distribution of each seed: mean and interval over seeds.

    Examples
    --------
    >>> one = {1: Distribution.of(np.array([1.0, 2.0, 9.0]))}
    >>> over_seeds(one, lambda delays: delays.quantile(0.5)).value
    2.0
    """
    return mean_of([number(one) for one in distributions.values()])


def all_seeds(distributions: dict[int, Distribution]) -> Distribution:
    """Mix the seeds: each run weighs the same."""
    return mixture(distributions.values())
