"""What can be set, as changes of a scenario: a router in front of the line, the modem's own queue, the operator's service.

Source: Linux `sch_cake` for the shaper of CAKE; sqm-scripts for the others: a token bucket of 1 ms of the rate in front of the
manager; RFC 8034 and MULPIv3.1 (Buffer Control, AQM) for the operator.
Deviations: a router shapes both directions with one kind of manager, and behind the bottleneck downstream.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

from sojourn.advice.varying import mean_mbps
from sojourn.base.errors import UsageError
from sojourn.base.toml_text import parse_toml, toml_value
from sojourn.scenario.scenario_file import Scenario
from sojourn.scenario.settings import apply_settings

__all__ = [
    "AS_IS",
    "SHARES",
    "WAYS",
    "Arm",
    "Line",
    "Overhead",
    "mbps_of",
    "modem_arms",
    "operator_arms",
    "router_arms",
]

WAYS = ("upstream", "downstream")

SHARES = (0.80, 0.83, 0.86, 0.89, 0.92, 0.95, 0.98)
"""Shares of the line's rate that a router is told, in the first look."""

ROUTER_KINDS: Mapping[str, str] = {
    "cake": 'kind = "cake", profile = "besteffort"',
    "fq-codel": 'kind = "fq-codel"',
    "pie": 'kind = "pie"',
    "codel": 'kind = "codel"',
}
"""Queue managers of a router, in the order in which one is taken of equals."""

BUFFERS_MS = (10, 20, 50, 100, 250)
"""Buffers of a modem. chosen: from a few packets of an upload to what modems without Buffer Control have."""

TARGETS_MS = (5, 10, 15, 20)
"""Targets of DOCSIS-PIE. chosen: its default of 10 ms, half, and up to double."""

CONTROLLED_MS = (50, 100, 250)
"""Buffer Control of an operator; likewise."""


@dataclass(frozen=True)
class Overhead:
    """What a router may be told to count of a packet beside IP.

    Attributes
    ----------
    words
        In a sentence.
    framing
        As a table of a scenario.
    tc
        As words of tc.
    bytes, mpu, layer
        As options of SQM.
    """

    words: str
    framing: Mapping[str, object]
    tc: str
    bytes: int
    mpu: int = 0
    layer: str = "ethernet"


NOTHING = Overhead("nothing beside IP", {"kind": "ip"}, "raw", 0, 0, "none")

ETHERNET = Overhead(
    "Ethernet frames", {"kind": "counted", "overhead": 18, "mpu": 64}, "overhead 18 mpu 64 noatm", 18, 64
)


@dataclass(frozen=True)
class Arm:
    """One setting.

    Attributes
    ----------
    who
        Whose knob is turned: `router`, `modem`, `operator`, or nobody's (empty).
    kind
        What manages the queue.
    up, down
        Shares of the line that a router is told.
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

    def _queue(self, way: str) -> dict[str, Any]:
        """Return the queue that it sets in one direction; nothing if none."""
        told = next((words for key, words in self.settings if key == f"access.{way}.queue"), "{}")
        return cast("dict[str, Any]", parse_toml(f"queue = {told}")["queue"])

    def limit_ms(self, way: str) -> int | None:
        """Return the buffer that it sets, ms; `None` if it leaves the modem's own."""
        limit = self._queue(way).get("limit")
        return None if limit is None else int(str(limit).partition(" ")[0])

    def target_ms(self, way: str) -> int | None:
        """Return the target of queue management that it sets, ms; `None` if it sets none."""
        target = self._queue(way).get("target")
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
    """A scenario whose line somebody wants to set.

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

        Raises
        ------
        UsageError
            If a link has none.
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
                    "a link with a rate; for a modem's own queue --can modem",
                )
            found[way] = mbps_of(rate)
        return found

    def is_varying(self, way: str) -> bool:
        """Return whether the rate of a direction follows a trace."""
        return "opportunities" in self.side(way)["link"]

    @property
    def is_docsis(self) -> bool:
        """Whether the line is a cable line."""
        return any("docsis" in str(self.side(way)["link"].get("kind")) for way in WAYS)

    @property
    def kind(self) -> str:
        """Kind of the link upstream."""
        return str(self.side("upstream")["link"].get("kind"))

    def overheads(self, way: str) -> list[Overhead]:
        """Return what a router can be told to count: what the line charges first, then less of it."""
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
            told = f"{kind} overhead {overhead}"
            words = f"{'cells' if kind == 'atm' else 'code words'} and {overhead} B"
            layer = "atm" if kind == "atm" else "ethernet"
            right = Overhead(words, {"kind": kind, "overhead": overhead}, told, overhead, 0, layer)
            return [right, NOTHING]
        if kind == "counted":
            mpu = int(framing.get("mpu", 0))
            counted = {"kind": "counted", "overhead": overhead, "mpu": mpu}
            told = f"overhead {overhead} mpu {mpu} noatm"
            return [Overhead(f"{overhead} B a packet", counted, told, overhead, mpu), NOTHING]
        if kind == "ip":
            return [NOTHING]
        if header:
            counted = {"kind": "counted", "overhead": 18 + header, "mpu": 64 + header}
            told = f"overhead {18 + header} mpu {64 + header} noatm"
            words = f"Ethernet frames and the modem's header of {header} B"
            right = Overhead(words, counted, told, 18 + header, 64 + header)
            return [right, ETHERNET, NOTHING]
        return [ETHERNET, NOTHING]

    def counted(self, arm: Arm, way: str) -> Overhead:
        """Return what a router with a setting counts of packets in one direction."""
        overheads = self.overheads(way)
        return overheads[min(arm.overhead, len(overheads) - 1)]

    def router_mbps(self, arm: Arm, way: str) -> float:
        """Return the rate that a router is told for a direction."""
        return self.rates_mbps[way] * (arm.up if way == "upstream" else arm.down)

    def with_arm(self, arm: Arm, *, duration_s: float, from_s: float) -> Scenario:
        """Return the scenario with a setting, of this length, measured from a moment on."""
        settings = [f"duration={duration_s:g} s", f"measure.from={from_s:g} s"]
        settings += ["record.datagrams=true", "record.delays=false", "record.occupancy=false"]
        settings += ["record.transfers=false"]
        settings += [f"{key}={value}" for key, value in arm.settings]
        if arm.who != "router":
            return Scenario.parse(apply_settings(self.text, settings))
        settings += [f"path={toml_value(self.router_path)}"]
        text = apply_settings(self.text, settings)
        return Scenario.parse(text + self.router_tables(arm))

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
        for way in WAYS:
            rate = self.router_mbps(arm, way)
            rule: dict[str, object] = {"rule": "deficit"}
            if arm.kind != "cake":
                rule = {"burst": f"{max(round(rate * 125), 1600)} B"}
            link = {"kind": "shaped", "rate": f"{rate:.6g} Mb/s", "delay": "0 s", **rule}
            parts.append(
                f"[{place}.{way}]\nlink = {toml_value(link)}\n"
                f"queue = {{ {ROUTER_KINDS[arm.kind]} }}\n"
                f"framing = {toml_value(dict(self.counted(arm, way).framing))}\n"
            )
        return "".join(parts)

    def refuse_unfit(self) -> None:
        """Refuse what no router in front can be set for.

        Raises
        ------
        UsageError
            If the scenario has homes, or traffic with a path of its own.
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


def modem_arms() -> list[Arm]:
    """Return what a modem can be told about its own queue: a plain buffer, or its queue management."""
    found = [
        Arm(
            "modem",
            "drop-tail",
            settings=(("access.upstream.queue", f'{{ kind = "drop-tail", limit = "{span} ms" }}'),),
            words=f"a plain buffer of {span} ms",
            changes=1,
        )
        for span in BUFFERS_MS
    ]
    return found + [_pie("modem", "upstream", target, None) for target in TARGETS_MS]


def operator_arms(*, is_docsis31: bool) -> list[Arm]:
    """Return what an operator can provision: queue management with its target, Buffer Control, and perhaps two queues."""
    found = [_pie("operator", "both", target, None) for target in TARGETS_MS]
    found += [
        Arm(
            "operator",
            "drop-tail",
            settings=tuple((f"access.{way}.queue", f'{{ kind = "drop-tail", limit = "{span} ms" }}') for way in WAYS),
            words=f"Buffer Control of {span} ms without queue management",
            changes=2,
        )
        for span in CONTROLLED_MS
    ]
    found += [_pie("operator", "both", 10, span) for span in CONTROLLED_MS if span != 100]
    if is_docsis31:
        for rate in (0, 1, 5):
            granted = "none" if not rate else f'{{ kind = "basic", rate = "{rate} Mb/s" }}'
            more = f" and {rate} Mb/s of proactive grants" if rate else ""
            found.append(
                Arm(
                    "operator",
                    "docsis-dual-queue",
                    settings=(
                        *((f"access.{way}.queue", '{ kind = "docsis-dual-queue" }') for way in WAYS),
                        ("access.upstream.link.service", "low-latency"),
                        ("access.upstream.link.proactive", granted),
                    ),
                    words=f"two queues{more}",
                    changes=3,
                )
            )
    return found


def _pie(who: str, ways: str, target_ms: int, limit_ms: int | None) -> Arm:
    limit = f', limit = "{limit_ms} ms"' if limit_ms else ""
    told = f" and Buffer Control of {limit_ms} ms" if limit_ms else ""
    queue = f'{{ kind = "docsis-pie", target = "{target_ms} ms"{limit} }}'
    return Arm(
        who,
        "docsis-pie",
        settings=tuple((f"access.{way}.queue", queue) for way in (WAYS if ways == "both" else (ways,))),
        words=f"DOCSIS-PIE with a target of {target_ms} ms{told}",
        changes=2 if limit_ms else 1,
    )


_UNITS = {"b/s": 1e-6, "kb/s": 1e-3, "Mb/s": 1.0, "Gb/s": 1e3, "Tb/s": 1e6}
_SHORT = {"k": "kb/s", "M": "Mb/s", "G": "Gb/s", "": "Mb/s"}


def mbps_of(text: str) -> float:
    """Return a rate in Mb/s; `20M` is short for `20 Mb/s`.

    Raises
    ------
    UsageError
        If it is no rate between 0.1 and 10,000 Mb/s.

    Examples
    --------
    >>> mbps_of("20M"), mbps_of("1.5 Gb/s"), mbps_of("640 kb/s")
    (20.0, 1500.0, 0.64)
    """
    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)\s*(b/s|kb/s|Mb/s|Gb/s|Tb/s|[kMG]?)", text.strip())
    if not found:
        raise UsageError(f'"{text[:40]}" is no rate', "20M, or 20 Mb/s")
    rate = float(found[1]) * _UNITS[_SHORT.get(found[2], found[2])]
    if not 0.1 <= rate <= 10_000:
        raise UsageError(f"{text} is out of range", "0.1 Mb/s to 10 Gb/s")
    return rate
