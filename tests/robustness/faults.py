"""A file system with one fault: each write, rename and sync of store, result and collector fails once.

usage: .venv/bin/python -m robustness.faults [--every N] [--target store|segments|study|collector ...]    (in tests/)

`faults.c` is compiled and loaded before the C library, so that also what polars and SQLite write is met. Each call that
writes is made to fail once, in a process of its own, with "no space left" or "input/output error" in turn; then the
same is done again without a fault. What ends otherwise than in words, or loses or changes something, is a fault of ours.
"""

import argparse
import contextlib
import ctypes
import errno
import io
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robustness.kills import ended, fork
from sojourn import _engine
from sojourn.base.errors import SojournError
from sojourn.cli import run_command
from sojourn.scenario.scenario_file import load_scenario
from sojourn.store import PackedRun, Store, pack
from support import write_scenario, write_study

SHIM = Path(__file__).with_name("faults.c")
LIBRARY = "SOJOURN_FAULTS"
"""Names the compiled library for the process that has it loaded."""

Attempt = Callable[[Path], str]
"""Does the work below a directory, with a fault perhaps; returns how it ended, in a word or two."""
Check = Callable[[Path], None]
"""Does it again without a fault, and makes sure that everything is there."""


Target = tuple[Callable[[Path], None], Attempt, Check]
"""What is there before, the work, and the work again."""


def _nothing(_: Path) -> None:
    """Prepare nothing."""


def compile_shim(folder: Path) -> Path | None:
    """Compile the library; `None` without a compiler."""
    library = folder / "faults.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SHIM), "-ldl"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    assert done.returncode == 0, done.stderr
    return library


class Faults:
    """The library, loaded into this process."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)
        self._library.fault_seen.restype = ctypes.c_long
        self._library.fault_kind.restype = ctypes.c_char_p

    def arm(self, number: int, code: int, root: Path) -> None:
        """Let call `number` fail; none for 0."""
        self._library.fault_arm(ctypes.c_long(number), code, str(root).encode())

    def disarm(self) -> None:
        """Let nothing fail any more."""
        self._library.fault_disarm()

    @property
    def seen(self) -> int:
        """Calls since `arm`."""
        return int(self._library.fault_seen())

    def kind(self, number: int) -> str:
        """Return what a call was."""
        return bytes(self._library.fault_kind(ctypes.c_long(number))).decode()


def store_target(folder: Path) -> Target:
    """Keep a run over a damaged one of the same key: the way with the most renames."""
    scenario = load_scenario(write_scenario(folder, duration="100 ms"))
    key = scenario.key(1)

    def files() -> dict[str, bytes]:
        return pack(_engine.run(scenario.compiled, 1), key, 1, scenario.canonical())

    def prepare(place: Path) -> None:
        home = place / "v1" / key[:2] / key
        home.mkdir(parents=True)
        (home / "run.json").write_bytes(b"{}")

    def attempt(place: Path) -> str:
        try:
            Store(place).put(key, files())
        except SojournError:
            return "told"
        return "unharmed"

    def check(place: Path) -> None:
        again = files()
        store = Store(place)
        kept = store.get(key)
        if kept is None:
            store.put(key, again)
            kept = store.get(key)
        assert kept is not None
        tables = [name for name in again if name.endswith(".parquet")]
        assert all((kept.directory / name).read_bytes() == again[name] for name in tables)
        left = list((place / "v1" / "tmp").iterdir())
        assert not left, left

    return prepare, attempt, check


def segment_target(folder: Path) -> Target:
    """Keep runs of a study together, over a damaged segment of the same runs."""
    scenario = load_scenario(write_scenario(folder, duration="100 ms"))
    keys = scenario.keys(1, 3)
    text = scenario.canonical()

    def runs() -> list[PackedRun]:
        return [
            PackedRun.of(_engine.run(scenario.compiled, seed), key, seed, text, ("series",))
            for seed, key in enumerate(keys, 1)
        ]

    def prepare(place: Path) -> None:
        (entry, *_) = Store(place).put_together(runs(), ("series",))
        (entry.directory / "segment.json").write_bytes(b"{}")

    def attempt(place: Path) -> str:
        try:
            Store(place).put_together(runs(), ("series",))
        except SojournError:
            return "told"
        return "unharmed"

    def check(place: Path) -> None:
        wanted = dict.fromkeys(keys, frozenset({"series"}))
        store = Store(place)
        if not store.find(wanted):
            store.put_together(runs(), ("series",))
        assert len(store.find(wanted)) == len(keys)
        left = list((place / "v2" / "tmp").iterdir())
        assert not left, left

    return prepare, attempt, check


def study_target(folder: Path) -> Target:
    """Make a whole study: store, result directory, report."""
    study = write_study(folder, "200 ms", matrix=[{"axes": {"rtt": ["near", "far"]}}])

    def made(place: Path, out: str) -> tuple[int, str]:
        said = io.StringIO()
        command = ["study", "run", str(study), "--no-figures", "--jobs", "1"]
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            status = run_command([*command, "--store", str(place / "store"), "--out", str(place / out)])
        return status, said.getvalue()

    def attempt(place: Path) -> str:
        status, said = made(place, "first")
        assert "Traceback" not in said
        if status == 0:
            return "unharmed"
        assert status == 1, said
        assert "cannot write" in said, said
        return "told"

    def check(place: Path) -> None:
        from sojourn.study.result import StudyResult

        first, second = place / "first", place / "second"
        if first.exists():  # whole, or not at all
            assert not StudyResult.load(first).damages
        status, said = made(place, "second")
        assert status == 0, said
        reference = folder / "metrics.parquet"
        found = (second / "metrics.parquet").read_bytes()
        if not reference.exists():
            reference.write_bytes(found)
        assert found == reference.read_bytes(), "other metrics"
        left = [path.name for path in place.glob(".*")]
        assert not left, left

    return _nothing, attempt, check


def collector_target(_: Path) -> Target:
    """Keep a probe and two uploads in the collector's database."""
    from sojourn.field.collector.storage import Storage

    uploads = {letter * 64: letter.encode() * 20_000 for letter in "ab"}

    acknowledged: list[str] = []  # in one process only, and so by one attempt

    def attempt(place: Path) -> str:
        from sqlalchemy.exc import SQLAlchemyError

        end = "unharmed"
        try:
            storage = Storage(f"sqlite:///{place}/trial.db")
            number, _ = storage.probe_of(storage.add_probe("home-01")) or (0, "")
            for digest, content in uploads.items():
                storage.add(number, digest, "a", content, [], None)
                acknowledged.append(digest)
        except (SojournError, SQLAlchemyError):  # the service answers 503, and the probe sends it again
            end = "told"
        return end

    def check(place: Path) -> None:
        storage = Storage(f"sqlite:///{place}/trial.db")
        kept = {digest: content for _, digest, _, content in storage.files()}
        assert all(kept[digest] == uploads[digest] for digest in acknowledged), "an upload is lost"
        assert all(content == uploads[digest] for digest, content in kept.items())
        names = [probe.name for probe in storage.probes()]
        number, _ = storage.probe_of(storage.renew_probe("home-01") if names else storage.add_probe("home-01")) or (
            0,
            "",
        )
        for digest, content in uploads.items():
            assert storage.add(number, digest, "a", content, [], None) == (digest not in kept)
        assert {digest: content for _, digest, _, content in storage.files()} == uploads
        storage.close()

    return _nothing, attempt, check


TARGETS: dict[str, Callable[[Path], Target]] = {
    "store": store_target,
    "segments": segment_target,
    "study": study_target,
    "collector": collector_target,
}


def campaign(name: str, every: int) -> tuple[Counter[tuple[str, str]], int]:
    """Let every so many-th call fail; return kinds of calls with how it ended, and how many calls there are.

    Raises `AssertionError` if a fault ends otherwise than in words, or something is lost.
    """
    faults = Faults(os.environ[LIBRARY])
    ends: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        prepare, attempt, check = TARGETS[name](folder)

        def one(number: int) -> dict[str, Any]:
            place = folder / f"place-{number}"
            place.mkdir()
            told = folder / f"told-{number}"

            def work() -> int:
                code = errno.ENOSPC if number % 2 else errno.EIO
                prepare(place)
                faults.arm(number, code, place)
                end = attempt(place)
                faults.disarm()
                seen, kind = faults.seen, faults.kind(number)
                check(place)
                told.write_text(json.dumps({"end": end, "seen": seen, "kind": kind}))
                return 0

            assert ended(fork(work)) == 0, f"{name}: call {number} fails"
            return json.loads(told.read_text())

        calls = int(one(0)["seen"])
        for number in range(1, calls + 1, every):
            found = one(number)
            ends[str(found["kind"] or "none"), str(found["end"])] += 1
    return ends, calls


def main() -> int:
    """Make all campaigns, in a process that has the library loaded."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--target", choices=list(TARGETS), action="append")
    options = parser.parse_args()
    if LIBRARY not in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            library = compile_shim(Path(folder))
            if library is None:
                print("no C compiler: nothing was made to fail")
                return 77
            environment = os.environ | {LIBRARY: str(library), "LD_PRELOAD": str(library)}
            command = [sys.executable, "-m", "robustness.faults", *sys.argv[1:]]
            return subprocess.run(command, env=environment, check=False).returncode
    for name in options.target or TARGETS:
        ends, calls = campaign(name, options.every)
        print(f"{name}: {sum(ends.values())} of {calls} calls failed once each")
        for (kind, end), count in sorted(ends.items()):
            print(f"  {kind}: {count} {end}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
