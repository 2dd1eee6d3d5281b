"""Captures of packets: their flows, and the lists of packets that scenarios take.

A capture is read piece by piece by the engine, which keeps times, lengths and marks and nothing else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import sojourn._engine as _engine
from sojourn.base.errors import UsageError, plain, why
from sojourn.base.files import open_file

PIECE = 1 << 20
"""Bytes that are read at a time. chosen: a file costs no more memory than its packets' times."""

LARGEST = 64 << 30
"""Bytes of a capture. chosen: the packets that are kept are bounded in number by the engine."""

PROTOCOLS = {6: "tcp", 17: "udp", 1: "icmp", 58: "icmp6"}
"""Words for protocols. Source: IANA, protocol numbers."""

FEWEST = 100
"""Packets of a flow from which it is looked at unasked. chosen: a second of anything that plays."""


@dataclass(frozen=True)
class Flow:
    """One direction between two ports at one place of a capture."""

    number: int
    """From 1 on, in the order of bytes."""
    place: int
    """The engine's number."""
    interface: str
    protocol: str
    source: str
    source_port: int
    destination: str
    destination_port: int
    packets: int
    bytes: int
    first_ns: int
    out_of_order: int
    answer: int | None
    """The engine's number of the other direction."""

    def words(self, *, addresses: bool) -> str:
        """Return its description, with addresses or with letters for them."""
        source, destination = (self.source, self.destination) if addresses else ("a", "b")
        ports = bool(self.source_port or self.destination_port)
        ends = (
            f"{source}:{self.source_port} to {destination}:{self.destination_port}"
            if ports
            else f"{source} to {destination}"
        )
        at = f" at {self.interface}" if self.interface else ""
        return f"{self.protocol} {ends}{at}"


@dataclass(frozen=True)
class CaptureFile:
    """A capture that was read."""

    name: str
    content: _engine.PacketCapture
    flows: tuple[Flow, ...]
    """Those with most bytes first."""

    @property
    def caveats(self) -> list[str]:
        """Caveats of the file."""
        found: list[str] = []
        if self.content.is_cut:
            found.append("The file ends within a packet: what follows is of those before.")
        count, ns = self.content.steps_back
        if count:
            times = "once" if count == 1 else f"{count:,} times"
            found.append(
                f"Its clock was set back {times}, by up to {ns / 1e9:.3g} s: times and rates across that are not the line's."
            )
        coarse = [name or "the interface" for name, coarse, _ in self.content.interfaces() if coarse]
        if coarse:
            found.append("Its times are no finer than 1 µs: bursts may look denser than they were.")
        missed = sum(missed for _, _, missed in self.content.interfaces())
        if missed:
            found.append(f"{missed:,} packets were not captured, as the file says.")
        if self.content.others:
            found.append(f"{self.content.others:,} frames carry no IP packet that can be read.")
        for link_type, frames in self.content.unknown_link_types:
            found.append(f"{frames:,} frames have link type {link_type}, which is not read.")
        return found


def read_capture(path: Path) -> CaptureFile:
    """Return the flows of a capture.

    Raises `UsageError` if it cannot be read or is no capture.
    """
    name = plain(path)
    reader = _engine.CaptureReader()
    try:
        with open_file(path, most=LARGEST) as file:
            while piece := file.read(PIECE):
                reader.feed(piece)
        content = reader.finish()
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {why(error)}") from error
    except _engine.CaptureProblem as error:
        message, hint = error.args
        raise UsageError(f"{name}: {message}", hint) from error
    interfaces = [interface for interface, _, _ in content.interfaces()]
    found = list(enumerate(content.flows()))
    found.sort(key=lambda one: -int(one[1]["bytes"]))
    flows = tuple(
        Flow(
            number,
            place,
            interfaces[int(entry["interface"])],
            PROTOCOLS.get(entry["protocol"], f"protocol {entry['protocol']}"),
            entry["source"],
            entry["source_port"],
            entry["destination"],
            entry["destination_port"],
            entry["packets"],
            entry["bytes"],
            entry["first_ns"],
            entry["out_of_order"],
            entry["answer"],
        )
        for number, (place, entry) in enumerate(found, start=1)
    )
    return CaptureFile(name, content, flows)


def choose(capture: CaptureFile, wanted: str) -> list[Flow]:
    """Return the flows that a filter names: a number of the list, or words such as `udp and port 3478`.

    Raises `UsageError` if it is no filter, or no flow is one of it.
    """
    example = "a number of the list, or some of: udp, tcp, port N, host A, interface NAME"
    words = [word for word in wanted.split() if word != "and"]
    if len(words) == 1 and words[0].isascii() and words[0].isdigit() and len(words[0]) < 8:
        found = [flow for flow in capture.flows if flow.number == int(words[0])]
    else:
        found = list(capture.flows)
        at = 0
        while at < len(words):
            word, value = words[at], words[at + 1] if at + 1 < len(words) else ""
            if word in PROTOCOLS.values():
                found = [flow for flow in found if flow.protocol == word]
                at += 1
                continue
            if word not in ("port", "host", "interface") or not value:
                raise UsageError(f"--flow {plain(wanted)}: {plain(word)!r} is no part of a filter", example)
            found = [
                flow
                for flow in found
                if value
                in {
                    "port": (str(flow.source_port), str(flow.destination_port)),
                    "host": (flow.source, flow.destination),
                    "interface": (flow.interface,),
                }[word]
            ]
            at += 2
        if not words:
            raise UsageError("--flow: an empty filter", example)
    if not found:
        listed = "; ".join(f"{flow.number}: {flow.words(addresses=True)}" for flow in capture.flows[:3])
        raise UsageError(f"{capture.name}: no flow is {plain(wanted)!r}", listed or example)
    return found


def worth_a_look(capture: CaptureFile) -> list[Flow]:
    """Return flows of more than `FEWEST` packets; of those that were captured at several places, where they came first.

    Raises `UsageError` if there is none.
    """
    first: dict[tuple[str, str, int, str, int], Flow] = {}
    for flow in capture.flows:
        if flow.packets <= FEWEST:
            continue
        key = (flow.protocol, flow.source, flow.source_port, flow.destination, flow.destination_port)
        before = first.get(key)
        if before is None or flow.first_ns < before.first_ns:
            first[key] = flow
    if not first:
        raise UsageError(
            f"{capture.name}: no flow has more than {FEWEST} packets",
            "--flow N judges a smaller one, a longer capture says more",
        )
    return list(first.values())


@dataclass(frozen=True)
class BufferingDelay:
    """How long the packets of a home waited in buffers, there and back."""

    home: str
    connections: int
    peers: int
    delays_ms: tuple[float, ...]
    """Excess of each round trip over the shortest one with its peer, ascending."""

    def quantile(self, share: float) -> float:
        """Return the delay that this share of packets does not exceed (type 1: a measured one)."""
        place = min(int(share * len(self.delays_ms)), len(self.delays_ms) - 1)
        return self.delays_ms[place]

    def above(self, limit_ms: float) -> float:
        """Return the share of packets that waited longer."""
        at = bisect_right(self.delays_ms, limit_ms)
        return 1 - at / len(self.delays_ms)


def buffering_delay(capture: CaptureFile, home: str | None = None) -> BufferingDelay:
    """Estimate the delay in buffers from the round trips of what a home sends over connections.

    Raises `UsageError` if there are no round trips.

    Parameters
    ----------
    capture
        Taken between the modem and the router behind it.
    home
        The home's address; that with most packets of connections if `None`.

    Notes
    -----
    Source: White 2013 section 1.4, with the method of Allman 2013.
    """
    flows = [flow for flow in capture.flows if flow.protocol == "tcp"]
    if home is None:
        packets = Counter[str]()
        for flow in flows:
            packets[flow.source] += flow.packets
            packets[flow.destination] += flow.packets
        home = max(packets, key=lambda address: packets[address], default="")
    trips: dict[tuple[str, str], list[int]] = {}
    connections = 0
    for flow in flows:
        if flow.source == home and (found := capture.content.round_trips(flow.place)):
            connections += 1
            with_peer = trips.setdefault((flow.interface, flow.destination), [])
            with_peer.extend(trip for _, trip in found)
    if not trips:
        raise UsageError(
            f"{capture.name}: no connection of {home or 'a home'} has a round trip",
            "--home ADDRESS, and a capture with both directions of its connections",
        )
    delays = sorted(
        (trip - shortest) / 1e6 for with_peer in trips.values() for shortest in (min(with_peer),) for trip in with_peer
    )
    return BufferingDelay(home, connections, len(trips), tuple(delays))


def is_capture(path: Path) -> bool:
    """Tell whether a file begins as a capture does; a pipe is none, for it cannot be read twice.

    Raises `OSError` if it cannot be read.
    """
    if not path.is_file():
        return False
    with open_file(path, most=LARGEST) as file:
        return file.read(4) in MAGICS


def packets_of_file(path: Path, text: bytes | None) -> str:
    """Return the packets of a file as a value of a scenario: of a list, or of the only flow of a capture.

    Raises `UsageError` if it is neither, or a capture of several flows.

    Parameters
    ----------
    path
        The file.
    text
        Its content, or `None` of a capture.
    """
    try:
        if text is None:
            capture = read_capture(path)
            flows = worth_a_look(capture) if len(capture.flows) > 1 else capture.flows
            if len(flows) != 1:
                raise UsageError(
                    f"{capture.name}: has {len(flows)} flows",
                    f"sojourn capture extract {capture.name} --flow N --out call.sjc",
                )
            listed = capture.content.extract(flows[0].place, False, "; ")  # noqa: FBT003 - as the engine has it
        else:
            listed = _engine.packet_list(text.decode("utf-8-sig"))
    except _engine.CaptureProblem as error:
        message, hint = error.args
        raise UsageError(f"{plain(path)}: {message}", hint) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{plain(path)}: is no list of packets and no capture") from error
    return f'"{listed}"'


KUZNETZOV = (b"\xa1\xb2\xcd\x34", b"\x34\xcd\xb2\xa1")
"""Captures whose packets have interface and protocol as well. Source: libpcap's modified pcap."""

MAGICS = (
    b"\x0a\x0d\x0d\x0a",
    b"\xa1\xb2\xc3\xd4",
    b"\xa1\xb2\x3c\x4d",
    b"\xd4\xc3\xb2\xa1",
    b"\x4d\x3c\xb2\xa1",
    *KUZNETZOV,
)
"""First bytes of captures. Source: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng."""
