"""`sojourn emulate --between`: the lab box, with a subscriber and a server behind two interfaces.

The host, the subscriber and the server are network namespaces; cables are pairs of virtual interfaces.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w

TIMING = os.environ.get("SOJOURN_EMULATION_TIMING") == "1"
"""True if this machine promises to be quiet."""

ROOT = [] if os.getuid() == 0 else ["-Ur"]
"""What makes a user root of namespaces of his own."""

LAB = """
import json, os, signal, subprocess, sys, time

def ip(*words):
    subprocess.run(["ip", *words], check=True)

def machine(cable, address):
    \"\"\"A machine with this end of a cable, whose other end stays here.\"\"\"
    alive = subprocess.Popen(["unshare", "-n", "sleep", "150"])
    mine = os.readlink("/proc/self/ns/net")
    while os.readlink(f"/proc/{alive.pid}/ns/net") == mine:
        time.sleep(0.01)
    ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", str(alive.pid))
    ip("link", "set", cable, "up")
    inside = ["nsenter", "-t", str(alive.pid), "-n"]
    for family, prefix in ((address, 24), (f"fd00::{address.rpartition('.')[2]}", 64)):
        words = [*inside, "ip", "address", "add", f"{family}/{prefix}", "dev", "eth0"]
        subprocess.run(words + (["nodad"] if ":" in family else []), check=True)
    subprocess.run([*inside, "ip", "link", "set", "eth0", "up"], check=True)
    return alive, inside

def state():
    asked = (["link"], ["address"], ["route", "show", "table", "all"], ["rule"])
    said = [subprocess.run(["ip", "-j", *words], capture_output=True, text=True).stdout for words in asked]
    return said

subscriber, at_subscriber = machine("cable-a", "192.0.2.2")
server, at_server = machine("cable-b", "192.0.2.1")
words = [sys.executable, "-m", "sojourn", "emulate", "line.toml", "--between", "cable-a", "cable-b"]
emulation = subprocess.Popen([*words, *sys.argv[2:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
while "cable-a" in state()[0] and emulation.poll() is None:
    time.sleep(0.05)
time.sleep(0.3)
found = {"host_while": state()[0]}
exec(open(sys.argv[1]).read())
if emulation.poll() is None:
    emulation.send_signal(signal.SIGINT)
said, errors = emulation.communicate(timeout=60)
found |= {"status": emulation.returncode, "said": said, "errors": errors, "host_after": state()[0]}
for each in (subscriber, server):
    each.kill()
print(json.dumps(found))
"""
"""The host: it plugs both machines in, starts the emulation, and does what a test wants."""


def scenario(place: Path) -> None:
    """Write `line.toml`: a plain line that is as fast both ways."""
    side = {"link": {"kind": "serial", "rate": "20 Mb/s"}, "queue": {"kind": "drop-tail", "limit": "50 ms"}}
    content = {
        "schema": 1,
        "name": "line",
        "duration": "10 s",
        "access": {"upstream": side, "downstream": side},
        "emulate": {"rtt": "20 ms"},
    }
    (place / "line.toml").write_text(tomli_w.dumps(content), encoding="utf-8")


def lab(place: Path, work: str, *options: str) -> dict[str, Any]:
    """Build the lab, run `work` in it, and return what it found."""
    scenario(place)
    (place / "lab.py").write_text(LAB, encoding="utf-8")
    (place / "work.py").write_text(work, encoding="utf-8")
    done = subprocess.run(
        ["unshare", *ROOT, "-n", sys.executable, "lab.py", "work.py", *options],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


TRAFFIC = """
import ast
clock = '''
import socket, sys, time
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
'''
echo = clock + '''
server = socket.create_server((sys.argv[1], 5000), family=family)
other = socket.socket(family, socket.SOCK_DGRAM)
other.bind((sys.argv[1], 5001))
print("ready", flush=True)
for _ in range(50):
    text, peer = other.recvfrom(2000)
    other.sendto(text, peer)
peer, _ = server.accept()
count = 0
while more := peer.recv(1 << 16):
    count += len(more)
print(count)
'''
ask = clock + '''
other = socket.socket(family, socket.SOCK_DGRAM)
other.connect((sys.argv[1], 5001))
other.settimeout(5)
took = []
for _ in range(50):
    began = time.monotonic()
    other.send(b"x" * 100)
    other.recv(2000)
    took.append(time.monotonic() - began)
peer = socket.create_connection((sys.argv[1], 5000), 5)
end = time.monotonic() + 2
count = 0
while time.monotonic() < end:
    count += peer.send(bytes(1 << 16))
peer.close()
print([sorted(took)[25] * 1e3, count])
'''
for name, address in (("four", "192.0.2.1"), ("six", "fd00::1")):
    far = subprocess.Popen([*at_server, sys.executable, "-c", echo, address], stdout=subprocess.PIPE, text=True)
    far.stdout.readline()
    near = subprocess.run([*at_subscriber, sys.executable, "-c", ask, address], capture_output=True, text=True)
    got = int(far.communicate(timeout=20)[0])
    found[name] = [*ast.literal_eval(near.stdout), got]
"""


def test_two_machines_reach_each_other_through_the_link_and_the_host_sees_nothing(tmp_path: Path) -> None:
    found = lab(tmp_path, TRAFFIC, "--json", "--record", "out")
    assert found["status"] == 3, found["errors"]  # interrupted
    assert "cable-a is the subscriber, cable-b the network, 20 ms there and back" in str(found["errors"])
    assert "cable-a" not in str(found["host_while"])
    assert "cable-a" in str(found["host_after"])
    assert "cable-b" in str(found["host_after"])
    for name in ("four", "six"):
        median_ms, sent, got = found[name]
        print(name, median_ms, "ms; load", os.getloadavg()[0])
        assert 20.0 <= median_ms <= (21.0 if TIMING else 30.0)
        assert got == sent
    said = json.loads(str(found["said"]))
    assert said["hidden_losses"] == said["tagged_frames"] == 0
    series = pl.read_parquet(tmp_path / "out" / "series.parquet")
    up = series.filter(pl.col("link") == "upstream")
    carried = int(up["forwarded_bytes"].sum())
    assert carried > sum(int(found[name][2]) for name in ("four", "six"))
    rate = pl.col("forwarded_bytes") * 8e3 / pl.col("width_ns")
    assert up.select(rate.max()).item() <= 20 * 1.02  # a packet is 0.6 % of 100 ms
    assert (tmp_path / "out" / "report.html").exists()


TAGGED = """
tagged = '''
import socket
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind(("eth0", 0))
ours = bytes.fromhex("ffffffffffff020000000001")
wire.send(ours + bytes.fromhex("8100000a0800") + bytes(60))
wire.send(ours + bytes.fromhex("88b5") + b"what nobody knows".ljust(60))
'''
heard = '''
import socket
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88b5))
wire.settimeout(5)
print("ready", flush=True)
print(wire.recv(2000)[14:].rstrip(b"\\\\0 ").decode())
'''
far = subprocess.Popen([*at_server, sys.executable, "-c", heard], stdout=subprocess.PIPE, text=True)
far.stdout.readline()
subprocess.run([*at_subscriber, sys.executable, "-c", tagged], check=True)
found["heard"] = far.communicate(timeout=10)[0].strip()
time.sleep(1.2)  # counters are asked once a second
"""


def test_what_is_not_ip_passes_and_what_has_a_tag_is_told(tmp_path: Path) -> None:
    found = lab(tmp_path, TAGGED, "--json")
    assert found["heard"] == "what nobody knows"
    assert json.loads(str(found["said"]))["tagged_frames"] == 1
    assert "1 of them with VLAN tags, which are not carried" in str(found["errors"])


UNPLUGGED = """
subprocess.run([*at_subscriber, "ip", "link", "delete", "eth0"], check=True)
emulation.wait(60)
"""


def test_an_interface_that_goes_away_ends_it_and_its_records_are_kept(tmp_path: Path) -> None:
    found = lab(tmp_path, UNPLUGGED, "--json", "--record", "out")
    assert found["status"] == 1
    assert "error: the emulation failed: cannot read from the inside" in str(found["errors"])
    said = json.loads(str(found["said"]))
    assert "cannot read from the inside" in said["failed"]
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "out.partial" / "report.html").exists()
    assert "cable-b" in str(found["host_after"])


KILLED = """
emulation.kill()
emulation.wait()
time.sleep(0.5)  # the kernel ends a namespace in its own time
"""


def test_a_kill_leaves_no_namespace(tmp_path: Path) -> None:
    found = lab(tmp_path, KILLED)
    assert found["status"] == -9
    # Virtual cables end with the namespace in which they were; physical interfaces come back.
    assert "cable" not in str(found["host_after"])


@pytest.mark.parametrize(
    ("prepare", "words", "sentence"),
    [
        ("", ["nowhere", "cable-b"], "there is no interface nowhere"),
        ("", ["cable-a", "cable-a"], "both ends are cable-a"),
        ("", ["lo", "cable-b"], "lo is no Ethernet interface"),
        (
            "ip address add 198.51.100.1/24 dev cable-a",
            ["cable-a", "cable-b"],
            "cable-a has the address 198.51.100.1, and the host would lose that",
        ),
        (
            "ip link set cable-a mtu 1280",
            ["cable-a", "cable-b"],
            "packets of 1500 B do not pass cable-a, whose MTU is 1280 B",
        ),
        (
            "ip link add br0 type bridge && ip link set cable-a master br0",
            ["cable-a", "cable-b"],
            "cable-a is part of a bridge or bond, and the host would lose that",
        ),
        ("", ["cable-a", "cable-b", "--", "true"], "--between takes no command"),
        ("", ["cable-a", "cable-b", "--tcp", "reno"], "--between takes no --tcp"),
        ("", ["cable-a", "cable-b", "--rtt", "9ms", "--rtt", "8ms"], "2 round trips"),
    ],
)
def test_what_cannot_be_an_end_is_said_in_a_sentence(
    tmp_path: Path, prepare: str, words: list[str], sentence: str
) -> None:
    scenario(tmp_path)
    script = "ip link add cable-a type veth peer name cable-b && ip link set cable-b up"
    emulate = [sys.executable, "-m", "sojourn", "emulate", "line.toml", "--between", *words]
    script += f" && {prepare or 'true'} && exec {' '.join(emulate)}"
    done = subprocess.run(
        ["unshare", *ROOT, "-n", "sh", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_right_one_sentence_says_what_gives_it(tmp_path: Path) -> None:
    scenario(tmp_path)
    emulate = [sys.executable, "-m", "sojourn", "emulate", "line.toml", "--between", "va", "vb"]
    # Interfaces that are there, and a program that has no right over them.
    nobody = "setpriv --bounding-set -all --inh-caps -all"
    script = f"ip link add va type veth peer name vb && exec {nobody} "
    if os.getuid() != 0:
        pytest.skip("as root only: rights are given away for the test")
    done = subprocess.run(
        ["unshare", "-n", "sh", "-c", script + " ".join(emulate)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "an emulation between two interfaces needs the rights of root" in done.stderr
    assert "sudo sojourn emulate FILE --between IF_A IF_B" in done.stderr
