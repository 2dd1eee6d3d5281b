"""What a study by path declares is asked, judged, set beside the print, drawn; errors stay in their place."""

import csv
import json
from pathlib import Path

import pytest

from sojourn.answers.checks import unanswerable
from sojourn.answers.claims import NEEDS_WHOLE, Outcome
from sojourn.answers.judging import judge, judge_claim
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.report_content import StudyParts
from sojourn.answers.reporting import declared_parts
from sojourn.answers.view import StudyView
from sojourn.base.errors import StudyError
from sojourn.report import build
from sojourn.report.builder import summary_of
from sojourn.report.files import write_references
from sojourn.report.page import Scorecard, scorecards
from sojourn.study.definition import load_definition
from sojourn.study.files import copy_companions
from sojourn.study.library import builtin_names, load_study
from sojourn.study.plan import RunOptions, make_plan
from sojourn.study.schema import study_schema
from studies.small_study import BASE, DELAYS, result_of, write

ROOT = Path(__file__).parents[2]

MEASURE = """
[measures.delay]
subject = "call"
metric = "delay_p95"
unit = "ms"
title = "P95 of delay"
relative = 0.1
"""

CLAIM = """
[[claim]]
identifier = "one"
statement = "it holds"
"""


def judged(folder: Path, claims: str, module: str = "", *, quick: bool = False) -> dict[str, Outcome]:
    study = write(folder, MEASURE + claims, module)
    opened = OpenStudy.of(load_study(str(study)))
    ask = opened.ask(StudyView(result_of(study, quick=quick)))
    return {one.claim.identifier: one.outcome for one in judge(opened, ask)}


def parts(folder: Path, answers: str, module: str = "") -> StudyParts:
    study = write(folder, MEASURE + answers, module)
    return declared_parts(OpenStudy.of(load_study(str(study))), StudyView(result_of(study)))


def problems(folder: Path, answers: str, module: str = "", top: str = "") -> list[str]:
    study = write(folder, answers, module, top)
    with pytest.raises(StudyError) as caught:
        make_plan(load_study(str(study)), RunOptions(), unanswerable)
    return [f"{one.path}: {one.message} | {one.hint}" for one in caught.value.problems]


# ---- claims -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "holds", "verdict", "ours"),
    [
        (
            'd = { measure = "delay", where = { queue = "codel", place = "far" } }',
            '{ value = "d", at_least = 25, at_most = 35 }',
            "holds",
            "d 30",
        ),
        (
            'd = { measure = "delay", where = { queue = "codel" }, by = ["place"] }',
            '{ value = "d", at_most = 20 }',
            "fails",
            "d near: 10, far: 30",
        ),
        (
            'd = { measure = "delay", where = { queue = "codel" }, by = ["place"] }',
            '{ value = "d", at_most = 20, in_at_least = 1 }',
            "holds",
            "d near: 10, far: 30",
        ),
        (
            'd = { measure = "delay", where = { place = "near" }, by = ["queue"] }',
            '{ value = "d.codel", below = "d.tail", factor = 0.2 }',
            "holds",
            "d tail: 100, codel: 10",
        ),
        (
            'd = { measure = "delay", where = { place = "near" }, by = ["queue"] }',
            '{ rising = ["d.codel", "d.tail"] }',
            "holds",
            "d tail: 100, codel: 10",
        ),
        (
            'd = { measure = "delay", where = { place = "near" }, by = ["queue"] }',
            '{ rising = ["d"] }',
            "fails",
            "d tail: 100, codel: 10",
        ),
        (
            'd = { measure = "delay", where = { queue = "codel" }, across = "mean" }',
            '{ value = "d", near = 20, within = 0.1 }',
            "holds",
            "d 20",
        ),
        (
            'd = { measure = "delay", where = { queue = ["tail", "codel"] }, across = "max", over = "min" }',
            '{ value = "d", near = 30, within_share = 0.01 }',
            "holds",
            "d 30",
        ),
        (
            'd = { measure = "delay", points = { one = "tail-far", two = "codel-far" } }',
            '{ value = "d", besides = ["one"], below = 31 }',
            "holds",
            "d one: 200, two: 30",
        ),
        (
            'd = { measure = "delay", points = { "" = "tail-far" } }',
            '{ any_of = [{ value = "d", below = 1 }, { value = "d", above = 199 }] }',
            "holds",
            "d 200",
        ),
    ],
)
def test_conditions_judge_values(tmp_path: Path, values: str, holds: str, verdict: str, ours: str) -> None:
    found = judged(tmp_path, f"{CLAIM}values.{values}\nholds = [{holds}]\n")["one"]
    assert (str(found.verdict), found.ours) == (verdict, ours)


def test_a_value_may_be_an_end_of_the_interval_over_seeds(tmp_path: Path) -> None:
    claim = (
        CLAIM
        + """
values.tail = { measure = "delay", where = { queue = "tail", place = "near" }, seeds = "mean", end = "low" }
values.codel = { measure = "delay", where = { queue = "codel", place = "near" }, seeds = "mean", end = "high" }
values.ratio = { ratio = ["tail", "codel"] }
holds = [{ value = "ratio", at_least = 7 }]
ours = "{tail:5} over {codel:5}: {ratio:4}"
"""
    )
    # Three seeds, a deviation of 1 ms: 100 and 10 ms, less and plus 4.3027/sqrt(3) ms.
    assert judged(tmp_path, claim)["one"].ours == "97.516 over 12.484: 7.811"


def test_a_claim_about_points_that_were_not_run_is_not_judged(tmp_path: Path) -> None:
    claim = (
        CLAIM
        + """
values.tail = { measure = "delay", where = { queue = "tail" }, by = ["place"] }
holds = [{ value = "tail", at_least = 1000 }]
"""
    )
    study = write(tmp_path, MEASURE + claim)
    some = result_of(study, {name: DELAYS[name] for name in ("codel-near", "codel-far")})
    opened = OpenStudy.of_result(some)
    (one,) = judge(opened, opened.ask(StudyView(some)))
    assert str(one.outcome.verdict) == "not-run"
    assert one.outcome.note == "needs point tail-near"


def test_a_claim_about_all_places_is_not_judged_by_those_that_were_run(tmp_path: Path) -> None:
    claim = (
        CLAIM
        + """
values.all = { measure = "delay", where = { queue = "codel" }, by = ["place"] }
holds = [{ value = "all", at_most = 20 }]
"""
    )
    study = write(tmp_path, MEASURE + claim)
    near = result_of(study, {name: DELAYS[name] for name in ("codel-near", "tail-near")})
    opened = OpenStudy.of_result(near)
    (one,) = judge(opened, opened.ask(StudyView(near)))
    assert (str(one.outcome.verdict), one.outcome.note) == ("not-run", "needs point codel-far")


def test_values_build_on_values_group_by_group(tmp_path: Path) -> None:
    claim = (
        CLAIM
        + """
values.codel = { measure = "delay", where = { queue = "codel" }, by = ["place"] }
values.tail = { measure = "delay", where = { queue = "tail" }, by = ["place"] }
values.ratio = { ratio = ["tail", "codel"] }
values.gain = { difference = ["tail", "codel"], over = "mean" }
values.slope = { slope = "tail", against = [20, 100] }
values.both = { together = { gain = "gain", slope = "slope" } }
holds = [{ value = "ratio", at_least = 8, name = "clear", in_at_least = 1 }]
ours = "{clear:count} of 2 ({clear:names}); {ratio:2}; {gain} ms; {both:3}; most {ratio:max} {ratio:argmax}"
"""
    )
    ours = judged(tmp_path, claim)["one"].ours
    # 100/10 and 200/30; (90 + 170)/2; 100 ms over 80 ms of distance.
    assert ours == "1 of 2 (near); near: 10, far: 6.7; 130 ms; gain: 130, slope: 1.25; most 10 near"


def test_a_second_judgement_with_other_measures_is_said_only_where_it_differs(tmp_path: Path) -> None:
    answers = """
[measures.lost]
subject = "call"
metric = "lost"
[[claim]]
identifier = "one"
statement = "small"
values.d = { measure = "delay", points = { "" = "tail-near" } }
holds = [{ value = "d", at_most = 2 }]
ours = "{d}"
instead = { delay = "lost" }
instead_words = "by losses"
"""
    assert judged(tmp_path, answers)["one"].ours == "100; by losses it holds: 1"


def test_a_claim_may_be_a_function_or_other_claims(tmp_path: Path) -> None:
    answers = """
[[claim]]
identifier = "own"
statement = "by a function"
function = "decide"
[[claim]]
identifier = "both"
statement = "together"
all_of = ["own", "own"]
[[claim]]
identifier = "open"
statement = "no way to judge"
"""
    module = """
from sojourn.answers.claims import Outcome
def decide(ask):
    near = ask.number("delay", queue="codel", place="near")
    return Outcome.of(ask.numbers("delay", queue="codel", by=["place"])["near"] == near, f"{near:g} ms")
"""
    found = judged(tmp_path, answers, module)
    assert {name: str(one.verdict) for name, one in found.items()} == {
        "own": "holds",
        "both": "holds",
        "open": "not-run",
    }
    assert found["own"].ours == "10 ms"


def test_a_test_that_is_named_and_not_run_holds_no_claim(tmp_path: Path) -> None:
    answers = """
[tests]
exact = "tests/x.py::test_x"
[[claim]]
identifier = "exact"
statement = "closed form"
use = "unit"
[[claim]]
identifier = "both"
statement = "together"
all_of = ["exact"]
"""
    found = judged(tmp_path, answers)
    assert {name: str(one.verdict) for name, one in found.items()} == {"exact": "not-run", "both": "not-run"}
    assert found["exact"].note == "depends on the test tests/x.py::test_x, which no study runs"


def test_tests_of_the_project_hold_claims_of_its_own_studies(tmp_path: Path) -> None:
    study = OpenStudy.of(load_study("white2012"))
    claim = next(one for one in study.definition.claim if one.identifier in study.definition.tests)
    ask = study.ask(StudyView(result_of(write(tmp_path, MEASURE))))
    found = judge_claim(study, ask, claim).outcome
    assert str(found.verdict) == "holds"
    assert found.note == f"held by the test {study.definition.tests[claim.identifier]}"


def test_a_quick_run_judges_what_its_length_decides_and_leaves_the_rest_to_the_whole_study(tmp_path: Path) -> None:
    claim = (
        CLAIM + 'values.d = { measure = "delay", points = { "" = "tail-far" } }\nholds = [{ value = "d", above = 0 }]\n'
    )
    for number, (needs, quick, verdict, note) in enumerate(
        [
            ("", True, "not-run", NEEDS_WHOLE),
            ("", False, "holds", ""),
            ("seconds = 10\n", True, "holds", "quick"),
            ("seconds = 11\n", True, "not-run", "needs runs of 11 s; those of tail-far last 10 s"),
            ("seconds = 10\nseeds = 4\n", True, "not-run", "needs 4 runs of a point; tail-far has 3"),
            ("seeds = 4\n", False, "not-run", "needs 4 runs of a point; tail-far has 3"),
        ]
    ):
        found = judged(tmp_path / str(number), claim + needs, quick=quick)["one"]
        assert (str(found.verdict), found.note) == (verdict, note), needs


def test_a_verdict_names_the_points_that_are_missing(tmp_path: Path) -> None:
    claim = (
        CLAIM + 'values.d = { measure = "delay", points = { "" = "tail-far" } }\nholds = [{ value = "d", above = 0 }]\n'
    )
    study = write(tmp_path / "b", MEASURE + claim)
    opened = OpenStudy.of(load_study(str(study)))
    less = {point: value for point, value in DELAYS.items() if point != "tail-far"}
    (found,) = judge(opened, opened.ask(StudyView(result_of(study, less))))
    assert (str(found.outcome.verdict), found.outcome.note) == ("not-run", "needs point tail-far")


def test_a_claim_whose_runs_are_too_short_waits(tmp_path: Path) -> None:
    claim = (
        CLAIM
        + 'values.d = { measure = "delay", points = { "" = "tail-far" } }\nholds = [{ value = "d", above = 0 }]\nseconds = 60\n'
    )
    assert judged(tmp_path, claim)["one"].note == "needs runs of 60 s; those of tail-far last 10 s"


# ---- tables, winners, headlines, figures ---------------------------------------------------------------

TABLE = """
[[table]]
item = "table-1"
title = "Table 1"
rows = "place"
where = { queue = "codel" }
[[table.groups]]
where = { queue = "codel" }
printed = "printed.csv"
match = { place = "{row}" }
case = "C-{row}"
columns = [{ measure = "delay", printed = "p95", title = "P95" }]
[[table.groups]]
name = "codel : tail"
compare = "ratio"
where = { queue = "codel" }
against = { queue = "tail" }
printed = "printed.csv"
match = { place = "{row}" }
columns = [{ measure = "delay", metric = "share", printed = "share", title = "%", unit = "%" }]
"""


def test_a_printed_table_stands_beside_ours_and_is_judged(tmp_path: Path) -> None:
    (tmp_path / "printed.csv").write_text("place,p95,share\nnear,10.4,10\nfar,40.0,\n")
    rules = '[[rule]]\nclaim = "c"\ntrust = "A"\nmetrics = ["delay"]\nrelative = 0.05\n'
    (tmp_path / "tolerances.toml").write_text(rules)
    study = write(tmp_path, MEASURE + TABLE, top='tolerances = "tolerances.toml"\n')
    made = declared_parts(OpenStudy.of(load_study(str(study))), StudyView(result_of(study)))
    cells = {(cell.case, cell.metric): cell for cell in made.tables[0].ordered_cells()}
    assert {key: str(cell.verdict) for key, cell in cells.items()} == {
        ("C-near", "delay"): "match",
        ("near", "share"): "unjudged",
        ("C-far", "delay"): "miss",
    }
    assert cells["near", "share"].ours.value == pytest.approx(9.98, abs=0.05)


def test_a_second_reference_is_judged_and_counted_by_itself(tmp_path: Path) -> None:
    (tmp_path / "printed.csv").write_text("place,p95,share\nnear,10.4,10\nfar,40.0,\n")
    (tmp_path / "program.csv").write_text("place,p95,share\nnear,99,10\nfar,30.4,\n")
    rules = '[[rule]]\nclaim = "c"\ntrust = "A"\nmetrics = ["delay"]\nrelative = 0.05\n'
    (tmp_path / "tolerances.toml").write_text(rules)
    second = TABLE.replace("printed.csv", "program.csv").replace("table-1", "program")
    second = second.replace('rows = "place"', 'rows = "place"\nreference = "a program"')
    study = write(tmp_path, MEASURE + TABLE + second, top='tolerances = "tolerances.toml"\n')
    result = result_of(study)
    made = declared_parts(OpenStudy.of(load_study(str(study))), StudyView(result))
    assert summary_of(made).comparison == {"match": 1, "miss": 1, "unjudged": 1}
    cards = {card.title: (card.done, card.total) for card in cards_of(made)}
    assert cards == {"Printed cells": (1, 2), "Beside a program": (1, 2)}
    write_references(tmp_path / "references.csv", made.beside)
    with (tmp_path / "references.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "delay"]
    told = [(row["reference"], row["case"], row["theirs"], row["verdict"]) for row in rows]
    assert told == [("a program", "C-near", "99", "miss"), ("a program", "C-far", "30.4", "match")]


def cards_of(parts: StudyParts) -> list[Scorecard]:
    printed = [cell for table in parts.printed for cell in table.ordered_cells()]
    return scorecards(printed, parts.claims, parts.beside)


def test_winners_are_marked_with_their_indifference(tmp_path: Path) -> None:
    answers = """
[winners]
compare = "queue"
measures = ["delay"]
rows = ["place"]
"""
    table = parts(tmp_path, answers).summary
    assert table is not None
    assert [[(cell.text, cell.emphasis) for cell in row] for row in table.rows] == [
        [("near", ""), ("100.00", ""), ("10.00", "best")],
        [("far", ""), ("200.00", ""), ("30.00", "best")],
    ]


def test_a_place_that_a_measure_is_not_for_has_no_value_among_winners(tmp_path: Path) -> None:
    answers = """
[measures.near_only]
subject = "call"
metric = "delay_p95"
unit = "ms"
where = { place = ["near"] }

[winners]
compare = "queue"
measures = ["near_only"]
rows = ["place"]
"""
    table = parts(tmp_path, answers).summary
    assert table is not None
    assert [[(cell.text, cell.emphasis) for cell in row] for row in table.rows] == [
        [("near", ""), ("100.00", ""), ("10.00", "best")],
        [("far", ""), ("–", "muted"), ("–", "muted")],
    ]


def test_headlines_are_sentences_with_values(tmp_path: Path) -> None:
    answers = """
[[headline]]
text = "CoDel is {gain:.0f} ms {gain:better|worse}."
values.d = { measure = "delay", where = { place = "near" }, by = ["queue"] }
values.gain = { difference = ["d.tail", "d.codel"] }
"""
    assert parts(tmp_path / "a", answers).headlines == ("CoDel is 90 ms better.",)
    # What shorter runs cannot know is not said by them: those of this result last 10 s.
    longer = answers.replace("[[headline]]", "[[headline]]\nseconds = 60")
    assert parts(tmp_path / "b", longer).headlines == ()


def test_names_and_settings_of_a_sentence_are_those_that_ran(tmp_path: Path) -> None:
    answers = """
[[headline]]
text = "The {traffic} over {access.upstream.link.rate} waits {call.delay_p95:2} behind {queue.tail} and {queue.codel}; {traffic.call} {printed.times} times."
printed.times = 4.5
[labels.queue]
tail = { name = "drop-tail" }
"""
    study = write(tmp_path, MEASURE + answers)
    result = result_of(study)

    def said() -> tuple[str, ...]:
        return declared_parts(OpenStudy.of(load_study(str(study))), StudyView(result)).headlines

    # A result without its scenario cannot say what it ran.
    assert said() == ()
    (tmp_path / "scenarios").mkdir()
    for base in (BASE, BASE.replace("5 Mb/s", "7 Mb/s").replace('"voice"', '"cloud-game"')):  # as `--set` writes it
        (tmp_path / "scenarios" / "base.toml").write_text(base, encoding="utf-8")
        is_call = "voice" in base
        assert said() == (
            f"The call over {'5' if is_call else '7'} Mb/s waits 10 to 200 ms behind drop-tail and codel; "
            f"{'call' if is_call else 'cloud game'} 4.5 times.",
        )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "The call has 5 of the line.",
            'the number "5" is typed, and stays when the study changes | {access.upstream.link.rate}',
        ),
        (
            "The call waits 77 ms.",
            'the number "77" is typed, and stays when the study changes | a value: {x} with values.x = { measure = "…" }',
        ),
        (
            "Behind PIE the call waits {d.tail}.",
            'the study has no "PIE" | placeholders for its own names: {traffic}, {queue.tail}, {queue.codel}, {place.near}, {place.far}',
        ),
        (
            "A game waits {d.tail}.",
            'the study has no "game" | placeholders for its own names: {traffic}, {queue.tail}, {queue.codel}, {place.near}, {place.far}',
        ),
        ("The call waits {d.taill}.", 'd has no group "taill" | did you mean "tail"?'),
        ("The {trafic} waits {d.tail}.", 'no value "trafic" is defined above | known: d'),
        ("The call has {duration}.", 'no value "duration" is defined above | known: d'),
        # What the study has may be typed, and the percentile of the measure that is asked.
        ("Behind CoDel and drop-tail the 95th percentile of the call is {d.codel} and {d.tail}.", ""),
    ],
)
def test_a_number_or_a_name_that_is_typed_is_refused_with_its_placeholder(
    tmp_path: Path, text: str, found: str
) -> None:
    values = 'values.d = { measure = "delay", where = { place = "near" }, by = ["queue"] }'
    answers = f'{MEASURE}[[headline]]\ntext = "{text}"\n{values}\n'
    if found:
        assert problems(tmp_path, answers) == [f"headline[1].text: {found}"]
    else:
        assert make_plan(load_study(str(write(tmp_path, answers))), RunOptions(), unanswerable)


DOTS = """
[[figure]]
item = "dots"
kind = "dots"
title = "Delay"
rows = ["place"]
row = "{name}"
lanes = "queue"
complete = "all"
panels = [{ measure = "delay" }]
"""


def test_a_run_without_the_number_does_not_end_the_axis(tmp_path: Path) -> None:
    answers = MEASURE + DOTS.replace('"delay" }', '"delay", headroom = 1.1 }')
    study = write(tmp_path, answers)
    result = result_of(study, {**DELAYS, "codel-near": float("nan")})
    (figure,) = declared_parts(OpenStudy.of(load_study(str(study))), StudyView(result)).figures
    # Three seeds about 200 ms, the largest 201.
    assert figure.plot.panels[0].x.high == pytest.approx(1.1 * 201)


def test_an_error_in_one_figure_or_claim_is_shown_in_its_place_and_costs_nothing_else(tmp_path: Path) -> None:
    answers = (
        DOTS
        + """
[[figure]]
item = "broken"
kind = "function"
function = "draw"
[[headline]]
function = "say"
[[claim]]
identifier = "bad"
statement = "raises"
function = "decide"
[[claim]]
identifier = "good"
statement = "holds"
values.d = { measure = "delay", points = { "" = "tail-far" } }
holds = [{ value = "d", above = 0 }]
"""
    )
    module = """
def draw(ask):
    return 1 / 0
def say(ask):
    raise ValueError("no words")
def decide(ask):
    return {}["x"]
"""
    study = write(tmp_path, MEASURE + answers, module)
    result = result_of(study)
    made = declared_parts(OpenStudy.of(load_study(str(study))), StudyView(result))
    notes = {one.claim.identifier: one.outcome.note for one in made.claims}
    assert notes == {"bad": "cannot be judged: study.py, line 7: KeyError: 'x'", "good": ""}
    assert made.headlines == ()
    assert made.failures == (
        "figure broken: study.py, line 3: ZeroDivisionError: division by zero",
        "Headline: study.py, line 5: ValueError: no words",
        "claim bad: study.py, line 7: KeyError: 'x'",
    )
    captions = {figure.item: figure.caption for figure in made.figures}
    assert captions["broken"] == "Could not be drawn: study.py, line 3: ZeroDivisionError: division by zero"
    build(result)
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    for words in ("KeyError", "ZeroDivisionError", "no words", "picture-dots"):
        assert words in html


# ---- bad input ------------------------------------------------------------------------------------------


def test_everything_wrong_is_said_at_once_before_anything_runs(tmp_path: Path) -> None:
    answers = """
[measures.delay]
subject = "cal"
metric = "delay_p59"
where = { que = "codel" }
[measures.none]
subject = "call"
[measures.time]
series = "ramp"
[[claim]]
identifier = "one"
statement = "x"
values.d = { measure = "dealy", where = { queue = "codle" } }
values.e = { of = "dd" }
values.f = { measure = "delay", points = { a = "codel-faar" } }
holds = [{ value = "g", above = 1 }]
ours = "{h}"
[[figure]]
item = "f"
kind = "function"
function = "darw"
[winners]
compare = "queues"
measures = ["delay"]
rows = ["place"]
"""
    module = "def draw(ask): ...\ndef ramp(series): ...\n"
    assert problems(tmp_path, answers, module) == [
        'measures.delay.where: no point has a label "que" | did you mean "queue"?',
        'measures.delay.metric: no run has a metric "delay_p59" | did you mean "delay_p99"?',
        'measures.delay.subject: no point has traffic "cal" | did you mean "call"?',
        'measures.none: needs one of metric, samples, series, function, occupied, by_label, difference, ratio, distance, order | for example: subject = "call", metric = "delay_p95"',
        'measures.time: needs the record table series | add "series" to `keep`',
        'claim one.values.d: no measure "dealy" | did you mean "delay"?',
        'claim one.values.e: no value "dd" is defined above | did you mean "d"?',
        'claim one.values.f.points: no point "codel-faar" | did you mean "codel-far"?',
        'claim one.holds: no value "g" is defined above | known: d, e, f',
        'claim one.ours: no value "h" is defined above | known: d, e, f',
        'winners: no point has a label "queues" | did you mean "queue"?',
        'figure f.function: study.py has no function "darw" | did you mean "draw"?',
    ]


def test_a_delay_of_what_sends_both_ways_says_which(tmp_path: Path) -> None:
    study = write(tmp_path, '[measures.delay]\nsubject = "call"\nmetric = "delay_p99"\n')
    base = study.with_name("base.toml")
    base.write_text(base.read_text().replace('"voice"', '"online-game"'))
    with pytest.raises(StudyError) as caught:
        make_plan(load_study(str(study)), RunOptions(), unanswerable)
    (found,) = caught.value.problems
    assert found.path == "measures.delay.metric"
    assert found.message == "call sends both ways, and delay_p99 is of the direction with more bytes"
    assert found.hint == 'delay_up_p99 or delay_down_p99, or samples = "round-trip"'
    answers = study.with_name("answers.toml")
    answers.write_text(answers.read_text().replace("delay_p99", "delay_up_p99"))
    assert make_plan(load_study(str(study)), RunOptions(), unanswerable)


def test_a_module_that_raises_says_where(tmp_path: Path) -> None:
    found = problems(tmp_path, MEASURE, "x = 1\ny = x / 0\n")
    assert found[0].startswith("module: study.py, line 2: ZeroDivisionError: division by zero | ")


def test_a_module_that_is_no_python_says_where(tmp_path: Path) -> None:
    found = problems(tmp_path, MEASURE, "x = 1\ndef f(:\n")
    assert found[0].startswith("module: study.py, line 2: invalid syntax | ")


def test_files_that_are_missing_or_given_twice_are_named(tmp_path: Path) -> None:
    found = problems(tmp_path, 'title = "b"\n' + MEASURE, top='title = "a"\nnotes = "no.md"\n')
    assert found == ["title: is given in two files | each key belongs into one file"]


def test_an_unknown_key_of_a_figure_is_a_problem_of_that_figure(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, MEASURE + DOTS + "lane = 3\n")
    assert found.startswith("figure[1]")
    assert "unknown key" in found


# ---- results that come from somebody else ---------------------------------------------------------------


def test_the_module_of_a_given_result_runs_only_if_it_was_run_here_as_a_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOJOURN_STORE", str(tmp_path / "cache" / "store"))
    answers = MEASURE + CLAIM + 'function = "decide"\n'
    module = """
from sojourn.answers.claims import Outcome
def decide(ask):
    return Outcome.of(True, "run")
"""
    study = write(tmp_path / "study", answers, module)
    result = result_of(study)

    def ours() -> Outcome:
        opened = OpenStudy.of_result(result)
        (found,) = judge(opened, opened.ask(StudyView(result)))
        return found.outcome

    assert "was never run here" in ours().note
    make_plan(load_study(str(study)), RunOptions(), unanswerable)
    assert ours().ours == "run"


def test_a_result_reads_no_file_outside_itself(tmp_path: Path) -> None:
    study = write(tmp_path, MEASURE, top='notes = "../secret.md"\n')
    (tmp_path.parent / "secret.md").write_text("secret")
    with pytest.raises(StudyError, match="outside the result"):
        OpenStudy.of_result(result_of(study))


def test_a_result_keeps_the_files_that_its_report_needs(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes")
    study = write(tmp_path / "study", MEASURE, "x = 1\n", top='notes = "notes.md"\n')
    (tmp_path / "study" / "notes.md").write_text("# Notes")
    copy_companions(study, load_definition(study), tmp_path / "result")
    kept = {path.name for path in (tmp_path / "result" / "study").iterdir()}
    assert kept == {"study.toml", "answers.toml", "study.py", "notes.md"}


# ---- what stands where ----------------------------------------------------------------------------------


def test_no_name_of_a_published_study_stands_outside_its_folder() -> None:
    package = ROOT / "python" / "sojourn"
    names = [name for name in builtin_names() if name[-1].isdigit()]  # others are words
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in package.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        for name in names
        if name in line and path.parent.name != name
        # Examples, studies by name, and pages and links, whose profiles have the names of their documents.
        if not any(word in line for word in (">>>", "load(", "load_study(", '"profile": "', 'profile = "', " profile="))
    ]
    assert found == []


def test_the_schema_of_the_study_file_knows_its_answers() -> None:
    properties = json.loads(study_schema())["properties"]
    assert {"measures", "claim", "table", "winners", "figure", "headline"} <= set(properties)
