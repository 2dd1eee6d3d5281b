"""What White 2019 needs beyond its data: goodput of all classic traffic, rates and losses of one entry, two figures over sweeps.

Source: White, Sundaresan and Briscoe 2019, sections 4.1 to 4.6. Deviations: none known.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.answers.asking import Ask
from sojourn.answers.view import LinkSeries, NotRecorded, StudyView
from sojourn.plots.spec import Axis, Dots, Line, Panel, PlotSpec


def classic_goodput(view: StudyView, point: str, direction: str) -> np.ndarray:
    """Goodput of all transfers in one direction by seed, Mb/s.

    Raises `NotRecorded` if the point has none.
    """
    metric = "goodput" if direction == "upstream" else "goodput_downstream"
    names = [f"{'upload' if direction == 'upstream' else 'download'}-{n}" for n in range(1, 6)]
    found = [
        view.values(point, subject, metric) for subject in (*names, "speed-test") if view.has(point, subject, metric)
    ]
    if not found:
        raise NotRecorded(f"point {point} has no transfers {direction}")
    return np.sum(found, axis=0)


def rate(view: StudyView, point: str, subject: str) -> np.ndarray:
    """Goodput of a traffic entry, whichever way its data go, by seed, Mb/s.

    Raises `NotRecorded` if the point has none.
    """
    metrics = ("goodput", "goodput_downstream")
    found = [view.values(point, subject, m) for m in metrics if view.has(point, subject, m)]
    if not found:
        raise NotRecorded(f"point {point} has no {subject}")
    return np.sum(found, axis=0)


def lost(view: StudyView, point: str, subject: str) -> np.ndarray:
    """Packets of a traffic entry that a managed queue dropped, in percent of those sent, by seed.

    Raises `NotRecorded` if the point has no such entry.
    """
    rows = view.table("traffic", point).filter(pl.col("traffic") == subject)
    if rows.is_empty():
        raise NotRecorded(f"point {point} has no {subject}")
    shares = rows.group_by("seed", maintain_order=True).agg(
        share=100 * pl.col("dropped_queue_packets").sum() / pl.col("sent_packets").sum()
    )
    return shares["share"].to_numpy()


def lost_in(view: StudyView, point: str, subject: str, queue: str) -> np.ndarray:
    """Packets of a traffic entry that were dropped from one service queue of the access link upstream, by seed.

    Raises `NotRecorded` if the point recorded no signals.
    """
    rows = view.table("signals", point).filter(
        (pl.col("link") == "upstream")
        & (pl.col("traffic") == subject)
        & (pl.col("queue") == queue)
        & (pl.col("signal") == "drop")
    )
    by_seed: dict[int, int] = dict(rows.group_by("seed").agg(pl.col("packets").sum()).iter_rows())
    return np.array([float(by_seed.get(seed, 0)) for seed in view.seeds(point)])


def redirected(view: StudyView, point: str, subject: str, what: str) -> np.ndarray:
    """Whose packets Queue Protection moved upstream, in percent by seed.

    `share` is that of a traffic entry in all packets that were moved. `seconds` is, of the seconds in which packets came at a
    delay above the threshold, the share of those in which some of the entry were moved.

    Raises `NotRecorded` if the point recorded no series.
    """
    rows = view.table("traffic_series", point).filter(pl.col("link") == "upstream")
    own = pl.when(pl.col("traffic") == subject).then(pl.col("sanctioned_packets")).otherwise(0)
    seconds = rows.group_by("seed", "start_ns").agg(
        late=pl.col("late_packets").sum(), moved=pl.col("sanctioned_packets").sum(), own=own.sum()
    )
    found: list[float] = []
    for seed in view.seeds(point):
        part = seconds.filter(pl.col("seed") == seed)
        if what == "share":
            ours, every = part["own"].sum(), part["moved"].sum()
        else:
            late = part.filter(pl.col("late") > 0)
            ours, every = (late["own"] > 0).sum(), late.height
        found.append(100 * float(ours) / float(every) if every else np.nan)
    return np.array(found)


def _traces(ask: Ask, lines: dict[str, tuple[str, list[tuple[float, str]]]]) -> list[Line | Dots]:
    """Draw P99 over points by name, line by line; points that were not run are left out."""
    marks: list[Line | Dots] = []
    for label, (look, points) in lines.items():
        known = [(x, ask.at("p99", name)) for x, name in points if name in ask.view.points]
        if len(known) > 1:
            x, y = np.array(known).T
            marks += [Line(x, y, look, label), Dots(x, y, look)]
    if not marks:
        raise NotRecorded("needs points of the sweep")
    return marks


def figure_10(ask: Ask) -> PlotSpec:
    """P99 over the guaranteed grant rate."""
    rates = (0.5, 1, 2, 5, 10)

    def course(mix: str, form: str) -> list[tuple[float, str]]:
        named = {0.0: f"table-3/{mix}-lld"}
        named |= {rate: f"grants/{mix}-{form}-{rate:g}" for rate in rates}
        if form == "frame":
            named[5] = f"table-3/{mix}-lld-pgs"
        return list(named.items())

    lines = {
        f"{words}, mix {mix}": (look, course(f"mix-{mix}", form))
        for form, words, looks in (
            ("frame", "each frame", ("blue circle", "blue dashed circle")),
            ("map", "each MAP", ("vermillion square", "vermillion dashed square")),
        )
        for mix, look in zip((1, 6), looks, strict=True)
    }
    panel = Panel(
        x=Axis("guaranteed grant rate", "Mb/s", low=0.0, high=10.0),
        y=Axis("P99 of the round trip", "ms", low=0.0, high=6.0),
        marks=tuple(_traces(ask, lines)),
    )
    title = "Figure 10. What guaranteed grants are worth"
    return PlotSpec(
        "figure-10",
        title,
        (panel,),
        width=150,
        height=90,
        legend="below",
        description="99th percentile of the round trip over the guaranteed grant rate.",
    )


def figure_11(ask: Ask) -> PlotSpec:
    """P99 over the number of games."""
    counts = (2, 5, 10, 20, 50, 100)
    lines = {
        f"mix {mix}": (
            look,
            [(1.0, f"table-3/mix-{mix}-lld")] + [(float(n), f"games/mix-{mix}-games-{n}") for n in counts],
        )
        for mix, look in ((1, "blue circle"), (6, "vermillion dashed square"))
    }
    panel = Panel(
        x=Axis(
            "games at once", scale="log", low=1.0, high=100.0, ticks=tuple((float(n), str(n)) for n in (1, *counts))
        ),
        y=Axis("P99 of the round trip", "ms", low=0.0, high=6.0),
        marks=tuple(_traces(ask, lines)),
    )
    title = "Figure 11. Many games at once, without proactive grants"
    return PlotSpec(
        "figure-11",
        title,
        (panel,),
        width=150,
        height=80,
        legend="below",
        description="99th percentile of the round trip over the number of marked games.",
    )


def first_signal(view: StudyView, point: str) -> np.ndarray:
    """Time from the growth of the upstream queue to its first drop or mark by seed, ms.

    From the last bin with less than a packet on average to the end of the bin with the signal; infinite if none came.

    Raises `NotRecorded` if the point recorded no series.
    """
    rows = view.table("series", point).filter(pl.col("link") == "upstream")
    found: list[float] = []
    for _, part in sorted(rows.partition_by("seed", as_dict=True).items()):
        bins = part.sort("start_ns")
        signals = (bins["dropped_packets"] + bins["marked_packets"]).to_numpy().nonzero()[0]
        if not len(signals):
            found.append(np.inf)
            continue
        first = int(signals[0])
        empty = (bins["backlog_packets_mean"].to_numpy()[:first] < 1).nonzero()[0]
        growing = int(empty[-1]) + 1 if len(empty) else 0
        found.append((first + 1 - growing) * float(bins["width_ns"][0]) / 1e6)
    return np.array(found)


def regained(bins: LinkSeries, step_s: float, rate_mbps: float) -> float:
    """Time from a step of the capacity to the end of the first bin at a rate, s; NaN if it never came."""
    reached = bins.end_s[(bins.start_s >= step_s) & (bins.rate_mbps >= rate_mbps)]
    return float(reached[0]) - step_s if len(reached) else np.nan


def device(view: StudyView, point: str, queue: str, metric: str) -> np.ndarray:
    """Read a number of a latency histogram by seed; a queue that is alone has the name of its link.

    Raises `NotRecorded` if the point has no such queue.
    """
    link, kind = queue.split("/")
    if kind == "classic" and view.has(point, link, metric):
        return view.values(point, link, metric)
    return view.values(point, queue, metric)


def quantiles_outside(view: StudyView, point: str) -> np.ndarray:
    """How many quantiles of a point's latency histograms are outside the bin of the exact one, by seed.

    The exact ones are right to 0.1 %, so they may stand that much beyond an edge.

    Raises `NotRecorded` if the point has no histogram.
    """
    rows = view.table("latency_histogram", point).with_columns(pl.col("to_ns").fill_null(pl.col("longest_ns")))
    found: dict[int, int] = {}
    for (seed, link, queue), bins in rows.partition_by("seed", "link", "queue", as_dict=True).items():
        low, high = (bins[column].to_numpy() / 1e6 for column in ("from_ns", "to_ns"))
        index = view.seeds(point).index(int(seed))
        for name in ("p50", "p95", "p99", "p999"):
            estimate, exact = (
                float(device(view, point, f"{link}/{queue}", f"device_delay_{name}{end}")[index])
                for end in ("", "_exact")
            )
            holding = (low <= exact * 1.001) & (exact * 0.999 <= high)
            inside = holding & (low <= estimate) & (estimate <= high)
            found[int(seed)] = found.get(int(seed), 0) + (not inside.any())
    return np.array([found[seed] for seed in sorted(found)], dtype=float)
