"""What White 2019 measures by functions of its own, on tables made by hand."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from sojourn.answers.figures.stack import mean_delay_parts
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.view import LinkSeries, NotRecorded, StudyView
from sojourn.study.library import load_study


class Tables:
    """As much of a result as the functions ask for."""

    def __init__(
        self, tables: Mapping[str, pl.DataFrame], values: Mapping[tuple[str, str], float] | None = None
    ) -> None:
        self.tables = tables
        self.known = values or {}

    def table(self, name: str, point: str) -> pl.DataFrame:
        """Rows of a record table."""
        del point
        return self.tables[name]

    def seeds(self, point: str) -> list[int]:
        """Seeds of the point: one."""
        del point
        return [1]

    def has(self, point: str, subject: str, metric: str) -> bool:
        """Return whether a metric is known."""
        del point
        return (subject, metric) in self.known

    def values(self, point: str, subject: str, metric: str) -> np.ndarray:
        """Values of a metric."""
        if not self.has(point, subject, metric):
            raise NotRecorded(subject)
        return np.array([self.known[subject, metric]])


@pytest.fixture(scope="module")
def functions() -> Mapping[str, Any]:
    return OpenStudy.of(load_study("white2019")).functions


def view(tables: Mapping[str, pl.DataFrame], values: Any = None) -> StudyView:  # noqa: ANN401
    return cast("StudyView", Tables(tables, values))


def bins(backlog: list[float], dropped: list[int], marked: list[int]) -> dict[str, pl.DataFrame]:
    count = len(backlog)
    frame = pl.DataFrame(
        {
            "seed": [1] * count,
            "link": ["upstream"] * count,
            "start_ns": [n * 1_000_000 for n in range(count)],
            "width_ns": [1_000_000] * count,
            "dropped_packets": dropped,
            "marked_packets": marked,
            "backlog_packets_mean": [float(packets) for packets in backlog],
        }
    )
    return {"series": frame}


@pytest.mark.parametrize(
    ("backlog", "dropped", "marked", "expected"),
    [
        ([0, 0, 3, 6, 9], [0, 0, 0, 0, 1], [0] * 5, 3),
        ([0, 0, 3, 6, 9], [0] * 5, [0, 0, 1, 4, 4], 1),
        # What stood and drained before is not this growth.
        ([9, 9, 0.5, 2, 4], [0, 0, 0, 0, 2], [0] * 5, 2),
        ([0, 0, 3, 6, 9], [0] * 5, [0] * 5, np.inf),
    ],
)
def test_the_first_signal_counts_from_the_last_empty_bin(
    functions: Mapping[str, Any], backlog: list[float], dropped: list[int], marked: list[int], expected: float
) -> None:
    found = functions["first_signal"](view(bins(backlog, dropped, marked)), "any")
    assert found.tolist() == [expected]


def test_a_rate_is_regained_at_the_end_of_the_first_bin_that_has_it(functions: Mapping[str, Any]) -> None:
    megabits = np.array([190.0, 40.0, 100.0, 179.0, 181.0, 90.0])
    none = np.zeros(6)
    series = LinkSeries(
        start_s=np.arange(6) * 0.1,
        width_s=0.1,
        forwarded_bytes=megabits * 0.1e6 / 8,
        forwarded_packets=none,
        dropped_packets=none,
        sojourn_mean_ms=none,
        sojourn_max_ms=none,
        backlog_packets_mean=none,
        backlog_packets_max=none,
        staged_packets_mean=none,
    )
    assert functions["regained"](series, 0.2, 180) == pytest.approx(0.3)
    assert np.isnan(functions["regained"](series, 0.2, 200))


@pytest.mark.parametrize(
    ("estimate", "exact", "outside"), [(1.7, 1.2, 0), (2.3, 1.2, 4), (1.0, 1.999, 0), (7.9, 3.0, 0), (8.5, 3.0, 4)]
)
def test_an_estimate_has_to_stand_in_the_bin_of_the_exact_quantile(
    functions: Mapping[str, Any], estimate: float, exact: float, outside: int
) -> None:
    names = ["p50", "p95", "p99", "p999"]
    known = {("upstream", f"device_delay_{n}"): estimate for n in names}
    known |= {("upstream", f"device_delay_{n}_exact"): exact for n in names}
    frame = pl.DataFrame(
        {
            "seed": [1] * 3,
            "link": ["upstream"] * 3,
            "queue": ["classic"] * 3,
            "from_ns": [0, 1_000_000, 2_000_000],
            "to_ns": [1_000_000, 2_000_000, None],
            "longest_ns": [8_000_000] * 3,
        }
    )
    found = functions["quantiles_outside"](view({"latency_histogram": frame}, known), "any")
    assert found.tolist() == [outside]


def test_a_round_trip_is_made_of_the_causes_of_both_directions() -> None:
    frame = pl.DataFrame(
        {
            "traffic": ["game"] * 3,
            "direction": ["upstream", "upstream", "downstream"],
            "cause": ["wire", "grant_wait", "wire"],
            "packets": [10, 10, 5],
            "total_ns": [10_000_000, 40_000_000, 10_000_000],
        }
    )
    found = mean_delay_parts(view({"delays": frame}), "any", "game", "round-trip")
    assert found == {"wire": 3.0, "grant_wait": 4.0}


def test_redirected_packets_are_told_by_whose_they_are_and_by_second(functions: Mapping[str, Any]) -> None:
    # Four seconds: late and moved, late and only the game moved, late and nobody moved, not late.
    late = {"greedy": [50, 3, 2, 0], "game": [1, 2, 0, 0]}
    moved = {"greedy": [38, 0, 0, 0], "game": [0, 2, 0, 0]}
    frame = pl.DataFrame(
        {
            "seed": [1] * 8,
            "link": ["upstream"] * 8,
            "traffic": ["greedy"] * 4 + ["game"] * 4,
            "start_ns": [0, 1, 2, 3] * 2,
            "late_packets": late["greedy"] + late["game"],
            "sanctioned_packets": moved["greedy"] + moved["game"],
        }
    )
    redirected = functions["redirected"]
    tables = view({"traffic_series": frame})
    assert redirected(tables, "p", "greedy", "share").tolist() == [95.0]
    assert redirected(tables, "p", "greedy", "seconds").tolist() == pytest.approx([100 / 3])
    # Nothing moved, and nothing late: neither all nor nothing of it.
    quiet = view({"traffic_series": frame.with_columns(late_packets=0, sanctioned_packets=0)})
    for what in ("share", "seconds"):
        assert np.isnan(redirected(quiet, "p", "greedy", what)).all()


def test_packets_lost_are_told_by_the_queue_that_dropped_them(functions: Mapping[str, Any]) -> None:
    frame = pl.DataFrame(
        {
            "seed": [1] * 5,
            "link": ["upstream", "upstream", "upstream", "downstream", "upstream"],
            "traffic": ["scalable", "scalable", "classic", "scalable", "scalable"],
            "queue": ["classic", "low_latency", "classic", "classic", "classic"],
            "signal": ["drop", "mark", "drop", "drop", "drop"],
            "packets": [2, 900, 70, 5, 1],
        }
    )
    tables = view({"signals": frame})
    assert functions["lost_in"](tables, "p", "scalable", "classic").tolist() == [3.0]
    assert functions["lost_in"](tables, "p", "scalable", "low_latency").tolist() == [0.0]
