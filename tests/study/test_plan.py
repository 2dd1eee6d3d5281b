"""From a study to its runs."""

import tomllib
from pathlib import Path

import pytest
import tomli_w

from sojourn.base.errors import StudyError, UsageError
from sojourn.scenario.scenario_file import Scenario
from sojourn.study.library import Study, builtin_names, load_study, with_settings
from sojourn.study.plan import QUICK_LONGEST_S, RunOptions, make_plan, only_runs
from study.overlay_oracle import merge as literally
from support import STUDY, write_study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return load_study(str(write_study(tmp_path)))


def test_runs_are_points_by_seeds_in_the_order_of_the_study(study: Study) -> None:
    plan = make_plan(study, RunOptions(), only_runs)
    assert [(run.point, run.seed) for run in plan.runs[:3]] == [("near-short", 1), ("near-short", 2), ("near-long", 1)]
    assert len({run.key for run in plan.runs}) == 8
    assert plan.simulated_s == pytest.approx(16.0)


def test_options_choose_points_seeds_and_duration(study: Study) -> None:
    plan = make_plan(study, RunOptions(points=("far-*",), seeds=3, duration="1500 ms"), only_runs)
    assert [item.point.name for item in plan.points] == ["far-short", "far-long"]
    assert plan.seeds == [1, 2, 3]
    assert {run.scenario.duration_s for run in plan.runs} == {1.5}


def test_quick_shortens_as_the_study_says(study: Study) -> None:
    plan = make_plan(study, RunOptions(quick=True), only_runs)
    assert plan.seeds == [1]
    assert {run.scenario.duration_s for run in plan.runs} == {0.5}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (RunOptions(), ""),
        (RunOptions(points=("*",), seeds=2, duration="2 s"), ""),
        (RunOptions(seeds=3, duration="1 min"), ""),
        (RunOptions(duration="1 s"), "shortened"),
        (RunOptions(seeds=1), "partial"),
        (RunOptions(points=("near-*",)), "partial"),
        (RunOptions(points=("near-*",), duration="1 s"), "shortened, partial"),
        (RunOptions(quick=True, seeds=1), "quick"),
    ],
)
def test_a_plan_says_what_makes_it_less_than_the_study(study: Study, options: RunOptions, words: str) -> None:
    assert make_plan(study, options, only_runs).reduced == words


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (RunOptions(), "changed"),
        (RunOptions(duration="1 s"), "shortened, changed"),
        (RunOptions(quick=True), "quick, changed"),
    ],
)
def test_a_setting_changes_every_point_below_its_overlays(study: Study, options: RunOptions, words: str) -> None:
    changed = with_settings(study, ["traffic.bulk.dscp=10", "traffic.bulk.app.lanes=2"])
    plan = make_plan(changed, options, only_runs)
    assert plan.reduced == words
    for item in plan.points:
        entry = item.point.document["traffic"][0]
        assert (entry["dscp"], entry["app"]["lanes"]) == (10, 2)
    assert {run.key for run in plan.runs}.isdisjoint(run.key for run in make_plan(study, options, only_runs).runs)


def test_a_setting_without_form_is_wrong_usage(study: Study) -> None:
    with pytest.raises(UsageError, match=r"not of the form a\.b\.c=V"):
        with_settings(study, ["traffic.bulk"])


def test_a_setting_that_changes_nothing_is_told_and_left_out(study: Study) -> None:
    said: list[str] = []
    same = with_settings(study, ["traffic.bulk.rtt=70ms"], said.append)  # all have an overlay's
    assert same.settings == ()
    (sentence,) = said
    assert "--set traffic.bulk.rtt=70ms changes nothing" in sentence


def test_quick_has_a_duration_for_studies_that_name_none(tmp_path: Path) -> None:
    study = load_study(str(write_study(tmp_path, duration="2000 s", quick={})))
    plan = make_plan(study, RunOptions(quick=True), only_runs)
    assert {run.scenario.duration_s for run in plan.runs} == {QUICK_LONGEST_S}


def test_quick_never_makes_a_run_longer(tmp_path: Path) -> None:
    study = load_study(str(write_study(tmp_path, quick={"duration": "10 s"})))
    plan = make_plan(study, RunOptions(quick=True), only_runs)
    assert {run.scenario.duration_s for run in plan.runs} == {2.0}


def test_a_duration_without_unit_is_wrong_usage(study: Study) -> None:
    with pytest.raises(UsageError, match="duration 60"):
        make_plan(study, RunOptions(duration="60"), only_runs)


def test_a_problem_that_many_points_share_is_told_once(tmp_path: Path) -> None:
    overlays = {**STUDY["overlays"], "near": {"access": {"upstream": {"queue": {"limt": "9 B"}}}}}
    study = load_study(str(write_study(tmp_path, overlays=overlays)))
    with pytest.raises(StudyError) as caught:
        make_plan(study, RunOptions(), only_runs)
    (problem,) = caught.value.problems
    assert problem.path == "access.upstream.queue.limt"
    assert problem.message.endswith("(point near-short and 1 more)")
    assert "limit" in problem.hint


def test_an_axis_over_a_key_that_does_not_exist_says_where_and_what_would_be_right(tmp_path: Path) -> None:
    axes = {
        "limit": {"key": "access.upstream.queue.limt", "values": ["9 packets", "90 packets"]},
        "rtt": {"key": "traffic.bulk.rtt", "values": ["20 ms", "20 Mb"]},
        "lanes": {"key": "traffic.bulc.app.lanes", "values": [1, 2]},
    }
    study = load_study(str(write_study(tmp_path, matrix=[], axes=axes)))
    with pytest.raises(StudyError) as caught:
        make_plan(study, RunOptions(), only_runs)
    (lanes,) = caught.value.problems
    assert lanes.path == "axes.lanes"
    assert lanes.hint == 'did you mean "bulk"?'

    del axes["lanes"]
    study = load_study(str(write_study(tmp_path, matrix=[], axes=axes)))
    with pytest.raises(StudyError) as caught:
        make_plan(study, RunOptions(), only_runs)
    told = {problem.path: problem for problem in caught.value.problems}
    assert set(told) == {"axes.limit", "axes.rtt"}
    message = "access.upstream.queue.limt: unknown key (point 9packets-20ms and 3 more)"
    assert told["axes.limit"].message == message
    assert told["axes.limit"].hint == "did you mean limit?"
    assert told["axes.rtt"].message.startswith("traffic.bulk.rtt: ")


def test_what_does_not_fit_and_what_is_not_valid_are_told_together(tmp_path: Path) -> None:
    overlays = {**STUDY["overlays"], "near": {"remove": ["traffic.nobody"]}}
    overlays["long"] = {"duration": "long"}
    study = load_study(str(write_study(tmp_path, overlays=overlays)))
    with pytest.raises(StudyError) as caught:
        make_plan(study, RunOptions(), only_runs)
    assert [problem.path for problem in caught.value.problems] == ["overlays.near.remove", "duration"]


def test_the_manifest_knows_the_units_of_labels(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    from sojourn.study.manifest import make_manifest

    axes = {"rtt": {"key": "traffic.bulk.rtt", "values": ["20 ms", "0.1 s"]}}
    plan = make_plan(load_study(str(write_study(tmp_path, matrix=[], axes=axes))), RunOptions(), only_runs)
    manifest = make_manifest(plan, started_at=datetime.now(UTC), measured={})
    assert manifest["label_units"] == {"rtt": "ms"}
    assert manifest["points"]["0.1s"]["labels"] == {"rtt": 100}


@pytest.mark.whole
@pytest.mark.parametrize("name", builtin_names())
def test_points_of_the_published_studies_are_those_of_the_literal_merge(name: str) -> None:
    study = load_study(name)
    plan = make_plan(study, RunOptions(), only_runs)
    for item in plan.points:
        if item.point.keys:  # values of axes, which no overlay has
            continue
        document = tomllib.loads(study.base)
        for overlay in item.point.overlays:
            document = literally(document, study.definition.overlays[overlay])
        document["name"] = f"{name}/{item.point.name}"
        assert Scenario.parse(tomli_w.dumps(document)).canonical() == item.scenario.canonical()


def test_a_study_is_found_by_file_and_by_directory(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    assert load_study(str(path)).definition == load_study(str(tmp_path)).definition
    assert not load_study(str(path)).builtin


def test_an_unknown_study_gets_the_nearest_name() -> None:
    with pytest.raises(UsageError) as caught:
        load_study("whit2012")
    assert caught.value.hint == 'did you mean "white2012"?'


def test_a_missing_base_scenario_is_a_problem_of_the_study(tmp_path: Path) -> None:
    path = write_study(tmp_path, scenario="absent.toml")
    with pytest.raises(StudyError, match=r"absent\.toml: no such file"):
        load_study(str(path))


@pytest.mark.whole
@pytest.mark.parametrize("name", builtin_names())
def test_every_study_of_the_package_is_valid(name: str) -> None:
    study = load_study(name)
    assert study.builtin
    assert study.definition.name == name
    assert make_plan(study, RunOptions(), only_runs).runs
    assert make_plan(study, RunOptions(quick=True), only_runs).runs


def test_tables_on_an_axis_have_labels_and_names_that_can_be_read(tmp_path: Path) -> None:
    values = [{"kind": "drop-tail", "limit": "8 KB"}, {"kind": "drop-tail", "limit": "1 MB"}, "pie"]
    axes = {"queue": {"key": "access.upstream.queue", "values": values}}
    study = load_study(str(write_study(tmp_path, matrix=[], axes=axes)))
    points = [item.point for item in make_plan(study, RunOptions(), only_runs).points]
    assert [point.name for point in points] == ["drop-tail-8KB", "drop-tail-1MB", "pie"]
    labels = ["drop-tail, limit 8 KB", "drop-tail, limit 1 MB", "pie"]
    assert [point.labels["queue"] for point in points] == labels


def test_points_may_ask_for_more_seeds_than_their_study(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    document = tomllib.loads(path.read_text())
    document["points"] = {"lottery": {"overlays": ["far"], "seeds": 5}}
    path.write_text(tomli_w.dumps(document))
    study = load_study(str(path))

    def seeds(options: RunOptions) -> tuple[list[int], list[int]]:
        runs = make_plan(study, options, only_runs).runs
        lottery = [run.seed for run in runs if run.point == "lottery"]
        return lottery, [run.seed for run in runs if run.point == "near-short"]

    assert seeds(RunOptions()) == ([1, 2, 3, 4, 5], [1, 2])
    assert seeds(RunOptions(seeds=7))[0] == [1, 2, 3, 4, 5, 6, 7]
    assert seeds(RunOptions(seeds=1))[0] == [1, 2, 3, 4, 5]
    assert seeds(RunOptions(quick=True)) == ([1], [1])
