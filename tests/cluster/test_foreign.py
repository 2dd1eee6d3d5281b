"""Strangers' objects in a shared store and beside results: named, not counted, and no reason to stop."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.test_workers import crowd_of, make, metrics, published, small_plan
from sojourn.base.output import new_directory, owner, owner_is_gone
from sojourn.cluster import child
from sojourn.cluster.notes import DoneNote, read_note
from sojourn.cluster.shared_plan import SharedPlan
from sojourn.cluster.unit_claims import Board
from sojourn.cluster.worker import Worker
from sojourn.store import Store
from sojourn.store.objects import FolderObjects

UNIT = "000-0000001"


def pipe(path: Path) -> None:
    os.mkfifo(path)


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def folder(path: Path) -> None:
    (path / "deep").mkdir(parents=True)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def text(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


def round_of(first: int, points: int, seeds: int, runs_per_unit: int) -> Callable[[Path], None]:
    """Return what writes a round of units that a worker waits for a moment."""
    span = {"first": first, "points": points, "seed": 1, "seeds": seeds}
    one = {"spans": [span], "runs_per_unit": runs_per_unit, "unit_s": 1.0, "patience_s": 0.001}
    return text(json.dumps(one).encode())


FOREIGN: dict[str, tuple[str, Callable[[Path], None]]] = {
    "a claim with a zero before it": (f"claims/{UNIT}/01", text(b"{}")),
    "a claim of another script": (f"claims/{UNIT}/\u0661", text(b"{}")),
    "a claim without end": (f"claims/{UNIT}/{'9' * 40}", text(b"{}")),
    "a claim that is a word": (f"claims/{UNIT}/first", text(b"{}")),
    "a pipe as a claim": (f"claims/{UNIT}/0", pipe),
    "a link as a claim": (f"claims/{UNIT}/0", link),
    "a link to itself as a claim": (f"claims/{UNIT}/0", loop),
    "a folder as a claim": (f"claims/{UNIT}/0", folder),
    "a terabyte as a claim": (f"claims/{UNIT}/0", sparse),
    "a claim of no unit": ("claims/007-0000001/0", text(b"{}")),
    "a claim that is no JSON": (f"claims/{UNIT}/0", text(b"\xff\xfe{")),
    "a pipe as a result": (f"done/{UNIT}.json", pipe),
    "a link as a result": (f"done/{UNIT}.json", link),
    "a folder as a result": (f"done/{UNIT}.json", folder),
    "a terabyte as a result": (f"done/{UNIT}.json", sparse),
    "a result without a suffix": (f"done/{UNIT}", text(b"{}")),
    "a result of no unit": ("done/x.json", text(b"{}")),
    "a pipe beside the folders": ("strange", pipe),
    "a file beside the folders": ("strange", text(b"{}")),
    "a file where the claims should be": ("claims", text(b"{}")),
    "a file where the claims of a unit should be": (f"claims/{UNIT}", text(b"{}")),
    "a pipe where the claims should be": ("claims", pipe),
    "a link where the claims of a unit should be": (f"claims/{UNIT}", link),
    "a file where the results should be": ("done", text(b"{}")),
    "a link where the results should be": ("done", link),
    "a round that is no JSON": ("rounds/001.json", text(b"\xff{")),
    "a round of more units than there are": ("rounds/001.json", round_of(0, 10**12, 1, 5)),
    "a round of one unit without end": ("rounds/001.json", round_of(0, 4, 10**12, 10**13)),
    "a round beyond the points of the plan": ("rounds/001.json", round_of(10**9, 7, 1, 3)),
    "a round half beyond the points of the plan": ("rounds/001.json", round_of(2, 10**5, 1, 20_000)),
    "names of terminals": ("done/\x1b[31m.json", text(b"{}")),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_strangers_put_beside_a_plan_stops_no_worker(tmp_path: Path, name: str) -> None:
    objects = FolderObjects(tmp_path / "shared")
    shared = published(objects, small_plan(tmp_path, seeds=1), patience_s=0.001)
    place, make = FOREIGN[name]
    path = tmp_path / "shared" / shared.place / place
    path.parent.mkdir(parents=True, exist_ok=True)
    make(path)
    said: list[str] = []
    tally = Worker(objects, shared, seconds=60, tell=said.append).run()
    board = Board(objects, shared, "look")
    board.refresh()
    assert board.left == []
    assert tally.units == len(board.units)
    assert all("\x1b" not in line for line in said)
    if board.foreign:
        assert sum("do not count" in line for line in said) == 1


@pytest.mark.parametrize("name", [name for name in FOREIGN if "round" in name or "should be" in name])
def test_what_strangers_put_beside_a_plan_changes_no_result_of_a_driver(tmp_path: Path, name: str) -> None:
    plan, said = small_plan(tmp_path, seeds=1), list[str]()
    objects = FolderObjects(tmp_path / "shared")
    shared = published(objects, plan, patience_s=0.001)
    place, make_it = FOREIGN[name]
    path = tmp_path / "shared" / shared.place / place
    path.parent.mkdir(parents=True, exist_ok=True)
    make_it(path)
    near, far = Store(tmp_path / "near"), Store(tmp_path / "far")
    make(plan, near)
    assert make(plan, far, crowd_of(objects, said)) == 4
    assert metrics(tmp_path / "a", plan, near) == metrics(tmp_path / "b", plan, far)
    if "no JSON" in name or "units" in name or "without end" in name:
        assert sum("is no round of this plan" in line for line in said) == 1


def test_a_result_with_more_segments_than_a_unit_has_says_nothing() -> None:
    note = DoneNote(segments=("ab",))
    many = note.model_dump_json().replace('"ab"', ",".join(['"ab"'] * 300_000)).encode()
    assert read_note(DoneNote, note.model_dump_json().encode()) == note
    assert read_note(DoneNote, many) == DoneNote()


@pytest.mark.parametrize("process", ["99999999999999999999", "-1", "", "1.5", "\u0661", "0x1"])
def test_a_folder_of_a_process_that_cannot_be_stops_nobody_who_writes_beside_it(tmp_path: Path, process: str) -> None:
    host = owner().rpartition(".")[0]
    strange = tmp_path / f".a{'.unfinished-'}{host}.{process}"
    strange.mkdir()
    with new_directory(tmp_path / "b") as unfinished:
        (unfinished / "x").write_text("1")
    assert (tmp_path / "b" / "x").read_text() == "1"
    assert strange.is_dir()
    assert not owner_is_gone(f"{host}.{process}")


def test_a_worker_removes_the_folders_of_those_that_were_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: SharedPlan
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    )
    host = owner().rpartition(".")[0]
    left = tmp_path / f"{child.PREFIX}abc-{host}.{gone.stdout.strip()}"
    lives = tmp_path / f"{child.PREFIX}def-{owner()}"
    for one in (left, lives):
        one.mkdir()
    maker = child.Maker(shared, 1)
    try:
        assert not left.exists()
        assert lives.exists()
        assert maker.folder.parent == tmp_path
    finally:
        maker.close()
    assert not maker.folder.exists()


@pytest.fixture
def shared(tmp_path: Path) -> SharedPlan:
    (tmp_path / "study").mkdir()
    return published(FolderObjects(tmp_path / "shared"), small_plan(tmp_path / "study", seeds=1))
