"""A modem's configuration file as a question, and the better file as an answer.

Source: Buffer Control (TLV 24.35, 25.35) and AQM (24.40, 25.40) as `sojourn provision` has them. [U] marks of its tables hold
here, too: the order of sub-TLVs and the unit of 24.40 are confirmed by a public encoder alone.
Deviations: minimum and maximum of Buffer Control are left unset. Digests are made anew; without the shared secret the file
has no CMTS MIC and a provisioning system has to add it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import tomli_w

from sojourn.advice.arms import WAYS, Arm, Line
from sojourn.advice.lines import line_scenario
from sojourn.base.errors import UsageError
from sojourn.base.toml_text import parse_toml
from sojourn.provisioning import Configuration, Service, decode, encode, expand
from sojourn.provisioning.scenarios import access
from sojourn.scenario.scenario_file import Scenario

SUFFIXES = (".cm", ".cfg", ".bin")
"""How names of configuration files end."""

DIGESTS = ("cm_mic", "cmts_mic", "extended_cmts_mic")


def is_modem_file(path: Path) -> bool:
    """Return whether a path is that of a configuration file."""
    return path.suffix.lower() in SUFFIXES


def line_of_file(
    path: Path, secret: bytes | None, *, rtt: str, uses: Mapping[str, float], household: str
) -> tuple[Configuration, Line]:
    """Return a configuration file and the line of its service, with a household on it.

    Raises `UsageError` if its service is no tier with one service flow each way; `ProvisioningError` if the file is
    damaged.
    """
    configuration = decode(path, secret)
    service = expand(configuration, modem="3.1", file=str(path))
    _refuse_unfit(configuration, service)
    text = line_scenario("docsis31", "1 Mb/s", "1 Mb/s", rtt=rtt, uses=uses, household=household)
    document = {**parse_toml(text), "access": access(service)}
    return configuration, Line(Scenario.parse(tomli_w.dumps(document)))


def _refuse_unfit(configuration: Configuration, service: Service) -> None:
    for way in WAYS:
        if service.content[way]["kind"] != "single":
            raise UsageError(
                f"the {way} service has two queues already",
                "advice for a file sets buffer and queue management of one service flow each way",
            )
        flows = [tlv for tlv in _tlvs(configuration) if f"{way}_service_flow" in tlv]
        if len(flows) != 1:
            raise UsageError(
                f"the file has {len(flows)} service flows {way}",
                "one each way, so that it is known which of them is meant",
            )


def _tlvs(configuration: Configuration) -> list[dict[str, Any]]:
    document = parse_toml(configuration.text)
    return cast("list[dict[str, Any]]", document.get("tlv", []))


def better_file(configuration: Configuration, line: Line, arm: Arm) -> Configuration:
    """Return the file with a setting in it, everything else as it was, and with digests of its own.

    Parameters
    ----------
    configuration
        The file as it is.
    line
        Its line, for the rates.
    arm
        What is advised; one that sets nothing gives the same file.
    """
    document = parse_toml(configuration.text)
    tlvs = [tlv for tlv in document["tlv"] if not any(name in tlv for name in DIGESTS)]
    for way in WAYS:
        limit = arm.limit_ms(way)
        for tlv in tlvs:
            if f"{way}_service_flow" not in tlv or not arm.sets(way):
                continue
            flow = cast("dict[str, object]", tlv[f"{way}_service_flow"])
            flow.pop("buffer_control", None)
            if limit is not None:
                octets = round(line.rates_mbps[way] * 1e6 / 8 * limit / 1000)
                flow["buffer_control"] = {"target": octets}
            target = arm.target_ms(way)
            flow["aqm"] = {"disable": 1} if target is None else {"disable": 0, "classic_latency_target": target}
    document["tlv"] = tlvs
    return encode(tomli_w.dumps(document), configuration.secret, seal=True)
