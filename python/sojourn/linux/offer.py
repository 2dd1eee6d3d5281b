"""Program of the guest: offers packets to a queue discipline at given times, and writes down each of its decisions.

It runs with the standard library alone, as root of the guest. Packets go through the raw socket of a device that sends at once, so what
delays, orders, marks and drops them is the discipline. Its actions are read from the kernel's tracepoints: `net_dev_queue` before a packet
enters, `qdisc_dequeue` when it leaves, `kfree_skb` with the function that drops it, `timer_expire_entry` of its timer; marks from
a second socket that gets each packet as it is sent. Times are those of the kernel's own clock at the event, in ns.

The argument is a file of JSON lines, one input each; what came of it is a line of the file beside it, which ends with `.out`.
"""

import bisect
import contextlib
import ctypes
import json
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DEVICE = "dummy0"
ALL = 0x0003  # ETH_P_ALL
FORCE_SEND_BUFFER, FORCE_RECEIVE_BUFFER = 32, 33  # SO_SNDBUFFORCE, SO_RCVBUFFORCE
ROOM = 1 << 28
TRACING = Path("/sys/kernel/tracing")
EVENTS = ("net/net_dev_queue", "qdisc/qdisc_dequeue", "skb/kfree_skb", "timer/timer_expire_entry")
TIMERS = ("pie_timer", "fq_pie_timer")
BUFFER_KB = 16384
FLOWS = 5
NUMBER_AT = 14 + 20 + 8
"""Place of a packet's number: behind the headers of Ethernet, IPv4 and UDP."""

PADDING, EXTENDED, ABSOLUTE = 29, 30, 31
"""Kinds of a record of the kernel's ring buffer (`enum ring_buffer_type`)."""


def frame(number: int, length: int, flow: int, octet: int) -> bytes:
    """Return a packet of UDP in IPv4 in Ethernet of `length` bytes; its flow is its port, `octet` has DSCP and ECN."""
    inner = length - 14
    address = bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2))
    words = (0x45, octet, inner, 0, 0, 64, 17, 0, *address)
    header = struct.pack(">BBHHHBBH4s4s", *words)
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    header = header[:10] + struct.pack(">H", ~total & 0xFFFF) + header[12:]
    udp = struct.pack(">HHHH", 1024 + flow, 5000, inner - 20, 0)
    ethernet = bytes.fromhex("020000000001 020000000002 0800")
    return (ethernet + header + udp + struct.pack(">I", number)).ljust(length, b"\0")


class Symbols:
    """Functions of the kernel by address."""

    def __init__(self) -> None:
        lines = (line.split()[:3] for line in Path("/proc/kallsyms").read_text(encoding="ascii").splitlines())
        self._all = sorted((int(address, 16), name) for address, kind, name in lines if kind in "tTwW")
        self._starts = [address for address, _ in self._all]

    def at(self, address: int) -> str:
        """Return the function that holds an address."""
        return self._all[bisect.bisect_right(self._starts, address) - 1][1]

    def address_of(self, name: str) -> list[int]:
        """Return where a function lies."""
        return [address for address, each in self._all if each == name]


class Tracer:
    """The kernel's tracepoints, read as the binary pages of its ring buffer."""

    def __init__(self, symbols: Symbols) -> None:
        if not (TRACING / "trace_clock").exists():
            ctypes.CDLL(None).mount(b"tracefs", str(TRACING).encode(), b"tracefs", 0, None)
        self._set("trace_clock", "mono")
        self._set("buffer_size_kb", str(BUFFER_KB))
        timers = [address for name in TIMERS for address in symbols.address_of(name)]
        self._kinds: dict[int, tuple[str, dict[str, tuple[int, int]]]] = {}
        for event in EVENTS:
            fields: dict[str, tuple[int, int]] = {}
            number = 0
            for line in (TRACING / "events" / event / "format").read_text(encoding="ascii").splitlines():
                words = line.strip()
                if words.startswith("ID:"):
                    number = int(words[3:])
                elif words.startswith("field:"):
                    name, offset, size, *_ = (part.strip() for part in words.split(";"))
                    place = int(offset.partition(":")[2]), int(size.partition(":")[2])
                    fields[name.split()[-1].partition("[")[0].lstrip("*")] = place
            self._kinds[number] = event.partition("/")[2], fields
            if event.startswith("timer/"):
                self._set(f"events/{event}/filter", " || ".join(f"function == {each}" for each in timers) or "now == 0")
            self._set(f"events/{event}/enable", "1")
        self._pipe = os.open(TRACING / "per_cpu/cpu0/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)

    @staticmethod
    def _set(name: str, value: str) -> None:
        (TRACING / name).write_text(value, encoding="ascii")

    def read(self) -> Iterator[tuple[int, str, dict[str, int]]]:
        """Yield time, name and fields of all events since the last call."""
        while True:
            try:
                page = os.read(self._pipe, 4096)
            except BlockingIOError:
                return
            if not page:
                return
            yield from self._events_of(page)

    def _events_of(self, page: bytes) -> Iterator[tuple[int, str, dict[str, int]]]:
        now, commit = struct.unpack_from("<QQ", page)
        if commit & (1 << 31):
            raise RuntimeError("the kernel's ring buffer was too small")
        at, end = 16, 16 + (commit & 0xFFFFF)
        while at < end:
            (word,) = struct.unpack_from("<I", page, at)
            kind, delta = word & 31, word >> 5
            if kind == PADDING:
                if delta == 0:
                    return
                at += 4 + struct.unpack_from("<I", page, at + 4)[0]
            elif kind in (EXTENDED, ABSOLUTE):
                more = delta + (struct.unpack_from("<I", page, at + 4)[0] << 27)
                now = now + more if kind == EXTENDED else (now & ~((1 << 59) - 1)) | more
                at += 8
            else:
                now += delta
                start = at + (4 if kind else 8)
                size = 4 * kind if kind else struct.unpack_from("<I", page, at + 4)[0] - 4
                known = self._kinds.get(struct.unpack_from("<H", page, start)[0])
                if known is not None:
                    name, fields = known
                    yield (
                        now,
                        name,
                        {
                            field: int.from_bytes(page[start + place : start + place + width], "little")
                            for field, (place, width) in fields.items()
                            if width <= 8
                        },
                    )
                at = start + size


def tc(*lines: str) -> None:
    """Have `tc` carry lines out."""
    done = subprocess.run(["tc", "-b", "-"], input="\n".join(lines), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"tc refused {lines}: {done.stderr.strip()}")


def _shown(*words: str) -> str:
    return subprocess.run(["tc", *words], capture_output=True, text=True, check=True).stdout


def queues(sender: socket.socket, flows: int) -> list[int]:
    """Return the place among 65,536 flow queues of each flow: the kernel's hash has a secret of its own."""
    tc(
        f"qdisc add dev {DEVICE} root handle 1: htb default 1",
        f"class add dev {DEVICE} parent 1: classid 1:1 htb rate 8kbit burst 1 cburst 1 quantum 1514",
        f"qdisc add dev {DEVICE} parent 1:1 handle 10: fq_codel flows 65536",
    )
    sender.send(frame(0, 1514, flows, 0))
    for flow in range(flows):
        sender.send(frame(0, 200 + flow, flow, 0))
    place: dict[int, int] = {}
    for block in _shown("-s", "class", "show", "dev", DEVICE).split("class fq_codel 10:")[1:]:
        backlog = int(block.split("backlog ")[1].split("b")[0])
        place[backlog - 200] = int(block.split()[0], 16) - 1
    tc(f"qdisc del dev {DEVICE} root")
    return [place[flow] for flow in range(flows)]


def offer(
    job: dict[str, Any], sender: socket.socket, tap: socket.socket, tracer: Tracer, symbols: Symbols
) -> dict[str, Any]:
    """Offer the packets of an input, wait until all have left, and return what happened.

    The result has the number of each packet at its time in the order of events: `a` offered, `s` sent, `d` dropped with the function
    that did it, `t` the discipline's timer; and the numbers of those that came out marked.
    """
    frames = [frame(number, *packet[1:]) for number, packet in enumerate(job["packets"], 1)]
    with contextlib.suppress(RuntimeError):
        tc(f"qdisc del dev {DEVICE} root")
    time.sleep(0.1)
    tc(*job["tc"])
    began = time.monotonic() + 0.01
    for (at, *_), content in zip(job["packets"], frames, strict=True):
        wait = began + at / 1e9 - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        with contextlib.suppress(OSError):  # the discipline has dropped it
            sender.send(content)
    time.sleep(job["drains_s"])
    statistics = _shown("-s", "qdisc", "show", "dev", DEVICE)
    if "backlog 0b 0p" not in statistics.split("qdisc")[1]:
        raise RuntimeError(f"packets are left in the discipline: {statistics}")
    marked: list[int] = []
    with contextlib.suppress(BlockingIOError):
        while True:
            content = tap.recv(64, socket.MSG_DONTWAIT)
            (number,) = struct.unpack_from(">I", content, NUMBER_AT)
            if content[15] & 3 == 3 and job["packets"][number - 1][3] & 3 != 3:
                marked.append(number)
    return {"events": list(_events(tracer, symbols)), "marked": marked, "statistics": statistics}


def _events(tracer: Tracer, symbols: Symbols) -> Iterator[tuple[str, int, int, str]]:
    inside: dict[int, int] = {}
    number = 0
    for now, name, fields in tracer.read():
        if name == "timer_expire_entry":
            yield "t", now, 0, symbols.at(fields["function"])
            continue
        address = fields["skbaddr"]
        if name == "net_dev_queue":
            number += 1
            inside[address] = number
            yield "a", now, number, ""
        elif address in inside:
            is_sent = name == "qdisc_dequeue"
            yield "s" if is_sent else "d", now, inside.pop(address), "" if is_sent else symbols.at(fields["location"])


def main() -> None:
    """Offer each input of the file, and write down what came of it."""
    name = Path(sys.argv[1])
    subprocess.run(["ip", "link", "add", DEVICE, "type", "dummy"], capture_output=True, check=False)  # it may be there
    (Path("/proc/sys/net/ipv6/conf") / DEVICE / "disable_ipv6").write_text("1", encoding="ascii")
    subprocess.run(["ip", "link", "set", DEVICE, "up"], check=True)
    symbols = Symbols()
    tracer = Tracer(symbols)
    with (
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as sender,
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL)) as tap,
        name.open(encoding="utf-8") as jobs,
        name.with_name(f"{name.name}.out").open("w", encoding="utf-8") as out,
    ):
        sender.bind((DEVICE, 0x0800))
        sender.setsockopt(socket.SOL_SOCKET, FORCE_SEND_BUFFER, ROOM)
        tap.bind((DEVICE, ALL))
        tap.setsockopt(socket.SOL_SOCKET, FORCE_RECEIVE_BUFFER, ROOM)
        print(json.dumps(queues(sender, FLOWS)), file=out)
        list(tracer.read())
        with contextlib.suppress(BlockingIOError):
            while tap.recv(64, socket.MSG_DONTWAIT):
                pass
        for line in jobs:
            print(json.dumps(offer(json.loads(line), sender, tap, tracer, symbols)), file=out, flush=True)


if __name__ == "__main__":
    main()
