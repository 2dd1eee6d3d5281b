"""Lines to paste for a setting: commands of tc, options of SQM on OpenWrt, a modem's configuration file, cake-autorate.

Source: tc-cake(8), tc-htb(8), tc-stab(8), tc-fq_codel(8); sqm-scripts 95337de (`run-openwrt.sh` for options, `functions.sh`:
`get_cake_lla_string` says `atm` at most, `get_stab_string`, `get_burst`, `get_target`; `defaults.sh`; `piece_of_cake.qos` appends
`iqdisc_opts` and `eqdisc_opts`); keys of cake-autorate (`defaults.sh`).
Deviations: nothing is ever executed; names of interfaces are placeholders that the reader changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sojourn.advice.arms import WAYS, Arm, Line
from sojourn.advice.varying import minute_rates
from sojourn.base.errors import plain
from sojourn.version import VERSION

BLOCKS = ("tc", "uci", "docsis", "autorate", "modem")
"""Words of `--print`."""

WAN, IFB = "eth1", "ifb4eth1"
"""Names of interfaces, as sqm-scripts makes them. chosen: eth1 is the port to the modem of most routers."""


def blocks_of(line: Line, arm: Arm, command: str, day: str) -> dict[str, str]:
    """Return the lines to paste for a setting by target; a router's for routers, a modem's for modems, never both.

    Parameters
    ----------
    line
        The line.
    arm
        The setting.
    command, day
        What asked for it and when, for the comment.
    """
    head = f"# {plain(command)}\n# sojourn {VERSION}, {day}"
    if arm.who == "router":
        names = f"{head}; change the names of the interfaces to yours\n"
        blocks = {"tc": names + tc_block(line, arm), "uci": names + uci_block(line, arm)}
        if any(line.is_varying(way) for way in WAYS):
            rates = {
                way: minute_rates(line.side(way)["link"]) if line.is_varying(way) else [line.rates_mbps[way]]
                for way in WAYS
            }
            blocks["autorate"] = f"{head}\n# not simulated: shares of the rates of minutes\n{autorate_block(rates)}"
        return blocks
    if not arm.who:
        return {}
    if line.is_provisioned:
        return {"docsis": f"{head}\n{docsis_block(line, arm)}"}
    return {"modem": modem_block(line, arm)}


def tc_block(line: Line, arm: Arm) -> str:
    """Return commands that set a router of Linux."""
    parts: list[str] = _said_of_counting(line, arm)
    for way, device in zip(WAYS, (WAN, IFB), strict=True):
        side = line.router_side(arm, way)
        counted, rate = side.counted, f"{side.kbit}kbit"
        if way == "downstream":
            parts += [
                f"ip link add {IFB} type ifb",
                f"ip link set {IFB} up",
                f"tc qdisc replace dev {WAN} handle ffff: ingress",
                f"tc filter replace dev {WAN} parent ffff: matchall action mirred egress redirect dev {IFB}",
            ]
        if side.burst is None:
            parts.append(
                f"tc qdisc replace dev {device} root cake bandwidth {rate} besteffort triple-isolate nat {counted.tc}"
            )
            continue
        parts += [
            f"tc qdisc replace dev {device} root handle 1: stab mtu {STAB_MTU} tsize {STAB_SIZE} mpu {counted.mpu} "
            f"overhead {counted.bytes - KNOWN} linklayer {counted.cells or 'ethernet'} htb default 10",
            f"tc class replace dev {device} parent 1: classid 1:10 htb rate {rate} ceil {rate} "
            f"burst {side.burst}b cburst {side.burst}b",
            f"tc qdisc replace dev {device} parent 1:10 {_LEAVES[arm.kind].tc}",
        ]
    return "\n".join(parts) + "\n"


def _said_of_counting(line: Line, arm: Arm) -> list[str]:
    """Say what a table of tc cannot count, and what stands for it."""
    if arm.kind == "cake" or all(line.counted(replace(arm, kind="cake"), way).cells != "ptm" for way in WAYS):
        return []
    return ["# A table of tc has no code words of PTM: rates are 64/65 of those of the line, as they were simulated."]


STAB_MTU, STAB_SIZE = 2047, 2048
"""Of a table of tc: a row for each length, so that none is rounded up (with the usual 512 rows it is to 4 B)."""

KNOWN = 14
"""Bytes of a frame's header, which the kernel counts by itself before a table of tc."""


@dataclass(frozen=True)
class _Leaf:
    """A queue manager behind a bucket: its name in tc, packets that it holds, what delay it aims at, whether it marks."""

    name: str
    limit: int
    target: str
    more: str
    ecn: bool

    @property
    def tc(self) -> str:
        return f"{self.name} limit {self.limit} target {self.target} {self.more} {'ecn' if self.ecn else 'noecn'}"


_LEAVES: Mapping[str, _Leaf] = {
    "fq-codel": _Leaf("fq_codel", 10240, "5ms", "interval 100ms", ecn=True),
    "codel": _Leaf("codel", 1000, "5ms", "interval 100ms", ecn=False),
    "pie": _Leaf("pie", 1000, "15ms", "tupdate 15ms", ecn=False),
}
"""Defaults of `ROUTER_KINDS`; intervals are those of the kernel, so SQM need not say them."""


def uci_block(line: Line, arm: Arm) -> str:
    """Return commands of `uci` that set SQM on OpenWrt.

    sqm-scripts has one link layer for both directions, and none with code words: CAKE gets further options, of which
    it takes the last.
    """
    up, down = (line.router_side(arm, way) for way in WAYS)
    options = {"enabled": "1", "interface": WAN, "download": str(down.kbit), "upload": str(up.kbit)}
    linklayer = {"linklayer_advanced": "1", "linklayer": "atm" if up.counted.cells == "atm" else "ethernet"}
    if up.burst is None:
        options |= {"qdisc": "cake", "script": "piece_of_cake.qos", "qdisc_advanced": "1", "squash_dscp": "0"}
        options |= {"squash_ingress": "0", "qdisc_really_really_advanced": "1"}
        options |= {"iqdisc_opts": f"nat {down.counted.tc}", "eqdisc_opts": f"nat {up.counted.tc}"}
        options |= linklayer | {"overhead": str(up.counted.bytes), "tcMPU": str(up.counted.mpu)}
    else:
        leaf = _LEAVES[arm.kind]
        marks = "ECN" if leaf.ecn else "NOECN"
        options |= {"qdisc": leaf.name, "script": "simplest.qos", "qdisc_advanced": "1", "squash_dscp": "0"}
        options |= {
            "squash_ingress": "0",
            "ingress_ecn": marks,
            "egress_ecn": marks,
            "qdisc_really_really_advanced": "1",
        }
        options |= {
            "ilimit": str(leaf.limit),
            "elimit": str(leaf.limit),
            "itarget": leaf.target,
            "etarget": leaf.target,
        }
        options |= linklayer | {"overhead": str(up.counted.bytes - KNOWN), "tcMPU": str(up.counted.mpu)}
        options |= {"tcMTU": str(STAB_MTU), "tcTSIZE": str(STAB_SIZE), "linklayer_adaptation_mechanism": "default"}
    lines = _said_of_counting(line, arm)
    lines.append("uci -q get sqm.@queue[0] >/dev/null || uci add sqm queue")
    lines += [f"uci set sqm.@queue[0].{key}='{value}'" for key, value in options.items()]
    return "\n".join([*lines, "uci commit sqm", "/etc/init.d/sqm restart"]) + "\n"


def docsis_block(line: Line, arm: Arm) -> str:
    """Return a whole CM configuration file as text, which `sojourn provision encode` takes."""
    told = "# sojourn provision encode modem.toml --secret FILE --out modem.cm (the CMTS wants its shared secret)\n"
    if arm.kind == "docsis-dual-queue":
        told += "# No file says how far MAPs are apart: 1 ms was simulated (White 2019 section 3.1).\n"
    return told + line.file_of(arm)


def modem_block(line: Line, arm: Arm) -> str:
    """Return what to set in a modem or an access node that is set by hand, in words."""
    lines: list[str] = []
    for way in WAYS:
        queue = arm.queue(way)
        if not queue:
            continue
        where = "Modem, upstream" if way == "upstream" else "Access node, downstream"
        target = arm.target_ms(way)
        managed = "no queue management" if target is None else f"PIE (RFC 8033) with a target of {target} ms"
        lines.append(f"{where}: a buffer of {line.buffer_bytes(arm, way)} B, {managed}.")
    return "\n".join(lines) + "\n"


AUTORATE_FLOOR, AUTORATE_BASE, AUTORATE_TOP = 0.9, 0.93, 0.98
"""Shares of the 5th, 50th and 95th percentile of rates of a minute. chosen: the floor below what is nearly always there, the top below what is rarely more."""

DELTAS_MS = (10.0, 30.0, 60.0)
"""Thresholds of cake-autorate that stay as they are. Source: its `defaults.sh`."""

CALM_MS = 10.0
"""Idle jitter above which thresholds are raised by it. chosen: a third of the first threshold."""


def autorate_block(rates_mbps: Mapping[str, Sequence[float]], idle_jitter_ms: float = 0.0) -> str:
    """Return a configuration of cake-autorate for a line whose rate varies.

    Parameters
    ----------
    rates_mbps
        Means of a minute each, by direction.
    idle_jitter_ms
        90th less 10th percentile of round trips without load.

    Examples
    --------
    >>> print(autorate_block({"upstream": [10, 20, 30], "downstream": [50, 100, 150]}).splitlines()[0])
    min_ul_shaper_rate_kbps=9900
    """
    import numpy as np

    lines: list[str] = []
    for way, word in (("upstream", "ul"), ("downstream", "dl")):
        low, middle, high = np.quantile(np.asarray(rates_mbps[way], dtype=float), [0.05, 0.5, 0.95])
        for name, value in (
            ("min", AUTORATE_FLOOR * low),
            ("base", AUTORATE_BASE * middle),
            ("max", AUTORATE_TOP * high),
        ):
            lines.append(f"{name}_{word}_shaper_rate_kbps={round(1000 * float(value))}")
    raised = idle_jitter_ms if idle_jitter_ms > CALM_MS else 0.0
    names = ("avg_owd_delta_max_adjust_up_thr", "owd_delta_delay_thr", "avg_owd_delta_max_adjust_down_thr")
    for word in ("ul", "dl"):
        lines += [f"{word}_{name}_ms={value + raised:.1f}" for name, value in zip(names, DELTAS_MS, strict=True)]
    return "\n".join(lines) + "\n"


def autorate_next(rate_kbps: float, average_ms: float, *, is_bloated: bool, is_loaded: bool, base_kbps: float) -> float:
    """Return the rate that cake-autorate sets next.

    Source: `cake-autorate.sh`: with bufferbloat down by 1 to 25 %, under load without it up by at most 4 %, else back to the
    base rate by 1 %.

    Examples
    --------
    >>> def told(delta, bloated, loaded):
    ...     rate = autorate_next(20000, delta, is_bloated=bloated, is_loaded=loaded, base_kbps=15000)
    ...     return round(rate)
    >>> told(45, True, True), told(15, False, True), told(5, False, True), told(5, False, False)
    (17400, 20600, 20800, 19800)
    """
    up_ms, delay_ms, down_ms = DELTAS_MS
    if is_bloated:
        share = min(max((average_ms - delay_ms) / (down_ms - delay_ms), 0.0), 1.0)
        return rate_kbps * (0.99 - 0.24 * share)
    if is_loaded:
        share = min(max((delay_ms - average_ms) / (delay_ms - up_ms), 0.0), 1.0)
        return rate_kbps * (1 + 0.04 * share)
    step = 0.01 * rate_kbps
    if rate_kbps > base_kbps:
        return max(rate_kbps - step, base_kbps)
    return min(rate_kbps + step, base_kbps)
