"""What moved between two results."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sojourn.base.errors import UsageError
from sojourn.report.comparison import by_effect, comparison_table, seen_to_move
from sojourn.stats.pairs import Contest, Standing, holm, paired_test, tally, who_wins
from sojourn.study.compare import compare_labels, compare_results
from sojourn.study.definition import StudyDefinition
from sojourn.study.result import METRICS_SCHEMA, StudyResult
from support import STUDY


def result(values: dict[str, list[float]], first_seed: int = 1) -> StudyResult:
    """Return a result with one point and subject; each metric has one value per seed."""
    rows = [
        ("small", "point", first_seed + offset, "call", metric, value, "ms")
        for metric, column in values.items()
        for offset, value in enumerate(column)
    ]
    metrics = pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")
    definition = StudyDefinition.model_validate(STUDY)
    return StudyResult(Path(), definition, metrics, pl.DataFrame(), {})


def test_the_interval_of_a_difference_is_the_paired_t_interval() -> None:
    # Differences 1, 2, 3: mean 2, standard deviation 1, standard error 1/sqrt(3) = 0.57735;
    # t(0.975, 2) = 4.30265, so the interval is 2 ± 2.48414.
    (row,) = compare_results(result({"delay": [10.0, 20.0, 30.0]}), result({"delay": [11.0, 22.0, 33.0]})).to_dicts()
    assert row["difference"] == pytest.approx(2.0)
    assert row["low"] == pytest.approx(-0.48414, abs=1e-5)
    assert row["high"] == pytest.approx(4.48414, abs=1e-5)
    # t = 3.4641 with 2 degrees of freedom: p = 1 - t / sqrt(t² + 2) = 0.07418
    assert row["p"] == pytest.approx(0.07418, abs=1e-5)
    assert row["verdict"] == "within chance"


def test_equal_values_are_the_same_and_a_constant_shift_has_moved() -> None:
    table = compare_results(
        result({"steady": [1.0, 1.0], "shifted": [1.0, 2.0]}), result({"steady": [1.0, 1.0], "shifted": [1.5, 2.5]})
    )
    assert dict(table.select("metric", "verdict").iter_rows()) == {"steady": "same", "shifted": "moved"}


def test_a_number_with_two_titles_is_told_once_and_a_change_that_cannot_be_seen_is_counted() -> None:
    before = {"delay_p99": [10.0, 11.0], "delay_up_p99": [10.0, 11.0], "mos": [4.0, 4.1], "goodput": [5.0101, 5.0102]}
    after = {"delay_p99": [20.0, 21.0], "delay_up_p99": [20.0, 21.0], "mos": [4.0, 4.1], "goodput": [5.0111, 5.0112]}
    table = compare_results(result(before), result(after))
    # The busier direction is the upstream one, which the row names.
    assert dict(table.select("metric", "verdict").iter_rows()) == {
        "delay_up_p99": "moved", "mos": "same", "goodput": "moved"
    }  # fmt: skip
    seen = seen_to_move(table.filter(pl.col("verdict") == "moved"))
    assert seen["metric"].to_list() == ["delay_up_p99"]
    # Equal values that did not move are other numbers: nothing was lost, and nothing was marked.
    quiet = {"lost": [0.0, 0.0], "marked": [0.0, 0.0]}
    assert compare_results(result(quiet), result(quiet)).height == 2


def test_one_seed_cannot_tell() -> None:
    (row,) = compare_results(result({"delay": [1.0]}), result({"delay": [2.0]})).to_dicts()
    assert (row["verdict"], row["p"], row["low"]) == ("one seed", None, None)


def test_only_seeds_of_both_sides_are_paired() -> None:
    (row,) = compare_results(
        result({"delay": [1.0, 2.0, 3.0]}), result({"delay": [2.0, 3.0, 9.0]}, first_seed=2)
    ).to_dicts()
    assert (row["seeds"], row["verdict"]) == (2, "same")


def test_results_without_common_runs_compare_to_nothing() -> None:
    table = compare_results(result({"delay": [1.0]}), result({"delay": [1.0]}, first_seed=5))
    assert table.is_empty()


def test_values_that_are_not_numbers_are_left_out() -> None:
    table = compare_results(result({"delay": [float("nan"), 1.0]}), result({"delay": [1.0, 1.0]}))
    assert table["seeds"].to_list() == [1]


def test_holm_multiplies_the_smallest_by_the_number_of_tests() -> None:
    # Sorted: 0.01·3 = 0.03, 0.03·2 = 0.06, 0.04·1 = 0.04, which may not fall below 0.06.
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_never_lowers_and_never_reorders(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    ordered = [q for _, q in sorted(zip(p_values, adjusted, strict=True))]
    assert ordered == sorted(ordered)


def labelled(values: dict[tuple[str, str], list[float]], metric: str = "delay_p99", unit: str = "ms") -> StudyResult:
    """Return a result whose points have the labels `queue` and `rtt`, with one value per seed."""
    runs = [
        {"point": f"{queue}-{rtt}", "seed": seed, "queue": queue, "rtt": rtt}
        for (queue, rtt), column in values.items()
        for seed in range(1, len(column) + 1)
    ]
    rows = [
        ("small", f"{queue}-{rtt}", seed, "game", metric, value, unit)
        for (queue, rtt), column in values.items()
        for seed, value in enumerate(column, 1)
    ]
    metrics = pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")
    definition = StudyDefinition.model_validate(STUDY)
    return StudyResult(Path(), definition, metrics, pl.DataFrame(runs), {})


TWO_QUEUES = {
    ("pie", "near"): [10.0, 12.0, 11.0, 10.5],
    ("pie", "far"): [20.0, 22.0, 21.0, 20.5],
    ("codel", "near"): [5.0, 7.1, 6.0, 5.4],
    ("codel", "far"): [15.0, 16.9, 16.0, 15.6],
}


def test_points_that_differ_in_one_label_are_paired_by_the_others_and_seeds() -> None:
    found = compare_labels(labelled(TWO_QUEUES), "queue")
    assert (found.against, found.others) == ("pie", ("rtt",))
    near, far = found.each.to_dicts()
    assert (near["queue"], near["rtt"], near["seeds"]) == ("codel", "near", 4)
    # Differences -5, -4.9, -5, -5.1.
    assert near["difference"] == pytest.approx(-5.0)
    assert near["effect"] == pytest.approx(-5 / 0.0816497, rel=1e-5)
    assert near["change"] == pytest.approx(-100 * 5 / 10.875)
    assert {near["verdict"], far["verdict"]} == {"better"}
    # By seed: means of -5 and -5, -4.9 and -5.1, -5 and -5, -5.1 and -4.9: all are -5.
    (overall,) = found.overall.to_dicts()
    assert overall["difference"] == pytest.approx(-5.0)
    assert overall["seeds"] == 4
    assert found.changed
    assert found.headline == (
        "codel instead of pie (queue; means over rtt): delay p99 of game falls by 31 %, from 15.9 to 10.9 ms; "
        "of 1 measures, 1 better beyond chance."
    )


def test_a_comparison_the_other_way_round_has_the_other_sign() -> None:
    there = compare_labels(labelled(TWO_QUEUES), "queue").each
    back = compare_labels(labelled(TWO_QUEUES), "queue", "codel").each
    assert back["difference"].to_list() == [-value for value in there["difference"]]
    assert back["low"].to_list() == pytest.approx([-value for value in there["high"]])
    assert set(back["verdict"]) == {"worse"}


def test_a_change_that_nobody_would_notice_is_neither_better_nor_worse() -> None:
    # 0.00256 ms before and after, as it is written; the differences are the same in all runs.
    values = {("pie", "near"): [0.002561, 0.002563, 0.002562], ("codel", "near"): [0.002560, 0.002562, 0.002561]}
    found = compare_labels(labelled(values), "queue")
    assert found.each["verdict"].to_list() == ["moved"]
    (row,) = comparison_table(found).rows
    assert [cell.text for cell in row[4:6]] == ["0.002562", "0.002561"]
    assert [cell.emphasis for cell in row] == [""] * len(row)


@pytest.mark.parametrize("metric", ["forwarded_volume_downstream", "utilisation"])
def test_fewer_bytes_of_acknowledgements_are_not_worse(metric: str) -> None:
    values = {("pie", "near"): [1000.0, 1010.0, 990.0], ("codel", "near"): [500.0, 505.0, 495.0]}
    found = compare_labels(labelled(values, metric, ""), "queue")
    assert found.each["verdict"].to_list() == ["moved"]


def test_what_lies_within_chance_is_said_so() -> None:
    values = {("pie", "near"): [10.0, 12.0, 11.0], ("codel", "near"): [11.0, 11.0, 11.5]}
    found = compare_labels(labelled(values), "queue")
    assert found.each["verdict"].to_list() == ["within chance"]
    assert not found.changed
    assert found.headline == "codel instead of pie (queue): nothing moved beyond chance."


def test_one_seed_gives_differences_and_no_verdict() -> None:
    values = {("pie", "near"): [10.0], ("codel", "near"): [11.0]}
    found = compare_labels(labelled(values), "queue")
    assert found.each["verdict"].to_list() == ["one seed"]
    assert "one seed, which cannot tell" in found.headline
    assert found.changed


def test_a_label_that_follows_from_the_other_is_not_paired_by() -> None:
    result = labelled({("pie", "15 ms"): [10.0, 11.0], ("codel", "5 ms"): [5.0, 6.5]})
    found = compare_labels(result, "queue")
    assert found.others == ()
    assert found.each.height == 1


@pytest.mark.parametrize(
    ("values", "by", "against", "message", "hint"),
    [
        (TWO_QUEUES, "quue", None, 'no point has a label "quue"', 'did you mean "queue"?'),
        (TWO_QUEUES, "queue", "codl", 'no point has queue "codl"', 'did you mean "codel"?'),
        (
            {("pie", "near"): [1.0], ("pie", "far"): [1.0]},
            "queue",
            None,
            'all points have the same "queue": pie',
            "compare by a label that varies",
        ),
        (
            {("pie", "near"): [1.0], ("pie", "mid"): [1.0], ("codel", "far"): [1.0], ("codel", "out"): [1.0]},
            "queue",
            None,
            'no two points differ in "queue" alone',
            "the other labels are rtt",
        ),
    ],
)
def test_what_cannot_be_compared_says_why(
    values: dict[tuple[str, str], list[float]], by: str, against: str | None, message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        compare_labels(labelled(values), by, against)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_points_with_the_same_labels_are_refused() -> None:
    result = labelled(TWO_QUEUES)
    twins = result.runs.with_columns(pl.lit("near").alias("rtt"))
    with pytest.raises(UsageError, match="the same labels"):
        compare_labels(StudyResult(Path(), result.definition, result.metrics, twins, {}), "queue")


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), min_size=3, max_size=9))
def test_the_paired_test_is_scipys(pairs: list[tuple[float, float]]) -> None:
    differences = [round(a - b, 3) for a, b in pairs]
    mean, deviation = float(np.mean(differences)), float(np.std(differences, ddof=1))
    if deviation < 1e-6:
        return
    library: Any = stats
    expected = library.ttest_1samp(differences, 0.0)
    low, high, p = paired_test(mean, deviation, len(differences))
    assert p == pytest.approx(float(expected.pvalue), rel=1e-6, abs=1e-12)
    ends = expected.confidence_interval(0.95)
    assert (low, high) == pytest.approx((float(ends.low), float(ends.high)), rel=1e-6, abs=1e-6)


def test_who_beats_all_others_wins_and_who_is_beaten_by_none_is_best() -> None:
    slow, fast, as_fast = [12.0, 13.0, 11.5], [5.0, 5.9, 4.6], [5.1, 5.7, 4.7]
    fastest = [2.0, 2.9, 1.6]
    three = {"slow": slow, "fast": fast, "as fast": as_fast}
    assert who_wins([Contest(three, "lower")]) == [Standing(frozenset({"fast", "as fast"}))]
    assert who_wins([Contest(three, "higher")]) == [Standing(frozenset({"slow"}), "slow")]
    (standing,) = who_wins([Contest({**three, "fastest": fastest}, "lower")])
    assert (standing.best, standing.winner) == ({"fastest"}, "fastest")


def test_a_significant_difference_that_does_not_matter_beats_nobody() -> None:
    values = {"a": [5.0, 6.0, 7.0], "b": [5.5, 6.5, 7.5]}
    assert who_wins([Contest(values, "lower")])[0].winner == "a"
    assert who_wins([Contest(values, "lower", indifference=1.0)])[0] == Standing(frozenset({"a", "b"}))


def test_many_rows_make_each_of_them_harder_to_win() -> None:
    # t = 1.5 / (0.5 / sqrt 3) = 5.2 with 2 degrees of freedom: p = 0.035.
    close = Contest({"a": [1.0, 1.5, 2.0], "b": [2.0, 3.0, 4.0]}, "lower")
    assert who_wins([close])[0].winner == "a"
    assert who_wins([close, close])[0].winner == ""


def test_one_run_is_decided_by_its_values_and_names_no_winner() -> None:
    values = {"a": [4.4], "b": [4.31], "c": [4.2], "d": [math.nan]}
    (standing,) = who_wins([Contest(values, "higher", indifference=0.1)])
    assert (standing.best, standing.winner) == ({"a", "b"}, "")
    assert "chance cannot be judged" in standing.note
    (alone,) = who_wins([Contest({"a": [1.0], "b": [math.nan]}, "lower")])
    assert (alone.best, alone.note) == (frozenset(), "nothing to compare")
    assert who_wins([Contest({"a": [1.0], "b": [2.0]}, "lower")])[0].best == {"a"}


def test_what_is_neither_better_nor_worse_has_no_best() -> None:
    neutral = Contest({"a": [1.0, 1.1], "b": [2.0, 2.2]}, "")
    assert who_wins([neutral])[0] == Standing(note="neither way is better")


def test_what_never_comes_loses_against_what_always_does() -> None:
    never, always, sometimes = [math.inf] * 3, [3.0, 3.1, 2.9], [3.0, math.inf, 2.9]
    (standing,) = who_wins([Contest({"never": never, "always": always}, "lower")])
    assert standing.winner == "always"
    (standing,) = who_wins([Contest({"never": never, "sometimes": sometimes}, "lower")])
    assert standing.winner == ""
    (standing,) = who_wins([Contest({"never": never, "too": never}, "lower")])
    assert standing.best == {"never", "too"}


def test_a_tally_counts_who_is_best_and_says_what_rests_on_one_run() -> None:
    names = {"a": "CoDel", "b": "PIE"}
    sure, both = Standing(frozenset({"a"}), "a"), Standing(frozenset({"a", "b"}), note="chance …")
    assert tally([], names) == ""
    assert tally([sure, Standing()], names).startswith("Wins or ties, of 1 comparison")
    told = tally([sure, both], names)
    assert "2 comparisons in the table below: CoDel 2, PIE 1. 1 of them rest on one run" in told


def test_few_seeds_do_not_make_the_worst_as_good_as_the_best() -> None:
    # 20 contests of three seeds: after Holm's correction nothing is certain, and 146 ms is not as good as 6.
    fast, slow = [6.4, 6.5, 6.6], [120.0, 150.0, 168.0]
    standings = who_wins([Contest({"fast": fast, "slow": slow}, "lower")] * 20)
    assert {standing.winner for standing in standings} == {""}
    assert {standing.marked for standing in standings} == {frozenset({"fast"})}


def test_one_long_run_of_five_does_not_make_a_slow_queue_as_good_as_a_fast_one() -> None:
    # Pages of White 2012, case 07. Differences: mean 61.5, deviation 78.7, t = 1.75 with 4 degrees of freedom, p = 0.16.
    # Logarithms of the ratios: 1.989, 2.280, 2.917, 4.173, 1.267; mean 2.525, deviation 1.098, t = 5.14, p = 0.0068.
    slow, fast = [22.704, 30.583, 58.362, 200.708, 10.994], [3.107, 3.128, 3.156, 3.092, 3.097]
    values = {"slow": slow, "fast": fast}
    assert who_wins([Contest(values, "lower")])[0].best == {"slow", "fast"}
    (standing,) = who_wins([Contest(values, "lower", by_ratio=True)])
    assert (standing.best, standing.winner) == ({"fast"}, "fast")
    # Eight such rows: 8 x 0.0068 is more than 5 %, so that none is won, and the slow one is best in none.
    standings = who_wins([Contest(values, "lower", by_ratio=True)] * 8)
    assert {(standing.best, standing.winner) for standing in standings} == {(frozenset({"fast"}), "")}


@given(st.lists(st.tuples(st.floats(0.1, 1e3), st.floats(0.1, 1e3)), min_size=3, max_size=9))
def test_the_test_of_ratios_is_scipys_of_logarithms(pairs: list[tuple[float, float]]) -> None:
    ours, theirs = (np.array(side) for side in zip(*pairs, strict=True))
    library: Any = stats
    logarithms = np.log(ours), np.log(theirs)
    if np.std(logarithms[0] - logarithms[1]) < 1e-6:
        return
    p = float(library.ttest_rel(*logarithms).pvalue)
    (standing,) = who_wins([Contest({"a": ours, "b": theirs}, "lower", by_ratio=True)])
    if abs(p - 0.05) > 1e-9:
        assert bool(standing.winner) == (p < 0.05)


def test_what_never_came_in_a_run_counts_as_coming_at_its_end() -> None:
    # Case 04, runs of 600 s: ratios 38.5, at least 167.8, 146.1, 7.7, 7.2.
    never, fast = [148.9, math.inf, 454.9, 23.6, 27.6], [3.865, 3.576, 3.114, 3.055, 3.834]
    values = {"never": never, "fast": fast}
    assert who_wins([Contest(values, "lower", by_ratio=True)])[0].best == {"never", "fast"}
    (standing,) = who_wins([Contest(values, "lower", by_ratio=True, longest=600.0)])
    assert standing.winner == "fast"
    # Never against never is a draw, however long the runs.
    both = {"never": [math.inf] * 3, "too": [math.inf] * 3}
    (standing,) = who_wins([Contest(both, "lower", by_ratio=True, longest=600.0)])
    assert standing.best == {"never", "too"}


def test_where_a_time_is_zero_pairs_are_compared_by_their_differences() -> None:
    stalls = {"a": [0.0, 0.0, 0.1, 0.0], "b": [5.0, 6.0, 5.5, 6.5], "c": [50.0, 60.0, 55.0, 65.0]}
    by_ratio, by_difference = (who_wins([Contest(stalls, "lower", by_ratio=ratio)])[0] for ratio in (True, False))
    assert by_ratio.winner == by_difference.winner == "a"


def test_a_ratio_that_makes_no_difference_beats_nobody() -> None:
    values = {"a": [1.00, 1.10, 1.20], "b": [1.04, 1.15, 1.25]}  # geometric means 1.097 and 1.143
    assert who_wins([Contest(values, "lower", by_ratio=True)])[0].winner == "a"
    assert who_wins([Contest(values, "lower", 0.05, by_ratio=True)])[0].winner == ""
    assert who_wins([Contest(values, "lower", 0.04, by_ratio=True)])[0].winner == "a"


@pytest.mark.filterwarnings("error")
def test_a_run_in_which_nothing_came_with_either_hides_no_difference_of_the_others() -> None:
    values = {"a": [1.0, 1.1, math.inf, 1.2, 1.0, 1.3], "b": [4.0, 4.5, math.inf, 4.7, 4.1, 5.0]}
    assert who_wins([Contest(values, "lower", 0.01, by_ratio=True)])[0].best == {"a"}


@given(st.lists(st.tuples(st.floats(0.1, 1e3), st.floats(0.1, 1e3)), min_size=2, max_size=9), st.floats(0.01, 100.0))
def test_who_wins_by_ratio_does_not_depend_on_the_unit(pairs: list[tuple[float, float]], factor: float) -> None:
    def standing(scale: float) -> Standing:
        values = {"a": [scale * a for a, _ in pairs], "b": [scale * b for _, b in pairs]}
        return who_wins([Contest(values, "lower", by_ratio=True)])[0]

    # Ratios that are all the same to the last bit have no variance; units may take that from them.
    ratios = [round(math.log(a / b), 6) for a, b in pairs]
    if len(set(ratios)) > 1:
        assert standing(1.0) == standing(factor)


def test_rows_are_ordered_by_whom_they_happen_to_and_then_by_size() -> None:
    def table(factor: float) -> StudyResult:
        values = {
            ("upstream", "queue_delay_p99", "ms"): 10.0 * factor**3,
            ("upload", "goodput", "Mb/s"): 9.0 / factor,
            ("call", "delay_up_p50", "ms"): 0.01 * factor**9,  # next to nothing
            ("call", "delay_up_p99", "ms"): 20.0 * factor,
            ("call", "mos", ""): 4.0 / factor**2,
            ("call", "sent", ""): 9.0 * factor**4,  # neither better nor worse
        }
        rows = [
            ("small", "point", seed, subject, metric, value + 0.001 * seed, unit)
            for (subject, metric, unit), value in values.items()
            for seed in (1, 2, 3)
        ]
        metrics = pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")
        definition = StudyDefinition.model_validate(STUDY)
        return StudyResult(Path(), definition, metrics, pl.DataFrame(), {})

    changed = compare_results(table(1.0), table(1.3))
    assert changed.height == 6
    _, rows = by_effect(changed.sample(fraction=1.0, shuffle=True, seed=7).sort("subject"), ["point"])
    told = [(row[1], row[2]) for row in rows]
    assert [who for who, _ in told] == ["call"] * 4 + ["upload", "upstream"]
    assert [what for _, what in told[:4]] == [
        *("score of the call (MOS)", "99th percentile of delay upstream"),
        *("median delay upstream", "datagrams sent"),
    ]
