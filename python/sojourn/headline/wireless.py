"""The narrow place of packets that pass a Wi-Fi channel and a line."""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Mapping

WAITS = ("wifi_queue", "wifi_firmware", "wifi_contention", "wifi_retries", "wifi_aggregation", "wifi_reordering")
"""Metrics of a hop that are waiting; its time on the air is none."""

AIRTIME, WAIT = "wifi_airtime", "queue_delay_mean"
"""Metrics of the time that a direction of a station has on the air, and of the wait at a line."""


def narrow_station(metrics: Mapping[tuple[str, str], float]) -> str:
    """Return the station that has most of the air, if packets wait longer in the air than on the line; else empty.

    Stations of one queue wait alike, for the one whose frames take longest.

    Parameters
    ----------
    metrics
        Metrics of a run by subject and name.

    Examples
    --------
    >>> air = {("wifi.home.tv/downstream", "wifi_airtime"): 8.0, ("wifi.home.attic/downstream", "wifi_airtime"): 80.0}
    >>> waits = {("wifi.home.tv/downstream", "wifi_firmware"): 40.0, ("downstream", "queue_delay_mean"): 1.0}
    >>> narrow_station(air | waits)
    'attic'
    >>> narrow_station(air | waits | {("upstream", "queue_delay_mean"): 90.0})
    ''
    """
    hops: dict[str, float] = {}
    air: dict[str, float] = {}
    line = 0.0
    for (subject, metric), value in metrics.items():
        hop, _, _ = subject.rpartition("/")
        if metric in WAITS:
            hops[subject] = hops.get(subject, 0.0) + value
        elif metric == AIRTIME:
            air[hop] = air.get(hop, 0.0) + value
        elif metric == WAIT and subject in ("upstream", "downstream"):
            line = max(line, value)
    if not air or max(hops.values(), default=0.0) <= line:
        return ""
    return max(air, key=lambda hop: air[hop]).rpartition(".")[2]


def narrow_sentence(station: str) -> str:
    """Say which of both is the narrow place."""
    if station:
        return f"The Wi-Fi to the {station} is the narrow place, not the line."
    return "The line is the narrow place, not the Wi-Fi."
