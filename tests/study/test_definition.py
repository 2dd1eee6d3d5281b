"""Reading `study.toml`."""

from pathlib import Path

import pytest

from sojourn.errors import Problem, StudyError, UsageError
from sojourn.study.definition import load_definition, parse_definition

MINIMAL = b'schema = 1\nname = "x"\nscenario = "base.toml"\n[points.base]\n'


def problems_of(text: str) -> list[Problem]:
    with pytest.raises(StudyError) as caught:
        parse_definition(text.encode(), "study.toml")
    return caught.value.problems


def test_what_is_left_out_has_its_documented_default() -> None:
    definition = parse_definition(MINIMAL)
    assert definition.seeds.values() == [1]
    assert definition.quick.seeds == 1
    assert definition.quick.points == ["*"]
    assert definition.keep == []
    assert definition.points["base"].overlays == []


def test_seeds_count_from_the_first() -> None:
    text = MINIMAL + b"[seeds]\nfirst = 7\ncount = 3\n"
    assert parse_definition(text).seeds.values() == [7, 8, 9]


def test_all_problems_are_told_at_once_with_path_and_hint() -> None:
    found = problems_of(
        'schema = 2\nname = "x y"\nscenaro = "b"\n[seeds]\ncount = 0\n[points.p]\noverlay = ["a"]\n'
    )
    told = {problem.path: problem for problem in found}
    assert set(told) == {"schema", "name", "scenario", "scenaro", "seeds.count", "points.p.overlay"}
    assert told["schema"].hint == "write: schema = 1"
    assert told["scenaro"].hint == 'did you mean "scenario"?'
    assert told["points.p.overlay"].hint == 'did you mean "overlays"?'


def test_an_empty_file_is_told_what_a_study_needs() -> None:
    found = problems_of("")
    assert [problem.path for problem in found] == ["schema", "name", "scenario"]
    assert "points or matrix" in found[0].hint


def test_a_misspelt_overlay_gets_the_nearest_name() -> None:
    (problem,) = problems_of(
        'schema = 1\nname = "x"\nscenario = "b"\n[overlays.codel]\n[points.p]\noverlays = ["codle"]\n'
    )
    assert problem.path == "points.p.overlays"
    assert problem.hint == 'did you mean "codel"?'


def test_a_table_that_nothing_records_gets_the_nearest_name() -> None:
    (problem,) = problems_of(
        'schema = 1\nname = "x"\nscenario = "b"\nkeep = ["pages", "serie"]\n[points.p]\n'
    )
    assert problem.path == "keep[2]"
    assert problem.hint == 'did you mean "series"?'


def test_a_study_without_points_says_so() -> None:
    (problem,) = problems_of('schema = 1\nname = "x"\nscenario = "b"\n')
    assert problem.message == "a study needs points or a matrix"


@pytest.mark.parametrize("label", ["point", "seed", "wall_s"])
def test_a_label_cannot_take_the_name_of_a_column(label: str) -> None:
    found = problems_of(
        f'schema = 1\nname = "x"\nscenario = "b"\n[points.p]\nlabels = {{ {label} = "1" }}\n'
    )
    assert [problem.path for problem in found] == [f"points.p.labels.{label}"]


def test_a_label_of_a_wrong_type_is_told_once() -> None:
    (problem,) = problems_of(
        'schema = 1\nname = "x"\nscenario = "b"\n[points.p]\nlabels = { case = ["a"] }\n'
    )
    assert problem.path == "points.p.labels.case"
    assert problem.message == "a label is a text, a number, true or false"


@pytest.mark.parametrize("text", ["= = =", "a = 1\nb = [", "\x00\x01\x02"])
def test_what_is_not_toml_is_told_in_one_line(text: str) -> None:
    (problem,) = problems_of(text)
    assert problem.message.startswith("not TOML: ")


def test_a_syntax_error_has_a_position() -> None:
    (problem,) = problems_of('schema = 1\nname = "x\n')
    assert (problem.line, problem.file) == (2, "study.toml")


def test_bytes_that_are_no_text_are_a_problem_and_not_a_crash() -> None:
    with pytest.raises(StudyError) as caught:
        parse_definition(b"\xff\xfe\x00")
    assert caught.value.problems == [Problem("", "not a UTF-8 text")]


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        load_definition(tmp_path / "study.toml")
