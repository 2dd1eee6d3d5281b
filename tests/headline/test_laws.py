"""Laws of the headline: what holds for any runs."""

import re
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headline.points import DOWNLOAD, PAGE, ROUND_TRIP, SCORE, UPLOAD, around
from sojourn.headline.applications import APPLICATIONS, GRADES, Measure
from sojourn.headline.derive import headline_of
from sojourn.headline.said import Headline, Point, digits

NAMES = ("today", "PIE", "FQ-CoDel", "LLD with PGS", "RED")

delays = st.floats(0.5, 900.0)
scores = st.floats(1.0, 4.5)
loads = st.floats(0.1, 30.0)
rates = st.floats(0.5, 100.0)
noise = st.floats(0.0, 0.2)


@st.composite
def runs(draw: st.DrawFn, least: int = 1, conditions: int = 2) -> list[Point]:
    """Draw points of up to five settings under one or two conditions, five seeds each or one."""
    names = NAMES[: draw(st.integers(least, len(NAMES)))]
    where = ["20 ms", "100 ms"][: draw(st.integers(1, conditions))]
    single = draw(st.booleans())
    has = {ROUND_TRIP: delays, SCORE: scores, PAGE: loads, UPLOAD: rates, DOWNLOAD: rates}
    chosen = draw(st.sets(st.sampled_from(list(has)), min_size=1))
    points: list[Point] = []
    for condition in where:
        for name in names:
            values: dict[tuple[str, str], Mapping[int, float]] = {}
            for key in has:
                if key not in chosen:
                    continue
                mean, share = draw(has[key]), draw(noise)
                spread = around(mean, share * mean, draw(st.integers(0, 3)))
                top = 4.5 if key == SCORE else float("inf")
                spread = {seed: min(max(v, 1.0 if key == SCORE else 0.01), top) for seed, v in spread.items()}
                values[key] = {1: mean} if single else spread
            points.append(Point(name, values, condition if len(where) > 1 else ""))
    return points


def said(points: list[Point]) -> Headline:
    found = headline_of(points)
    assert found is not None
    return found


def winner(points: list[Point]) -> set[str]:
    return set(said(points).winner)


@given(runs())
@settings(deadline=None, max_examples=50)
def test_only_settings_that_ran_are_named(points: list[Point]) -> None:
    declared = [*NAMES, "CoDel", "COBALT"]
    found = headline_of(points, settings=declared)
    assert found is not None
    text = found.sentence
    for point in sorted(points, key=lambda one: -len(one.setting)):  # FQ-CoDel has CoDel in it
        text = text.replace(point.setting, "")
    missing = set(declared) - {point.setting for point in points}
    assert not [name for name in missing if re.search(rf"\b{re.escape(name)}\b", text)]


def summary(points: list[Point]) -> list[float]:
    return [sum(v.values()) / len(v) for point in points for v in point.values.values()]


@given(runs())
@settings(deadline=None, max_examples=50)
def test_each_measured_number_is_a_cell_of_the_summary_after_rounding(points: list[Point]) -> None:
    found = said(points)
    cells = summary(points)
    written = {digits(cell, count) for cell in cells for count in (2, 3)}
    for one in found.cells:
        assert one.value in cells
        assert one.text in written
    text = found.sentence
    for name in (*NAMES, "20 ms", "100 ms", "P99"):  # not within 120 ms
        text = re.sub(rf"\b{re.escape(name)}\b", "", text)
    text = re.sub(
        r"\d[\d.]*(?: to \d[\d.]*)? (times|%|conditions)", "", text
    )  # ratios and shares of two cells, and counts
    told = {one.text for one in found.cells}
    assert set(re.findall(r"\d+(?:\.\d+)?", text)) <= told


@given(runs(least=2, conditions=1), st.data())
@settings(deadline=None, max_examples=50)
def test_swapping_the_data_of_two_settings_swaps_their_names(points: list[Point], data: st.DataObject) -> None:
    first, second = data.draw(st.sampled_from([(0, 1), (0, len(points) - 1)]))
    swapped = list(points)
    swapped[first] = Point(points[first].setting, points[second].values, points[first].condition)
    swapped[second] = Point(points[second].setting, points[first].values, points[second].condition)
    names = {points[first].setting: points[second].setting}
    names |= {there: here for here, there in names.items()}
    assert winner(swapped) == {names.get(name, name) for name in winner(points)}


@given(runs(least=2, conditions=1))
@settings(deadline=None, max_examples=50)
def test_a_setting_that_is_worse_everywhere_changes_no_winner(points: list[Point]) -> None:
    more = (SCORE, UPLOAD, DOWNLOAD)
    worst: dict[tuple[str, str], dict[int, float]] = {}
    for key in points[0].values:
        ends = [pick(p.values[key].values()) for p in points for pick in (min, max)]
        value = 0.8 * min(ends) if key in more else 1.5 * max(ends)
        worst[key] = dict.fromkeys(points[0].values[key], value)
    before = said(points)
    after = said([*points, Point("worst", worst)])
    assert "worst" not in after.winner
    if before.winner and after.kind == before.kind and after.about == before.about:
        assert after.winner == before.winner


@given(runs(least=2))
@settings(deadline=None, max_examples=50)
def test_identical_settings_have_no_winner(points: list[Point]) -> None:
    by_condition = {point.condition: point.values for point in reversed(points)}
    found = said([Point(point.setting, by_condition[point.condition], point.condition) for point in points])
    assert found.kind in ("tie", "idle", "none")
    assert found.winner == ()


@given(st.sampled_from([m for a in APPLICATIONS.values() for m in a.all_measures]), delays, delays)
def test_grades_follow_the_metric(measure: Measure, first: float, second: float) -> None:
    low, high = sorted((first, second))
    better, worse = (high, low) if measure.more_is_better else (low, high)
    assert measure.grade(better) <= measure.grade(worse)


@given(runs(conditions=1), st.floats(1.0, 5.0))
@settings(deadline=None, max_examples=50)
def test_no_grade_improves_when_everything_takes_longer(points: list[Point], factor: float) -> None:
    longer = [
        Point(
            point.setting,
            {
                key: {seed: factor * v for seed, v in values.items()} if key in (ROUND_TRIP, PAGE) else values
                for key, values in point.values.items()
            },
        )
        for point in points
    ]
    before, after = said(points).grades, said(longer).grades
    for name, grade in before.items():
        assert GRADES.index(after[name][0]) >= GRADES.index(grade[0])
        assert GRADES.index(after[name][-1]) >= GRADES.index(grade[-1])


WORDS = {"A": "good", "B": "good", "C": "fair", "D": "poor", "F": "unusable"}


@pytest.mark.whole
@given(st.lists(st.tuples(scores, delays, noise), min_size=2, max_size=3), st.integers(1, 2))
@settings(deadline=None, max_examples=100)
def test_a_word_never_stands_beside_a_grade_that_contradicts_it(
    calls: list[tuple[float, float, float]], conditions: int
) -> None:
    points = [
        Point(
            NAMES[place],
            {
                SCORE: {seed: min(max(v, 1.0), 4.5) for seed, v in around(score, share, place).items()},
                ("call", "delay_up_p99"): around(delay * factor, share, place),
            },
            condition,
        )
        for condition, factor in (("20 ms", 1.0), ("100 ms", 2.0))[:conditions]
        for place, (score, delay, share) in enumerate(calls)
    ]
    found = said(points)
    for word, name in re.findall(r"keeps? the call (\w+) \(MOS|with (?:[\w -]+) it is (\w+) \(", found.sentence):
        assert {WORDS[letter] for grade in found.grades.values() for letter in grade.split(" to ")} >= {word or name}
    keeps, *others = found.claims
    words = others[0].value.get("words") if others else None
    if words:
        for name, own in ((keeps.value["settings"], words[0]), ([others[0].value["than"]], words[1])):
            for setting in name:
                assert {WORDS[letter] for letter in found.grades[setting].split(" to ")} == {own}


@given(runs(least=2))
@settings(deadline=None, max_examples=50)
def test_each_grade_below_the_best_has_its_reason(points: list[Point]) -> None:
    found = said(points)
    assert set(found.reasons) == {name for name, grade in found.grades.items() if grade[-1] != "A"}
    where = {point.condition for point in points}
    for why in found.reasons.values():
        assert re.match(r"(the (game|call)|a page|no page)", why)
        assert where == {""} or any(why.endswith(condition) for condition in where)
