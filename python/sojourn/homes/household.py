"""One household without a file: today's modem and what could be set instead, as a study that anybody may go on with.

Source: the buffer that CableLabs recommends, White 2012 section 4.1.2; DOCSIS-PIE, RFC 8034 and ANNEX M of MULPIv3.1; links
and low-latency service flows of DOCSIS 3.1, White 2019 section 4.
Deviations: a router in front of the modem is that of `sojourn.advice`, with the modem's plain buffer behind it, at one share of the line; how
much faster it may be is what `sojourn.advice` looks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn.advice.arms import Arm, Line
from sojourn.advice.blocks import tc_block
from sojourn.base.toml_text import toml_value
from sojourn.provisioning import encode
from sojourn.scenario.scenario_file import Scenario

__all__ = ["ACCESSES", "APPLICATIONS", "NAMES", "SETTINGS", "Household", "lines_to_set", "setting_of", "study_files"]

TODAY_MS, RECOMMENDED_MS = 250, 50
"""Buffers: that of a modem which nobody has told otherwise (White 2019 Table 3), and the recommended one."""

ROUTER_SHARE = 0.95
"""Share of the line's rate that a router in front takes, counting all that the line adds to a packet. chosen: the game's delay upstream
is that of 80 % on DOCSIS 3.1, 3.0 and DSL (runs of a minute); `sojourn advise` looks for the cliff of a line."""

ROUTER = Arm("router", "cake", ROUTER_SHARE, ROUTER_SHARE)
"""The router in front."""

SEEDS, DURATION = 3, "20 s"
"""chosen: an answer within 15 s on two cores. The study that `--explain` writes may have more."""

SETTINGS: Mapping[str, str] = {
    "today": "a plain buffer of 250 ms",
    "buffer": "a plain buffer of 50 ms, as recommended",
    "PIE": "queue management in the modem, behind 50 ms",
    "low-latency": "two queues in the modem: what marks itself does not wait",
    "CAKE": "CAKE in a router in front, at 95 % of the line",
}
"""What competes, and what it is."""

NAMES: Mapping[str, str] = {
    "today": "today",
    "buffer": "a buffer of 50 ms",
    "PIE": "PIE",
    "low-latency": "Low Latency DOCSIS",
    "CAKE": "CAKE in a router",
}
"""How sentences call it."""

APPLICATIONS: Mapping[str, str] = {
    "game": """
[[traffic]]                             # small packets both ways; it says that it builds no queue
name = "game"
app = { kind = "online-game", start_jitter = "33 ms" }
rtt = "15 ms"
dscp = 45
""",
    "call": """
[[traffic]]                             # 218 B every 20 ms, upstream
name = "call"
app = "voice"
rtt = "30 ms"
""",
    "web": """
[[traffic]]                             # somebody reads pages
name = "page"
app = { kind = "web", profile = "white2013", users = 1, think = "3 s" }
stack = "linux-cubic"
rtt = ["12 ms", "18 ms", "35 ms", "90 ms"]
""",
    "video": """
[[traffic]]                             # somebody watches
name = "video"
app = { kind = "has", sessions = 1, start_jitter = "2 s" }
stack = "linux-cubic"
rtt = "20 ms"
""",
}
"""Traffic of who feels the line, by the words of `--for`."""

_FEELS = {"web": "page"}


@dataclass(frozen=True)
class _Access:
    """The links of a kind of access, as inline tables of a scenario; `{rate}` is what has to be filled in."""

    upstream: str
    downstream: str
    managed: str
    """The queue manager that its modems have."""
    extra: str = ""
    """Further keys of both directions."""
    low_latency: tuple[str, str] | None = None
    """What of both directions' links is another with low latency."""


_DOWN = 'kind = "docsis31-downstream", profile = "white2019", rate = "{rate}", peak = "unlimited"'

ACCESSES: Mapping[str, _Access] = {
    "docsis31": _Access(
        'kind = "docsis31-upstream", profile = "white2019", rate = "{rate}", peak = "unlimited"',
        _DOWN,
        "docsis-pie",
        low_latency=(
            'kind = "docsis31-upstream", profile = "white2019-lld", rate = "{rate}", peak = "unlimited"',
            _DOWN,
        ),
    ),
    "docsis30": _Access(
        'kind = "docsis30-single", rate = "{rate}", peak = "{rate}", burst = "3044 B"',
        'kind = "shaped", rate = "{rate}", peak = "{rate}", burst = "3044 B"',
        "docsis-pie",
        'framing = "ethernet"\n',
    ),
    "dsl": _Access(
        'kind = "serial", rate = "{rate}", delay = "5 ms"',
        'kind = "serial", rate = "{rate}", delay = "5 ms"',
        "pie",
        'framing = { kind = "ptm", profile = "pppoe-ptm" }\n',
    ),
    "fibre": _Access(
        'kind = "serial", rate = "{rate}", delay = "1 ms"',
        'kind = "serial", rate = "{rate}", delay = "1 ms"',
        "pie",
        'framing = "ethernet"\n',
    ),
}
"""Kinds of access. Delays of DSL and fibre are chosen: interleaving, and some 20 km with an aggregation network."""


@dataclass(frozen=True)
class Household:
    """What was asked.

    Attributes
    ----------
    access
        One of `ACCESSES`.
    down_mbps, up_mbps
        Rates of the line.
    feels
        Words of `APPLICATIONS`.
    uploads
        Uploads beside them, at least one; there is one download, too.
    """

    access: str
    down_mbps: float
    up_mbps: float
    feels: Sequence[str] = ("game", "call", "web")
    uploads: int = 1

    @property
    def name(self) -> str:
        """Name of the study."""
        return f"home-{self.access}-{self.down_mbps:g}-{self.up_mbps:g}"

    @property
    def settings(self) -> list[str]:
        """What competes."""
        access = ACCESSES[self.access]
        return [name for name in SETTINGS if name != "low-latency" or access.low_latency]


def study_files(home: Household) -> dict[str, str]:
    """Return a study of a household as texts by file name; it runs as it is."""
    return {"study.toml": _study(home), "scenario.toml": _scenario(home), "notes.md": _notes(home)}


def setting_of(name: str) -> str:
    """Return the setting that a headline calls by this name."""
    return next(setting for setting, words in NAMES.items() if words == name)


def _notes(home: Household) -> str:
    parts = ["## What to set", ""]
    for setting in home.settings[1:]:
        parts += [f"{NAMES[setting]}: {SETTINGS[setting]}", "", "```", lines_to_set(home, setting), "```", ""]
    return "\n".join(parts)


def _scenario(home: Household) -> str:
    access = ACCESSES[home.access]
    lines = [
        "# One household. Everything with a dimension is a text with a unit; `sojourn keys` lists what may be said here.",
        "schema = 1",
        f'name = "{home.name}"',
        f'duration = "{DURATION}"',
    ]
    for way, link, rate in (
        ("upstream", access.upstream, home.up_mbps),
        ("downstream", access.downstream, home.down_mbps),
    ):
        lines += [
            "",
            f"[access.{way}]",
            f"link = {{ {link.replace('{rate}', _rate(rate))} }}",
            f'queue = {{ kind = "drop-tail", limit = "{TODAY_MS} ms" }}',
        ]
        lines += [access.extra.strip()] if access.extra else []
    text = "\n".join(lines) + "\n"
    text += "".join(APPLICATIONS[word] for word in home.feels)
    lanes = f", lanes = {home.uploads}" if home.uploads > 1 else ""
    return (
        text
        + f"""
[[traffic]]                             # who makes the queue upstream
name = "upload"
app = {{ kind = "bulk", start = "1 s", start_jitter = "1 s"{lanes} }}
stack = "linux-cubic"
rtt = "21 ms"

[[traffic]]                             # and downstream
name = "download"
app = {{ kind = "bulk", direction = "downstream", start = "1 s", start_jitter = "1 s" }}
stack = "linux-cubic"
rtt = "21 ms"

[record]
datagrams = false
"""
    )


def _study(home: Household) -> str:
    access = ACCESSES[home.access]
    feels = ", ".join(f'"{_FEELS.get(word, word)}"' for word in home.feels)
    settings = ", ".join(f'"{name}"' for name in home.settings)
    names = "".join(f'{name} = {{ name = "{NAMES[name]}", title = "{SETTINGS[name]}" }}\n' for name in home.settings)
    text = f"""\
# What should the modem of this household be told? Run it again, with more seeds and longer if need be:
#   sojourn study run .
schema = 1
name = "{home.name}"
title = "{_title(home)}"
summary = "{_summary(home)}"
scenario = "scenario.toml"
seeds = {SEEDS}
keep = ["delay_histogram"]
compare = "setting"
baseline = "today"
feels = [{feels}]
notes = "notes.md"

[axes]
setting = [{settings}]

[labels.setting]
{names}
[overlays.today]                        # the scenario as it is: a modem that nobody has told otherwise

[overlays.buffer.access]                # what CableLabs recommends (White 2012 section 4.1.2)
{_queues(f'kind = "drop-tail", limit = "{RECOMMENDED_MS} ms"')}
[overlays.PIE.access]
{_queues(f'kind = "{access.managed}", limit = "{RECOMMENDED_MS} ms"')}"""
    if access.low_latency:
        queue = f'kind = "docsis-dual-queue", limit = "{RECOMMENDED_MS} ms"'
        text += "\n[overlays.low-latency.access]           # a classic and a low-latency service flow under one rate\n"
        for way, link, rate in zip(
            ("upstream", "downstream"), access.low_latency, (home.up_mbps, home.down_mbps), strict=True
        ):
            filled = link.replace("{rate}", _rate(rate))
            text += f"{way} = {{ link = {{ {filled} }}, queue = {{ {queue} }} }}\n"
    line = Line(Scenario.parse(_scenario(home)))
    text += (
        "\n[overlays.CAKE]                         # a router in front of the modem, a little slower than the line\n"
    )
    text += f"path = {toml_value(line.router_path)}\n"
    return text + line.router_tables(ROUTER, "overlays.CAKE.link")


def _queues(queue: str) -> str:
    return "".join(f"{way} = {{ queue = {{ {queue} }} }}\n" for way in ("upstream", "downstream"))


def _rate(mbps: float) -> str:
    return f"{mbps:.6g} Mb/s"


def _title(home: Household) -> str:
    names = {"docsis31": "DOCSIS 3.1", "docsis30": "DOCSIS 3.0", "dsl": "DSL", "fibre": "fibre"}
    return f"A household on {names[home.access]}, {home.down_mbps:g} Mb/s down and {home.up_mbps:g} up"


def _summary(home: Household) -> str:
    uploads = "an upload" if home.uploads == 1 else f"{home.uploads} uploads"
    told = "; ".join(f"{name}: {SETTINGS[name]}" for name in home.settings)
    return f"Beside {uploads} and a download. {told}."


def lines_to_set(home: Household, setting: str) -> str:
    """Return what has to be written where to have a setting: lines of a CM configuration file, or commands of a router.

    Lines of configuration files are those that `sojourn provision decode` writes, with their TLVs.

    Examples
    --------
    >>> print(lines_to_set(Household("dsl", 100, 10), "buffer"))
    Buffer of the modem, upstream: 62500 B; downstream at the access node: 625000 B.
    """
    rates = {"upstream": home.up_mbps, "downstream": home.down_mbps}
    if setting == "today":
        return "Nothing: the modem stays as it is."
    if setting == "CAKE":
        return tc_block(Line(Scenario.parse(_scenario(home))), ROUTER)
    octets = {way: round(rate * 1e6 / 8 * RECOMMENDED_MS / 1000) for way, rate in rates.items()}
    if not home.access.startswith("docsis"):
        told = f"upstream: {octets['upstream']} B; downstream at the access node: {octets['downstream']} B."
        if setting == "PIE":
            return f"PIE (RFC 8033) in the modem and in the access node, with its buffer {told}"
        return f"Buffer of the modem, {told}"
    entries = [
        _service_flows(setting, way, reference, round(rates[way] * 1e6), octets[way])
        for way, reference in (("upstream", 1), ("downstream", 3))
    ]
    made = encode("schema = 1\n" + "".join(entries), seal=False)
    return made.text.partition("schema = 1")[2].strip()


def _service_flows(setting: str, way: str, reference: int, rate: int, octets: int) -> str:
    """Return one direction of a configuration file, as text without TLVs."""
    flow = f"[[tlv]]\n[tlv.{way}_service_flow]\nservice_flow_reference = {{}}\nqos_parameter_set_type = 7\n"
    control = f"buffer_control = {{ target = {octets} }}\n"
    if setting != "low-latency":
        aqm = "disable = 1" if setting == "buffer" else "disable = 0, classic_latency_target = 10"
        own = f"max_sustained_rate = {rate}\n{control}aqm = {{ {aqm} }}\n"
        return flow.format(reference) + own
    aggregate = "aggregate_service_flow_reference = 1\n"
    return (
        f"{flow.format(reference)}{aggregate}{control}{flow.format(reference + 1)}{aggregate}"
        f"[[tlv]]\n[tlv.{way}_aggregate_service_flow]\n{aggregate}max_sustained_rate = {rate}\n"
        f"low_latency = {{ low_latency_service_flow_reference = {reference + 1} }}\n"
    )
