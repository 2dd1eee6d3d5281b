"""What the laboratory measures beside the words of a study file: Quality of Outcome, paired round trips, what a test costs."""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.answers.asking import Ask
from sojourn.answers.view import StudyView
from sojourn.scores.judge import Observed, judge
from sojourn.scores.observed import paired_trips
from sojourn.scores.requirement import requirement_of

GAME = requirement_of("game")

FROM_S = 7.0
"""When queues have filled: 2 s after the load began."""


def outcome(view: StudyView, point: str, subject: str) -> np.ndarray:
    """Return the QoO of a game by what a probe saw, by seed."""
    end_s = view.duration_s(point)
    found: list[float] = []
    for at, took_ms in view.probe(point, subject).values():
        # What was asked shortly before the end may still be on its way.
        longest_s = took_ms[np.isfinite(took_ms)].max(initial=0.0) / 1e3
        inside = (at >= FROM_S) & (np.isfinite(took_ms) | (at < end_s - longest_s))
        told = judge(Observed(subject, "echoes", "two-way", at[inside], took_ms[inside]), GAME, interval=False)
        found.append(np.nan if told is None else told.value)
    return np.array(found)


def paired(view: StudyView, point: str, quantile: float) -> np.ndarray:
    """Return a percentile of round trips of the stream, by seed: each packet up with the first down after it arrived."""
    return _of_stream(view, point, quantile, together=False)


def sent_together(view: StudyView, point: str, quantile: float) -> np.ndarray:
    """Return a percentile of delays of packets that were sent together, both ways added, by seed."""
    return _of_stream(view, point, quantile, together=True)


def _of_stream(view: StudyView, point: str, quantile: float, *, together: bool) -> np.ndarray:
    rows = view.table("datagrams", point).filter(pl.col("traffic") == "stream")
    found: list[float] = []
    for seed in view.seeds(point):
        of_run = rows.filter(pl.col("seed") == seed).sort("sent_ns")
        up, down = (of_run.filter(pl.col("direction") == way) for way in ("upstream", "downstream"))
        at_s, trips_ms = paired_trips(up, down, at_once=together)
        counted = trips_ms[np.isfinite(trips_ms) & (at_s >= FROM_S)]
        found.append(float(np.quantile(counted, quantile, method="inverted_cdf")))
    return np.array(found)


def seconds(view: StudyView, point: str) -> np.ndarray:
    """Return how long a test takes, by seed."""
    return np.full(len(view.seeds(point)), view.duration_s(point))


def volume(view: StudyView, point: str) -> np.ndarray:
    """Return what passes the line both ways while a test runs, by seed, MB."""
    up, down = (view.values(point, way, "forwarded_volume") for way in ("upstream", "downstream"))
    return (up + down) * 1e-3


TAILS = ("rrul", "tcp-upload")
MEANS = ("rpm-down", "rpm-up", "speed-test-down", "speed-test-up", "mba-down", "mba-up", "k16")
"""Methods that report the 99th percentile of a minute, and those that report a mean of their load."""


def _of_methods(ask: Ask, measure: str) -> dict[str, float]:
    return ask.numbers(measure, by=["method"], across="mean", part="fleet", method=[*TAILS, *MEANS])


def answer(ask: Ask) -> str:
    """Say which methods tell lines apart."""
    order = _of_methods(ask, "in_order")
    tails, means = [order[one] for one in TAILS], [order[one] for one in MEANS]
    told = (
        f"one test beside RRUL puts {order['rrul']:.0f} % of all pairs of lines in the order in which a home feels them, beside "
        f"one upload {order['tcp-upload']:.0f} %; tests that report a mean of their load put {min(means):.0f} to {max(means):.0f} %"
    )
    if min(tails) > max(means):
        return f"To tell lines apart, ask for the 99th percentile of a minute: {told}."
    return f"No kind of report tells lines apart best: {told}."


def at_home(ask: Ask) -> str:
    """Say how right the methods are about their own load, and about a home."""
    own, felt = _of_methods(ask, "of_own"), _of_methods(ask, "of_felt")
    rights, shares = [own[one] for one in MEANS], [felt[one] for one in MEANS]
    return (
        f"Means are {'right' if max(abs(one - 100) for one in rights) <= 10 else 'roughly right'} about their own load "
        f"({min(rights):.0f} to {max(rights):.0f} % of its true mean), and are {min(shares):.0f} to {max(shares):.0f} % of the 99th "
        "percentile that small packets feel at home, where nobody tests and a family uses the line."
    )
