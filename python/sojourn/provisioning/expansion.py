"""The service that a modem gets from a configuration file and the tables of a CMTS."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import sojourn._engine as _engine
from sojourn.provisioning.configuration import Configuration, Issue, ProvisioningError, issues_of

Modem = Literal["3.0", "3.1", "3.1-lld"]
"""A DOCSIS 3.0 modem, a 3.1 modem without low-latency support, and one with it."""

Style = Literal["explicit", "names", "legacy"]
"""Every value, aggregates too; names of service classes or profiles alone; every value of one service flow each way."""

DIRECTIONS: tuple[str, ...] = ("upstream", "downstream")


@dataclass(frozen=True)
class Service:
    """Service of a modem."""

    content: Mapping[str, Any]
    """`upstream` and `downstream`: each `single` or `aggregate`, all parameters with unit and origin; `beside_upstream` and
    `beside_downstream`: the service flows and aggregates beside these, and their classifiers."""
    summary: Mapping[str, str]
    """Both directions in a few words."""
    issues: list[Issue]
    """Faults of the file or the service, none of them an error."""
    docsis: str
    """Generation of the modem."""
    map_interval_us: int | None
    """Time between MAPs, if the tables say it."""


def expand(
    configuration: Configuration,
    tables: str = "",
    *,
    modem: Modem | None = None,
    profiles: bool = True,
    allow_bad_mic: bool = False,
    downstream_without_modem: bool = False,
    file: str = "",
) -> Service:
    """Return the service that a configuration file stands for.

    Parameters
    ----------
    configuration
        The file.
    tables
        Service classes, Aggregate QoS Profiles and capabilities, as TOML.
    modem
        What the modem is, in place of what the tables say.
    profiles
        Whether the Aggregate QoS Profiles are there; without them the CMTS is as before a migration.
    allow_bad_mic
        Expand a file with wrong digests.
    downstream_without_modem
        Give two queues downstream to modems without low-latency support too.
    file
        What the file is called in messages.

    Raises
    ------
    ProvisioningError
        With everything that is wrong, if there is an error.
    """
    asked = _asked(
        configuration,
        modem,
        profiles=profiles,
        allow_bad_mic=allow_bad_mic,
        downstream_without_modem=downstream_without_modem,
    )
    try:
        text = _engine.provisioning_expand(configuration.octets, tables, configuration.secret, asked)
    except _engine.ProvisioningProblems as error:
        raise ProvisioningError([issue.problem("tables") for issue in issues_of(error)]) from None
    found = json.loads(text)
    issues = [Issue(**issue) for issue in found["issues"]]
    if found["service"] is None:
        raise ProvisioningError([issue.problem(file) for issue in issues if issue.is_error])
    summary: dict[str, str] = dict(zip(DIRECTIONS, found["summary"], strict=True))
    return Service(found["service"], summary, issues, found["docsis"], found["map_interval_us"])


def restate(
    configuration: Configuration,
    tables: str = "",
    *,
    style: Style,
    modem: Modem | None = None,
    profiles: bool = True,
    allow_bad_mic: bool = False,
    downstream_without_modem: bool = False,
    file: str = "",
) -> Configuration:
    """Return another file for the same service, sealed with the secret of `configuration`.

    Parameters are those of `expand`, and `style`: `explicit` says every value, aggregates too; `names` only the
    names of service classes and profiles; `legacy` every value of one service flow each way. What is not part of
    the service (addresses, software, what `W-LEFT-OUT` names) is left out.

    Raises
    ------
    ProvisioningError
        If the file has no service, or the style cannot say it; each reason is listed.
    """
    asked = _asked(
        configuration,
        modem,
        profiles=profiles,
        allow_bad_mic=allow_bad_mic,
        downstream_without_modem=downstream_without_modem,
    )
    secret = configuration.secret
    try:
        octets = _engine.provisioning_restate(configuration.octets, tables, secret, asked, style)
    except _engine.ProvisioningProblems as error:
        wrong = [issue for issue in issues_of(error) if issue.is_error]
        raise ProvisioningError([issue.problem(file) for issue in wrong]) from None
    return Configuration(bytes(octets), secret, configuration.strict)


def _asked(
    configuration: Configuration,
    modem: Modem | None,
    *,
    profiles: bool,
    allow_bad_mic: bool,
    downstream_without_modem: bool,
) -> _engine.ExpansionChoices:
    return {
        "docsis": None if modem is None else modem.partition("-")[0],
        "lld": None if modem is None else modem.endswith("lld"),
        "profiles": profiles,
        "allow_bad_mic": allow_bad_mic,
        "downstream_without_modem": downstream_without_modem,
        "strict": configuration.strict,
    }


def parameter_rows(service: Service) -> list[tuple[str, str, str, str, str]]:
    """Return one row per parameter: direction, which flow, parameter, value, origin."""
    rows: list[tuple[str, str, str, str, str]] = []
    for direction in DIRECTIONS:
        part = service.content[direction]
        beside = service.content[f"beside_{direction}"]
        rules = beside["classifiers"]
        if part["kind"] == "single":
            rows += _flow_rows(direction, "service flow", part)
        else:
            rows += [(direction, "aggregate", name, *_leaf(leaf)) for name, leaf in part["parameters"].items()]
            rows += _flow_rows(direction, "classic", part["classic"])
            rows += _flow_rows(direction, "low-latency", part["low_latency"])
            rules = part["classifiers"]
        for flow in beside["flows"]:
            rows += _flow_rows(direction, f"service flow {flow['reference']}", flow)
        for further in beside["aggregates"]:
            which = f"aggregate {further['aggregate']}"
            if further["kind"] == "single":
                rows += _flow_rows(direction, which, further)
                continue
            rows += [(direction, which, name, *_leaf(leaf)) for name, leaf in further["parameters"].items()]
            rows += _flow_rows(direction, f"{which}, classic", further["classic"])
            rows += _flow_rows(direction, f"{which}, low-latency", further["low_latency"])
        for rule in rules:
            to = f"service flow {rule['flow']}" if rule["to"] == "further" else rule["to"]
            rows.append((direction, to, "classifier", _criteria(rule), _origin(rule["origin"])))
    return rows


def _criteria(rule: Mapping[str, Any]) -> str:
    """Say what packets a rule is for."""
    if rule["others"]:
        return "never"
    tos = rule["tos"]
    words = [" ".join(f"{octet:02x}" for octet in tos)] if tos else []
    plain = ("protocol", "source", "destination")
    words += [f"{key} {rule[key]}" for key in plain if rule[key] is not None]
    for key in ("source_port", "destination_port"):
        if rule[key] is not None:
            first, last = rule[key]
            ports = f"{first}" if first == last else f"{first} to {last}"
            words.append(f"{key.replace('_', ' ')} {ports}")
    return ", ".join(words)


def _flow_rows(direction: str, which: str, flow: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    leaves = dict(flow["parameters"])
    if flow["buffer"] is not None:
        leaves["buffer"] = flow["buffer"]
    leaves["aqm"] = flow["aqm"]
    return [(direction, which, name, *_leaf(leaf)) for name, leaf in leaves.items()]


def _leaf(leaf: Mapping[str, Any]) -> tuple[str, str]:
    value = leaf["value"]
    text = ", ".join(str(item) for item in value) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return f"{text} {leaf['unit']}".strip(), _origin(leaf["origin"])


def _origin(origin: Mapping[str, Any]) -> str:
    if origin["from"] == "file":
        return f"file, TLV {origin['path']} at octet {origin['offset']}"
    if origin["from"] == "table":
        return f"{origin['table']} {origin['name']}: {origin['key']}"
    return f"default: {origin['why']}"
