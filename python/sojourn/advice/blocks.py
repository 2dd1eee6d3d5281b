"""Lines to paste for a setting: commands of tc, options of SQM on OpenWrt, a modem's configuration file, cake-autorate.

Source: tc-cake(8), tc-htb(8), tc-fq_codel(8); options and defaults of sqm-scripts (`platform/openwrt/sqm.conf`,
`src/defaults.sh`: a burst of 1 ms of the rate); keys of cake-autorate (`defaults.sh`).
Deviations: nothing is ever executed; names of interfaces are placeholders that the reader changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sojourn.advice.arms import WAYS, Arm, Line
from sojourn.advice.varying import minute_rates
from sojourn.base.errors import plain
from sojourn.version import VERSION

__all__ = ["BLOCKS", "autorate_block", "blocks_of", "docsis_block", "tc_block", "uci_block"]

BLOCKS = ("tc", "uci", "docsis", "autorate")
"""What `--print` may name."""

WAN, IFB = "eth1", "ifb4eth1"
"""Names of interfaces, as sqm-scripts makes them. chosen: eth1 is the port to the modem of most routers."""

SHAPER_BURST_S = 0.001
"""Source: sqm-scripts, SHAPER_BURST_DUR_US = 1000."""


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
    head = f"# {plain(command)}\n# sojourn {VERSION}, {day}; change the names of the interfaces to yours\n"
    if arm.who == "router":
        blocks = {"tc": head + tc_block(line, arm), "uci": head + uci_block(line, arm)}
        if any(line.is_varying(way) for way in WAYS):
            rates = {
                way: minute_rates(line.side(way)["link"]) if line.is_varying(way) else [line.rates_mbps[way]]
                for way in WAYS
            }
            blocks["autorate"] = head + autorate_block(rates)
        return blocks
    if arm.who in ("modem", "operator") and line.is_docsis:
        return {"docsis": head + docsis_block(line, arm)}
    return {}


def _kbit(line: Line, arm: Arm, way: str) -> int:
    return int(1000 * line.router_mbps(arm, way) + 1e-3)


def tc_block(line: Line, arm: Arm) -> str:
    """Return commands that set a router of Linux."""
    parts: list[str] = []
    for way, device in zip(WAYS, (WAN, IFB), strict=True):
        rate, counted = _kbit(line, arm, way), line.counted(arm, way)
        if way == "downstream":
            parts += [
                f"ip link add {IFB} type ifb",
                f"ip link set {IFB} up",
                f"tc qdisc replace dev {WAN} handle ffff: ingress",
                f"tc filter replace dev {WAN} parent ffff: matchall action mirred egress redirect dev {IFB}",
            ]
        if arm.kind == "cake":
            ingress = " ingress" if way == "downstream" else ""
            parts.append(
                f"tc qdisc replace dev {device} root cake bandwidth {rate}kbit besteffort "
                f"triple-isolate nat {counted.tc}{ingress}"
            )
            continue
        burst = max(round(rate * 125 * SHAPER_BURST_S), 1600)
        stab = ""
        if counted.bytes or counted.mpu:
            layer = "atm" if counted.layer == "atm" else "ethernet"
            # tc-stab counts from the frame, 14 B of which the kernel knows.
            stab = f" stab mtu 2047 tsize 512 mpu {counted.mpu} overhead {counted.bytes - 14} linklayer {layer}"
        parts += [
            f"tc qdisc replace dev {device} root handle 1:{stab} htb default 10",
            f"tc class replace dev {device} parent 1: classid 1:10 htb rate {rate}kbit ceil {rate}kbit "
            f"burst {burst}b cburst {burst}b",
            f"tc qdisc replace dev {device} parent 1:10 {_LEAVES[arm.kind]}",
        ]
    return "\n".join(parts) + "\n"


_LEAVES: Mapping[str, str] = {
    "fq-codel": "fq_codel limit 10240 target 5ms interval 100ms",
    "codel": "codel limit 1000 target 5ms interval 100ms",
    "pie": "pie limit 1000 target 15ms tupdate 15ms",
}


def uci_block(line: Line, arm: Arm) -> str:
    """Return commands of `uci` that set SQM on OpenWrt."""
    up, down = (_kbit(line, arm, way) for way in WAYS)
    counted = line.counted(arm, "upstream")
    qdisc = {"cake": "cake", "fq-codel": "fq_codel", "codel": "codel", "pie": "pie"}[arm.kind]
    script = "piece_of_cake.qos" if arm.kind == "cake" else "simplest.qos"
    options = {
        "enabled": "1",
        "interface": WAN,
        "download": str(down),
        "upload": str(up),
        "qdisc": qdisc,
        "script": script,
        "qdisc_advanced": "1",
        "ingress_ecn": "ECN",
        "egress_ecn": "ECN" if arm.kind != "pie" else "NOECN",
        "linklayer": counted.layer,
        "overhead": str(counted.bytes),
        "linklayer_advanced": "1",
        "tcMPU": str(counted.mpu),
    }
    lines = ["uci -q get sqm.@queue[0] >/dev/null || uci add sqm queue"]
    lines += [f"uci set sqm.@queue[0].{key}='{value}'" for key, value in options.items()]
    return "\n".join([*lines, "uci commit sqm", "/etc/init.d/sqm restart"]) + "\n"


def docsis_block(line: Line, arm: Arm) -> str:
    """Return a modem's service flows as text of a CM configuration file, which `sojourn provision encode` takes.

    Buffer Control stands in bytes of the rate, its minimum and maximum stay unset. What a plain buffer needs is queue
    management off.
    """
    from sojourn.provisioning import encode

    parts = ["schema = 1\n"]
    two = arm.kind == "docsis-dual-queue"
    for number, way in enumerate(WAYS):
        rate = round(line.rates_mbps[way] * 1e6)
        if not arm.sets(way):
            continue
        reference = 1 + 2 * number
        if two:
            parts.append(
                f"[[tlv]]\n[tlv.{way}_service_flow]\nservice_flow_reference = {reference}\n"
                f"qos_parameter_set_type = 7\naggregate_service_flow_reference = {number + 1}\n"
                f"[[tlv]]\n[tlv.{way}_service_flow]\nservice_flow_reference = {reference + 1}\n"
                f"qos_parameter_set_type = 7\naggregate_service_flow_reference = {number + 1}\n"
                f"[[tlv]]\n[tlv.{way}_aggregate_service_flow]\naggregate_service_flow_reference = {number + 1}\n"
                f"max_sustained_rate = {rate}\n"
                f"low_latency = {{ low_latency_service_flow_reference = {reference + 1} }}\n"
            )
            continue
        limit, target = arm.limit_ms(way), arm.target_ms(way)
        control = f"buffer_control = {{ target = {round(rate / 8 * limit / 1000)} }}\n" if limit else ""
        aqm = "disable = 1" if target is None else f"disable = 0, classic_latency_target = {target}"
        parts.append(
            f"[[tlv]]\n[tlv.{way}_service_flow]\nservice_flow_reference = {reference}\n"
            f"qos_parameter_set_type = 7\nmax_sustained_rate = {rate}\n{control}aqm = {{ {aqm} }}\n"
        )
    return encode("".join(parts), seal=False).text


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
