"""No condition holds by what is empty, missing or unknown, and one that would is refused before anything runs."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sojourn.answers.checks import unanswerable
from sojourn.answers.claims import Outcome
from sojourn.answers.criteria import judge_conditions
from sojourn.answers.judging import judge
from sojourn.answers.numbers import Numbers, complete, reduced
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.tolerance import Rule, Verdict
from sojourn.answers.tolerance import judge as judge_cell
from sojourn.answers.view import StudyView
from sojourn.base.errors import StudyError
from sojourn.declarations.answers import Condition
from sojourn.stats.estimate import Estimate
from sojourn.study.library import load_study
from sojourn.study.plan import RunOptions, make_plan
from studies.small_study import DELAYS, result_of, write

NAN = math.nan

KINDS: dict[str, tuple[Condition, dict[str, Numbers]]] = {
    "at_least": (Condition(value="d", at_least=1), {"d": 2.0}),
    "at_most": (Condition(value="d", at_most=3), {"d": 2.0}),
    "above": (Condition(value="d", above=1), {"d": 2.0}),
    "below": (Condition(value="d", below=3), {"d": 2.0}),
    "two limits": (Condition(value="d", at_least=1, at_most=3), {"d": 2.0}),
    "near, within": (Condition(value="d", near=2, within=0.5), {"d": 2.0}),
    "near, within a share": (Condition(value="d", near=2, within_share=0.5), {"d": 2.0}),
    "near a value": (Condition(value="d", near="e", within=0.5), {"d": 2.0, "e": 2.0}),
    "limit that is a value": (Condition(value="d", at_most="e", factor=0.5), {"d": 2.0, "e": 4.0}),
    "limit that is a group": (Condition(value="d", at_most="e.far"), {"d": 2.0, "e": {"far": 4.0}}),
    "each group": (Condition(value="d", at_most=3), {"d": {"near": 1.0, "far": 2.0}}),
    "groups against groups": (
        Condition(value="d", below="e"),
        {"d": {"near": 1.0, "far": 2.0}, "e": {"near": 2.0, "far": 3.0}},
    ),
    "only": (Condition(value="d", only=["far"], at_most=3), {"d": {"far": 2.0}}),
    "besides": (Condition(value="d", besides=["near"], at_most=3), {"d": {"far": 2.0}}),
    "k of n": (Condition(value="d", at_most=3, in_at_least=2, name="few"), {"d": {"near": 1.0, "far": 2.0}}),
    "rising": (Condition(rising=["d"]), {"d": {"near": 1.0, "far": 2.0}}),
    "rising values": (Condition(rising=["d", "e"]), {"d": 1.0, "e": 2.0}),
    "not_falling": (Condition(not_falling=["d"]), {"d": {"near": 1.0, "far": 1.0}}),
    "any_of": (Condition(any_of=[Condition(value="d", at_most=3), Condition(value="d", at_least=1)]), {"d": 2.0}),
    "so many of": (
        Condition(in_at_least=2, any_of=[Condition(value="d", at_most=3), Condition(value="e", at_least=1)]),
        {"d": 2.0, "e": 2.0},
    ),
}
"""Every kind of condition, with values by which it holds and with all of which it stands or falls."""


def damaged(values: dict[str, Numbers]) -> Iterator[tuple[str, dict[str, Numbers]]]:
    """Yield values of which one number is unknown, one group is missing, or one value has no groups left."""
    for name, value in values.items():
        if not isinstance(value, dict):
            yield f"{name} unknown", {**values, name: NAN}
            continue
        yield f"{name} empty", {**values, name: {}}
        for group in value:
            yield f"{name}.{group} unknown", {**values, name: {**value, group: NAN}}


@pytest.mark.parametrize("kind", KINDS)
def test_a_condition_holds_by_numbers_and_by_no_unknown_or_missing_one(kind: str) -> None:
    condition, values = KINDS[kind]
    assert judge_conditions([condition], values).held is True
    for damage, less in damaged(values):
        try:
            held = judge_conditions([condition], less).held
        except KeyError:  # one group of a value that has it no more: an error, which judges nothing
            assert "empty" in damage
            continue
        assert held is None, damage
    unknown: dict[str, Numbers] = {
        name: dict.fromkeys(value, NAN) if isinstance(value, dict) else NAN for name, value in values.items()
    }
    assert judge_conditions([condition], unknown).held is None


def test_every_key_that_decides_stands_in_the_table_of_kinds() -> None:
    inner = [c for condition, _ in KINDS.values() for c in (condition, *condition.any_of)]
    met = {key for condition in inner for key in condition.model_fields_set}
    assert met == set(Condition.model_fields)


@pytest.mark.parametrize(
    "condition",
    [
        Condition(value="d"),
        Condition(value="d", near=2),
        Condition(value="d", within=2),
        Condition(value="d", only=["tail-dorp"], at_least=900),
        Condition(value="d", besides=["near", "far"], at_least=900),
        Condition(rising=["d.near"]),
        Condition(not_falling=["d.near"]),
        Condition(any_of=[Condition(value="d", only=["tail-dorp"], at_least=900)]),
        Condition(any_of=[], value="d"),
    ],
)
def test_a_condition_that_asks_nothing_does_not_hold(condition: Condition) -> None:
    assert judge_conditions([condition], {"d": {"near": 1.0, "far": 2.0}}).held is None


def test_no_condition_at_all_does_not_hold() -> None:
    assert judge_conditions([], {"d": 1.0}).held is None


def test_what_is_known_decides_where_the_unknown_cannot() -> None:
    values: dict[str, Numbers] = {"d": {"a": 1.0, "b": NAN, "c": 9.0}}
    held = [judge_conditions([Condition(value="d", at_most=3, in_at_least=count)], values).held for count in (1, 2, 3)]
    assert held == [True, None, False]
    either = Condition(any_of=[Condition(value="d.b", below=1), Condition(value="d.a", below=2)])
    assert judge_conditions([either], values).held is True
    assert judge_conditions([Condition(value="d", at_most=3)], values).held is False


def test_what_never_came_on_both_sides_decides_nothing() -> None:
    never = {"d": math.inf, "e": math.inf}
    for condition in (
        Condition(value="d", at_most="e"),
        Condition(value="d", at_least="e"),
        Condition(not_falling=["d", "e"]),
        Condition(value="d", near="e", within=1),
    ):
        assert judge_conditions([condition], never).held is None
    # That something never came is a fact, too.
    assert judge_conditions([Condition(value="d", at_least=60)], never).held is True
    assert judge_conditions([Condition(value="d", at_most=60)], never).held is False


def test_one_number_of_groups_is_unknown_with_one_of_them() -> None:
    groups: Numbers = {"a": 1.0, "b": NAN}
    for how in ("mean", "median", "min", "max", "sum"):
        assert math.isnan(complete([1.0, NAN], how))
        assert math.isnan(reduced(groups, how))  # pyright: ignore[reportArgumentType]
        assert math.isnan(complete([], how))
    # Pages that never loaded do not make the mean of all pages shorter.
    assert complete([1.0, math.inf], "mean") == math.inf


@pytest.mark.parametrize("nothing", [NAN, 1.0, "yes", [1], None, np.array([True])])
def test_a_verdict_is_true_or_false_and_nothing_like_it(nothing: object) -> None:
    with pytest.raises(TypeError, match="a verdict is True or False"):
        Outcome.of(nothing, "")
    assert str(Outcome.of(np.bool_(True), "").verdict) == "holds"


def test_a_printed_cell_is_judged_by_no_unknown_number_and_no_open_range() -> None:
    wide = Rule("c", "A", factor=2)
    assert judge_cell(Estimate(123.0), 0.0, wide) is Verdict.UNJUDGED
    assert judge_cell(Estimate(NAN), 100.0, wide) is Verdict.UNJUDGED
    assert judge_cell(Estimate(None), 100.0, wide) is Verdict.UNJUDGED
    assert judge_cell(Estimate(123.0), 100.0, wide) is Verdict.MATCH


# ---- from the study file to the verdict ------------------------------------------------------------------

MEASURES = """
[measures.delay]
subject = "call"
metric = "delay_p95"
[measures.worst]
subject = "call"
metric = "delay_p95"
missing = "never"
seeds = "mean"
[measures.packets]
subject = "call"
samples = "delay"
quantile = 0.99
"""

HEAD = """
[[claim]]
identifier = "one"
statement = "x"
values.d = { measure = "delay", where = { queue = "codel" }, by = ["place"] }
values.one = { measure = "delay", points = { "" = "tail-far" } }
values.e = { measure = "delay", where = { queue = ["tail", "codel"], place = "near" } }
"""

KEEP = 'keep = ["delay_histogram"]\n'


def problems(folder: Path, answers: str) -> list[str]:
    study = write(folder, MEASURES + answers, top=KEEP)
    with pytest.raises(StudyError) as caught:
        make_plan(load_study(str(study)), RunOptions(), unanswerable)
    return [f"{one.path}: {one.message} | {one.hint}" for one in caught.value.problems]


@pytest.mark.parametrize(
    ("holds", "problem"),
    [
        ('{ value = "d", only = ["fra"], at_least = 900 }', 'd has no group "fra" | did you mean "far"?'),
        ('{ value = "d", besides = ["fra"], at_least = 900 }', 'd has no group "fra" | did you mean "far"?'),
        ('{ value = "d", besides = ["near", "far"], at_least = 900 }', "no group of d is left | near, far"),
        ('{ value = "d", only = ["far"], besides = ["far"], at_least = 900 }', "no group of d is left | near, far"),
        ('{ value = "one", only = ["far"], at_least = 9 }', "one is one number and has no groups | "),
        ('{ value = "d.fra", at_least = 9 }', 'd has no group "fra" | did you mean "far"?'),
        ('{ value = "one.far", at_least = 9 }', "one is one number | "),
        ('{ value = "d" }', "sets no limit for d | one of at_least, at_most, above, below, near"),
        ('{ value = "d", near = 1 }', "`near` and its width go together | near = 1, within = 0.1; or within_share"),
        (
            '{ value = "d", at_least = 1, within = 1 }',
            "`near` and its width go together | near = 1, within = 0.1; or within_share",
        ),
        (
            '{ value = "d", at_most = 1, factor = 3 }',
            "`factor` multiplies a limit that is a value | multiply the number itself",
        ),
        ('{ value = "d", at_most = 1, in_at_least = 3 }', "3 of 2 groups cannot meet it | near, far"),
        ('{ value = "one", at_most = 1, in_at_least = 1 }', "one is one number: `in_at_least` is for groups | "),
        ('{ value = "d", at_most = "e" }', 'e has no group "near" | known: codel, tail'),
        ('{ value = "one", at_most = "d" }', "d has groups and one is one number | near, far"),
        ('{ rising = ["one"] }', "rising needs two numbers or more | a value with groups, or several values"),
        (
            '{ not_falling = ["d.far"] }',
            "not_falling needs two numbers or more | a value with groups, or several values",
        ),
        (
            '{ any_of = [], value = "" }',
            'needs one of value, rising, not_falling, any_of | for example: { value = "late", at_most = 2 }',
        ),
        (
            '{ value = "d", at_most = 1, rising = ["d"] }',
            'needs one of value, rising, not_falling, any_of | for example: { value = "late", at_most = 2 }',
        ),
        ('{ rising = ["d"], at_most = 1 }', "rising takes no limits, groups or names | these belong to a `value`"),
        ('{ in_at_least = 2, any_of = [{ value = "d", at_most = 1 }] }', "2 of 1 conditions cannot hold | "),
        ('{ any_of = [{ value = "d", only = ["fra"], at_most = 1 }] }', 'd has no group "fra" | did you mean "far"?'),
    ],
)
def test_a_condition_that_the_runs_cannot_decide_is_a_problem_of_the_study(
    tmp_path: Path, holds: str, problem: str
) -> None:
    found = problems(tmp_path, f"{HEAD}holds = [{holds}]\n")
    assert f"claim one.holds: {problem}" in found


def test_a_condition_needs_one_group_at_least(tmp_path: Path) -> None:
    holds = '{ value = "d", at_most = 1, in_at_least = 0 }'
    (found,) = problems(tmp_path, f"{HEAD}holds = [{holds}]\n")
    assert "in_at_least" in found


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ('{ of = "d", only = ["fra"] }', 'd has no group "fra" | did you mean "far"?'),
        (
            '{ measure = "delay", where = { queue = "codel" }, by = ["place"], only = ["far"] }',
            '`only` chooses from another value | for example: { of = "late", only = ["far"] }',
        ),
        (
            '{ ratio = ["d", "e"] }',
            "d and e do not have the same groups: near, far; tail, codel | give both the same `by` or `where`, or "
            "choose groups with `only`",
        ),
        ('{ difference = ["d.fra", "one"] }', 'd has no group "fra" | did you mean "far"?'),
        ('{ slope = "d", against = [1] }', "a line needs 2 numbers in `against`: fewer always lie on one | "),
        ('{ fit = "d", against = [1, 2] }', "a line needs 3 numbers in `against`: fewer always lie on one | "),
        ('{ slope = "d", against = [1, 2, 3] }', "3 numbers in `against` for 2 groups | near, far"),
    ],
)
def test_a_value_of_groups_that_are_not_there_is_a_problem(tmp_path: Path, value: str, problem: str) -> None:
    found = problems(tmp_path, f'{HEAD}values.f = {value}\nholds = [{{ value = "f", above = 0 }}]\n')
    assert f"claim one.values.f: {problem}" in found


def test_a_label_that_no_point_has_with_the_others_is_a_problem(tmp_path: Path) -> None:
    answers = HEAD + (
        'values.f = { measure = "delay", where = { queue = ["codel", "pie"], place = "odd" } }\n'
        'holds = [{ value = "f", above = 0 }]\n'
    )
    study = write(tmp_path, MEASURES + answers, top=KEEP)
    more = (
        '[overlays.pie.access.upstream]\nqueue = { kind = "pie" }\n'
        '[points.odd]\noverlays = ["pie"]\nlabels = { queue = "pie", place = "odd" }\n'
    )
    study.write_text(study.read_text(encoding="utf-8") + more, encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        make_plan(load_study(str(study)), RunOptions(), unanswerable)
    (problem,) = caught.value.problems
    assert problem.message == "no point has queue = codel with the other labels"


def test_a_claim_is_judged_in_one_way_and_not_by_itself(tmp_path: Path) -> None:
    answers = f"""{HEAD}holds = [{{ value = "one", above = 0 }}]
not_run = "no"
[[claim]]
identifier = "two"
statement = "x"
all_of = ["three"]
[[claim]]
identifier = "three"
statement = "x"
all_of = ["two"]
"""
    assert problems(tmp_path, answers) == [
        "claim one: is judged in several ways: by holds and not_run | ",
        "claim two.all_of: the claim depends on itself | ",
        "claim three.all_of: the claim depends on itself | ",
    ]


ASKED = {
    "a number": ('d = { measure = "delay", points = { "" = "codel-far" } }', '{ value = "d", SET }'),
    "a group": ('d = { measure = "delay", where = { queue = "codel" }, by = ["place"] }', '{ value = "d", SET }'),
    "the mean of points": (
        'd = { measure = "delay", where = { queue = "codel" }, by = [], across = "mean" }',
        '{ value = "d", SET }',
    ),
    "the least of groups": (
        'd = { measure = "delay", where = { queue = "codel" }, by = ["place"], over = "min" }',
        '{ value = "d", SET }',
    ),
    "the mean of what never came": (
        'd = { measure = "worst", where = { queue = "codel" }, by = ["place"], over = "mean" }',
        '{ value = "d", at_most = 1e9 }',
    ),
    "an end of an interval": (
        'd = { measure = "delay", points = { "" = "codel-far" }, end = "high" }',
        '{ value = "d", SET }',
    ),
    "an end of what never came": (
        'd = { measure = "worst", points = { "" = "codel-far" }, end = "high" }',
        '{ value = "d", at_most = 1e9 }',
    ),
    "a quantile of no samples": ('d = { measure = "packets", points = { "" = "codel-far" } }', '{ value = "d", SET }'),
    "an end over no samples": (
        'd = { measure = "packets", points = { "" = "codel-far" }, end = "low" }',
        '{ value = "d", SET }',
    ),
    "a function": ("", ""),
}
"""What a claim may ask of runs that gave no number: nothing of it holds."""


@pytest.mark.whole
@pytest.mark.parametrize("limit", ["at_least = -1e9", "at_most = 1e9", "near = 0, within = 1e9"])
@pytest.mark.parametrize("absent", ["no number", "no metric", "no run"])
@pytest.mark.parametrize("asked", ASKED)
def test_a_claim_never_holds_by_runs_that_gave_nothing(tmp_path: Path, asked: str, absent: str, limit: str) -> None:
    values, holds = ASKED[asked]
    judged = f"values.{values}\nholds = [{holds.replace('SET', limit)}]\n"
    module = ""
    if asked == "a function":
        judged = 'function = "decide"\n'
        module = (
            "from sojourn.answers.claims import Outcome\n"
            "def decide(ask):\n"
            "    far = ask.numbers('delay', queue='codel', by=['place'])['far']\n"
            "    return Outcome.of(not far > 1e9, f'{far:g}')\n"
        )
    claim = '[[claim]]\nidentifier = "one"\nstatement = "x"\n'
    study = write(tmp_path, MEASURES + claim + judged, module, KEEP)
    load = load_study(str(study))
    make_plan(load, RunOptions(), unanswerable)
    delays = dict(DELAYS)
    if absent == "no run":
        del delays["codel-far"]
    else:
        delays["codel-far"] = NAN
    result = result_of(study, delays)
    if absent == "no metric":
        rows = result.metrics
        kept = rows.filter(~((rows["point"] == "codel-far") & (rows["metric"] == "delay_p95")))
        object.__setattr__(result, "metrics", kept)
    opened = OpenStudy.of(load)
    (one,) = judge(opened, opened.ask(StudyView(result)))
    assert str(one.outcome.verdict) != "holds"
    if "never came" not in asked or absent == "no run":
        assert str(one.outcome.verdict) == "not-run"
        assert one.outcome.note


# ---- pairs of runs -----------------------------------------------------------------------------------------

PAIRS = """
[[claim]]
identifier = "one"
statement = "x"
values.d = { measure = "delay", where = { queue = "codel" }, by = ["place"], versus = { queue = "tail" }, COMPARED }
holds = [{ value = "d", above = -1e9 }]
"""


def paired(folder: Path, compared: str, delays: dict[str, float] | None = None) -> Outcome:
    study = write(folder, MEASURES + PAIRS.replace("COMPARED", compared), top=KEEP)
    load = load_study(str(study))
    make_plan(load, RunOptions(), unanswerable)
    opened = OpenStudy.of(load)
    (one,) = judge(opened, opened.ask(StudyView(result_of(study, delays))))
    return one.outcome


def test_points_are_compared_in_pairs_of_runs_with_the_same_seed(tmp_path: Path) -> None:
    # Seeds add -1, 0 and 1 ms to both, so that differences do not vary; 10 - 100 and 30 - 200 ms.
    found = paired(tmp_path / "a", 'compared = "difference"')
    assert found.ours == "d near: -90, far: -170"
    for end in ("low", "high"):
        found = paired(tmp_path / end, f'compared = "difference", end = "{end}"')
        assert found.ours == "d near: -90, far: -170"
    # 9/99, 10/100, 11/101: their geometric mean, and the interval of their logarithms.
    logs = np.log([9 / 99, 10 / 100, 11 / 101])
    low = math.exp(logs.mean() - 4.302653 * logs.std(ddof=1) / math.sqrt(3))
    found = paired(tmp_path / "b", 'compared = "ratio", end = "low"')
    assert found.ours.startswith(f"d near: {low:.3g},")


def test_pairs_of_which_one_side_is_missing_decide_nothing(tmp_path: Path) -> None:
    less = {name: value for name, value in DELAYS.items() if name != "tail-far"}
    found = paired(tmp_path / "a", 'compared = "ratio"', less)
    assert (str(found.verdict), found.note) == ("not-run", "needs point tail-far")
    for place, delay in enumerate((NAN, math.inf, 0.0)):
        found = paired(tmp_path / f"b{place}", 'compared = "ratio"', {**DELAYS, "tail-far": delay})
        assert str(found.verdict) == "not-run"


@pytest.mark.parametrize(
    ("versus", "problem"),
    [
        ('{ queue = "tial" }', 'claim one.values.d.versus: no point has queue = "tial"'),
        ('{ queue = ["tail"] }', "claim one.values.d.versus: takes one value of a label, not a list"),
        ('{ place = "far" }', "claim one.values.d.versus: nothing to compare codel-far with"),
    ],
)
def test_what_is_compared_has_one_other_point(tmp_path: Path, versus: str, problem: str) -> None:
    answers = PAIRS.replace('{ queue = "tail" }', versus).replace("COMPARED", 'end = "low"')
    study = write(tmp_path, MEASURES + answers, top=KEEP)
    with pytest.raises(StudyError) as caught:
        make_plan(load_study(str(study)), RunOptions(), unanswerable)
    assert problem in [f"{one.path}: {one.message}" for one in caught.value.problems]
