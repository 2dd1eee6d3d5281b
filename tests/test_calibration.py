"""A line from measurements: formulas, statistics, fit, misfit, bounds, files, what is refused, and how often intervals hold the truth."""

import copy
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sojourn.base.errors import SojournError, UsageError
from sojourn.base.quantities import mbps_of
from sojourn.calibration.calibrate import calibrated, disagree
from sojourn.calibration.check import check
from sojourn.calibration.choices import bounds_of, families_of
from sojourn.calibration.fit import Posterior, interval
from sojourn.calibration.inversion import buffer_bytes, knee_of, offload_units, scales_with_rate, weighted_mbps
from sojourn.calibration.line import ACCESSES, FAMILIES, Access, Guess, unknowns_of
from sojourn.calibration.line_text import scenario_text
from sojourn.calibration.measurement import Load, Seen, read_measurements
from sojourn.calibration.reading import read_off
from sojourn.calibration.robust import goodput_error, robust_fit
from sojourn.calibration.side import Choices
from sojourn.calibration.simulated import RECORD, seen_in, series_of
from sojourn.calibration.statistics import NAMES, statistics_of
from sojourn.calibration.summary import read_summary
from sojourn.calibration.table import Draw, drawn, make_table, simulate_draw
from sojourn.field.series import read_series
from sojourn.scenario.scenario_file import Scenario
from sojourn.simulation.engine import simulate
from support import SUMMARY, CommandLine

FILES = Path(__file__).parent / "field" / "files"
UPLOADS = sorted(FILES.glob("tcp_upload*.flent.gz"))
DOWNLOADS = sorted(FILES.glob("tcp_download*.flent.gz"))

ETHERNET = ACCESSES["ethernet"]
LOAD = Load("up", 1, 3.0, 8.0, 200.0, 84, "sender", congestion="cubic")
GUESS = Guess(5.0, 25.0, 50.0)


def upload(name: str) -> Path:
    return next(path for path in UPLOADS if f"buffer_{name}." in path.name)


# Formulas, beside the vectors of the specification


def test_the_rate_weighs_samples_by_how_long_they_stand() -> None:
    # A3: 96 KB, repetition 1: 4.727 weighted; the mean over the grid says 5.057 and that of the samples 5.249.
    rates = read_series(upload("96KB_rep_1")).rates[0]
    assert weighted_mbps(rates.ends_s, rates.lasted_s, rates.carried, 5.0 + 2.0) == pytest.approx(4.727, abs=0.01)
    assert float(np.mean(8e-6 * rates.carried / rates.lasted_s)) == pytest.approx(5.249, abs=0.1)


def test_a_buffer_is_what_its_second_largest_delay_says_and_a_little_more() -> None:
    # A5: 0.97 at 32 packets, 0.98 at 65.
    for delay, size in ((73.7, 46.4), (106.0, 66.7), (73.5, 46.2), (154, 95.9), (146, 90.9), (136, 84.7)):
        assert buffer_bytes(delay, 5.0) / 1024 == pytest.approx(size, rel=0.01)


def test_a_knee_is_the_depth_of_the_bucket() -> None:
    # A7: peak 20, rate 5, knee at 5.333 s: 10 MB.
    at = np.arange(0.0, 12.01, 0.2)
    carried = np.where(at < 16 / 3, 20e6 / 8 * at, 20e6 / 8 * 16 / 3 + 5e6 / 8 * (at - 16 / 3))
    knee = knee_of(at, carried, 12.0)
    assert knee is not None
    assert knee.depth == pytest.approx(10e6, rel=0.03)
    assert knee_of(at, 5e6 / 8 * at, 12.0) is None


def test_a_delay_in_bytes_follows_the_rate_and_one_in_time_does_not() -> None:
    assert scales_with_rate((100.0, 25.0), (5.0, 20.0)) == pytest.approx(1.0)
    assert scales_with_rate((15.0, 15.0), (5.0, 20.0)) == 0.0


def test_a_spread_of_delay_may_be_one_unit_of_offload() -> None:
    # A9: 20.67 and 25.01 ms at 20 Mb/s.
    assert offload_units(20.67, 0.0, 20.0) == (pytest.approx(57_417, rel=1e-3), pytest.approx(0.84, abs=0.01))
    assert offload_units(25.01, 0.0, 20.0) == (pytest.approx(69_472, rel=1e-3), pytest.approx(1.02, abs=0.01))


# Real files


def test_rates_of_real_uploads_are_within_three_percent() -> None:
    for path in UPLOADS:
        measured = read_measurements([path])[0]
        reading = read_off(measured.seen[0], measured.load, ETHERNET)
        assert reading.rate_mbps == pytest.approx(5.0, rel=0.03), path.name
        assert not reading.is_window_limited


def test_real_downloads_have_a_bound_and_no_interval() -> None:
    offloaded = 0
    for path in DOWNLOADS:
        found = calibrated([path], "ethernet", "both", Choices())
        (side,) = found.sides
        assert side.posterior is None
        assert side.reading.rate_mbps == pytest.approx(20.0, rel=0.02), path.name
        assert 139_500 <= side.reading.buffer_bytes <= 250_000, path.name
        assert "at least" in found.sentence
        offloaded += side.reading.is_offloaded
    assert offloaded >= 4


def test_files_made_in_the_same_way_are_put_together() -> None:
    (measured,) = read_measurements([FILES / path.name for path in UPLOADS])
    assert len(measured.seen) == 9
    assert measured.load.streams == 1
    assert measured.load.congestion == "cubic"
    (several,) = {one.load.direction for one in read_measurements(DOWNLOADS)}
    assert several == "down"


# A file that a known line has made


def flent_of(tmp_path: Path, values: dict[str, float], family: str = "drop-tail", seed: int = 7) -> Path:
    """Write what Flent would have written of a line."""
    records = simulate_draw(ETHERNET, LOAD, GUESS, Draw(family, values, seed))
    series = series_of(records, LOAD)
    pings, rates = series.round_trips[0], series.rates[0]
    came = np.isfinite(pings.rtt_ms)
    epoch = 1.7e9 - float(pings.sent_s[0])
    document: dict[str, Any] = {
        "version": 4,
        "x_values": [0.2 * step for step in range(1, 60)],
        "results": {"Ping (ms) ICMP": [None] * 59, "TCP upload": [None] * 59},
        "raw_values": {
            "Ping (ms) ICMP": [
                {"t": epoch + sent + took / 1e3, "val": took, "seq": number}
                for number, (sent, took) in enumerate(zip(pings.sent_s, pings.rtt_ms, strict=True))
                if np.isfinite(took)
            ],
            "TCP upload": [
                {"t": epoch + end, "dur": lasted, "val": 8e-6 * carried / lasted}
                for end, lasted, carried in zip(rates.ends_s, rates.lasted_s, rates.carried, strict=True)
            ],
        },
        "metadata": {
            "NAME": "tcp_upload",
            "TITLE": "made",
            "TIME": "2026-01-01T00:00:00Z",
            "LENGTH": LOAD.length_s,
            "TOTAL_LENGTH": LOAD.length_s + 2 * LOAD.lead_s,
            "STEP_SIZE": 0.2,
            "SERIES_META": {
                "TCP upload": {"TCPI_TOTAL_RETRANS": int(rates.retransmitted or 0), "CONG_CONTROL": "cubic"}
            },
        },
    }
    assert came.any()
    path = tmp_path / "made.flent.gz"
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    return path


TRUTH = {"rate": 5.0, "rtt": 25.0, "buffer": 60_000.0, "bucket": 3000.0, "stack": 0.0}


def test_a_run_and_its_file_have_the_same_statistics(tmp_path: Path) -> None:
    records = simulate_draw(ETHERNET, LOAD, GUESS, Draw("drop-tail", TRUTH, 7))
    direct = statistics_of(seen_in(records, LOAD), LOAD)
    measured = read_measurements([flent_of(tmp_path, TRUTH)])[0]
    assert measured.load == LOAD
    through = statistics_of(measured.seen[0], measured.load)
    known = np.isfinite(direct) & (np.array(NAMES) != "smoothed")
    assert through[known] == pytest.approx(direct[known], abs=0.03)
    assert np.isnan(through[NAMES.index("smoothed")])


def test_a_known_line_is_found_and_the_same_bytes_come_from_any_number_of_threads(tmp_path: Path) -> None:
    path = flent_of(tmp_path, TRUTH)
    found = [calibrated([path], "ethernet", "up", Choices(runs=400, jobs=jobs)) for jobs in (1, 3)]
    (side,) = found[0].sides
    assert found[0].as_json() == found[1].as_json()
    assert found[0].ensemble() == found[1].ensemble()
    quantities = {one.unknown.name: one for one in side.findings}
    assert quantities["rate"].middle == pytest.approx(5.0, rel=0.03)
    assert quantities["rate"].verdict == "known"
    assert quantities["rtt"].middle == pytest.approx(25.0, rel=0.03)
    assert side.posterior is not None
    assert FAMILIES[side.posterior.best] == "drop-tail"
    assert quantities["buffer"].middle == pytest.approx(60_000, rel=0.2)
    assert any("other" not in one and "downstream" in one for one in side.unknowable)

    page = found[0].write(tmp_path / "out")
    names = {one.name for one in (tmp_path / "out").iterdir()}
    assert names >= {
        "calibrated.toml",
        "ensemble.toml",
        "ensemble",
        "report.html",
        "manifest.json",
        "posterior-up.parquet",
    }
    text = page.read_text(encoding="utf-8")
    assert found[0].sentence in text
    assert "What cannot be known" in text
    command = CommandLine(tmp_path)
    checked = command("check", "out/calibrated.toml", "out/ensemble.toml", "out/ensemble/20.toml")
    assert checked.status == 0, checked.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["files"][0]["name"] == "made.flent.gz"


def test_the_command_prints_a_line_per_quantity_and_leaves_nothing_when_interrupted(tmp_path: Path) -> None:
    path = flent_of(tmp_path, {**TRUTH, "target": 5.0}, "flow queues")
    done = CommandLine(tmp_path)(
        "calibrate", path, "--access", "ethernet", "--budget", "400", "--out", "out", "--fix", "rate=5 Mb/s"
    )
    assert done.status == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert any(line.startswith("queue") and "flow queues 0.9" in line for line in lines)
    assert any(line.startswith("line up") and "given" in line for line in lines)
    unknown = CommandLine(tmp_path)("calibrate", "--check", "ethernet,docsis13")
    assert unknown.status == 2
    assert "no access line is called 'docsis13'" in unknown.stderr
    again = CommandLine(tmp_path)("calibrate", path, "--access", "ethernet", "--out", "out")
    assert again.status == 2
    assert "not overwritten" in again.stderr

    def interrupt(_what: str, done: int, _total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(KeyboardInterrupt):
        calibrated([path], "ethernet", "up", Choices(runs=400, jobs=2), interrupt)
    assert sorted(tmp_path.rglob("*")) == before


def test_every_kind_of_line_reads_as_a_scenario() -> None:
    for access in ACCESSES.values():
        for direction in ("up", "down"):
            load = Load(direction, 2, 1.0, 4.0, 200.0, 84, "receiver", beside=2)
            unknowns = unknowns_of(access, load, Guess(20.0, 25.0, 100.0))
            for one in drawn(unknowns, 6, 3):
                text = scenario_text(access, load, Guess(20.0, 25.0, 100.0), one.family, one.values)
                assert Scenario.parse(text + RECORD).duration_s == pytest.approx(5.25)


@pytest.mark.parametrize("access", ACCESSES.values(), ids=lambda access: access.name)
def test_a_line_that_was_measured_both_ways_has_a_queue_of_its_own_each_way(access: Access) -> None:
    up, down = (Load(way, 1, 1.0, 4.0, 200.0, 84, "receiver") for way in ("up", "down"))
    guess = Guess(20.0, 25.0, 100.0)
    ours = drawn(unknowns_of(access, up, guess), 1, 3, families=("drop-tail",))[0]
    theirs = drawn(unknowns_of(access, down, Guess(100.0, 25.0, 20.0)), 1, 4, families=("pie",))[0]
    text = scenario_text(access, up, guess, ours.family, ours.values, other_way=(theirs.family, theirs.values))
    line = Scenario.parse(text).document["access"]
    assert line["upstream"]["queue"]["limit"] == f"{ours.values['buffer']:.0f} B"
    assert line["downstream"]["queue"]["kind"] == access.pie
    rates = [mbps_of(line[way]["link"]["rate"]) for way in ("upstream", "downstream")]
    assert rates == pytest.approx([ours.values["rate"], theirs.values["rate"]], rel=1e-6)


def test_a_count_that_begins_while_a_loss_is_recovered_is_less_sure() -> None:
    # 600 kB/s out of a socket that holds 100 kB; at 2.2 s it has been empty for want of an acknowledgement. Of the windows from 2.0 to 2.8 and 9.2
    # to 10 s a fifth begin there: 100 kB more of some 4,500, so 2.2 % x sqrt(0.2 x 0.8).
    at = np.arange(0.2, 10.1, 0.2)
    load = Load("up", 1, 3.0, 10.0, 200.0, 84, "sender")
    full = 600e3 * at + 100e3
    steady, dipped = (
        Seen(np.empty(0), np.empty(0), False, at, carried, None, np.empty(0))
        for carried in (full, np.where(np.isclose(at, 2.2), full - 100e3, full))
    )
    least = goodput_error(load, 4.8, 1)
    assert goodput_error(load, 4.8, 1, [steady]) == pytest.approx(least)
    swing = np.sqrt(goodput_error(load, 4.8, 1, [dipped]) ** 2 - least**2)
    assert swing == pytest.approx(0.022 * 0.4, rel=0.15)
    receiver = replace(load, where="receiver")
    assert goodput_error(receiver, 4.8, 1, [dipped]) == 0.0


def test_families_that_make_the_same_are_named_together() -> None:
    # Odds below three to one are no evidence.
    for shares, alike in (([0.1, 0.41, 0.45, 0.04], ["pie", "codel"]), ([0.79, 0.1, 0.07, 0.04], ["drop-tail"])):
        none = np.empty(0)
        found = Posterior(np.array(shares), none, np.empty((0, 0)), none).alike
        assert [FAMILIES[one] for one in found] == alike


def test_a_longer_table_begins_with_a_shorter_one() -> None:
    unknowns = unknowns_of(ETHERNET, LOAD, GUESS)
    assert drawn(unknowns, 3, 5) == drawn(unknowns, 8, 5)[:3]
    centred = drawn(unknowns, 400, 5, centres={"rate": (5.0, 0.1)})
    # Weights undo where draws are put: the mean of the logarithm is that of even draws.
    weights = np.array([one.weight for one in centred])
    logs = np.log([one.values["rate"] / 5.0 for one in centred])
    assert float(np.average(logs, weights=weights)) == pytest.approx(0.0, abs=0.03)
    assert float(np.average(logs**2, weights=weights)) == pytest.approx(np.log(1.3) ** 2 / 3, rel=0.3)


def test_a_download_is_seen_by_its_receiver() -> None:
    load = Load("down", 1, 1.0, 6.0, 200.0, 84, "receiver", congestion="cubic")
    text = scenario_text(ETHERNET, load, Guess(8.0, 20.0, 5.0), "drop-tail", {**TRUTH, "rate": 8.0, "rtt": 20.0})
    seen = seen_in(simulate(Scenario.parse(text + RECORD).compiled, 1), load)
    reading = read_off(seen, load, ETHERNET)
    assert reading.rate_mbps == pytest.approx(8.0, rel=0.02)
    assert reading.buffer_bytes == pytest.approx(60_000, rel=0.15)


# How often intervals hold the truth


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    # 60 truths: 99 % band of a binomial with 0.9, over some 240 intervals that share their runs.
    found = check("ethernet", truths=60, runs=600, jobs=2)
    share, low, high = found.coverage
    assert 0.78 <= share <= 0.98
    assert low < share < high
    assert found.right >= 0.6
    assert found.confusion.sum() == 60
    rates = [row.error for row in found.quantities if row.unknown.name == "rate"]
    assert max(rates) < 1.03


def test_an_interval_is_of_weighted_draws() -> None:
    values = np.arange(1000.0)
    middle, low, high = interval(values, np.ones(1000))
    assert (middle, low, high) == pytest.approx((499.5, 49.5, 949.5), abs=1.0)
    middle, _, _ = interval(values, np.where(values < 100, 9.0, 1.0))
    assert middle == pytest.approx(99, abs=2)


def test_a_wide_interval_around_another_rate_is_no_agreement() -> None:
    unknowns = unknowns_of(ETHERNET, LOAD, GUESS)

    def posterior(middle: float, spread: float) -> Posterior:
        rates = np.linspace(middle - spread, middle + spread, 101)
        values = np.stack([rates, *[rates] * (len(unknowns) - 1)], axis=1)
        even = np.full(101, 1 / 101)
        return Posterior(np.array([1.0, 0, 0, 0]), np.zeros(101, dtype=int), values, even)

    robust = posterior(4.96, 0.1)
    assert disagree(unknowns, posterior(4.5, 0.6), robust)
    assert not disagree(unknowns, posterior(4.9, 0.01), robust)


def test_a_measurement_unlike_the_model_has_no_posterior(tmp_path: Path) -> None:
    # Every ping under load waits for half a minute, on a line that works on: no queue of a second does that.
    path = flent_of(tmp_path, TRUTH)
    document = json.loads(gzip.decompress(path.read_bytes()))
    for number, entry in enumerate(document["raw_values"]["Ping (ms) ICMP"]):
        if number > 16:
            entry["t"] += 30.0
            entry["val"] += 30_000.0
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    found = calibrated([path], "ethernet", "up", Choices(runs=400, jobs=2))
    (side,) = found.sides
    assert side.is_misfit
    assert side.posterior is None
    assert "no posterior" in found.sentence
    assert found.ensemble() == []
    with pytest.raises(SojournError, match="nothing was fitted"):
        found.scenario()


def test_draws_of_another_rate_stay_within_what_a_line_can_be() -> None:
    # A bucket of one frame on a faster line would be less than a frame on a slower one, which no scenario may say.
    unknowns = unknowns_of(ETHERNET, LOAD, GUESS, priors={"bucket": (1518.0, 1600.0)})
    table = make_table(ETHERNET, LOAD, GUESS, unknowns, drawn(unknowns, 40, 2), jobs=2)
    observed = np.nanmin(table.statistics, axis=0)
    posterior, _ = robust_fit(table, observed, 4.0, np.full(4, 0.25))
    for column, one in enumerate(unknowns):
        values, _ = posterior.of(column)
        assert (values >= one.low).all()
        assert (values <= one.high).all()


# What is refused


def document_of(path: Path) -> dict[str, Any]:
    return json.loads(gzip.decompress(path.read_bytes()))


def refused(tmp_path: Path, document: dict[str, Any]) -> str:
    path = tmp_path / "bad.flent"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        calibrated([path], "ethernet", "both", Choices(runs=400))
    assert str(caught.value).count("\n") <= 1
    return str(caught.value)


def test_measurements_that_say_nothing_are_refused_in_a_sentence(tmp_path: Path) -> None:
    good = document_of(upload("48KB_rep_1"))
    few = copy.deepcopy(good)
    pings = few["raw_values"]["Ping (ms) ICMP"]
    few["raw_values"]["Ping (ms) ICMP"] = [*pings[:5], *pings[30:35]]
    assert "too few" in refused(tmp_path, few)
    back = copy.deepcopy(good)
    for entry in back["raw_values"]["Ping (ms) ICMP"][40:]:
        entry["t"] -= 3.0
    assert "time runs back by 2." in refused(tmp_path, back)
    nothing = copy.deepcopy(good)
    for entry in nothing["raw_values"]["TCP upload"]:
        entry["val"] = 0.0
    assert "carried nothing: all rates are 0" in refused(tmp_path, nothing)
    zeros = copy.deepcopy(good)
    for entry in zeros["raw_values"]["Ping (ms) ICMP"]:
        entry["val"] = 0.0
    assert "round trips are 0" in refused(tmp_path, zeros)
    both = copy.deepcopy(good)
    both["raw_values"]["TCP download"] = both["raw_values"]["TCP upload"]
    both["results"]["TCP download"] = both["results"]["TCP upload"]
    path = tmp_path / "both.flent"
    path.write_text(json.dumps(both), encoding="utf-8")
    assert [(one.load.direction, one.load.beside) for one in read_measurements([path])] == [("up", 1), ("down", 1)]
    short = copy.deepcopy(good)
    short["raw_values"]["TCP upload"] = short["raw_values"]["TCP upload"][:6]
    assert "too short" in refused(tmp_path, short)


def test_tables_of_mixed_units_and_files_without_rates_are_refused(tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.csv"
    mixed.write_text("time_s,rtt_ms,rtt_us\n0,1,1000\n", encoding="utf-8")
    with pytest.raises(UsageError, match="one table"):
        read_measurements([mixed])
    rows = "".join(f"{0.2 * number:.1f},{20 + number % 7},{'up' if number > 20 else 'none'}\n" for number in range(80))
    table = tmp_path / "pings.csv"
    table.write_text("time_s,rtt_ms,load\n" + rows, encoding="utf-8")
    with pytest.raises(UsageError, match="no rates"):
        read_measurements([table])
    idle = tmp_path / "idle.csv"
    idle.write_text("time_s,rtt_ms\n0,1\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no load"):
        read_measurements([idle])


def test_tests_of_different_kinds_are_not_mixed(tmp_path: Path) -> None:
    different = document_of(upload("48KB_rep_1"))
    different["metadata"]["SERIES_META"]["TCP upload"]["CONG_CONTROL"] = "bbr"
    other = tmp_path / "other.flent"
    other.write_text(json.dumps(different), encoding="utf-8")
    with pytest.raises(UsageError, match=r"of different kinds: 1 stream of cubic .*1 stream of bbr"):
        read_measurements([upload("48KB_rep_1"), other])


def test_intervals_of_iperf3_are_read(tmp_path: Path) -> None:
    def interval_of(number: int, stream: int) -> dict[str, Any]:
        return {
            "socket": stream,
            "start": number,
            "end": number + 1,
            "seconds": 1.0,
            "bytes": 600_000,
            "retransmits": 1,
            "rtt": 30_000,
        }

    document: dict[str, Any] = {
        "start": {"timestamp": {"timesecs": 1}, "test_start": {"protocol": "TCP", "num_streams": 2}},
        "intervals": [{"streams": [interval_of(number, 5), interval_of(number, 7)]} for number in range(10)],
        "end": {"sum_received": {"bits_per_second": 9.5e6}},
    }
    path = tmp_path / "iperf.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    (measured,) = read_measurements([path])
    assert measured.load.streams == 2
    assert measured.load.interval_ms == 0
    assert measured.seen[0].retransmitted == 20
    assert read_off(measured.seen[0], measured.load, ETHERNET).goodput_mbps == pytest.approx(9.6)
    document["start"]["test_start"]["protocol"] = "UDP"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageError, match="without TCP"):
        read_measurements([path])


# A person with only numbers


def test_numbers_of_a_page_are_fitted_like_a_test_that_shows_them(tmp_path: Path) -> None:
    path = tmp_path / "page.toml"
    path.write_text(SUMMARY, encoding="utf-8")
    found = calibrated([path], "ethernet", "both", Choices(runs=500, jobs=2))
    (side,) = found.sides
    assert (side.measured.load.length_s, side.measured.load.lead_s) == (8.0, 3.0)
    quantities = {one.unknown.name: one for one in side.findings}
    assert quantities["rate"].middle == pytest.approx(5.0, rel=0.03)
    assert quantities["rtt"].middle == pytest.approx(25.0, rel=0.05)
    assert side.posterior is not None
    assert not side.posterior.is_robust
    page = found.write(tmp_path / "out").read_text(encoding="utf-8")
    assert found.sentence in page
    assert "page.toml: test 1" in page


@pytest.mark.parametrize(
    ("what", "instead", "said"),
    [
        ("schema = 1", "schema = 2", "no summary of tests"),
        ('"flent"', '"fletn"', "no method is called 'fletn'"),
        ('load = "up"', 'load = "none"', "a queue shows under a load of one direction"),
        ('rate = { value = "4.74 Mb/s", where = "sender" }', "rate = {}", "has no rate"),
        ("4.74 Mb/s", "4.74", 'test 1: rate: "4.74" has no unit'),
        ("4.74 Mb/s", "4.74 kb/s", "no access line's"),
        ('mean = "98 ms"', 'mean = "98"', 'loaded: "98" has no unit'),
        ('mean = "98 ms"', 'mean = "9 ms"', "less than the idle 25.5 ms"),
        ("samples = 40", "samples = 10", "10 round trips under load are too few"),
        ("samples = 40", "smaples = 40", "smaples is not known"),
        ("loss = 0.0", "loss = 4", "a share from 0 to 1"),
        ("loss = 0.0", "loss = ", "Invalid value"),
        ('load = "up"', 'load = "up"\nlength = "1 s"', "out of range"),
    ],
)
def test_numbers_that_make_no_test_are_refused_in_a_sentence(
    tmp_path: Path, what: str, instead: str, said: str
) -> None:
    path = tmp_path / "page.toml"
    path.write_text(SUMMARY.replace(what, instead), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_summary(path)
    assert said in str(caught.value)


def test_choices_are_read_or_refused() -> None:
    assert bounds_of({"access.upstream.queue.limit": "96 kB"}, {"rtt": "10 ms..30 ms"}) == {
        "buffer": (96_000.0, 96_000.0),
        "rtt": (10.0, 30.0),
    }
    assert families_of("fq,drop-tail") == ("flow queues", "drop-tail")
    for fix, prior in (
        ({"colour": "1 B"}, {}),
        ({"rate": "fast"}, {}),
        ({"rate": "1 Mb/s..2 Mb/s"}, {}),
        ({}, {"rate": "2 Mb/s"}),
        ({}, {"rate": "3 Mb/s..2 Mb/s"}),
    ):
        with pytest.raises(UsageError):
            bounds_of(fix, prior)
    with pytest.raises(UsageError, match="droptail"):
        families_of("droptail")


def test_bounds_hold_draws() -> None:
    unknowns = unknowns_of(ETHERNET, LOAD, GUESS, priors={"buffer": (96_000.0, 96_000.0)})
    table = make_table(ETHERNET, LOAD, GUESS, unknowns, drawn(unknowns, 8, 1, families=("drop-tail",)))
    column = [one.name for one in unknowns].index("buffer")
    assert set(table.values[:, column]) == {96_000.0}
