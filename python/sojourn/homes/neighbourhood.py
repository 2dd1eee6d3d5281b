"""How many homes fit on the channel of a service group: a file of homes as a study over their number, and its answer.

Source: Comcast's congestion management as published: an upstream port is near congestion above 70 % of its capacity. Cloonan et
al. 2014 (ARRIS): a node needs the mean load of its homes and 1.2 times the fastest tier. The rule of delay is chosen: where the
99th percentile is above 50 ms for more than one call in twenty, neighbours are felt.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sojourn.base.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sojourn.answers.asking import Ask

__all__ = [
    "CLOONAN",
    "NEAR_CONGESTION",
    "Answer",
    "Crowd",
    "counts_of",
    "crowds_of",
    "findings",
    "settings_of",
    "shares_downstream",
    "study_files",
]

STEPS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
"""Numbers of homes that are tried, as shares of the number that was asked for."""

HOURS = {"03": 0.25, "06": 0.35, "09": 0.6, "12": 0.65, "15": 0.7, "18": 0.85, "21": 1.0, "24": 0.7}
"""Homes that are at it, by the hour of the day, as shares of those of the busiest one. chosen: quiet nights, a climb through the
day, the evening busiest, as operators describe their plants; no figures by the hour were found for upstreams."""

NODES = (0.5, 1.0, 1.5, 2.0)
"""Sizes of the node that the picture of the day has, as shares of the number that was asked for."""

SEEDS = 2
"""chosen: an interval, and an answer within half a minute."""

FELT_MS, FELT_SHARE = 50, 5.0
"""A call is spoilt above this 99th percentile of delay upstream, and the node is too full with more such calls than this
share, %. chosen: a third of the 150 ms that G.114 allows from mouth to ear, and one home in twenty."""

NEAR_CONGESTION = 70.0
"""Use of an upstream channel, %, from which a port counts as near congestion (Comcast)."""

CLOONAN = 1.2
"""Fastest tiers that the mean load has to leave of the channel (Cloonan et al. 2014)."""

FULL = 99.0
"""A channel is full where so many MAPs have no minislot left, %: what homes send waits for ever longer then, even if the CMTS keeps
calls from it. chosen: nearly all."""

KNEE = 2.0
"""The worst call notices its neighbours where it waits so many times as long as with the fewest homes. chosen: far beyond what
another seed changes."""


@dataclass(frozen=True)
class Crowd:
    """What so many homes are like, as means over seeds.

    Attributes
    ----------
    homes
        How many.
    use
        Share of the channel that is granted, %.
    median_ms, worst_ms
        99th percentile of delay of the median and of the worst call.
    spoilt
        Calls above `FELT_MS`, %.
    down_use, down_worst_ms
        The same downstream, where homes share channels there: time in which these are busy, %, and the worst call.
    left
        Fastest tiers that the mean load leaves of the channel upstream.
    full
        MAPs without a minislot left, %.
    """

    homes: int
    use: float
    median_ms: float
    worst_ms: float
    spoilt: float
    down_use: float | None = None
    down_worst_ms: float | None = None
    left: float | None = None
    full: float = 0.0


@dataclass(frozen=True)
class Answer:
    """When to split the node.

    Attributes
    ----------
    asked
        The number of homes that was asked about.
    crowds
        What was tried, by number of homes.
    """

    asked: int
    crowds: Sequence[Crowd]

    @property
    def split_at(self) -> Crowd | None:
        """The fewest homes with too many spoilt calls, or with a full channel."""
        is_too_full = (one for one in self.crowds if one.spoilt > FELT_SHARE or one.full >= FULL)
        return next(is_too_full, None)

    @property
    def near_congestion(self) -> Crowd | None:
        """The fewest homes with which the channel is near congestion."""
        return next((crowd for crowd in self.crowds if crowd.use > NEAR_CONGESTION), None)

    @property
    def knee(self) -> Crowd | None:
        """The fewest homes with which the worst call waits `KNEE` times as long as with the fewest that were tried."""
        least = KNEE * self.crowds[0].worst_ms
        return next((crowd for crowd in self.crowds if crowd.worst_ms >= least), None)

    @property
    def by_rule(self) -> int | None:
        """How many homes Cloonan's rule has room for; unknown if it has for all that were tried, or not for the fewest."""
        known = [(crowd.homes, crowd.left) for crowd in self.crowds if crowd.left is not None]
        for (few, more_left), (many, less_left) in pairwise(known):
            if more_left >= CLOONAN > less_left:
                share = (more_left - CLOONAN) / (more_left - less_left)
                return math.floor(few + share * (many - few) + 1e-9)
        return None

    @property
    def sentence(self) -> str:
        """The answer in words.

        Examples
        --------
        >>> few, many = Crowd(200, 52.0, 4.0, 5.0, 0.0), Crowd(400, 92.0, 80.0, 120.0, 90.0)
        >>> print(Answer(200, [few, many]).sentence)
        Split at 400 homes, or before: with 400, 90 % of calls wait more than 50 ms at the 99th percentile (channel 92 % used), with 200 0 % (52 %). The worst call waits twice as long as with 200 homes from 400 on, at 92 % use. The channel is near congestion, above 70 %, from 400 homes on.
        >>> full = Crowd(400, 92.5, 10.0, 12.0, 0.0, full=100.0)
        >>> print(Answer(200, [few, full]).sentence.split(". ")[0])
        Split at 400 homes, or before: with 400, 100 % of MAPs have no minislot left, and what homes send does not get through (channel 92 % used; the worst call waits 12 ms); with 200 it is 0 % (52 %)
        >>> print(Answer(200, [few]).sentence)
        No split up to 200 homes: there 0 % of calls wait more than 50 ms at the 99th percentile, the worst 5 ms (channel 52 % used).
        >>> both = Crowd(400, 92.0, 80.0, 120.0, 90.0, down_use=61.0, down_worst_ms=7.0)
        >>> print(Answer(400, [both]).sentence)
        Split at 400 homes, or before: with 400, 90 % of calls wait more than 50 ms at the 99th percentile (channel 92 % used). The channel is near congestion, above 70 %, from 400 homes on. Downstream the channels are busy for 61 % of the time with 400 homes, and the worst call waits 7 ms.
        """
        return " ".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """When to split, and what else is known: what calls notice first, the rules of thumb, the other direction."""
        found = [self._when_to_split()]
        knee, room, near = self.knee, self.by_rule, self.near_congestion
        if knee is not None:
            found.append(
                f"The worst call waits twice as long as with {self.crowds[0].homes} homes from {knee.homes} on, "
                f"at {knee.use:.0f} % use."
            )
        if room is not None:
            rule = f"the mean load and {CLOONAN} of the fastest tier"
            found.append(f"Cloonan's rule, {rule}, has room for {room} homes.")
        if near is not None:
            limit = f"{NEAR_CONGESTION:.0f} %"
            found.append(f"The channel is near congestion, above {limit}, from {near.homes} homes on.")
        last = self.crowds[-1]
        if last.down_use is not None:
            busy = f"Downstream the channels are busy for {last.down_use:.0f} % of the time with {last.homes} homes"
            worst = last.down_worst_ms
            call = "" if worst is None else f", and the worst call waits {worst:.0f} ms"
            found.append(f"{busy}{call}.")
        return found

    def _when_to_split(self) -> str:
        full = self.split_at
        waits = f"of calls wait more than {FELT_MS} ms at the 99th percentile"
        if full is None:
            last = self.crowds[-1]
            return (
                f"No split up to {last.homes} homes: there {last.spoilt:.0f} % {waits}, "
                f"the worst {last.worst_ms:.0f} ms (channel {last.use:.0f} % used)."
            )
        place = list(self.crowds).index(full)
        before = self.crowds[place - 1] if place else None
        text = f"Split at {full.homes} homes, or before: with {full.homes}, "
        if full.spoilt > FELT_SHARE:
            text += f"{full.spoilt:.0f} % {waits} (channel {full.use:.0f} % used)"
            if before is not None:
                text += f", with {before.homes} {before.spoilt:.0f} % ({before.use:.0f} %)"
        else:
            text += (
                f"{full.full:.0f} % of MAPs have no minislot left, and what homes send does not get through "
                f"(channel {full.use:.0f} % used; the worst call waits {full.worst_ms:.0f} ms)"
            )
            if before is not None:
                text += f"; with {before.homes} it is {before.full:.0f} % ({before.use:.0f} %)"
        return f"{text}."


PLAN = {"plan.up": "access.upstream.link.rate", "plan.down": "access.downstream.link.rate"}
"""What homes buy, by the keys of the links that give it to them."""


def settings_of(settings: Sequence[str]) -> list[str]:
    """Return settings with the rates of a plan in the places where scenarios have them.

    Examples
    --------
    >>> settings_of(["plan.up=100 Mb/s", "group.subcarriers=800"])
    ['access.upstream.link.rate=100 Mb/s', 'group.subcarriers=800']
    """
    found: list[str] = []
    for setting in settings:
        key, sign, value = setting.partition("=")
        found.append(PLAN.get(key.strip(), key) + sign + value)
    return found


def counts_of(scenario: str) -> dict[str, int]:
    """Return how many homes of each name a scenario has.

    Raises
    ------
    UsageError
        If it has no service group with homes and calls.
    """
    file = tomllib.loads(scenario)
    homes = {str(home["name"]): int(home.get("count", 1)) for home in file.get("home", [])}
    if not homes:
        raise UsageError(
            "the scenario has no homes", "[[home]] with name and count, as in scenarios/neighbourhood.toml"
        )
    return homes


def shares_downstream(scenario: str) -> bool:
    """Return whether homes of a scenario share channels downstream.

    Examples
    --------
    >>> shares_downstream('access.downstream.link.kind = "docsis31-group-downstream"')
    True
    >>> shares_downstream('home = [{ name = "a" }]')
    False
    """
    file = tomllib.loads(scenario)
    places = [file, *file.get("home", [])]
    links = [place.get("access", {}).get("downstream", {}).get("link", {}) for place in places]
    return any(link["kind"] == "docsis31-group-downstream" for link in links if "kind" in link)


def scaled(counts: Mapping[str, int], homes: int) -> dict[str, int]:
    """Return so many homes in the same proportions: rounded down, and the rest to the largest remainders.

    Every name keeps one home at least, and those come on top if there are fewer homes than names.

    Examples
    --------
    >>> scaled({"heavy": 2, "busy": 8, "other": 190}, 100)
    {'heavy': 1, 'busy': 4, 'other': 95}
    """
    whole = sum(counts.values())
    shares = {name: count * homes / whole for name, count in counts.items()}
    found = {name: max(int(share), 1) for name, share in shares.items()}
    by_rest = sorted(shares, key=lambda name: found[name] - shares[name])
    for name in by_rest[: max(homes - sum(found.values()), 0)]:
        found[name] += 1
    return found


def study_files(scenario: str, homes: int, seeds: int = SEEDS) -> dict[str, str]:
    """Return a study over the number of homes of a scenario, as texts by file name."""
    counts = counts_of(scenario)
    numbers = sorted({max(round(share * homes), len(counts)) for share in STEPS})
    quoted = ", ".join(f'"{number}"' for number in numbers)
    lines = [
        "# How many homes fit on the channel? Run it again, with more seeds and longer if need be:",
        "#   sojourn study run .",
        "schema = 1",
        'name = "group"',
        'title = "How many homes fit on the channel?"',
        'summary = "Homes of the same kinds in the same proportions, more and more of them on one upstream channel."',
        'scenario = "scenario.toml"',
        f"seeds = {seeds}",
        "",
        'module = "study.py"',
        "",
        "[[matrix]]",
        'name = "{homes}"',
        'labels = { part = "homes" }',
        f"axes.homes = [{quoted}]",
    ]
    for number in numbers:
        for name, count in scaled(counts, number).items():
            lines += ["", f'[overlays."{number}".home."{name}"]', f"count = {count}"]
    nodes = list(dict.fromkeys(max(round(share * homes), len(counts)) for share in NODES))
    for node in nodes:
        for hour, share in HOURS.items():
            name = f"{node}-at-{hour}"
            for kind, count in scaled(counts, max(round(share * node), len(counts))).items():
                lines += ["", f'[overlays."{name}".home."{kind}"]', f"count = {count}"]
            lines += [
                "",
                f'[points."day/{node}/{hour}"]',
                f'overlays = ["{name}"]',
                f'labels = {{ part = "day", node = "{node}", hour = "{hour}" }}',
            ]
    down = shares_downstream(scenario)
    text = "\n".join(lines) + "\n" + _MEASURES + (_DOWN if down else "") + _DAY
    return {"study.toml": text, "scenario.toml": scenario, "study.py": _MODULE.format(homes=homes, down=down)}


_MODULE = '''"""The answer in a sentence."""

from sojourn.homes.neighbourhood import findings

HOMES, SHARES_DOWNSTREAM = {homes}, {down}


def split(ask):
    return findings(ask, HOMES, down=SHARES_DOWNSTREAM)
'''

_MEASURES = """
[pool]
metrics = ["delay_p99", "goodput", "goodput_downstream", "transfer_time_median", "tier_seconds"]

[[headline]]
function = "split"
[measures.median]
subject = "group"
seeds = "mean"
metric = "calls_p99_median"
title = "median call, delay upstream, 99 %"
unit = "ms"
relative = 0.1

[measures.worst]
subject = "group"
seeds = "mean"
metric = "calls_p99_worst"
title = "worst call, delay upstream, 99 %"
unit = "ms"
relative = 0.1

[measures.spoilt]
subject = "group"
seeds = "mean"
metric = "calls_over_50ms"
title = "calls over 50 ms"
unit = "%"
absolute = 1

[measures.left]
subject = "group"
seeds = "mean"
metric = "quality_k"
title = "fastest tiers that the mean load leaves"

[measures.full]
subject = "group"
seeds = "mean"
metric = "full_maps"
title = "MAPs without a minislot left"
unit = "%"
absolute = 1

[measures.used]
subject = "group"
seeds = "mean"
metric = "channel_use"
title = "channel granted"
unit = "%"
absolute = 1

[[figure]]
item = "homes"
kind = "sweep"
group = "overview"
title = "More homes on one channel: when their calls feel it"
caption = "Dashed: 50 ms, 5 % of calls, and 70 % of the channel, from which a port counts as near congestion. {spread}"
description = "Delay of the median and the worst call, share of calls above 50 ms, and use of the channel, over the number of homes."
over = "homes"
where = { part = "homes" }
quantity = "homes"
columns = 3
height = 80
panels = [
  { quantity = "delay of calls, 99 %", scale = "log", rules = [{ y = 50 }], lines = [{ measure = "median", look = "codel" }, { measure = "worst", look = "tail" }] },
  { quantity = "calls over 50 ms", low = 0, high = 100, rules = [{ y = 5 }], lines = [{ measure = "spoilt", look = "tail" }] },
  { quantity = "channel granted", low = 0, high = 100, rules = [{ y = 70 }], lines = [{ measure = "used", look = "codel" }] },
]
"""


_DOWN = """
[measures.down_used]
subject = "group/downstream"
seeds = "mean"
metric = "channel_use"
title = "channels busy downstream"
unit = "%"
absolute = 1

[measures.down_worst]
subject = "group/downstream"
seeds = "mean"
metric = "calls_p99_worst"
title = "worst call, delay downstream, 99 %"
unit = "ms"
relative = 0.1

[[figure]]
item = "downstream"
kind = "sweep"
group = "overview"
title = "The other direction"
caption = "Dashed: 50 ms, and 80 % of the time, from which a port counts as near congestion downstream. {spread}"
description = "Delay downstream of the worst call, and time in which the channels are busy, over the number of homes."
over = "homes"
where = { part = "homes" }
quantity = "homes"
columns = 2
height = 80
panels = [
  { quantity = "delay of calls, 99 %", scale = "log", rules = [{ y = 50 }], lines = [{ measure = "down_worst", look = "tail" }] },
  { quantity = "channels busy", low = 0, high = 100, rules = [{ y = 80 }], lines = [{ measure = "down_used", look = "codel" }] },
]
"""


_DAY = """
[measures.felt]
subject = "group"
metric = "calls_p99_worst_decile"
title = "worst tenth of calls, delay upstream, 99 %"
unit = "ms"
where = { part = "day" }

[[figure]]
item = "day"
kind = "heatmap"
group = "overview"
title = "The node by the hour: what the worst tenth of calls waits, ms"
caption = "Rows: homes on the node. Fewer of them are at it by day and at night (chosen shares, from a quarter at 3 to all at 21 o'clock)."
description = "Delay of the worst tenth of calls, 99th percentile in ms, by homes on the node and hour of the day."
measure = "felt"
x = "hour"
y = "node"
scale = "log"
"""


def findings(ask: Ask, homes: int, *, down: bool = False) -> list[str]:
    """Return the answer of a result in a few sentences; `down`: homes share channels downstream."""
    names = ["used", "median", "worst", "spoilt", "left", "full"]
    names += ["down_used", "down_worst"] if down else []
    found = {name: ask.numbers(name, by=["homes"], part="homes") for name in names}
    crowds = [
        Crowd(
            int(number),
            use,
            found["median"][number],
            found["worst"][number],
            found["spoilt"][number],
            found["down_used"].get(number) if down else None,
            found["down_worst"].get(number) if down else None,
            found["left"].get(number),
            found["full"][number],
        )
        for number, use in found["used"].items()
    ]
    return Answer(homes, sorted(crowds, key=lambda crowd: crowd.homes)).sentences


def crowds_of(numbers: Mapping[int, Mapping[str, float]]) -> list[Crowd]:
    """Return what was tried from the channel's metrics, as means over seeds, by number of homes.

    Names of metrics of the other direction end in "/downstream".

    Raises
    ------
    UsageError
        If the runs had no service group, or no calls on it.
    """
    found: list[Crowd] = []
    for homes, means in sorted(numbers.items()):
        if "calls_over_50ms" not in means or "channel_use" not in means:
            raise UsageError(
                "the homes have no channel in common, or nobody on it is in a call",
                'link = { kind = "docsis31-group" } upstream, and homes with app = "voice"',
            )
        found.append(
            Crowd(
                homes=homes,
                use=means["channel_use"],
                median_ms=means["calls_p99_median"],
                worst_ms=means["calls_p99_worst"],
                spoilt=means["calls_over_50ms"],
                down_use=means.get("channel_use/downstream"),
                down_worst_ms=means.get("calls_p99_worst/downstream"),
                left=means.get("quality_k"),
                full=means["full_maps"],
            )
        )
    return found
