"""The live view: it fits the terminal that it is drawn on."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

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
    assert shown[0].startswith(
        "downstream   100.00 of 1000 Mb/s  delay 123.4 ms (P50 123.4 ms, P99 987.6 ms)"
    )
    assert shown[1].split() == [
        "queue",
        "12345",
        "packets,",
        "18000",
        "kB",
        "dropped",
        "1234567",
        "marked",
        "1234567",
    ]


def test_the_next_picture_begins_where_the_last_began_on_narrow_terminals_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
