"""Running studies: the same bits for any number of jobs, nothing lost, nothing half-written."""

import json
import signal
import time
from pathlib import Path

import polars as pl
import pytest

from sojourn.store import Store
from sojourn.study.execute import Finished
from sojourn.study.library import load_study
from sojourn.study.plan import Plan, RunOptions, RunSpec, make_plan, only_runs
from sojourn.study.runner import Outcome, run_study
from support import CommandLine, words_only, write_study

LONG = "100 s"
"""Simulated time per run that keeps a study busy for some seconds of wall time."""
BUSY = {"access": {"upstream": {"link": {"rate": "200 Mb/s"}}}}
"""An overlay that makes runs slow enough to be interrupted."""

AT_ONCE_S = 2.0
"""Far less than the runs under way still need; the process has to end, too, on a busy machine."""


def write_busy_study(directory: Path, seeds: int) -> Path:
    """Write a study whose runs take a good part of a second each."""
    return write_study(
        directory,
        duration=LONG,
        seeds={"first": 1, "count": seeds},
        overlays={"busy": BUSY},
        points={"busy": {"overlays": ["busy"]}},
        matrix=[],
        keep=[],
    )


def test_a_table_is_kept_of_the_runs_that_record_it(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(
        tmp_path,
        seeds={"first": 1, "count": 1},
        overlays={"silent": {"record": {"series": "off"}}},
        points={"loud": {}, "quiet": {"overlays": ["silent"]}},
        matrix=[],
    )
    done = sojourn("study", "run", "study.toml", "--out", "out", "--json")
    assert done.status == 0, done.stderr
    series = pl.read_parquet(tmp_path / "out" / "records" / "series.parquet")
    assert series["point"].unique().to_list() == ["loud"]


def test_a_table_is_kept_of_the_points_that_the_study_names(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(
        tmp_path,
        seeds={"first": 1, "count": 2},
        points={"near": {}, "nearer": {}, "far": {}},
        matrix=[],
        keep=["series", "delays"],
        keep_points={"series": ["near*"]},
    )
    done = sojourn("study", "run", "study.toml", "--out", "out", "--json")
    assert done.status == 0, done.stderr
    records = tmp_path / "out" / "records"
    kept = {
        table: pl.read_parquet(records / f"{table}.parquet")["point"].unique().sort().to_list()
        for table in ("series", "delays")
    }
    assert kept == {"series": ["near", "nearer"], "delays": ["far", "near", "nearer"]}


def test_a_study_writes_all_that_is_promised(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    done = sojourn("study", "run", "study.toml", "--out", "out", "--json")
    assert done.status == 0, done.stderr
    summary = done.json()
    assert summary["study"] == "small"
    assert summary["simulated_s"] == pytest.approx(16.0)
    assert summary["runs"] == {"computed": 8, "reused": 0}
    assert set(summary["comparison"]) == {"match", "miss", "unjudged"}
    assert set(summary["claims"]) == {"gate", "unit", "report"}
    out = tmp_path / "out"
    for name in ["report.html", "manifest.json", "study.toml", "scenarios/base.toml"]:
        assert (out / name).is_file(), name
    metrics = pl.read_parquet(out / "metrics.parquet")
    assert metrics.columns == ["study", "point", "seed", "subject", "metric", "value", "unit"]
    runs = pl.read_parquet(out / "runs.parquet")
    assert runs.height == 8
    assert runs.select("rtt", "buffer").unique().height == 4
    series = pl.read_parquet(out / "records" / "series.parquet")
    assert series.columns[:2] == ["point", "seed"]
    assert series.select("point", "seed").unique().height == 8


class Silent:
    """Progress that nobody is told of."""

    def start(self, plan: Plan, to_do: list[RunSpec]) -> None:
        """Do nothing."""

    def advance(self, finished: Finished) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""


def run_here(directory: Path, out: str, store: Store, points: tuple[str, ...] = (), jobs: int = 2) -> Outcome:
    """Run the study of a directory in this process and without a report."""
    plan = make_plan(load_study(str(directory)), RunOptions(points=points), only_runs)
    return run_study(plan, store, out=directory / out, jobs=jobs, progress=Silent(), finish=lambda _: None)


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_who_makes_ready_for_the_report_is_told_once_when_no_run_is_left_to_begin(tmp_path: Path, jobs: int) -> None:
    write_study(tmp_path)
    plan = make_plan(load_study(str(tmp_path)), RunOptions(points=("near-*",)), only_runs)
    store = Store(tmp_path / "store")
    ended, told = list[Finished](), list[int]()

    class Watching(Silent):
        def advance(self, finished: Finished) -> None:
            ended.append(finished)

    for out, most in (("first", max(0, 4 - jobs)), ("again", 4)):
        run_study(
            plan,
            store,
            out=tmp_path / out,
            jobs=jobs,
            progress=Watching(),
            finish=lambda _: None,
            on_last=lambda: told.append(len(ended)),
        )
        assert len(told) == 1
        assert told[0] <= most
        told.clear()
        assert (tmp_path / out / "summary.csv").exists()


def test_metrics_have_the_same_bytes_for_any_number_of_jobs(tmp_path: Path) -> None:
    write_study(tmp_path)
    for jobs in (1, 2, 5):
        run_here(tmp_path, f"out-{jobs}", Store(tmp_path / f"store-{jobs}"), jobs=jobs)
    one, two, five = ((tmp_path / f"out-{jobs}" / "metrics.parquet").read_bytes() for jobs in (1, 2, 5))
    assert one == two == five


def test_what_is_in_the_store_is_not_computed_again(tmp_path: Path) -> None:
    write_study(tmp_path)
    store = Store(tmp_path / "store")
    part = run_here(tmp_path, "part", store, points=("near-*",))
    assert (part.computed, part.reused) == (4, 0)
    whole = run_here(tmp_path, "whole", store)
    assert (whole.computed, whole.reused) == (4, 4)
    assert whole.simulated_s == pytest.approx(16.0)


def test_a_truncated_file_in_the_store_is_told_and_its_runs_repeated(tmp_path: Path) -> None:
    write_study(tmp_path)
    said: list[str] = []
    store = Store(tmp_path / "store", on_damage=said.append)
    run_here(tmp_path, "first", store)
    (victim,) = (tmp_path / "store").glob("v2/runs/*/*/metrics.parquet")
    victim.write_bytes(victim.read_bytes()[:100])
    again = run_here(tmp_path, "second", store)
    assert (again.computed, again.reused) == (8, 0)
    assert len(said) == 1
    first, second = ((tmp_path / name / "metrics.parquet").read_bytes() for name in ("first", "second"))
    assert first == second


@pytest.mark.slow
def test_a_killed_study_continues_where_it_was(sojourn: CommandLine, tmp_path: Path) -> None:
    seeds = 8
    write_busy_study(tmp_path, seeds)
    process = sojourn.start("study", "run", "study.toml", "--out", "out", "--jobs", "2")
    sojourn.wait_for_runs(2)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    kept = len(sojourn.stored_runs())
    assert 2 <= kept < seeds
    assert not (tmp_path / "out").exists()

    done = sojourn("study", "run", "study.toml", "--out", "out", "--json")
    assert done.status == 0, done.stderr
    assert done.json()["runs"] == {"computed": seeds - kept, "reused": kept}
    assert not list(tmp_path.glob(".*unfinished*"))
    assert not list(sojourn.store.glob("v?/tmp/*"))

    run_here(tmp_path, "whole", Store(tmp_path / "other"))
    resumed, whole = ((tmp_path / name / "metrics.parquet").read_bytes() for name in ("out", "whole"))
    assert resumed == whole


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_study_ends_at_once_and_keeps_what_was_finished(
    sojourn: CommandLine, tmp_path: Path, sent: signal.Signals
) -> None:
    write_busy_study(tmp_path, seeds=200)
    process = sojourn.start("study", "run", "study.toml", "--out", "out", "--jobs", "2")
    sojourn.wait_for_runs(2)
    began = time.monotonic()
    process.send_signal(sent)
    _, errors = process.communicate()
    took = time.monotonic() - began
    assert process.returncode == 3, errors
    assert took < AT_ONCE_S
    kept = len(sojourn.stored_runs())
    assert f"interrupted; {kept} of 200 runs are kept in the store" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".*unfinished*"))
    assert not list(sojourn.store.glob("v?/tmp/*"))


@pytest.mark.slow
def test_an_interrupted_run_ends_at_once(sojourn: CommandLine, tmp_path: Path) -> None:
    write_busy_study(tmp_path, seeds=1)
    process = sojourn.start(
        *("run", "base.toml", "--set", "duration=100000 s"), *("--set", "access.upstream.link.rate=200 Mb/s")
    )
    time.sleep(1.5)  # until the engine runs; if it does not yet, the interrupt ends it all the same
    assert process.poll() is None
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 3, errors
    assert time.monotonic() - began < AT_ONCE_S
    assert "Traceback" not in errors


def test_a_result_directory_is_never_overwritten(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("data")
    done = sojourn("study", "run", "study.toml", "--out", "out")
    assert done.status == 2
    assert "out is not empty" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["precious"]
    assert sojourn.stored_runs() == []


def test_an_empty_directory_may_be_named(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    (tmp_path / "out").mkdir()
    assert sojourn("study", "run", "study.toml", "--quick", "--out", "out").status == 0
    assert (tmp_path / "out" / "report.html").exists()


def test_the_default_directory_is_dated_and_latest_points_to_it(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    assert sojourn("study", "run", "study.toml", "--quick").status == 0
    done = sojourn("study", "run", "study.toml", "--quick")
    assert done.status == 0, done.stderr
    page = tmp_path / done.stdout.strip()
    assert page.name == "report.html"
    assert page.parent.parent == tmp_path / "results" / "small"
    assert (tmp_path / "results" / "small" / "latest").resolve() == page.parent.resolve()
    assert json.loads((page.parent / "manifest.json").read_text())["quick"] is True
    assert len(list((tmp_path / "results" / "small").iterdir())) == 3


@pytest.mark.parametrize("largest_file", [1000, 5000, 12_000])
def test_a_disk_that_is_full_when_results_are_written_is_told(
    sojourn: CommandLine, tmp_path: Path, largest_file: int
) -> None:
    # The limits stop metrics.parquet, the records, and the report.
    write_study(tmp_path)
    run_here(tmp_path, "first", Store(sojourn.store))
    sojourn.environment["MPLCONFIGDIR"] = str(tmp_path / "mpl")
    process = sojourn.start("study", "run", "study.toml", "--out", "second", largest_file=largest_file)
    _, errors = process.communicate()
    assert process.returncode == 1
    assert "error: cannot write " in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "second").exists()
    assert not list(tmp_path.glob(".*unfinished*"))


def test_a_report_that_fails_leaves_the_records(tmp_path: Path) -> None:
    write_study(tmp_path)
    plan = make_plan(load_study(str(tmp_path)), RunOptions(quick=True), only_runs)
    store = Store(tmp_path / "store")

    def fail(_: object) -> None:
        raise ZeroDivisionError

    out = tmp_path / "out"
    with pytest.raises(ZeroDivisionError) as caught:
        run_study(plan, store, out=out, progress=Silent(), finish=fail)
    assert (out / "metrics.parquet").exists()
    assert (out / "summary.parquet").exists()
    assert any("sojourn report" in note for note in caught.value.__notes__)


def test_a_full_disk_is_told_and_loses_nothing(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    run_here(tmp_path, "first", Store(sojourn.store), points=("near-short",))
    kept = len(sojourn.stored_runs())
    assert kept == 2
    # No file may grow beyond 600 bytes: the kernel then refuses as on a full disk.
    process = sojourn.start("study", "run", "study.toml", "--out", "second", largest_file=600)
    _, errors = process.communicate()
    assert process.returncode == 1, errors
    assert "cannot write" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "second").exists()
    assert len(sojourn.stored_runs()) == kept
    assert run_here(tmp_path, "third", Store(sojourn.store)).reused == kept


def test_a_place_for_results_that_cannot_be_written_is_an_error_of_the_environment(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    write_study(tmp_path)
    (tmp_path / "file").write_text("in the way")
    done = sojourn("study", "run", "study.toml", "--out", "file/out")
    assert done.status == 1
    assert "cannot write file/out: not a directory" in done.stderr
    assert words_only(done)


def test_the_report_can_be_rebuilt_without_the_store(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    sojourn("study", "run", "study.toml", "--out", "out")
    (tmp_path / "out" / "report.html").unlink()
    done = sojourn("report", "out")
    assert done.status == 0, done.stderr
    assert done.stdout == "out/report.html\n"
    assert (tmp_path / "out" / "report.html").exists()


def test_the_manifest_tells_where_the_result_comes_from(tmp_path: Path) -> None:
    write_study(tmp_path)
    run_here(tmp_path, "out", Store(tmp_path / "store"))
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["quick"] is False
    assert manifest["seeds"] == [1, 2]
    assert (manifest["runs"], manifest["computed"], manifest["reused"]) == (8, 8, 0)
    assert set(manifest["points"]) == {"near-short", "near-long", "far-short", "far-long"}
    assert {"version", "engine_version", "commit", "dirty", "machine"} <= set(manifest)
    hashes = {point["scenario_sha256"] for point in manifest["points"].values()}
    assert len(hashes) == 4


@pytest.mark.parametrize("shares", [3, 7])
def test_shares_made_by_several_calls_in_any_order_fill_one_store(
    sojourn: CommandLine, tmp_path: Path, shares: int
) -> None:
    """Four points with two seeds each: shares of points, and of runs where points are fewer."""
    write_study(tmp_path)
    command = ["study", "run", "study.toml", "--no-figures", "--json"]
    whole = sojourn(*command, "--out", "whole", "--store", "other")
    assert whole.status == 0, whole.stderr
    made: list[int] = []
    for share in reversed(range(shares)):
        done = sojourn(*command, "--out", "shared", "--shard", f"{share}/{shares}")
        assert done.status == 0, done.stderr
        told = done.json()
        made.append(8 - told.get("missing", 0))
        assert (tmp_path / "shared").exists() == (share == 0)
        assert ("the call that finds all of them writes the result" in done.stderr) == (share > 0)
    assert made == sorted(set(made))
    assert made[-1] == 8
    one, other = ((tmp_path / name / "metrics.parquet").read_bytes() for name in ("whole", "shared"))
    assert one == other
    again = sojourn(*command, "--out", "again", "--shard", f"0/{shares}")
    assert again.json()["runs"] == {"computed": 0, "reused": 8}


@pytest.mark.parametrize("share", ["8/8", "1", "a/b", "-1/4", "1/0", "0/9999999", "1/2/3"])
def test_a_share_that_is_none_is_told(sojourn: CommandLine, tmp_path: Path, share: str) -> None:
    write_study(tmp_path)
    done = sojourn("study", "run", "study.toml", f"--shard={share}")
    assert done.status == 2
    assert "0/8" in done.stderr
    assert words_only(done)
