"""What Akhtar 2013 needs beyond its data: videos over 30 s, and what they do beside downloads.

Source: Akhtar and others 2013, slides "Details: Client Buffer/Network Buffer", "Details: HAS Throughput and VQ Levels" and
"PMOS and Underflow - Observation and Explanation".
Deviations: fairness is that of windows of 30 s side by side. Stalls are worked out from the times
at which chunks arrived and the player's rule (4 s before it goes on).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from sojourn.answers.asking import Ask
from sojourn.answers.claims import Outcome
from sojourn.answers.numbers import by_group
from sojourn.answers.view import NotRecorded, StudyView
from sojourn.plots.spec import Axis, Line, Mark, Panel, PlotSpec
from sojourn.stats.benefit import benefit_of
from sojourn.stats.loss_runs import run_lengths

SECOND = 1e9

WINDOW_S = 30.0
""""HAS session Throughput - MA - 30s"."""

CHUNK_S = 2.0
"""Media in a chunk, and in the buffer before a player goes on."""

RESUME_S = 4.0

LOADS = ("low", "medium", "very-high", "high")
"""Loads by their names in points; a longer name before one that it ends with."""

SHOWN = ("taildrop", "red")
"""What the series of a run show: the first that a reader needs to see what tail-drop does."""

NAMES = {"taildrop": "tail-drop", "red": "RED"}
SHOWN_UNTIL_S = 1500.0


@dataclass(frozen=True)
class Session:
    """One video: its chunks, times in s."""

    requested: np.ndarray
    ended: np.ndarray
    bits: np.ndarray
    level_mbps: np.ndarray
    buffer_s: np.ndarray
    """In the buffer with the chunk, when it had arrived."""


def sessions(view: StudyView, point: str) -> dict[int, list[Session]]:
    """Return the videos of each run of a point, by seed; chunks that arrived."""
    rows = view.table("has_chunks", point).drop_nulls("ended_ns").sort("seed", "session", "chunk")
    found: dict[int, list[Session]] = {seed: [] for seed in view.seeds(point)}
    parts = rows.partition_by("seed", "session", as_dict=True, maintain_order=True)
    for (seed, _), part in parts.items():
        found[int(seed)].append(
            Session(
                requested=part["requested_ns"].to_numpy() / SECOND,
                ended=part["ended_ns"].to_numpy() / SECOND,
                bits=part["bytes"].to_numpy() * 8.0,
                level_mbps=part["nominal_mbps"].to_numpy(),
                buffer_s=part["buffer_after_ns"].to_numpy() / SECOND,
            )
        )
    return found


def downloads(view: StudyView, point: str) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Return when the downloads of each run began and ended, by seed, s; what did not end is endless."""
    rows = view.table("pd_sessions", point)
    found: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for seed in view.seeds(point):
        part = rows.filter(pl.col("seed") == seed)
        ended = part["ended_ns"].cast(pl.Float64).fill_null(np.inf).to_numpy() / SECOND
        found[seed] = (part["started_ns"].to_numpy() / SECOND, ended)
    return found


def active(spans: tuple[np.ndarray, np.ndarray], at: np.ndarray) -> np.ndarray:
    """Count the spans that are under way at each of some times.

    Examples
    --------
    >>> active((np.array([0.0, 5.0]), np.array([10.0, np.inf])), np.array([1.0, 6.0, 20.0])).tolist()
    [1, 2, 1]
    """
    began, ended = (np.sort(one) for one in spans)
    return np.searchsorted(began, at, side="right") - np.searchsorted(ended, at, side="right")


def stalls(session: Session) -> list[tuple[float, float]]:
    """Return from when to when the picture stood still, once it had begun.

    Examples
    --------
    >>> ended = np.array([1.0, 2.0, 9.0, 10.0])
    >>> nothing = np.zeros(4)
    >>> stalls(Session(nothing, ended, nothing, nothing, nothing))  # 4 s at 2 s, dry at 6 s, 4 s again at 10 s
    [(6.0, 10.0)]
    """
    found: list[tuple[float, float]] = []
    buffer, since, playing, dry = 0.0, 0.0, False, None
    for arrival in session.ended.tolist():
        if playing:
            buffer -= arrival - since
            if buffer < 0:
                playing, dry, buffer = False, arrival + buffer, 0.0
        buffer, since = buffer + CHUNK_S, arrival
        if not playing and buffer >= RESUME_S:
            playing = True
            if dry is not None:
                found.append((dry, arrival))
    return found


def _jain(shares: np.ndarray) -> np.ndarray:
    """Jain's index of each column."""
    return shares.sum(axis=0) ** 2 / (len(shares) * (shares**2).sum(axis=0))


def windows(videos: list[Session], what: str, length_s: float, step_s: float = WINDOW_S) -> np.ndarray:
    """Return throughput or mean level of each video in each window, Mb/s; NaN without a chunk.

    Windows begin `step_s` apart: side by side, or as those of a moving average.

    Examples
    --------
    >>> ended = np.array([1.0, 31.0])
    >>> video = Session(ended, ended, np.array([30e6, 60e6]), ended, ended)
    >>> windows([video], "throughput", 60.0).tolist(), windows([video], "throughput", 60.0, 15.0).tolist()
    ([[1.0, 2.0]], [[1.0, 2.0, 2.0]])
    """
    edges = np.arange(0.0, length_s + step_s / 2, step_s)
    whole = np.ones(round(WINDOW_S / step_s))
    rows: list[np.ndarray] = []

    def sums(video: Session, weights: np.ndarray | None = None) -> np.ndarray:
        return np.convolve(np.histogram(video.ended, edges, weights=weights)[0], whole, "valid")

    for video in videos:
        chunks = sums(video)
        if what == "throughput":
            rows.append(sums(video, video.bits) / WINDOW_S / 1e6)
            continue
        levels = sums(video, video.level_mbps)
        with np.errstate(invalid="ignore"):
            rows.append(np.where(chunks > 0, levels / np.maximum(chunks, 1), np.nan))
    return np.array(rows)


def fairness(view: StudyView, point: str, what: str) -> np.ndarray:
    """Jain's index of the videos' throughputs or levels, mean over the windows in which all had a chunk or one had."""
    length = view.duration_s(point)
    found: list[float] = []
    for videos in sessions(view, point).values():
        shares = windows(videos, what, length)
        known = np.isfinite(shares).all(axis=0) & (shares.sum(axis=0) > 0)
        found.append(float(_jain(shares[:, known]).mean()) if known.any() else np.nan)
    return np.array(found)


def stalls_beside(view: StudyView, point: str, least: int) -> np.ndarray:
    """Share of stalled time beside at least N downloads, over all runs together: most runs have none."""
    spans = downloads(view, point)
    whole = beside = 0.0
    for seed, videos in sessions(view, point).items():
        for video in videos:
            for start, end in stalls(video):
                at = np.arange(start, end, 0.1)  # chosen: far below a chunk
                whole += len(at)
                beside += float((active(spans[seed], at) >= least).sum())
    return np.array([beside / whole if whole else np.nan])


def benefit(view: StudyView, point: str, what: str) -> np.ndarray:
    """Underflow of the worst video behind tail-drop and behind the queue of a point at the same load: a number of `Benefit`."""
    part, _, name = point.partition("/")
    load = next((one for one in LOADS if name.startswith(f"{one}-")), "")
    twin = f"published/{load}-taildrop"
    if part not in ("published", "modern") or twin not in view.points:
        return np.array([np.nan])
    seeds = view.seeds(twin)
    values = {
        one: dict(zip(view.seeds(one), view.values(one, "video", "underflow_max"), strict=True))
        for one in (twin, point)
    }
    shared = [seed for seed in seeds if seed in values[point]]
    before, after = ([values[one][seed] for seed in shared] for one in (twin, point))
    found = benefit_of(before, after)
    number = getattr(found, what) if found is not None else None
    return np.array([np.nan if number is None else number])


# ---- losses and windows ---------------------------------------------------------------------------------------


def loss_run(view: StudyView, point: str) -> np.ndarray:
    """Mean number of packets of a connection that are lost in a row, by run."""
    rows = view.table("losses", point).filter(pl.col("direction") == "downstream")
    parts = rows.partition_by("seed", as_dict=True)
    lengths = [run_lengths(parts.get((seed,), rows.clear())) for seed in view.seeds(point)]
    return np.array([float(one.mean()) if len(one) else np.nan for one in lengths])


def _by_video(rows: pl.DataFrame, seed: int) -> list[pl.DataFrame]:
    """Return the rows of what each video is sent: each has one connection, and they open in the order of their numbers."""
    own = rows.filter((pl.col("seed") == seed) & (pl.col("traffic") == "video") & (pl.col("direction") == "downstream"))
    return own.sort("connection", "at_ns").partition_by("connection", maintain_order=True)


def first_lost(view: StudyView, point: str, count: int) -> np.ndarray:
    """Percentage of the first `count` packets of a chunk that are lost, by run; one that is lost again counts once."""
    rows = view.table("losses", point)
    found: list[float] = []
    for seed, videos in sessions(view, point).items():
        lost = 0
        for video, losses in zip(videos, _by_video(rows, seed), strict=True):
            most = float(losses["data_bytes"].to_numpy().max())
            segments = np.ceil(video.bits / 8.0 / most)
            starts = np.concatenate([[0.0], np.cumsum(segments)])
            numbers = losses["sequence"].unique().to_numpy()
            place = numbers - starts[np.searchsorted(starts, numbers, side="right") - 1]
            lost += int((place < count).sum())
        found.append(100.0 * lost / (count * sum(len(video.ended) for video in videos)))
    return np.array(found)


def window_at_end(view: StudyView, point: str) -> np.ndarray:
    """Mean window of a video at the end of those of its chunks that a download is beside, in segments, by run."""
    rows = view.table("connection_series", point)
    spans = downloads(view, point)
    found: list[float] = []
    for seed, videos in sessions(view, point).items():
        windows: list[np.ndarray] = []
        for video, samples in zip(videos, _by_video(rows, seed), strict=True):
            at = samples["at_ns"].to_numpy() / SECOND
            before = np.searchsorted(at, video.ended, side="right") - 1
            known = (active(spans[seed], video.ended) > 0) & (before >= 0)
            windows.append(samples["window_segments"].to_numpy()[before[known]])
        found.append(float(np.concatenate(windows).mean()))
    return np.array(found)


def window_share(view: StudyView, point: str) -> np.ndarray:
    """Mean window of downloads over the mean window of videos at the same times, by run."""
    rows = view.table("connection_series", point).filter(pl.col("direction") == "downstream")
    window = pl.col("window_segments")
    per_run = (
        rows.group_by("seed", "at_ns")
        .agg(
            download=window.filter(pl.col("traffic") == "download").mean(),
            video=window.filter(pl.col("traffic") == "video").mean(),
        )
        .drop_nulls()
        .group_by("seed")
        .agg(share=pl.col("download").mean() / pl.col("video").mean())
    )
    shares = dict(per_run.iter_rows())
    return np.array([shares.get(seed, np.nan) for seed in view.seeds(point)])


# ---- claims -------------------------------------------------------------------------------------------------


def beside_downloads(ask: Ask) -> Outcome:
    """Judge A13-29: mean level of the videos by the number of downloads under way."""
    found: dict[str, dict[str, float]] = {}
    for manager in SHOWN:
        point = f"published/medium-{manager}"
        spans = downloads(ask.view, point)
        counts: list[np.ndarray] = []
        levels: list[np.ndarray] = []
        for seed, videos in sessions(ask.view, point).items():
            for video in videos:
                counts.append(np.minimum(active(spans[seed], video.requested), 3))
                levels.append(video.level_mbps)
        count, level = np.concatenate(counts), np.concatenate(levels)
        found[manager] = {
            ("3 or more" if n == 3 else str(n)): float(level[count == n].mean()) for n in range(4) if (count == n).any()
        }
    if any(len(values) < 2 for values in found.values()):
        raise NotRecorded("needs videos beside different numbers of downloads")
    falling = all(values == sorted(values, reverse=True) for values in (list(v.values()) for v in found.values()))
    spread = {name: max(v.values()) - min(v.values()) for name, v in found.items()}
    ours = "; ".join(f"{NAMES[name]} {by_group(v, unit='Mb/s')}" for name, v in found.items())
    return Outcome.of(falling and spread["taildrop"] > spread["red"], ours)


# ---- pictures -----------------------------------------------------------------------------------------------


def _shown(ask: Ask) -> Iterator[tuple[str, list[Session], tuple[np.ndarray, np.ndarray]]]:
    """Yield the first run of tail-drop and RED at the medium load."""
    for manager in SHOWN:
        point = f"published/medium-{manager}"
        seed = ask.view.seeds(point)[0]
        yield manager, sessions(ask.view, point)[seed], downloads(ask.view, point)[seed]


def _until(ask: Ask) -> float:
    return min(SHOWN_UNTIL_S, ask.view.duration_s("published/medium-red"))


def _panel(marks: list[Mark], until: float, quantity: str, unit: str, high: float, title: str) -> Panel:
    return Panel(Axis("time", "s", low=0.0, high=until), Axis(quantity, unit, low=0.0, high=high), tuple(marks), title)


def _buffers(videos: list[Session], until: float, manager: str) -> Panel:
    """Return the panel of the client's buffer of each video."""
    marks: list[Mark] = [
        Line(video.ended, video.buffer_s, f"cycle-{number}", f"video {number + 1}", solid=True)
        for number, video in enumerate(videos)
    ]
    return _panel(marks, until, "client buffer", "s", 31.0, NAMES[manager])


def client_buffer(ask: Ask) -> PlotSpec:
    """Draw the buffers of the videos, and the number of downloads beside them."""
    until = _until(ask)
    upper: list[Panel] = []
    lower: list[Panel] = []
    at = np.arange(0.0, until, 1.0)
    for manager, videos, spans in _shown(ask):
        upper.append(_buffers(videos, until, manager))
        count = active(spans, at).astype(float)
        lower.append(_panel([Line(at, count, "tail", step=True, solid=True)], until, "downloads", "", 5.0, ""))
    return PlotSpec(
        name="client-buffer",
        title="Tail-drop and RED in detail: client buffer",
        panels=(*upper, *lower),
        columns=2,
        height=110.0,
        share_x=True,
        legend="below",
        caption="First run at the medium load. Below: downloads under way, which follow one schedule behind both queues.",
        description="Media in the buffers of three videos over time behind tail-drop and RED, and the number of downloads.",
    )


def network_buffer(ask: Ask) -> PlotSpec:
    """Draw the buffers of the videos, and the queue of the line at the same time."""
    until = min(SHOWN_UNTIL_S, ask.view.duration_s("observed/red"))
    upper: list[Panel] = []
    lower: list[Panel] = []
    for manager in SHOWN:
        point = f"observed/{manager}"
        seed = ask.view.seeds(point)[0]
        upper.append(_buffers(sessions(ask.view, point)[seed], until, manager))
        line = ask.view.series(point, "downstream")[seed]
        waiting: list[Mark] = [Line(line.start_s, line.backlog_packets_mean, "tail", solid=True)]
        lower.append(_panel(waiting, until, "network buffer", "packets", 125.0, ""))
    return PlotSpec(
        name="network-buffer",
        title="Tail-drop and RED in detail: network buffer beside the client's",
        panels=(*upper, *lower),
        columns=2,
        height=110.0,
        share_x=True,
        legend="below",
        caption="First run at the medium load of the points that record their line. Below: packets in the queue, means over 2 s.",
        description="Media in the buffers of three videos and packets in the line's queue over time behind tail-drop and RED.",
    )


def video_series(ask: Ask) -> PlotSpec:
    """Draw throughput and quality level of each video as moving averages of 30 s."""
    until = _until(ask)
    upper: list[Panel] = []
    lower: list[Panel] = []
    for manager, videos, _ in _shown(ask):
        for panels, what, quantity in ((upper, "throughput", "throughput"), (lower, "level", "quality level")):
            shares = windows(videos, what, until, CHUNK_S)
            at = WINDOW_S / 2 + CHUNK_S * np.arange(len(shares[0]), dtype=float)
            marks: list[Mark] = [
                Line(at, row, f"cycle-{number}", f"video {number + 1}", solid=True) for number, row in enumerate(shares)
            ]
            title = NAMES[manager] if what == "throughput" else ""
            panels.append(_panel(marks, until, quantity, "Mb/s", 6.2, title))
    return PlotSpec(
        name="video-series",
        title="Tail-drop and RED in detail: throughput and quality of the videos",
        panels=(*upper, *lower),
        columns=2,
        height=110.0,
        share_x=True,
        legend="below",
        caption="First run at the medium load, moving averages of 30 s.",
        description="Throughput and quality level of three videos over time behind tail-drop and RED.",
    )
