"""Measures made of others, what probes measured, and tolerances by the spread over runs, against numbers worked out by hand."""

from pathlib import Path

import polars as pl
import pytest

from sojourn.answers.asking import Ask
from sojourn.answers.checks import unanswerable
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.tolerance import Rule, Verdict, judge
from sojourn.answers.view import NotRecorded, StudyView
from sojourn.base.errors import StudyError
from sojourn.stats.estimate import Estimate
from sojourn.study.library import load_study
from sojourn.study.plan import RunOptions, make_plan
from studies.small_study import result_of, write

ANSWERS = """
[measures.delay]
subject = "call"
metric = "delay_p95"
unit = "ms"
relative = 0.15
[measures.elsewhere]
subject = "call"
metric = "delay_p95"
at = { place = "near" }
[measures.more]
difference = ["delay", "elsewhere"]
[measures.share]
ratio = ["elsewhere", "delay"]
times = 100
[measures.apart]
distance = ["elsewhere", 50]
[measures.own.by_label.queue]
tail = "more"
codel = "share"
[measures.spread]
subject = "call"
metric = "delay_p95"
seeds = "variation"
pooled = ["place"]
[measures.right]
order = ["backwards", "delay"]
among = ["place", "queue"]
[measures.backwards]
difference = [1000, "delay"]
better = "more"
[measures.wrong]
order = ["backwards_less", "delay"]
among = ["place", "queue"]
[measures.backwards_less]
difference = [1000, "delay"]
[measures.some]
subject = "call"
samples = "probe"
window = [2, 8]
every = 2
mean = true
[measures.middle]
subject = "call"
samples = "probe"
trimmed = 0.25
[measures.last]
subject = "call"
samples = "probe"
window = [6]
lane = 1
quantile = 1.0
"""


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    study = write(tmp_path, ANSWERS, top='keep = ["transfers"]\n')
    result = result_of(study)
    (tmp_path / "records").mkdir()
    rows = [
        ("tail-near", seed, "call", lane, int(at * 1e9), None if ms is None else int(at * 1e9 + ms * 1e6))
        for seed in (1, 2)
        for at, ms, lane in (
            (0.0, 10.0, 0), (2.0, 20.0, 0), (4.0, 90.0, 0), (6.0, 40.0, 0), (8.0, None, 0), (6.0, 7.0, 1),
        )
    ]  # fmt: skip
    names = ("point", "seed", "traffic", "lane", "started_ns", "ended_ns")
    table = pl.DataFrame(rows, schema=names, orient="row")
    table.write_parquet(tmp_path / "records" / "transfers.parquet")
    return OpenStudy.of(load_study(str(study))).ask(StudyView(result))


def test_measures_are_compared_run_by_run_and_with_other_points(ask: Ask) -> None:
    # Delays of seeds 1 to 3: near 99, 100, 101; far 199, 200, 201.
    assert ask.per_seed(ask.measures["more"], "tail-far").tolist() == [100.0] * 3
    assert ask.at("more", "tail-near") == 0.0
    assert ask.at("share", "tail-far") == pytest.approx(50.0)
    assert ask.at("apart", "tail-far") == pytest.approx(1.0)
    assert ask.at("own", "tail-far") == 100.0
    assert ask.at("own", "codel-far") == pytest.approx(100 * 10 / 30)
    assert ask.estimate(ask.measures["more"], [ask.points.point("tail-far")]).value == 100.0


def test_runs_vary_by_a_share_of_their_mean(ask: Ask) -> None:
    points = [ask.points.point(name) for name in ("codel-near", "tail-near")]
    assert ask.at("spread", "codel-near") == pytest.approx(10.0)
    one = ask.estimate(ask.measures["spread"], points[:1])
    assert one.low is not None
    assert one.high is not None
    assert one.low < 10.0 < one.high
    assert ask.by_seed(ask.measures["spread"], points[:1]) == {1: pytest.approx(10.0)}


def test_order_is_that_of_pairs_of_points(ask: Ask) -> None:
    # What is better the more of it there is gives the order backwards, which is right; read as less, all pairs are wrong.
    assert ask.at("right", "tail-near") == 1.0
    assert ask.at("wrong", "codel-far") == 0.0


def test_samples_of_a_probe_lie_in_a_window(ask: Ask) -> None:
    assert ask.at("some", "tail-near") == pytest.approx(30.0)  # 20 and 40 of 20, 90, 40
    assert ask.at("middle", "tail-near") == pytest.approx(30.0)  # 20 and 40 of 10, 20, 40, 90
    assert ask.at("last", "tail-near") == pytest.approx(7.0)
    with pytest.raises(NotRecorded, match="no samples of call"):
        ask.at("last", "codel-far")


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ('[measures.a]\nratio = ["a", 3]\n', "is made of itself"),
        ('[measures.a]\nratio = ["b", 3]\n', 'no measure "b"'),
        ('[measures.a]\nratio = ["a"]\n', "takes two"),
        ('[measures.a.by_label.queue]\npie = "a"\n', 'no point has queue = "pie"'),
        ('[measures.a]\norder = ["a", "a"]\n', "names the labels"),
        ('[measures.a]\nsubject = "call"\nmetric = "lost"\nat = { plaice = "far" }\n', "plaice"),
        ('[measures.a]\nsubject = "call"\nmetric = "lost"\nevery = 2\n', "are for samples"),
        ('[measures.a]\nsubject = "call"\nsamples = "probe"\nmean = true\nwindow = [3, 2]\n', "ends before it begins"),
        ('[measures.a]\nsubject = "call"\nsamples = "probe"\n', "`trimmed`"),
    ],
)
def test_what_cannot_be_made_is_told(tmp_path: Path, answers: str, told: str) -> None:
    study = write(tmp_path, answers, top='keep = ["transfers"]\n')
    with pytest.raises(StudyError, match=told):
        make_plan(load_study(str(study)), RunOptions(), unanswerable)


def test_a_tolerance_may_be_as_wide_as_runs_differ() -> None:
    rule = Rule("chosen", "A", deviations=2)
    for ours, verdict in ((111.0, Verdict.MATCH), (135.0, Verdict.MATCH), (110.9, Verdict.MISS)):
        assert judge(Estimate(ours), 123.0, rule, deviation=6.0, digit=0.1) == verdict
    assert rule.text == "2 standard deviations over runs (chosen)"
