"""Workers of a plan that many machines share: whoever dies, all runs are there in the end, with the same bits."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from sojourn.base.errors import EnvironmentFailure, OtherVersion, RecordError, RunError, UsageError
from sojourn.cluster.attend import unit_length
from sojourn.cluster.child import MAKE
from sojourn.cluster.drive import Crowd
from sojourn.cluster.notes import DoneNote, read_note
from sojourn.cluster.shared_plan import Round, SharedPlan, Span, plan_of, publish, read_plan, units_of
from sojourn.cluster.unit_claims import Board
from sojourn.cluster.worker import Worker
from sojourn.store import Store
from sojourn.store.objects import FolderObjects, Objects
from sojourn.study.execute import Finished
from sojourn.study.library import load_study
from sojourn.study.plan import Plan, RunOptions, RunSpec, make_plan, only_runs
from sojourn.study.result import StudyResult
from sojourn.study.runner import Elsewhere, execute_plan, kept_runs, partial_plan, run_study
from sojourn.study.write import write_result, write_summary
from support import CommandLine, write_study


class Threads:
    """An executor of tests: a worker in a thread of this process."""

    def __init__(self, objects: Objects, statements: str) -> None:
        self._objects, self._statements = objects, statements
        self.thread: threading.Thread | None = None
        self.starts = 0

    def start(self, plan: str, store: str, workers: int) -> None:
        """Start it."""
        del store
        self.starts += 1
        shared = read_plan(self._objects, plan)
        worker = Worker(self._objects, shared, jobs=workers, statements=self._statements)
        self.thread = threading.Thread(target=worker.run)
        self.thread.start()

    def is_alive(self) -> bool:
        """Return whether it works."""
        return self.thread is not None and self.thread.is_alive()

    def stop(self, *, is_done: bool) -> None:
        """Wait for its end."""
        del is_done
        if self.thread is not None:
            self.thread.join()

    def describe(self) -> str:
        """Return what it is."""
        return "threads of a test"


class Silent:
    """Progress that nobody wants to know."""

    def start(self, plan: Plan, to_do: object) -> None:
        """Say nothing."""

    def advance(self, finished: Finished) -> None:
        """Say nothing."""

    def stop(self) -> None:
        """Say nothing."""


def small_plan(directory: Path, **changes: object) -> Plan:
    study = load_study(str(write_study(directory, duration="100 ms", **changes)))
    return make_plan(study, RunOptions(), only_runs)


def crowd_of(objects: Objects, said: list[str], statements: str = MAKE, workers: int = 1) -> Crowd:
    executor = Threads(objects, statements)
    return Crowd(objects, executor, workers, said.append, looks_every_s=0.05)


def metrics(directory: Path, plan: Plan, store: Store) -> bytes:
    directory.mkdir()
    found = kept_runs(plan, store)
    write_result(directory, plan, [found[spec.key] for spec in plan.runs], {})
    return (directory / "metrics.parquet").read_bytes()


def make(plan: Plan, store: Store, crowd: Crowd | None = None) -> int:
    elsewhere = None if crowd is None else crowd.make
    return execute_plan(plan, store, jobs=1, elsewhere=elsewhere, progress=Silent())[1]


def test_workers_give_the_bits_of_threads_and_another_store_fetches_them(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    shared, said = FolderObjects(tmp_path / "shared"), list[str]()
    near, far, here = (Store(tmp_path / name) for name in ("near", "far", "shared"))
    make(plan, near)
    assert make(plan, far, crowd_of(shared, said)) == 8
    assert len(kept_runs(plan, far)) == len(kept_runs(plan, here)) == 8
    results = {metrics(tmp_path / f"r{n}", plan, one) for n, one in enumerate((near, far, here))}
    assert len(results) == 1
    assert shared.names(f"{shared_of(plan).place}/claims") == []
    # Another machine finds all of it there, and starts nobody.
    crowd = crowd_of(shared, said)
    assert make(plan, Store(tmp_path / "third"), crowd) == 8
    assert isinstance(crowd.executor, Threads)
    assert crowd.executor.starts == 0


def test_what_is_damaged_in_a_shared_store_is_told_and_made_again(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, seeds=1)
    objects, said = FolderObjects(tmp_path / "shared"), list[str]()
    make(plan, Store(tmp_path / "shared"), crowd_of(objects, said))
    for kind in ("metrics.parquet", "runs.parquet", "series.parquet", "segment.json"):
        path = next((tmp_path / "shared" / "v2" / "runs").rglob(kind))
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    said.clear()
    store = Store(tmp_path / "far")
    make(plan, store, crowd_of(objects, said))
    assert sum("is damaged and will be made again" in line for line in said) >= 1
    assert metrics(tmp_path / "far-result", plan, store)
    told: list[str] = []
    assert len(kept_runs(plan, Store(tmp_path / "shared", on_damage=told.append))) == 4
    assert told == []


KILLS = """
import os, signal
import sojourn.cluster.maker as maker
simulate = maker.simulate
def killing(scenario, seed, **more):
    if scenario.name == 'small/far-short' and seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return simulate(scenario, seed, **more)
maker.simulate = killing
maker.main()
"""


def test_a_run_that_kills_its_process_is_put_apart_and_the_others_go_on(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    objects, said = FolderObjects(tmp_path / "shared"), list[str]()
    store = Store(tmp_path / "far")
    crowd = crowd_of(objects, said, KILLS)
    finished = list(crowd.make(plan, plan.runs, store))
    failed = [one for one in finished if one.entry is None]
    assert len(finished) == 8
    assert [(one.spec.point, one.spec.seed) for one in failed] == [("far-short", 2)]
    assert "killed its process twice (SIGKILL)" in str(failed[0].error)
    (name,) = objects.names("v2/quarantine")
    apart = json.loads(objects.read(f"v2/quarantine/{name}") or b"")
    assert (apart["point"], apart["seed"], apart["how"]) == ("far-short", 2, "SIGKILL")
    assert apart["peak_bytes"] > 1_000_000
    assert crowd.quarantined == {failed[0].spec.key: "SIGKILL"}
    # The result has the others and says what is missing; the command fails all the same.
    out = tmp_path / "result"
    with pytest.raises(RunError, match=r"1 of 8 runs failed:\n  far-short, seed 2: killed its"):
        run_study(plan, store, out=out, elsewhere=crowd.make, progress=Silent(), finish=write_summary)
    result = StudyResult.load(out)
    assert result.runs.height == 7
    assert result.damages == ("far-short, seed 2: killed its process twice (SIGKILL) and is in quarantine",)


def test_a_part_of_the_runs_is_reported_as_one(tmp_path: Path) -> None:
    plan, store = small_plan(tmp_path), Store(tmp_path / "near")
    with pytest.raises(UsageError, match="no run of this study yet"):
        partial_plan(plan, store)
    make(plan.shard(0, 2), store)
    part = partial_plan(plan, store)
    assert (len(part.runs), part.reduced, part.share) == (4, "50 % of the runs", 0.5)
    run_study(part, store, out=tmp_path / "part", progress=Silent(), finish=write_summary)
    assert StudyResult.load(tmp_path / "part").is_unfinished
    make(plan, store)
    assert partial_plan(plan, store) is plan


def test_a_process_that_cannot_start_ends_the_worker_and_not_the_runs(tmp_path: Path) -> None:
    objects = FolderObjects(tmp_path / "shared")
    plan = published(objects, small_plan(tmp_path, seeds=1))
    with pytest.raises(EnvironmentFailure, match="ended with exit status 7"):
        Worker(objects, plan, statements="import os; os._exit(7)").run()
    assert objects.names("v2/quarantine") == []


def shared_of(plan: Plan) -> SharedPlan:
    return plan_of(plan.study, plan.length)


def published(objects: Objects, plan: Plan, unit_s: float = 1.0, patience_s: float = 3.0) -> SharedPlan:
    """Publish a plan with a unit for each point."""
    shared = shared_of(plan)
    publish(objects, shared)
    spans = [Span(first=0, points=len(plan.points), seed=1, seeds=len(plan.seeds))]
    one = Round(spans=spans, runs_per_unit=len(plan.seeds), unit_s=unit_s, patience_s=patience_s)
    objects.create(f"{shared.place}/rounds/000.json", one.model_dump_json().encode())
    return shared


def test_a_unit_that_killed_two_workers_is_made_in_parts(tmp_path: Path) -> None:
    objects = FolderObjects(tmp_path / "shared")
    plan = small_plan(tmp_path)
    shared = published(objects, plan)
    culprit = next(spec for spec in plan.runs if (spec.point, spec.seed) == ("near-short", 2))
    for number in range(2):  # two who took the first unit and were never seen again, the last in that run
        claim = json.dumps({"begun": time.time() - 1000}).encode()
        objects.create(f"{shared.place}/claims/000-0000000/{number}", claim)
        objects.create(f"{shared.place}/attempts/{culprit.key}/{number}", b"")
    said: list[str] = []
    tally = Worker(objects, shared, tell=said.append).run()
    assert (tally.units, tally.runs, tally.quarantined) == (4, 7, [culprit.key])
    assert any("in parts" in line for line in said)


def test_a_unit_that_was_killed_is_made_in_few_parts_and_only_where_it_was_killed_run_by_run(tmp_path: Path) -> None:
    objects = FolderObjects(tmp_path / "shared")
    plan = small_plan(tmp_path, seeds=48, matrix=[{"axes": {"rtt": ["near"], "buffer": ["short"]}}])
    shared = published(objects, plan)
    for number in range(2):
        claim = json.dumps({"begun": time.time() - 1000}).encode()
        objects.create(f"{shared.place}/claims/000-0000000/{number}", claim)
    # Sixteen parts of three runs: the second worker did not come back from the third.
    objects.create(f"{shared.place}/attempts/{plan.runs[6].key}-3/0", b"")
    said: list[str] = []
    tally = Worker(objects, shared, tell=said.append).run()
    assert (tally.units, tally.runs, tally.quarantined) == (1, 48, [])
    note = read_note(DoneNote, objects.read(f"{shared.place}/done/000-0000000.json"))
    assert len(note.segments) == 15 + 3
    near = Store(tmp_path / "near")
    make(plan, near)
    assert metrics(tmp_path / "a", plan, Store(tmp_path / "shared")) == metrics(tmp_path / "b", plan, near)


@pytest.fixture
def clock() -> list[float]:
    return [1000.0]


def board_of(objects: Objects, shared: SharedPlan, name: str, clock: list[float]) -> Board:
    return Board(objects, shared, name, lambda: clock[0])


def test_units_are_claimed_once_until_the_patience_with_a_claim_is_over(tmp_path: Path, clock: list[float]) -> None:
    objects = FolderObjects(tmp_path / "shared")
    shared = published(objects, small_plan(tmp_path), unit_s=60.0, patience_s=180.0)
    one, other = (board_of(objects, shared, name, clock) for name in ("one", "other"))
    taken = [claim for board in (one, other, one, other) if (claim := board.take()) is not None]
    assert len({claim.unit.name for claim in taken}) == 4
    assert one.take() is None
    one.finish(taken[0], DoneNote())
    other.give_back(taken[1])
    again = one.take()
    assert again is not None
    assert (again.unit.name, again.number) == (taken[1].unit.name, 0)
    clock[0] += 181.0
    late = {claim.unit.name: claim.number for _ in range(9) if (claim := other.take()) is not None}
    assert late == {claim.unit.name: 1 for claim in taken[1:]}


def test_the_last_unit_is_made_once_more_when_it_is_late(tmp_path: Path, clock: list[float]) -> None:
    objects = FolderObjects(tmp_path / "shared")
    shared = published(objects, small_plan(tmp_path), unit_s=60.0, patience_s=180.0)
    one, other = (board_of(objects, shared, name, clock) for name in ("one", "other"))
    taken = [claim for _ in range(4) if (claim := one.take()) is not None]
    for claim in taken[1:]:
        one.finish(claim, DoneNote())
    clock[0] += 59.0
    assert other.take() is None
    clock[0] += 2.0
    last = other.take()
    assert last is not None
    assert last.unit.name == taken[0].unit.name
    assert other.take() is None


def test_a_claim_that_nobody_here_has_written_is_an_old_one(tmp_path: Path, clock: list[float]) -> None:
    objects = FolderObjects(tmp_path / "shared")
    shared = published(objects, small_plan(tmp_path, seeds=1))
    for number in range(4):
        objects.create(f"{shared.place}/claims/000-000000{number}/0", b'{"begun": []}')
    assert board_of(objects, shared, "one", clock).take() is not None


@pytest.mark.parametrize(
    ("spans", "most", "expected"),
    [
        ([(0, 5, 1, 2)], 4, [[(0, 2, 1, 2)], [(2, 2, 1, 2)], [(4, 1, 1, 2)]]),
        ([(3, 2, 1, 5)], 3, [[(3, 1, 1, 3)], [(3, 1, 4, 2)], [(4, 1, 1, 3)], [(4, 1, 4, 2)]]),
        ([(0, 1, 9, 4), (7, 1, 13, 2), (8, 2, 1, 3)], 6, [[(0, 1, 9, 4), (7, 1, 13, 2)], [(8, 2, 1, 3)]]),
    ],
)
def test_units_are_whole_points_while_they_fit(
    spans: list[tuple[int, int, int, int]], most: int, expected: list[list[tuple[int, int, int, int]]]
) -> None:
    def span(first: int, points: int, seed: int, seeds: int) -> Span:
        return Span(first=first, points=points, seed=seed, seeds=seeds)

    one = Round(spans=[span(*s) for s in spans], runs_per_unit=most, unit_s=1.0, patience_s=1.0)
    units = list(units_of([one]))
    assert [[tuple(s.model_dump().values()) for s in unit.spans] for unit in units] == expected
    assert [unit.name for unit in units][:2] == ["000-0000000", "000-0000001"]


def test_a_worker_of_another_version_makes_nothing_and_leaves_a_note(tmp_path: Path) -> None:
    objects = FolderObjects(tmp_path / "shared")
    shared = shared_of(small_plan(tmp_path)).model_copy(update={"engine_version": "0.0.1+other"})
    publish(objects, shared)
    with pytest.raises(OtherVersion, match=r"is of engine 0\.0\.1") as told:
        Worker(objects, shared)
    assert told.value.exit_status == 4
    assert len(objects.names(f"{shared.place}/refused")) == 1


def changed_name(text: str) -> str:
    return text.replace('"small"', '"other"')


def cut_short(text: str) -> str:
    return text[:-5]


def another_thing(_: str) -> str:
    return "[]"


def foreign_file(text: str) -> str:
    document = json.loads(text)
    document["files"]["../study.toml"] = "x"
    return json.dumps(document)


@pytest.mark.parametrize("change", [changed_name, cut_short, another_thing])
def test_a_plan_that_is_not_what_its_name_says_is_refused(tmp_path: Path, change: Callable[[str], str]) -> None:
    objects = FolderObjects(tmp_path / "shared")
    shared = shared_of(small_plan(tmp_path))
    text = change(shared.model_dump_json(by_alias=True))
    objects.create(f"{shared.place}/plan.json", text.encode())
    with pytest.raises(RecordError, match=r"is not readable|has been changed"):
        read_plan(objects, shared.name)


def test_a_plan_writes_no_file_outside_its_folder(tmp_path: Path) -> None:
    objects = FolderObjects(tmp_path / "shared")
    own = shared_of(small_plan(tmp_path))
    shared = SharedPlan.model_validate_json(foreign_file(own.model_dump_json(by_alias=True)))
    from sojourn.cluster.shared_plan import OpenPlan

    with pytest.raises(RecordError, match="names files elsewhere"):
        OpenPlan(shared, tmp_path / "shared")
    assert objects.names("v2") == []


def test_the_command_makes_one_unit_or_all_and_tells_what_is_wrong(sojourn: CommandLine, tmp_path: Path) -> None:
    objects = FolderObjects(tmp_path / "shared")
    shared = published(objects, small_plan(tmp_path, seeds=1))
    one = sojourn("worker", shared.name, "--store", "shared", "--unit", "2", "--json")
    assert (one.status, one.json()["units"], one.json()["runs"]) == (0, 1, 1)
    assert objects.names(f"{shared.place}/done") == ["000-0000002.json"]
    with pytest.raises(UsageError, match="there is no unit 99"):
        Worker(objects, shared).run_unit(99)
    with pytest.raises(UsageError, match=r"is no name of a plan"):
        read_plan(objects, "../..")
    done = sojourn("worker", "f" * 16, "--store", "shared")
    assert done.status == 2
    assert "has no plan ffff" in done.stderr


def test_units_are_short_enough_for_many_workers_and_long_enough_for_one() -> None:
    assert unit_length(1e9, 10) == 600.0
    assert unit_length(1000.0, 2) == 10.0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--plugin", "x.py", "--on", "workers"), "--plugin and --on exclude each other"),
        (("--shard", "0/2", "--on", "workers"), "--shard and --on exclude each other"),
        (("--on", "ray"), 'nothing is known of "ray"'),
    ],
)
def test_wishes_that_do_not_go_together_are_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    told: str,
) -> None:
    from sojourn.cli import run_command

    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run_command(["study", "run", "study.toml", "--store", "shared", *words]) == 2
    assert told in capsys.readouterr().err


def test_seeds_and_bytes_of_a_precise_study_depend_neither_on_workers_nor_on_interrupts(tmp_path: Path) -> None:
    precise: dict[str, Any] = {
        "measures": {"goodput": {"subject": "bulk", "metric": "goodput", "unit": "Mb/s"}},
        "precision": {"of": [{"measure": "goodput", "relative": "0.1 %"}], "seeds": {"least": 8, "most": 12}},
    }
    own = {"rtt": "10 ms", "app": {"start_jitter": "20 ms"}}  # what makes seeds differ
    precise |= {"overlays": {"near": {"traffic": {"bulk": own}}, "far": {}}}
    precise |= {"matrix": [{"axes": {"rtt": ["near", "far"]}}]}
    plan, said = small_plan(tmp_path, seeds=1, **precise), list[str]()
    crowd = crowd_of(FolderObjects(tmp_path / "shared"), said)
    cut = crowd_of(FolderObjects(tmp_path / "cut"), said)
    rounds = set[int]()

    def interrupted(plan: Plan, specs: list[RunSpec], store: Store) -> Generator[Finished]:
        """Let workers make runs, and be interrupted once in each round."""
        for one in cut.make(plan, specs, store):
            yield one
            if len(plan.runs) not in rounds:
                rounds.add(len(plan.runs))
                raise KeyboardInterrupt

    ways: dict[str, Elsewhere | None] = {"near": None, "far": crowd.make, "cut": interrupted}
    for name, elsewhere in ways.items():
        while not (tmp_path / f"out-{name}").exists():
            with contextlib.suppress(KeyboardInterrupt):
                run_study(
                    plan,
                    Store(tmp_path / f"own-{name}"),
                    out=tmp_path / f"out-{name}",
                    elsewhere=elsewhere,
                    progress=Silent(),
                    finish=write_summary,
                )
    assert len(rounds) == 2
    results = [StudyResult.load(tmp_path / f"out-{name}") for name in ways]
    assert {one.seeds for one in results[0].stopped.values()} == {8, 12}
    assert all(one.stopped == results[0].stopped for one in results)
    assert len({(one.directory / "metrics.parquet").read_bytes() for one in results}) == 1
