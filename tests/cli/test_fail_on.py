"""Limits of `--fail-on`: what is beyond one ends with status 1, and a limit that nothing can pass is refused."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from sojourn.base.errors import UsageError
from sojourn.judging.conditions import Condition, Outcome, of_results
from support import CommandLine, write_scenario, write_study

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Result:
    """Values of one metric by seed, at one point unless it says otherwise."""

    metrics: pl.DataFrame
    level: float = 0.95


def result(
    values: Sequence[float], unit: str = "ms", point: str = "home", more: Mapping[str, Sequence[float]] = {}
) -> Result:
    """Return the values of `game.delay`, and of other metrics."""
    rows: list[dict[str, Any]] = [
        {"point": point, "seed": seed, "subject": "game", "metric": metric, "value": value, "unit": unit}
        for metric, listed in {"delay": values, **more}.items()
        for seed, value in enumerate(listed, 1)
    ]
    return Result(pl.DataFrame(rows, schema_overrides={"seed": pl.UInt64, "value": pl.Float64}))


def judged(text: str, before: Result, after: Result) -> Outcome:
    """Return the outcome of one condition."""
    (outcome,) = of_results([Condition.parse(text)], before, after)
    return outcome


BEFORE = result([100.0, 110.0, 90.0, 100.0])
SLOWER = result([110.5, 119.5, 100.5, 109.5])
"""By 10 ms at each seed, give or take half a millisecond."""


@pytest.mark.parametrize(
    ("condition", "fails"),
    [
        ("game.delay > 5 %", True),
        ("delay > 5%", True),
        ("game.delay > 9.9 ms", True),
        ("game.delay > 10.1 ms", False),
        ("game.delay > 11 %", False),
        ("game.delay < 5 %", False),
        ("game.delay < -5 %", False),
        ("game.delay < +11 ms", True),
    ],
)
def test_a_change_fails_beyond_its_limit_alone(condition: str, *, fails: bool) -> None:
    assert bool(judged(condition, BEFORE, SLOWER).fails) is fails


def test_a_change_within_chance_passes_and_is_counted() -> None:
    noisy = result([150.0, 80.0, 130.0, 70.0])
    outcome = judged("delay > 5 %", BEFORE, noisy)
    assert (outcome.fails, outcome.by_chance) == ((), 1)
    assert outcome.sentence == "passes: delay > 5 % holds nowhere beyond chance (1 within it)"


def test_a_condition_is_tested_by_its_own_values_and_not_by_those_of_others() -> None:
    # Holm over 400 other metrics that are noise would hide a change of 10 ± 0.6 ms; the condition names one.
    noise = {f"m{number}": [1.0, 2.0, 3.0, 4.0] for number in range(400)}
    other = {name: [4.0, 2.5, 1.0, 3.0] for name in noise}
    before, after = result([100.0, 110.0, 90.0, 100.0], more=noise), result([110.5, 119.5, 100.5, 109.5], more=other)
    assert judged("delay > 5 %", before, after).fails


def test_one_seed_fails_and_says_so() -> None:
    (found,) = judged("delay > 5 %", result([100.0]), result([120.0])).fails
    assert found == "game at home: 100 to 120 ms (+20.0 %), one seed"


def test_a_rise_from_nothing_is_beyond_any_percentage() -> None:
    assert judged("delay > 1000 %", result([0.0]), result([0.001])).fails
    assert not judged("delay > 1000 %", result([0.0]), result([0.0])).fails


@pytest.mark.parametrize("after", [result([float("nan")] * 4), result([100.0] * 4, point="elsewhere")])
def test_a_value_that_is_gone_fails(after: Result) -> None:
    before = Result(pl.concat([BEFORE.metrics, result([1.0], point="other").metrics]))
    whole = Result(pl.concat([after.metrics, result([1.0], point="other").metrics]))
    assert judged("delay > 5 %", before, whole).fails == ("game has no value at home",)


def test_a_share_changes_by_points() -> None:
    before, after = result([10.0] * 3, unit="%"), result([12.0] * 3, unit="%")
    assert judged("delay > 1.5 points", before, after).fails
    assert not judged("delay > 2.5 points", before, after).fails
    assert judged("delay > 19 %", before, after).fails
    with pytest.raises(UsageError) as refused:
        judged("delay > 1 ms", before, after)
    assert refused.value.hint == "delay > 1 points or delay > 1 %"


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("game.delay", "is no condition"),
        ("game.delay >= 5 %", "is no condition"),
        ("> 5 %", "is no condition"),
        ("game.delay > x ms", "is no condition"),
        ("game.delay > band", "is no condition"),
        ("a" * 10_000 + " > 5 %", "is no condition"),
        ("call.delay > 5 %", 'nothing is called "call.delay"'),
        ("game.dealy > 5 %", 'nothing is called "game.dealy"'),
        ("game.delay > 5 Mb/s", "delay is in ms"),
        ("game.delay > 5", "delay is in ms"),
    ],
)
def test_a_condition_that_nothing_can_meet_is_refused(condition: str, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        judged(condition, BEFORE, SLOWER)


@pytest.fixture
def runs(sojourn: CommandLine, tmp_path: Path) -> CommandLine:
    """Make two runs whose queues differ."""
    write_scenario(tmp_path, "scenario.toml")
    for out, limit in (("long", "200 KB"), ("short", "8 KB")):
        done = sojourn("run", "scenario.toml", "--set", f"access.upstream.queue.limit={limit}", "--out", out)
        assert done.status == 0, done.stderr
    return sojourn


def test_a_comparison_of_runs_fails_by_its_conditions(runs: CommandLine) -> None:
    worse = runs(
        "compare", "short", "long", "--fail-on", "call.delay_up_p99 > 5 %", "--fail-on", "call.delay_up_p99 < 0 ms"
    )
    assert worse.status == 1, worse.stderr
    first, second = worse.stdout.splitlines()[:2]
    assert first.startswith("fails: call.delay_up_p99 > 5 %: call: ")
    assert second == "passes: call.delay_up_p99 < 0 ms holds nowhere"
    better = runs("compare", "long", "short", "--fail-on", "call.delay_up_p99 > 5 %", "--json")
    assert better.status == 0
    assert better.json()["conditions"] == [
        {"condition": "call.delay_up_p99 > 5 %", "verdict": "pass", "found": [], "within_chance": 0}
    ]
    refused = runs("compare", "long", "short", "--fail-on", "call.delay_up_p98 > 5 %")
    assert (refused.status, refused.stdout) == (2, "")
    assert "call.delay_up_p9" in refused.stderr.partition("hint:")[2]


def test_points_fail_where_a_label_changes_them(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    assert sojourn("study", "run", "study.toml", "--quick", "--no-figures", "--out", "out").status == 0
    by = ("compare", "out", "--by", "buffer", "--against", "short", "--json")
    failed = sojourn(*by, "--fail-on", "upstream.queue_delay_mean > 1 ms")
    assert failed.status == 1, failed.stderr
    (condition,) = failed.json()["conditions"]
    assert any(found.startswith("upstream at long, ") for found in condition["found"])
    assert sojourn(*by, "--fail-on", "upstream.queue_delay_mean > 100 s").status == 2
    assert sojourn(*by, "--fail-on", "upstream.queue_delay_mean > 100000 ms").status == 0


def test_a_summary_in_markdown_has_verdict_picture_and_table(runs: CommandLine, tmp_path: Path) -> None:
    done = runs("compare", "short", "long", "--fail-on", "call.delay_up_p99 > 5 %", "--markdown", "summary.md")
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert text.startswith("- **fails: call.delay\\_up\\_p99 \\> 5 %: call: ")
    assert done.stdout.splitlines()[1] in text.replace("\\", "")
    chart = text.partition("```mermaid\n")[2].partition("```")[0]
    names, bars = (re.search(rf"^{word} \[(.*)\]$", chart, re.MULTILINE) for word in ("x-axis", "bar"))
    assert names
    assert bars
    values = [float(value) for value in bars[1].split(", ")]
    assert len(values) == names[1].count('"') / 2 > 3
    assert all(0 <= value <= 300 for value in values)
    assert "| call | 99th percentile of delay upstream | " in text


def test_names_of_strangers_are_no_markup() -> None:
    from sojourn.report.comparison import markdown_of

    row = {"subject": '<img src=x>|"]`\n[a](b)', "metric": "delay", "unit": "ms", "before": 1.0, "after": 2.0}
    rows = pl.DataFrame([{**row, "difference": 1.0, "verdict": "one seed"}])
    text = markdown_of("*x*", ["passes: <b>"], rows, [])
    assert "<img" not in text.replace("\\<", "")
    assert text.count("```") == 2
    chart = text.partition("```mermaid\n")[2].partition("```")[0]
    assert re.search(r'^x-axis \["[\w .,()-]*"\]$', chart, re.MULTILINE)
    assert len([line for line in text.splitlines() if line.startswith("| ")]) == 3


def test_checks_take_limits_on_numbers_of_scenarios(sojourn: CommandLine, tmp_path: Path) -> None:
    checked = ("check-aqm", "drop-tail", "--only", "T1", "--quick", "--trace", "none", "--json")
    limits = {
        "T1.sojourn_p95 > 30 ms": "fail",
        "utilisation < 0.5": "pass",
        "T1.sojourn_mean > band": "fail",  # drop-tail is no part of the band, and fills the buffer
        "T1.sojourn_mean < band": "pass",
    }
    done = sojourn(*checked, "--out", "out", *(word for limit in limits for word in ("--fail-on", limit)))
    assert done.status == 1, done.stderr
    assert {one["condition"]: one["verdict"] for one in done.json()["conditions"]} == limits
    assert "fails: T1.sojourn_p95 &gt; 30 ms: drop-tail in T1: " in (tmp_path / "out" / "report.html").read_text()
    fails = done.json()["conditions"][0]["found"]
    (scenario,) = done.json()["managers"][0]["scenarios"]
    assert f"{scenario['measures']['sojourn_p95']['value']:.3g} ms" in fails[0]
    for limit, told in (
        ("T2.sojourn_p95 > 30 ms", "nothing is called"),
        ("T1.utilisation < 90 %", "T1.utilisation < 0.9"),
    ):
        refused = sojourn(*checked, "--fail-on", limit)
        assert refused.status == 2
        assert told in refused.stderr


def test_controllers_take_limits_on_numbers_of_scenarios(sojourn: CommandLine) -> None:
    checked = ("check-cc", "cubic", "--only", "G2-10-40-1", "--seeds", "1", "--json")
    done = sojourn(*checked, "--fail-on", "used > 1 %", "--fail-on", "G2-10-40-1.sojourn_mean > 100")
    assert done.status == 1, done.stderr
    assert [one["verdict"] for one in done.json()["conditions"]] == ["fail", "pass"]
    assert [row for row in done.json()["controllers"][0]["rows"] if row["verdict"] == "fail"] == []


def action(sojourn: CommandLine, **inputs: str) -> "subprocess.CompletedProcess[str]":
    """Do what `action.yml` does with these inputs, as a runner of GitHub does."""
    described = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (step,) = described["runs"]["steps"]
    assert set(inputs) <= set(described["inputs"])
    assert "${{" not in step["run"]
    values = {
        name: inputs.get(expression.removeprefix("${{ inputs.").removesuffix(" }}"), "")
        for name, expression in step["env"].items()
    }
    programs = sojourn.directory / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "sojourn").write_text(f'#!/bin/sh\nexec {sys.executable} -m sojourn "$@"\n')
    (programs / "sojourn").chmod(0o755)
    files = {name: str(sojourn.directory / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    path = f"{programs}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", step["run"]],
        cwd=sojourn.directory,
        env=sojourn.environment | values | files | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_compares_and_shows_the_summary(runs: CommandLine, tmp_path: Path) -> None:
    limits = "call.delay_up_p99 > 5 %\n\ncall.mos > 0.1\n"
    done = action(runs, before="short", after="long", install="none", **{"fail-on": limits})
    assert done.returncode == 1, done.stderr
    summary = (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert "**fails: call.delay" in summary
    assert "**passes: call.mos" in summary
    assert "```mermaid" in summary
    assert action(runs, before="long", after="short", install="none").returncode == 0
    assert action(runs, install="none").returncode == 2


def test_the_action_runs_no_text_of_its_inputs(runs: CommandLine, tmp_path: Path) -> None:
    bad = "$(touch pwned)`touch pwned`; touch pwned"
    action(runs, before=bad, after="long", by=bad, golden=bad, install="none", **{"fail-on": f"{bad} > 5 %"})
    assert not (tmp_path / "pwned").exists()


LAST_IN_FIRST_OUT = """
class Other:
    def __init__(self, random):
        self.waiting = []

    def enqueue(self, packet, now):
        self.waiting.append(packet)

    def dequeue(self, now):
        return self.waiting.pop() if self.waiting else None
"""


def test_the_action_replays_golden_traces_into_a_manager(sojourn: CommandLine) -> None:
    same = action(sojourn, golden="drop-tail", install="none")
    assert same.returncode == 0, same.stderr
    (sojourn.directory / "other.py").write_text(LAST_IN_FIRST_OUT)
    differs = action(sojourn, golden="drop-tail", plugin="other.py", install="none")
    assert differs.returncode == 1, differs.stderr
