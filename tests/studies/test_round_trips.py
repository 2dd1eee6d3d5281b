"""Round trips, weights and tails of distributions, against numbers worked out by hand."""

from typing import ClassVar, cast

import numpy as np
import pytest

from sojourn.answers.asking import Ask
from sojourn.answers.figures.distribution import tail
from sojourn.answers.selection import LabelledPoint, Points
from sojourn.answers.view import StudyView
from sojourn.declarations.answers import Measure
from sojourn.plots.spec import Line
from sojourn.stats.distribution import Distribution, convolved, mixture


def atoms(shares: dict[float, int]) -> Distribution:
    # Half a microsecond beside the edge of a bin, whose middle it then is.
    return Distribution.of(np.array(list(shares)) + 0.0005, np.array(list(shares.values())))


class View:
    """Delays of two mixes in ms: the same both ways."""

    DELAYS: ClassVar = {"quiet": atoms({1.0: 100}), "busy": atoms({1.0: 5, 50.0: 5})}

    def delays(self, point: str, subject: str, direction: str) -> dict[int, Distribution]:
        """Return those of one point, by seed."""
        assert subject == "game"
        assert direction in {"upstream", "downstream"}
        return {1: self.DELAYS[point]}


POINTS = [LabelledPoint(name, {"mix": name}) for name in ("quiet", "busy")]


def asked(**changes: object) -> dict[int, Distribution]:
    measure = Measure.model_validate(
        {
            "subject": "game",
            "samples": "round-trip",
            "quantile": 0.99,
            "cells": ["mix"],
            "weights": {"quiet": 10},
            **changes,
        }
    )
    points = Points(POINTS, {})
    ask = Ask(cast("StudyView", View()), points, {"p99": measure}, {})
    return ask.distributions(measure, POINTS)


def test_round_trips_of_one_mix_do_not_meet_those_of_another() -> None:
    whole = asked()[1]
    below = [whole.share_below(limit) for limit in (3, 60)]
    assert below == pytest.approx([0.931818, 0.931818 + 0.045455], abs=1e-6)
    assert whole.quantile(0.99) == pytest.approx(100, abs=0.02)


def test_directions_mixed_first_meet_across_mixes_as_in_docsis_ns3() -> None:
    whole = asked(mixed_first=True)[1]
    assert whole.shares == pytest.approx([0.911157, 0.086777, 0.002066], abs=1e-6)
    assert whole.quantile(0.99) == pytest.approx(51, abs=0.02)


def test_a_bin_is_a_ten_thousandth_of_the_longest_delay_in_whole_microseconds() -> None:
    whole = convolved(atoms({1.0: 1}), atoms({250.0: 1}))
    assert whole.values.tolist() == pytest.approx([251.025])
    assert convolved(atoms({1.0: 1}), atoms({2.0: 1})).values.tolist() == pytest.approx([3.001])


def test_weights_count_whatever_the_number_of_samples() -> None:
    many, few = atoms({1.0: 1000}), atoms({9.0: 1})
    assert mixture([many, few], [1, 3]).shares.tolist() == pytest.approx([0.25, 0.75])


def test_variation_is_told_from_the_smallest_delay_of_all() -> None:
    one = Distribution.of(np.array([10.2, 10.0, 12.5, 40.0, 11.1, 10.0, 95.3, 10.4]))
    variation = one.above_least()
    assert variation.quantile(0.5) == pytest.approx(0.4)
    assert variation.quantile(0.9) == pytest.approx(85.3)


def test_a_tail_falls_from_one_and_ends_where_ten_samples_are_left() -> None:
    whole = Distribution.of(np.arange(1.0, 1001.0))
    (line,) = tail({1: whole}, "codel", "CoDel", 1e-4)
    assert isinstance(line, Line)
    assert (line.x[0], line.y[0]) == (1.0, 1.0)
    assert line.y[-1] == pytest.approx(10 / 1000)
    assert np.all(np.diff(line.y) <= 0)
    at = int(np.searchsorted(line.x, 500.0))
    assert line.y[at] == pytest.approx(0.5, rel=0.05)
