"""Captures of packets: judged, sent again in scenarios, and written by runs for other programs."""

import json
import re
import shutil
import struct
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sojourn.base.errors import UsageError
from sojourn.captures.packets import choose, read_capture
from sojourn.scenario.settings import apply_settings
from support import CommandLine

Packet = tuple[int, int, int, int]
"""Time in ns, IP length, DSCP, ECN field."""

CALL: list[Packet] = [(20_000_000 * number, 200, 45, 0) for number in range(500)]
"""V-10 of the specification: 200 B each 20 ms."""

VIDEO: list[Packet] = [(33_333_333 * number, 1200, 0, 0) for number in range(120) for _ in range(5)]
"""V-12: five packets of 1200 B a frame."""

SCENARIO = """
schema = 1
name = "sent-again"
duration = "12 s"

[access.upstream]
link = { kind = "serial", rate = "5 Mb/s" }
queue = { kind = "codel", limit = "60 packets" }

[access.downstream]
link = { kind = "serial", rate = "50 Mb/s" }
queue = { kind = "fq-codel" }

[[traffic]]
name = "call"
app = { kind = "capture", packets = "0 200 45" }
rtt = "40 ms"
"""

BULK = """
[[traffic]]
name = "bulk"
app = { kind = "bulk", file = "200 kB", period = "2 s" }
stack = { kind = "linux-cubic", ecn = "classic" }
rtt = "40 ms"
"""


def header(length: int, dscp: int, ecn: int, *, port: int) -> bytes:
    """Return IP and UDP header of a datagram from 192.168.0.2."""
    first = struct.pack(">BBHHHBBH", 0x45, dscp << 2 | ecn, length, 0, 0x4000, 64, 17, 0)
    addresses = bytes([192, 168, 0, 2, 203, 0, 113, 7])
    return first + addresses + struct.pack(">HHHH", 5000, port, length - 20, 0)


def write_pcap(path: Path, packets: list[Packet], port: int = 3478) -> Path:
    """Write a capture of classic form with nanoseconds and no link layer."""
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 96, 101)]
    for at, length, dscp, ecn in packets:
        kept = header(length, dscp, ecn, port=port)
        parts += [struct.pack("<IIII", at // 10**9, at % 10**9, len(kept), length), kept]
    path.write_bytes(b"".join(parts))
    return path


def packets_of(path: Path, interface: str = "", protocol: str = "udp") -> list[Packet]:
    """Return the packets of the first flow at an interface, from its first on."""
    capture = read_capture(path)
    flows = [flow for flow in capture.flows if flow.interface == interface and flow.protocol == protocol]
    text = capture.content.extract(flows[0].place, False, "\n")
    found: list[Packet] = []
    at, rest = 0, (0, 0, 0)
    for line in text.splitlines():
        words = line.split()
        at = int(words[0][1:]) + at if words[0].startswith("+") else int(words[0])
        length, dscp, ecn = (*(int(word) for word in words[1:]), *rest[len(words) - 1 :])
        rest = (length, dscp, ecn)
        found.append((at, length, dscp, ecn))
    return found


def judged(sojourn: CommandLine, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Run the command with short tables; return its status and its object."""
    done = sojourn("check-nqb", *arguments, "--json")
    return done.status, json.loads(done.stdout)


def verdicts(answer: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return verdict and finding of each row of the only flow."""
    (flow,) = answer["flows"]
    return {row["id"]: (row["verdict"], row["found"]) for row in flow["rows"]}


def test_a_call_may_be_marked_and_is_not_thrown_out(sojourn: CommandLine, tmp_path: Path) -> None:
    path = write_pcap(tmp_path / "call.pcap", CALL)
    status, answer = judged(sojourn, str(path), "--load", "quiet", "--out", str(tmp_path / "out"))
    (flow,) = answer["flows"]
    assert (status, flow["may_be_marked"]) == (0, True)
    # (500 x 200 - 1500) B in 9.98 s are 78,958 b/s, 1 % of 7.896 Mb/s.
    assert flow["least_capacity_bps"] == 7_895_800
    assert verdicts(answer)["N1"] == ("pass", "at most 200 B")
    assert verdicts(answer)["Q1"][0] == "pass"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert answer["headline"] in page
    assert "192.168.0.2" not in page


def test_a_video_may_not_be_marked_and_is_not_thrown_out_either(sojourn: CommandLine, tmp_path: Path) -> None:
    path = write_pcap(tmp_path / "video.pcap", VIDEO)
    status, answer = judged(sojourn, str(path), "--load", "quiet")
    rows = verdicts(answer)
    assert status == 1
    # 600 packets of 1200 B in 119 gaps of 33.3 ms, less what 500 kb/s sends meanwhile.
    assert rows["N1"][1].startswith("472,084 B within 3966.667 ms")
    assert (rows["N2"][1], rows["N3"][0]) == ("never: more than 1500 B come at once", "pass")
    assert rows["Q1"][0] == "pass"
    assert "yet Queue Protection throws none of its 600 packets out" in answer["headline"]
    bursts = {one["bps"] // 10**6: one["burst"] for one in answer["flows"][0]["rates"]}
    # V-9: the last of packets of 1200 B at once that is not moved.
    assert [bursts[mbps] for mbps in (10, 20, 50, 200)] == [4, 4, 5, 20]


def test_what_breaks_the_rule_and_is_marked_all_the_same_fails_for_that(sojourn: CommandLine, tmp_path: Path) -> None:
    marked = [(at, length, 45, 1) for at, length, _, _ in VIDEO]
    path = write_pcap(tmp_path / "marked.pcap", marked)
    status, answer = judged(sojourn, str(path), "--profile", "none")
    rows = verdicts(answer)
    assert (status, rows["N3"][0], rows["N4"][0]) == (1, "fail", "warning")
    assert "Q1" not in rows


def test_a_capture_sent_in_a_scenario_and_captured_again_is_the_same_with_the_same_verdict(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    packets = [(at, 200 + number % 7, 45 if number % 3 else 0, number % 2) for number, (at, *_) in enumerate(CALL)]
    path = write_pcap(tmp_path / "call.pcap", packets)
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO + BULK, encoding="utf-8")
    done = sojourn("run", str(scenario), "--set", f"traffic.call.app.packets=@{path}", "--pcap", str(tmp_path / "pcap"))
    assert done.status == 0, done.stderr
    written = tmp_path / "pcap" / "access-subscriber.pcapng"
    assert packets_of(written, "upstream-entered") == packets
    own = judged(sojourn, str(path), "--load", "quiet")
    again = judged(sojourn, str(written), "--flow", "udp and interface upstream-entered", "--load", "quiet")
    assert own[0] == again[0]
    assert verdicts(own[1]) == verdicts(again[1])
    # Behind the queue times are others, and packets are missing if it drops some.
    assert packets_of(tmp_path / "pcap" / "access-network.pcapng", "upstream-left") != packets


def test_a_list_that_was_extracted_gives_the_run_of_the_capture(sojourn: CommandLine, tmp_path: Path) -> None:
    path = write_pcap(tmp_path / "call.pcap", CALL[:150])
    listed = tmp_path / "call.sjc"
    assert sojourn("capture", "extract", str(path), "--out", str(listed)).status == 0
    texts = [apply_settings(SCENARIO, [f"traffic.call.app.packets=@{file}"]) for file in (path, listed)]
    assert texts[0] == texts[1]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_what_a_run_writes_without_a_warning(sojourn: CommandLine, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO + BULK, encoding="utf-8")
    path = write_pcap(tmp_path / "call.pcap", CALL)
    settings = ["--set", f"traffic.call.app.packets=@{path}"]
    for form, out in (("pcapng", tmp_path / "a"), ("classic", tmp_path / "b")):
        done = sojourn("run", str(scenario), *settings, "--pcap", str(out), "--pcap-format", form)
        assert done.status == 0, done.stderr
    checks = [f"{protocol}.check_checksum:TRUE" for protocol in ("ip", "tcp", "udp")]
    options = [word for check in checks for word in ("-o", check)]
    files = [*(tmp_path / "a").iterdir(), *(tmp_path / "b").iterdir()]
    assert len(files) == 2 + 4
    for file in files:
        command = ["tshark", *options, "-r", str(file), "-q", "-z", "expert"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        told = [line for line in done.stderr.splitlines() if "Running as user" not in line]
        assert told == []
        assert "Errors" not in done.stdout
        assert "hecksum" not in done.stdout
        assert "alformed" not in done.stdout
    # Each dropped packet has its reason.
    fields = ["-T", "fields", "-e", "frame.comment", "-Y", "frame.comment"]
    command = ["tshark", "-r", str(tmp_path / "a" / "access-subscriber.pcapng"), *fields]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    comments = done.stdout.splitlines()
    assert comments
    assert all(comment.startswith("dropped: target, after ") for comment in comments)


QLOG = Path(__file__).parent / "support" / "qlog"
"""The schema of qlog, as its drafts have it."""


OWN_EVENTS = Path(__file__).parents[1] / "docs/reference/qlog.md"
"""The schema of events of our own."""


def rule_of(event: str) -> str:
    """Return the rule for the data of an event: `QUICPacketSent` for `quic:packet_sent`."""
    schema, _, name = event.partition(":")
    of = {"quic": "QUIC", "sojourn": "Sojourn"}[schema]
    return of + name.title().replace("_", "").replace("Ecn", "ECN")


def test_a_qlog_validates_against_its_schema(sojourn: CommandLine, tmp_path: Path) -> None:
    cddl_verifier = pytest.importorskip("cddl_verifier", reason="no validator of CDDL")
    schema = "".join((QLOG / f"{name}.cddl").read_text() for name in ("main-schema", "quic-events"))
    (ours,) = re.findall(r"```cddl\n(.*?)```", OWN_EVENTS.read_text(), re.DOTALL)
    schema += ours
    # A number of JSON has no width (RFC 8610, appendix E).
    validator = cddl_verifier.Validator(schema.replace("float32", "float64"))
    scenario = tmp_path / "scenario.toml"
    marks = SCENARIO.replace('limit = "60 packets"', 'limit = "20 packets", ecn = true')
    scenario.write_text(marks + BULK, encoding="utf-8")
    done = sojourn("run", str(scenario), "--qlog", str(tmp_path / "qlog"))
    assert done.status == 0, done.stderr
    # Records that differ in digits alone are asked once: hundreds of each kind are alike.
    records: dict[tuple[bool, str], dict[str, Any]] = {}
    for file in (tmp_path / "qlog").iterdir():
        for place, text in enumerate(file.read_text().split("\x1e")[1:]):
            records.setdefault((place == 0, re.sub(r"\d+", "0", text)), json.loads(text))

    def told(value: object, rule: str) -> list[str]:
        return [one.message for one in validator.validate(value, root_type=rule).diagnostics]

    for (is_first, _), record in records.items():
        assert told(record, "QlogFileSeq" if is_first else "Event") == []
        if not is_first:
            assert told(record["data"], rule_of(record["name"])) == []
    names = {record["name"] for (is_first, _), record in records.items() if not is_first}
    assert {"quic:packet_sent", "quic:packet_received", "quic:recovery_metrics_updated"} < names
    assert {"sojourn:queued", "sojourn:marked", "sojourn:dropped", "quic:ecn_state_updated"} < names
    # The validator finds what is wrong.
    for event, data in (
        ("quic:packet_sent", {"header": {"packet_type": "1RTT", "packet_number": -1}}),
        ("quic:packet_sent", {"header": {"packet_type": "1rtt"}}),
        ("quic:packet_lost", {"frames": [{"frame_type": "strem", "stream_id": 0}]}),
        ("quic:recovery_metrics_updated", {"congestion_windows": 1}),
        ("sojourn:marked", {"packet_number": 1, "link": "upstream"}),
    ):
        assert told(data, rule_of(event)) != []


def test_a_qlog_ascends_and_acknowledges_what_was_sent(sojourn: CommandLine, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO + BULK, encoding="utf-8")
    done = sojourn("run", str(scenario), "--qlog", str(tmp_path / "qlog"))
    assert done.status == 0, done.stderr
    files = sorted((tmp_path / "qlog").iterdir())
    assert len(files) == 2 * 6
    for file in files:
        raw = file.read_bytes()
        assert all(word in raw[:256] for word in (b"file_schema", b"serialization_format"))
        records = [json.loads(record) for record in raw.split(b"\x1e")[1:]]
        assert all(record.endswith(b"\n") for record in raw.split(b"\x1e")[1:])
        first, events = records[0], records[1:]
        assert first["file_schema"] == "urn:ietf:params:qlog:file:sequential"
        assert first["serialization_format"] == "application/qlog+json-seq"
        assert first["trace"]["event_schemas"] == ["urn:ietf:params:qlog:events:quic-07", "tag:sojourn,2026:qlog:1"]
        assert first["trace"]["common_fields"]["reference_time"] == {"clock_type": "monotonic", "epoch": "unknown"}
        assert all(one["time"] <= next_one["time"] for one, next_one in pairwise(events))
        sent, acknowledged = 0, 0
        for event in events:
            assert set(event) == {"time", "name", "data"}
            for frame in event["data"].get("frames", []):
                for first_and_last in frame.get("acked_ranges", []):
                    assert 0 <= first_and_last[0] <= first_and_last[-1] < sent
                    acknowledged += first_and_last[-1] - first_and_last[0] + 1
            if event["name"] == "quic:packet_sent":
                assert event["data"]["header"] == {"packet_type": "1RTT", "packet_number": sent}
                sent += 1
        if file.name.endswith("client.sqlog"):
            # 200 kB are 139 segments; each is acknowledged once, whichever transmission arrived.
            assert acknowledged >= 138


def test_captures_that_cannot_be_are_refused_in_a_sentence(sojourn: CommandLine, tmp_path: Path) -> None:
    whole = write_pcap(tmp_path / "call.pcap", CALL[:3]).read_bytes()
    for name, content, words in (
        ("empty", b"", "is empty"),
        ("text", b"hello world, this is no capture", "is no packet capture"),
        ("gz", b"\x1f\x8b\x08\x00aaaa", "is no packet capture"),
        ("header", whole[:20], "ends within its first header"),
        ("huge", whole[:32] + b"\xff" * 8 + whole[40:], "byte 24: a packet of 4294967295 B"),
        ("few", whole, "no flow has more than 100 packets"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        done = sojourn("check-nqb", str(path))
        assert done.status == 2
        first = done.stderr.splitlines()[0]
        assert first.startswith("error: ")
        assert words in first, name
    for length in range(len(whole)):
        path = tmp_path / "cut"
        path.write_bytes(whole[:length])
        if length < 24:
            with pytest.raises(UsageError):
                read_capture(path)
        else:
            # Of a packet that is cut off the caveat tells; between two nothing can.
            assert bool(read_capture(path).caveats) == ((length - 24) % 44 > 0)


def test_filters_name_flows_by_number_or_words(tmp_path: Path) -> None:
    path = write_pcap(tmp_path / "call.pcap", CALL[:120])
    capture = read_capture(path)
    for wanted in ("1", "udp", "udp and port 3478", "host 192.168.0.2 port 5000"):
        assert [flow.packets for flow in choose(capture, wanted)] == [120]
    for wanted in ("2", "tcp", "port 1", "nonsense", "port"):
        with pytest.raises(UsageError):
            choose(capture, wanted)


def test_two_wishes_that_exclude_one_another_are_told(sojourn: CommandLine, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    done = sojourn("run", str(scenario), "--pcap", str(tmp_path / "a"), "--out", str(tmp_path / "b"))
    assert done.status == 2
    assert "--pcap and --out" in done.stderr
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "mine").write_text("x", encoding="utf-8")
    done = sojourn("run", str(scenario), "--qlog", str(tmp_path / "c"))
    assert done.status == 2
