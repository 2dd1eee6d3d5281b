"""Inputs of public bug reports, and two of the same kind beside each: what is said of them. See README.md for their sources."""

import contextlib
import gzip
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from sojourn.base.errors import UsageError
from sojourn.calibration.measurement import read_measurements
from sojourn.cli import run_command
from sojourn.field.importer import Imported, import_files
from sojourn.provisioning import encode
from sojourn.scenario.scenario_file import Scenario
from support import Finished

HERE = Path(__file__).parent


def case(number: str) -> Path:
    """Return the folder of a case."""
    (found,) = HERE.glob(f"{number}-*")
    return found


def command(*arguments: str | Path) -> Finished:
    """Run a command in this process; what it raises is a traceback of the program."""
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        status = run_command([str(argument) for argument in arguments])
    return Finished(status, said.getvalue(), told.getvalue())


def unpacked(path: Path, folder: Path) -> Path:
    """Return a packed input as the tool wrote it."""
    out = folder / path.stem
    out.write_bytes(gzip.decompress(path.read_bytes()))
    return out


def edited(path: Path, out: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Write a JSON file with a change."""
    content = path.read_bytes()
    document: dict[str, Any] = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    change(document)
    out.write_text(json.dumps(document))
    return out


def rates(imported: Imported) -> dict[tuple[str, str], float]:
    """Return the throughput of each file and direction."""
    tests = imported.tests.select("file", "direction", pl.col("throughput_mbps").round(3))
    return {(file, direction): rate for file, direction, rate in tests.iter_rows()}


def measured(path: Path) -> dict[str, float]:
    """Return what streams of each direction carried together, Mb/s, as `calibrate` reads it."""
    return {
        one.load.direction: 8e-6 * float(one.seen[0].carried[-1]) / float(one.seen[0].at_s[-1])
        for one in read_measurements([path])
    }


# ---- 01: sums that stand twice --------------------------------------------------------------------


def test_01_both_directions_of_a_bidirectional_test_are_read_whatever_the_version() -> None:
    found = import_files(case("01"))
    assert rates(found) == {
        (file, way): rate for file in ("line.json", "new-format.json") for way, rate in (("up", 20.0), ("down", 90.0))
    }
    assert found.skipped == ()
    for name in ("line.json", "new-format.json"):
        assert measured(case("01") / name) == {"up": pytest.approx(20.0), "down": pytest.approx(90.0)}


def test_01_a_sum_that_its_intervals_do_not_carry_is_refused(tmp_path: Path) -> None:
    def double(document: dict[str, Any]) -> None:
        for name in ("sum_sent", "sum_received"):
            document["end"][name]["bits_per_second"] *= 2

    edited(case("06") / "up.json", tmp_path / "double.json", double)
    (said,) = import_files(tmp_path).skipped
    assert said == ("double.json", "contradicts itself: 40.11 Mb/s up in its sum, 20.05 in its intervals")
    with pytest.raises(UsageError, match="contradicts itself"):
        read_measurements([tmp_path / "double.json"])


def test_01_a_name_that_stands_twice_elsewhere_is_refused_and_the_other_files_go_on(tmp_path: Path) -> None:
    text = gzip.decompress((case("13") / "torrent.flent.gz").read_bytes()).decode()
    twice = text.replace('"LENGTH"', '"LENGTH": 60, "LENGTH"', 1)
    assert twice != text
    (tmp_path / "twice.flent").write_text(twice)
    shutil.copy(case("01") / "line.json", tmp_path)
    found = import_files(tmp_path)
    assert found.skipped == (("twice.flent", 'says "LENGTH" 2 times in one object: which counts is not known'),)
    assert found.tests.height == 2


# ---- 02: the file of a server ---------------------------------------------------------------------


def test_02_a_server_says_what_it_knows_and_its_upload_is_an_upload() -> None:
    found = import_files(case("02"))
    assert rates(found) == {("server-of-download.json", "down"): 90.5, ("server-of-upload.json", "up"): 20.5}
    assert found.tests.filter(direction="down")["flags"].to_list() == ["sent-not-received"]
    assert list(measured(case("02") / "server-of-upload.json")) == ["up"]
    assert list(measured(case("02") / "server-of-download.json")) == ["down"]


def test_02_both_ends_of_one_test_are_one_test(tmp_path: Path) -> None:
    name = json.loads((case("06") / "up.json").read_text())["start"]["cookie"]
    edited(case("06") / "up.json", tmp_path / "client.json", unheld)

    def server(document: dict[str, Any]) -> None:
        document["start"]["cookie"] = name

    edited(case("02") / "server-of-upload.json", tmp_path / "server.json", server)
    found = import_files(tmp_path)
    assert list(rates(found)) == [("client.json", "up")]
    assert found.skipped == (("server.json", "is the server's end of the test in client.json"),)
    (read,) = read_measurements([tmp_path])
    assert [Path(one).name for one in read.names] == ["client.json"]


def test_02_a_server_of_the_old_form_reads_both_directions(tmp_path: Path) -> None:
    text = (case("01") / "line.json").read_text()
    text = text.replace('"connecting_to"', '"accepted_connection"')
    for one, other in (("true", "TRUE"), ("false", "true"), ("TRUE", "false")):
        text = text.replace(f'"sender": {one}', f'"sender": {other}')
    (tmp_path / "server.json").write_text(text)
    found = import_files(tmp_path)
    # The server received the upload, and only sent the download.
    assert rates(found) == {("server.json", "up"): 20.0, ("server.json", "down"): 90.3}


# ---- 03: numbers that are none --------------------------------------------------------------------


def test_03_what_c_prints_in_place_of_a_number_is_no_number() -> None:
    assert rates(import_files(case("03"))) == {("voip.json", "up"): 0.066}


@pytest.mark.parametrize("printed", ["nan", "-inf", "NaN", "Infinity"])
def test_03_other_spellings_of_no_number_are_read_alike(printed: str, tmp_path: Path) -> None:
    text = (case("03") / "voip.json").read_text()
    (tmp_path / "voip.json").write_text(text.replace("-nan", printed))
    assert rates(import_files(tmp_path)) == {("voip.json", "up"): 0.066}


def test_03_a_loss_that_is_not_known_is_no_loss_of_nothing(tmp_path: Path) -> None:
    text = (case("03") / "voip.json").read_text()
    (tmp_path / "voip.json").write_text(text.replace('"lost_percent":0}', '"lost_percent":-nan}'))
    tests = import_files(tmp_path).tests
    assert tests["flags"].to_list() == ["sent-not-received"]


def test_03_a_stream_of_objects_is_read_as_the_file_that_it_stands_for(tmp_path: Path) -> None:
    whole = edited(case("06") / "up.json", tmp_path / "whole.json", unheld)
    document = json.loads(whole.read_text())
    carried = measured(whole)
    whole.unlink()
    events = [
        ("start", document["start"]),
        *(("interval", one) for one in document["intervals"]),
        ("end", document["end"]),
    ]
    lines = [json.dumps({"event": event, "data": data}) for event, data in events]
    (tmp_path / "up.json").write_text("\n".join(lines) + "\n")
    assert rates(import_files(tmp_path)) == rates(import_files(case("06")))
    assert measured(tmp_path / "up.json") == carried
    (tmp_path / "up.json").write_text("\n".join(lines[:-1]) + "\n")
    assert import_files(tmp_path).skipped == (("up.json", "is cut off: a stream of iperf3 without its end"),)
    (tmp_path / "up.json").write_text('{"a": 1}\n{"a": 2}\n')
    (said,) = import_files(tmp_path).skipped
    assert said[1] == "is lines of JSON, an object a line, of no tool that is known here"


# ---- 13: streams by a rule ------------------------------------------------------------------------


def test_13_streams_are_found_whatever_a_test_calls_them() -> None:
    found = import_files(case("13"))
    assert found.skipped == ()
    up = {file: rate for (file, way), rate in rates(found).items() if way == "up"}
    assert up == {
        "torrent.flent.gz": 2.0,  # one of 6 Mb/s and four of 1
        "nflows.flent.gz": 5.0,
        "nflows-up-only.flent.gz": 5.0,
        "plain-nup.flent.gz": 5.0,
    }
    assert measured(case("13") / "torrent.flent.gz")["up"] == pytest.approx(10.0, rel=0.01)
    both = measured(case("13") / "nflows.flent.gz")
    assert (both["up"], both["down"]) == (pytest.approx(20.0, rel=0.01), pytest.approx(80.0, rel=0.01))
    assert measured(case("13") / "plain-nup.flent.gz")["up"] == pytest.approx(20.0, rel=0.01)


def renamed(names: dict[str, str]) -> Callable[[dict[str, Any]], None]:
    """Return a change that calls series otherwise."""

    def change(document: dict[str, Any]) -> None:
        for place in (document["results"], document["raw_values"], document["metadata"]["SERIES_META"]):
            for old, new in names.items():
                if old in place:
                    place[new] = place.pop(old)

    return change


@pytest.mark.parametrize(
    "names",
    [
        ("TCP upload::1 (CS0)", "TCP upload::video", "TCP upload::3 (EF)", "TCP upload::4"),  # rrul_var
        ("TCP upload Cubic BE", "TCP upload dctcp BE", "TCP upload Cubic CS1", "TCP upload dctcp CS1"),  # cubic_dctcp
        (
            "TCP upload BE 192.0.2.1",
            "TCP upload BE host.example",
            "TCP upload sum",
            "TCP upload avg",
        ),  # a host so called
    ],
)
def test_13_other_names_of_streams_are_read_alike(names: tuple[str, ...], tmp_path: Path) -> None:
    own = dict(zip([f"TCP upload::{number}" for number in range(1, 5)], names, strict=True))
    computed = {"TCP upload avg": "TCP upload Torrent avg", "TCP upload sum": "TCP upload Torrent sum"}
    path = tmp_path / "named.flent"
    edited(case("13") / "plain-nup.flent.gz", path, renamed(computed | own))
    assert rates(import_files(tmp_path)) == {("named.flent", "up"): 5.0}
    assert measured(path)["up"] == pytest.approx(20.0, rel=0.01)


def test_13_what_a_tool_says_of_a_stream_is_no_stream(tmp_path: Path) -> None:
    def window(document: dict[str, Any]) -> None:
        for name in list(document["raw_values"]):
            if name.startswith("TCP"):
                document["results"][f"{name}::tcp_cwnd"] = document["results"][name]
                document["raw_values"][f"{name}::tcp_cwnd"] = document["raw_values"][name]

    path = edited(case("13") / "torrent.flent.gz", tmp_path / "window.flent", window)
    assert rates(import_files(tmp_path)) == {("window.flent", "up"): 2.0}
    assert measured(path)["up"] == pytest.approx(10.0, rel=0.01)


def test_13_a_mean_that_its_own_grid_contradicts_has_a_flag(tmp_path: Path) -> None:
    def larger(document: dict[str, Any]) -> None:
        for name, meta in document["metadata"]["SERIES_META"].items():
            if name.startswith("TCP"):
                meta["MEAN_VALUE"] *= 1.3

    edited(case("13") / "plain-nup.flent.gz", tmp_path / "larger.flent", larger)
    tests = import_files(tmp_path).tests
    assert (tests["throughput_mbps"].to_list(), tests["flags"].to_list()) == ([6.5], ["mean-unlike-grid"])


# ---- 26: text that is no text ---------------------------------------------------------------------

HALF = "has half a character, which is no text: a surrogate without its other half"


def test_26_half_a_character_costs_its_own_file_alone(tmp_path: Path) -> None:
    files = [unpacked(path, tmp_path) for path in sorted(case("26").iterdir())]
    shutil.copy(case("13") / "torrent.flent.gz", tmp_path)
    found = import_files(tmp_path)
    assert found.skipped == tuple((path.name, HALF) for path in files)
    assert rates(found) == {("torrent.flent.gz", "up"): 2.0}
    for path in files:
        with pytest.raises(UsageError, match="half a character"):
            read_measurements([path])


@pytest.mark.parametrize("title", ["\\ud800", "\\\\\\udfff", "\\udc00\\ud800"])
def test_26_so_does_an_escape_that_stands_for_half_a_character(title: str, tmp_path: Path) -> None:
    text = gzip.decompress((case("13") / "torrent.flent.gz").read_bytes()).decode()
    (tmp_path / "escaped.flent").write_text(text.replace('"TITLE": "lab"', f'"TITLE": "{title}"'))
    assert import_files(tmp_path).skipped == (("escaped.flent", HALF),)


@pytest.mark.parametrize("title", ["\\ud83d\\ude00", "\\\\ud800", "\U0001f600"])
def test_26_a_whole_character_is_text_however_it_is_written(title: str, tmp_path: Path) -> None:
    text = gzip.decompress((case("13") / "torrent.flent.gz").read_bytes()).decode()
    (tmp_path / "whole.flent").write_text(text.replace('"TITLE": "lab"', f'"TITLE": "{title}"'), encoding="utf-8")
    assert import_files(tmp_path).tests.height == 1


# ---- 06: what is not known ------------------------------------------------------------------------


def unheld(document: dict[str, Any]) -> None:
    """Let a test have had no rate to hold itself to."""
    document["start"]["test_start"].pop("target_bitrate", None)


def test_06_a_sender_that_held_itself_back_says_nothing_of_the_queue() -> None:
    with pytest.raises(UsageError, match="held itself to 20 Mb/s, and got it: the line carries more"):
        read_measurements([case("06") / "up.json"])


@pytest.mark.parametrize("access", ["docsis31", "ethernet"])
def test_06_a_file_without_losses_and_pings_has_an_answer(access: str, tmp_path: Path) -> None:
    path = edited(case("06") / "up.json", tmp_path / "up.json", unheld)
    done = command("calibrate", path, "--access", access, "--budget", "400", "--out", tmp_path / "out")
    assert done.status == 0, done.stderr
    assert "nothing is known of its buffer" in done.stderr
    assert "nan" not in done.stdout + done.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(), parse_constant=pytest.fail)
    (side,) = manifest["sides"]
    assert (side["bound"], side["offload"]) == ({"buffer_bytes_at_least": None}, False)
    assert (tmp_path / "out" / "report.html").exists()


def test_06_a_page_that_fails_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("by a test")

    monkeypatch.setattr("sojourn.calibration.files.write_page", fail)
    path = edited(case("06") / "up.json", tmp_path / "up.json", unheld)
    done = command("calibrate", path, "--access", "pon", "--budget", "400", "--out", tmp_path / "out")
    assert done.status == 1
    assert "could not be made: ZeroDivisionError: by a test" in done.stderr
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["kind"] == "calibration"


# ---- 07: round trips of coarse clocks, and none ---------------------------------------------------


@pytest.mark.parametrize(
    ("name", "quality", "decided", "flag"),
    [
        ("plain", 100.0, "P99 24.1 ms", ""),
        ("windows-negative", 100.0, "P99 3.697 ms", "35 % of round trips are not above zero"),
        ("ten-percent-lost", 0.0, "10 % lost", ""),
        ("all-lost", 0.0, "nothing came back: 500 of 500 lost", ""),
    ],
)
def test_07_what_the_file_calls_lost_is_lost_and_no_more(name: str, quality: float, decided: str, flag: str) -> None:
    (game,) = (
        row
        for row in command("score", case("07") / f"{name}.json.gz", "--json").json()["scores"]
        if row["score"] == "QoO game"
    )
    assert (game["value"], game["decided_by"]) == (quality, decided)
    assert any(flag in one for one in game["flags"]) if flag else not any("zero" in one for one in game["flags"])


def test_07_a_trial_has_the_loss_of_each_file_and_its_blackouts() -> None:
    tests = import_files(case("07")).tests
    found = {row["file"].split(".")[0]: (round(row["loss"], 3), row["flags"]) for row in tests.to_dicts()}
    assert found == {
        "plain": (0.0, ""),
        "windows-negative": (0.0, "coarse-clock"),
        "ten-percent-lost": (0.1, ""),
        "all-lost": (1.0, "few-samples blackout"),
    }


@pytest.mark.parametrize("way", ["true", "true_up", "true_down"])
def test_07_an_echo_is_lost_on_any_way_and_its_time_is_not_looked_at(way: str, tmp_path: Path) -> None:
    def imported(took: int) -> pl.DataFrame:
        def lose(document: dict[str, Any]) -> None:
            for echo in document["round_trips"][::4]:
                echo["lost"], echo["delay"]["rtt"] = way, took

        place = tmp_path / str(took)
        place.mkdir()
        edited(case("07") / "windows-negative.json.gz", place / "lossy.json", lose)
        return import_files(place).tests

    found = imported(1)
    assert found["loss"].to_list() == [0.25]
    assert found.equals(imported(10**10))


def test_07_a_zero_of_a_table_is_refused_as_it_may_stand_for_a_loss(tmp_path: Path) -> None:
    done = scored(tmp_path, "time_s,rtt_ms\n0,20\n0.1,0\n")
    assert done.status == 2
    assert "trips.csv:3: a round trip of 0\n  hint: an empty cell if nothing came back" in done.stderr


# ---- 08, 09: configuration files ------------------------------------------------------------------


def test_08_text_of_the_docsis_tool_is_named_and_read(tmp_path: Path) -> None:
    line = case("08") / "line.cfg"
    for word in ("show", "decode", "expand"):
        done = command("provision", word, line)
        assert done.status == 2
        assert "is text of the docsis tool, and no binary file" in done.stderr
    out = tmp_path / "line.cm"
    assert command("provision", "encode", line, "--out", out).status == 0
    shown = command("provision", "show", out, "--json").json()["tlvs"]
    values = {one["path"]: one["value"] for one in shown}
    assert (values["24.8"], values["24.9"], values["25.8"]) == ("24000000", "90000", "260000000")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('Main { SnmpMibObject sysContact.0 String "us"; }', '"SnmpMibObject" of the docsis tool is not known here'),
        ("Main { NetworkAccess yes; }", '"yes" is no value of NetworkAccess'),
        ("/* by hand */\nMain {\n  UsServiceFlow { MaxRateSustained 5", '"5" where'),
    ],
)
def test_08_what_is_not_known_of_it_is_refused_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "line.cfg").write_text(text)
    done = command("provision", "encode", tmp_path / "line.cfg", "--out", tmp_path / "line.cm")
    assert done.status == 2
    assert said in done.stderr or "the text ends" in done.stderr
    assert not (tmp_path / "line.cm").exists()


def test_08_any_other_text_is_no_binary_file_either(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a letter\nand no file of a modem\n")
    done = command("provision", "decode", tmp_path / "notes.txt")
    assert (done.status, done.stdout) == (2, "")
    assert "is text, and no binary file" in done.stderr
    text = command("provision", "decode", case("09") / "zero.cm").stdout
    (tmp_path / "zero.toml").write_text(text)
    assert "is the text form of a configuration file" in command("provision", "show", tmp_path / "zero.toml").stderr


@pytest.mark.parametrize(("name", "classes"), [("zero.cm", ["gold-up", "gold-down"]), ("bare.cm", None)])
def test_09_names_behind_vendor_blocks_are_read_and_all_octets_come_back(name: str, classes: list[str] | None) -> None:
    path = case("09") / name
    shown = command("provision", "show", path, "--json").json()
    names = [one["value"].strip('"') for one in shown["tlvs"] if one["path"] in ("24.4", "25.4")]
    assert (names == classes) if classes else all(one.startswith("0x") for one in names)
    assert any(one["code"] == "W-LEN" for one in shown["issues"]) is (classes is None)
    assert encode(command("provision", "decode", path).stdout, seal=False).octets == path.read_bytes()


# ---- 10: captures ---------------------------------------------------------------------------------

CAPTURES = sorted(path.name for path in case("10").iterdir())

REFUSED = {"simple-blocks.pcapng.gz": "its packets have no times", "packed.pcap.gz": "gunzip it first"}
"""Captures that are told and not read."""


@pytest.mark.parametrize("name", CAPTURES)
def test_10_every_capture_has_both_ways_of_its_call_or_a_sentence(name: str, tmp_path: Path) -> None:
    path = case("10") / name if name == "packed.pcap.gz" else unpacked(case("10") / name, tmp_path)
    done = command("capture", "show", path, "--json")
    if name in REFUSED:
        assert done.status == 2
        assert REFUSED[name] in done.stderr
        return
    assert done.status == 0, done.stderr
    flows, caveats = done.json()["flows"], " ".join(done.json()["caveats"])
    assert ("The file ends within a packet" in caveats) is (name == "cut.pcap.gz")
    if name == "cut.pcap.gz":
        assert [flow["packets"] for flow in flows] == [69, 68]
        return
    if name == "tso-zero-length.pcap.gz":
        assert sum(flow["packets"] for flow in flows) == 300
        return
    assert [(flow["packets"], flow["bytes"]) for flow in flows] == [(150, 28200)] * 2
    assert ("Its clock was set back once, by up to 1.99 s" in caveats) is (name == "clock-step.pcap.gz")


def classic(path: Path) -> bytes:
    """Return a packed capture as it was written."""
    return gzip.decompress(path.read_bytes())


def test_10_a_third_section_and_one_of_another_interface_are_as_they_say(tmp_path: Path) -> None:
    one = classic(case("10") / "two-sections.pcapng.gz")
    half = one.index(b"\x0a\x0d\x0d\x0a", 4)
    (tmp_path / "three.pcapng").write_bytes(one + one[half:])
    flows = command("capture", "show", tmp_path / "three.pcapng", "--json").json()["flows"]
    assert [flow["packets"] for flow in flows] == [225, 225]


def test_10_a_clock_that_is_set_back_twice_is_told_and_reordering_is_not(tmp_path: Path) -> None:
    one = classic(case("10") / "link1.pcap.gz")
    (tmp_path / "thrice.pcap").write_bytes(one + one[24:] + one[24:])
    assert "Its clock was set back 2 times" in command("capture", "show", tmp_path / "thrice.pcap").stderr
    assert "clock" not in command("capture", "show", unpacked(case("10") / "link1.pcap.gz", tmp_path)).stderr


# ---- 12, 20: traces -------------------------------------------------------------------------------

SHOWN = {
    "all-zero.trace": "all opportunities are at 0 ms",
    "decreasing.trace": "decreasing.trace:3: time runs back",
    "empty.trace": "has no opportunity",
    "float-ms.trace": "float-ms.trace:1: '0.5' is no whole number",
    "huge-ts.trace": "huge-ts.trace:2:",
    "pensieve-sim.trace": "two numbers in a line, as Pensieve and others write times",
}
"""Traces that are refused, and why; the others are shown."""


@pytest.mark.parametrize("name", sorted(path.name for path in case("12").iterdir()))
def test_12_a_trace_is_shown_or_refused_with_its_line(name: str) -> None:
    done = command("trace", "show", case("12") / name)
    assert (done.status == 2 and SHOWN[name] in done.stderr) if name in SHOWN else done.status == 0, done.stderr


@pytest.mark.parametrize(("text", "said"), [("5 6 7\n", "'5 6 7' is no whole"), ("1,2\n", "'1,2' is no whole")])
def test_12_other_tables_are_no_traces(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "other.trace").write_text(text)
    assert said in command("trace", "show", tmp_path / "other.trace").stderr


@pytest.mark.parametrize("name", ["12mbps.trace", "1050ms.trace", "3050ms.trace"])
@pytest.mark.parametrize("step", ["200ms", "70ms"])
def test_20_a_constant_line_has_one_rate_in_every_row(name: str, step: str, tmp_path: Path) -> None:
    out = tmp_path / "line.csv"
    assert command("trace", "convert", case("20") / name, "--out", out, "--step", step).status == 0
    rows = pl.read_csv(out, comment_prefix="#")["rate_mbps"].to_list()
    # One opportunity of 1504 B a ms; a step has a whole number of them, as near as one.
    assert rows == pytest.approx([12.032] * len(rows), rel=1 / 70)
    shown = command("trace", "show", case("20") / name, out, "--json").json()["traces"]
    assert [round(one["mean_mbps"], 1) for one in shown] == [12.0, 12.0]


# ---- 16, 18: hosts behind CAKE, and a pause --------------------------------------------------------


def numbers(text: str, seed: int = 1) -> dict[tuple[str, str], float]:
    """Return the metrics of one run."""
    return {(row[0], row[1]): row[2] for row in sojourn.run(Scenario.parse(text), seed=seed).metrics.rows()}


@pytest.mark.parametrize(
    ("hosts", "least", "most"), [("triple", 1.0, 1.4), ("dual-dsthost", 1.0, 1.4), ("flows", 7.0, 9.0)]
)
def test_16_hosts_share_alike_and_flows_only_if_they_are_asked_for(hosts: str, least: float, most: float) -> None:
    text = (case("16") / "line.toml").read_text().replace('"triple"', f'"{hosts}"').replace('"30 s"', '"15 s"')
    found = numbers(text)
    assert least < found["idm", "goodput_downstream"] / found["video", "goodput_downstream"] < most


def test_16_the_far_side_alone_is_refused_with_the_word_that_is_meant(tmp_path: Path) -> None:
    text = (case("16") / "line.toml").read_text().replace('"triple"', '"dual-srchost"')
    (tmp_path / "line.toml").write_text(text)
    done = command("check", tmp_path / "line.toml")
    assert done.status == 2
    assert "dual-dsthost: downstream the hosts of the home receive" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("cobalt", "least", "most"), [("", 0.88, 0.95), (', target = "10 ms", interval = "2 s"', 0.97, 1.01)]
)
def test_16_a_host_of_one_flow_gets_less_only_while_its_queue_is_empty(cobalt: str, least: float, most: float) -> None:
    """Five, one and two CUBIC flows behind 30 Mb/s: 9.98, 9.16, 9.79 Mb/s; 9.7, 9.6, 9.6 where COBALT lets more wait."""
    text = "".join(
        f'[[traffic]]\nname = "{name}"\nhost = "{name}"\nstack = "linux-cubic"\nrtt = "30 ms"\n'
        f'app = {{ kind = "bulk", direction = "downstream", lanes = {flows}, start_jitter = "1 s" }}\n'
        for name, flows in (("five", 5), ("one", 1), ("two", 2))
    )
    line = (case("16") / "line.toml").read_text().split("[[traffic]]")[0]
    line = line.replace("100 Mb/s", "30 Mb/s").replace('"triple"', f'"triple"{cobalt}') + '[measure]\nfrom = "10 s"\n'
    found = numbers(line + text)
    shares = [found[name, "goodput_downstream"] for name in ("five", "one", "two")]
    assert least <= shares[1] / shares[0] <= most
    assert sum(shares) == pytest.approx(28.95, abs=0.1)  # what one leaves the others take


@pytest.mark.parametrize("app", ['{ kind = "bulk" }', '{ kind = "voice" }', '{ kind = "bulk", lanes = 4 }'])
def test_18_what_is_paused_sends_nothing_from_second_to_second(app: str) -> None:
    text = (case("18") / "line.toml").read_text().replace('{ kind = "bulk" }', app)
    if "voice" in app:
        text = text.replace('stack = { kind = "linux-cubic", idle_restart = "none" }\n', "")
    text = text.replace("[record]", '[record]\nseries = "1 s"')
    sent = (
        sojourn.run(Scenario.parse(text))
        .tables["traffic_series"]
        .filter(pl.col("link") == "upstream")
        .group_by("start_ns")
        .agg(pl.col("forwarded_bytes").sum())
        .sort("start_ns")["forwarded_bytes"]
        .to_list()
    )
    assert len(sent) == 100
    # A window may be under way when the pause begins.
    assert min(sent[2:19]) > 0
    assert max(sent[21:80]) == 0
    assert min(sent[81:]) > 0


# ---- 28: sizes that the outer table does not tell -------------------------------------------------


def test_28_a_column_of_lists_is_refused_before_it_is_unpacked() -> None:
    done = command("trial", "analyse", case("28"))
    assert done.status == 1
    assert "holds lists, and no table of Sojourn does" in done.stderr


# ---- 03: tables -----------------------------------------------------------------------------------


def scored(tmp_path: Path, text: str) -> Finished:
    """Return what `score` says of a table of round trips."""
    (tmp_path / "trips.csv").write_text(text)
    return command("score", tmp_path / "trips.csv", "--json")


def test_03_semicolons_tabs_and_decimal_commas_are_read_as_what_they_are(tmp_path: Path) -> None:
    rows = [(f"{number / 10:.1f}", f"{20 + number % 7}.5") for number in range(100)]
    plain = scored(tmp_path, "time_s,rtt_ms\n" + "".join(f"{at},{took}\n" for at, took in rows))
    assert plain.status == 0, plain.stderr
    for separator in ";\t":
        table = "".join(f"{at}{separator}{took}\n" for at, took in rows).replace(".", ",")
        assert scored(tmp_path, f"time_s{separator}rtt_ms\n{table}").stdout == plain.stdout


@pytest.mark.parametrize("cell", ["-1", "NaN", "nan"])
def test_03_a_number_that_stands_for_none_is_named(cell: str, tmp_path: Path) -> None:
    done = scored(tmp_path, f"time_s,rtt_ms\n0,20\n0.1,{cell}\n")
    assert done.status == 2
    assert f"trips.csv:3: {cell!r} is no number from 0: some programs write it where none is known" in done.stderr
