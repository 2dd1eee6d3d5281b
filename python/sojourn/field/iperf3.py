"""Results of `iperf3 --json`: throughput without latency.

Source: iperf3's JSON output (`start.test_start`, `end.sum_received`). The throughput is that of the
average stream, as in the talk, so four streams of 5 Mb/s are 5 Mb/s.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sojourn.field.labels import LabelRow, labels_of
from sojourn.field.reading import Unreadable, first_problem
from sojourn.field.records import FieldTest

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


class _End(BaseModel):
    model_config = ConfigDict(extra="ignore")

    sum_received: _Sum | None = None
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


def read_iperf3(
    document: dict[str, Any], file: str, table: Sequence[LabelRow] = ()
) -> list[FieldTest]:
    """Return the test in an iperf3 result; `--title` and `--extra-data` may carry labels.

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
    total = content.end.sum_received or content.end.sum
    if total is None:
        raise Unreadable("is no complete iperf3 result: end.sum_received: missing")
    throughput = total.bits_per_second / content.start.test_start.num_streams / 1e6
    title = " ".join(
        (content.title, content.extra_data, content.start.title, content.start.extra_data)
    )
    labels = labels_of(file, title, "", table)
    reverse = content.start.test_start.reverse
    return [
        FieldTest(
            probe=labels.probe or "unknown",
            time=datetime.fromtimestamp(content.start.timestamp.timesecs, UTC),
            direction="down" if reverse else "up",
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
            test=f"iperf3 {content.start.test_start.protocol} {'download' if reverse else 'upload'}",
            tool="iperf3",
            file=file,
        )
    ]
