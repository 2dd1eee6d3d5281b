from pathlib import Path

import pytest

from sojourn.answers.tolerance import Rule, Verdict, find_rule, judge, read_rules
from sojourn.stats.estimate import NOTHING, Estimate


def test_a_relative_width_lies_around_the_print() -> None:
    bounds = Rule("W", "A", relative=0.35).bounds(20.0)
    assert (bounds.low, bounds.high) == pytest.approx((13.0, 27.0))


def test_the_widest_of_several_widths_counts() -> None:
    rule = Rule("W", "A", absolute=0.51, factor=1.75)
    small, large = rule.bounds(0.23), rule.bounds(2.0)
    assert (small.low, small.high) == pytest.approx((-0.28, 0.74))
    assert (large.low, large.high) == pytest.approx((2.0 / 1.75, 3.5))


def test_a_limit_cuts_a_width() -> None:
    bounds = Rule("W", "A", relative=0.15, high=4.2).bounds(4.0)
    assert (bounds.low, bounds.high) == pytest.approx((3.4, 4.2))


def test_the_ends_of_a_range_belong_to_it() -> None:
    rule = Rule("W", "A", low=5.0, high=16.0)
    assert judge(Estimate(5.0), 9.11, rule) is Verdict.MATCH
    assert judge(Estimate(16.0), 9.11, rule) is Verdict.MATCH
    assert judge(Estimate(16.01), 9.11, rule) is Verdict.MISS
    assert judge(Estimate(4.99), 9.11, rule) is Verdict.MISS


@pytest.mark.parametrize("trust", ["C", "D"])
def test_a_print_that_cannot_be_believed_judges_nobody(trust: str) -> None:
    assert judge(Estimate(5.0), 5.0, Rule("W", trust, relative=0.1)) is Verdict.UNJUDGED


def test_a_bound_a_missing_print_and_a_missing_value_are_not_judged() -> None:
    rule = Rule("W", "A", relative=0.1)
    assert judge(Estimate(5.0), 600.0, rule, printed_is_censored=True) is Verdict.UNJUDGED
    assert judge(Estimate(5.0), None, rule) is Verdict.UNJUDGED
    assert judge(NOTHING, 5.0, rule) is Verdict.UNJUDGED
    assert judge(Estimate(5.0), 5.0, None) is Verdict.UNJUDGED


def test_ours_above_every_allowed_value_is_a_miss_though_only_a_bound() -> None:
    rule = Rule("W", "A", relative=0.35)
    assert judge(Estimate(None, above=600.0), 24.0, rule) is Verdict.MISS
    assert judge(Estimate(None, above=20.0), 24.0, rule) is Verdict.UNJUDGED


def test_a_run_that_is_shorter_than_its_rule_needs_is_not_judged() -> None:
    rule = Rule("W", "A", relative=0.02)
    assert judge(Estimate(37.0), 370.0, rule, shortened=True) is Verdict.UNJUDGED
    assert judge(Estimate(37.0), 370.0, rule) is Verdict.MISS


def test_the_first_rule_that_fits_judges() -> None:
    rules = (
        Rule("first", "A", metrics=("late",), cases=("08",), high=95.0),
        Rule("second", "A", metrics=("late",), high=2.0),
    )
    found = [
        find_rule(rules, item="table-3", case=case, queue_manager="codel", metric=metric)
        for case, metric in (("08", "late"), ("09", "late"), ("09", "lost"))
    ]
    assert [rule.claim if rule else None for rule in found] == ["first", "second", None]


def test_a_rule_reads_as_words() -> None:
    assert Rule("W12-68", "A", relative=0.15, high=4.2).text == "±15 %, at most 4.2 (W12-68)"
    assert Rule("W12-55", "A", low=5, high=16).text == "5 to 16 (W12-55)"
    assert Rule("KI-01", "B", absolute=0.51, factor=1.75).text == "factor 1.75 or ±0.51 (KI-01)"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[[rule]]\nclaim = "W"\ntrust = "A"\n', "sets no limit"),
        ('[[rule]]\nclaim = "W"\ntrust = "A"\nhihg = 2\n', "hihg"),
        ('[[rule]]\nclaim = "W"\nhigh = 2\n', "trust"),
    ],
)
def test_a_rule_file_that_says_nonsense_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "tolerances.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=complaint):
        read_rules(path)
