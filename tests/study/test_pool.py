"""Homes of one name together: what the summary keeps, and that measures and claims can ask for it."""

from pathlib import Path

import polars as pl
import pytest

from sojourn.declarations.answers import Declarations, Measure, Pool
from sojourn.study.pool import of_summary, with_pools
from sojourn.study.result import METRICS_SCHEMA, StudyResult
from support import CommandLine


def table() -> pl.DataFrame:
    """Return the delays of four callers in two runs, the rate of one of them, and what belongs to no home."""
    delays = {1: [10.0, 20.0, 30.0, 80.0], 2: [10.0, 20.0, 60.0, 90.0]}
    rows = [
        ("study", "point", seed, f"caller/{home}/call", "delay_p99", value, "ms")
        for seed, values in delays.items()
        for home, value in enumerate(values, 1)
    ]
    rows += [
        ("study", "point", 1, "caller/1/upstream", "utilisation", 0.5, ""),
        ("study", "point", 1, "group", "channel_use", 40.0, "%"),
        ("study", "point", 1, "call", "delay_p99", 7.0, "ms"),
    ]
    return pl.DataFrame(rows, METRICS_SCHEMA, orient="row")


def test_homes_of_a_name_have_a_mean_quantiles_and_shares_of_each_run() -> None:
    pool = Pool(metrics=["delay_*"], quantiles=[0.5, 1], over={"delay_p99": 50})
    own = with_pools(table(), pool)
    assert own.head(table().height).equals(table())
    added = own.tail(own.height - table().height)
    found = {(subject, seed): (value, unit) for _, _, seed, subject, _, value, unit in added.rows()}
    assert found == {
        ("caller/*/call", 1): (35.0, "ms"),
        ("caller/*/call", 2): (45.0, "ms"),
        ("caller/*/call p50", 1): (25.0, "ms"),
        ("caller/*/call p50", 2): (40.0, "ms"),
        ("caller/*/call p100", 1): (80.0, "ms"),
        ("caller/*/call p100", 2): (90.0, "ms"),
        ("caller/*/call over 50 ms", 1): (25.0, "%"),
        ("caller/*/call over 50 ms", 2): (50.0, "%"),
    }
    assert with_pools(table(), None).equals(table())


def test_the_summary_keeps_what_is_no_home_and_what_the_study_keeps_or_measures() -> None:
    measures = {"first": Measure(subject="caller/1/call", metric="delay_p99")}
    own = Declarations(measures=measures, pool=Pool(keep=["caller/*/upstream"]))
    kept = of_summary(with_pools(table(), own.pool), own)["subject"].unique().sort().to_list()
    assert [one for one in kept if "*" not in one] == ["call", "caller/1/call", "caller/1/upstream", "group"]
    assert "caller/*/call p90" in kept
    assert of_summary(table(), Declarations()).equals(table())


STUDY = """
schema = 1
name = "street"
scenario = "street.toml"
seeds = 2

[pool]
metrics = ["delay_*"]
over = { delay_p99 = 1 }

[measures.one_in_ten]
subject = "caller/*/call p90"
metric = "delay_p99"
unit = "ms"

[[claim]]
identifier = "S-1"
statement = "one call in ten waits for a while"
criterion = "above 1 ms"
values.wait = { measure = "one_in_ten", by = ["street"] }
holds = [{ value = "wait", above = 1 }]

[points.short]
labels = { street = "short" }
"""

SCENARIO = """
schema = 1
name = "street"
duration = "2 s"
[access.upstream]
link = { kind = "serial", rate = "1 Mb/s" }
queue = { kind = "drop-tail", limit = "100 packets" }
[access.downstream]
link = { kind = "serial", rate = "1 Mb/s" }
queue = { kind = "drop-tail", limit = "100 packets" }
[[home]]
name = "caller"
count = 5
[[home.traffic]]
name = "call"
app = { kind = "voice", start_jitter = "20 ms" }
"""


def test_a_study_asks_for_all_homes_at_once(sojourn: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "street.toml").write_text(SCENARIO)
    done = sojourn("study", "run", "study.toml", "--out", "out", "--json")
    assert done.status == 0, done.stderr
    assert done.json()["claims"]["report"] == {"holds": 1, "fails": 0, "not_run": 0}
    summary = pl.read_csv(tmp_path / "out" / "summary.csv")
    homes = summary.filter(pl.col("subject").str.starts_with("caller"))["subject"].unique()
    assert sorted(homes) == ["caller/*/call", "caller/*/call over 1 ms", "caller/*/call p50", "caller/*/call p90"]
    result = StudyResult.load(tmp_path / "out")
    delays = result.metrics.filter((pl.col("metric") == "delay_p99") & (pl.col("seed") == 1))
    of = dict(delays.select("subject", "value").rows())
    calls = sorted(of[f"caller/{home}/call"] for home in range(1, 6))
    assert of["caller/*/call p50"] == calls[2]
    # Type 7: nine tenths of the way from the first to the last of five is between the fourth and the fifth.
    assert of["caller/*/call p90"] == pytest.approx(calls[3] + 0.6 * (calls[4] - calls[3]))


@pytest.mark.parametrize(
    ("was", "by", "message"),
    [
        ("over = { delay_p99 = 1 }", "over = { delay_p98 = 1 }", 'no run has a metric "delay_p98"'),
        ('["delay_*"]', '["dealy_*"]', 'no run has a metric "dealy_*"'),
        ('["delay_*"]', '["goodput"]', "this metric is not in `pool.metrics`"),
        ("call p90", "call p95", 'no point has traffic "caller/*/call p95"'),
    ],
)
def test_what_no_pool_has_is_told_before_anything_runs(
    sojourn: CommandLine, tmp_path: Path, was: str, by: str, message: str
) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace(was, by))
    (tmp_path / "street.toml").write_text(SCENARIO)
    done = sojourn("study", "run", "study.toml", "--out", "out")
    assert done.status == 2
    assert message in done.stderr
