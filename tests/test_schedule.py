"""Conditions of a link from a table that is named on the command line."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn.base.errors import UsageError
from sojourn.scenario.scenario_file import load_scenario
from sojourn.traces.schedule import conditions_from_csv

EXAMPLE = Path(__file__).parents[1] / "scenarios/two-bottlenecks.toml"


def test_a_row_holds_until_the_next_and_an_empty_cell_changes_nothing(tmp_path: Path) -> None:
    table = tmp_path / "drive.csv"
    table.write_text("time_s,rate_mbps,delay_ms,loss\n0,10,,\n1.5,0.5,20,0.01\n\n3,,0,\n", "utf-8")
    scenario = load_scenario(EXAMPLE, [f"access.upstream.conditions=@{table}"])
    text = scenario.canonical()
    assert [line for line in text.splitlines() if line.startswith(("at =", 'rate = "500', "loss ="))] == [
        'at = "0 s"',
        'at = "1.5 s"',
        'rate = "500 kb/s"',
        "loss = 0.01",
        'at = "3 s"',
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "first line"),
        ("time_s\n1\n", "first line"),
        ("time_s,rate_mbps,rate_mbps\n", "first line"),
        ("time_s,rate_mbps\n1\n", ":2: 1 cells below 2 headings"),
        ("time_s,rate_mbps\n1,-3\n", ":2: '-3' is not a number"),
        ("time_s,rate_mbps\n1,nan\n", ":2: 'nan' is not a number"),
        (f"time_s,rate_mbps\n1,{'7' * 200_000}\n", ":2: field larger than field limit"),
    ],
)
def test_what_is_no_such_table_is_told_with_its_line(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        conditions_from_csv(text, "drive.csv")


def test_a_pipe_that_nobody_writes_to_is_no_table(tmp_path: Path) -> None:
    pipe = tmp_path / "drive.csv"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match=r"drive\.csv cannot be read"):
        load_scenario(EXAMPLE, [f"access.upstream.conditions=@{pipe}"])


def test_a_table_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_scenario(EXAMPLE, [f"access.upstream.conditions=@{tmp_path / 'no.csv'}"])


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    for table in (text, f"time_s,rate_mbps\n{text}"):
        try:
            assert conditions_from_csv(table, "any.csv").startswith("[")
        except UsageError:
            continue
