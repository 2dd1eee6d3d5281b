"""The scenarios of RFC 7928, with numbers where it leaves them open.

Source: RFC 7928 sections 5 to 10 and 13. Deviations: LEDBAT has the gain of its own document, 1 and not 10; video is a
`video-call`. What is left out, and why, stands in `LEFT_OUT`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

RATE_MBPS = 10.0
"""Rate of the bottleneck. chosen: 7928 leaves it open; that of its own example in section 8.2.1."""

RTT_MS = 100.0
"""Base round trip. chosen: as the rate."""

PACKET = 1500

DURATION_S, WARM_UP_S = 120.0, 20.0
"""Length of a run, and what is left out at its start. chosen: 10 x 100 round trips after slow start."""

UPSTREAM, DOWNSTREAM = "upstream", "downstream"

Metrics = Mapping[tuple[str, str], float]
"""Metrics of a run, by subject and metric."""


@dataclass(frozen=True)
class Own:
    """The number for which a scenario is made, beside utilisation, delay and loss."""

    title: str
    unit: str
    of: Callable[[Metrics], float]


@dataclass(frozen=True)
class Cell:
    """One scenario."""

    item: str
    section: str
    word: str
    """Level of the requirement in section 13: must, should, may; empty where it has none."""
    what: str
    traffic: str
    direction: str = UPSTREAM
    rtt_ms: float = RTT_MS
    """The largest base round trip, for which the buffer is made."""
    rate_mbps: float = RATE_MBPS
    conditions: str = ""
    other_mbps: float = 1000.0
    """Rate of the other direction, Mb/s; the default is no bottleneck."""
    other_is_managed: bool = False
    path: bool = False
    """True if a second bottleneck stands behind the first."""
    own: Own | None = None

    @property
    def criterion(self) -> str:
        """None but its own."""
        return self.item


def buffer_packets(rate_mbps: float, rtt_ms: float) -> int:
    """Return the bandwidth-delay product in packets, rounded up: the buffer of all managers (section 3.2).

    Examples
    --------
    >>> buffer_packets(10.0, 100.0), buffer_packets(10.0, 560.0), buffer_packets(100.0, 100.0)
    (84, 467, 834)
    """
    return math.ceil(rate_mbps * 1e6 * rtt_ms * 1e-3 / (8 * PACKET))


def scenario_text(cell: Cell, queue: str, *, duration_s: float = DURATION_S) -> str:
    """Return the file of a scenario with `queue`, an inline table, before its bottleneck."""
    warm_up = WARM_UP_S * duration_s / DURATION_S
    drop_tail = '{ kind = "drop-tail", limit = "10000 packets" }'
    other = queue if cell.other_is_managed else drop_tail
    parts = ["schema = 1", f'name = "aqm-{cell.item}"', f'duration = "{duration_s:g} s"']
    if cell.path:
        parts.append('path = ["access", "next"]')
    parts.append(f'\n[measure]\nfrom = "{warm_up:g} s"')
    for direction in (UPSTREAM, DOWNSTREAM):
        is_own = direction == cell.direction
        rate = cell.rate_mbps if is_own else cell.other_mbps
        parts.append(
            f"\n[access.{direction}]\n"
            f'link = {{ kind = "serial", rate = "{rate:g} Mb/s" }}\n'
            f"queue = {queue if is_own else other}"
        )
        if is_own and cell.conditions:
            parts.append(f"conditions = {cell.conditions}")
    if cell.path:
        parts.append(
            f'\n[[link]]\nname = "next"\n\n[link.upstream]\nlink = {{ kind = "serial", rate = "8 Mb/s" }}\n'
            f'queue = {queue}\n\n[link.downstream]\nlink = {{ kind = "serial", rate = "1 Gb/s" }}\nqueue = {drop_tail}'
        )
    return "\n".join([*parts, cell.traffic])


def _tcp(
    name: str,
    *,
    stack: str = '"linux-reno"',
    rtt_ms: float = RTT_MS,
    lanes: int = 1,
    direction: str = UPSTREAM,
    more: str = "",
) -> str:
    return (
        f'\n[[traffic]]\nname = "{name}"\n'
        f'app = {{ kind = "bulk", direction = "{direction}", lanes = {lanes}, start_jitter = "1 s"{more} }}\n'
        f'stack = {stack}\nrtt = "{rtt_ms:g} ms"'
    )


def _reno(window: int = 3, *, segment: int | None = None, ecn: bool = False) -> str:
    size = "" if segment is None else f', maximum_segment_size = "{segment} B"'
    capable = ', ecn = "classic"' if ecn else ""
    return f'{{ kind = "linux-reno", initial_window = {window}{size}{capable} }}'


def _datagrams(name: str, packet: int, interval: str, direction: str = UPSTREAM) -> str:
    return (
        f'\n[[traffic]]\nname = "{name}"\napp = {{ kind = "constant-rate", direction = "{direction}", '
        f'packet = "{packet} B", interval = "{interval}" }}\nrtt = "{RTT_MS:g} ms"'
    )


def _short(window: int) -> str:
    """Transfers of 20, 50 and 99 packets, one of each every 10 s from 30 s on."""
    parts: list[str] = []
    for place, packets in enumerate((20, 50, 99)):
        more = f', file = "{packets * 1448} B", period = "30 s", start = "{30 + 10 * place} s"'
        parts.append(_tcp(f"short-{packets}", stack=_reno(window), more=more))
    return "".join(parts)


def _web(users: int = 1) -> str:
    page = '{ kind = "generated", servers = 1, objects_per_server = 49, log10_sd = 0, total = "490 kB" }'
    return (
        f'\n[[traffic]]\nname = "web"\napp = {{ kind = "web", users = {users}, think = "0 s", index = "10 kB", page = {page} }}\n'
        f'stack = {_reno(10)}\nrtt = "{RTT_MS:g} ms"'
    )


def _video() -> str:
    return f'\n[[traffic]]\nname = "video"\napp = {{ kind = "video-call" }}\nrtt = "{RTT_MS:g} ms"'


def _burst(*parts: str) -> str:
    known = {
        "web": _web(),
        "cbr": _datagrams("cbr", 200, "3.2 ms", DOWNSTREAM),
        "bulk": _tcp("bulk", direction=DOWNSTREAM),
        "video": _video(),
    }
    return "".join(known[part] for part in parts)


def _goodput(name: str) -> Callable[[Metrics], float]:
    return lambda metrics: metrics[name, "goodput"]


def _ratio(metrics: Metrics) -> float:
    first = metrics["one", "goodput"]
    return metrics["two", "goodput"] / first if first else math.inf


def _fair(item: str, rtt_ms: float, *, ecn: bool = False) -> Cell:
    stack = _reno(ecn=ecn)
    traffic = _tcp("one", stack=stack) + _tcp("two", stack=stack, rtt_ms=rtt_ms)
    return Cell(
        item,
        "4.5" if ecn else "6.2",
        "with ECN" if ecn else "must",
        f"2 NewReno, round trips 100 and {rtt_ms:g} ms{', with ECN' if ecn else ''}",
        traffic,
        rtt_ms=560.0,
        own=Own("goodput of the second to the first", "", _ratio),
    )


FAIR_MS = (5.0, 20.0, 50.0, 100.0, 150.0, 200.0, 300.0, 560.0)


def flows_of(coefficient: float) -> int:
    """Return how many flows make a level of congestion (section 8.2.1): a share of buffer and path in packets.

    Examples
    --------
    >>> [flows_of(coefficient) for coefficient in (0.036, 0.081, 0.114)]
    [6, 14, 19]
    """
    path = RATE_MBPS * 1e6 * RTT_MS * 1e-3 / (8 * PACKET)
    return round(coefficient * (path + buffer_packets(RATE_MBPS, RTT_MS)))


MILD, MEDIUM, HEAVY = (flows_of(coefficient) for coefficient in (0.036, 0.081, 0.114))


def _changing() -> str:
    """Three rounds of 20 s each of mild, medium and heavy congestion, by flows that come and go."""
    parts = [_tcp("mild", lanes=MILD)]
    for number in range(3):
        begin = 60 * number
        for name, lanes, after in (("medium", MEDIUM - MILD, 20), ("heavy", HEAVY - MEDIUM, 40)):
            more = f', start = "{begin + after} s", stop = "{begin + 60} s"'
            parts.append(_tcp(f"{name}-{number}", lanes=lanes, more=more))
    return "".join(parts)


def _capacity(period_s: float) -> str:
    return f'[{{ from = "{period_s:g} s", for = "{period_s:g} s", every = "{2 * period_s:g} s", rate = "10 Mb/s" }}]'


def _page(metrics: Metrics) -> float:
    return metrics["web", "page_load_time_median"]


def _lost(name: str, metric: str = "loss_total") -> Callable[[Metrics], float]:
    return lambda metrics: metrics[name, metric]


CELLS: tuple[Cell, ...] = (
    Cell("T1", "5.1.1", "must", "1 NewReno", _tcp("tcp", stack=_reno())),
    *(
        Cell(
            f"T2{letter}",
            "5.1.2",
            "must",
            f"T1 and transfers of 20, 50, 99 packets, initial window {window}",
            _tcp("tcp", stack=_reno()) + _short(window),
            own=Own("transfer of 50 packets", "s", lambda m: m["short-50", "transfer_time_median"]),
        )
        for letter, window in (("a", 3), ("b", 10))
    ),
    Cell("T3", "5.2", "must", "1 CUBIC", _tcp("tcp", stack='"linux-cubic"')),
    Cell(
        "T4a",
        "5.3",
        "must",
        "UDP at 1.2 of the rate",
        _datagrams("udp", PACKET, "1 ms"),
        own=Own("lost", "%", _lost("udp", "lost")),
    ),
    Cell(
        "T4b",
        "5.3",
        "must",
        "UDP at 0.8 of the rate and 1 NewReno",
        _datagrams("udp", PACKET, "1.5 ms") + _tcp("tcp", stack=_reno()),
        own=Own("goodput of NewReno", "Mb/s", _goodput("tcp")),
    ),
    Cell(
        "T5",
        "5.4",
        "may",
        "1 NewReno and 1 LEDBAT",
        _tcp("tcp", stack=_reno()) + _tcp("ledbat", stack='"ledbat"'),
        own=Own("goodput of LEDBAT", "Mb/s", _goodput("ledbat")),
    ),
    *(_fair(f"F{number}", rtt_ms) for number, rtt_ms in enumerate(FAIR_MS, 1)),
    *(_fair(f"F{number}e", rtt_ms, ecn=True) for number, rtt_ms in enumerate(FAIR_MS, 1)),
    Cell(
        "P",
        "4.4",
        "should",
        "mild congestion, half of the flows with packets of 500 B",
        _tcp("one", lanes=MILD // 2) + _tcp("two", stack=_reno(segment=448), lanes=MILD - MILD // 2),
        own=Own("goodput of small packets to large ones", "", _ratio),
    ),
    *(
        Cell(item, "7.2", "must", what, _burst(*parts), direction=DOWNSTREAM, own=Own("page", "s", _page))
        for item, what, parts in (
            ("B1", "web and CBR", ("web", "cbr")),
            ("B2", "web, CBR and a transfer", ("web", "cbr", "bulk")),
            ("B3", "video, web and CBR", ("video", "web", "cbr")),
            ("B4", "video, web, CBR and a transfer", ("video", "web", "cbr", "bulk")),
        )
    ),
    *(
        Cell(item, section, "", f"{lanes} NewReno: {level}", _tcp("tcp", lanes=lanes))
        for item, section, lanes, level in (
            ("C1", "8.2.2", MILD, "mild congestion"),
            ("C2", "8.2.3", MEDIUM, "medium congestion"),
            ("C3", "8.2.4", HEAVY, "heavy congestion"),
        )
    ),
    Cell("C4", "8.2.5", "must", "mild, medium, heavy for 20 s each, and again", _changing()),
    *(
        Cell(
            item,
            "8.2.6",
            "must",
            f"2 NewReno; the rate is 100 and 10 Mb/s for {words} each",
            _tcp("tcp", lanes=2),
            rate_mbps=100.0,
            conditions=_capacity(period_s),
            own=Own("longest wait", "ms", lambda m: m[UPSTREAM, "sojourn_max"]),
        )
        for item, period_s, words in (("K1", 20.0, "20 s"), ("K2", 0.1, "100 ms"))
    ),
    Cell(
        "M",
        "9.1",
        "recommended",
        "a call, 6 web users, CBR, video and 5 transfers",
        _web(6)
        + _datagrams("cbr", 200, "3.2 ms", DOWNSTREAM)
        + _video()
        + _tcp("bulk", direction=DOWNSTREAM, lanes=5)
        + _datagrams("call", 218, "20 ms", DOWNSTREAM),
        direction=DOWNSTREAM,
        own=Own("lost or late of the call", "%", _lost("call")),
    ),
    *(
        Cell(
            item,
            "9.2",
            "may",
            f"mild congestion both ways, {rate:g} Mb/s back",
            _tcp("tcp", lanes=MILD) + _tcp("back", lanes=MILD, direction=DOWNSTREAM),
            other_mbps=rate,
            other_is_managed=True,
            own=Own("goodput back", "Mb/s", lambda m: m["back", "goodput_downstream"]),
        )
        for item, rate in (("D1", 10.0), ("D2", 1.0))
    ),
    Cell(
        "A1",
        "10.2",
        "may",
        "mild congestion, and the same manager before 8 Mb/s behind it",
        _tcp("tcp", lanes=MILD) + _datagrams("call", 218, "20 ms"),
        path=True,
        own=Own("lost or late of a call", "%", _lost("call")),
    ),
    Cell("G1", "3.1", "should", "T1 with 1 Mb/s back", _tcp("tcp", stack=_reno()), other_mbps=1.0),
    Cell("G2", "3.1", "should", "C2 with 1 Mb/s back", _tcp("tcp", lanes=MEDIUM), other_mbps=1.0),
)
"""All scenarios, in the order of the document."""

QUICK = ("T1", "T3", "T4a", "T4b", "F2", "C1", "C2", "C3", "K1")
"""Those of a first look."""

LEFT_OUT = (
    ("4.3.2", "deployment beside other managers", "the author has to name the managers beside it"),
    ("4.6", "interaction with scheduling", "the author has to say which scheduler it is meant for"),
    ("8.3", "stability and sensitivity", "theory; `--set KEY=V` shows what a key moves"),
    ("10.2", "two managers of other values or kinds in a row", "a study with `[[link]]` can show it"),
    ("11", "cost", "benchmarks of the project count instructions of built-in managers; X8 bounds those of plugins"),
    ("12", "operator control", "`sojourn keys KIND` lists keys with their defaults"),
)  # fmt: skip
"""Sections that no scenario of these can show, and why."""
