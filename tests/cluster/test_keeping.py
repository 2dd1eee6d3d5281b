"""Looking after a store: garbage goes in two steps, small segments are put together, some runs are made again."""

import shutil
import time
from pathlib import Path

import pytest

from cluster.test_workers import crowd_of, make, metrics, shared_of, small_plan
from sojourn.cluster.audit import Audit, audit
from sojourn.cluster.garbage import clear_done, collect, segments_of_plans
from sojourn.store import Store
from sojourn.store.compact import compact, runs_of
from sojourn.store.objects import FolderObjects
from sojourn.study.runner import kept_runs
from support import CommandLine

DAY = 86400.0


def test_plans_that_nobody_wants_go_a_week_after_they_were_marked(tmp_path: Path) -> None:
    objects, said = FolderObjects(tmp_path / "shared"), list[str]()
    store = Store(tmp_path / "shared")
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    old, new = (small_plan(tmp_path / name, seeds=1, name=name) for name in ("old", "new"))
    for plan in (old, new):
        make(plan, store, crowd_of(objects, said))
    first, second = shared_of(old).name, shared_of(new).name
    when = [time.time()]
    month = 30 * DAY
    assert collect(objects, (), month, lambda: when[0]).marked == []
    when[0] += 31 * DAY
    found = collect(objects, [second], month, lambda: when[0])
    assert (found.kept, found.marked, found.removed) == ([second], [first], [])
    when[0] += 6 * DAY
    assert collect(objects, [second], month, lambda: when[0]).removed == []
    assert len(kept_runs(old, store)) == 4
    when[0] += 2 * DAY
    found = collect(objects, [second], month, lambda: when[0])
    assert (found.removed, found.segments) == ([first], 4)
    assert (len(kept_runs(old, store)), len(kept_runs(new, store))) == (0, 4)
    assert objects.names("v2/trash") == []
    # Somebody who wants it again makes it again.
    assert make(old, store, crowd_of(objects, said)) == 4


def test_what_is_wanted_again_within_the_week_stays(tmp_path: Path) -> None:
    objects, said = FolderObjects(tmp_path / "shared"), list[str]()
    plan = small_plan(tmp_path, seeds=1)
    make(plan, Store(tmp_path / "shared"), crowd_of(objects, said))
    name, start = shared_of(plan).name, time.time() + 31 * DAY
    assert collect(objects, (), 30 * DAY, lambda: start).marked == [name]
    assert collect(objects, [name], 30 * DAY, lambda: start + 8 * DAY).removed == []
    assert objects.names("v2/trash") == []
    objects.create("v2/trash/odd.json", b"{}")
    assert collect(objects, (), 30 * DAY, lambda: start).removed == []


def test_small_segments_are_put_together_and_have_the_same_runs(tmp_path: Path) -> None:
    plan, store = small_plan(tmp_path), Store(tmp_path / "near")
    for part in range(4):
        make(plan.shard(part, 4), store)
    before = metrics(tmp_path / "before", plan, store)
    assert len(store.segments.names()) == 4
    named = frozenset(store.segments.names()[:1])
    assert compact(store, named) == (3, 1)
    assert compact(store) == (2, 1)
    assert compact(store) == (0, 0)
    assert len(store.segments.names()) == 1
    assert metrics(tmp_path / "after", plan, store) == before
    assert make(plan, store) == 0


def test_claims_of_units_that_are_done_are_cleared(tmp_path: Path) -> None:
    objects = FolderObjects(tmp_path)
    for name in ("claims/000-0000000/0", "claims/000-0000001/0", "done/000-0000000.json"):
        objects.create(f"v2/plans/ab/{name}", b'{"segments": ["ab12"]}')
    assert clear_done(objects) == 1
    assert objects.names("v2/plans/ab/claims") == ["000-0000001/0"]
    assert segments_of_plans(objects) == {"ab12"}


def last(store: FolderObjects, share: float) -> Audit:
    return list(audit(store, share, seed=1))[-1]


def test_many_small_segments_are_looked_at_as_often_as_was_asked(tmp_path: Path) -> None:
    plan, store = small_plan(tmp_path), Store(tmp_path / "near")
    for part in range(8):
        make(plan.shard(part, 8), store)
    objects = FolderObjects(tmp_path / "near")
    looked = [list(audit(objects, 0.25, seed=seed))[-1].runs for seed in range(20)]
    assert set(looked) <= {2, 3}  # two of eight; the first is looked at in any case
    assert min(looked) == 2


def test_runs_that_come_out_otherwise_are_named(sojourn: CommandLine, tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    store = Store(sojourn.store)
    assert last(FolderObjects(sojourn.store), 1.0) == Audit()
    make(plan, store)
    objects = FolderObjects(sojourn.store)
    assert last(objects, 0.001).runs == 1
    found = last(objects, 1.0)
    assert (found.runs, found.segments, found.differ, found.damaged) == (8, 1, [], [])
    done = sojourn("store", "audit", "--per-thousand", "1000", "--json")
    assert (done.status, done.json()["runs"]) == (0, 8)
    # A run that another machine has made otherwise, with a listing that fits.
    (old,) = list(store.segments.find({plan.runs[0].key: frozenset()}).values())
    runs = list(runs_of(old.segment))
    runs[0].tables["metrics"] = runs[-1].tables["metrics"]
    shutil.rmtree(old.directory)
    store.put_together(runs, old.segment.info["asked"])
    assert last(objects, 1.0).differ == [runs[0].key]
    path = old.directory / "metrics.parquet"
    path.write_bytes(path.read_bytes()[:-1])
    assert last(objects, 1.0).damaged == [old.directory.name]
    done = sojourn("store", "audit")
    assert done.status == 1
    assert f"damaged  {old.directory.name}" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gc",), "0 plans are wanted; 0 are gone, with 0 segments; 0 are marked"),
        (("compact",), "0 small segments are 0 now"),
        (("audit",), "0 runs of 0 segments made again"),
    ],
)
def test_an_empty_store_has_nothing_to_look_after(sojourn: CommandLine, words: tuple[str, ...], said: str) -> None:
    done = sojourn("store", *words)
    assert done.status == 0, done.stderr
    assert said in done.stdout
