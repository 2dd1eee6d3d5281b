"""`sojourn emulate` with real packets: rates, delays, marks, ends, and what is left behind."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w

from support.emulation import Rootless

TIMING = os.environ.get("SOJOURN_EMULATION_TIMING") == "1"
"""True if this machine promises to be quiet: else figures are shown and not judged."""

SINK = """
import socket, sys
server = socket.create_server(("", 5000), family=socket.AF_INET6, dualstack_ipv6=True)
while True:
    peer, _ = server.accept()
    while peer.recv(1 << 16):
        pass
"""
"""The far end: takes what comes."""

SEND = """
import socket, sys, time
to, seconds = sys.argv[1], float(sys.argv[2])
peer = socket.create_connection((to, 5000), 5)
end = time.monotonic() + seconds
while time.monotonic() < end:
    peer.sendall(bytes(1 << 16))
"""
"""The inside: sends as fast as it may."""

ECHO = """
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("", 5001))
while True:
    text, peer = server.recvfrom(2000)
    server.sendto(text, peer)
"""

PING = """
import json, socket, statistics, sys, time
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.connect((sys.argv[1], int(sys.argv[2])))
peer.settimeout(2)
took = []
for _ in range(int(sys.argv[3])):
    began = time.monotonic()
    peer.send(b"x" * 100)
    peer.recv(2000)
    took.append(time.monotonic() - began)
    time.sleep(0.01)
print(json.dumps(statistics.median(took) * 1e3))
"""


def scenario(place: Path, mbps: float, rtt: str = "20 ms", queue: dict[str, Any] | None = None) -> None:
    """Write `line.toml`: a plain line that is as fast both ways."""
    side = {
        "link": {"kind": "serial", "rate": f"{mbps:g} Mb/s"},
        "queue": queue or {"kind": "drop-tail", "limit": "100 ms"},
    }
    content = {
        "schema": 1,
        "name": "line",
        "duration": "10 s",
        "access": {"upstream": side, "downstream": side},
        "traffic": [{"name": "call", "app": {"kind": "voice"}, "rtt": rtt}],
    }
    (place / "line.toml").write_text(tomli_w.dumps(content), encoding="utf-8")
    for name, text in (("sink", SINK), ("send", SEND), ("echo", ECHO), ("ping", PING)):
        (place / f"{name}.py").write_text(text, encoding="utf-8")


def python(program: str, *words: str) -> list[str]:
    """Return a command that runs one of the programs above."""
    return [sys.executable, program, *words]


def far(program: str) -> list[str]:
    """Return the option that runs one of them beside the far end."""
    return ["--far", f"exec {sys.executable} {program}"]


def host_state() -> bytes:
    """Return what of the host's network an emulation must not touch, byte for byte."""
    asked = (["ip", "link"], ["ip", "address"], ["ip", "route", "show", "table", "all"])
    asked += (["ip", "rule"], ["ip", "-6", "rule"], ["tc", "qdisc"])
    said = [subprocess.run(words, capture_output=True, check=False).stdout for words in asked]
    # Lifetimes of addresses run down by themselves.
    return b"".join(said) + Path("/etc/resolv.conf").read_bytes()


def descendants(marker: str) -> list[int]:
    """Return processes whose environment holds a word."""
    found: list[int] = []
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdigit() and marker.encode() in (place / "environ").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue
    return found


def test_an_idle_link_takes_the_time_that_it_is_told_to(rootless: Rootless) -> None:
    scenario(rootless.place, 50, rtt="30 ms")
    done = rootless(
        *("line.toml", "--isolated", *far("echo.py"), "--"), *python("ping.py", "100.64.0.1", "5001", "100")
    )
    assert done.returncode == 0, done.stderr
    median = json.loads(done.stdout)
    print("idle round trip", median, "ms; load", os.getloadavg()[0])
    assert 30.0 <= median <= (31.0 if TIMING else 35.0)
    assert "trust: " in done.stderr


@pytest.mark.parametrize("mbps", [5, 50])
def test_a_saturated_link_is_as_fast_as_it_is_told_to_be(rootless: Rootless, mbps: int) -> None:
    scenario(rootless.place, mbps)
    done = rootless(
        *("line.toml", "--isolated", "--json", "--record", "out", *far("sink.py"), "--"),
        *python("send.py", "100.64.0.1", "5"),
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    series = pl.read_parquet(rootless.place / "out" / "series.parquet")
    start = pl.col("start_ns")
    middle = series.filter((pl.col("link") == "upstream") & (start >= 15e8) & (start < 45e8))
    rate = int(middle["forwarded_bytes"].sum()) * 8e3 / int(middle["width_ns"].sum())
    print(f"{rate:.4f} of {mbps} Mb/s;", done.stderr.splitlines()[-1], os.getloadavg()[0])
    if TIMING:
        assert rate == pytest.approx(mbps, rel=0.005)
        assert said["grade"] == "good"
    assert rate <= mbps * 1.001
    assert said["hidden_losses"] == 0
    assert (rootless.place / "out" / "report.html").exists()
    manifest = json.loads((rootless.place / "out" / "manifest.json").read_text())
    assert manifest["kind"] == "emulation"
    assert manifest["emulation"]["grade"] == said["grade"]
    report = (rootless.place / "out" / "report.html").read_text()
    assert "of real packets through the emulated link" in report
    assert manifest["emulation"]["trust"].capitalize()[:12] in report


@pytest.mark.parametrize("address", ["100.64.0.1", "fd73:6f6a::1"])
def test_marks_arrive_and_nothing_is_dropped_or_sent_again(rootless: Rootless, address: str) -> None:
    if ":" in address and not Path("/proc/net/if_inet6").exists():
        pytest.skip("this kernel has no IPv6")
    scenario(rootless.place, 10, queue={"kind": "codel", "profile": "rfc8289", "ecn": True})
    count = (
        "import subprocess, sys; subprocess.run([sys.executable, 'send.py', sys.argv[1], '4'], check=True); "
        "rows = [line.split() for line in open('/proc/net/netstat')]; "
        "seen = dict(zip(rows[0], rows[1])); "
        "print(seen['TCPDeliveredCE'])"
    )
    done = rootless(
        *("line.toml", "--isolated", "--ecn", "on", "--tcp", "reno", "--record", "out"),
        *(*far("sink.py"), "--", sys.executable, "-c", count, address),
    )
    assert done.returncode == 0, done.stderr
    series = pl.read_parquet(rootless.place / "out" / "series.parquet")
    up = series.filter(pl.col("link") == "upstream")
    assert up["marked_packets"].sum() > 0
    assert up["dropped_packets"].sum() == 0
    assert int(done.stdout) > 0, "the sender was told of marks"


def test_a_stopped_program_is_one_stall(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    process = rootless.start("line.toml", "--isolated", "--json", "--", "sleep", "2")
    time.sleep(1.2)  # `unshare` has become the program
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.4)
    process.send_signal(signal.SIGCONT)
    said, words = process.communicate(timeout=30)
    gaps = [gap for _, gap in json.loads(said)["stalls"]]
    assert any(gap > 3e8 for gap in gaps), words


def test_nothing_is_left_after_a_kill_at_any_moment(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    before = host_state()
    draw = random.Random(1)
    marker = f"SOJOURN_TEST_{os.getpid()}"
    os.environ["SOJOURN_TEST_MARKER"] = marker
    # A grandchild that ignores every signal that can be ignored.
    stubborn = "trap '' TERM HUP INT; (trap '' TERM HUP INT; sleep 60) & sleep 60"
    for _ in range(20):
        process = rootless.start("line.toml", "--", "sh", "-c", stubborn)
        time.sleep(draw.uniform(0.0, 1.2))
        process.kill()
        process.wait(10)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        until = time.monotonic() + 5
        while set(descendants(marker)) - {os.getpid()} and time.monotonic() < until:
            time.sleep(0.02)
        assert set(descendants(marker)) - {os.getpid()} == set()
    assert host_state() == before


def test_the_host_is_the_same_after_an_emulation(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    before = host_state()
    done = rootless("line.toml", "--", "true")
    assert done.returncode == 0, done.stderr
    assert host_state() == before


def test_the_status_of_the_command_is_told(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    done = rootless("line.toml", "--isolated", "--json", "--", "sh", "-c", "echo out; exit 7")
    assert done.returncode == 1
    said = json.loads(done.stdout)
    assert (said["status"], said["ended"]) == (7, "command")
    assert "status 7" in done.stderr
    assert "out" in done.stderr.splitlines()


def test_it_ends_when_its_time_is_over(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    began = time.monotonic()
    done = rootless("line.toml", "--isolated", "--for", "1s", "--json", "--", "sleep", "30")
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < 15
    assert json.loads(done.stdout)["ended"] == "time"


def test_the_command_is_the_user_and_not_root(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    asked = "id -u; grep CapEff /proc/self/status; cat /etc/resolv.conf; ls /sys/class/net"
    done = rootless("line.toml", "--", "sh", "-c", asked)
    expected = os.getuid() or 1000
    assert done.stdout.split() == [*(str(expected), "CapEff:", "0" * 16, "nameserver", "100.64.0.1", "lo", "sub0")]


def test_the_command_of_root_has_no_capability(rootless: Rootless) -> None:
    if os.getuid() != 0:
        pytest.skip("an emulation of root's own, and the tests do not run as root")
    scenario(rootless.place, 5)
    for words in (["line.toml", "--isolated", "--"], ["line.toml", "--"]):
        done = rootless(*words, "sh", "-c", "id -u; grep ^Cap /proc/self/status", as_we_are=True)
        assert done.returncode == 0, done.stderr
        sets = ("CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:")
        assert done.stdout.split() == ["0", *(word for name in sets for word in (name, "0" * 16))]


def test_the_command_gets_words_that_are_no_text_as_they_are(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    odd = os.fsdecode(b"x\xff")
    words = ("line.toml", "--isolated", "--record", odd, "--pcap", f"p{odd}", "--", "sh", "-c", 'printf %s "$1" > got')
    done = rootless(*words, "sh", odd)
    assert done.returncode == 0, done.stderr
    assert (rootless.place / "got").read_bytes() == b"x\xff"
    assert (rootless.place / odd / "report.html").is_file()
    assert len(list((rootless.place / f"p{odd}").iterdir())) == 4


def test_what_is_recorded_has_its_name_when_it_is_whole_whenever_the_emulation_is_killed(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    words = ("line.toml", "--isolated", "--for", "300ms", "--record", "record", "--pcap", "captures")
    draw = random.Random(55)
    before = {one.name for one in rootless.place.iterdir()}
    whole = ("record", "captures")
    began = time.monotonic()
    assert rootless(*words, "--", "sleep", "5").returncode == 0
    took = time.monotonic() - began
    kills = 0
    for _ in range(10):
        for name in whole:
            shutil.rmtree(rootless.place / name, ignore_errors=True)
        process = rootless.start(*words, "--", "sleep", "5")
        time.sleep(draw.uniform(0.1, 1.0) * took)
        kills += process.poll() is None
        process.kill()
        process.communicate(timeout=10)
        for name in whole:
            assert not (rootless.place / f"{name}.partial").exists()
            place = rootless.place / name
            if place.exists() and name == "record":
                assert (place / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
            elif place.exists():
                assert len(list(place.iterdir())) == 4
                assert all(
                    one.stat().st_size >= 24 for one in place.iterdir()
                )  # the header of a whole file (pcap-savefile(5))
    assert kills >= 4
    for name in whole:
        shutil.rmtree(rootless.place / name, ignore_errors=True)
    assert rootless(*words, "--", "sleep", "5").returncode == 0
    assert {one.name for one in rootless.place.iterdir()} == {*before, *whole}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["line.toml", "--", "no-such-command"], "there is no command no-such-command"),
        (["absent.toml", "--", "true"], "absent.toml"),
        (["line.toml", "--tcp", "nonesuch", "--", "true"], "no such congestion controller"),
        (["line.toml", "--for", "soon", "--", "true"], "no length of time"),
        (["line.toml", "--for", "0s", "--", "true"], "no time is left to emulate"),
        (["line.toml", "--rtt", "3s", "--", "true"], "a base round trip of 3 s cannot be emulated"),
        (["line.toml", "--set", "emulate.mtu=9001B", "--", "true"], "emulate.mtu: 9001 B is out"),
        (
            ["line.toml", "--set", "access.upstream.queue.limit=3000000 packets", "--", "true"],
            "and there is room for 178956",
        ),
        (["line.toml", "--record", ".", "--", "true"], "name a new directory with --record"),
        (["line.toml", "--take", "--", "true"], "--take is for --between"),
        (["--watch", "1"], "process 1 is no emulation of yours"),
        (["--join", "1", "--", "true"], "process 1 is no emulation of yours"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(rootless: Rootless, words: list[str], sentence: str) -> None:
    scenario(rootless.place, 5)
    done = rootless(*words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


TERMINAL = """
import os, pty, sys, time
process, terminal = pty.fork()
if process == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
while b"priority: " not in seen:
    seen += os.read(terminal, 1000)
time.sleep(1)
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"""
"""A terminal that closes while the emulation runs in it."""


def test_a_terminal_that_closes_ends_it_and_the_records_are_whole(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    words = ["line.toml", "--isolated", "--record", "out", "--", "sleep", "600"]
    done = subprocess.run(
        [sys.executable, "-c", TERMINAL, *rootless.command(*words)],
        cwd=rootless.place,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip() == "3", done.stderr
    assert (rootless.place / "out" / "report.html").exists()


def test_another_command_joins_and_another_terminal_watches(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    # As ourselves: each user that the tests make is a stranger to the others.
    process = rootless.start("line.toml", "--isolated", "--", "sleep", "6", as_we_are=True)
    assert process.stderr is not None
    first = process.stderr.readline()
    number = first.rsplit(" ", 1)[1].strip()
    time.sleep(1)
    watched = rootless.start("--watch", number, as_we_are=True)
    asked = ["sh", "-c", "ls /sys/class/net; exit 5"]
    joined = rootless("--join", number, "--", *asked, as_we_are=True)
    stranger = rootless("--join", number, "--", *asked)
    process.communicate(timeout=30)
    shown, _ = watched.communicate(timeout=10)
    assert joined.stdout.split() == ["lo", "sub0"], joined.stderr
    assert joined.returncode == 5
    assert "upstream" in shown
    assert "of 5 Mb/s" in shown
    if os.getuid() == 0:
        assert stranger.returncode == 2, "whoever has no right over it does not get in"


def test_an_emulation_runs_inside_another(rootless: Rootless) -> None:
    scenario(rootless.place, 50, rtt="20 ms")
    inner = [sys.executable, "-m", "sojourn", "emulate", "line.toml", "--isolated"]
    done = rootless("line.toml", "--isolated", "--", *inner, "--", "true")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("trust: ") == 2
    assert done.stderr.count("this runs inside another emulation: round trips add up") == 1


def test_a_check_says_first_what_this_machine_can_do(rootless: Rootless) -> None:
    done = rootless("--check")
    print(done.stdout)
    assert done.returncode in (0, 1), done.stderr
    sentence, *reasons = done.stdout.splitlines()
    assert sentence.startswith(("this machine can emulate 50/10", "this machine cannot now emulate"))
    assert "late P99" in sentence
    for word in ("/dev/net/tun: allowed", "of a core", "load average"):
        assert any(word in line for line in reasons), word
    if os.getuid() == 0:  # the tests' user has no right to it
        assert "sudo prlimit --pid $$ --rtprio=20" in done.stdout
    told = json.loads(rootless("--check", "--json").stdout)
    assert told["grade"] in ("good", "fair", "poor")
    assert told["hidden_losses"] == 0
    assert 0 < told["busy"] < 1
    assert told["rate_error"] < 0.02
    assert told["probe_error_p50_us"] > 0, "nothing comes before its time"


def test_a_check_takes_no_command(rootless: Rootless) -> None:
    done = rootless("--check", "--", "true")
    assert done.returncode == 2
    assert "--check runs no command" in done.stderr


def test_captures_are_read_without_a_warning_and_hold_what_the_link_saw(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    done = rootless(
        *("line.toml", "--isolated", "--json", "--pcap", "captures", *far("sink.py"), "--"),
        *python("send.py", "100.64.0.1", "2"),
    )
    assert done.returncode == 0, done.stderr
    assert "captures: captures" in done.stderr
    files = sorted(path.name for path in (rootless.place / "captures").iterdir())
    sides = ("entered", "left")
    assert files == sorted(f"{way}stream-{side}.pcap" for way in ("up", "down") for side in sides)
    counts: list[int] = []
    for side in sides:
        data = (rootless.place / "captures" / f"upstream-{side}.pcap").read_bytes()
        assert data[:4] == (0xA1B23C4D).to_bytes(4, "little")  # nanoseconds (pcap-savefile(5))
        at = 24
        times: list[int] = []
        while at < len(data):
            seconds, ns, kept, _ = (int.from_bytes(data[at + word : at + word + 4], "little") for word in (0, 4, 8, 12))
            assert kept <= 96
            times.append(seconds * 10**9 + ns)
            at += 16 + kept
        assert at == len(data)
        assert times == sorted(times)
        counts.append(len(times))
    assert counts[0] >= counts[1] > 500
    again = rootless("line.toml", "--isolated", "--pcap", "captures", "--", "true")
    assert again.returncode == 2, "a directory that is used stays as it is"
    if shutil.which("tshark") is None:
        pytest.skip("without tshark nobody else reads the captures")
    for name in files:
        options = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        bad = "ip.checksum.status==Bad || tcp.checksum.status==Bad || _ws.malformed"
        read = subprocess.run(
            ["tshark", "-r", str(rootless.place / "captures" / name), *options, "-Y", bad],
            capture_output=True,
            text=True,
            check=True,
        )
        assert read.stdout == ""
        words = [line for line in read.stderr.splitlines() if "Running as user" not in line]
        assert words == []


def test_who_has_no_priority_asks_realtimekit_and_is_told_how_to_get_it(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    tools = rootless.place / "tools"
    tools.mkdir()
    (tools / "busctl").write_text('#!/bin/sh\necho "$@" >busctl.txt\nulimit -R >>busctl.txt 2>&1\n')
    (tools / "busctl").chmod(0o755)
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{tools}:{path}"
    try:
        done = rootless("line.toml", "--isolated", "--", "true")
    finally:
        os.environ["PATH"] = path
    assert done.returncode == 0, done.stderr
    if "priority: real-time" in done.stderr:
        pytest.skip("here it is allowed without asking")
    asked = (rootless.place / "busctl.txt").read_text().splitlines()[0]
    call = "org.freedesktop.RealtimeKit1 MakeThreadRealtimeWithPID ttu"
    assert call in asked
    process, thread, priority = map(int, asked.rpartition("ttu ")[2].split())
    assert process > 1
    assert thread not in (0, process)
    assert priority <= 20  # the most that RealtimeKit gives
    assert "hint: real-time priority for this shell: sudo prlimit --pid $$ --rtprio=20" in done.stderr
    off = rootless("line.toml", "--isolated", "--priority", "off", "--", "true")
    assert "hint: real-time" not in off.stderr


@pytest.mark.parametrize("words", [["line.toml", "--", "true"], ["--check"]])
def test_a_machine_without_tun_is_told_in_a_sentence(rootless: Rootless, words: list[str]) -> None:
    scenario(rootless.place, 5)
    emulate = " ".join([sys.executable, "-m sojourn emulate", *words])
    done = subprocess.run(
        # An empty directory where the device stood, seen by this command alone.
        ["unshare", "-Urm", "sh", "-c", f"mount -t tmpfs none /dev/net && exec {emulate}"],
        cwd=rootless.place,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "the emulation needs /dev/net/tun, which is not there" in done.stderr
    assert "hint: modprobe tun" in done.stderr
    assert "Traceback" not in done.stderr


def test_entries_of_real_packets_need_no_application_and_unseen_timers_have_no_number(rootless: Rootless) -> None:
    scenario(rootless.place, 5)
    file = rootless.place / "line.toml"
    content = tomllib.loads(file.read_text())
    content["emulate"] = {"rtt": "20 ms"}
    content["traffic"] = [{"name": "sink", "match": {"port": 5000}}]
    file.write_text(tomli_w.dumps(content))
    done = rootless(
        *("line.toml", "--isolated", "--json", "--record", "out", *far("sink.py"), "--"),
        *python("send.py", "100.64.0.1", "1"),
    )
    assert done.returncode == 0, done.stderr
    rows = pl.read_parquet(rootless.place / "out" / "traffic.parquet")
    mine = rows.filter((pl.col("traffic") == "sink") & (pl.col("direction") == "upstream"))
    assert mine["connections"].item() == 1
    assert mine["goodput_bytes"].item() > 100_000
    assert mine["timeouts"].item() is None
    metrics = {row["metric"] for row in json.loads(done.stdout)["metrics"] if row["subject"] == "sink"}
    assert "retransmissions" in metrics
    assert "timeouts" not in metrics


INTERNET = """
import os, socket, subprocess, sys, threading
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
subprocess.run(["ip", "address", "add", "192.0.2.80/32", "dev", "lo"], check=True)
open("resolv.conf", "w").write("nameserver 192.0.2.80\\n")
subprocess.run(["mount", "--bind", "resolv.conf", "/etc/resolv.conf"], check=True)

def datagrams(port):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    server.bind(("192.0.2.80", port))
    while True:
        text, control, _, peer = server.recvmsg(2000, 100)
        server.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, control[0][2][0])
        server.sendto(text, peer)

def connections():
    server = socket.create_server(("192.0.2.80", 5000))
    while True:
        peer, _ = server.accept()
        threading.Thread(target=answer, args=(peer,)).start()

def answer(peer):
    while text := peer.recv(1 << 16):
        peer.sendall(text.upper())
    peer.close()

for port in (5001, 53):
    threading.Thread(target=datagrams, args=(port,), daemon=True).start()
threading.Thread(target=connections, daemon=True).start()
status = subprocess.run(sys.argv[1:]).returncode
os._exit(status)
"""
"""A namespace that plays the Internet, with the emulation in it."""

CLIENT = """
import json, socket
peer = socket.create_connection(("192.0.2.80", 5000), 5)
peer.sendall(b"word " * 40000)
peer.shutdown(socket.SHUT_WR)
text = b""
while more := peer.recv(1 << 16):
    text += more
def datagram(to, port):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.settimeout(5)
    one.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    one.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x2A)
    one.sendto(b"asked", (to, port))
    answer, control, _, peer = one.recvmsg(2000, 100)
    return [answer.decode(), control[0][2][0], list(peer)]
def refused(to, port):
    try:
        socket.create_connection((to, port), 5)
    except OSError as error:
        return type(error).__name__
print(json.dumps([
    text == b"WORD " * 40000, datagram("192.0.2.80", 5001), datagram("100.64.0.1", 53),
    refused("192.0.2.80", 5999), refused("169.254.169.254", 80),
]))
"""


def test_connections_datagrams_and_names_reach_the_internet(rootless: Rootless) -> None:
    scenario(rootless.place, 50)
    (rootless.place / "internet.py").write_text(INTERNET, encoding="utf-8")
    (rootless.place / "client.py").write_text(CLIENT, encoding="utf-8")
    emulate = [sys.executable, "-m", "sojourn", "emulate", "line.toml"]
    done = subprocess.run(
        [*("unshare", "-Urnm", sys.executable, "internet.py"), *(*emulate, "--", sys.executable, "client.py")],
        cwd=rootless.place,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    whole, echoed, named, refused, forbidden = json.loads(done.stdout)
    assert whole
    assert echoed == ["asked", 0x2A, ["192.0.2.80", 5001]]
    assert named == ["asked", 0x2A, ["100.64.0.1", 53]]
    assert (refused, forbidden) == ("ConnectionRefusedError", "ConnectionRefusedError")
