"""What a study will cost, and how far it is: counted without expanding, extrapolated from some runs, read from the store."""

import json
from pathlib import Path

import pytest
import tomli_w

from sojourn.base.errors import StudyError
from sojourn.cluster.check import check_all
from sojourn.cluster.price import check_some, count_of_study, price_of, spans_of_study
from sojourn.cluster.shared_plan import plan_of
from sojourn.cluster.watch import Watch
from sojourn.store.objects import FolderObjects
from sojourn.study.expand import NumberedPoints
from sojourn.study.library import load_study
from sojourn.study.plan import RunLength, RunOptions, make_plan, only_runs
from support import HOUSEHOLD, CommandLine, write_study

MILLION = {
    name: {"key": f"access.{side}.link.rate", "from": "1 Mb/s", "to": "9 Mb/s", "steps": 1000}
    for name, side in (("up", "upstream"), ("down", "downstream"))
}


def test_points_are_counted_without_being_made(tmp_path: Path) -> None:
    study = load_study(str(write_study(tmp_path, axes=MILLION, points={"own": {"seeds": 9}})))
    count = count_of_study(study.definition, 2)
    assert (count.points, count.runs, count.is_exact) == (1_000_005, 2_000_017, True)
    one = {"axes": {"rtt": ["near", "far"]}, "exclude": ["near"], "seeds": 5}
    study = load_study(str(write_study(tmp_path, matrix=[one])))
    count = count_of_study(study.definition, 2)
    assert (count.points, count.runs, count.is_exact) == (2, 10, False)


def test_values_and_corners_of_a_million_points_are_checked_before_anything_starts(tmp_path: Path) -> None:
    study = load_study(str(write_study(tmp_path, duration="100 ms", axes=MILLION, matrix=[])))
    points = NumberedPoints(study.definition, study.base)
    bad = dict(MILLION, up={"key": "access.upstream.link.rate", "values": ["1 Mb/s", "5 furlongs"]})
    assert price_of(study.definition, points, RunLength(), 1).pilots == 50
    study = load_study(str(write_study(tmp_path, axes=bad, matrix=[])))
    with pytest.raises(StudyError, match=r"point 5furlongs-1Mbps"):
        check_some(study.definition, NumberedPoints(study.definition, study.base))


def test_the_command_prices_a_study_or_only_counts_it(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path, duration="100 ms")
    done = sojourn("study", "plan", "study.toml", "--core-hour", "3600", "--json")
    said = done.json()
    assert (said["points"], said["runs"], said["checked"], said["pilots"]) == (4, 8, 4, 8)
    low, high = said["core_hours"][1:]
    assert 0 < low <= said["core_hours"][0] <= high
    assert said["computing"] == pytest.approx(3600 * said["core_hours"][0])
    assert said["bytes"] == pytest.approx(8 * said["run_bytes"], abs=8)


def test_all_points_are_checked_if_somebody_asks_for_it(sojourn: CommandLine, tmp_path: Path) -> None:
    rates = {"key": "access.upstream.link.rate", "values": ["1 Mb/s", "2 Mb/s"]}
    write_study(tmp_path, duration="100 ms", axes={"rate": rates}, matrix=[], seeds=3)
    done = sojourn("study", "plan", "study.toml", "--check", "all", "--json")
    assert done.status == 0, done.stderr
    assert done.json()["checked"] == 2
    assert "all of them are valid; 6 runs have their keys" in done.stderr
    bad = {**rates, "values": ["1 Mb/s", "5 furlongs"]}
    study = load_study(str(write_study(tmp_path, axes={"rate": bad}, matrix=[], seeds=3)))
    spans = spans_of_study(study.definition, 3)
    with pytest.raises(StudyError, match="furlongs"):
        check_all(plan_of(study, RunLength()), spans, 1)


def test_a_look_tells_units_speed_workers_and_the_end(tmp_path: Path) -> None:
    from cluster.test_workers import published

    study = load_study(str(write_study(tmp_path, duration="100 ms", seeds=4)))
    objects = FolderObjects(tmp_path / "shared")
    shared = published(objects, make_plan(study, RunOptions(), only_runs), unit_s=60.0)
    look = Watch(objects, shared, lambda: 1000.0).look()
    assert look.line() == "0 of 4 units done, 0 claimed, 4 free; 0 runs/s by 0 workers"
    claim = {"worker": "one", "begun": 990.0, "ends": 1050.0}
    objects.create(f"{shared.place}/claims/000-0000003/0", json.dumps(claim).encode())
    objects.create(f"{shared.place}/claims/000-0000002/0", b'{"ends": "never"}')
    note = {"runs": 4, "wall_s": 10.0, "at": 960.0, "quarantined": [["p", 1, "ab", "SIGKILL"]]}
    objects.create(f"{shared.place}/done/000-0000000.json", json.dumps(note).encode())
    objects.create(f"{shared.place}/done/000-0000001.json", b"[]")
    look = Watch(objects, shared, lambda: 1000.0).look()
    assert look.rounds == [(2, 2, 0)]
    assert (look.runs, look.runs_done, look.workers) == (16, 4, ["one"])
    assert look.runs_per_s == pytest.approx(4 / 50)
    assert look.line().endswith("by 1 workers; 1 runs in quarantine")
    assert not look.is_done


def test_the_end_is_told_when_enough_units_are_done(tmp_path: Path) -> None:
    from cluster.test_workers import published

    matrix = {"axes": {"rate": {"key": "access.upstream.link.rate", "values": list(RATES)}}}
    (tmp_path / "base.toml").write_text(tomli_w.dumps(HOUSEHOLD))
    study = load_study(str(write_study(tmp_path, seeds=1, matrix=[matrix])))
    objects = FolderObjects(tmp_path / "shared")
    shared = published(objects, make_plan(study, RunOptions(), only_runs), unit_s=60.0, patience_s=120.0)
    for number in range(6):
        note = json.dumps({"runs": 1, "wall_s": 10.0, "at": 900.0 + 10 * number})
        objects.create(f"{shared.place}/done/000-000000{number}.json", note.encode())
    for number in (6, 7):
        claim = json.dumps({"worker": f"w{number}", "begun": 995.0, "ends": 1050.0})
        objects.create(f"{shared.place}/claims/000-000000{number}/0", claim.encode())
    look = Watch(objects, shared, lambda: 1000.0).look()
    # Two runs are being made by two workers for five seconds, and each run of late has taken ten.
    assert look.left_s == [5.0, 5.0, 5.0]
    assert "; 5 s left (5 s to 5 s)" in look.line()
    # The worker of another has been gone for 100 s: the end is when its patience of 120 s is over, and ten seconds later.
    objects.delete(f"{shared.place}/claims/000-0000007/0")
    claim = json.dumps({"worker": "gone", "begun": 900.0, "ends": 910.0})
    objects.create(f"{shared.place}/claims/000-0000007/0", claim.encode())
    assert Watch(objects, shared, lambda: 1000.0).look().left_s == [30.0, 30.0, 30.0]


RATES = [f"{rate} Mb/s" for rate in range(1, 9)]
