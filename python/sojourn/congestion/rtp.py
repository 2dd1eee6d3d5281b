"""Real-time media: the test cases of RFC 8867, for controllers that set the rate of a source.

The source is `adaptive-video`: 150 kb/s to 1.5 Mb/s, 30 frames a second, led by SCReAM.

Source: RFC 8867 sections 4 and 5; RFC 8868 section 5.1 for short TCP flows. It says in words what is expected, so nothing fails.
Deviations: the line itself changes its rate, where the document has datagrams beside the media; jitter of the path is left out;
both ways of 5.3 are one call, with sound of some 40 kb/s; pauses between short files are all of 10 s.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sojourn.base.toml_text import parse_toml, toml_value
from sojourn.congestion.general.alone import jain
from sojourn.congestion.general.common import OTHERS, lettered
from sojourn.congestion.scenario import Cell, Number, Run, Stacks, flow

MEDIA = {
    "scream": '{ kind = "adaptive-video", session = "camera", least_rate = "150 kb/s", most_rate = "1.5 Mb/s", '
    'ramp_up = "200 kb/s", frames_per_second = 30, deadline = "400 ms" }'
}
"""Controllers of media, each as the application that it leads. deadline chosen: the path, a full queue, and two frames."""

MOST_MBPS = 1.5

BASE = Cell("R", "RFC 8867", "", "", lambda _: "", (), rtt_ms=100.0, from_s=0.0, series_ms=100.0)


def _media(name: str, stacks: Stacks, rtt_ms: float = 100.0, **changed: str) -> str:
    # One frame of jitter: sources are not in step, and seeds differ.
    app = {**parse_toml(f"app = {stacks.own}")["app"], "start_jitter": "33 ms", **changed}
    return f'\n[[traffic]]\nname = "{name}"\napp = {toml_value(app)}\nrtt = "{rtt_ms:g} ms"\n'


def _queue(rate_mbps: float, ms: float = 300.0) -> str:
    """Return a buffer of `ms` at the rate (RFC 8867 section 4.2: tail drop of 300 ms)."""
    return f'{{ kind = "drop-tail", limit = "{rate_mbps * 1e3 * ms / 8:.0f} B" }}'


def _steps(*steps: tuple[float, float]) -> str:
    """Return rates from times on."""
    return ", ".join(f'{{ at = "{at:g} s", rate = "{rate * 1e3:g} kb/s" }}' for at, rate in steps)


def _cell(number: int, what: str, **fields: Any) -> Cell:  # noqa: ANN401 - fields of a cell
    section = f"RFC 8867 5.{number}"
    return replace(BASE, item=f"R{number}", section=section, what=what, **fields)


def _percentiles(entry: str) -> tuple[Number, ...]:
    return (
        Number("delay", "packet delay, 95 %", "ms", lambda run: run.metric(entry, "delay_up_p95")),
        Number("frame", "frame delay, 95 %", "ms", lambda run: run.metric(entry, "frame_delay_p95")),
        Number("late", "frames late or lost", "%", lambda run: run.metric(entry, "frames_late")),
    )


def _fair(entries: tuple[str, ...], begin: float, end: float) -> Number:
    return Number(
        "jain",
        f"Jain's index from {begin:g} s on",
        "",
        lambda run: jain(np.array([run.rate(entry, begin, end) for entry in entries])),
    )


def _used(entries: tuple[str, ...], begin: float, end: float, most_mbps: float) -> Number:
    """Return what all media have of what line and encoders allow."""

    def of(run: Run) -> float:
        return 100 * sum(run.rate(entry, begin, end) for entry in entries) / most_mbps

    return Number("used", f"of what may be sent, from {begin:g} s on", "%", of)


def _until_short(run: Run) -> float:
    """Return how long after the fall of the rate the wait stays above half of the buffer, s."""
    high = np.flatnonzero(run.waits(60.0, 80.0) > 150.0)
    return float((high[-1] + 1) * run.cell.series_ms / 1e3) if len(high) else 0.0


def _swing(run: Run) -> float:
    """Return the standard deviation of the rate over 1 s from 15 s to 40 s, of its mean, %."""
    seconds = run.course("m1", 15.0, 40.0).reshape(-1, 10).mean(axis=1)
    return float(100 * seconds.std() / seconds.mean()) if seconds.any() else np.nan


THREE = ("m1", "m2", "m3")

SHORT_FILES = '{ kind = "uniform", least = "30000 B", most = "50000 B" }'


def _one(stacks: Stacks) -> str:
    return _media("m1", stacks)


def _two(stacks: Stacks) -> str:
    return _media("m1", stacks) + _media("m2", stacks)


def _both_ways(stacks: Stacks) -> str:
    return _media("m1", stacks, session="call")


def _beside_files(stacks: Stacks) -> str:
    files = f', file = {SHORT_FILES}, gap = "10 s", stagger = "1 s"'
    return _two(stacks) + flow("tcp", OTHERS["cubic"], rtt_ms=100.0, lanes=10, more=files)


def _three(stacks: Stacks) -> str:
    return "".join(_media(name, stacks, start=f"{20 * place} s") for place, name in enumerate(THREE))


def _paused(stacks: Stacks) -> str:
    second = _media("m2", stacks, pause="40 s", resume="60 s")
    return _media("m1", stacks) + second + _media("m3", stacks)


ROUND_TRIPS_MS = (20, 50, 100, 200, 300)
FIVE = tuple(f"m{number}" for number in range(1, 6))


def _five(stacks: Stacks) -> str:
    pairs = enumerate(zip(FIVE, ROUND_TRIPS_MS, strict=True))
    return "".join(_media(name, stacks, rtt, start=f"{10 * place} s") for place, (name, rtt) in pairs)


def _beside_tcp(queue_ms: int) -> Cell:
    def traffic(stacks: Stacks) -> str:
        return _media("m1", stacks, start="5 s") + flow("tcp", OTHERS["cubic"], rtt_ms=100.0)

    return _cell(
        6,
        f"beside one flow of CUBIC, 2 Mb/s, a queue of {queue_ms} ms",
        traffic=traffic,
        numbers=(
            Number("rate", "media", "Mb/s", lambda run: run.rate("m1", 30.0, 120.0)),
            Number("tcp", "CUBIC", "Mb/s", lambda run: run.rate("tcp", 30.0, 120.0)),
            *_percentiles("m1"),
        ),
        rate_mbps=2.0,
        queue=_queue(2.0, queue_ms),
        duration_s=120.0,
    )


CELLS = (
    _cell(
        1,
        "1 flow, the line has 1, 2.5, 0.6 and 1 Mb/s",
        traffic=_one,
        numbers=(
            _used(("m1",), 20.0, 40.0, 1.0),
            Number("rise", "until 90 % of 1.5 Mb/s", "s", lambda run: run.first_above(0.9 * MOST_MBPS, 40.0, 60.0, "m1")),
            Number("fall", "until the wait stays below 150 ms, after the fall", "s", _until_short),
            Number("swing", "swing of the rate, 15 s to 40 s", "%", _swing),
            *_percentiles("m1"),
            Number("lost", "lost", "%", lambda run: run.lost("m1", 0.0, 100.0)),
            Number(
                "feedback",
                "reports, of the bytes of media",
                "%",
                lambda run: 100 * run.metric("m1", "forwarded_volume_downstream") / run.metric("m1", "forwarded_volume"),
            ),
        ),
        rate_mbps=1.0,
        queue=_queue(1.0),
        conditions=_steps((40, 2.5), (60, 0.6), (80, 1.0)),
        duration_s=100.0,
    ),
    _cell(
        2,
        "2 flows, the line has 4, 2, 3.5, 1 and 2 Mb/s",
        traffic=_two,
        numbers=(_used(("m1", "m2"), 30.0, 50.0, 2.0), _fair(("m1", "m2"), 25.0, 125.0), *_percentiles("m1"), Number("lost", "lost", "%", lambda run: run.lost("m1", 0.0, 125.0))),
        rate_mbps=2.0,
        queue=_queue(2.0),
        conditions=_steps((0, 4), (25, 2), (50, 3.5), (75, 1), (100, 2)),
        duration_s=125.0,
    ),
    _cell(
        3,
        "one each way, there 2, 1, 0.5 and 2 Mb/s, back 2, 0.8 and 2 Mb/s",
        traffic=_both_ways,
        numbers=(
            Number("rate", "there", "Mb/s", lambda run: run.rate("m1", 0.0, 100.0)),
            *_percentiles("m1"),
            Number("frame_back", "frame delay back, 95 %", "ms", lambda run: run.metric("m1", "frame_delay_p95_downstream")),
            Number("late_back", "frames late or lost, back", "%", lambda run: run.metric("m1", "frames_late_downstream")),
        ),
        rate_mbps=2.0,
        queue=_queue(2.0),
        back_queue=_queue(2.0),
        conditions=_steps((20, 1), (40, 0.5), (60, 2)),
        back=_steps((0, 2), (35, 0.8), (70, 2)),
        duration_s=100.0,
    ),
    _cell(
        4,
        "3 flows that begin at 0, 20 and 40 s, 3.5 Mb/s",
        traffic=_three,
        numbers=(_used(THREE, 60.0, 120.0, 3.5), _fair(THREE, 60.0, 120.0), *_percentiles("m1")),
        rate_mbps=3.5,
        queue=_queue(3.5),
        duration_s=120.0,
    ),
    _cell(
        5,
        "5 flows with round trips of 20 to 300 ms, 4 Mb/s",
        traffic=_five,
        numbers=(_used(FIVE, 100.0, 300.0, 4.0), _fair(FIVE, 100.0, 300.0), *_percentiles("m5")),
        rate_mbps=4.0,
        queue=_queue(4.0),
        duration_s=300.0,
    ),
    *lettered(_beside_tcp(300), _beside_tcp(1000)),
    _cell(
        7,
        "2 flows beside 10 short ones of CUBIC, 2 Mb/s",
        traffic=_beside_files,
        numbers=(
            _fair(("m1", "m2"), 30.0, 300.0),
            Number("rate", "each flow of media", "Mb/s", lambda run: (run.rate("m1", 30.0, 300.0) + run.rate("m2", 30.0, 300.0)) / 2),
            *_percentiles("m1"),
            Number("file", "a short file, median", "s", lambda run: float(np.median(run.transfer_times("tcp", 30.0, 290.0)))),
        ),
        rate_mbps=2.0,
        queue=_queue(2.0),
        duration_s=300.0,
    ),
    _cell(
        8,
        "3 flows, 3.5 Mb/s, the second pauses from 40 s to 60 s",
        traffic=_paused,
        numbers=(
            Number("others", "the two others in the pause", "Mb/s", lambda run: run.rate("m1", 45.0, 60.0) + run.rate("m3", 45.0, 60.0)),
            Number("back", "the second from 75 s on", "Mb/s", lambda run: run.rate("m2", 75.0, 120.0)),
            _fair(THREE, 75.0, 120.0),
            *_percentiles("m2"),
        ),
        rate_mbps=3.5,
        queue=_queue(3.5),
        duration_s=120.0,
    ),
)  # fmt: skip
"""Scenarios of RFC 8867."""

QUICK = ("R1", "R6a")
"""Those of a first look."""
