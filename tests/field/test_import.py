"""Files of probes become rows; what is no measurement is named with its reason, and nothing is executed."""

import bz2
import contextlib
import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from field.trials import FILES, flent_document, write_packed
from sojourn.errors import StudyError, UsageError
from sojourn.field.flent import read_flent
from sojourn.field.importer import import_files, read_file, read_imported, write_imported
from sojourn.field.iperf3 import read_iperf3
from sojourn.field.irtt import read_irtt
from sojourn.field.labels import labels_of, read_labels
from sojourn.field.reading import LARGEST_TEXT, Unreadable, parse_document, read_document


def test_real_files_of_flent_give_what_its_own_summary_says() -> None:
    tests = import_files(FILES).tests.filter(pl.col("file").str.contains("rep_1"))
    tests = tests.sort("direction", "treatment")
    # Flent's summary: means of whole series, to two decimals or three digits.
    assert tests.select("direction", "treatment", "test").rows() == [
        ("down", "8KB", "tcp_download"),
        ("up", "48KB", "tcp_upload"),
        ("up", "8KB", "tcp_upload"),
    ]
    assert tests["throughput_mbps"].to_list() == pytest.approx([19.03, 4.9, 4.79], abs=0.011)
    assert tests["latency_ms"].to_list() == pytest.approx([23.4, 25.8, 3.6], abs=0.06)
    assert set(tests["latency_kind"]) == {"ICMP"}
    assert set(tests["flags"]) == {""}
    # Under load the ping waits in the buffer: at most 48 KB at 5 Mb/s, 79 ms.
    assert tests["latency_loaded_ms"].to_list() == pytest.approx([45.8, 50.5, 7.0], abs=0.06)
    assert all(idle < 0.1 for idle in tests["latency_idle_ms"])


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
    document["results"] = {
        "TCP upload": [0.0] * 20,
        "Ping (ms) UDP": [20.0] * 7 + [None] * 13,
    }
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
        document | {"metadata": metadata | {"TOTAL_LENGTH": float("inf")}},
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
    (tmp_path / "d-flipped.flent.gz").write_bytes(
        good.read_bytes()[:40] + b"\xff\xff" + good.read_bytes()[42:]
    )
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
    assert reasons["i-text.txt"] == "is not JSON, or cut off"
    assert reasons["k-again.flent.gz"] == "has the content of a-good.flent.gz"
    assert not Path("executed").exists()


@given(st.binary(max_size=200))
def test_any_bytes_are_a_document_or_refused(text: bytes) -> None:
    with contextlib.suppress(Unreadable):
        assert isinstance(parse_document(text), dict)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(
    st.sampled_from(["version", "x_values", "results", "raw_values", "metadata"]),
    st.sampled_from(
        ["", "NAME", "TIME", "LENGTH", "TOTAL_LENGTH", "STEP_SIZE", "TITLE", "LOCAL_HOST"]
    ),
    json_values,
)
def test_a_flent_result_with_any_other_value_is_read_or_refused(
    key: str, inner: str, value: object
) -> None:
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


def test_irtt_gives_round_trip_times_in_milliseconds() -> None:
    document: dict[str, Any] = {
        "system_info": {"hostname": "h2"},
        "config": {},
        "stats": {
            "start_time": "2016-03-15T12:00:10.123456789Z",
            "rtt": {"n": 90, "mean": 25_500_000},
            "packets_sent": 100,
        },
        "round_trips": [],
    }
    (test,) = read_irtt(document, "h2-upload.json")
    assert (test.probe, test.direction, test.latency_ms) == ("h2", "up", 25.5)
    assert (test.samples, test.expected_samples, test.flags) == (90, 100, "")
    with pytest.raises(Unreadable, match=r"stats\.rtt"):
        read_irtt(
            document | {"stats": {"start_time": "2016-03-15T12:00:10Z", "packets_sent": 1}}, "a"
        )


def test_a_table_wins_over_the_title_and_the_title_over_the_file_name(tmp_path: Path) -> None:
    name = "rrul_up-2016.probe_a_buffer_8KB_week_1.flent.gz"
    assert labels_of(name, "", "vm", []).probe == "a"
    assert labels_of(name, "probe=b", "vm", []).probe == "b"
    path = tmp_path / "labels.csv"
    path.write_text("file,probe,zone\n*probe_a*,c,America/New_York\n")
    labels = labels_of(name, "probe=b", "vm", read_labels(path))
    assert (labels.probe, labels.treatment, labels.week) == ("c", "8KB", 1)
    assert labels.zone == "America/New_York"
    assert labels_of("x.flent.gz", "", "vm", []).probe == "vm"


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
    assert pl.read_csv(out / "skipped.csv").rows() == [("b.flent.gz", "is not JSON, or cut off")]
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
        "stats": {
            "start_time": "2016-03-15T12:00:10Z",
            "rtt": {"n": 1, "mean": 25_500_000},
            "packets_sent": 10**400,
        },
        "round_trips": [],
    }
    with pytest.raises(Unreadable, match="packets_sent"):
        read_irtt(document, "a")
    document["stats"] |= {"packets_sent": 1, "start_time": "9999-12-31T23:59:59-23:59"}
    with pytest.raises(Unreadable, match="calendar"):
        read_irtt(document, "a")


def test_half_a_character_is_no_text() -> None:
    assert parse_document(b'{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}
    with pytest.raises(Unreadable, match="not JSON"):
        parse_document(b'{"a": "\\ud83d"}')
