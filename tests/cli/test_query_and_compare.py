"""`sojourn query` and `sojourn compare`: asking what has been run."""

import shutil
import sys
from pathlib import Path

import pytest

from support import CommandLine, write_scenario, write_study


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a study, its result in `out`, and a store."""
    directory = tmp_path_factory.mktemp("finished")
    write_study(directory)
    done = CommandLine(directory)("study", "run", "study.toml", "--out", "out")
    assert done.status == 0, done.stderr
    return directory


@pytest.fixture
def studied(finished: Path, tmp_path: Path) -> CommandLine:
    """Return the command line in a copy of that directory."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return CommandLine(tmp_path)


def test_the_store_answers_in_sql(studied: CommandLine) -> None:
    done = studied("query", "select count(*) as runs, min(scenario) as first from runs")
    assert done.status == 0, done.stderr
    assert done.stdout.split() == ["runs", "first", "8", "small/far-long"]
    joined = studied(
        "query",
        "select count(distinct seed) as seeds from runs join metrics using (key) where metric = 'goodput'",
        "--csv",
    )
    assert joined.stdout == "seeds\n2\n"


def test_a_result_answers_in_sql(studied: CommandLine) -> None:
    done = studied(
        *("query", "select point, count(*) n from series group by point order by point"), *("--store", "out", "--csv")
    )
    assert done.status == 0, done.stderr
    assert [line.split(",")[0] for line in done.stdout.splitlines()[1:]] == [
        "far-long",
        "far-short",
        "near-long",
        "near-short",
    ]


def test_a_wrong_query_is_wrong_usage_and_names_the_tables(studied: CommandLine) -> None:
    done = studied("query", "select nothing from nowhere")
    assert done.status == 2
    assert "nowhere" in done.stderr
    assert "metrics" in done.stderr


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_text('secret.txt')",
        "select * from 'secret.txt'",
        "copy (select 1) to 'written.csv'",
        "copy (select 1) to 'out/written.csv'",
        "attach 'other.db'",
        "install spatial",
        "load httpfs",
        "set enable_external_access = true",
        "create table other as select 1",
        "select 1; copy (select 1) to 'written.csv'",
        "",
        ";",
        "select now()",
    ],
)
def test_a_query_reads_what_it_asks_about_and_nothing_else(studied: CommandLine, tmp_path: Path, sql: str) -> None:
    (tmp_path / "secret.txt").write_text("a\n1\n")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    done = studied("query", sql, "--store", "out")
    assert done.status == 2, done.stdout
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_a_query_may_read_other_files_if_it_is_let(studied: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a\n41\n")
    done = studied("query", "select a + 1 as b from 'other.csv'", "--store", "out", "--allow-files", "--csv")
    assert done.stdout == "b\n42\n", done.stderr


def test_names_of_files_are_names_and_no_sql(studied: CommandLine, tmp_path: Path) -> None:
    name = "x\" as select 1; copy (select 1) to 'written'; --"
    (tmp_path / "out" / "records").mkdir(exist_ok=True)
    shutil.copy(tmp_path / "out" / "metrics.parquet", tmp_path / "out" / "records" / f"{name}.parquet")
    done = studied("query", "select count(*) as n from metrics", "--store", "out", "--csv")
    assert done.status == 0, done.stderr
    assert not list(tmp_path.rglob("written*"))


def test_an_empty_store_says_how_to_fill_it(sojourn: CommandLine) -> None:
    done = sojourn("query", "select 1")
    assert done.status == 2
    assert "sojourn run" in done.stderr


def test_a_missing_package_is_told_with_the_way_to_install_it(sojourn: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "duckdb.py").write_text("raise ImportError('no duckdb here')")
    sojourn.environment["PYTHONPATH"] = str(tmp_path)
    write_scenario(tmp_path)
    done = sojourn("query", "select 1")
    assert done.status == 2
    assert 'pip install "sojourn[sql]"' in done.stderr
    assert sys.executable not in done.stderr


def test_a_result_compared_with_itself_is_the_same(studied: CommandLine) -> None:
    done = studied("compare", "out", "out", "--json")
    counts = done.json()["counts"]
    assert counts["same"] > 0
    assert (counts["moved"], counts["within chance"], counts["one seed"]) == (0, 0, 0)
    assert done.json()["changes"] == []


def test_what_moved_is_told_with_its_interval(studied: CommandLine, tmp_path: Path) -> None:
    write_study(
        tmp_path,
        overlays={
            "short": {"access": {"upstream": {"queue": {"limit": "20 packets"}}}},
            "long": {"access": {"upstream": {"queue": {"limit": "200 packets"}}}},
            "near": {"traffic": {"bulk": {"rtt": "10 ms"}}},
            "far": {"traffic": {"bulk": {"rtt": "100 ms"}}},
        },
    )
    assert studied("study", "run", "study.toml", "--out", "other").status == 0
    done = studied("compare", "out", "other", "--all", "--json")
    changes = done.json()["changes"]
    moved = {change["point"] for change in changes if change["verdict"] != "same"}
    assert moved == {"near-short", "far-short"}


def test_results_without_common_points_cannot_be_compared(studied: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path, points={"alone": {}}, matrix=[])
    assert studied("study", "run", "study.toml", "--quick", "--out", "other").status == 0
    done = studied("compare", "out", "other")
    assert done.status == 2
    assert "no point and seed in common" in done.stderr


def test_points_of_one_result_are_compared_by_a_label(studied: CommandLine, tmp_path: Path) -> None:
    done = studied("compare", "out", "--by", "buffer", "--html", "page.html")
    assert done.status == 0, done.stderr
    headline = done.stdout.splitlines()[0]
    assert "short" in headline
    assert "long" in headline
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert headline.replace("'", "&#39;") in page
    assert "long instead of short (buffer; means over rtt): " in page
    heading = next(line for line in done.stdout.splitlines() if " before " in line)
    assert heading.split() == ["buffer", "who", "what", "before", "after", "difference", "change", "verdict"]
    assert "What buffer changes" in page
    assert "Point by point" in page
    found = studied("compare", "out", "--by", "buffer", "--against", "long", "--json", "--all").json()
    assert (found["by"], found["against"]) == ("buffer", "long")
    assert {row["rtt"] for row in found["changes"]} == {"near", "far"}
    assert sum(found["counts"].values()) == len(found["changes"])


def test_a_change_fails_only_if_asked_to(studied: CommandLine) -> None:
    assert studied("compare", "out", "--by", "buffer").status == 0
    assert studied("compare", "out", "--by", "buffer", "--fail-on-change").status == 1
    assert studied("compare", "out", "out", "--fail-on-change").status == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["out"], "compare two results, or the points of one by a label"),
        (["out", "out", "--by", "rtt"], "compare two results, or the points of one by a label"),
        (["out", "out", "--against", "near"], "--against needs --by"),
        (["out", "--by", "bufer"], 'did you mean "buffer"?'),
        (["out", "--by", "buffer", "--html", "no/such/place.html"], "cannot write"),
    ],
)
def test_a_comparison_that_makes_no_sense_says_so(studied: CommandLine, arguments: list[str], words: str) -> None:
    done = studied("compare", *arguments)
    assert done.status in (1, 2)
    assert words in done.stderr


def test_two_runs_are_compared(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path, "scenario.toml")
    for out, limit in (("long", "200 KB"), ("short", "8 KB")):
        changed = f"access.upstream.queue.limit={limit}"
        assert sojourn("run", "scenario.toml", "--set", changed, "--out", out).status == 0
    done = sojourn("compare", "long", "short", "--json")
    assert done.status == 0, done.stderr
    said = done.json()
    assert "One seed: differences may be chance." in said["headline"]["sentence"]
    assert {row["verdict"] for row in said["changes"]} == {"one seed"}
    printed = sojourn("compare", "long", "short", "--html", "page.html", "--fail-on-change")
    assert printed.status == 1
    assert said["headline"]["sentence"] in printed.stdout
    sojourn("run", "scenario.toml", "--seed", "2", "--out", "other")
    refused = sojourn("compare", "long", "other")
    assert (refused.status, "with the same seed" in refused.stderr) == (2, True)


def test_a_run_is_not_compared_with_a_study(studied: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path, "scenario.toml")
    assert studied("run", "scenario.toml", "--out", "one").status == 0
    for pair in (("one", "out"), ("out", "one")):
        refused = studied("compare", *pair)
        assert refused.status == 2
        assert "one is a single run and out the result of a study" in refused.stderr
