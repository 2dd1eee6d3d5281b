"""What metrics are called in headings and tables, and names that are made from a template."""

import re
from collections.abc import Mapping

__all__ = ["fill", "placeholders", "words_of"]

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def fill(template: str, words: Mapping[str, str]) -> str:
    """Return a template with words for `{name}`; nothing else has a meaning, and unknown names stay.

    Templates are whoever wrote the study's, who shall not reach attributes or widths by them.

    Examples
    --------
    >>> fill("{queue}, {load:>99} {queue.__class__}", {"queue": "codel", "load": "x"})
    'codel, {load:>99} {queue.__class__}'
    """

    def word(found: re.Match[str]) -> str:
        try:
            return words[found[1]]
        except KeyError:
            return found[0]

    return _PLACEHOLDER.sub(word, template)


def placeholders(template: str) -> list[str]:
    """Return what a template names.

    Examples
    --------
    >>> placeholders("{queue}-{load}")
    ['queue', 'load']
    """
    return _PLACEHOLDER.findall(template)


_WORDS = {
    "mos": "score of the call (MOS)",
    "mos_min": "least score of a call (MOS)",
    "mos_loss_only": "score of the call without delay (MOS)",
    "rating": "rating of the call (R)",
    "lost": "packets lost",
    "late": "packets late",
    "loss_total": "packets lost or late",
    "lost_up": "packets lost upstream",
    "late_up": "packets late upstream",
    "loss_total_up": "packets lost or late upstream",
    "lost_down": "packets lost downstream",
    "late_down": "packets late downstream",
    "loss_total_down": "packets lost or late downstream",
    "frames": "frames upstream",
    "frames_late": "frames late upstream",
    "frames_lost": "frames lost upstream",
    "frames_downstream": "frames downstream",
    "frames_late_downstream": "frames late downstream",
    "frames_lost_downstream": "frames lost downstream",
    "sent": "datagrams sent",
    "delay_in_time_mean": "mean delay of packets in time",
    "delay_share_under_5ms": "packets with a delay under 5 ms",
    "delay_share_under_20ms": "packets with a delay under 20 ms",
    "goodput": "goodput upstream",
    "goodput_loaded": "goodput under load",
    "rtt_mean": "mean round trip",
    "rtt_idle": "round trip without load",
    "rtt_loaded_mean": "mean round trip under load",
    "rtt_loaded_p95": "95 % of round trips under load",
    "rtt_induced": "round trip that the load adds",
    "rtt_ratio": "round trip under load over without",
    "rpm": "round trips per minute",
    "rpm_foreign": "round trips per minute, new connections",
    "rpm_loaded": "round trips per minute, kept connection",
    "goodput_downstream": "goodput downstream",
    "forwarded_volume_downstream": "forwarded volume downstream",
    "page_load_time_mad": "median deviation of page load time",
    "page_load_time_median_censored": "median page load time, unfinished pages counted",
    "utilisation": "utilisation",
    "predicted_mos": "predicted score of videos (P-MOS)",
    "predicted_mos_min": "predicted score of the worst video (P-MOS)",
    "underflow": "time in which videos stand still",
    "underflow_max": "time in which the worst video stands still",
    "sustained_share": "downloaded videos that never wait",
    "stalls": "how often videos stand still",
    "startup_time": "time to the first picture",
    "video_rate_mean": "mean rate of videos",
    "video_rate_sd": "deviation of the rate of videos",
    "video_rate_fairness": "fairness of the rates of videos",
    "switches_per_minute": "changes of quality in a minute of video",
    "low_buffer": "time with less than 10 s of video in the buffer",
    "live_latency": "how far live video is behind",
    "live_latency_p95": "how far live video is behind, 95 %",
    "played_fast": "live video played faster to catch up",
    "played_slow": "live video played slower to last",
    "skips": "how often live video leaves something out",
    "skipped_media": "live video left out",
    "connect_retries": "connection attempts repeated",
}
_FIRST = {
    "delay": "delay (busier direction)",
    "delay_up": "delay upstream",
    "delay_down": "delay downstream",
    "frame_delay": "frame delay upstream",
    "queue_delay": "queuing delay",
    "sojourn": "queuing delay",
    "page_load_time": "page load time",
    "transfer_time": "transfer time",
    "backlog": "backlog",
}
_LAST = {
    "mean": "mean {}",
    "median": "median {}",
    "min": "shortest {}",
    "max": "longest {}",
    "p01": "1st percentile of {}",
    "p50": "median {}",
    "p90": "90th percentile of {}",
    "p95": "95th percentile of {}",
    "p99": "99th percentile of {}",
    "p999": "99.9th percentile of {}",
}


def words_of(metric: str) -> str:
    """Return how a metric is called in a heading.

    Examples
    --------
    >>> words_of("queue_delay_p99"), words_of("mos"), words_of("pages_completed")
    ('99th percentile of queuing delay', 'score of the call (MOS)', 'pages completed')
    """
    if metric in _WORDS:
        return _WORDS[metric]
    if metric.startswith("frame_delay") and metric.endswith("_downstream"):
        return words_of(metric.removesuffix("_downstream")).replace("upstream", "downstream")
    first, _, last = metric.rpartition("_")
    if first in _FIRST and last in _LAST:
        return _LAST[last].format(_FIRST[first])
    return metric.replace("_", " ")
