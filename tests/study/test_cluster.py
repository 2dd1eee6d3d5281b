"""Runs on the workers of a Dask scheduler."""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from support import CommandLine, write_study

pytest.importorskip("distributed")


@contextlib.contextmanager
def dask_cluster(sojourn: CommandLine, directory: Path) -> Generator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Run a scheduler and two workers; give the scheduler's address, and all three."""
    where = directory / "scheduler.json"
    common = ["--no-dashboard", "--scheduler-file", str(where)]
    scheduler = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    worker = ["-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny"]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for command in (scheduler, worker, worker):
            with (directory / f"dask-{len(processes)}.log").open("wb") as log:
                processes.append(
                    subprocess.Popen(
                        [sys.executable, *command, *common],
                        cwd=directory,
                        env=sojourn.environment,
                        stdout=log,
                        stderr=log,
                    )
                )
            deadline = time.monotonic() + 60
            while not where.exists():
                assert processes[0].poll() is None, (directory / "dask-0.log").read_text()
                assert time.monotonic() < deadline, "the scheduler does not start"
                time.sleep(0.05)
        yield str(json.loads(where.read_text())["address"]), processes
    finally:
        # Nothing of it is needed any more, so there is nothing to be ended in order.
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_cluster_gives_the_same_bits_as_this_machine(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    more = ("--no-figures", "--out")
    with dask_cluster(sojourn, tmp_path) as (address, _):
        where = ("--cluster", address, "--store", "far-store")
        done = sojourn("study", "run", "study.toml", *where, "--json", *more, "far")
        assert done.status == 0, done.stderr
        assert done.json()["runs"] == {"computed": 8, "reused": 0}
        # By units: the tasks put what they make into a store that all see, and only a name travels.
        where = ("--on", address.replace("tcp", "dask"), "--store", "shared")
        done = sojourn("study", "run", "study.toml", *where, *more, "together")
        assert done.status == 0, done.stderr
        assert "8 runs computed" in done.stderr
    assert sojourn("study", "run", "study.toml", *more, "near").status == 0
    names = ("far", "near", "together")
    assert len({(tmp_path / name / "metrics.parquet").read_bytes() for name in names}) == 1


@pytest.mark.slow
def test_a_study_outlives_a_worker_and_its_scheduler(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path, duration="600 s", seeds=40)
    words = ("study", "run", "study.toml", "--no-figures", "--store", "shared")
    with dask_cluster(sojourn, tmp_path) as (address, (scheduler, worker, _)):
        where = ("--on", address.replace("tcp", "dask"), "--patience", "2s")
        command = sojourn.command(*words, *where, "--out", "never")
        driver = subprocess.Popen(command, cwd=tmp_path, env=sojourn.environment, stderr=subprocess.PIPE, text=True)
        for process in (worker, scheduler):
            before = len(list((tmp_path / "shared").rglob("done/*.json")))
            deadline = time.monotonic() + 120
            while len(list((tmp_path / "shared").rglob("done/*.json"))) <= before:
                assert driver.poll() is None
                assert time.monotonic() < deadline, "no unit is done"
                time.sleep(0.02)
            process.kill()
        _, told = driver.communicate(timeout=120)
    assert driver.returncode == 1
    assert "is gone" in told
    assert "units are done" in told
    assert "the same command goes on" in told
    done = sojourn(*words, "--on", "workers", "--workers", "2", "--out", "goes-on")
    assert done.status == 0, done.stderr
    done = sojourn(*words[:4], "--store", "near", "--out", "one")
    assert done.status == 0, done.stderr
    names = ("goes-on", "one")
    assert len({(tmp_path / name / "metrics.parquet").read_bytes() for name in names}) == 1
