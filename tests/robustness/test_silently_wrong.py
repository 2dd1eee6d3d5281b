"""What somebody wrote has its effect, or is refused; nothing is quietly something else."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn as package
from sojourn.answers.checks import unanswerable
from sojourn.report.by_label import file_name
from sojourn.scenario.scenario_file import Scenario, check_scenario, load_scenario
from sojourn.study.library import load_study
from sojourn.study.plan import RunOptions, make_plan
from support import HOUSEHOLD, CommandLine, write_scenario, write_study


def test_the_seed_of_a_file_is_the_seed_of_its_run(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path, seed=5)
    for more in ([], ["--store", "kept"]):
        done = sojourn("run", "household.toml", "--json", *more)
        assert json.loads(done.stdout)["seed"] == 5, more
    scenario = load_scenario(tmp_path / "household.toml")
    assert (scenario.seed, scenario.seed_count) == (5, 1)


def test_seeds_of_a_file_are_those_of_the_engine(tmp_path: Path) -> None:
    write_scenario(tmp_path, seeds={"first": 7, "count": 3})
    scenario = load_scenario(tmp_path / "household.toml")
    assert (scenario.seed, scenario.seed_count) == (7, 3)


def test_python_runs_the_seed_of_the_file(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, seed=5, duration="100 ms")
    assert package.run(path).seed == 5


def test_a_traffic_entry_is_renamed_by_a_setting(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, duration="100 ms")
    finished = package.run(load_scenario(path, ["traffic.bulk.name=upload"]))
    subjects = set(finished.metrics["subject"])
    assert "upload" in subjects
    assert "bulk" not in subjects


@pytest.mark.parametrize("name", ["upstream", "downstream"])
def test_a_traffic_entry_with_the_name_of_a_link_is_refused(tmp_path: Path, name: str) -> None:
    path = write_scenario(tmp_path, traffic=[{"name": name, "app": {"kind": "voice"}}])
    (problem,) = check_scenario(path.read_text())
    assert problem.path == f"traffic.{name}.name"
    assert problem.message == f'"{name}" is the name of a link'


def test_names_that_are_alike_but_for_a_sign_have_files_of_their_own() -> None:
    names = ["up/load", "up_load", "up load", "up\u00e4load", "UP_LOAD", "...", "a" * 300]
    files = {file_name(name).casefold() for name in names}
    assert len(files) == len(names)
    assert all(len(file) <= 100 for file in files)
    assert file_name("up_load") == "up_load"


@pytest.mark.parametrize("duration", ["1 us", "1 ms", "3 ms", "20 ms", "100 ms"])
@pytest.mark.parametrize("rate", ["8 kb/s", "1 Mb/s", "100 Mb/s"])
def test_no_link_is_used_by_more_than_all_of_it_and_the_packet_under_way(
    tmp_path: Path, duration: str, rate: str
) -> None:
    path = write_scenario(tmp_path, duration=duration)
    settings = [f"access.{way}.link.rate={rate}" for way in ("upstream", "downstream")]
    finished = package.run(load_scenario(path, settings))
    metrics = finished.metrics.filter(pl.col("subject").is_in(["upstream", "downstream"]))
    used = dict(metrics.filter(pl.col("metric") == "utilisation").select("subject", "value").rows())
    sent = metrics.filter(pl.col("metric") == "forwarded_volume").select("subject", "value")
    for link, kilobytes in sent.iter_rows():
        share = used.get(link, 0.0)  # no row where not a byte is allowed
        allowed = 1e3 * kilobytes / share if share else 0.0
        assert 1e3 * kilobytes <= allowed + 1500, (link, used)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"quick": {"duration": "x"}}, "quick.duration"),
        ({"quick": {"duration": "-1 s"}}, "quick.duration"),
        ({"quick": {"points": ["nope"]}}, "quick.points"),
        ({"schema": True}, "schema"),
        ({"schema": 1.0}, "schema"),
    ],
)
def test_a_study_that_could_not_run_quickly_or_has_no_version_is_not_valid(
    tmp_path: Path, changes: dict[str, Any], place: str
) -> None:
    path = write_study(tmp_path, **changes)
    from sojourn.base.errors import StudyError

    with pytest.raises(StudyError) as raised:
        make_plan(load_study(str(path)), RunOptions(), unanswerable)
    assert place in [problem.path for problem in raised.value.problems]


def test_a_quick_duration_that_is_right_stays_right(tmp_path: Path) -> None:
    path = write_study(tmp_path, quick={"duration": "1 s", "points": ["near*"]})
    assert len(make_plan(load_study(str(path)), RunOptions(quick=True), unanswerable).points) == 2


def test_the_version_of_a_scenario_is_a_number() -> None:
    import tomli_w

    text = tomli_w.dumps({**HOUSEHOLD, "schema": True})
    assert [problem.path for problem in check_scenario(text)] == ["schema"]
    assert Scenario.parse(tomli_w.dumps(HOUSEHOLD)).seed == 1
