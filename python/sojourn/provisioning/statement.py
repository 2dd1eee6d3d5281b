"""The access link of a scenario as a whole CM configuration file, and what the link becomes by that file.

The inverse of `sojourn.provisioning.scenarios.access`: what a file says, and nothing else of the link, is what a simulation of the file
has. A file that is printed to be set is simulated as it is read back, so both are the same.

Source: the TLVs of `sojourn.provisioning`; a CMTS ignores TLVs 70 and 71 that no digest covers (43.6). DSCP 45 is that of
non-queue-building traffic in drafts later than White 2019, ECT(1) and CE those of L4S (RFC 9331).
Deviations: minimum and maximum of Buffer Control are left unset. Times between MAPs and delays of the plant are no part of a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from sojourn.base.errors import UsageError
from sojourn.base.quantities import quantity
from sojourn.provisioning.configuration import encode
from sojourn.provisioning.expansion import DIRECTIONS, Modem, expand
from sojourn.provisioning.scenarios import access

Tables = Mapping[str, Mapping[str, Any]]

RULES = ("0x010101", "0xb4b4fc")
"""ToS ranges and masks of packets for the low-latency service flow: ECT(1) and CE, and DSCP 45."""

LARGEST = 2**32 - 1
"""Rates above it are said in kb/s (TLV 41)."""

EXTENDED_MIC = """
[[tlv]]                                 # without it a CMTS may ignore the aggregates
[tlv.vendor_specific]
vendor_id = "0xffffff"
extended_cmts_mic = { algorithm = 1, bit_map = "0x000000c00000000003", explicit_digest = "0x00000000000000000000000000000000" }
"""
"""An explicit extended CMTS MIC over TLVs 24, 25, 70 and 71; `encode` computes the digest."""


def file_text(tables: Tables) -> str:
    """Return a file that gives a modem the access link of a scenario in canonical form, as text for `encode`.

    Raises
    ------
    UsageError
        If a link or a queue is of a kind that no file can say.
    """
    parts = ["schema = 1\n\n[[tlv]]\nnetwork_access = 1\n"]
    rules: list[str] = []
    for number, way in enumerate(DIRECTIONS):
        link, queue = tables[way]["link"], tables[way]["queue"]
        _refuse_unsayable(way, link, queue)
        rate = round(quantity("rate", str(link["rate"])))
        limits = _rates(link, rate)
        first = 1 + 2 * number
        if queue["kind"] != "docsis-dual-queue":
            aqm = "disable = 1" if queue["kind"] == "drop-tail" else f"disable = 0, {_target(queue)}"
            parts.append(_flow(way, first, f"{limits}{_buffer(queue['limit'], rate)}aqm = {{ {aqm} }}\n"))
            continue
        member = f"aggregate_service_flow_reference = {number + 1}\n"
        classic = f"{member}{_buffer(queue['limit'], rate)}aqm = {{ disable = 0, {_target(queue)} }}\n"
        parts += [_flow(way, first, classic), _flow(way, first + 1, f"{member}{_proactive(link)}")]
        parts.append(
            f"\n[[tlv]]\n[tlv.{way}_aggregate_service_flow]\n{member}{limits}"
            f"low_latency = {{ low_latency_service_flow_reference = {first + 1} }}\n"
        )
        for place, (family, octets) in enumerate((of, tos) for of in ("ip.tos", "ipv6.traffic_class") for tos in RULES):
            rules.append(
                f"\n[[tlv]]\n[tlv.{way}_classifier]\nclassifier_reference = {4 * number + place + 1}\n"
                f'service_flow_reference = {first + 1}\nrule_priority = 1\n{family} = "{octets}"\n'
            )
    return "".join([*parts, *rules, EXTENDED_MIC if rules else ""])


def _refuse_unsayable(way: str, link: Mapping[str, Any], queue: Mapping[str, Any]) -> None:
    sayable = ("drop-tail", "docsis-pie", "docsis-dual-queue")
    if queue["kind"] not in sayable:
        raise UsageError(
            f"no configuration file can say the queue {queue['kind']} {way}", f"one of {', '.join(sayable)}"
        )
    if "rate" not in link or "burst" not in link:
        raise UsageError(f"no configuration file can say a link of kind {link['kind']} {way}", "a DOCSIS link")


def _flow(way: str, reference: int, own: str) -> str:
    return (
        f"\n[[tlv]]\n[tlv.{way}_service_flow]\nservice_flow_reference = {reference}\nqos_parameter_set_type = 7\n{own}"
    )


def _rates(link: Mapping[str, Any], rate: int) -> str:
    peak = 0 if link.get("peak", "unlimited") == "unlimited" else round(quantity("rate", str(link["peak"])))
    in_kb = max(rate, peak) > LARGEST
    unit, scale = ("data_rate_unit = 1\n", 1000) if in_kb else ("", 1)
    told = f"{unit}max_sustained_rate = {rate // scale}\n"
    told += f"max_traffic_burst = {round(quantity('size', str(link['burst'])))}\n"
    return told + (f"peak_traffic_rate = {peak // scale}\n" if peak else "")


def _buffer(limit: object, rate: int) -> str:
    words = str(limit)
    is_time = words.rpartition(" ")[2] in ("s", "ms", "us", "ns")
    octets = rate / 8 * quantity("time", words) if is_time else quantity("size", words)
    return f"buffer_control = {{ target = {round(octets)} }}\n"


def _target(queue: Mapping[str, Any]) -> str:
    return f"classic_latency_target = {round(1e3 * quantity('time', str(queue['target'])))}"


def _proactive(link: Mapping[str, Any]) -> str:
    grants = cast("Mapping[str, Any]", link.get("proactive", {}))
    if grants.get("kind", "none") == "none":
        return ""
    told = f"scheduling_type = 7\nguaranteed_grant_rate = {round(quantity('rate', str(grants['rate'])))}\n"
    interval = str(grants.get("interval", "map"))
    if interval != "map":  # as its default: each MAP
        told += f"guaranteed_grant_interval = {round(1e6 * quantity('time', interval))}\n"
    return told


def settings_of_file(text: str, modem: Modem) -> dict[str, dict[str, dict[str, Any]]]:
    """Return what a file makes of the access link: tables of a scenario by direction, `link` and `queue`.

    Times between MAPs are a CMTS's, and left out unless there are two service flows, for which they are 1 ms (White 2019 section 3.1).
    """
    found = access(expand(encode(text), modem=modem, allow_bad_mic=True))
    for way, tables in found.items():
        del tables["link"]["kind"]
        if tables["queue"]["kind"] != "docsis-dual-queue":
            tables["link"].pop("map_interval", None)
        found[way] = tables
    return found
