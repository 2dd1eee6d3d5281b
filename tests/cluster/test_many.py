"""Studies of more points than a list holds: the same runs, column by column out of segments."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from cluster.test_workers import MAKE, Threads
from sojourn.answers.judging import judge
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.view import StudyView
from sojourn.base.errors import RecordError, UsageError
from sojourn.cluster.attend import Crew
from sojourn.cluster.many import ManyPoints
from sojourn.report.columns import build_columns, choose
from sojourn.store import Store
from sojourn.store.objects import FolderObjects
from sojourn.store.sql import asked
from sojourn.study.columns import Columns, write_columns
from sojourn.study.definition import load_definition
from sojourn.study.expand import labels_of_points
from sojourn.study.library import load_study
from sojourn.study.plan import RunLength, RunOptions, make_plan, only_runs
from sojourn.study.point_table import point_table
from sojourn.study.result import StudyResult
from sojourn.study.runner import kept_runs
from sojourn.study.write import metrics_of
from support import write_study

pytestmark = pytest.mark.whole

AXES: dict[str, Any] = {
    "rate": {"key": "access.upstream.link.rate", "from": "1 Mb/s", "to": "4 Mb/s", "steps": 4},
    "rtt": ["near", "far"],
}


MEASURES: dict[str, Any] = {
    "sent": {"subject": "call", "metric": "sent"},
    "carried": {"subject": "bulk", "metric": "goodput"},
    "never": {"subject": "call", "metric": "frames"},
}
CLAIMS: list[dict[str, Any]] = [
    {
        "identifier": f"C{number}",
        "statement": "",
        "values": {"one": value, "other": other},
        "holds": [{"value": "one", "at_most": "other"}],
    }
    for number, (value, other) in enumerate(
        [
            (
                {"measure": "carried", "where": {"rate": 1, "rtt": "far"}},
                {"measure": "carried", "where": {"rate": 4, "rtt": "near"}},
            ),
            ({"measure": "carried", "points": {"": "near-4Mbps"}}, {"measure": "carried", "points": {"": "far-1Mbps"}}),
            (
                {"measure": "sent", "where": {"rtt": "near"}, "across": "min"},
                {"measure": "sent", "where": {"rtt": ["far"]}, "across": "max", "over": "max"},
            ),
            (
                {"measure": "never", "where": {"rtt": "near"}, "across": "min"},
                {"measure": "sent", "points": {"": "near-4Mbps"}},
            ),
            ({"measure": "sent", "where": {"rate": 7}}, {"measure": "sent", "points": {"": "near-4Mbps"}}),
        ],
        1,
    )
]


def crew_of(directory: Path, said: list[str]) -> Crew:
    objects = FolderObjects(directory)
    return Crew(objects, Threads(objects, MAKE), 1, said.append, looks_every_s=0.05)


def test_a_study_of_numbers_has_the_runs_of_one_of_a_list(tmp_path: Path) -> None:
    path = write_study(tmp_path, duration="200 ms", axes=AXES, matrix=[], measures=MEASURES, claim=CLAIMS)
    study = load_study(str(path))
    said: list[str] = []
    store = Store(tmp_path / "shared")
    many = ManyPoints(study, RunLength(), 1)
    with pytest.raises(UsageError, match="no run of this study yet"):
        many.fetch(crew_of(tmp_path / "shared", said), store)
    (one, *_) = notes = many.make(crew_of(tmp_path / "shared", said), store)
    assert (many.points, many.runs, sum(note.runs for note in notes)) == (8, 8, 8)
    # Further seeds are further units; another machine fetches all.
    more = ManyPoints(study, RunLength(), 2)
    assert more.fetch(crew_of(tmp_path / "shared", said), store) == (notes, 0.5)
    both = more.make(crew_of(tmp_path / "shared", said), Store(tmp_path / "far"))
    assert len(both) > len(notes)
    far = Store(tmp_path / "far")
    (tmp_path / "out").mkdir()
    segments = [segment for note in both for segment in note.segments]
    result = write_columns(tmp_path / "out", study, far, segments, choose, {})
    plan = make_plan(study, RunOptions(seeds=2), only_runs)
    found = kept_runs(plan, far)
    finished = [(spec, found[spec.key]) for spec in plan.runs]
    expected = metrics_of(finished, study.definition)
    stored = pl.read_parquet(sorted((tmp_path / "out" / "metrics").iterdir()), include_file_paths="place")
    numbers = pl.col("place").str.extract(r"(\d+)\.parquet").cast(pl.UInt32).alias("file")
    rows = stored.with_columns(numbers).join(result.runs.select("file", "run", "point", "seed"), on=["file", "run"])
    words = pl.col("point", "subject", "metric").cast(pl.String)
    key = ["point", "seed", "subject", "metric", "value"]
    ours, theirs = (frame.select(key).with_columns(words).sort(key) for frame in (rows, expected))
    assert_frame_equal(ours, theirs)
    assert result.labels == ["rtt", "rate"]
    loaded = Columns.load(tmp_path / "out")
    assert_frame_equal(loaded.runs, result.runs)
    assert list(loaded.measures) == list(result.measures) != []
    (goodput,) = (m for m in result.measures if m.metric.startswith("goodput"))
    mean = expected.filter(pl.col("metric") == goodput.metric, pl.col("subject") == goodput.subject)
    row = result.sums.filter(pl.col("metric") == goodput.metric, pl.col("subject") == goodput.subject)
    assert row["mean"].item() == pytest.approx(mean["value"].mean())
    assert (row["m2"].item() / 15) ** 0.5 == pytest.approx(mean["value"].std())
    parts = build_columns(loaded, figures=False)
    assert parts.headlines[0].startswith("8 points, 16 runs: ")
    # Claims come out as those of a study whose points are a list.
    listed = StudyResult(tmp_path, study.definition, expected, result.runs, {})
    own = OpenStudy.of(study)
    assert parts.claims == tuple(judge(own, own.ask(StudyView(listed))))
    verdicts = [one.outcome.verdict.value for one in parts.claims]
    assert verdicts == ["holds", "fails", "holds", "not-run", "not-run"]
    # Nothing is judged as long as runs are missing.
    part = replace(loaded, manifest={**loaded.manifest, "share": 0.5, "reduced": "50 % of the runs"})
    verdicts = [one.outcome.verdict.value for one in build_columns(part, figures=False).claims]
    assert set(verdicts) == {"not-run"}
    # SQL sees the metrics of all runs with their points.
    asks = "select point, seed, value from metrics where subject = 'call' and metric = 'sent' order by all"
    with asked(asks, tmp_path / "out") as answer:
        of_sql = list(answer.rows)
    sent = expected.filter(pl.col("subject") == "call", pl.col("metric") == "sent")
    assert of_sql == sent.select("point", "seed", "value").sort("point", "seed").rows()
    page = (tmp_path / "out" / "report.html").read_text()
    assert 'href="measures.parquet"' in page
    assert 'href="metrics.parquet"' not in page
    assert "By rate" in page
    # What is damaged is told, and made again.
    path = next((tmp_path / "shared" / "v2" / "runs").rglob(f"{one.segments[0]}/metrics.parquet"))
    path.write_bytes(path.read_bytes()[:-1])
    told: list[str] = []
    store = Store(tmp_path / "shared", on_damage=told.append)
    assert len(many.make(crew_of(tmp_path / "shared", said), store)) == len(notes)
    assert len(told) == 1
    path.write_bytes(b"")
    (tmp_path / "other").mkdir()
    with pytest.raises(RecordError):
        write_columns(tmp_path / "other", study, store, one.segments, choose, {})


def test_labels_of_all_points_come_column_by_column(tmp_path: Path) -> None:
    changes: dict[str, Any] = {
        "points": {"own": {"labels": {"rate": "many", "kind": "x"}}},
        "matrix": [
            {"axes": AXES, "name": "{rtt}-at-{rate}", "exclude": ["far-at-2*"], "labels": {"k": 1}},
            {"axes": {"rate": AXES["rate"]}, "sample": {"points": 5}, "name": "s{number}"},
        ],
    }
    definition = load_definition(write_study(tmp_path, **changes))
    expected = labels_of_points(definition)
    table = point_table(definition)
    assert table["point"].to_list() == list(expected)
    for row in table.iter_rows(named=True):
        own = {name: value for name, value in row.items() if name != "point" and value is not None}
        # Words in one matrix are words in all.
        assert own == {name: value if name == "k" else str(value) for name, value in expected[row["point"]].items()}


def test_the_command_lets_workers_make_a_study_of_many_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    from sojourn.cli import run_command

    write_study(tmp_path, duration="100 ms", axes=AXES, matrix=[], seeds=1)
    monkeypatch.setattr("sojourn.study.expand.MOST_POINTS", 5)
    monkeypatch.chdir(tmp_path)
    words = ["study", "run", "study.toml", "--store", "shared", "--workers", "1"]
    assert run_command([*words, "--points", "x*"]) == 2
    assert "--points is for matrices of at most 5 points" in capsys.readouterr().err
    assert run_command([*words, "--out", "out", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["points"], told["runs"], told["missing"]) == (8, 8, 0)
    assert sum(told["claims"]["report"].values()) == 0
    assert run_command([*words, "--partial", "--out", "again", "--no-figures"]) == 0
    names = ("runs.parquet", "sums.parquet", "measures.parquet")
    for name in names:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    page = (tmp_path / "out" / "report.html").read_text()
    (tmp_path / "out" / "report.html").unlink()
    assert run_command(["report", "out"]) == 0
    assert (tmp_path / "out" / "report.html").read_text() == page
    capsys.readouterr()
    for name in (*names, "manifest.json"):
        path = tmp_path / "again" / name
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
        assert run_command(["report", "again"]) != 0
        assert name in capsys.readouterr().err
        path.write_bytes(content)
    wrong: list[dict[str, Any]] = [{"files": []}, {"missing": 7}, {"label_units": "x"}]
    for changed in wrong:
        manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
        (tmp_path / "again" / "manifest.json").write_text(json.dumps({**manifest, **changed}))
        assert run_command(["report", "again"]) == 0
