"""Cases 21, 23, 24 and 25: what a command says is what was simulated, measured and asked for."""

import shutil
from pathlib import Path

import pytest

from sojourn.advice.arms import Arm, Line
from sojourn.advice.blocks import blocks_of
from sojourn.advice.lines import line_scenario
from sojourn.scenario.scenario_file import Scenario
from support import CommandLine


@pytest.mark.slow
def test_21_a_budget_is_kept_or_the_least_that_it_takes_is_said(sojourn: CommandLine) -> None:
    done = sojourn("advise", "--line", "dsl", "--up", "20", "--down", "200", "--budget", "10s", "--out", "X")
    assert done.status == 0, done.stderr
    # 47 s on the clock of two cores before; here the clock of a busy machine decides nothing.
    assert done.processor_s < 30.0
    assert "about 0 s left" not in done.stderr


def test_23_lines_for_sqm_count_code_words_as_those_for_tc_do() -> None:
    line = Line(
        Scenario.parse(line_scenario("dsl", "20 Mb/s", "200 Mb/s", rtt="25 ms", uses={"game": 1.0}, household="worst"))
    )
    blocks = blocks_of(line, Arm("router", "cake", 0.97, 0.97), "sojourn advise", "2026-11-28")
    assert " ptm" in blocks["tc"]
    upload, download = (
        next(row for row in blocks["uci"].splitlines() if key in row) for key in ("eqdisc_opts", "iqdisc_opts")
    )
    assert "ptm" in upload
    assert "ptm" in download
    shaper = next(row for row in blocks["tc"].splitlines() if "ifb4eth1 root" in row)
    assert ("ingress" in shaper) == ("ingress" in download)


@pytest.mark.parametrize("up", ["20M", "20", "20mbit", "20 Mb/s", "20Mbps"])
def test_24_rates_are_the_same_words_for_every_command(up: str, sojourn: CommandLine) -> None:
    for words in (("home", "--access", "dsl"), ("advise", "--line", "dsl")):
        # A download in bytes is refused, so that nothing is simulated; the rate of the upload is not what is refused.
        done = sojourn(*words, "--up", up, "--down", "200 MB/s")
        assert done.status == 2
        assert "--up" not in done.stderr.splitlines()[0]
        assert "1.6 Gb/s" in done.stderr


def test_25_a_cost_is_that_of_all_conditions(sojourn: CommandLine) -> None:
    for file in (Path(__file__).parent / "25-tutorial-cost").iterdir():
        shutil.copy(file, sojourn.directory)
    done = sojourn("study", "run", "queues.toml", "--out", "queues", "--no-figures")
    assert done.status == 0, done.stderr
    said = sojourn("compare", "queues", "--by", "queue")
    assert "at no cost" not in said.stdout
    assert "loses 0 to 9 %" in said.stdout
    assert "most at 100 ms" in said.stdout
