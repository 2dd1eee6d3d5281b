"""What is said and shown of an emulation: the view fits its terminal, the trust line says why."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from sojourn.emulation.sentences import matters, trust
from sojourn.emulation.view import View, lines


def moment(at_s: float, delivered: int) -> dict[str, Any]:
    """Return an emulation at one moment, with numbers as wide as they come."""
    direction = {
        "rate_mbps": 1000.0,
        "delivered_bytes": delivered,
        "delay_ns": 123_400_000,
        "delay_p50_ns": 123_400_000,
        "delay_p99_ns": 987_600_000,
        "backlog_packets": 12_345,
        "backlog_bytes": 18_000_000,
        "dropped": 1_234_567,
        "marked": 1_234_567,
        "late_p99_ns": 123_000,
    }
    return {
        "at_ns": round(at_s * 1e9),
        "downstream": direction,
        "upstream": dict(direction),
        "hidden_losses": 1234,
        "stalls": 12,
    }


def test_a_picture_fits_a_terminal_of_80_columns_and_tells_the_rate_of_the_last_second() -> None:
    shown = lines(moment(3601.0, 12_500_000), moment(3600.0, 0))
    assert max(map(len, shown)) <= 80
    assert shown[0].startswith("downstream   100.00 of 1000 Mb/s  delay 123.4 ms (P50 123.4 ms, P99 987.6 ms)")
    assert shown[1].split() == ["queue", "12345", "packets,", "18000", "kB", "dropped", "1234567", "marked", "1234567"]


def test_the_next_picture_begins_where_the_last_began_on_narrow_terminals_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    stream = io.StringIO()
    view = View(stream, is_drawn=True)
    view.show(moment(1.0, 0))
    first = stream.getvalue()
    drawn = [re.sub(r"\x1b\[K|\r", "", line) for line in first.split("\n")[:-1]]
    assert len(drawn) == 5
    assert max(map(len, drawn)) == 40, "a line that is too long would wrap, and take two"
    view.show(moment(1.1, 0))
    assert stream.getvalue()[len(first) :].startswith("\x1b[5A")


def told(late_up_ns: int, packets: int = 10) -> dict[str, Any]:
    """Return the summary of an emulation whose upstream packets were so late at P99."""
    late = {"packets": packets, "p50_ns": 20_000, "p99_ns": late_up_ns, "max_ns": 2_100_000}
    return {
        "grade": "good",
        "lateness": {"upstream": late, "downstream": late | {"p99_ns": 50_000}},
        "hidden_losses": 0,
        "tagged_frames": 0,
        "stalls": [],
        "joined": False,
        "gave_priority_up": False,
    }


def test_the_trust_line_says_why() -> None:
    summary = told(90_000)
    assert trust(summary) == (
        "trust: good (late P50 20 µs, P99 90 µs, max 2.1 ms; nothing lost outside the model; no stalls)"
    )
    summary |= {"grade": "poor", "hidden_losses": 3, "tagged_frames": 1, "stalls": [[0, 1e8], [9, 3e8]]}
    assert trust(summary) == (
        "trust: poor (late P50 20 µs, P99 90 µs, max 2.1 ms; 3 packets lost outside the model, 1 of them with VLAN tags, "
        "which are not carried; 2 stalls, the longest 300.0 ms)"
    )
    assert trust(told(0, packets=0)) == "trust: good (no packet came through)"


def test_lateness_is_told_where_it_is_a_part_of_the_delay() -> None:
    def said(p50_ms: float, p99_ms: float) -> list[str]:
        rows = [("upstream", "sojourn_p50", p50_ms, "ms"), ("upstream", "sojourn_p99", p99_ms, "ms")]
        return matters(told(90_000), [*rows, ("downstream", "sojourn_p50", 80.0, "ms")])

    # 5 % of 1.8 ms, and 10 % of 0.9 ms, are 90 µs.
    assert said(1.8, 0.9) == []
    assert said(1.5, 9.0) == ["lateness matters upstream: its P99 of 90 µs is 6% of the median of the delay, 1.50 ms"]
    assert said(1.8, 0.8) == ["lateness matters upstream: its P99 of 90 µs is 11% of the P99 of the delay, 0.80 ms"]
    assert said(0.0, 0.0) == []


def test_lateness_is_compared_with_the_delay_of_the_narrow_link() -> None:
    rows = [("upstream", "sojourn_p50", 0.01, "ms"), ("upstream", "sojourn_p99", 0.02, "ms")]
    (behind_the_line,) = matters(told(90_000), rows)
    assert "900% of the median of the delay, 0.01 ms" in behind_the_line
    air = [
        ("wifi.home.attic/upstream", "sojourn_p50", 12.0, "ms"),
        ("wifi.home.attic/upstream", "sojourn_p99", 0.4, "ms"),
    ]
    assert matters(told(90_000), [*rows, *air]) == [
        "lateness matters upstream: its P99 of 90 µs is 22% of the P99 of the delay of wifi.home.attic, 0.40 ms"
    ]
