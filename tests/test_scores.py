"""Scores: requirements, Quality of Outcome of samples, of files and of runs, and what is refused."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sojourn import _engine
from sojourn.answers.view import StudyView
from sojourn.base.errors import UsageError
from sojourn.field.importer import import_files
from sojourn.field.series import read_series
from sojourn.scores.judge import Observed, judge, rating_of, responsiveness_of
from sojourn.scores.observed import subjects_of
from sojourn.scores.requirement import USES, read_requirement, requirement_of
from sojourn.scores.rows import qoo
from sojourn.simulation.run_directory import read_run
from sojourn.study.result import StudyResult
from support import CommandLine

FLENT = sorted((Path(__file__).parent / "field" / "files").rglob("*.flent*"))

SCENARIO = """
schema = 1
name = "line"
duration = "40 s"
[access.upstream]
link = { kind = "serial", rate = "5 Mb/s" }
queue = { kind = "drop-tail", limit = "200 ms" }
[access.downstream]
link = { kind = "serial", rate = "50 Mb/s" }
queue = { kind = "drop-tail", limit = "100 ms" }
[[traffic]]
name = "game"
app = "online-game"
rtt = "20 ms"
[[load]]
name = "test"
test = "rpm_up"
stack = "linux-cubic"
rtt = "20 ms"
delay = "5 s"
length = "35 s"
[record]
transfers = true
"""


def samples(delays: list[float], every_s: float = 0.2) -> Observed:
    sent = np.arange(len(delays)) * every_s
    return Observed("pings", "by hand", "two-way", sent, np.array(delays))


def test_the_engine_has_the_example_of_the_draft() -> None:
    # Vector C1.
    found = _engine.quality_of_outcome(
        [(350.0, 200.0, 500.0), (375.0, 300.0, 600.0)], (0.02, 0.01, 0.05), [(28.0, 4.0)]
    )
    assert found == pytest.approx((50.0, 75.0, 100.0, 50.0))


def test_every_requirement_that_comes_along_says_where_its_numbers_come_from() -> None:
    for use in USES:
        need = requirement_of(use)
        assert need.name == use
        assert need.origin
        assert need.latency
    assert requirement_of("cloud-game").latency == ((99.0, 40.0, 80.0), (99.9, 60.0, 150.0))


def test_a_score_is_that_of_its_percentile_and_of_its_loss() -> None:
    # 200 round trips: the 198th of 200 in rising order is P99 (100 ms): (150 - 100) / 100 = 50.
    delays = [20.0] * 197 + [100.0] * 3
    found = judge(samples(delays), requirement_of("game"))
    assert found is not None
    assert found.value == pytest.approx(50.0)
    assert found.decides == "P99 100 ms"
    assert found.loss == 100.0
    assert any("thin" in flag for flag in found.flags)
    # 4 of 200 lost are 2 %: 1 - (2 - 0.5) / 4.5 = 66.7, and P99 is one of the 196 that came.
    lost = judge(samples([20.0] * 196 + [np.inf] * 4), requirement_of("game"))
    assert lost is not None
    assert lost.value == pytest.approx(66.667, abs=1e-3)
    assert lost.decides == "2 % lost"
    strict = judge(samples([20.0] * 196 + [np.inf] * 4), requirement_of("game"), loss_as_delay=True)
    assert strict is not None
    assert strict.value == 0.0


def test_an_interval_holds_the_score_and_one_second_has_none() -> None:
    random = np.random.default_rng(2)
    found = judge(samples(list(40 + random.exponential(15, 2000))), requirement_of("game"))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    alone = judge(samples([20.0] * 5), requirement_of("game"))
    assert alone is not None
    assert alone.low is None


def test_samples_at_random_miss_the_tail_as_often_as_the_table_says() -> None:
    # Vector C4: 0.99^50 = 0.605 of tests of 50 samples have none above the true P99.
    random = np.random.default_rng(3)
    missed = sum(not (random.random(50) > 0.99).any() for _ in range(2000))
    from sojourn.stats.estimate import wilson

    low, high = wilson(missed, 2000)
    assert low < 0.605 < high
    thin = judge(samples([20.0] * 50), requirement_of("game"))
    assert thin is not None
    assert "P99 is thin: of 50 samples 61 % see nothing beyond it" in thin.flags


def test_a_call_is_rated_by_half_of_the_round_trip_and_its_buffer() -> None:
    # 180 ms there and back: 90 + 60 ms one way, Idd 0.164; nothing lost.
    assert rating_of(samples([180.0] * 20), telr=None) == pytest.approx(93.2 - 0.164, abs=5e-4)
    # With the echo of G.107's default of 65 dB it is 89.5.
    assert rating_of(samples([180.0] * 20)) == pytest.approx(89.5, abs=0.05)
    # A buffer that rejects what is later than the fastest plus 60 ms plays all at the fastest plus 60: whatever the median is.
    played = rating_of(samples([180.0] + [290.0] * 19), telr=None)
    assert played == pytest.approx(93.2 - 0.164, abs=5e-4)
    # 125 ms behind the fastest is 62.5 ms one way, and lost: 19 of 20 are no call.
    late = rating_of(samples([180.0] + [305.0] * 19))
    assert late is not None
    assert late < 30
    assert rating_of(samples([np.inf] * 20)) == 0.0
    assert rating_of(samples([])) is None


@pytest.mark.parametrize("use", USES)
def test_what_never_came_counts_in_every_score(use: str) -> None:
    # Absence is no gap in a mean: nine runs that lost all and one that was perfect are 10 of 100.
    nothing = judge(samples([np.inf] * 300), requirement_of(use))
    assert nothing is not None
    assert (nothing.value, nothing.low, nothing.high) == (0.0, 0.0, 0.0)
    assert nothing.decides == "nothing came back: 300 of 300 lost"
    # One of three hundred back is no better.
    one = judge(samples([20.0] + [np.inf] * 299), requirement_of(use))
    assert one is not None
    assert one.value == 0.0
    assert judge(samples([]), requirement_of(use)) is None


def irtt_file(path: Path, trips_ms: Sequence[float | None], *, every_ms: float = 20.0) -> Path:
    """Write what irtt would of round trips; `None` is one that was lost."""
    echoes: list[dict[str, object]] = [
        {
            "seqno": number,
            "lost": "true_down" if trip is None else "false",
            "timestamps": {"client": {"send": {"wall": 1773133200 * 10**9, "monotonic": int(number * every_ms * 1e6)}}},
            "delay": {} if trip is None else {"rtt": round(trip * 1e6)},
        }
        for number, trip in enumerate(trips_ms)
    ]
    came = [trip for trip in trips_ms if trip is not None]
    mean = 1e6 * sum(came) / len(came) if came else 0
    stats = {
        "start_time": "2026-03-10T09:00:00Z",
        "rtt": {"n": len(came), "mean": mean, "median": mean},
        "packets_sent": len(trips_ms),
    }
    document = {"version": {}, "system_info": {}, "config": {}, "stats": stats, "round_trips": echoes}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_round_trip_below_zero_came_back(sojourn: CommandLine, tmp_path: Path) -> None:
    # heistp/irtt issue 13: clocks of Windows step by half a millisecond, and a third of the round trips is below zero.
    coarse = [(-0.4, 0.3, 1.2)[number % 3] for number in range(500)]
    whole = irtt_file(tmp_path / "coarse.json", coarse)
    (subject,) = subjects_of(whole)
    (found,) = subject.observed
    assert found.loss == 0.0
    assert (found.came.min(), found.came.max()) == (0.0, 1.2)
    assert found.sent_s.tolist() == pytest.approx([0.02 * number for number in range(500)])
    told = sojourn("score", whole, "--json").json()["scores"]
    assert [row["value"] for row in told if row["score"].startswith("QoO")] == [100.0, 100.0]
    assert any("33 % of round trips are not above zero" in flag for flag in told[0]["flags"])
    # What the file calls lost is lost, and no more: one in ten.
    tenth = [None if number % 10 == 0 else trip for number, trip in enumerate(coarse)]
    (lost,) = subjects_of(irtt_file(tmp_path / "tenth.json", tenth))[0].observed
    assert lost.loss == pytest.approx(0.1)
    # All lost is 0 of 100, and says why.
    done = sojourn("score", irtt_file(tmp_path / "none.json", [None] * 500))
    assert "0 of 100 for a game, decided by nothing came back: 500 of 500 lost" in done.stderr
    # An echo that was not lost has a round trip.
    document = json.loads(whole.read_text(encoding="utf-8"))
    del document["round_trips"][7]["delay"]["rtt"]
    whole.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageError, match="echo 7 was not lost, and has no round trip"):
        read_series(whole)


def test_a_trial_of_lost_echoes_has_its_loss_and_its_blackouts(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    away = [None if 100 <= number < 160 else 20.0 for number in range(500)]  # 1.2 s
    irtt_file(folder / "away.json", away)
    irtt_file(folder / "coarse.json", [-0.4, 0.3] * 250)
    irtt_file(folder / "none.json", [None] * 500)
    irtt_file(folder / "spread.json", [None if number % 10 == 0 else 20.0 for number in range(500)])
    tests = {row["file"]: row for row in import_files(folder).tests.to_dicts()}
    assert {file: row["loss"] for file, row in tests.items()} == {
        "away.json": pytest.approx(0.12), "coarse.json": 0.0, "none.json": 1.0, "spread.json": pytest.approx(0.1)
    }  # fmt: skip
    assert {file: row["flags"] for file, row in tests.items()} == {
        "away.json": "blackout", "coarse.json": "coarse-clock", "none.json": "few-samples blackout", "spread.json": ""
    }  # fmt: skip
    assert tests["coarse.json"]["latency_ms"] == 0.0  # the mean that irtt tells is below zero
    assert tests["none.json"]["latency_ms"] is None


def test_a_folder_of_measurements_names_the_call_that_takes_it(sojourn: CommandLine, tmp_path: Path) -> None:
    for name in ("a", "b"):
        irtt_file(tmp_path / f"{name}.json", [20.0] * 50)
    done = sojourn("score", tmp_path)
    assert done.status == 2
    assert "is a folder of 2 files" in done.stderr
    assert f"sojourn score {tmp_path}/a.json" in done.stderr
    assert "sojourn trial import" in done.stderr
    assert sojourn("score", tmp_path / "a.json", tmp_path / "b.json").status == 0


def test_round_trips_per_minute_are_those_of_the_worked_example() -> None:
    # Vector C6; the largest of twenty is left out.
    def kind(usual: float, worst: float) -> Observed:
        return samples([worst, *[usual] * 19])

    kinds = {"tcp": kind(20, 200), "tls": kind(22, 300), "http": kind(25, 400), "self": kind(60, 900)}
    found = responsiveness_of(kinds, 4.0)
    assert found is not None
    assert found.foreign == pytest.approx(2686.567, abs=1e-3)
    assert found.loaded == pytest.approx(1000.0)
    assert found.value == pytest.approx(1843.284, abs=1e-3)
    assert "unknown" in found.confidence
    steady = responsiveness_of(kinds, 4.0, [9.0, 9.4, 9.8, 9.9, 10.0, 10.0, 10.0])
    assert steady is not None
    assert steady.confidence == "medium confidence"
    rising = responsiveness_of(kinds, 4.0, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
    assert rising is not None
    assert rising.confidence.startswith("low")


@pytest.mark.parametrize("file", FLENT, ids=lambda file: file.name)
def test_pings_of_flent_files_are_read_with_their_times(file: Path) -> None:
    try:
        series = read_series(file)
    except UsageError as error:
        pytest.skip(str(error))
    for one in series.round_trips:
        assert len(one) == len(one.sent_s)
        assert (one.rtt_ms > 0).all()


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "pings.csv"
    path.write_text(text)
    return path


def test_a_table_is_read_with_its_unit_and_its_load(tmp_path: Path) -> None:
    rows = "".join(f"{at / 10},{20 if at < 50 else 80},{'up' if at >= 50 else ''}\n" for at in range(150))
    path = table(tmp_path, "time_s,rtt_ms,load\n" + rows + "15.0,,up\n")
    (subject,) = subjects_of(path)
    (observed,) = subject.observed
    assert observed.loss == pytest.approx(1 / 101)
    assert observed.idle is not None
    assert observed.idle.came.tolist() == [20.0] * 50
    other = table(tmp_path, "time_ms,rtt_us\n" + "".join(f"{at},1500\n" for at in range(20)))
    assert subjects_of(other)[0].observed[0].came.tolist() == pytest.approx([1.5] * 20)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("time_s,rtt_ms,rtt_s\n0,1,1\n", "rtt_ms and rtt_s in one table"),
        ("time_s,delay\n0,1\n", "has no column rtt_s"),
        ("time_s,rtt_ms\n0,12 ms\n", "pings.csv:2: '12 ms' is no number from 0"),
        ("time_s,rtt_ms\n0,12\n2,12\n1,12\n", "pings.csv:4: time runs back, from 2 s to 1 s"),
        ("time_s,rtt_ms\n0,0\n", "pings.csv:2: a round trip of 0"),
        ("time_s,rtt_s\n0,2500000\n", "a round trip of 2.5e+06 s"),
        ("time_s,rtt_ms\n0,-3\n", "'-3' is no number from 0"),
        ("time_s,rtt_ms\n0,1,2\n", "3 cells below 2 headings"),
        ("time_s,rtt_ms\n" + "0,1\n" * 9, "9 round trips of ping are too few for a score"),
        ("time_s,rtt_ms\n", "has no rows"),
        ("", "has no column time_s"),
    ],
)
def test_a_table_that_cannot_be_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        subjects_of(table(tmp_path, text))
    assert said in refused.value.message
    assert "\n" not in refused.value.message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('rop = { p99 = "50", loss = 0 }', "p99 is no number with a unit"),
        ('rop = { p99 = "500 ms", loss = 0 }', "p99 is useless before it is perfect"),
        ('rop = { p98 = "50 ms", loss = 0 }', "not of the same percentiles"),
        ('rop = { p99 = "50 ms", loss = 2 }', "loss is a share"),
        ('rop = { p99 = "50 ms" }', "not of the same percentiles"),
        ("rop = 1", "rop is no table"),
    ],
)
def test_a_requirement_that_cannot_be_is_refused(tmp_path: Path, change: str, said: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(f'schema = 1\nname = "own"\n{change}\ncpup = {{ p99 = "150 ms", loss = 0.1 }}\n')
    with pytest.raises(UsageError) as refused:
        read_requirement(path)
    assert said in refused.value.message


def test_a_run_is_scored_by_its_packets_and_by_its_probe(sojourn: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "line.toml").write_text(SCENARIO)
    out = tmp_path / "out"
    sojourn("run", str(tmp_path / "line.toml"), "--out", str(out))
    told = sojourn("score", str(out), "--for", "game", "--json")
    scores = json.loads(told.stdout)["scores"]
    rows = {(row["of"], row["score"]): row for row in scores}
    game = rows["game", "QoO game"]
    assert game["value"] == 0.0
    probe = rows["test-responsiveness", "QoO game"]
    # Both met the same queue; the probe's percentile is of its own packets.
    assert probe["value"] == 0.0
    assert probe["idle"] == 100.0
    rpm = rows["test-responsiveness", "RPM"]
    # 220 to 240 ms a round trip: 60 s over them.
    assert 240 < rpm["value"] < 290
    assert any("confidence" in flag for flag in rpm["flags"])
    # Whoever does not ask has no such metrics.
    metrics = read_run(out)[1]["metrics"]["metric"].cast(str).to_list()
    assert not [name for name in metrics if name.startswith("qoo_")]
    words = sojourn("score", str(out))
    assert "of 100 for a game, decided by P99" in words.stderr


def test_a_round_trip_is_that_of_both_packets_and_of_the_way_beyond(sojourn: CommandLine, tmp_path: Path) -> None:
    empty = SCENARIO.partition("[[load]]")[0]
    (tmp_path / "line.toml").write_text(empty)
    out = tmp_path / "out"
    sojourn("run", str(tmp_path / "line.toml"), "--out", str(out))
    (game,) = subjects_of(out)
    delays = game.observed[0].came
    # 20 ms beyond the line, and less than 2 ms of sending; nobody else is on it.
    assert delays.min() > 20.0
    assert delays.max() < 22.0
    assert game.observed[0].rates_mbps["up"] == pytest.approx(5.0, abs=0.01)


def test_a_run_that_is_asked_has_its_scores_among_its_metrics(sojourn: CommandLine, tmp_path: Path) -> None:
    # 20 ms of line and a queue of at most 60 ms: P99 near 90 ms is far from perfect and far from useless.
    text = SCENARIO.replace('"200 ms"', '"60 ms"').replace("40 s", "15 s").replace("35 s", "10 s")
    (tmp_path / "line.toml").write_text(text + "outcomes = true\n[measure]\nfrom = '6 s'\n")
    sojourn("run", "line.toml", "--out", "out")
    run = read_run(tmp_path / "out")[1]["metrics"]
    of = {(row["subject"], row["metric"]): row["value"] for row in run.iter_rows(named=True)}
    found = sojourn("score", "out", "--for", "game,web,call,video-call,cloud-game", "--json")
    told = {
        (row["of"], row["score"].removeprefix("QoO ").replace("-", "_")): row["value"]
        for row in found.json()["scores"]
        if row["score"].startswith("QoO")
    }
    for subject in ("game", "test-responsiveness"):
        ours = {use: of[subject, f"qoo_{use}"] for one, use in told if one == subject}
        assert len(ours) == 5
        assert ours == pytest.approx({use: told[subject, use] for use in ours})
    assert 30 < of["game", "qoo_game"] < 90
    # Connections have no round trips of packets.
    assert "test-upload" not in {subject for subject, metric in of if metric.startswith("qoo_")}


def test_a_study_is_scored_over_its_seeds(sojourn: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(SCENARIO.replace("40 s", "10 s"))
    (tmp_path / "study.toml").write_text(
        'schema = 1\nname = "lines"\nscenario = "base.toml"\nseeds = 2\nkeep = ["datagrams", "transfers"]\n'
        '[points.long]\n[points.short]\noverlays = ["short"]\n'
        '[overlays.short.access.upstream.queue]\nkind = "drop-tail"\nlimit = "10 ms"\n'
    )
    assert sojourn("study", "run", "study.toml", "--out", "result").status == 0
    rows = sojourn("score", "result", "--for", "game", "--json").json()["scores"]
    values = {(row["of"], row["score"]): row["value"] for row in rows}
    assert values["long: game", "QoO game"] == 0.0
    assert values["short: game", "QoO game"] > 90.0
    # A ping that was on its way when the run ended is not lost.
    assert values["short: test-ping", "QoO game"] > 90.0
    # Two runs of a game each, its round trips counted in both.
    game = next(row for row in rows if row["of"] == "short: game")
    one = next(row for row in subjects_of(tmp_path / "result") if row.name == "short: game")
    assert game["samples"] == sum(len(run.delay_ms) for run in one.observed)
    assert len(one.observed) == 2
    # What a measure of a study asks for.
    view = StudyView(StudyResult.load(tmp_path / "result"))
    assert qoo(view, "long", "game", "game").tolist() == [0.0, 0.0]
    assert float(np.mean(qoo(view, "short", "game", "game"))) == pytest.approx(game["value"])


def test_the_commands_of_the_guide_work(sojourn: CommandLine, tmp_path: Path) -> None:
    root = Path(__file__).parent.parent
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "rrul.toml").write_bytes((root / "scenarios/rrul.toml").read_bytes())
    guide = (root / "docs/guides/score-a-line.md").read_text()
    commands = [line[10:].split() for line in guide.splitlines() if line.startswith("$ sojourn ")]
    assert len(commands) == 2
    for command in commands:
        assert sojourn(*command).status == 0, command
    (tmp_path / "own.toml").write_text(guide.partition("```toml\n")[2].partition("```")[0])
    own = sojourn("score", "home", "--requirements", "own.toml", "--json")
    assert own.status == 0, own.stderr
    assert {row["score"] for row in own.json()["scores"]} >= {"QoO remote-surgery"}
    (tmp_path / "pings.csv").write_text(guide.partition("```text\n")[2].partition("```")[0])
    few = sojourn("score", "pings.csv")
    assert few.status == 2
    assert "too few for a score" in few.stderr
