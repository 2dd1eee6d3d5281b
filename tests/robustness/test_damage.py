"""A result that is damaged, or somebody else's: named in a sentence, and the rest is shown."""

import contextlib
import io
import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from robustness.damage import campaign, forget_digests, make_results
from sojourn.base.on_disk import NUMBERS, WORDS, record_columns
from sojourn.cli import run_command
from sojourn.study.result import StudyResult
from support import Finished, words_only

pytestmark = pytest.mark.whole

Results = tuple[Path, Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return make_results(tmp_path_factory.mktemp("made"))


@pytest.fixture
def results(made: Results, tmp_path: Path) -> Results:
    return tuple(Path(shutil.copytree(path, tmp_path / path.name)) for path in made)  # type: ignore[misc]


def command(*arguments: str | Path) -> Finished:
    """Run a command in this process, which is quicker; what it raises is a traceback of the program."""
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        status = run_command(list(map(str, arguments)))
    return Finished(status, said.getvalue(), told.getvalue())


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def change_manifest(directory: Path, **changes: object) -> None:
    path = directory / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_truncated_table_of_a_run_is_named_and_the_rest_is_shown(results: Results) -> None:
    _, run = results
    cut(run / "series.parquet")
    done = command("report", run)
    assert done.status == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert "series.parquet has" in line
    assert "bytes instead of" in line
    page = (run / "report.html").read_text()
    assert "series.parquet has" in page
    assert not (run / "figures" / "over-time.svg").exists()
    assert (run / "figures" / "causes.svg").exists()


def test_one_changed_byte_in_a_table_is_found(results: Results) -> None:
    _, run = results
    path = run / "delays.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    done = command("report", run)
    assert done.status == 0
    assert "delays.parquet is not the file that was written" in done.stderr


def test_a_table_that_was_taken_away_is_named(results: Results) -> None:
    study, run = results
    (run / "delays.parquet").unlink()
    (study / "records" / "series.parquet").unlink()
    for directory, name in ((run, "delays"), (study, "records/series")):
        done = command("report", directory)
        assert done.status == 0, done.stderr
        assert f"{name}.parquet cannot be read" in done.stderr


def test_a_missing_column_costs_its_figure_alone(results: Results) -> None:
    _, run = results
    pl.read_parquet(run / "delays.parquet").drop("total_ns").write_parquet(run / "delays.parquet")
    forget_digests(run)
    done = command("report", run)
    assert done.status == 0
    assert words_only(done)
    assert "the figure of causes could not be made" in done.stderr
    assert "total_ns" in done.stderr
    assert (run / "figures" / "delay.svg").exists()


def test_words_in_place_of_numbers_are_named_with_their_column(results: Results) -> None:
    _, run = results
    path = run / "delay_histogram.parquet"
    pl.read_parquet(path).with_columns(pl.lit("many").alias("packets")).write_parquet(path)
    forget_digests(run)
    done = command("report", run)
    assert "delay_histogram.parquet: column packets holds words and no numbers" in done.stderr
    assert (run / "report.html").exists()


@pytest.mark.parametrize("name", ["metrics.parquet", "manifest.json"])
def test_without_metrics_or_manifest_there_is_an_error_of_one_sentence(results: Results, name: str) -> None:
    for directory in results:
        cut(directory / name)
        done = command("report", directory)
        assert done.status == 1
        assert words_only(done)
        error, hint = done.stderr.splitlines()
        assert name in error
        assert "run" in hint


def test_other_types_in_a_manifest_are_named_and_left_out(results: Results) -> None:
    study, run = results
    change_manifest(study, label_units=5, machine="fast", points=[1], seeds={"a": 1})
    change_manifest(run, statistics=[1, 2], commit=7, version={})
    for directory, keys in ((study, "label_units machine points seeds"), (run, "statistics commit")):
        done = command("report", directory)
        assert done.status == 0, done.stderr
        for key in keys.split():
            assert f"manifest.json: {key} is not valid" in done.stderr
        assert (directory / "report.html").exists()


def test_values_that_no_axis_holds_and_names_that_are_formulas_are_shown(results: Results) -> None:
    study, _ = results
    name = "$\\frac{$"
    metrics = pl.read_parquet(study / "metrics.parquet").with_columns(
        pl.when(pl.col("subject") == "bulk").then(pl.lit(name)).otherwise(pl.col("subject")).alias("subject"),
        pl.when(pl.col("seed") == 1).then(1e308).otherwise(-1e308).alias("value"),
    )
    metrics.write_parquet(study / "metrics.parquet")
    forget_digests(study)
    done = command("report", study)
    assert (done.status, done.stderr) == (0, "")
    assert name in (study / "report.html").read_text()


def test_metrics_of_runs_that_nobody_made_are_named_and_left_out(results: Results) -> None:
    study, _ = results
    runs = pl.read_parquet(study / "runs.parquet")
    runs.filter(pl.col("seed") == 1).write_parquet(study / "runs.parquet")
    forget_digests(study)
    result = StudyResult.load(study)
    assert result.damages == ("metrics.parquet has runs that runs.parquet does not have",)
    assert set(result.metrics["seed"]) == {1}


def test_a_comparison_with_a_damaged_result_is_refused_in_words(results: Results, made: Results) -> None:
    study, _ = results
    cut(study / "metrics.parquet")
    done = command("compare", study, made[0])
    assert done.status == 1
    assert words_only(done)
    assert "metrics.parquet has" in done.stderr


def test_a_query_names_the_damaged_table_and_answers_about_others(results: Results) -> None:
    pytest.importorskip("duckdb")
    study, _ = results
    cut(study / "records" / "series.parquet")
    done = command("query", "--store", study, "select count(*) as n from runs")
    assert (done.status, done.stdout) == (0, "n\n4\n")
    refused = command("query", "--store", study, "select * from series")
    assert refused.status == 2
    assert words_only(refused)
    assert "damaged: series" in refused.stderr


def test_columns_hold_what_their_names_say(made: Results) -> None:
    seen = 0
    for directory in made:
        for path in directory.rglob("*.parquet"):
            schema = pl.read_parquet_schema(path)
            for name, kind in record_columns(schema).items():
                assert kind == (NUMBERS if schema[name].is_numeric() else WORDS), (path.name, name)
                seen += 1
    assert seen > 50


def test_damaged_results_end_in_words(made: Results) -> None:
    ends, faults = campaign(8, 7, made)
    assert not faults, faults[0]
    assert sum(ends.values()) >= 8
