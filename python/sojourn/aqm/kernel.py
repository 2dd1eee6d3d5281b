"""Golden traces of the kernel's own queue disciplines: random inputs, offered in virtual time to Linux, and its decisions as a trace.

A discipline stands below `htb`, which asks it for the next packet when the last one has been sent; CAKE with a rate asks itself. The trace
has each arrival, each packet that left, each drop and mark at the kernel's own time, so it replays into a manager to the letter. Where the
discipline draws random numbers, which nothing outside sees, the trace has numbers that lead to what the kernel did: 0 before an
arrival that was signalled, almost 1 before one that was not. So a replay compares what is decided without chance: whether anything
could be signalled at all.

Source: none; the format stands in `docs/reference/golden-traces.md`. Deviations: none known.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.base.errors import EnvironmentFailure, UsageError, plain
from sojourn.linux import offer, virtual
from sojourn.linux.build import Kernel
from sojourn.version import VERSION

FULL_SIZE = 1514
"""Bytes of a full packet, with the header of Ethernet, which Linux counts."""

UNIT_LOW, UNIT_HIGH = "0x0p+0", "0x1.fffffffffffffp-1"
"""Draws that lead to a signal, and to none."""

TICK_NS = 1024
"""Tick of CoDel's clock, at which a trace begins. Source: Linux `codel.h`, `CODEL_SHIFT`."""

FIRST_NS = 16_384_000 * TICK_NS
"""Time of the first arrival in a trace. chosen: 16.8 s, so that nothing seems to have happened just before, as in a kernel that has run."""

START_MS = 600
"""Time of the first arrival. chosen: `pie_init` has its first update after 500 ms."""


@dataclass(frozen=True)
class Input:
    """Packets and settings of one trace."""

    tc: tuple[str, ...]
    """Lines of tc that make it."""
    line: str
    """The same as a manager line."""
    rate: int
    """Of the link, in b/s."""
    packets: tuple[tuple[int, int, int, int], ...]
    """Time in ns, bytes, flow, and the octet of DSCP and ECN of each."""
    update_ns: int = 0
    """Time between two updates of the discipline; 0 if it has none."""


@dataclass(frozen=True)
class Discipline:
    """A queue discipline of Linux that has a manager here."""

    settings: Callable[[random.Random], tuple[str, str, int]]
    """Draws settings: for tc, for a manager line, and the time between updates in ns."""
    reasons: tuple[str, str]
    """Why it drops at an arrival, and at a departure."""
    signals_arrivals: bool = False
    """Marks and early drops are of arrivals, and drawn; else of departures."""
    counts: str = ""
    """Unit of its limit, if an arrival that finds no room is dropped: packets or bytes."""
    has_queues: bool = False
    """An arrival in the trace names the flow queue that the kernel's hash gave it; else its flow."""
    shapes: bool = False
    """It is given the rate itself."""
    codes: tuple[int, ...] = (0,)
    """Code points that it tells apart."""


def _codel(draw: random.Random) -> tuple[str, str, int]:
    target, interval = draw.choice([(5, 100), (5, 100), (2, 20), (15, 150)])
    limit, ecn = draw.choice([1000, 60, 15]), draw.random() < 0.5
    return (
        f"codel limit {limit} target {target}ms interval {interval}ms {'ecn' if ecn else 'noecn'}",
        f'codel limit="{limit} packets" target={target}ms interval={interval}ms variant=linux floor="{FULL_SIZE} B"'
        f" ecn={str(ecn).lower()}",
        0,
    )


def _fq_codel(draw: random.Random) -> tuple[str, str, int]:
    target, interval = draw.choice([(5, 100), (5, 100), (2, 20)])
    limit, ecn, quantum = draw.choice([10240, 100, 40]), draw.random() < 0.5, draw.choice([1514, 300, 600])
    return (
        f"fq_codel limit {limit} flows 65536 quantum {quantum} target {target}ms interval {interval}ms"
        f" {'ecn' if ecn else 'noecn'}",
        f'fq-codel limit="{limit} packets" queues=65536 quantum="{quantum} B" target={target}ms interval={interval}ms'
        f' variant=linux floor="{FULL_SIZE} B" ecn={str(ecn).lower()}',
        0,
    )


def _cake(draw: random.Random) -> tuple[str, str, int]:
    tins, rtt = draw.choice(["besteffort", "diffserv3", "diffserv4"]), draw.choice([100, 30])
    return (
        f"cake {tins} flows rtt {rtt}ms raw memlimit 64mb no-split-gso",
        f'cake tins={tins} hosts=flows memory="64 MB" interval={rtt}ms target={rtt * 50}us first_wait=false'
        " blue_threshold=600s",
        0,
    )


def _sfq(draw: random.Random) -> tuple[str, str, int]:
    limit, quantum = draw.choice([127, 60, 20]), draw.choice([1514, 3028, 600])
    return (
        f"sfq limit {limit} quantum {quantum} divisor 65536",
        f'sfq limit="{limit} packets" bins=1024 quantum="{quantum} B"',
        0,
    )


def _pie(draw: random.Random) -> tuple[str, str, int]:
    target, limit, ecn = draw.choice([15, 5, 30]), draw.choice([1000, 60]), draw.random() < 0.5
    return (
        f"pie limit {limit} target {target}ms tupdate 15ms alpha 2 beta 20 {'ecn' if ecn else 'noecn'} nobytemode",
        f'pie limit="{limit} packets" reference={target}ms derandomise=true mean_packet="{FULL_SIZE} B"'
        f" high_delay=250ms ecn={str(ecn).lower()}",
        15_000_000,
    )


def _fq_pie(draw: random.Random) -> tuple[str, str, int]:
    target, limit, ecn = draw.choice([15, 5, 30]), draw.choice([10240, 60]), draw.random() < 0.5
    quantum = draw.choice([1514, 300])
    return (
        f"fq_pie limit {limit} flows 1024 target {target}ms tupdate 15ms alpha 2 beta 20 quantum {quantum}"
        f" ecn_prob 10 {'ecn' if ecn else 'noecn'} nobytemode",
        f'fq-pie limit="{limit} packets" queues=1024 quantum="{quantum} B" reference={target}ms derandomise=true'
        f' mean_packet="{FULL_SIZE} B" high_delay=250ms ecn={str(ecn).lower()}',
        15_000_000,
    )


def _red(draw: random.Random) -> tuple[str, str, int]:
    least, ecn = draw.choice([6000, 15000, 30000]), draw.random() < 0.5
    most, likelihood = 3 * least, draw.choice([0.02, 0.1])
    burst = 60
    return (
        f"red limit 400000 min {least} max {most} avpkt 1000 burst {burst} probability {likelihood} bandwidth RATE"
        f"{' ecn harddrop' if ecn else ''}",
        f'red limit="400000 B" minimum="{least} B" maximum="{most} B" max_probability={likelihood} weight=WEIGHT'
        f' mean_packet="1000 B" wait=false ecn={str(ecn).lower()}',
        0,
    )


DISCIPLINES = {
    "codel": Discipline(_codel, ("overlimit", "target"), counts="packets"),
    "fq_codel": Discipline(_fq_codel, ("fat_flow", "target"), has_queues=True),
    "cake": Discipline(_cake, ("fat_flow", "target"), codes=(0, 8, 46, 34)),
    "cake-shaped": Discipline(_cake, ("fat_flow", "target"), shapes=True, codes=(0, 8, 46, 34)),
    "sfq": Discipline(_sfq, ("fat_flow", "target")),
    "pie": Discipline(_pie, ("early", "early"), signals_arrivals=True, counts="packets"),
    "fq_pie": Discipline(_fq_pie, ("early", "early"), signals_arrivals=True, counts="packets"),
    "red": Discipline(_red, ("early", "early"), signals_arrivals=True, counts="bytes"),
}
"""Disciplines by the name of tc; `cake-shaped` is CAKE with a rate of its own."""


def random_input(name: str, number: int) -> Input:
    """Return the random input of a number: settings, a rate, and some hundred packets of up to five flows in phases of load.

    Raises `UsageError` if no discipline has the name.
    """
    if name not in DISCIPLINES:
        raise UsageError(f"no queue discipline {plain(name)}", f"one of {', '.join(DISCIPLINES)}")
    discipline = DISCIPLINES[name]
    draw = random.Random(f"{name} {number}")
    rate = draw.choice([1_000_000, 4_000_000, 4_000_000, 20_000_000])
    setting, line, update_ns = discipline.settings(draw)
    if "WEIGHT" in line:  # tc rounds the weight to a power of two that depends on burst and average packet
        weight = _red_weight(line, setting)
        line, setting = line.replace("WEIGHT", weight), setting.replace("RATE", f"{rate}bit")
    if discipline.shapes:
        tc = (f"qdisc add dev {offer.DEVICE} root handle 1: {setting} bandwidth {rate}bit",)
    else:
        tc = (
            f"qdisc add dev {offer.DEVICE} root handle 1: htb default 1",
            f"class add dev {offer.DEVICE} parent 1: classid 1:1 htb rate {rate}bit burst 1 cburst 1 quantum 1514",
            f"qdisc add dev {offer.DEVICE} parent 1:1 handle 10: {setting}",
        )
    return Input(tc, line, rate, tuple(_packets(draw, rate, discipline.codes)), update_ns)


def _red_weight(line: str, setting: str) -> str:
    """Return the weight that tc finds for RED (`tc_red_eval_ewma` of iproute2)."""
    words = setting.split()
    value = {name: float(words[words.index(name) + 1]) for name in ("min", "avpkt", "burst")}
    least, weight = value["min"] / value["avpkt"], 0.5
    if value["burst"] < least:
        raise ValueError(line)
    for power in range(1, 32):
        if value["burst"] + 1 - least <= (1 - (1 - weight) ** value["burst"]) / weight:
            return repr(0.5**power)
        weight /= 2
    raise ValueError(line)


def _packets(draw: random.Random, rate: int, codes: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """Yield packets in phases: a load between a third and thrice the rate, flows and sizes, with bursts between them."""
    at, count = START_MS * 1_000_000, draw.choice([120, 300, 500])
    while count > 0:
        load, flows = draw.choice([0.3, 0.9, 1.1, 1.5, 3.0]), draw.randrange(1, offer.FLOWS + 1)
        sizes = draw.choice([(1514,), (1514, 1514, 66), (66, 300, 1514), (200,)])
        is_burst, ecn = draw.random() < 0.25, draw.choice([(0,), (2,), (0, 1, 2)])
        for _ in range(min(count, draw.randrange(10, 150))):
            length = draw.choice(sizes)
            yield at, length, draw.randrange(flows), draw.choice(codes) << 2 | draw.choice(ecn)
            gap = 0 if is_burst else draw.expovariate(1) * length * 8e9 / rate / load
            at += max(1000, int(gap))
            count -= 1
        at += draw.choice([0, 0, 20_000_000, 400_000_000])


@dataclass(frozen=True)
class Recorded:
    """Actions of the kernel for one input."""

    trace: str
    """As a golden trace."""
    functions: dict[str, int]
    """Functions of the kernel that dropped packets, and how many."""
    statistics: str
    """Text that tc prints of the discipline at the end."""


def record_kernel(kernel: Kernel, name: str, numbers: Sequence[int], seed: int = 1) -> Iterator[Recorded]:
    """Offer random inputs to a discipline of a kernel, one after the other in one guest, and yield its actions.

    Raises `EnvironmentFailure` if the guest or `tc` failed.
    """
    inputs = [random_input(name, number) for number in numbers]
    with tempfile.TemporaryDirectory(prefix="sojourn-offer-") as place:
        jobs = Path(place, "jobs")
        lines = [json.dumps({"tc": each.tc, "packets": each.packets, "drains_s": _drains_s(each)}) for each in inputs]
        jobs.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [sys.executable, "-I", "-S", offer.__file__, str(jobs)]
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        if virtual.run(kernel, command, environment, seed, as_root=True).status != 0:
            raise EnvironmentFailure(f"packets could not be offered to {name}")
        with jobs.with_name("jobs.out").open(encoding="utf-8") as out:
            queues = json.loads(out.readline())
            for each, text in zip(inputs, out, strict=True):
                done = json.loads(text)
                functions: dict[str, int] = {}
                for kind, _, _, function in done["events"]:
                    if kind == "d":
                        functions[function] = functions.get(function, 0) + 1
                yield Recorded(trace_of(name, each, done, kernel.version, queues), functions, done["statistics"])


FREED_AFTERWARDS = ("__dev_queue_xmit", "kfree_skb_list_reason", "__dev_xmit_skb")
"""Functions that free what a discipline refused at an arrival, after the calls (`to_free`)."""


def _drains_s(given: Input) -> float:
    """Return a time in which a link sends all packets, and CAKE, which waits for its target in between, too."""
    return sum(packet[1] for packet in given.packets) * 8 / given.rate + 2


def trace_of(name: str, given: Input, done: dict[str, Any], version: str, queues: list[int]) -> str:
    """Return what a discipline did with an input as a golden trace.

    Parameters
    ----------
    done
        What `sojourn.linux.offer` wrote down.
    version
        Of the kernel.
    queues
        Flow queue of each flow, where the discipline has them.
    """
    discipline = DISCIPLINES[name]
    marked = set(done["marked"])
    groups = _calls(done["events"])
    base = _base(groups, given.update_ns)
    lines = [
        "sojourn-trace 1",
        f"= manager {given.line}",
        f"= rate {given.rate}",
        *(["= draws recorded"] if discipline.signals_arrivals else []),
        f"= made-by Linux {version}, {name}; sojourn {VERSION}",
    ]
    if discipline.shapes:
        lines.append(f"> k 0 sustained {given.rate}")
    last, packets, size = FIRST_NS, 0, 0
    limit = int(given.line.split('limit="')[1].split()[0]) if discipline.counts else 0
    lengths = {number: packet[1] for number, packet in enumerate(given.packets, 1)}
    at_arrival, at_departure = discipline.reasons
    for kind, time, number, dropped in groups:
        at = last = max(last, FIRST_NS + time - base)
        if kind == "t":
            lines.append(f"> t {at}")
            continue
        if kind == "s":
            lines.append(f"> o {at}")
            lines += [f"< d {victim} {at_departure}" for victim in dropped]
            if number in marked and not discipline.signals_arrivals:
                lines.append(f"< m {number} {at_departure}")
            lines.append(f"< s {number or '-'}")
            packets -= 1 + len(dropped)
            size -= lengths.get(number, 0) + sum(lengths[victim] for victim in dropped)
            continue
        _, length, flow, octet = given.packets[number - 1]
        is_full = (packets if discipline.counts == "packets" else size + length - 1) >= limit > 0
        if discipline.signals_arrivals and not is_full:
            is_signalled = number in marked or number in dropped
            lines.append(f"> u {UNIT_LOW if is_signalled else UNIT_HIGH}")
        lines.append(
            f"> a {at} {number} {length} {queues[flow] if discipline.has_queues else flow + 1:x} {octet >> 2} {octet & 3} - 0"
        )
        reason = "overlimit" if is_full else at_arrival
        lines += [f"< d {victim} {reason}" for victim in dropped]
        if number in marked and discipline.signals_arrivals:
            lines.append(f"< m {number} {at_arrival}")
        if number not in dropped:
            lines.append(f"< e {number}")
        packets += 1 - len(dropped)
        size += length - sum(lengths[victim] for victim in dropped)
    return "\n".join(lines) + "\n"


Call = tuple[str, int, int, list[int]]


def _calls(events: list[tuple[str, int, int, str]]) -> list[Call]:
    """Return the calls of the discipline, each with the packets that it dropped, in order."""
    calls: list[Call] = []
    waiting: list[int] = []
    for kind, time, number, function in events:
        if kind != "d":
            calls.append((kind, time, number, waiting if kind == "s" else []))
            waiting = [] if kind == "s" else waiting
        elif function in FREED_AFTERWARDS:
            arrival = next(call for call in reversed(calls) if call[0] == "a")
            arrival[3].insert(0, number)  # a list that grows at its head
        else:
            waiting.append(number)
    if waiting:
        calls.append(("s", events[-1][1], 0, waiting))
    return calls


def _base(calls: list[Call], update_ns: int) -> int:
    """Return the time at which the trace begins: that of the first arrival, or of the last update before it."""
    first = next(time for kind, time, *_ in calls if kind == "a")
    before = [time for kind, time, *_ in calls if kind == "t" and time <= first]
    if not update_ns or not before:
        return first - first % TICK_NS
    del calls[: next(place for place, call in enumerate(calls) if call[0] == "t" and call[1] == before[-1])]
    return before[-1] - before[-1] % TICK_NS
