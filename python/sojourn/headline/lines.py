"""Which lines of a run matter most: what people would ask of each traffic entry and link first."""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Row = tuple[str, str, float, str]

LINES = 10  # chosen: what one takes in at a glance

LINKS = ("upstream", "downstream")

BESIDE_THE_WORSE = 0.1
"""Share of the worse direction's value from which the other direction is named, too. chosen: of a round trip that waits
220 ms upstream and 20 ms downstream, one would name both."""

_DIRECTED = {
    "delay_p50": ("delay_up_p50", "delay_down_p50"),
    "delay_p99": ("delay_up_p99", "delay_down_p99"),
    "loss_total": ("loss_total_up", "loss_total_down"),
    "frames_late": ("frames_late", "frames_late_downstream"),
    "frame_delay_p99": ("frame_delay_p99", "frame_delay_p99_downstream"),
}
"""Measures that are worse in one direction, and their names upstream and downstream.

The first three have a name without direction. Delays of that name are those of the busier direction, which for a game
is seldom the one that lags; shares are of the packets of both, where one direction hides half of the other's. So a
headline says them by direction.
"""

_NAMED = frozenset(
    """
    mos predicted_mos_min underflow_max sustained_share frames_late page_load_time_median transfer_time_median goodput
    goodput_downstream loss_total delay_p99 queue_delay_p99
    """.split()  # noqa: SIM905 - a long list reads better so
)
"""Measures that a sentence may name. chosen: what a subscriber feels, then the queue."""

# Answers in this order; chosen: effects that people feel before their causes. Of `_DIRECTED`, the worse
# direction is meant, and the other right after it.
_CALL = ("mos", "loss_total", "delay_p99", "delay_p50")
_FRAMES = ("frames_late", "frame_delay_p99", "delay_p99", "loss_total")
_PAGES = ("page_load_time_median", "page_load_time_p95", "pages_unfinished", "delay_p99")
_VIDEO = ("predicted_mos_min", "underflow_max", "video_rate_mean", "switches_per_minute")
_LIVE = ("live_latency", "underflow_max", "video_rate_mean", "skips")
_DOWNLOADS = ("sustained_share", "transfer_time_median", "delay_p50", "retransmissions")
_STREAM = ("delay_round_trip_p99", "delay_p99", "loss_total", "delay_p50", "goodput")
_PACED = ("delay_round_trip_p99", "delay_p99", "lost", "delay_p50", "goodput")
_PROBE = ("rpm", "rtt_loaded_mean", "rtt_idle", "lost")
_LOAD = ("goodput_loaded", "retransmissions", "delay_p50")
_TRANSFER = ("goodput", "delay_p50", "transfer_time_median", "retransmissions")
_LINK = ("queue_delay_p99", "utilisation", "dropped_packets", "marked_packets", "queue_delay_mean")


def headline_rows(rows: Iterable[Row], lines: int = LINES) -> list[Row]:
    """Return the rows that matter most, grouped by subject.

    Each subject gives its most telling row first, then its second, until there are enough. Of goodput,
    the direction in which the data flow counts; of delays and losses the worse one, and the other if it matters.

    Examples
    --------
    >>> rows = [
    ...     ("game", "late", 46.0, "%"),
    ...     ("game", "delay_p99", 0.2, "ms"),
    ...     ("game", "delay_up_p99", 249.0, "ms"),
    ...     ("game", "delay_down_p99", 0.2, "ms"),
    ...     ("upload", "goodput", 4.8, "Mb/s"),
    ... ]
    >>> headline_rows(rows, lines=2)
    [('game', 'delay_up_p99', 249.0, 'ms'), ('upload', 'goodput', 4.8, 'Mb/s')]
    """
    subjects: dict[str, dict[str, Row]] = {}
    for row in rows:
        subjects.setdefault(row[0], {})[row[1]] = row
    ranked: list[tuple[int, int, Row]] = []
    for place, (subject, found) in enumerate(subjects.items()):
        wanted = _questions(subject, found)
        answers = [row for metric in wanted for row in _resolved(metric, found)]
        # A load has many streams; its probe stands first.
        first = -1 if "rtt_mean" in found else 0
        ranked += [(turn, place, row) for turn, row in enumerate(answers, start=first)]
    chosen = sorted(ranked, key=lambda item: item[:2])[:lines]
    return [row for _, _, row in sorted(chosen, key=lambda item: (item[1], item[0]))]


def may_be_named(largest: Mapping[tuple[str, str], float]) -> set[tuple[str, str]]:
    """Return the measures that a sentence may name, with the direction that it is about.

    Parameters
    ----------
    largest
        By subject and metric, the largest value of all that are compared.

    Examples
    --------
    >>> told = {"delay_p99": 0.2, "delay_up_p99": 249.0, "delay_down_p99": 0.2, "sent": 9.0}
    >>> may_be_named({("game", metric): value for metric, value in told.items()})
    {('game', 'delay_up_p99')}
    """
    by_subject: dict[str, dict[str, float]] = {}
    for (subject, metric), value in largest.items():
        by_subject.setdefault(subject, {})[metric] = value
    return {
        (subject, name)
        for subject, values in by_subject.items()
        for metric in _NAMED
        for name in _directions(metric, values)
    }


def _questions(subject: str, found: dict[str, Row]) -> Sequence[str]:
    if "mos" in found:
        return _CALL
    if "frames" in found or "frames_downstream" in found:
        return _FRAMES
    if "sustained_share" in found:
        return _DOWNLOADS
    if "live_latency" in found:
        return _LIVE
    if "underflow" in found:
        return _VIDEO
    if "pages_completed" in found:
        return _PAGES
    if "rtt_mean" in found:
        return _PROBE
    if "goodput_loaded" in found:
        return _LOAD
    if "late" in found:
        return _STREAM
    if "lost" in found:
        return _PACED
    if subject in LINKS and "dropped_packets" in found:
        return _LINK
    return _TRANSFER


def _directions(metric: str, values: Mapping[str, float]) -> list[str]:
    """Return a measure by its names with a direction, the worse one first; the other if it is felt, too."""
    known = [name for name in _DIRECTED.get(metric, ()) if name in values]
    if not known:
        return [metric] if metric in values else []
    known.sort(key=values.__getitem__, reverse=True)
    if metric == "delay_p50":  # of a transfer, the direction of its acknowledgements is of no interest
        return known[:1]
    worse = values[known[0]]
    return [name for name in known if name == known[0] or values[name] > BESIDE_THE_WORSE * worse]


def _resolved(metric: str, found: dict[str, Row]) -> list[Row]:
    """Return the rows of a metric: of goodput, that in the direction of the data."""
    other = found.get(f"{metric}_downstream") if metric == "goodput" else None
    if other is not None and metric in found and other[2] > found[metric][2]:
        return [other]
    values = {name: row[2] for name, row in found.items()}
    return [found[name] for name in _directions(metric, values)]
