"""Reading `study.toml`."""

from pathlib import Path

import pytest

from sojourn.base.errors import Problem, StudyError, UsageError
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
    found = problems_of('schema = 2\nname = "x y"\nscenaro = "b"\n[seeds]\ncount = 0\n[points.p]\noverlay = ["a"]\n')
    told = {problem.path: problem for problem in found}
    assert set(told) == {"schema", "name", "scenario", "scenaro", "seeds.count", "points.p.overlay"}
    assert told["schema"].hint == "write: schema = 1"
    assert told["scenaro"].hint == 'did you mean "scenario"?'
    assert told["points.p.overlay"].hint == 'did you mean "overlays"?'


def test_an_empty_file_is_told_what_a_study_needs() -> None:
    found = problems_of("")
    assert [problem.path for problem in found] == ["schema", "name", "scenario"]
    assert "points, axes or matrix" in found[0].hint


def test_a_misspelt_overlay_gets_the_nearest_name() -> None:
    (problem,) = problems_of(
        'schema = 1\nname = "x"\nscenario = "b"\n[overlays.codel]\n[points.p]\noverlays = ["codle"]\n'
    )
    assert problem.path == "points.p.overlays"
    assert problem.hint == 'did you mean "codel"?'


def test_a_table_that_nothing_records_gets_the_nearest_name() -> None:
    (problem,) = problems_of('schema = 1\nname = "x"\nscenario = "b"\nkeep = ["pages", "serie"]\n[points.p]\n')
    assert problem.path == "keep[2]"
    assert problem.hint == 'did you mean "series"?'


def test_points_of_a_table_that_is_not_kept_get_the_nearest_name() -> None:
    (problem,) = problems_of(
        'schema = 1\nname = "x"\nscenario = "b"\nkeep = ["series"]\nkeep_points.serie = ["p*"]\n[points.p]\n'
    )
    assert (problem.path, problem.message) == ("keep_points.serie", "this table is not in `keep`")
    assert problem.hint == 'did you mean "series"?'


def test_a_study_without_points_says_so() -> None:
    (problem,) = problems_of('schema = 1\nname = "x"\nscenario = "b"\n')
    assert problem.message == "a study needs points, axes or a matrix"


@pytest.mark.parametrize("label", ["point", "seed", "wall_s"])
def test_a_label_cannot_take_the_name_of_a_column(label: str) -> None:
    found = problems_of(f'schema = 1\nname = "x"\nscenario = "b"\n[points.p]\nlabels = {{ {label} = "1" }}\n')
    assert [problem.path for problem in found] == [f"points.p.labels.{label}"]


def test_a_label_of_a_wrong_type_is_told_once() -> None:
    (problem,) = problems_of('schema = 1\nname = "x"\nscenario = "b"\n[points.p]\nlabels = { case = ["a"] }\n')
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


def axis_problems(axis: str, rest: str = "") -> list[tuple[str, str]]:
    text = f'schema = 1\nname = "x"\nscenario = "b.toml"\naxes.size = {{ {axis} }}\n{rest}'
    return [(problem.path, problem.message) for problem in problems_of(text)]


@pytest.mark.parametrize(
    ("axis", "path", "message"),
    [
        ("values = [1]", "axes.size", "an axis has one `key`, or `keys` that vary together"),
        ('key = "a", keys = ["b"], values = [1]', "axes.size", "an axis has one `key`, or `keys` that vary together"),
        ('key = "a"', "axes.size", "an axis has `values`, or a range `from` … `to`"),
        ('key = "a", values = []', "axes.size.values", "is empty"),
        ('key = "a", values = ["1 s", "1s"]', "axes.size.values", '"1s" occurs twice'),
        ('key = "a", values = [1], steps = 3', "axes.size.steps", "belongs to a range"),
        ('keys = ["a", "b"], values = [[1, 2, 3]]', "axes.size.values[1]", "3 values for 2 keys"),
        ('key = "a", from = 1, steps = 3', "axes.size.to", "missing"),
        ('key = "a", from = 1, to = 2', "axes.size.steps", "missing"),
        ('key = "a", from = 1, to = 1, steps = 2', "axes.size.to", "both ends are the same"),
        ('key = "a", from = "fast", to = "1 s", steps = 2', "axes.size.from", '"fast" is not a number with a unit'),
        (
            'key = "a", from = "1 s", to = "2 Mb/s", steps = 2',
            "axes.size.to",
            '"2 Mb/s" and "1 s" do not measure the same',
        ),
        (
            'key = "a", from = 0, to = 2, steps = 2, scale = "log"',
            "axes.size.from",
            "a range with equal ratios has no zero",
        ),
        ('key = "a", valeus = [1]', "axes.size.valeus", "unknown key"),
        ('key = "a", values = [1], scale = "cubic"', "axes.size.scale", "input should be 'linear' or 'log'"),
    ],
)
def test_an_axis_that_makes_no_sense_says_what_would(axis: str, path: str, message: str) -> None:
    assert (path, message) in axis_problems(axis)


def test_an_unknown_key_of_an_axis_gets_the_nearest() -> None:
    text = 'schema = 1\nname = "x"\nscenario = "b"\naxes.size = { key = "a", valeus = [1] }\n'
    (problem,) = [p for p in problems_of(text) if p.message == "unknown key"]
    assert problem.hint == 'did you mean "values"?'


def test_a_sample_without_axes_is_a_problem() -> None:
    text = MINIMAL.decode() + "[sample]\npoints = 3\n"
    assert [problem.path for problem in problems_of(text)] == ["sample"]


def test_names_of_points_may_be_grouped() -> None:
    text = 'schema = 1\nname = "x"\nscenario = "b"\n[points."table-3/mix6-lld"]\n'
    assert list(parse_definition(text.encode()).points) == ["table-3/mix6-lld"]
    for wrong in ("/a", "a/", "a//b"):
        assert problems_of(text.replace("table-3/mix6-lld", wrong))


def test_a_number_of_seeds_counts_from_one() -> None:
    text = b'schema = 1\nname = "x"\nscenario = "b"\nseeds = 3\n[points.base]\n'
    assert parse_definition(text).seeds.values() == [1, 2, 3]
