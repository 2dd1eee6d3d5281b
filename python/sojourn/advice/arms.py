"""Settings as changes of a scenario: a router in front of the line, the modem's own queue, the operator's service.

Source: Linux `sch_cake` for the shaper of CAKE; sqm-scripts for the others: a token bucket of 1 ms of the rate in front of the
manager; RFC 8034 and MULPIv3.1 (Buffer Control, AQM) for the operator.
Deviations: a router shapes both directions with one kind of manager, and behind the bottleneck downstream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

from sojourn.advice.varying import mean_mbps
from sojourn.base.errors import UsageError
from sojourn.base.quantities import rate_bps
from sojourn.base.toml_text import parse_toml, toml_value
from sojourn.provisioning import Modem
from sojourn.provisioning.statement import file_text, settings_of_file
from sojourn.scenario.scenario_file import Scenario
from sojourn.scenario.settings import apply_settings

WAYS = ("upstream", "downstream")

SHARES = (0.80, 0.83, 0.86, 0.89, 0.92, 0.95, 0.98)
"""Shares of the line's rate in the shaper of a router, in the first look."""

ROUTER_KINDS: Mapping[str, str] = {
    "cake": 'kind = "cake", profile = "besteffort"',
    "fq-codel": 'kind = "fq-codel"',
    "pie": 'kind = "pie"',
    "codel": 'kind = "codel"',
}
"""Queue managers of a router, in the order in which one is taken of equals."""


@dataclass(frozen=True)
class ModemQueue:
    """Queue management that a modem may have.

    Attributes
    ----------
    kind, words
        In a scenario and in a sentence.
    target
        Key of the delay that it aims at.
    default_ms, targets_ms
        What its document says for that, and what is tried.
    """

    kind: str
    words: str
    target: str
    default_ms: int
    targets_ms: tuple[int, ...]


MODEM_QUEUES: Mapping[bool, ModemQueue] = {
    True: ModemQueue("docsis-pie", "DOCSIS-PIE", "target", 10, (5, 10, 15, 20)),
    False: ModemQueue("pie", "PIE", "reference", 15, (5, 10, 15, 20)),
}
"""Queue management of modems, by whether they are for cable. Source: RFC 8034 and MULPIv3.1 for cable, RFC 8033 for others. Targets
that are tried are chosen: half of RFC 8034's 10 ms, and up to double."""

BUFFERS_MS = (10, 20, 50, 100, 250)
"""Plain buffers of a modem that are tried. chosen: from a few packets of an upload to what modems without Buffer Control have."""

RECOMMENDED_MS, UNSET_MS, DEFAULT_MS = 50, 250, 100
"""Buffers: the recommended one (White 2012 section 4.1.2), that of a modem that was never set (White 2019 Table 3), and that of a service
flow without Buffer Control (TLV 68)."""

FULL_FRAMES = 2 * 1518
"""Bytes that a buffer holds at least. chosen: two frames of full size; with less an upload stops."""


def holds_frames(mbps: float, buffer_ms: int) -> bool:
    """Return whether a buffer of `buffer_ms` holds the packets that an upload needs at a rate."""
    return mbps * 125 * buffer_ms >= FULL_FRAMES


def recommended_ms(mbps: float) -> int:
    """Return the recommended buffer at a rate: on slow lines the smallest that holds two frames.

    Examples
    --------
    >>> recommended_ms(20.0), recommended_ms(0.4)
    (50, 100)
    """
    return next((span for span in (RECOMMENDED_MS, DEFAULT_MS) if holds_frames(mbps, span)), UNSET_MS)


@dataclass(frozen=True)
class Overhead:
    """Bytes of a packet that a router may count.

    Attributes
    ----------
    words
        In a sentence.
    framing
        As a table of a scenario.
    bytes, mpu, cells
        As words of CAKE: bytes beside IP, the least that a packet counts, and `atm` or `ptm`, or nothing.
    rate
        Share of the rate that a shaper gets in place of counting code words.
    """

    words: str
    framing: Mapping[str, object]
    bytes: int
    mpu: int = 0
    cells: str = ""
    rate: Fraction = Fraction(1)

    @property
    def tc(self) -> str:
        """As words of CAKE, whatever it would take otherwise."""
        return f"overhead {self.bytes} mpu {self.mpu} {self.cells or 'noatm'}"

    def behind_buckets(self) -> Overhead:
        """Return the nearest that tables of tc can count: they have cells, and no code words, of which 64 in 65 octets are content."""
        if self.cells != "ptm":
            return self
        framing = {"kind": "counted", "overhead": self.bytes, "mpu": 0}
        words = f"{self.bytes} B a packet, at 64/65 of the rate for code words"
        return Overhead(words, framing, self.bytes, rate=Fraction(64, 65))

    @property
    def of_full(self) -> float:
        """Approximate count of a packet of 1500 B, in bytes, for a comparison."""
        return (1500 + self.bytes) * {"atm": 53 / 48, "ptm": 65 / 64}.get(self.cells, 1.0)


NOTHING = Overhead("nothing beside IP", {"kind": "ip"}, 0)

ETHERNET = Overhead("Ethernet frames", {"kind": "counted", "overhead": 18, "mpu": 64}, 18, 64)


@dataclass(frozen=True)
class RouterSide:
    """Setting of a router in one direction; scenarios and lines to paste are made of it.

    Attributes
    ----------
    kind
        Queue manager.
    kbit
        Rate of its shaper, kb/s.
    burst
        Bytes of its bucket; `None` for CAKE, which has none.
    counted
        The bytes of a packet that it counts.
    """

    kind: str
    kbit: int
    burst: int | None
    counted: Overhead

    def tables(self) -> str:
        """Return it as the keys of one direction of a link of a scenario."""
        rule = {"rule": "deficit"} if self.burst is None else {"burst": f"{self.burst} B"}
        link = {"kind": "shaped", "rate": f"{self.kbit} kb/s", "delay": "0 s", **rule}
        return (
            f"link = {toml_value(link)}\nqueue = {{ {ROUTER_KINDS[self.kind]} }}\n"
            f"framing = {toml_value(dict(self.counted.framing))}\n"
        )


LEAST_BURST = 1749
"""Bytes of a bucket at least. Source: sqm-scripts `get_burst`: a packet of 1500 B and 48 B around it in ATM cells."""

BURST_MS = 1
"""Time at its rate that a bucket holds. Source: sqm-scripts, SHAPER_BURST_DUR_US = 1000."""


@dataclass(frozen=True)
class Arm:
    """One setting.

    Attributes
    ----------
    who
        Where it is set: `router`, `modem`, `operator`, or nowhere (empty).
    kind
        What manages the queue.
    up, down
        Shares of the line in the shaper of a router.
    overhead
        Which of the line's overheads a router counts, by place.
    settings
        Changes of the scenario, for modem and operator.
    words
        The setting in a sentence.
    changes
        How many things it sets beside what is.
    """

    who: str
    kind: str
    up: float = 1.0
    down: float = 1.0
    overhead: int = 0
    settings: tuple[tuple[str, str], ...] = ()
    words: str = field(default="", compare=False)
    changes: int = field(default=0, compare=False)

    @property
    def name(self) -> str:
        """Short name, for tables and files."""
        if self.who == "router":
            counted = ("", ", less counted", ", nothing counted")[min(self.overhead, 2)]
            return f"{self.kind} {100 * self.up:.0f} % up, {100 * self.down:.0f} % down{counted}"
        return self.words

    def sets(self, way: str) -> bool:
        """Return whether it sets the queue of a modem or CMTS in one direction."""
        return any(key == f"access.{way}.queue" for key, _ in self.settings)

    def queue(self, way: str) -> dict[str, Any]:
        """Return the queue that it sets in one direction; nothing if none."""
        told = next((words for key, words in self.settings if key == f"access.{way}.queue"), "{}")
        return cast("dict[str, Any]", parse_toml(f"queue = {told}")["queue"])

    def limit_ms(self, way: str) -> int | None:
        """Return the buffer that it sets, ms; `None` if it leaves the modem's own."""
        limit = self.queue(way).get("limit")
        return None if limit is None else int(str(limit).partition(" ")[0])

    def target_ms(self, way: str) -> int | None:
        """Return the target of queue management that it sets, ms; `None` if it sets none."""
        queue = self.queue(way)
        target = queue.get("target", queue.get("reference"))
        return None if target is None else int(str(target).partition(" ")[0])

    def at(self, *, up: float | None = None, down: float | None = None, overhead: int | None = None) -> Arm:
        """Return the same setting of a router with other shares."""
        return replace(
            self,
            up=self.up if up is None else round(up, 4),
            down=self.down if down is None else round(down, 4),
            overhead=self.overhead if overhead is None else overhead,
        )


AS_IS = Arm("", "as it is", words="as it is")
"""Nothing is set."""


def router_arms(ups: Sequence[float], downs: Sequence[float], overhead: int = 0) -> list[Arm]:
    """Return settings of a router: each kind with each share."""
    return [Arm("router", kind, up, down, overhead, changes=3) for kind in ROUTER_KINDS for up in ups for down in downs]


@dataclass(frozen=True)
class Line:
    """A scenario whose line is to be set.

    Attributes
    ----------
    scenario
        With everything filled in.
    told_mbps
        Rates up and down of which a router takes shares; those of the line itself if left out.
    """

    scenario: Scenario
    told_mbps: tuple[float, float] | None = None

    @cached_property
    def text(self) -> str:
        """The scenario in canonical form."""
        return self.scenario.canonical()

    @cached_property
    def document(self) -> dict[str, Any]:
        """The same as tables."""
        return parse_toml(self.text)

    def side(self, way: str) -> dict[str, Any]:
        """Return the access link of a direction."""
        return cast("dict[str, Any]", self.document["access"][way])

    @cached_property
    def rates_mbps(self) -> dict[str, float]:
        """Rate of the line by direction; of a trace its mean.

        Raises `UsageError` if a link has none.
        """
        if self.told_mbps is not None:
            return dict(zip(WAYS, self.told_mbps, strict=True))
        found: dict[str, float] = {}
        for way in WAYS:
            rate = self.side(way)["link"].get("rate")
            if self.is_varying(way):
                found[way] = mean_mbps(self.side(way)["link"])
                continue
            if not isinstance(rate, str):
                kind = self.side(way)["link"].get("kind")
                raise UsageError(
                    f"access.{way}.link is of kind {kind} and has no rate of which a router could take a share",
                    "a link with a rate",
                )
            found[way] = rate_bps(rate) / 1e6
        return found

    def is_varying(self, way: str) -> bool:
        """Return whether the rate of a direction follows a trace."""
        return "opportunities" in self.side(way)["link"]

    @property
    def is_docsis(self) -> bool:
        """True if the line is a cable line."""
        return any("docsis" in str(self.side(way)["link"].get("kind")) for way in WAYS)

    @property
    def kind(self) -> str:
        """Kind of the link upstream."""
        return str(self.side("upstream")["link"].get("kind"))

    def overheads(self, way: str) -> list[Overhead]:
        """Return the overheads that a router can count: the line's own first, then smaller ones."""
        link = self.side(way)["link"]
        usual = "ethernet" if str(link.get("kind")).startswith("docsis31") else "ip"
        framing = self.side(way).get("framing", {"kind": usual})
        if isinstance(framing, str):
            framing = {"kind": framing}
        kind, overhead = framing.get("kind", "ip"), int(framing.get("overhead", 0))
        header = int(framing.get("mac_header", 0)) if kind == "docsis" else 0
        if way == "upstream" and link.get("kind") == "docsis31-upstream":
            header = int(link.get("mac_header", 10))
        if kind in ("atm", "ptm"):
            words = f"{'cells' if kind == 'atm' else 'code words'} and {overhead} B"
            return [Overhead(words, {"kind": kind, "overhead": overhead}, overhead, 0, kind), NOTHING]
        if kind == "counted":
            mpu = int(framing.get("mpu", 0))
            counted = {"kind": "counted", "overhead": overhead, "mpu": mpu}
            return [Overhead(f"{overhead} B a packet", counted, overhead, mpu), NOTHING]
        if kind == "ip":
            return [NOTHING]
        if header:
            counted = {"kind": "counted", "overhead": 18 + header, "mpu": 64 + header}
            words = f"Ethernet frames and the modem's header of {header} B"
            return [Overhead(words, counted, 18 + header, 64 + header), ETHERNET, NOTHING]
        return [ETHERNET, NOTHING]

    def counted(self, arm: Arm, way: str) -> Overhead:
        """Return what a router with a setting counts of packets in one direction.

        Tables of tc, which stand before all managers but CAKE, have no code words, and sqm-scripts has one table for both directions:
        the one that counts more.
        """
        of_ways = {one: self.overheads(one) for one in WAYS}
        found = {one: overheads[min(arm.overhead, len(overheads) - 1)] for one, overheads in of_ways.items()}
        if arm.kind == "cake":
            return found[way]
        return max(found.values(), key=lambda one: one.of_full).behind_buckets()

    def router_side(self, arm: Arm, way: str) -> RouterSide:
        """Return what a router with a setting is set to in one direction."""
        counted = self.counted(arm, way)
        share = arm.up if way == "upstream" else arm.down
        kbit = int(1000 * self.rates_mbps[way] * share * float(counted.rate) + 1e-3)
        burst = None if arm.kind == "cake" else max(kbit * BURST_MS // 8, LEAST_BURST)
        return RouterSide(arm.kind, kbit, burst, counted)

    def router_mbps(self, arm: Arm, way: str) -> float:
        """Return the rate of a router's shaper in a direction."""
        return self.router_side(arm, way).kbit / 1000

    def with_arm(self, arm: Arm, *, duration_s: float, from_s: float) -> Scenario:
        """Return the scenario with a setting, of this length, measured from a moment on."""
        settings = [f"duration={duration_s:g} s", f"measure.from={from_s:g} s"]
        settings += ["record.datagrams=true", "record.delays=false", "record.occupancy=false"]
        settings += ["record.transfers=false"]
        if arm.who != "router":
            return Scenario.parse(apply_settings(self.text, [*settings, *self.own_settings(arm)]))
        settings += [f"path={toml_value(self.router_path)}"]
        text = apply_settings(self.text, settings)
        return Scenario.parse(text + self.router_tables(arm))

    def own_settings(self, arm: Arm) -> list[str]:
        """Return what a setting of the modem or the operator changes of the scenario."""
        if not arm.settings:
            return []
        settings: list[str] = []
        for way, tables in self.own_tables(arm).items():
            settings += [
                f"access.{way}.link.{key}={toml_value(value)}" for key, value in tables.get("link", {}).items()
            ]
            settings.append(f"access.{way}.queue={toml_value(tables['queue'])}")
        return settings

    def own_tables(self, arm: Arm) -> dict[str, dict[str, Any]]:
        """Return the same as tables of the access link; on a cable line what its configuration file says, read back."""
        if self.is_provisioned:
            return settings_of_file(self.file_of(arm), self.modem(arm))
        return {way: {"queue": self._in_bytes(arm, way)} for way in WAYS if arm.sets(way)}

    def _in_bytes(self, arm: Arm, way: str) -> dict[str, Any]:
        """Return the queue that a setting has in one direction with its limit in bytes, in which modems are set."""
        octets = self.buffer_bytes(arm, way)
        return arm.queue(way) | ({} if octets is None else {"limit": f"{octets} B"})

    def buffer_bytes(self, arm: Arm, way: str) -> int | None:
        """Return the buffer that a setting has in one direction; `None` if it leaves the modem's own."""
        limit = arm.limit_ms(way)
        return None if limit is None else round(self.rates_mbps[way] * 125 * limit)

    def file_of(self, arm: Arm) -> str:
        """Return the configuration file that gives the modem of a cable line a setting, as text.

        Raises `UsageError` if no file can say what the line has.
        """
        settings = [f"{key}={value}" for key, value in arm.settings]
        return file_text(Line(Scenario.parse(apply_settings(self.text, settings))).document["access"])

    def modem(self, arm: Arm) -> Modem:
        """Return the kind of modem that a setting needs."""
        if self.kind.startswith("docsis30"):
            return "3.0"
        return "3.1-lld" if arm.kind == "docsis-dual-queue" else "3.1"

    @cached_property
    def is_provisioned(self) -> bool:
        """True if a configuration file can say the line as it is."""
        if not self.is_docsis:
            return False
        try:
            file_text(self.document["access"])
        except UsageError:
            return False
        return True

    @property
    def _router(self) -> str:
        """A name that no link of the scenario has."""
        taken = {str(link.get("name")) for link in self.document.get("link", [])}
        return next(name for name in ("router", *(f"router-{number}" for number in range(2, 99))) if name not in taken)

    @property
    def router_path(self) -> list[str]:
        """The path of the scenario with a router in front."""
        return [self._router, *self.document.get("path", ["access"])]

    def router_tables(self, arm: Arm, place: str = "link") -> str:
        """Return the router with a setting as a link of the scenario, or of an overlay whose links stand at another place."""
        parts = [f"\n[[{place}]]\nname = {toml_value(self._router)}\n"]
        parts += [f"[{place}.{way}]\n{self.router_side(arm, way).tables()}" for way in WAYS]
        return "".join(parts)

    def refuse_unfit(self) -> None:
        """Refuse what no router in front can be set for.

        Raises `UsageError` if the scenario has homes, or traffic with a path of its own.
        """
        if self.document.get("home"):
            raise UsageError(
                "the scenario has homes, and advice is for one line",
                "a scenario of one household: its traffic at the top level",
            )
        for entry in self.document.get("traffic", []):
            if entry.get("path", ["access"]) != self.document.get("path", ["access"]):
                raise UsageError(
                    f"traffic.{entry['name']} has a path of its own, and a router in front stands on all",
                    "leave its path out",
                )


def plain_buffer(line: Line, who: str, ways: Sequence[str], buffer_ms: int | None = None) -> Arm:
    """Return a setting of plain buffers in some directions, the recommended ones if no size is given."""
    spans = {way: buffer_ms or recommended_ms(line.rates_mbps[way]) for way in ways}
    is_provisioned = who == "operator" and line.is_docsis
    words = f"Buffer Control of {_spans(spans)} without AQM" if is_provisioned else f"a plain buffer of {_spans(spans)}"
    queues = {way: f'{{ kind = "drop-tail", limit = "{span} ms" }}' for way, span in spans.items()}
    return Arm(who, "drop-tail", settings=_queues(queues), words=words, changes=len(spans))


def queue_management(
    line: Line, who: str, ways: Sequence[str], target_ms: int | None = None, buffer_ms: int | None = None
) -> Arm:
    """Return a setting of a modem's queue management, as its documents recommend if not said otherwise."""
    own = MODEM_QUEUES[line.is_docsis]
    spans = {way: buffer_ms or recommended_ms(line.rates_mbps[way]) for way in ways}
    target = target_ms or own.default_ms
    queues = {
        way: f'{{ kind = "{own.kind}", {own.target} = "{target} ms", limit = "{span} ms" }}'
        for way, span in spans.items()
    }
    words = f"{own.words} with a target of {target} ms behind a buffer of {_spans(spans)}"
    return Arm(who, own.kind, settings=_queues(queues), words=words, changes=len(spans) + (target != own.default_ms))


def low_latency(line: Line, granted_mbps: int = 0) -> Arm:
    """Return the setting of Low Latency DOCSIS in both directions, perhaps with proactive grants."""
    spans = {way: recommended_ms(line.rates_mbps[way]) for way in WAYS}
    queues = {way: f'{{ kind = "docsis-dual-queue", limit = "{span} ms" }}' for way, span in spans.items()}
    granted = f'{{ kind = "basic", rate = "{granted_mbps} Mb/s" }}' if granted_mbps else "none"
    link = (("access.upstream.link.service", "low-latency"), ("access.upstream.link.proactive", granted))
    more = f" and {granted_mbps} Mb/s of proactive grants" if granted_mbps else ""
    return Arm(
        "operator",
        "docsis-dual-queue",
        settings=(*_queues(queues), *link),
        words=f"Low Latency DOCSIS{more}",
        changes=3,
    )


def _queues(queues: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((f"access.{way}.queue", queue) for way, queue in queues.items())


def _spans(spans: Mapping[str, int]) -> str:
    different = list(dict.fromkeys(spans.values()))
    if len(different) == 1:
        return f"{different[0]} ms"
    return " and ".join(f"{span} ms {way}" for way, span in spans.items())


def modem_arms(line: Line) -> list[Arm]:
    """Return what a modem can be set to by itself, upstream: a plain buffer, or its queue management."""
    ways = ("upstream",)
    mbps = line.rates_mbps["upstream"]
    found = [plain_buffer(line, "modem", ways, span) for span in BUFFERS_MS if holds_frames(mbps, span)]
    own = MODEM_QUEUES[line.is_docsis]
    found += [queue_management(line, "modem", ways, target) for target in own.targets_ms]
    return [*found, queue_management(line, "modem", ways, None, UNSET_MS)]


def operator_arms(line: Line, *, has_two_queues: bool) -> list[Arm]:
    """Return what an operator can provision: queue management with its target, Buffer Control, and perhaps two queues."""
    own = MODEM_QUEUES[True]
    found = [queue_management(line, "operator", WAYS, target) for target in own.targets_ms]
    sizes = (RECOMMENDED_MS, DEFAULT_MS, UNSET_MS)
    sizes = [span for span in sizes if all(holds_frames(line.rates_mbps[way], span) for way in WAYS)]
    found += [plain_buffer(line, "operator", WAYS, span) for span in sizes]
    found += [queue_management(line, "operator", WAYS, None, span) for span in sizes if span > RECOMMENDED_MS]
    if has_two_queues:
        found += [low_latency(line, granted) for granted in GRANTS_MBPS if granted < line.rates_mbps["upstream"] / 2]
    return found


GRANTS_MBPS = (0, 1, 5)
"""Guaranteed grant rates that are tried. chosen: none, some streams of games, and that of White 2019 section 4."""
