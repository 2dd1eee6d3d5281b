"""A line that was drawn as the text of a scenario, with the test that was measured on it.

Source: kinds and keys of scenario files; Linux's managers.
Deviations: limits of managers that drop early are their kinds' defaults. The other direction, unless it was drawn from a measurement of its own,
is a plain line, fast enough for acknowledgements; if the test loads it, too, it has a plain buffer that is drawn, or flow queues.
"""

from __future__ import annotations

from collections.abc import Mapping

from sojourn.calibration.line import Access, Guess, stacks_of
from sojourn.calibration.measurement import Load

AFTER_S = 0.25
"""How long a run goes on behind its load, so that its last sample is whole. chosen: a sample of Flent takes 0.2 s."""


def scenario_text(
    access: Access,
    load: Load,
    guess: Guess,
    family: str,
    values: Mapping[str, float],
    *,
    other_way: tuple[str, Mapping[str, float]] | None = None,
    comments: Mapping[str, str] | None = None,
    name: str = "calibrated",
) -> str:
    """Return the scenario of a draw, with the test that was measured on it.

    Parameters
    ----------
    access, load, guess
        Kind of line, how the test was made, and what is taken of the other direction.
    family, values
        Of the draw.
    other_way
        Family and values of the other direction, if it was measured, too; both have one MAP interval.
    comments
        What to say of keys, by their path.
    name
        Of the scenario.
    """
    told = comments or {}
    ours, other = ("upstream", "downstream") if load.direction == "up" else ("downstream", "upstream")
    if other_way is None:
        beside = _other(access, load, guess, values)
    else:
        family_there, there = other_way
        there = {**there, **{key: values[key] for key in ("map", "cells") if key in values}}
        way = "down" if load.direction == "up" else "up"
        beside = _drawn(access, way, family_there, there)
    lines = [
        "schema = 1",
        f'name = "{name}"',
        f'duration = "{load.lead_s + load.length_s + AFTER_S:g} s"',
        "",
        *(f"# {key}: {text}" for key, text in told.items()),
        f"[access.{ours}]",
        _drawn(access, load.direction, family, values),
        "",
        f"[access.{other}]",
        beside,
        "",
        "[[traffic]]",
        'name = "load"',
        f'app = {{ kind = "bulk", direction = "{ours}", lanes = {load.streams}, start = "{load.lead_s:g} s" }}',
        f'stack = "{stacks_of(load)[int(values.get("stack", 0))]}"',
        f'rtt = "{_us(values["rtt"])}"',
    ]
    if load.beside:
        lines += [
            "",
            "[[traffic]]",
            'name = "beside"',
            f'app = {{ kind = "bulk", direction = "{other}", lanes = {load.beside}, start = "{load.lead_s:g} s" }}',
            f'stack = "{stacks_of(load)[int(values.get("stack", 0))]}"',
            f'rtt = "{_us(values["rtt"])}"',
        ]
    if load.interval_ms:
        lines += [
            "",
            "[[traffic]]",
            'name = "ping"',
            f'app = {{ kind = "probe", packet = "{load.packet} B", interval = "{load.interval_ms:g} ms", '
            f'loaded_from = "{load.lead_s:g} s" }}',
            f'rtt = "{_us(values["rtt"])}"',
        ]
    return "\n".join(lines) + "\n"


def _drawn(access: Access, direction: str, family: str, values: Mapping[str, float]) -> str:
    """Return a direction of a draw as a scenario has it."""
    framing = _framing(access, values)
    lines = [f"link = {_link(access, direction, values)}"]
    lines += [f"framing = {framing}"] if framing else []
    return "\n".join([*lines, f"queue = {_queue(access, family, values)}"])


def _queue(access: Access, family: str, values: Mapping[str, float]) -> str:
    """Return the queue of a draw as a scenario has it."""
    if family == "drop-tail":
        return f'{{ kind = "drop-tail", limit = "{values["buffer"]:.0f} B" }}'
    target = _us(values["target"])
    if family == "codel":
        return f'{{ kind = "codel", target = "{target}" }}'
    if family == "pie":
        key = "target" if access.pie == "docsis-pie" else "reference"
        return f'{{ kind = "{access.pie}", {key} = "{target}" }}'
    kind = "fq-cobalt" if values.get("kind") else "fq-codel"
    return f'{{ kind = "{kind}", target = "{target}" }}'


def _link(access: Access, direction: str, values: Mapping[str, float]) -> str:
    """Return the link of a draw as a scenario has it."""
    rate = values["rate"]
    parts = [f'rate = "{1e6 * rate:.0f} b/s"']
    if access.has_bucket:
        parts.append(f'burst = "{values["bucket"]:.0f} B"')
        if "peak" in values:
            parts.append(f'peak = "{1e6 * rate * values["peak"]:.0f} b/s"')
    if access.name == "docsis31":
        kind = f"docsis31-{'upstream' if direction == 'up' else 'downstream'}"
        parts.append(f'map_interval = "{_us(values["map"])}"')
    elif access.name == "docsis30" and direction == "up":
        kind = "docsis30-single"
        parts.append(f"grant_delay_maps = {int(values['grant_delay']) + 1}")
    elif access.has_bucket:
        kind = "shaped"
        parts.append('delay = "0 s"')
    else:
        kind = "serial"
    return f'{{ kind = "{kind}", {", ".join(parts)} }}'


def _framing(access: Access, values: Mapping[str, float]) -> str:
    """Return the framing of a draw as a scenario has it; empty if the link's kind has its own."""
    if access.name == "docsis31":
        return ""
    if access.name == "dsl":
        kind = "atm" if values.get("cells") else "ptm"
        profile = "pppoe-llcsnap" if values.get("cells") else "pppoe-ptm"
        return f'{{ kind = "{kind}", profile = "{profile}" }}'
    return '"ethernet"'


def _other(access: Access, load: Load, guess: Guess, values: Mapping[str, float]) -> str:
    """Return the other direction; one that only acknowledges is a plain line."""
    limit = values.get("other_buffer", 250.0)
    queue = f'queue = {{ kind = "drop-tail", limit = "{limit:.0f} ms" }}'
    if values.get("other_kind"):
        queue = 'queue = "fq-codel"'
    rate = f"{1e6 * guess.other_mbps:.0f} b/s"
    if access.name == "docsis31":
        kind = f"docsis31-{'downstream' if load.direction == 'up' else 'upstream'}"
        interval = f', map_interval = "{_us(values["map"])}"'
        return f'link = {{ kind = "{kind}", rate = "{rate}"{interval} }}\n{queue}'
    if access.name == "docsis30" and load.direction == "down":
        return f'link = {{ kind = "docsis30-single", rate = "{rate}" }}\nframing = "ethernet"\n{queue}'
    return f'link = {{ kind = "serial", rate = "{rate}" }}\nframing = {_framing(access, values)}\n{queue}'


def _us(span_ms: float) -> str:
    return f"{1e3 * span_ms:.0f} us"
