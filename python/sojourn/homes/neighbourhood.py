"""How many homes fit on the channel of a service group: a file of homes as a study over their number, and its answer.

The rules of the channel and the search for their thresholds are in `sojourn.homes.thresholds`.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sojourn.base.errors import UsageError
from sojourn.homes.thresholds import FELT_MS, MOST_HOMES, Crowd, Threshold, thresholds_of

if TYPE_CHECKING:
    import polars as pl

    from sojourn.answers.asking import Ask
    from sojourn.plots.spec import PlotSpec

HOURS = {"03": 0.25, "06": 0.35, "09": 0.6, "12": 0.65, "15": 0.7, "18": 0.85, "21": 1.0, "24": 0.7}
"""Homes that are at it, by the hour of the day, as shares of those of the busiest one. chosen: quiet nights, a climb through the
day, the evening busiest, as operators describe their plants; no figures by the hour were found for upstreams."""

NODES = (0.5, 1.0, 1.5, 2.0)
"""Sizes of the node that the picture of the day has, as shares of the number that was asked for."""

SEEDS = 3
"""chosen: an interval that is no wider than ten times its deviation, and an answer within a minute."""


@dataclass(frozen=True)
class Answer:
    """Answer for a number of homes: whether they are fine, and from how many on the node should be split.

    Attributes
    ----------
    asked
        The number of homes that was asked about.
    crowds
        What was searched, by number of homes.
    own
        The number that was asked about; `None` if it is beyond what one channel may have, or what was searched.
    """

    asked: int
    crowds: Sequence[Crowd]
    own: Crowd | None = None

    @classmethod
    def of(cls, asked: int, tried: Sequence[Crowd], searched: Sequence[int]) -> Answer:
        """Return the answer of what was tried; thresholds come from the numbers that were searched alone."""
        own = next((one for one in tried if one.homes == asked), None)
        return cls(asked, [one for one in tried if one.homes in searched], own)

    @property
    def thresholds(self) -> list[Threshold]:
        """All of them, in rising order."""
        return thresholds_of(self.crowds)

    @property
    def split(self) -> Threshold | None:
        """The first threshold for which a node is split; `None` if none is reached."""
        return next((one for one in self.thresholds if one.splits and one.homes is not None), None)

    @property
    def verdict(self) -> str:
        """`fine`, `edge` or `too many`."""
        split = self.split
        if split is None or split.homes is None:
            return "fine"
        low, high = (split.homes if end is None else end for end in (split.low, split.high))
        return "fine" if self.asked < low else "too many" if self.asked > high else "edge"

    @property
    def sentences(self) -> list[str]:
        """The answer for the homes that were asked about, and what was seen with them."""
        return [self._first(), *([self._own(self.own)] if self.own is not None else [])]

    @property
    def sentence(self) -> str:
        """The answer in words.

        Examples
        --------
        >>> quiet = {"calls_over_50ms": 0.0, "full_maps": 10.0, "channel_use": 40.0, "calls_p99_worst": 5.0}
        >>> loud = {"calls_over_50ms": 90.0, "full_maps": 60.0, "channel_use": 92.0, "calls_p99_worst": 90.0}
        >>> print(Answer(200, [Crowd(390, {1: quiet}), Crowd(400, {1: loud})]).sentence)
        200 homes: calls are fine, and up to 391 (one seed); split then.
        """
        return " ".join(self.sentences)

    def _first(self) -> str:
        """Answer for the number that was asked about."""
        split = self.split
        homes = f"{self.asked:,} home{'s' * (self.asked != 1)}"
        most = self.crowds[-1].homes
        if split is None or split.homes is None:
            if self.asked <= most:
                return f"{homes}: calls are fine, and with {most:,} too; nothing asks for a split."
            return f"{homes}: one channel has at most {MOST_HOMES:,}; with {most:,} calls are fine."
        where = split.told
        suffer = split.name.startswith("calls suffer")
        if self.verdict == "fine":
            if suffer:
                way = " downstream" if split.name.endswith("downstream") else ""
                return f"{homes}: calls are fine, and up to {where}{way}; split then."
            return f"{homes}: calls are fine, and {split.name} from {where} on; split before."
        what = split.name
        if self.verdict == "edge":
            return f"{homes}: at the edge, {what} from {where} on, by the seed; split now."
        fewest = (split.low or split.homes) - 1
        nodes = (
            f"; {-(-self.asked // fewest)} nodes of {-(-self.asked // -(-self.asked // fewest)):,} keep below"
            if fewest
            else ""
        )
        return f"{homes}: too many, {what} from {where} on{nodes}."

    def _own(self, own: Crowd) -> str:
        """Say what was seen with the number that was asked about."""
        over, worst, use = (own.mean(name) for name in ("calls_over_50ms", "calls_p99_worst", "channel_use"))
        text = f"With {own.homes:,}, {over or 0.0:.0f} % of calls wait above {FELT_MS} ms upstream (99th percentile), the worst "
        text += f"{worst or 0.0:.3g} ms, and {use or 0.0:.0f} % of the channel is granted"
        down = own.mean("channel_use/downstream")
        text += "" if down is None else f"; downstream the channels are busy for {down:.0f} % of the time"
        return f"{text}."


PLAN = {"plan.up": "access.upstream.link.rate", "plan.down": "access.downstream.link.rate"}
"""Rates that homes buy, by the keys of their links."""


def settings_of(settings: Sequence[str]) -> tuple[list[str], int]:
    """Return settings with the rates of a plan in the places where scenarios have them, and the first seed.

    Raises `UsageError` if the seed is none.

    Examples
    --------
    >>> settings_of(["plan.up=100 Mb/s", "group.subcarriers=800", "seed=7"])
    (['access.upstream.link.rate=100 Mb/s', 'group.subcarriers=800'], 7)
    """
    found: list[str] = []
    first = 1
    for setting in settings:
        key, sign, value = setting.partition("=")
        if key.strip() != "seed":
            found.append(PLAN.get(key.strip(), key) + sign + value)
            continue
        if not re.fullmatch(r"[0-9]{1,9}", value.strip()):
            raise UsageError(f"seed = {value.strip()} is no seed", "a whole number, with which the runs begin to count")
        first = int(value)
    return found, first


def plant_of(scenario: str) -> str:
    """Return in words on which channel the homes are: numbers are those of this plant.

    Examples
    --------
    >>> plant_of('group = { form = "docsis30", map_interval = "2 ms", scqam = { channels = 4 } }')
    '4 SC-QAM channels, a MAP each 2 ms'
    """
    group = tomllib.loads(scenario).get("group", {})
    if group.get("form") == "pon":
        return "a passive optical network"
    channels = group.get("scqam", {}).get("channels", 0)
    parts = [f"{channels} SC-QAM channel{'s' * (channels != 1)}"] if channels else []
    if group.get("form") != "docsis30":
        parts.append(f"{group['subcarriers']} subcarriers of OFDMA" if "subcarriers" in group else "OFDMA")
    return " and ".join(parts) + (f", a MAP each {group['map_interval']}" if "map_interval" in group else "")


def counts_of(scenario: str) -> dict[str, int]:
    """Return how many homes of each name a scenario has.

    Raises `UsageError` if it has no service group with homes and calls.
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


def scaled(counts: Mapping[str, int], homes: int, needed: str = "") -> dict[str, int]:
    """Return `homes` homes in the same proportions: rounded down, and the rest to the largest remainders.

    Names may get none; `needed` keeps one home, whatever the number.

    Examples
    --------
    >>> scaled({"heavy": 2, "busy": 8, "other": 190}, 100)
    {'heavy': 1, 'busy': 4, 'other': 95}
    >>> scaled({"caller": 20, "other": 180}, 1, "caller")
    {'caller': 1, 'other': 0}
    """
    whole = sum(counts.values())
    shares = {name: count * homes / whole for name, count in counts.items()}
    found = {name: int(share) for name, share in shares.items()}
    by_rest = sorted(shares, key=lambda name: found[name] - shares[name])
    for name in by_rest[: homes - sum(found.values())]:
        found[name] += 1
    if needed and not found[needed]:
        found[max(found, key=lambda name: found[name])] -= 1
        found[needed] = 1
    return found


def _calling(file: Mapping[str, Any]) -> str:
    """Return the name of homes that are in a call; empty if there are none."""
    for home in file.get("home", []):
        for entry in home.get("traffic", []):
            app = entry.get("app", "")
            if (app if isinstance(app, str) else app.get("kind")) == "voice":
                return str(home["name"])
    return ""


def study_files(
    scenario: str, homes: int, searched: Sequence[int], seeds: int = SEEDS, first_seed: int = 1
) -> dict[str, str]:
    """Return a study over numbers of homes of a scenario, as texts by file name; it runs as it is.

    Parameters
    ----------
    scenario
        The file with homes, as text.
    homes
        The number in question, which is tried as well if one channel may have it and the search came so far.
    searched
        Numbers that the search has tried.
    seeds, first_seed
        Runs of each.
    """
    counts, needed = counts_of(scenario), _calling(tomllib.loads(scenario))
    numbers: list[int] = sorted({*searched, *([homes] if homes <= max(searched, default=0) else [])})
    lines = [
        "# How many homes fit on the channel? Run it again, with more seeds and longer if need be:",
        "#   sojourn study run .",
        "schema = 1",
        'name = "group"',
        'title = "How many homes fit on the channel?"',
        'summary = "Homes of the same kinds in the same proportions, more and more of them on one upstream channel."',
        'scenario = "scenario.toml"',
        f"seeds = {{ first = {first_seed}, count = {seeds} }}",
        "",
        'module = "study.py"',
    ]
    for number in numbers:
        found = scaled(counts, number, needed)
        none = [f"home.{name}" for name, count in found.items() if not count]
        lines += ["", f"[overlays.{number}]", f"remove = {json.dumps(none)}"] if none else []
        for name, count in found.items():
            lines += ["", f'[overlays."{number}".home."{name}"]', f"count = {count}"] if count else []
        lines += ["", f'[points."{number}"]', f'overlays = ["{number}"]', f"labels = {{ homes = {number} }}"]
    down = shares_downstream(scenario)
    text = "\n".join(lines) + "\n" + _MEASURES + (_DOWN if down else "") + _DAY
    return {
        "study.toml": text,
        "scenario.toml": scenario,
        "study.py": _MODULE.format(homes=homes, searched=list(searched)),
    }


_MODULE = '''"""The answer in sentences, and the node by the hour."""

from sojourn.homes import neighbourhood

HOMES, SEARCHED = {homes}, {searched}


def split(ask):
    return neighbourhood.findings(ask, HOMES, SEARCHED)


def day(ask):
    return neighbourhood.day(ask, HOMES)
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
quantity = "homes"
columns = 2
height = 80
panels = [
  { quantity = "delay of calls, 99 %", scale = "log", rules = [{ y = 50 }], lines = [{ measure = "down_worst", look = "tail" }] },
  { quantity = "channels busy", low = 0, high = 100, rules = [{ y = 80 }], lines = [{ measure = "down_used", look = "codel" }] },
]
"""


_DAY = """
[[figure]]
item = "day"
kind = "function"
function = "day"
group = "overview"
caption = "Rows: homes on the node. Fewer of them are at it by day and at night (chosen shares, from a quarter at 3 to all at 21 o'clock). Values lie between those of the numbers that were tried."
"""


def findings(ask: Ask, homes: int, searched: Sequence[int]) -> list[str]:
    """Return the answer of a result: the sentences, and a line for each threshold."""
    answer = Answer.of(homes, _crowds_in(ask), searched)
    return [
        *answer.sentences,
        *(f"{one.name}: from {one.told} homes on; {one.definition}." for one in answer.thresholds),
    ]


def day(ask: Ask, homes: int) -> PlotSpec:
    """Return the node by the hour: the delay of the worst tenth of calls, between the numbers of homes that were tried."""
    from sojourn.base.digits import significant
    from sojourn.plots.spec import Axis, Cell, Cells, Panel, PlotSpec

    known = [(one.homes, one.mean("calls_p99_worst_decile")) for one in _crowds_in(ask)]
    tried = [(float(count), math.log(delay)) for count, delay in known if delay is not None and delay > 0]
    nodes = sorted({max(round(share * min(homes, tried[-1][0])), 1) for share in NODES}, reverse=True)
    found: dict[tuple[int, int], float] = {}
    for x, share in enumerate(HOURS.values()):
        for y, node in enumerate(nodes):
            value = _between(tried, share * node)
            if value is not None:
                found[x, y] = math.exp(value)
    low, high = math.log(min(found.values())), math.log(max(found.values()))
    cells = tuple(
        Cell(
            float(x),
            float(len(nodes) - 1 - y),
            (math.log(value) - low) / (high - low) if high > low else 0.5,
            significant(value, 3),
            f"{significant(value, 3)} ms",
        )
        for (x, y), value in found.items()
    )
    hours = tuple((float(place), hour) for place, hour in enumerate(HOURS))
    sizes = tuple((float(len(nodes) - 1 - place), str(node)) for place, node in enumerate(nodes))
    panel = Panel(
        Axis("hour", "", low=-0.5, high=len(hours) - 0.5, ticks=hours),
        Axis("homes on the node", "", low=-0.5, high=len(sizes) - 0.5, ticks=sizes),
        (Cells(cells, "blue", "99th percentile of delay of the worst tenth of calls, ms"),),
    )
    return PlotSpec(
        "day",
        "The node by the hour",
        (panel,),
        height=32.0 + 8 * len(sizes),
        legend="below",
        description="Delay of the worst tenth of calls, 99th percentile in ms, by homes on the node and hour of the day.",
    )


def _between(known: Sequence[tuple[float, float]], homes: float) -> float | None:
    """Return a value between those of the numbers beside it: below the fewest theirs, above the most none."""
    if homes <= known[0][0]:
        return known[0][1]
    for (few, first), (many, second) in pairwise(known):
        if homes <= many:
            return first + (homes - few) / (many - few) * (second - first)
    return None


def _crowds_in(ask: Ask) -> list[Crowd]:
    points = {point.name: int(str(point.labels["homes"])) for point in ask.points.select({}) if "homes" in point.labels}
    return crowds_of(ask.view.result.metrics, points)


def crowds_of(metrics: pl.DataFrame, homes: Mapping[str, int]) -> list[Crowd]:
    """Return the crowds of runs: the metrics of the channel by seed, in rising order of homes.

    Raises `UsageError` if the runs had no service group, or no calls on it.

    Parameters
    ----------
    metrics
        Columns `point, seed, subject, metric, value`.
    homes
        How many homes each point has.
    """
    import polars as pl

    rows = metrics.filter(pl.col("subject").is_in(["group", "group/downstream"]))
    found: dict[int, dict[int, dict[str, float]]] = {}
    for point, seed, subject, metric, value in rows.select("point", "seed", "subject", "metric", "value").iter_rows():
        if point in homes:
            of_seed = found.setdefault(homes[point], {}).setdefault(seed, {})
            of_seed[metric + subject.removeprefix("group")] = value
    crowds = [Crowd(number, seeds) for number, seeds in sorted(found.items())]
    if not crowds or any(one.mean("calls_over_50ms") is None or one.mean("channel_use") is None for one in crowds):
        raise UsageError(
            "the homes have no channel in common, or none of them is in a call",
            'link = { kind = "docsis31-group" } upstream, and homes with app = "voice"',
        )
    return crowds
