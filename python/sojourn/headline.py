"""Which lines of a run matter most: what people would ask of each traffic entry and link first."""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Row = tuple[str, str, float, str]

__all__ = ["headline_rows"]

LINES = 10  # chosen: what one takes in at a glance

LINKS = ("upstream", "downstream")

# What a person would ask, in this order; chosen: what they feel before what causes it.
_CALL = ("mos", "loss_total", "delay_p99", "delay_p50")
_PAGES = ("page_load_time_median", "page_load_time_p95", "pages_unfinished", "delay_p99")
_VIDEO = ("predicted_mos_min", "underflow_max", "video_rate_mean", "switches_per_minute")
_LIVE = ("live_latency", "underflow_max", "video_rate_mean", "skips")
_DOWNLOADS = ("sustained_share", "transfer_time_median", "delay_p50", "retransmissions")
_STREAM = ("delay_p99", "lost", "delay_p50", "goodput")  # late is a word of calls
_PROBE = ("rpm", "rtt_loaded_mean", "rtt_idle", "lost")
_LOAD = ("goodput_loaded", "retransmissions", "delay_p50")
_TRANSFER = ("goodput", "delay_p50", "transfer_time_median", "retransmissions")
_LINK = ("queue_delay_p99", "utilisation", "dropped_packets", "marked_packets", "queue_delay_mean")


def headline_rows(rows: Iterable[Row], lines: int = LINES) -> list[Row]:
    """Return the rows that matter most, grouped by subject.

    Each subject gives its most telling row first, then its second, until there are enough. Of goodput,
    the direction in which the data flow counts.

    Examples
    --------
    >>> rows = [
    ...     ("call", "sent", 3000.0, ""),
    ...     ("call", "mos", 4.1, ""),
    ...     ("upload", "goodput", 4.8, "Mb/s"),
    ... ]
    >>> headline_rows(rows, lines=2)
    [('call', 'mos', 4.1, ''), ('upload', 'goodput', 4.8, 'Mb/s')]
    """
    subjects: dict[str, dict[str, Row]] = {}
    for row in rows:
        subjects.setdefault(row[0], {})[row[1]] = row
    ranked: list[tuple[int, int, Row]] = []
    for place, (subject, found) in enumerate(subjects.items()):
        wanted = [_resolved(metric, found) for metric in _questions(subject, found)]
        answers = [row for row in wanted if row is not None]
        # A load has many streams; what a probe feels beside them is what it is for.
        first = -1 if "rtt_mean" in found else 0
        ranked += [(turn, place, row) for turn, row in enumerate(answers, start=first)]
    chosen = sorted(ranked, key=lambda item: item[:2])[:lines]
    return [row for _, _, row in sorted(chosen, key=lambda item: (item[1], item[0]))]


def _questions(subject: str, found: dict[str, Row]) -> Sequence[str]:
    if "mos" in found:
        return _CALL
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
    if subject in LINKS and "dropped_packets" in found:
        return _LINK
    return _TRANSFER


def _resolved(metric: str, found: dict[str, Row]) -> Row | None:
    """Return the row of a metric, goodput in the direction of the data."""
    other = found.get(f"{metric}_downstream")
    own = found.get(metric)
    if other is not None and own is not None and other[2] > own[2]:
        return other
    return own
