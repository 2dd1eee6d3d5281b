"""Lines to paste read as their targets read them, written for tests alone: tc, and what sqm-scripts makes of options of UCI.

Source: tc-cake(8), tc-htb(8), tc-stab(8) and `tc_calc_size_table` of iproute2; sqm-scripts 95337de: `run-openwrt.sh`, `functions.sh`,
`defaults.sh`, `piece_of_cake.qos`, `simplest.qos`.
"""

import itertools
import re
from typing import Any

Tables = dict[str, dict[str, Any]]

WAYS = {"eth1": "upstream", "ifb4eth1": "downstream"}


def read_tc(text: str) -> Tables:
    """Return the router that commands of tc make, as tables of a scenario by direction."""
    found: Tables = {way: {} for way in WAYS.values()}
    for command in text.splitlines():
        words = command.split("#")[0].split()
        if not words or words[0] == "ip":
            assert not words or re.fullmatch(r"ip link (add|set) \w+ (type ifb|up)", command), command
            continue
        assert words[0] == "tc", command
        assert words[1] in ("qdisc", "class", "filter")
        assert words[2] in ("replace", "add")
        assert words[3] == "dev"
        if words[1] == "filter" or ("ingress" in words[4:] and "cake" not in words):
            continue
        tables, rest = found[WAYS[words[4]]], words[5:]
        if "cake" in rest:
            tables |= _cake(rest[rest.index("cake") + 1 :])
        elif words[1] == "class":
            tables |= _bucket(rest)
        elif "htb" in rest:
            tables["framing"] = _stab(rest)
        else:
            tables["queue"] = _leaf(rest)
    return found


def _cake(words: list[str]) -> dict[str, Any]:
    """Read the words of CAKE, of which the last of a kind counts."""
    rate, tins, hosts = "", "diffserv3", "triple"
    overhead, mpu, cells = None, 0, ""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "bandwidth":
            rate = _rate(rest.pop(0))
        elif word == "overhead":
            overhead = int(rest.pop(0))
        elif word == "mpu":
            mpu = int(rest.pop(0))
        elif word in ("atm", "ptm", "noatm"):
            cells = word.removeprefix("noatm")
        elif word in ("besteffort", "diffserv3", "diffserv4"):
            tins = word
        elif word == "triple-isolate":
            hosts = "triple"
        else:
            # `raw` counts the frame's header, `ingress` pays for what is dropped: neither is simulated.
            assert word == "nat", word
    assert overhead is not None, "without the word CAKE counts what the kernel does, the frame's header among it"
    assert rate
    return {
        "link": {"kind": "shaped", "rate": rate, "rule": "deficit", "delay": "0 s"},
        "queue": {"kind": "cake", "tins": tins, "hosts": hosts},
        "framing": _framing(overhead, mpu, cells),
    }


def _framing(overhead: int, mpu: int, cells: str) -> dict[str, Any]:
    if cells:
        assert mpu == 0
        return {"kind": cells, "overhead": overhead}
    return {"kind": "counted", "overhead": overhead, "mpu": mpu} if overhead or mpu else {"kind": "ip"}


def _bucket(words: list[str]) -> dict[str, Any]:
    told = dict(itertools.pairwise(words))
    assert told["rate"] == told["ceil"]
    assert told["burst"] == told["cburst"]
    burst = int(told["burst"].removesuffix("b"))
    return {"link": {"kind": "shaped", "rate": _rate(told["rate"]), "burst": f"{burst} B", "delay": "0 s"}}


def _stab(words: list[str]) -> dict[str, Any]:
    """Read a table of lengths; the kernel counts 14 B of a frame's header by itself."""
    if "stab" not in words:
        return {"kind": "counted", "overhead": 14, "mpu": 0}
    at = words.index("stab")
    stab = dict(zip(words[at + 1 : words.index("htb") : 2], words[at + 2 : words.index("htb") : 2], strict=False))
    overhead, mpu = int(stab["overhead"]) + 14, int(stab["mpu"])
    has_table = stab["linklayer"] == "atm" or mpu > 0
    # A row of the table stands for `mtu / tsize` lengths, rounded up.
    assert not has_table or int(stab["tsize"]) > int(stab["mtu"])
    return _framing(overhead, mpu, stab["linklayer"].removeprefix("ethernet"))


def _leaf(words: list[str]) -> dict[str, Any]:
    at = next(place for place, word in enumerate(words) if word in ("fq_codel", "codel", "pie"))
    kind, rest = words[at], words[at + 1 :]
    told: dict[str, str] = {}
    ecn = kind == "fq_codel"
    while rest:
        word = rest.pop(0)
        if word in ("ecn", "noecn"):
            ecn = word == "ecn"
        else:
            told[word] = rest.pop(0)
    queue: dict[str, Any] = {"kind": kind.replace("_", "-"), "limit": f"{told.pop('limit')} packets", "ecn": ecn}
    target = _span(told.pop("target"))
    if kind == "pie":
        queue |= {"reference": target, "update_interval": _span(told.pop("tupdate", "15ms"))}
    else:
        queue |= {"target": target, "interval": _span(told.pop("interval", "100ms"))}
    if kind == "fq_codel":
        queue["queues"] = int(told.pop("flows", "1024"))
    assert not told, told
    return queue


def _rate(text: str) -> str:
    found = re.fullmatch(r"([1-9]\d{1,7})kbit", text)
    assert found, text
    return f"{found[1]} kb/s"


def _span(text: str) -> str:
    found = re.fullmatch(r"(\d+)(ms|us)", text)
    assert found, text
    return f"{found[1]} {found[2]}"


def read_uci(text: str) -> dict[str, str]:
    """Return the options of SQM that commands of uci set."""
    options: dict[str, str] = {}
    for command in text.splitlines():
        found = re.fullmatch(r"uci set sqm\.@queue\[0\]\.(\w+)='([^']*)'", command)
        if found:
            options[found[1]] = found[2]
        else:
            assert command.startswith(("#", "uci -q get", "uci commit sqm", "/etc/init.d/sqm")), command
    assert options.keys() <= KNOWN_OPTIONS, options.keys() - KNOWN_OPTIONS
    return options


KNOWN_OPTIONS = frozenset(
    [
        "enabled",
        "interface",
        "download",
        "upload",
        "linklayer_adaptation_mechanism",
        "linklayer",
        "overhead",
        "tcMTU",
        "tcTSIZE",
        "tcMPU",
        "ilimit",
        "elimit",
        "itarget",
        "etarget",
        "ingress_ecn",
        "egress_ecn",
        "iqdisc_opts",
        "eqdisc_opts",
        "target",
        "qdisc",
        "script",
        "squash_dscp",
        "squash_ingress",
        "qdisc_advanced",
        "qdisc_really_really_advanced",
        "linklayer_advanced",
    ]
)


def sqm_commands(options: dict[str, str]) -> str:
    """Return the commands of tc that sqm-scripts runs with these options."""
    assert options["enabled"] == "1"
    lines: list[str] = []
    for side, device in (("e", options["interface"]), ("i", f"ifb4{options['interface']}")):
        rate = options["upload" if side == "e" else "download"]
        more = options.get(f"{side}qdisc_opts", "")
        if options["script"] == "piece_of_cake.qos":
            assert options["qdisc"] == "cake"
            tins = "diffserv3 nat besteffort"
            if side == "i" and options.get("squash_dscp", "1") == "1":
                tins += " wash"
            lines.append(f"tc qdisc add dev {device} root cake bandwidth {rate}kbit {_cake_lla(options)} {tins} {more}")
            continue
        assert options["script"] == "simplest.qos"
        assert options["qdisc"] != "cake"
        burst = max(1000 * int(rate) // 8000, 33 * 53)
        limit = options.get(f"{side}limit") or "1001"
        marks = options.get("ingress_ecn" if side == "i" else "egress_ecn", "ECN").lower()
        target = options.get(f"{side}target")
        assert target, "without one the target follows the rate"
        flows = "flows 1024" if options["qdisc"] == "fq_codel" else ""
        lines += [
            f"tc qdisc add dev {device} root handle 1: {_stab_words(options)} htb default 10",
            f"tc class add dev {device} parent 1:1 classid 1:10 htb rate {rate}kbit ceil {rate}kbit burst {burst} cburst {burst} prio 0",
            f"tc qdisc add dev {device} parent 1:10 handle 110: {options['qdisc']} limit {limit} target {target} {marks} {flows} {more}",
        ]
    return "\n".join(lines)


def _cake_lla(options: dict[str, str]) -> str:
    if options["linklayer"] == "none":
        return ""
    cells = "atm " if options["linklayer"] == "atm" else ""
    return f"{cells}overhead {options['overhead']} mpu {options.get('tcMPU', '0')}"


def _stab_words(options: dict[str, str]) -> str:
    if options["linklayer"] == "none":
        return ""
    return (
        f"stab mtu {options.get('tcMTU', '2047')} tsize {options.get('tcTSIZE', '512')} mpu {options.get('tcMPU', '0')} "
        f"overhead {options['overhead']} linklayer {options['linklayer']}"
    )
