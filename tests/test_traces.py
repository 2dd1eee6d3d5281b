"""Traces of links: files, what they are like, generators, and runs over them."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from sojourn.base.errors import UsageError
from sojourn.scenario.settings import apply_settings
from sojourn.traces.link_traces import LTE, STARLINK, likeness, make_lte, make_starlink, make_wifi
from sojourn.traces.schedule import opportunities_from_text, opportunities_of
from support import CommandLine

SCENARIO = """
schema = 1
name = "line"
duration = "60 s"
[access.upstream]
link = LINK
queue = { kind = "drop-tail", limit = "100 packets" }
[access.downstream]
link = { kind = "serial", rate = "100 Mb/s" }
queue = { kind = "drop-tail", limit = "100 ms" }
[[traffic]]
name = "upload"
app = "bulk"
stack = "linux-cubic"
rtt = "20 ms"
[[traffic]]
name = "call"
app = "voice"
rtt = "20 ms"
"""
TRACE = '{ kind = "trace", opportunities = "1", opportunity = "1500 B" }'
SERIAL = '{ kind = "serial", rate = "12 Mb/s" }'


def metrics(sojourn: CommandLine, tmp_path: Path, text: str, *more: str) -> dict[str, float]:
    (tmp_path / "line.toml").write_text(text)
    done = sojourn("run", "line.toml", "--json", *more)
    assert done.status == 0, done.stderr
    return {f"{row['subject']} {row['metric']}": row["value"] for row in done.json()["metrics"]}


def test_a_constant_trace_is_the_line_of_its_rate_in_every_quantile(sojourn: CommandLine, tmp_path: Path) -> None:
    trace, serial = (metrics(sojourn, tmp_path, SCENARIO.replace("LINK", link)) for link in (TRACE, SERIAL))
    for quantile in ("min", "p50", "p95", "p99", "p999", "max"):
        name = f"call delay_up_{quantile}"
        # A packet of 100 packets of 1500 B, in steps of one opportunity of 1 ms; histograms are right to 0.1 %.
        assert trace[name] == pytest.approx(serial[name], abs=1.0 + 0.001 * serial[name]), quantile
    assert trace["upload goodput"] == pytest.approx(serial["upload goodput"], rel=0.01)
    assert 0.99 < trace["upstream utilisation"] <= 1.0


def test_a_file_of_mahimahi_comes_by_the_command_line(sojourn: CommandLine, tmp_path: Path) -> None:
    # 2000 opportunities a second for a second, none for another: 1504 B x 8 x 1000 = 12.03 Mb/s in the mean.
    times = [at for at in range(1, 1001) for _ in range(2)] + [2000]
    (tmp_path / "half.up").write_text("# by hand\n" + "".join(f"{at}\n" for at in times))
    found = metrics(
        sojourn,
        tmp_path,
        SCENARIO.replace("LINK", '{ kind = "trace", opportunities = "1" }'),
        "--set",
        "access.upstream.link.opportunities=@half.up",
    )
    # Nobody waits less than the second of silence at most.
    assert 900 < found["call delay_up_max"] < 1300
    assert found["upload goodput"] < 12.03


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no opportunity"),
        ("# nothing\n", "has no opportunity"),
        ("0\n0\n", "all opportunities are at 0 ms"),
        ("5\n3\n", "lte.up:2: time runs back, from 5 ms to 3 ms"),
        ("5\n7.5\n", "lte.up:2: '7.5' is no whole number of milliseconds"),
        ("-5\n", "lte.up:1: '-5' is no whole number"),
        ("99999999999\n", "is no whole number"),
        ("1728000001\n", "is later than 1728000000 ms"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        opportunities_of(text, "lte.up")
    assert said in refused.value.message
    assert "\n" not in refused.value.message


def test_a_trace_is_written_as_gaps() -> None:
    assert opportunities_from_text("5\n5\n8\n12\n", "x") == '"5*2 +3 +4"'


def test_a_file_that_is_absent_is_told() -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        apply_settings(SCENARIO.replace("LINK", TRACE), ["access.upstream.link.opportunities=@absent.up"])


def test_the_likeness_of_a_trace_worked_out_by_hand() -> None:
    # One opportunity each ms for a second, then half as many; a silence of 500 ms at the end.
    times = np.array([*range(1, 1001), *range(1002, 2001, 2), 2500, 3000])
    found = likeness(times)
    assert found.seconds == 3.0
    assert found.mean_mbps == pytest.approx(1502 * 1504 * 8e-6 / 3)
    assert found.longest_gap_s == 0.5
    assert found.gaps_a_minute == pytest.approx(60 * 2 / 3)
    assert found.gap_share == pytest.approx(1.0 / 3)
    # What came in no whole second makes no rate, and no division by it.
    alone = likeness(np.array([2500]))
    assert (alone.variation, alone.memory, alone.p50_mbps) == (0.0, 0.0, 0.0)
    # A run begins a short trace anew: two opportunities a second, a gap of 999 ms in each, and its own length.
    short = likeness(np.array([1, 1000]))
    assert (short.seconds, short.longest_gap_s) == (1.0, 0.999)
    assert (short.mean_mbps, short.gaps_a_minute) == (pytest.approx(2 * 1504 * 8e-6), pytest.approx(60))


# Mean and coefficient of variation of one-second rates of the public traces, of which the presets are made.
TARGETS = {"att": (5.17, 0.56), "tmobile": (12.77, 0.78)}


@pytest.mark.parametrize("preset", TARGETS)
def test_traces_like_lte_are_like_those_that_were_measured(preset: str) -> None:
    found = [likeness(make_lte(LTE[preset], 600.0, seed)) for seed in range(1, 11)]
    mean, variation = TARGETS[preset]
    assert np.mean([one.mean_mbps for one in found]) == pytest.approx(mean, rel=0.15)
    assert np.mean([one.variation for one in found]) == pytest.approx(variation, rel=0.15)
    # The next second knows of this one, and there are gaps.
    assert 0.6 < float(np.mean([one.memory for one in found])) < 0.95
    assert float(np.mean([one.gap_share for one in found])) > 0.05


def test_a_wanted_mean_is_met_and_a_seed_decides_everything() -> None:
    means = [likeness(make_lte(LTE["att"], 600.0, seed, 20.0)).mean_mbps for seed in range(1, 11)]
    assert float(np.mean(means)) == pytest.approx(20.0, rel=0.15)
    assert likeness(make_wifi(60.0, 1, 50.0)).mean_mbps == pytest.approx(50.0, rel=0.01)
    assert np.array_equal(make_wifi(20.0, 3), make_wifi(20.0, 3))
    assert not np.array_equal(make_wifi(20.0, 3), make_wifi(20.0, 4))


def test_wifi_sends_in_aggregates_of_what_the_neighbour_leaves() -> None:
    times = make_wifi(600.0, 1)
    _, counts = np.unique(times, return_counts=True)
    # 5 ms at 260 Mb/s x 0.65 are 105,625 B, 70 opportunities; rests add one.
    assert 30 < counts.max() <= 71
    assert likeness(times).longest_gap_s <= math.ceil(5 / 0.35) / 1e3 + 0.001


def test_a_satellite_line_is_configured_anew_each_fifteen_seconds() -> None:
    rows = make_starlink(600.0, 2, "down")
    at = [row[0] for row in rows]
    assert at[0] == 0.0
    assert all(later > earlier for earlier, later in itertools.pairwise(at))
    assert len(rows) < 10_000
    # Delays change at 12, 27, 42, 57 s of each minute and nowhere else.
    changes = [row[0] for row, before in zip(rows[1:], rows, strict=False) if row[2] != before[2]]
    assert len(changes) == 40
    assert {round(change % 15, 3) for change in changes} == {12.0}
    # 0.8 of 40 slots begin with an outage: 32, and 10 at most from that by five deviations.
    outages = [row for row in rows if row[1] == 0.0]
    assert 19 <= len(outages) <= 40
    # Both directions have the same slots.
    up = make_starlink(600.0, 2, "up")
    assert {row[2] for row in up} == {row[2] for row in rows}
    floors = sorted(
        2 * delay for seed in range(1, 26) for delay in {row[2] for row in make_starlink(600, seed, "down")}
    )
    low, middle, high = np.quantile(floors, [0.25, 0.5, 0.75]).tolist()
    assert (low, middle, high) == pytest.approx((41.2, 50.0, 61.0), rel=0.03)
    rates = [row[1] for row in rows if row[1] > 0]
    assert np.median(rates) == pytest.approx(STARLINK["down"][0], rel=0.3)


def test_traces_are_made_shown_and_cut_and_lines_follow_them(sojourn: CommandLine, tmp_path: Path) -> None:
    assert sojourn("trace", "make", "lte", "--for", "30s", "--out", "lte.down").status == 0
    text = (tmp_path / "lte.down").read_text()
    assert text.startswith("# sojourn ")
    assert "trace make lte --seed 1 --for 30s --preset att" in text.splitlines()[0]
    assert sojourn("trace", "make", "lte", "--for", "30s", "--out", "lte.down").status == 2
    (row,) = sojourn("trace", "show", "lte.down", "--json").json()["traces"]
    assert row["seconds"] == 30.0
    cut = sojourn("trace", "cut", "lte.down", "--from", "10s", "--for", "5s", "--out", "part")
    assert cut.status == 0, cut.stderr
    whole = opportunities_of(text, "lte.down")
    part = opportunities_of((tmp_path / "part").read_text(), "part")
    assert part == [at - 10_000 for at in whole if 10_000 < at <= 15_000]
    late = sojourn("trace", "cut", "lte.down", "--from", "40s", "--for", "5s", "--out", "late")
    assert late.status == 2
    assert "the trace is 30 s long" in late.stderr
    assert sojourn("trace", "make", "starlink", "--for", "20s", "--out", "sky.csv").status == 0
    sky = metrics(
        sojourn,
        tmp_path,
        SCENARIO.replace("LINK", SERIAL).replace("60 s", "20 s"),
        "--set",
        "access.upstream.conditions=@sky.csv",
    )
    assert sky["call delay_up_p50"] > 10.0
    wrong = sojourn("trace", "make", "wifi", "--preset", "att", "--for", "9s", "--out", "w")
    assert wrong.status == 2
    assert "--preset is of lte only" in wrong.stderr
