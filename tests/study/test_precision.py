"""Seeds until points are precise enough: the statistics, and studies that ask for it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sojourn.declarations.answers import Measure
from sojourn.errors import StudyError, UsageError
from sojourn.stats.estimate import bounded_mean_of
from sojourn.stats.level import at_level, confidence, significance
from sojourn.stats.precision import LEVEL, Goal, excess, looks
from sojourn.stats.quantity import Quantity
from sojourn.study.definition import load_definition
from sojourn.study.precision import Precision, PrecisionGoal, Stop, precision_of_words, stops
from sojourn.study.result import StudyResult
from support import CommandLine, write_study

DELAY = Measure(subject="call", metric="delay_up_p99", unit="ms")
MEASURES = {"delay": DELAY, "ratio": Measure(subject="call", metric="goodput", per="goodput")}


def test_the_level_holds_within_its_block_alone() -> None:
    assert (confidence(), significance()) == (0.95, 0.05)
    with at_level(LEVEL):
        assert significance() == pytest.approx(0.03)
        wide = bounded_mean_of([1.0, 2.0, 3.0], Quantity())
    narrow = bounded_mean_of([1.0, 2.0, 3.0], Quantity())
    assert wide.high is not None
    assert narrow.high is not None
    # Student's quantiles with two degrees of freedom: 5.6428 and 4.3027.
    assert (wide.high - 2) / (narrow.high - 2) == pytest.approx(5.6428 / 4.3027, rel=1e-4)


def test_width_counts_the_larger_of_both_goals() -> None:
    values = [9.0, 11.0] * 8
    assert excess(values, Quantity(), Goal(relative=0.05)) == pytest.approx(1.237, abs=1e-3)
    assert excess(values, Quantity(), Goal(relative=0.05, absolute=1.0)) < 1
    assert excess([*values, float("nan")], Quantity(), Goal(absolute=1.0)) < 1
    assert excess([0.0] * 7 + [float("nan")], Quantity(), Goal(absolute=1.0)) == float("inf")


@pytest.mark.parametrize("spread", [0.05, 0.1])
def test_intervals_of_who_stops_by_width_keep_their_promise(spread: float) -> None:
    """Without the higher level they keep 93 % (`tools/simulate-precision`)."""
    runs = np.random.default_rng(1).normal(1.0, spread, (1500, 140))
    held = 0
    for one in runs:
        goal = Goal(relative=0.05)
        narrow = (look for look in looks(8, 140) if excess(one[:look], Quantity(), goal) <= 1)
        look = next(narrow, 140)
        with at_level(LEVEL):
            found = bounded_mean_of(one[:look], Quantity())
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 1.0 <= found.high
    assert held / len(runs) >= 0.95


def values_of(numbers: dict[str, list[float]]) -> pl.DataFrame:
    rows = [
        (point, seed, "call", "delay_up_p99", value, "ms")
        for point, series in numbers.items()
        for seed, value in enumerate(series, 1)
    ]
    columns = ["point", "seed", "subject", "metric", "value", "unit"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def test_points_stop_by_their_widest_measure_and_those_without_it_at_once() -> None:
    precision = Precision(of=[PrecisionGoal(measure="delay", relative="5 %", absolute="1 ms")])
    calm, wild = [20.0, 20.5] * 4, [20.0, 60.0] * 4
    found = stops(
        precision,
        {"delay": DELAY},
        {"calm": {}, "wild": {}, "other": {}},
        values_of({"calm": calm, "wild": wild}),
    )
    assert found["calm"].is_enough
    assert (found["wild"].is_enough, found["wild"].measure) == (False, "delay")
    assert found["other"] == Stop(0, 0.0, "")


def test_a_measure_for_some_points_is_not_asked_of_others() -> None:
    measure = DELAY.model_copy(update={"where": {"queue": ["pie", "codel"]}})
    precision = Precision(of=[PrecisionGoal(measure="delay", relative="1 %")])
    wild = [20.0, 60.0] * 4
    labels: dict[str, Any] = {"a": {"queue": "pie"}, "b": {"queue": "red"}}
    found = stops(precision, {"delay": measure}, labels, values_of({"a": wild, "b": wild}))
    assert [found[point].is_enough for point in labels] == [False, True]


def test_words_are_read_and_refused() -> None:
    (all_of_them,) = precision_of_words("5 %", MEASURES, None).of
    assert all_of_them == PrecisionGoal(measure="delay", relative="5 %")
    (one,) = precision_of_words("delay: 5% or 1 ms", MEASURES, None).of
    assert one == PrecisionGoal(measure="delay", relative="5%", absolute="1 ms")
    for said in ("5", "delay: 1 s", "dely: 5 %", "ratio: 5 %", "5 % or 1 ms or 2 ms", "", ":"):
        with pytest.raises(UsageError):
            precision_of_words(said, MEASURES, None)
    with pytest.raises(UsageError, match="no measure"):
        precision_of_words("5 %", {}, None)


PRECISE: dict[str, Any] = {
    "measures": {"goodput": {"subject": "bulk", "metric": "goodput", "unit": "Mb/s"}},
    "precision": {
        "of": [{"measure": "goodput", "relative": "2 %"}],
        "seeds": {"least": 8, "most": 18},
    },
}


def test_a_study_runs_until_its_points_are_precise_enough(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    write_study(tmp_path, **PRECISE)
    done = sojourn("study", "run", "study.toml", "--out", "out", "--no-figures")
    assert done.status == 0, done.stderr
    result = StudyResult.load(tmp_path / "out")
    counts = dict(result.runs.group_by("point").len().iter_rows())
    assert set(counts.values()) <= {8, 12, 18}
    assert {point: stop.seeds for point, stop in result.stopped.items()} == counts
    for point, stop in result.stopped.items():
        # Whoever is not precise got all seeds, and nobody more than the first look that was enough.
        assert stop.is_enough or counts[point] == 18
        numbers = result.metrics.filter(
            pl.col("point") == point, pl.col("subject") == "bulk", pl.col("metric") == "goodput"
        )["value"].to_list()
        earlier = [look for look in (8, 12, 18) if look < counts[point]]
        goal = Goal(relative=0.02)
        assert all(excess(numbers[:look], Quantity(0.0), goal) > 1 for look in earlier)
        assert stop.excess == pytest.approx(excess(numbers, Quantity(0.0), goal))
    assert result.level == LEVEL
    page = (tmp_path / "out" / "report.html").read_text()
    assert "How precise the points are" in page
    assert "points are as precise as asked after" in done.stderr or "not after 18" in done.stderr
    again = sojourn("study", "run", "study.toml", "--out", "again", "--no-figures", "--json")
    assert again.json()["runs"]["computed"] == 0
    same = [tmp_path / name / "metrics.parquet" for name in ("out", "again")]
    assert same[0].read_bytes() == same[1].read_bytes()


def test_a_number_of_seeds_and_a_first_look_leave_precision_out(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    write_study(tmp_path, **PRECISE)
    done = sojourn("study", "run", "study.toml", "--seeds", "2", "--out", "out", "--no-figures")
    assert done.status == 0, done.stderr
    result = StudyResult.load(tmp_path / "out")
    assert (result.stopped, result.level) == ({}, 0.95)
    for more, said in (
        (("--seeds", "2", "--precision", "5 %"), "exclude each other"),
        (("--quick", "--precision", "5 %"), "exclude each other"),
        (("--shard", "0/2"), "takes a number of seeds"),
    ):
        refused = sojourn("study", "run", "study.toml", *more)
        assert refused.status == 2
        assert said in refused.stderr


def test_a_manifest_of_a_stranger_says_nothing_odd(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path, **PRECISE)
    assert sojourn("study", "run", "study.toml", "--out", "out", "--no-figures").status == 0
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text())
    point = next(iter(manifest["stopped"]))
    said: list[Any] = [
        {point: {"excess": "\x1b[31m", "measure": 7}},
        {"no such point": {"excess": 0.5}},
        {point: 3},
        [],
    ]
    for stopped in said:
        path.write_text(json.dumps({**manifest, "stopped": stopped, "most_seeds": -1}))
        done = sojourn("report", "out")
        assert done.status == 0, done.stderr
        assert "\x1b" not in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("precision", "said"),
    [
        ({"of": []}, "precision.of"),
        ({"of": [{"measure": "goodptu", "relative": "2 %"}]}, 'did you mean "goodput"'),
        ({"of": [{"measure": "goodput"}]}, "says nothing about a width"),
        ({"of": [{"measure": "goodput", "relative": "2"}]}, "is no share"),
        ({"of": [{"measure": "goodput", "absolute": "2 ms"}]}, "1 Mb/s"),
        ({"of": [{"measure": "goodput", "relative": "2 %"}], "seeds": {"least": 5}}, "greater"),
        (
            {"of": [{"measure": "goodput", "relative": "2 %"}], "seeds": {"least": 20, "most": 9}},
            "less than the least",
        ),
        ({"of": [{"measure": "goodput", "relativ": "2 %"}]}, 'did you mean "relative"'),
    ],
)
def test_what_cannot_be_precise_is_a_problem_of_the_file(
    tmp_path: Path, precision: dict[str, Any], said: str
) -> None:
    changes: dict[str, Any] = {**PRECISE, "precision": precision}
    path = write_study(tmp_path, **changes)
    with pytest.raises(StudyError) as refused:
        load_definition(path)
    told = " ".join(f"{one.path} {one.message} {one.hint}" for one in refused.value.problems)
    assert said in told
