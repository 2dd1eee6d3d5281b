"""Words for what goes wrong."""

import pytest

from sojourn.base.errors import ExitStatus, MissingExtra, Problem, ScenarioError, nearest


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem("a.b", "is wrong"), "a.b: is wrong"),
        (Problem("", "not TOML", file="f.toml"), "f.toml: not TOML"),
        (Problem("a", "is wrong", line=3, column=7, file="f.toml"), "f.toml:3:7: a: is wrong"),
    ],
)
def test_a_problem_reads_place_path_message(problem: Problem, text: str) -> None:
    assert str(problem) == text


def test_a_list_of_problems_keeps_them_and_is_invalid_input() -> None:
    problems = [Problem("a", "is wrong"), Problem("b", "is missing")]
    error = ScenarioError(problems)
    assert error.problems == problems
    assert str(error) == "a: is wrong\nb: is missing"
    assert error.exit_status == ExitStatus.INVALID


def test_a_missing_package_comes_with_the_command_that_installs_it() -> None:
    error = MissingExtra("`sojourn query`", "duckdb", "sql")
    assert "duckdb" in error.message
    assert 'pip install "sojourn[sql]"' in error.hint


def test_a_near_name_is_suggested_a_short_list_is_named_a_long_one_is_not() -> None:
    assert nearest("tagret", ["target", "interval"]) == 'did you mean "target"?'
    assert nearest("x", ["target", "interval"]) == "known: interval, target"
    assert nearest("x", [f"name-{number}" for number in range(100)]) == ""
    assert nearest("x", []) == ""
