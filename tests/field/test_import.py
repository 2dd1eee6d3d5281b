"""Files of probes become rows; what is no measurement is named with its reason, and nothing is executed."""

import bz2
import contextlib
import csv
import gzip
import json
import os
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from field.trials import FILES, field_test, flent_document, write_packed
from sojourn.base.errors import EnvironmentFailure, StudyError, UsageError
from sojourn.field.assignments import Assignments, read_schedule
from sojourn.field.design import schedule
from sojourn.field.flent import flent_series, read_flent
from sojourn.field.flent_check import check_file
from sojourn.field.importer import import_files, read_file, read_imported, write_imported
from sojourn.field.iperf3 import read_iperf3
from sojourn.field.irtt import read_irtt
from sojourn.field.labels import labels_of, read_labels
from sojourn.field.reading import LARGEST_TEXT, Unreadable, parse_document, read_document
from sojourn.field.records import FieldTest

PRINTED = list(csv.DictReader((FILES.parent / "flent-summary.csv").read_text(encoding="utf-8").splitlines()))
"""What `flent -f summary` 2.1.1 prints of the files, with NumPy installed."""


def test_the_numbers_of_real_files_are_those_that_flent_prints() -> None:
    # Pings are read from raw samples; fping gives Flent a mean of three significant digits.
    ours = {(path.name, one.name): one for path in sorted(FILES.iterdir()) for one in flent_series(read_document(path))}
    assert len(ours) == len(PRINTED) == 36
    for row in PRINTED:
        one = ours[row["file"], row["series"]]
        assert one.is_raw
        ping = one.name.startswith("Ping")
        mean = one.samples.mean() if ping else one.mean
        assert mean is not None
        assert float(f"{mean:.3g}" if ping else f"{mean:.2f}") == float(row["mean"]), row
        for share, column in ((0.5, "median"), (0.99, "p99")):
            # Half a unit of the last digit: Flent's own interpolation rounds in another order.
            assert one.samples.quantile(share) == pytest.approx(float(row[column]), abs=0.00501)


def test_a_larger_buffer_that_carries_no_more_is_not_said_to() -> None:
    tests = import_files(FILES).tests
    by_file = {(row["file"], row["series"]): row for row in PRINTED}
    for test in tests.iter_rows(named=True):
        word = {"up": "upload", "down": "download"}[test["direction"]]
        assert test["throughput_mbps"] == float(by_file[test["file"], f"TCP {word}"]["mean"])
    mean = (
        tests.filter(direction="up").group_by("treatment").agg(pl.col("throughput_mbps", "throughput_grid_mbps").mean())
    )
    of: dict[str, tuple[float, float]] = {row[0]: (row[1], row[2]) for row in mean.iter_rows()}
    # What arrived: 4.77 Mb/s for 8 KB and 96 KB alike. The grid counts a long sample by its points, so that a sender
    # that stalls seems fast.
    assert of["96KB"][0] / of["8KB"][0] == pytest.approx(1.0, abs=0.002)
    assert of["96KB"][1] / of["8KB"][1] == pytest.approx(1.047, abs=0.001)


def test_pings_of_real_files_are_means_and_quantiles_of_raw_samples() -> None:
    tests = import_files(FILES).tests.filter(pl.col("file").str.contains("upload.*rep_1"))
    tests = tests.sort("latency_ms")
    assert tests["treatment"].to_list() == ["8KB", "48KB", "96KB"]
    assert set(tests["latency_kind"]) == {"ICMP"}
    assert set(tests["flags"]) == {""}
    assert tests["latency_ms"].to_list() == pytest.approx([3.61, 26.16, 49.43], abs=0.006)
    assert tests["latency_median_ms"].to_list() == pytest.approx([2.51, 21.65, 28.3], abs=0.006)
    assert tests["latency_p99_ms"].to_list() == pytest.approx([9.87, 73.72, 154.01], abs=0.006)
    # Under load the ping waits in the buffer: at most 48 KB at 5 Mb/s, 79 ms.
    assert tests["latency_loaded_ms"].to_list() == pytest.approx([6.96, 50.95, 95.78], abs=0.006)
    assert all(idle < 0.1 for idle in tests["latency_idle_ms"])


def _with_raw(**series: tuple[list[dict[str, float]], float | None]) -> dict[str, Any]:
    """Return the document with raw samples, and with means of the tool."""
    document = flent_document()
    names = {"be": "TCP upload BE", "bk": "TCP upload BK", "ping": "Ping (ms) UDP BE"}
    document["results"].pop("Ping (ms) UDP EF")
    document["raw_values"] = {names[key]: entries for key, (entries, _) in series.items()}
    document["metadata"]["SERIES_META"] = {
        names[key]: {"MEAN_VALUE": mean} for key, (_, mean) in series.items() if mean is not None
    }
    return document


def test_a_sample_counts_for_as_long_as_it_lasted() -> None:
    # Nine seconds at 5 Mb/s and one at 15: 6 Mb/s, whatever the grid of ten points makes of two samples.
    stream = [{"t": 114.0, "val": 5.0, "dur": 9.0}, {"t": 115.0, "val": 15.0, "dur": 1.0}]
    ping = [{"t": 100.0, "val": 20.0}, {"t": 101.0, "val": 30.0}, {"t": 108.0, "val": 70.0}]
    document = _with_raw(be=(stream, None), bk=(stream, None), ping=(ping, 39.0))
    (test,) = read_flent(document, "a")
    assert test.throughput_mbps == pytest.approx(6.0)
    assert test.throughput_grid_mbps == 3.0
    # Pings: the raw samples, whatever the tool says of them. The load begins five seconds after the first.
    assert (test.latency_ms, test.latency_median_ms) == (pytest.approx(40.0), 30.0)
    assert (test.latency_idle_ms, test.latency_loaded_ms) == (25.0, 70.0)
    assert test.latency_p99_ms == pytest.approx(69.2)
    assert test.samples == 3


def test_what_the_tool_received_comes_before_what_its_samples_say() -> None:
    stream = [{"t": 115.0, "val": 5.0, "dur": 10.0}]
    document = _with_raw(be=(stream, 4.5), bk=(stream, None))
    (test,) = read_flent(document, "a")
    assert test.throughput_mbps == pytest.approx((4.5 + 5.0) / 2)
    document["results"]["TCP upload avg"] = [3.0] * 20
    document["metadata"]["SERIES_META"]["TCP upload avg"] = {"MEAN_VALUE": 4.75}
    (test,) = read_flent(document, "a")
    assert test.throughput_mbps == 4.75
    document["metadata"]["SERIES_META"]["TCP upload avg"] = {"MEAN_VALUE": 5e6, "UNITS": "bits/s"}
    (test,) = read_flent(document, "a")
    assert test.throughput_mbps == 5.0
    assert test.throughput_grid_mbps == 3.0


@pytest.mark.parametrize(("version", "value"), [(4, 200.0), (3, 5.0), (1, 5.0)])
def test_netperfs_round_trips_count_by_time_and_not_by_transaction(version: int, value: float) -> None:
    # Five seconds of 20 ms and fifteen of 200: 155 ms over time, 61.5 over 325 transactions. Files before version 4 hold
    # transactions a second, version 1 elsewhere.
    quick = 20.0 if version == 4 else 50.0
    ping = [{"t": 105.0, "val": quick, "dur": 5.0}, {"t": 120.0, "val": value, "dur": 15.0}]
    document = _with_raw(ping=(ping, 61.5))
    document["version"] = version
    if version == 1:
        document["metadata"]["SERIES_META"]["Ping (ms) UDP BE"] = {"RAW_VALUES": ping}
        del document["raw_values"]
    (test,) = read_flent(document, "a")
    assert test.latency_ms == pytest.approx(155.0)
    assert (test.samples, test.flags) == (20, "")


def test_flents_summary_is_read_as_it_is_printed(tmp_path: Path) -> None:
    name = next(row["file"] for row in PRINTED if "96KB_rep_1" in row["file"])
    rows = [row for row in PRINTED if row["file"] == name]
    program = tmp_path / "flent"
    lines = "".join(
        f" {row['series']:14} : {row['mean']:>12} {row['median']:>12} {row['p99']:>12} Mbits/s  100\n" for row in rows
    )
    program.write_text(f"#!/bin/sh\nprintf '%s' '\nSummary of {name}\n\n{lines}'\n")
    program.chmod(0o755)
    checks = list(check_file(FILES / name, name, str(program)))
    assert [one.series for one in checks] == sorted(row["series"] for row in rows)
    assert all(one.agrees for one in checks)
    assert not any(replace(one, flent_p99=one.flent_p99 + 0.02).agrees for one in checks)  # type: ignore[operator]
    assert not any(replace(one, flent_mean=None).agrees for one in checks)
    with pytest.raises(EnvironmentFailure, match="there is no program"):
        list(check_file(FILES / name, name, str(tmp_path / "absent")))


@pytest.mark.skipif(shutil.which("flent") is None, reason="flent is not installed")
def test_flent_itself_prints_these_numbers() -> None:
    python = Path(shutil.which("flent") or "").read_text().split("\n", 1)[0].removeprefix("#!").split()
    interpolates = subprocess.run([*python, "-c", "import numpy"], capture_output=True, check=False)
    path = next(FILES.glob("tcp_upload*96KB_rep_1*"))
    checks = list(check_file(path, path.name))
    assert len(checks) > 1
    for one in checks:
        if interpolates.returncode != 0:  # without NumPy Flent prints samples beside quantiles
            one = replace(one, flent_median=None, flent_p99=None)
        assert one.agrees, one


def test_throughput_is_that_of_the_average_stream_and_latency_that_of_udp() -> None:
    (test,) = read_flent(flent_document(), "a.flent.gz")
    assert test.throughput_mbps == 3.0
    assert test.latency_kind == "UDP"
    assert test.latency_loaded_ms == 45.0
    assert test.latency_idle_ms == 20.0
    # Eleven samples of 45 ms and nine of 20.
    assert test.latency_ms == pytest.approx((11 * 45.0 + 9 * 20.0) / 20)
    assert (test.probe, test.treatment, test.week) == ("home-07", "48KB", 2)
    assert test.time == datetime(2016, 3, 15, 12, 0, 10, 500_000, UTC)
    assert (test.samples, test.expected_samples, test.flags) == (20, 20, "")


def test_a_bidirectional_test_is_one_row_per_direction() -> None:
    document = flent_document()
    document["results"]["TCP download avg"] = [10.0] * 20
    up, down = read_flent(document, "a")
    assert (up.direction, up.throughput_mbps) == ("up", 3.0)
    assert (down.direction, down.throughput_mbps) == ("down", 10.0)


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_all_versions_of_the_format_are_read(version: int) -> None:
    document = flent_document(version=version)
    if version == 1:  # had neither the key nor raw values
        del document["version"], document["raw_values"]
    (test,) = read_flent(document, "a")
    assert test.throughput_mbps == 3.0


def test_local_times_of_old_files_are_put_right_by_raw_samples() -> None:
    document = flent_document()
    document["metadata"]["TIME"] = "2016-03-15T07:00:10"  # five hours behind the samples
    (test,) = read_flent(document, "a")
    assert test.time == datetime(2016, 3, 15, 12, 0, 10, tzinfo=UTC)


def test_doubtful_tests_say_why() -> None:
    document = flent_document()
    document["results"] = {"TCP upload": [0.0] * 20, "Ping (ms) UDP": [20.0] * 7 + [None] * 13}
    (test,) = read_flent(document, "a")
    assert test.flags == "no-throughput few-samples pings-stop-early"


def _broken(document: dict[str, Any]) -> list[dict[str, Any]]:
    series = document["results"] | {"Ping (ms) UDP BE": [1.0]}
    metadata = document["metadata"]
    return [
        document | {"version": 5},
        document | {"version": "x"},
        document | {"results": series},
        document | {"results": {"TCP upload": ["fast"] * 20}},
        document | {"results": []},
        document | {"x_values": [], "results": {}},
        document | {"metadata": metadata | {"TIME": "yesterday"}},
        document | {"metadata": metadata | {"TIME": "0001-01-01T00:00:00+14:00"}},
        document | {"metadata": metadata | {"LENGTH": float("inf")}},
        document | {"metadata": metadata | {"STEP_SIZE": 1e-320}},
        document | {"x_values": [10**400, *document["x_values"][1:]]},
        document | {"metadata": {k: v for k, v in metadata.items() if k != "LENGTH"}},
        document | {"metadata": None},
    ]


@pytest.mark.parametrize("number", range(13))
def test_an_incomplete_result_is_refused_with_a_reason(number: int, tmp_path: Path) -> None:
    path = write_packed(tmp_path / "a.flent.gz", _broken(flent_document())[number])
    with pytest.raises(Unreadable, match=r"\w"):
        read_file(path, "a")


def test_every_file_is_imported_or_named_and_the_rest_is_not_lost(tmp_path: Path) -> None:
    good = write_packed(tmp_path / "a-good.flent.gz", flent_document())
    (tmp_path / "b-empty.flent.gz").write_bytes(b"")
    (tmp_path / "c-cut.flent.gz").write_bytes(good.read_bytes()[:-40])
    (tmp_path / "d-flipped.flent.gz").write_bytes(good.read_bytes()[:40] + b"\xff\xff" + good.read_bytes()[42:])
    (tmp_path / "e-bomb.flent.gz").write_bytes(gzip.compress(b"[" + b" " * (LARGEST_TEXT + 1)))
    (tmp_path / "f-deep.json").write_text("[" * 200_000)
    (tmp_path / "g-list.json").write_text("[1, 2]")
    (tmp_path / "h-foreign.json").write_text('{"a": 1}')
    (tmp_path / "i-text.txt").write_text("__import__('os').system('touch executed')")
    (tmp_path / "j-number.json").write_text('{"a": ' + "9" * 10_000 + "}")
    (tmp_path / "k-again.flent.gz").write_bytes(good.read_bytes())
    (tmp_path / "l-packed-otherwise.flent.bz2").write_bytes(
        bz2.compress(json.dumps(flent_document(version=3)).encode())
    )
    found = import_files(tmp_path)
    assert found.tests["file"].to_list() == ["a-good.flent.gz", "l-packed-otherwise.flent.bz2"]
    reasons = dict(found.skipped)
    assert len(reasons) == 10
    assert found.files == 12
    assert reasons["b-empty.flent.gz"] == "is empty"
    assert reasons["c-cut.flent.gz"].startswith("cannot be read")
    assert reasons["e-bomb.flent.gz"] == "unpacks to more than 64 MiB"
    assert reasons["f-deep.json"] == "is nested too deeply"
    assert reasons["g-list.json"] == "is JSON, and no object"
    assert "no tool that is known" in reasons["h-foreign.json"]
    assert reasons["i-text.txt"] == "is not JSON, or cut off: line 1, column 1"
    assert reasons["k-again.flent.gz"] == "has the content of a-good.flent.gz"
    assert not Path("executed").exists()


@given(st.binary(max_size=200))
def test_any_bytes_are_a_document_or_refused(text: bytes) -> None:
    with contextlib.suppress(Unreadable):
        assert isinstance(parse_document(text), dict)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.sampled_from(["version", "x_values", "results", "raw_values", "metadata"]),
    st.sampled_from(["", "NAME", "TIME", "LENGTH", "TOTAL_LENGTH", "STEP_SIZE", "TITLE", "LOCAL_HOST"]),
    json_values,
)
def test_a_flent_result_with_any_other_value_is_read_or_refused(key: str, inner: str, value: object) -> None:
    document = flent_document()
    if key == "metadata" and inner:
        document["metadata"][inner] = value
    else:
        document[key] = value
    try:
        tests = read_flent(document, "a")
    except Unreadable:
        return
    assert all(test.time.tzinfo is UTC for test in tests)


def test_iperf3_gives_the_throughput_of_the_average_stream() -> None:
    document: dict[str, Any] = {
        "start": {
            "timestamp": {"timesecs": 1458043210},
            "test_start": {"protocol": "TCP", "num_streams": 4, "reverse": 1},
        },
        "intervals": [],
        "end": {"sum_received": {"bits_per_second": 20e6}},
        "title": "home=h1 buffer=8KB",
    }
    (test,) = read_iperf3(document, "a.json")
    assert (test.direction, test.throughput_mbps, test.latency_ms) == ("down", 5.0, None)
    assert (test.probe, test.treatment) == ("h1", "8KB")
    with pytest.raises(Unreadable, match="failed: no route"):
        read_iperf3(document | {"error": "no route"}, "a.json")
    with pytest.raises(Unreadable, match="sum_received"):
        read_iperf3(document | {"end": {}}, "a.json")


def test_iperf3_is_read_by_what_arrived() -> None:
    # As iperf3 3.12 wrote it: 10 Mb/s of UDP sent over 5 Mb/s; `sum` says what was sent, half of it was lost.
    start = {"timestamp": {"timesecs": 1458043210}, "test_start": {"protocol": "UDP"}}
    sent = {"bits_per_second": 10e6, "lost_percent": 50.5}
    received = {"bits_per_second": 4.84e6, "lost_percent": 50.45}
    end = {"sum": sent, "sum_sent": sent, "sum_received": received}
    document: dict[str, Any] = {"start": start, "intervals": [], "end": end}
    (test,) = read_iperf3(document, "a.json")
    assert test.throughput_mbps == pytest.approx(4.84)
    # Old versions have no `sum_received` for UDP.
    (test,) = read_iperf3(document | {"end": {"sum": sent}}, "a.json")
    assert test.throughput_mbps == pytest.approx(4.95)


def test_both_directions_of_a_bidirectional_iperf3_are_rows() -> None:
    start = {"timestamp": {"timesecs": 1458043210}, "test_start": {"num_streams": 2}}
    end = {"sum_received": {"bits_per_second": 4e6}, "sum_received_bidir_reverse": {"bits_per_second": 14e6}}
    document: dict[str, Any] = {"start": start, "intervals": [], "end": end}
    up, down = read_iperf3(document, "a.json")
    assert (up.direction, up.throughput_mbps, up.test) == ("up", 2.0, "iperf3 TCP upload")
    assert (down.direction, down.throughput_mbps, down.test) == ("down", 7.0, "iperf3 TCP download")


def test_irtt_gives_round_trip_times_in_milliseconds() -> None:
    document: dict[str, Any] = {
        "system_info": {"hostname": "h2"},
        "config": {},
        "stats": {
            "start_time": "2016-03-15T12:00:10.123456789Z",
            "rtt": {"n": 90, "mean": 25_500_000, "median": 25_000_000},
            "packets_sent": 100,
        },
        "round_trips": [{"delay": {"rtt": 1_000_000 * k}} for k in range(101)]
        + [{"delay": {}}, {"delay": {"rtt": 10**400}}, {"delay": 5}, None],
    }
    (test,) = read_irtt(document, "h2-upload.json")
    assert (test.probe, test.direction, test.latency_ms) == ("h2", "up", 25.5)
    assert (test.latency_median_ms, test.latency_p99_ms) == (25.0, 99.0)
    assert (test.samples, test.expected_samples, test.flags) == (90, 100, "")
    with pytest.raises(Unreadable, match=r"stats\.rtt"):
        read_irtt(document | {"stats": {"start_time": "2016-03-15T12:00:10Z", "packets_sent": 1}}, "a")


def test_a_table_wins_over_the_title_and_the_title_over_the_file_name(tmp_path: Path) -> None:
    name = "rrul_up-2016.probe_a_buffer_8KB_week_1.flent.gz"
    assert labels_of(name, "", "vm").probe == "a"
    assert labels_of(name, "probe=b", "vm").probe == "b"
    assert labels_of("x.flent.gz", "", "vm").probe == "vm"
    path = tmp_path / "labels.csv"
    path.write_text("file,probe,zone\n*probe_a*,c,America/New_York\n")
    test = field_test(file=f"in/{name}", probe="b", treatment="8KB", week=1)
    (labelled,) = read_labels(path).apply([test])
    assert (labelled.probe, labelled.treatment, labelled.week) == ("c", "8KB", 1)
    assert labelled.zone == "America/New_York"
    other = replace(test, file="other")
    assert read_labels(path).apply([other]) == [other]


def test_a_schedule_gives_each_home_its_treatment_by_time(tmp_path: Path) -> None:
    path = tmp_path / "schedule.csv"
    homes = ["home-1", "home-2"]
    table = schedule(homes, ("8KB", "48KB"), date(2016, 3, 7), order="talk")
    table = table.with_columns(
        treatment=pl.when(pl.col("probe") == "home-2")
        .then(pl.col("treatment").replace({"8KB": "48KB", "48KB": "8KB"}))
        .otherwise("treatment")
    )
    table.write_csv(path)

    def at(probe: str, day: int, hour: int, **changes: Any) -> FieldTest:  # noqa: ANN401
        time = datetime(2016, 3, day, hour, tzinfo=UTC)
        return field_test(probe=probe, time=time, **changes)

    labelled = read_labels(path).apply(
        [
            at("home-1", 7, 8),
            at("home-2", 7, 8),
            # The last test of week 1 is due on the 13th at 17:05 and the first of week 2 on the 14th at 8:00: half way is
            # 0:32.
            at("home-1", 14, 0),
            at("home-1", 14, 1),
            at("home-2", 20, 17, treatment="48KB"),
            at("home-3", 7, 8, treatment="own"),
            at("home-1", 21, 1),
            at("home-1", 6, 23, week=7, flags="few-samples"),
        ]
    )
    outside = "outside-the-schedule"
    assert [(one.treatment, one.week, one.flags) for one in labelled] == [
        ("8KB", 1, ""),
        ("48KB", 1, ""),
        ("8KB", 1, ""),
        ("48KB", 2, ""),
        ("8KB", 2, "says-another-treatment"),
        ("own", None, outside),
        ("", None, outside),
        ("", 7, f"few-samples {outside}"),
    ]
    assert Assignments.of(read_schedule(path)).label(labelled)[5:] == labelled[5:]


def test_two_treatments_at_once_are_no_schedule(tmp_path: Path) -> None:
    path = tmp_path / "schedule.csv"
    rows = ["probe,week,treatment,time,direction"]
    rows += [f"a,1,{name},2016-03-0{day}T08:00:00Z,up" for day in (7, 8) for name in ("x", "y")]
    path.write_text("\n".join(rows))
    with pytest.raises(UsageError, match="a has x and y at 2016-03-07 08:00 UTC"):
        read_labels(path)
    path.write_text(f"{rows[0]}\na,1,,2016-03-07T08:00:00Z,up\nb,x,8KB,yesterday,left\n")
    with pytest.raises(StudyError) as caught:
        read_labels(path)
    places = [(problem.line, problem.path) for problem in caught.value.problems]
    assert places == [(2, "treatment"), (3, "week"), (3, "time"), (3, "direction")]


def test_a_wrong_table_of_labels_says_everything_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("probe,tretment,week\na,8KB,first\n")
    with pytest.raises(StudyError) as caught:
        read_labels(path)
    text = [f"{problem} ({problem.hint})" for problem in caught.value.problems]
    assert any('"tretment"' in line and "treatment" in line for line in text)
    assert any("no column file" in line for line in text)
    assert any('"first" is no number' in line for line in text)


def test_an_import_is_written_whole_and_read_back(tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    write_packed(source / "a.flent.gz", flent_document())
    (source / "b.flent.gz").write_bytes(b"no")
    write_imported(import_files(source), out, source)
    assert read_imported(out).height == 1
    assert pl.read_csv(out / "skipped.csv").rows() == [("b.flent.gz", "is not JSON, or cut off: line 1, column 1")]
    assert json.loads((out / "manifest.json").read_text())["skipped"] == 1
    with pytest.raises(UsageError, match="not empty"):
        write_imported(import_files(source), out, source)
    with pytest.raises(UsageError, match="no imported tests"):
        read_imported(source)


def test_a_plain_file_and_a_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "a.flent"
    path.write_text(json.dumps(flent_document()))
    assert read_document(path)["version"] == 4
    with pytest.raises(UsageError, match="there is no"):
        import_files(tmp_path / "absent")


def test_a_file_name_that_is_no_text_is_spelt_out(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"home-\xff.flent")
    try:
        path.write_text(json.dumps(flent_document()))
    except OSError:
        pytest.skip("this file system takes no such names")
    assert import_files(tmp_path).tests["file"].to_list() == ["home-\\udcff.flent"]


def test_counts_that_are_none_are_refused() -> None:
    document: dict[str, Any] = {
        "config": {},
        "stats": {"start_time": "2016-03-15T12:00:10Z", "rtt": {"n": 1, "mean": 25_500_000}, "packets_sent": 10**400},
        "round_trips": [],
    }
    with pytest.raises(Unreadable, match="packets_sent"):
        read_irtt(document, "a")
    document["stats"] |= {"packets_sent": 1, "start_time": "9999-12-31T23:59:59-23:59"}
    with pytest.raises(Unreadable, match="calendar"):
        read_irtt(document, "a")


def test_half_a_character_is_no_text() -> None:
    assert parse_document(b'{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}
    with pytest.raises(Unreadable, match="half a character"):
        parse_document(b'{"a": "\\ud83d"}')
