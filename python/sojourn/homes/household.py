"""One household without a file: today's modem and what could be set instead, as a study to go on with.

Source: the buffer that CableLabs recommends, White 2012 section 4.1.2; DOCSIS-PIE, RFC 8034 and ANNEX M of MULPIv3.1; links
and low-latency service flows of DOCSIS 3.1, White 2019 section 4.
Deviations: a router in front of the modem is that of `sojourn.advice`, with the modem's plain buffer behind it, at one share of the line; how
much faster it may be is what `sojourn.advice` looks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sojourn.advice.arms import UNSET_MS, WAYS, Arm, Line, low_latency, plain_buffer, queue_management, recommended_ms
from sojourn.advice.blocks import docsis_block, modem_block, tc_block, uci_block
from sojourn.advice.lines import LINES
from sojourn.base.toml_text import toml_value
from sojourn.scenario.scenario_file import Scenario

ROUTER_SHARE = 0.95
"""Share of the line's rate that a router in front takes, counting all that the line adds to a packet. chosen: the game's delay upstream
is that of 80 % on DOCSIS 3.1, 3.0 and DSL (runs of a minute); `sojourn advise` looks for the cliff of a line."""

ROUTER = Arm("router", "cake", ROUTER_SHARE, ROUTER_SHARE, changes=4)
"""The router in front; a box more is the largest change."""

SEEDS, DURATION = 3, "20 s"
"""chosen: an answer within 15 s on two cores. The study that `--explain` writes may have more."""

CAN: Mapping[str, tuple[str, ...]] = {
    "modem": ("buffer", "PIE"),
    "operator": ("buffer", "PIE", "low-latency"),
    "router": ("CAKE",),
}
"""Settings by the word of `--can`; in a modem alone nothing downstream is set."""

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
[[traffic]]                             # a person reads pages
name = "page"
app = { kind = "web", profile = "white2013", users = 1, think = "3 s" }
stack = "linux-cubic"
rtt = ["12 ms", "18 ms", "35 ms", "90 ms"]
""",
    "video": """
[[traffic]]                             # a person watches
name = "video"
app = { kind = "has", sessions = 1, start_jitter = "2 s" }
stack = "linux-cubic"
rtt = "20 ms"
""",
}
"""Traffic of who feels the line, by the words of `--for`."""

_FEELS = {"web": "page"}


ACCESSES: Mapping[str, tuple[str, str, str]] = {
    **{word: LINES[word] for word in ("docsis31", "docsis30", "dsl")},
    "fibre": LINES["pon"],
}
"""Kinds of access: the lines that `sojourn advise` asks about, by the word of `--access`."""


@dataclass(frozen=True)
class Household:
    """Question about a household.

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
    can: str = ""
    """Whose settings compete, a word of `CAN`; all of them if empty."""

    @property
    def name(self) -> str:
        """Name of the study."""
        return f"home-{self.access}-{self.down_mbps:g}-{self.up_mbps:g}"

    @cached_property
    def line(self) -> Line:
        """The line with today's modem."""
        return Line(Scenario.parse(scenario_text(self)))

    @cached_property
    def arms(self) -> dict[str, Arm]:
        """Settings that compete with today's modem."""
        who, ways = ("modem", WAYS[:1]) if self.can == "modem" else ("operator", WAYS)
        arms = {
            "buffer": plain_buffer(self.line, who, ways),
            "PIE": queue_management(self.line, who, ways),
            "low-latency": low_latency(self.line),
            "CAKE": ROUTER,
        }
        if self.access != "docsis31":
            del arms["low-latency"]
        return {name: arm for name, arm in arms.items() if not self.can or name in CAN[self.can]}

    @property
    def settings(self) -> list[str]:
        """All settings."""
        return ["today", *self.arms]

    def words(self, setting: str) -> str:
        """Return what a setting is, in words."""
        if setting == "today":
            return f"a plain buffer of {UNSET_MS} ms, as modems have it that were never set"
        if setting == "CAKE":
            return f"CAKE in a router in front, at {100 * ROUTER_SHARE:.0f} % of the line"
        if setting == "low-latency":
            return f"{self.arms[setting].words}: two queues, and what marks itself does not wait"
        return self.arms[setting].words

    def called(self, setting: str) -> str:
        """Return how sentences call a setting."""
        if setting == "buffer":
            return f"a buffer of {' and '.join(self.buffers)}"
        return {"low-latency": "Low Latency DOCSIS", "CAKE": "CAKE in a router"}.get(setting, setting)

    @property
    def buffers(self) -> list[str]:
        """The recommended buffers, each once."""
        return list(dict.fromkeys(f"{recommended_ms(mbps)} ms" for mbps in self.line.rates_mbps.values()))

    def needs(self, setting: str) -> str:
        """Return what must be true for a setting to do what was simulated."""
        if setting == "low-latency":
            marked = (
                "a game that marks itself (DSCP 45 or ECT(1))"
                if "game" in self.feels
                else "applications that mark themselves"
            )
            return f"Low Latency DOCSIS needs {marked}, and a modem and a CMTS that support it."
        if setting == "CAKE":
            return "CAKE needs a line that always has its rate, and a router that is fast enough for it."
        where = "the modem" if self.can == "modem" else "the modem and the far end of the line"
        if setting == "PIE":
            return f"PIE needs queue management in {where}."
        return f"The short buffer must be settable in {where}."

    def cheapest(self, names: Sequence[str]) -> str:
        """Return of settings, as sentences call them, the one that changes least: `settings` stand in that order."""
        return min((self.setting_of(name) for name in names), key=self.settings.index)

    def file_for(self, winner: str) -> tuple[str, str] | None:
        """Return a configuration file of a cable line and its setting: the winner's, or the last of a modem's if that is a router."""
        modems = [name for name, arm in self.arms.items() if arm.who != "router" and self.line.is_provisioned]
        if not modems:
            return None
        setting = winner if winner in modems else modems[-1]
        return setting, lines_to_set(self, setting)

    def study_files(self) -> dict[str, str]:
        """Return the study as texts by file name; it runs as it is."""
        return study_files(self)

    def lines(self, setting: str) -> str:
        """Return what has to be written where to have a setting."""
        return lines_to_set(self, setting)

    def setting_of(self, words: str) -> str:
        """Return the setting that sentences call so."""
        return next(setting for setting in self.settings if self.called(setting) == words)


def study_files(home: Household) -> dict[str, str]:
    """Return a study of a household as texts by file name; it runs as it is."""
    return {"study.toml": _study(home), "scenario.toml": scenario_text(home), "notes.md": _notes(home)}


def _notes(home: Household) -> str:
    parts = ["## What to set", ""]
    for setting in home.settings[1:]:
        words = f"{home.called(setting)}: {home.words(setting)}"
        parts += [words, "", "```", lines_to_set(home, setting).rstrip(), "```", ""]
    return "\n".join(parts)


def scenario_text(home: Household) -> str:
    """Return the scenario of a household."""
    upstream, downstream, extra = ACCESSES[home.access]
    lines = [
        "# One household. Everything with a dimension is a text with a unit; `sojourn keys` lists what may be said here.",
        "schema = 1",
        f'name = "{home.name}"',
        f'duration = "{DURATION}"',
    ]
    for way, link, rate in (("upstream", upstream, home.up_mbps), ("downstream", downstream, home.down_mbps)):
        lines += [
            "",
            f"[access.{way}]",
            f"link = {{ {link.replace('{rate}', _rate(rate))} }}",
            f'queue = {{ kind = "drop-tail", limit = "{UNSET_MS} ms" }}',
        ]
        lines += [extra.strip()] if extra else []
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

[measure]
from = "2 s"                            # both send from then on

[record]
datagrams = false
"""
    )


def _study(home: Household) -> str:
    feels = ", ".join(f'"{_FEELS.get(word, word)}"' for word in home.feels)
    settings = ", ".join(f'"{name}"' for name in home.settings)
    named = ((name, home.called(name), home.words(name)) for name in home.settings)
    names = "".join(
        f'{name} = {{ name = "{called}", title = "{words}"{_needed(home, name)} }}\n' for name, called, words in named
    )
    text = f"""\
# What should the modem of this household be set to? Run it again, with more seeds and longer if need be:
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
[overlays.today]                        # the scenario as it is: a modem that was never set
"""
    comments = {
        "buffer": "what CableLabs recommends (White 2012 section 4.1.2)",
        "PIE": "queue management of the modem",
        "low-latency": "a classic and a low-latency service flow under one rate",
        "CAKE": "a router in front of the modem, a little slower than the line",
    }
    for name, arm in home.arms.items():
        if arm.who == "router":
            text += f"\n[overlays.{name}]  # {comments[name]}\npath = {toml_value(home.line.router_path)}\n"
            text += home.line.router_tables(arm, f"overlays.{name}.link")
            continue
        text += f"\n[overlays.{name}.access]  # {comments[name]}\n"
        for way, tables in home.line.own_tables(arm).items():
            text += f"{way} = {toml_value({key: table for key, table in tables.items() if table})}\n"
    return text


def _needed(home: Household, setting: str) -> str:
    return "" if setting == "today" else f', needs = "{home.needs(setting)}"'


def _rate(mbps: float) -> str:
    return f"{mbps:.6g} Mb/s"


def _title(home: Household) -> str:
    names = {"docsis31": "DOCSIS 3.1", "docsis30": "DOCSIS 3.0", "dsl": "DSL", "fibre": "fibre"}
    return f"A household on {names[home.access]}, {home.down_mbps:g} Mb/s down and {home.up_mbps:g} up"


def _summary(home: Household) -> str:
    uploads = "an upload" if home.uploads == 1 else f"{home.uploads} uploads"
    told = "; ".join(f"{name}: {home.words(name)}" for name in home.settings)
    return f"Beside {uploads} and a download. {told}."


def lines_to_set(home: Household, setting: str) -> str:
    """Return what has to be written where to have a setting: a CM configuration file, commands of a router, or words.

    Examples
    --------
    >>> print(lines_to_set(Household("dsl", 100, 10), "buffer"), end="")
    Modem, upstream: a buffer of 62500 B, no queue management.
    Access node, downstream: a buffer of 625000 B, no queue management.
    """
    if setting == "today":
        return "Nothing: the modem stays as it is.\n"
    line, arm = home.line, home.arms[setting]
    if arm.who == "router":
        return f"{tc_block(line, arm)}\n# The same on OpenWrt:\n{uci_block(line, arm)}"
    return docsis_block(line, arm) if line.is_provisioned else modem_block(line, arm)
