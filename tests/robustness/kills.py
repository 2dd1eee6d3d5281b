"""Studies that are killed: what was finished is kept, nothing half-written is read, the resumed result is the same.

usage: .venv/bin/python -m robustness.kills [KILLS] [SEED]    (in tests/)

A process that has loaded everything and started no thread forks the studies, so that a kill costs no start-up. A study
is killed at a random moment, some times over, and then let to its end; kills and what they met are printed.
"""

import contextlib
import importlib
import io
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sojourn.cli import run_command
from support import write_study

KILLS_OF_ONE_STUDY = 4

DURATION = "60 s"
"""Of each run; chosen: eight of them take as long as what comes before and after them."""


for _heavy in ("sojourn.report.builder", "sojourn.study.runner", "sojourn.cli.study_run"):
    importlib.import_module(_heavy)  # once, before any fork


def fork(work: Callable[[], int]) -> int:
    """Start work in a process of its own; return its id."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        status = 70
        try:
            status = work()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return process


def ended(process: int) -> int:
    """Wait for a process; return its exit status, negative for a signal."""
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


def study_in(folder: Path) -> Callable[[], int]:
    """Return what runs the study of a folder there, into a dated directory, and keeps its words in a file."""

    def work() -> int:
        os.chdir(folder)
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            command = ["study", "run", "study.toml", "--no-figures", "--jobs", "2", "--store", "store"]
            status = run_command(command)
        (folder / "said").write_text(said.getvalue())
        return status

    return work


def looked_at(folder: Path) -> int:
    """Check store and results of a folder; return how many whole runs it has."""
    from sojourn.store import Store

    damage: list[str] = []
    store = Store(folder / "store", on_damage=damage.append)
    runs = store.keys()
    assert len(store.find(dict.fromkeys(runs, frozenset()))) == len(runs)
    assert not damage, damage
    for path in (folder / "results" / "small").glob("[0-9]*"):
        assert json.loads((path / "manifest.json").read_text())["files"], path
        assert (path / "report.html").exists(), path
    return len(runs)


def checked(folder: Path) -> Callable[[], int]:
    """Return what prints the state of a folder for the process that forked it."""

    def work() -> int:
        (folder / "looked").write_text(str(looked_at(folder)))
        return 0

    return work


def metrics_of(folder: Path) -> list[bytes]:
    """Return the metrics of each finished result."""
    results = (folder / "results" / "small").glob("[0-9]*/metrics.parquet")
    return [path.read_bytes() for path in results]


def campaign(kills: int, seed: int) -> Counter[str]:
    """Kill studies so many times; return what the kills met.

    Raises `AssertionError` if something is lost, half-written or different.
    """
    met: Counter[str] = Counter()
    dice = random.Random(f"kills/{seed}")
    with tempfile.TemporaryDirectory() as name:
        whole = Path(name) / "whole"
        whole.mkdir()
        write_study(whole, DURATION)
        began = time.monotonic()
        assert ended(fork(study_in(whole))) == 0, (whole / "said").read_text()
        length = time.monotonic() - began
        (expected,) = metrics_of(whole)
        done = 0
        while done < kills:
            folder = Path(name) / f"killed-{done}"
            folder.mkdir()
            write_study(folder, DURATION)
            kept = 0
            for _ in range(min(KILLS_OF_ONE_STUDY, kills - done)):
                process = fork(study_in(folder))
                time.sleep(dice.uniform(0, length))
                os.kill(process, signal.SIGKILL)
                status = ended(process)
                done += 1
                assert ended(fork(checked(folder))) == 0, f"kill {done}"
                now = int((folder / "looked").read_text())
                assert now >= kept
                if status == 0:
                    met["after its end"] += 1
                elif now == 0:
                    met["before the first run"] += 1
                elif now < 8:
                    met["among the runs"] += 1
                else:
                    met["writing the result"] += 1
                kept = now
            assert ended(fork(study_in(folder))) == 0, (folder / "said").read_text()
            assert f"{8 - kept} runs computed, {kept} from the store" in (folder / "said").read_text()
            results = metrics_of(folder)
            assert results, folder
            assert all(one == expected for one in results), "other metrics"
            left = [path.name for path in (folder / "results" / "small").glob(".*")]
            assert not left, left
            assert not list((folder / "store").glob("v?/tmp/*"))
    return met


def main() -> int:
    """Make a campaign."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    met = campaign(kills, seed)
    print(f"{kills} kills: " + ", ".join(f"{count} {what}" for what, count in sorted(met.items())))
    print("all runs kept, all results the same bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
