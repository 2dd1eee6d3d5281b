"""The scenario that a service stands for: its links, its queues, and a traffic mix of White 2019.

Source: White 2019 Table 2 and appendix B for the mixes. What they leave out is from the experiment script of the public
ns-3 model of DOCSIS (servers 2 to 10 ms away, transfers that pause for 0.1 s).
Deviations: games keep their mean packet size and interval, without the spread of both; video is a file of 3.75 MB every
5 s. Without a maximum traffic burst an upstream has that of its link, 100 ms at the rate, and not
the default of the MIB, 3044 octets, which a modem spends once in a MAP interval.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.base.errors import UsageError
from sojourn.provisioning.expansion import DIRECTIONS, Service

NQB = 42
"""DSCP of the marked game (White 2019 section 2.2)."""

MIXES: Mapping[int, Mapping[str, int]] = {
    1: {"web": 1},
    2: {"web": 1, "video": 1},
    3: {"web": 1, "up": 1},
    4: {"web": 1, "down": 1},
    5: {"web": 1, "up": 1, "down": 1},
    6: {"web": 1, "up": 5, "down": 5},
    7: {"web": 1, "up": 5, "down": 5, "video": 2},
    8: {"web": 5},
    9: {"speedtest_down": 16},
    10: {"speedtest_up": 8},
}
"""Traffic mixes of White 2019 Table 2: people on the web, videos, and transfers each way."""

STACK = "ns3-2019"
IDLE_AFTER = "100 ms"
"""How long a flow with a guaranteed request interval is quiet before it is polled. chosen: three packets of a game; a file cannot
say it (White 2019 section 3.2 leaves it to the CMTS)."""

GAME = {"upstream": 110, "downstream": 432}
"""Mean bytes of a game's packets (White 2019 appendix B); one every 33 ms."""
FILES = {"mu": 14.8, "sigma": 2.0}
"""Logarithm of the bytes of a transfer (White 2019 appendix B)."""

Table = dict[str, Any]


def access(service: Service) -> dict[str, Table]:
    """Return the access link of a service, both directions, as tables of a scenario.

    Raises
    ------
    UsageError
        If a direction has no rate: such a service is no tier.
    """
    return {direction: _direction(service, direction) for direction in DIRECTIONS}


def traffic(mix: int) -> list[Table]:
    """Return the traffic of a mix: a marked and an unmarked game, and what loads the line."""
    parts = MIXES[mix]
    entries: list[Table] = []
    for name, dscp in (("marked", NQB), ("unmarked", 0)):
        for direction, size in GAME.items():
            app = {
                "kind": "game",
                "direction": direction,
                "packet": f"{size} B",
                "interval": "33 ms",
                "start_jitter": "33 ms",
            }
            about = {"about": True} if dscp else {}  # the migration is for the marked game
            entries.append({"name": f"{name}-{direction}", "app": app, "rtt": "4 ms", "dscp": dscp, **about})
    if "web" in parts:
        app = {"kind": "web-3gpp", "profile": "white2019", "users": parts["web"]}
        entries.append(_connected("web", app, "8 ms"))
    for number in range(parts.get("video", 0)):
        app: Table = {"kind": "bulk", "direction": "downstream", "file": "3.75 MB", "period": "5 s"}
        app |= {"reuse_connection": True, "start_jitter": "5 s"}
        entries.append(_connected(f"video-{number + 1}", app, "20 ms"))
    for direction, key in (("upstream", "up"), ("downstream", "down")):
        for number in range(parts.get(key, 0)):
            app = {"kind": "bulk", "direction": direction, "file": FILES, "gap": "100 ms"}
            app |= {"start": f"{100 + 1000 * number} ms"}
            entries.append(_connected(f"ftp-{key}-{number + 1}", app, f"{20 * (number + 1)} ms"))
        lanes = parts.get(f"speedtest_{key}", 0)
        if lanes:
            app = {"kind": "bulk", "direction": direction, "lanes": lanes}
            entries.append(_connected(f"speedtest-{key}", app, "4 ms"))
    return entries


def _connected(name: str, app: Table, rtt: str) -> Table:
    return {"name": name, "app": app, "stack": STACK, "rtt": rtt}


def _direction(service: Service, direction: str) -> Table:
    part = service.content[direction]
    aggregate = part["kind"] == "aggregate"
    shaped = part["parameters"]
    flow = part["classic"] if aggregate else part
    rate = _number(shaped, "max_sustained_rate") or _unsolicited_rate(shaped)
    if not rate:
        raise UsageError(
            f"the {direction} service has no maximum sustained rate",
            "a service without a limit cannot be simulated; say a rate in the file or the tables",
        )
    peak = _number(shaped, "peak_traffic_rate")
    link: Table = {"kind": _kind(service, direction), "rate": f"{rate} b/s"}
    if says_burst(part):
        link["burst"] = f"{_number(shaped, 'max_traffic_burst')} B"
    if peak:
        link["peak"] = f"{max(peak, rate)} b/s"
    interval = service.map_interval_us or (1000 if aggregate else 2000)
    if link["kind"] in ("docsis30-single", "docsis31-upstream"):
        link["map_interval"] = f"{interval} us"
    if aggregate and link["kind"] == "docsis31-upstream":
        link |= {"service": "low-latency", "weight": _number(shaped, "scheduling_weight")}
        link |= _grants(part["low_latency"])
    elif link["kind"] == "docsis31-upstream":
        link |= _grants(part)
    if aggregate:
        link |= _own_rates(part, direction, link["kind"], rate)
    limit = _limit(flow)
    queue = _dual_queue(part, direction, limit) if aggregate else _queue(flow, limit)
    rules = part["classifiers"] if aggregate else service.content[f"beside_{direction}"]["classifiers"]
    table: Table = {"link": link, "queue": queue}
    names = _add_beside(table, service, direction)
    if names or (aggregate and not _are_usual(rules)):
        table["classifier"] = [*_classifiers(rules, names), {"to": "classic"}]
    return table | _histogram(part, aggregate=aggregate)


def flow_name(flow: Mapping[str, Any]) -> str:
    """Return what scenarios call a service flow beside the first."""
    return f"sf-{flow['reference']}"


def left_out(service: Service) -> list[str]:
    """Return what a simulation of a service leaves out, each in a sentence."""
    sentences: list[str] = []
    for direction in DIRECTIONS:
        flows = service.content[f"beside_{direction}"]["flows"]
        simulated = _beside(service, direction)
        if which := [str(flow["reference"]) for flow in flows if flow not in simulated]:
            sentences.append(
                f"DOCSIS 3.0 has no aggregates: members beside the first service flow {direction} left out: {', '.join(which)}"
            )
        if len(_histograms(service.content[direction])) > 1:
            sentences.append(
                f"the latency histogram of both {direction} service flows has the edges of the low-latency one"
            )
    if service.content["others"]:
        octets = ", ".join(str(octet) for octet in service.content["others"])
        sentences.append(f"the file has more than is simulated (W-LEFT-OUT), at octet {octets}")
    return sentences


def _beside(service: Service, direction: str) -> list[Mapping[str, Any]]:
    """Return the service flows that are simulated beside the first."""
    flows = service.content[f"beside_{direction}"]["flows"]
    return [flow for flow in flows if service.docsis != "3.0" or not flow["member"]]


def _add_beside(table: Table, service: Service, direction: str) -> dict[int, str]:
    """Add the service flows and aggregates beside the first; return what rules call each service flow, by its reference."""
    kind = _kind(service, direction)
    flows = [_service_flow(flow, direction, kind) for flow in _beside(service, direction)]
    names = {flow["reference"]: flow_name(flow) for flow in _beside(service, direction)}
    aggregates: list[Table] = []
    for further in service.content[f"beside_{direction}"]["aggregates"]:
        is_pair = further["kind"] == "aggregate"
        flow = further["classic"] if is_pair else further
        shaped = further["parameters"]
        rate = _number(shaped, "max_sustained_rate")
        name = flow_name(flow)
        if not rate:
            raise _no_rate(f"the aggregate of {name[3:]}", direction)
        limits = {"rate": f"{rate} b/s", "burst": f"{_number(shaped, 'max_traffic_burst')} B"}
        entry: Table = {"name": name}
        if service.docsis == "3.0":
            entry |= {"member": False, **limits}
        else:
            aggregates.append({"name": aggregate_name(further["aggregate"]), **limits})
            if peak := _number(shaped, "peak_traffic_rate"):
                aggregates[-1]["peak"] = f"{max(peak, rate)} b/s"
            entry["aggregate"] = aggregate_name(further["aggregate"])
        if kind == "docsis31-upstream":
            entry |= _grants(further["low_latency"] if is_pair else flow)
        limit = _limit(flow)
        entry["queue"] = _dual_queue(further, direction, limit) if is_pair else _queue(flow, limit)
        flows.append(entry)
        names[flow["reference"]] = name
        if is_pair and further["low_latency"]["reference"] is not None:
            names[further["low_latency"]["reference"]] = f"{name}/low-latency"
    if flows:
        table["service_flow"] = flows
    if aggregates:
        table["aggregate"] = aggregates
    return names


def aggregate_name(reference: int | None) -> str:
    """Return what scenarios call an aggregate beside the first."""
    return f"asf-{reference or 0}"


def _no_rate(which: str, direction: str) -> UsageError:
    return UsageError(
        f"{which} {direction} has no maximum sustained rate",
        "a service flow outside an aggregate without a limit cannot be simulated; say a rate",
    )


def _service_flow(flow: Mapping[str, Any], direction: str, kind: str) -> Table:
    parameters = flow["parameters"]
    rate = _number(parameters, "max_sustained_rate")
    if not flow["member"] and kind == "docsis31-upstream":
        rate = rate or _unsolicited_rate(parameters)
    if not rate and not flow["member"]:
        raise _no_rate(f"service flow {flow['reference']}", direction)
    table: Table = {"name": flow_name(flow), "member": flow["member"]}
    if flow["aggregate"] is not None:
        table["aggregate"] = aggregate_name(flow["aggregate"])
    if rate:
        table |= {"rate": f"{rate} b/s", "burst": f"{_number(parameters, 'max_traffic_burst')} B"}
    if priority := _number(parameters, "traffic_priority"):
        table["traffic_priority"] = priority
    grants = _grants(flow) if kind == "docsis31-upstream" else {}
    return table | grants | {"queue": _queue(flow, _limit(flow))}


def _limit(flow: Mapping[str, Any]) -> str:
    return f"{flow['buffer']['value']} B" if flow["buffer"] else "100 ms"


RTPS, UGS_AD, UGS, PGS = 4, 5, 6, 7
"""Scheduling types (MULPI annex C.2.2.8.2)."""


def _unsolicited_rate(parameters: Mapping[str, Any]) -> int:
    """Return the rate of unsolicited grants; 0 without."""
    if _number(parameters, "scheduling") not in (UGS_AD, UGS):
        return 0
    size, interval = _number(parameters, "unsolicited_grant_size"), _number(parameters, "nominal_grant_interval")
    grants = _number(parameters, "grants_per_interval") or 1
    return -(-8_000_000 * size * grants // interval)


PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmp", 257: "tcp-or-udp"}
"""Protocols of simulated packets, and what else rules have a word for."""


def _classifiers(rules: Sequence[Mapping[str, Any]], names: Mapping[int, str]) -> list[Table]:
    """Say the rules of a file, in their order; those of which no simulated packet is are left out."""
    targets = {"low-latency": "low-latency", "further": None}
    tables: list[Table] = []
    for rule in rules:
        protocol = rule["protocol"]
        if rule["others"] or (protocol is not None and protocol not in PROTOCOLS):
            continue
        to = targets.get(rule["to"], "classic") or names.get(rule["flow"])
        if to is None:
            continue
        table: Table = {"to": to}
        if protocol is not None:
            table["protocol"] = PROTOCOLS[protocol]
        said = ("tos", "source", "destination", "source_port", "destination_port")
        table |= {key: rule[key] for key in said if rule[key] is not None}
        tables.append(table)
    for place, table in enumerate(reversed(tables), start=1):
        table["priority"] = place
    return tables


def _histograms(part: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """Return the edges of latency histograms (40.6) of the service flows of a direction, each once, low latency first."""
    is_aggregate = part["kind"] == "aggregate"
    flows = [part["low_latency"], part["classic"]] if is_aggregate else [part]
    said = [flow["parameters"].get("latency_histogram") for flow in flows]
    return list(dict.fromkeys(tuple(leaf["value"]) for leaf in said if leaf))


def _histogram(part: Mapping[str, Any], *, aggregate: bool) -> Table:
    """Say the latency histogram of a direction: edges are in units of 0.01 ms."""
    found = _histograms(part)
    if not found:
        return {}
    flow = part["classic"] if aggregate else part
    has_estimate = aggregate or flow["aqm"]["value"] == "docsis-pie"
    edges = [f"{10 * edge} us" for edge in found[0]]
    return {"latency_histogram": {"edges": edges, "value": "estimate" if has_estimate else "sojourn"}}


def says_burst(part: Mapping[str, Any]) -> bool:
    """Return whether the file sets the maximum traffic burst of a service flow or aggregate (TLV 9)."""
    return part["parameters"]["max_traffic_burst"]["origin"]["from"] != "default"


def _kind(service: Service, direction: str) -> str:
    if service.docsis == "3.0":
        return "docsis30-single" if direction == "upstream" else "shaped"
    return f"docsis31-{direction}"


def _grants(flow: Mapping[str, Any]) -> Table:
    parameters = flow["parameters"]
    scheduling = _number(parameters, "scheduling")
    polls = _number(parameters, "nominal_polling_interval")
    if scheduling == RTPS:
        return {"proactive": {"kind": "rtps", "request_interval": f"{polls} us"}}
    if rate := _unsolicited_rate(parameters):
        interval = _number(parameters, "nominal_grant_interval") // (_number(parameters, "grants_per_interval") or 1)
        grants = {"kind": "ugs", "rate": f"{rate} b/s", "interval": f"{interval} us"}
        if scheduling == UGS_AD:
            grants |= {"kind": "ugs-ad"} | ({"request_interval": f"{polls} us"} if polls else {})
        return {"proactive": grants}
    rate = _number(parameters, "guaranteed_grant_rate")
    if scheduling != PGS or not rate:
        return {}
    grants: Table = {"kind": "basic", "rate": f"{rate} b/s"}
    interval = _number(parameters, "guaranteed_grant_interval")
    if interval:
        grants["interval"] = f"{interval} us"
    polls = _number(parameters, "guaranteed_request_interval")
    if polls and not _number(parameters, "activity_detection_disable"):
        grants |= {"kind": "adaptive", "quiet": 0.0, "idle_after": IDLE_AFTER, "request_interval": f"{polls} us"}
    return {"proactive": grants}


def _own_rates(part: Mapping[str, Any], direction: str, kind: str, rate: int) -> Table:
    """Say what the flows of an aggregate may send at most, each alone."""
    flows = {name: part[name]["parameters"] for name in ("classic", "low_latency")}
    own = {name: _number(flow, "max_sustained_rate") for name, flow in flows.items()}
    limits = {f"{name}_rate": f"{own[name]} b/s" for name in own if 0 < own[name] < rate}
    if limits and kind != "docsis31-upstream":
        raise UsageError(
            f"a rate of one service flow of the {direction} aggregate cannot be simulated",
            "leave out 8 of its members; the rate of the aggregate holds for both together",
        )
    return limits


def _queue(flow: Mapping[str, Any], limit: str) -> Table:
    if flow["aqm"]["value"] == "immediate":
        raise UsageError(
            "the immediate AQM on a service flow that is no low-latency one cannot be simulated",
            "leave out 40.3, or make the service flow a member of a low-latency aggregate",
        )
    if flow["aqm"]["value"] != "docsis-pie":
        return {"kind": "drop-tail", "limit": limit}
    target = _number(flow["parameters"], "classic_latency_target")
    return {"kind": "docsis-pie", "target": f"{target} ms", "limit": limit}


def _dual_queue(part: Mapping[str, Any], direction: str, limit: str) -> Table:
    aggregate, low = part["parameters"], part["low_latency"]["parameters"]
    classic = part["classic"]["parameters"]
    queue: Table = {"kind": "docsis-dual-queue"}
    if direction == "upstream":
        queue["profile"] = "docsis31-upstream"
    marks = list(dict.fromkeys(rule["tos"][0] >> 2 for rule in part["classifiers"] if _is_dscp(rule)))
    return queue | {
        "limit": limit,
        "target": f"{_number(classic, 'classic_latency_target')} ms",
        "low_latency_limit": f"{part['low_latency']['buffer']['value']} B",
        "low_latency_dscp": marks,
        "immediate_aqm": part["low_latency"]["aqm"]["value"] == "immediate",
        "coupling": _number(aggregate, "coupling_factor") / 10,
        "maximum_threshold": f"{_number(low, 'immediate_max_threshold')} us",
        "range_exponent": _number(low, "immediate_range_exponent"),
        "queue_protection": bool(_number(aggregate, "queue_protection")),
        "critical_delay": f"{_number(aggregate, 'queue_protection_latency_threshold')} us",
        "critical_score": f"{_number(aggregate, 'queue_protection_score_threshold')} us",
        "aging_exponent": _number(aggregate, "queue_protection_drain_rate_exponent"),
        "weight": _number(aggregate, "scheduling_weight"),
    }


def _are_usual(rules: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the dual queue sorts so by itself: ECT(1) and CE, and some DiffServ values, to the low-latency service flow."""
    by_ecn = [_is_tos(rule) and rule["tos"] == [1, 1, 1] for rule in rules]
    can_match = [not rule["others"] for rule in rules]
    return any(by_ecn) and all(
        ecn or _is_dscp(rule) or not can for ecn, rule, can in zip(by_ecn, rules, can_match, strict=True)
    )


def _is_tos(rule: Mapping[str, Any]) -> bool:
    others = ("protocol", "source", "destination", "source_port", "destination_port")
    return (
        rule["to"] == "low-latency"
        and not rule["others"]
        and rule["tos"] is not None
        and all(rule[key] is None for key in others)
    )


def _is_dscp(rule: Mapping[str, Any]) -> bool:
    """Return whether a rule sends one DiffServ value to the low-latency service flow."""
    tos = rule["tos"]
    return _is_tos(rule) and tos[0] == tos[1] and tos[2] == 0xFC


def _number(parameters: Mapping[str, Any], name: str) -> int:
    leaf = parameters.get(name)
    return leaf["value"] if leaf else 0
