"""Program of the guest: an upload by Linux's TCP through a router with a queue discipline of Linux, and each decision of the discipline.

usage: python qdisc_router.py JOB

Four network namespaces: sender, router, line and receiver. The sender's device cuts no superpackets, so the kernel cuts them before they
reach the router, where each packet comes by itself. The router's uplink has `htb`, which asks the discipline for the next packet when the
last one is through. The line delays packets by their own transmission and half of the round trip, and acknowledgements by the other half.
When a packet entered and left the discipline, the kernel's tracepoints say.

`JOB` is a JSON file; beside it comes one that ends with `.out`: `sent` (entered and left in ns since the sender began, and bytes of IP, of
each packet), `dropped` (when, and by which function of the kernel), and the text of `tc`.
"""

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sojourn.linux.offer import TRACING, Symbols, Tracer

SENDER, RECEIVER = "100.64.0.2", "100.64.0.1"
MAC = "02:00:00:00:00:01"
"""Of both ends of each cable, so that none asks for the other's."""
ETHERNET = 14
"""Bytes that Linux counts beside those of IP."""
SIOCETHTOOL, ETHTOOL_STSO = 0x8946, 0x1F
LOOK_S = 0.2
"""Time between two readings of the tracepoints. chosen: far less than fills their buffer."""

NAMESPACES = """
netns add sender
netns add line
netns add receiver
link add lan address {MAC} arp off type veth peer name eth0 netns sender address {MAC} arp off
link add wan address {MAC} arp off type veth peer name near netns line address {MAC} arp off
-n line link add far address {MAC} arp off type veth peer name eth0 netns receiver address {MAC} arp off
-n sender link set lo up
-n sender addr add {SENDER}/32 dev eth0
-n sender link set eth0 up
-n sender route add 10.0.0.1 dev eth0
-n sender route add default via 10.0.0.1 src {SENDER} congctl {controller}
addr add 10.0.0.1/32 dev lan
link set lan up
route add {SENDER} dev lan
addr add 10.0.1.1/32 dev wan
link set wan up
route add 10.0.1.2 dev wan
route add {RECEIVER} via 10.0.1.2
-n line addr add 10.0.1.2/32 dev near
-n line link set near up
-n line route add 10.0.1.1 dev near
-n line route add {SENDER} via 10.0.1.1
-n line addr add 10.0.2.1/32 dev far
-n line link set far up
-n line route add {RECEIVER} dev far
-n receiver link set lo up
-n receiver addr add {RECEIVER}/32 dev eth0
-n receiver link set eth0 up
-n receiver route add 10.0.2.1 dev eth0
-n receiver route add default via 10.0.2.1 src {RECEIVER}
"""
"""Lines of ip: sender, router, line, receiver."""

WITHIN = {
    "sender": ("tcp_rmem={buffers}", "tcp_wmem={buffers}"),
    "receiver": ("tcp_rmem={buffers}", "tcp_wmem={buffers}"),
    "line": ("ip_forward=1",),
}
"""Settings of IPv4 in each."""

BUFFERS = "4096 131072 7500000"
"""Memory of TCP. chosen: that of `sojourn emulate` for these lines."""


def carry_out(program: str, *lines: str) -> None:
    """Have a program of iproute2 carry lines out."""
    for line in lines:
        subprocess.run([program, *line.split()], check=True)


def cut_superpackets(device: str) -> None:
    """Switch segmentation by the device off."""
    value = ctypes.create_string_buffer(struct.pack("II", ETHTOOL_STSO, 0))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCETHTOOL, struct.pack("16sP16x", device.encode(), ctypes.addressof(value)))


def build(job: dict[str, Any]) -> None:
    """Make the namespaces, their devices, and their queue disciplines."""
    for place in ("all", "default"):
        Path("/proc/sys/net/ipv6/conf", place, "disable_ipv6").write_text("1", encoding="ascii")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1", encoding="ascii")
    text = NAMESPACES.format(MAC=MAC, SENDER=SENDER, RECEIVER=RECEIVER, controller=job["controller"])
    carry_out("ip", *text.strip().splitlines())
    for name, settings in WITHIN.items():
        for setting in settings:
            words = f"net.ipv4.{setting.format(buffers=BUFFERS)}"
            subprocess.run(["ip", "netns", "exec", name, "sysctl", "-qw", words], check=True)
    for name in ("sender", "line", "receiver"):
        subprocess.run(["ip", "netns", "exec", name, sys.executable, __file__, "--cut"], check=True)
    cut_superpackets("wan")
    rate, half = job["rate"], job["rtt_ms"] * 500
    carry_out(
        "tc",
        f"-n line qdisc add dev far root netem delay {half}us rate {rate}bit -{ETHERNET} limit 100000",
        f"-n receiver qdisc add dev eth0 root netem delay {half}us rate {10 * rate}bit -{ETHERNET} limit 100000",
        f"qdisc add dev wan root handle 1: stab overhead -{ETHERNET} linklayer ethernet htb default 1",
        f"class add dev wan parent 1: classid 1:1 htb rate {rate}bit burst 64 cburst 64 quantum 1514",
        f"qdisc add dev wan parent 1:1 handle 10: {job['discipline']}",
    )


class Watched:
    """Packets in the discipline of the uplink."""

    def __init__(self) -> None:
        self._symbols = Symbols()
        self._tracer = Tracer(self._symbols)
        uplink = socket.if_nametoindex("wan")
        for event, which in (("net/net_dev_queue", 'name == "wan"'), ("qdisc/qdisc_dequeue", f"ifindex == {uplink}")):
            (TRACING / "events" / event / "filter").write_text(which, encoding="ascii")
        list(self._tracer.read())
        self._inside: dict[int, tuple[int, int]] = {}
        self.sent: list[tuple[int, int, int]] = []
        self.dropped: list[tuple[int, str]] = []
        self.began = time.monotonic_ns()

    def look(self) -> None:
        """Read the tracepoints."""
        for at, name, fields in self._tracer.read():
            now, packet = at - self.began, fields.get("skbaddr", 0)
            if name == "net_dev_queue":
                self._inside[packet] = now, fields["len"] - ETHERNET
            elif packet in self._inside:
                entered, length = self._inside.pop(packet)
                if name == "qdisc_dequeue":
                    self.sent.append((entered, now, length))
                else:
                    self.dropped.append((now, self._symbols.at(fields["location"])))


def main() -> None:
    """Carry a job out."""
    if sys.argv[1] == "--cut":
        for _, name in socket.if_nameindex():
            if name != "lo":
                cut_superpackets(name)
        return
    path = Path(sys.argv[1])
    job = json.loads(path.read_text(encoding="utf-8"))
    build(job)
    receiver = subprocess.Popen(["ip", "netns", "exec", "receiver", *job["receiver"]])
    time.sleep(0.1)
    watched = Watched()
    sender = subprocess.Popen(["ip", "netns", "exec", "sender", *job["sender"]])
    while sender.poll() is None:
        time.sleep(LOOK_S)
        watched.look()
    os.kill(receiver.pid, signal.SIGKILL)
    said = subprocess.run(
        ["tc", "-s", "qdisc", "show", "dev", "wan"], capture_output=True, text=True, check=True
    ).stdout
    out = {"sent": watched.sent, "dropped": watched.dropped, "statistics": said}
    path.with_name(f"{path.name}.out").write_text(json.dumps(out), encoding="utf-8")


if __name__ == "__main__":
    main()
