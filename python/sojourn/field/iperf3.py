"""Results of `iperf3 --json`: throughput without latency.

Source: iperf3's JSON output (`start.test_start`, `end.sum_received`). The throughput is that of the
average stream, as in the talk, so four streams of 5 Mb/s are 5 Mb/s. It is always what arrived: for UDP, `end.sum` says
what was sent, and files of old versions that hold nothing else are read less the share that was lost.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sojourn.field.labels import labels_of
from sojourn.field.reading import Unreadable, first_problem
from sojourn.field.records import Direction, FieldTest

__all__ = ["looks_like_iperf3", "read_iperf3"]


class _Timestamp(BaseModel):
    timesecs: float = Field(ge=0, le=32_503_680_000)


class _TestStart(BaseModel):
    model_config = ConfigDict(extra="ignore")

    protocol: str = "TCP"
    num_streams: int = Field(1, ge=1, le=1_000_000)
    reverse: int = 0


class _Start(BaseModel):
    model_config = ConfigDict(extra="ignore")

    timestamp: _Timestamp
    test_start: _TestStart
    title: str = ""
    extra_data: str = ""


class _Sum(BaseModel):
    model_config = ConfigDict(extra="ignore")

    bits_per_second: float = Field(ge=0, allow_inf_nan=False)
    lost_percent: float = Field(0.0, ge=0, le=100)


class _End(BaseModel):
    model_config = ConfigDict(extra="ignore")

    sum_received: _Sum | None = None
    sum_received_bidir_reverse: _Sum | None = None
    sum: _Sum | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    start: _Start
    end: _End
    title: str = ""
    extra_data: str = ""


def looks_like_iperf3(document: dict[str, Any]) -> bool:
    """Whether a JSON object has the keys of an iperf3 result."""
    return {"start", "end", "intervals"} <= document.keys()


def read_iperf3(document: dict[str, Any], file: str) -> list[FieldTest]:
    """Return the tests in an iperf3 result, two of a bidirectional one; `--title` and `--extra-data` may carry labels.

    Raises
    ------
    Unreadable
        If something that must be there is missing or of another kind.
    """
    if isinstance(document.get("error"), str):
        raise Unreadable(f"is a test that failed: {document['error'][:100]}")
    try:
        content = _File.model_validate(document)
    except ValidationError as error:
        raise Unreadable(f"is no complete iperf3 result: {first_problem(error)}") from error
    end = content.end
    received = None if end.sum_received is None else end.sum_received.bits_per_second
    if received is None and end.sum is not None:
        received = end.sum.bits_per_second * (1.0 - end.sum.lost_percent / 100.0)
    if received is None:
        raise Unreadable("is no complete iperf3 result: end.sum_received: missing")
    reverse = bool(content.start.test_start.reverse)
    tests = [_test(content, file, received, "down" if reverse else "up")]
    if end.sum_received_bidir_reverse is not None:
        back = end.sum_received_bidir_reverse.bits_per_second
        tests.append(_test(content, file, back, "up" if reverse else "down"))
    return tests


def _test(content: _File, file: str, received: float, direction: Direction) -> FieldTest:
    start = content.start
    throughput = received / start.test_start.num_streams / 1e6
    title = " ".join((content.title, content.extra_data, start.title, start.extra_data))
    labels = labels_of(file, title, "")
    word = "upload" if direction == "up" else "download"
    return FieldTest(
        probe=labels.probe or "unknown",
        time=datetime.fromtimestamp(start.timestamp.timesecs, UTC),
        direction=direction,
        throughput_mbps=throughput,
        latency_ms=None,
        latency_kind="",
        latency_loaded_ms=None,
        latency_idle_ms=None,
        samples=0,
        expected_samples=0,
        treatment=labels.treatment,
        week=labels.week,
        zone=labels.zone,
        flags="" if throughput else "no-throughput",
        test=f"iperf3 {start.test_start.protocol} {word}",
        tool="iperf3",
        file=file,
    )
