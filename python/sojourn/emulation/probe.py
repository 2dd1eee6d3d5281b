"""Program of `sojourn emulate --check` at both ends of the link: datagrams with the time of day, and a flood.

The kernel stamps each datagram when it comes, so how late this program is counts only at its sending side.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time

PROBE_PORT, FLOOD_PORT = 7701, 7702
"""chosen: ports that nothing else in a namespace of our own has."""

STAMP = 35
"""`SO_TIMESTAMPNS` of Linux, as an option and in what comes with a datagram."""

EVERY_S = 0.01
"""Time between two probes. chosen: far above what a probe takes on a link of 1 Mb/s."""

BYTES = 1472
"""Payload of a datagram that fills 1500 B."""


def _receive(peer: socket.socket) -> tuple[bytes, int, tuple[str, int]]:
    """Return a datagram, when the kernel got it in ns since 1970, and who sent it."""
    data, control, _, sender = peer.recvmsg(2000, 64)
    for _, kind, value in control:
        if kind == STAMP:
            seconds, ns = struct.unpack("qq", value[:16])
            return data, seconds * 1_000_000_000 + ns, sender
    return data, time.time_ns(), sender


def _socket(port: int = 0) -> socket.socket:
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.setsockopt(socket.SOL_SOCKET, STAMP, 1)
    peer.bind(("", port))
    return peer


def _flood(peer: socket.socket, to: tuple[str, int], mbps: float, until: float) -> None:
    """Send at a rate, in bursts of a millisecond."""
    data = bytes(BYTES)
    began, sent = time.monotonic(), 0
    while (now := time.monotonic()) < until:
        earned = (now - began) * mbps * 1e6 / 8 / (BYTES + 28)
        while sent < earned:
            sent += 1
            try:
                peer.sendto(data, to)
            except OSError:
                break
        time.sleep(0.001)


def answer() -> None:
    """Play the far end: say when probes came, and send a flood where one is asked for."""
    import threading

    flood = _socket(FLOOD_PORT)

    def wanted() -> None:
        while True:
            data, sender = flood.recvfrom(2000)
            if data.startswith(b"{"):
                ask = json.loads(data)
                _flood(flood, sender, ask["mbps"], time.monotonic() + ask["seconds"])

    threading.Thread(target=wanted, daemon=True).start()
    probes = _socket(PROBE_PORT)
    while True:
        data, came, sender = _receive(probes)
        probes.sendto(struct.pack("qqq", *struct.unpack("q", data[:8]), came, time.time_ns()), sender)


def ask(address: str, up_mbps: float, down_mbps: float, idle_s: float, flood_s: float) -> None:
    """Play the inside: probes on the idle link, then a flood both ways; print what was seen as JSON."""
    peer = _socket()
    peer.settimeout(2.0)
    up: list[int] = []
    down: list[int] = []
    end = time.monotonic() + idle_s
    while time.monotonic() < end:
        peer.sendto(struct.pack("q", time.time_ns()) + bytes(92), (address, PROBE_PORT))
        data, came, _ = _receive(peer)
        sent, arrived, left = struct.unpack("qqq", data[:24])
        up.append(arrived - sent)
        down.append(came - left)
        time.sleep(EVERY_S)
    flood = _socket()
    wish = json.dumps({"mbps": 1.2 * down_mbps, "seconds": flood_s}).encode()
    flood.sendto(wish, (address, FLOOD_PORT))
    print(json.dumps({"up_ns": up, "down_ns": down}), flush=True)
    # Answers are not read: the link has carried them, which is counted.
    _flood(flood, (address, FLOOD_PORT), 1.2 * up_mbps, time.monotonic() + flood_s)
    time.sleep(0.2)


def main() -> None:
    """Run one of both ends."""
    if sys.argv[1] == "answer":
        answer()
    else:
        ask(sys.argv[2], *map(float, sys.argv[3:]))


if __name__ == "__main__":
    main()
