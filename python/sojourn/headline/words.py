"""The clauses of headlines: how each kind of measure is spoken of."""

from __future__ import annotations

import math

from sojourn.headline.board import Listener, Value
from sojourn.headline.felt import GRADES
from sojourn.headline.said import amount, digits, many, named, possessive, together

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "beside",
    "burden",
    "condition",
    "gains",
    "good",
    "pair",
    "percent",
    "ratio",
    "span",
    "things",
    "times",
    "told",
    "transfers",
    "waits",
    "where",
    "whose",
]

_SCORES = {"A": "good", "B": "good", "C": "fair", "D": "poor", "F": "unusable"}
"""What a call is at each grade."""


def tag(value: Value) -> str:
    """Return what a number is, in parentheses with a space before: ` (P99, upstream)`."""
    parts = [part for part in (value.measure.tag, value.direction) if part]
    if value.measure.way in ("score", "stall", "behind") or not parts:
        return ""
    return f" ({', '.join(parts)})"


def told(value: Value) -> str:
    """Return a number with unit, direction and kind: `6 ms upstream (P99)`."""
    measure = value.measure
    if measure.way == "score":
        return f"MOS {value.text}"
    if measure.way == "stall":
        return f"it stands still {value.text} % of the time"
    if measure.way == "behind":
        return f"{value.text} s behind"
    if value.direction == "round trip" or not value.direction:
        return f"{value.text} {measure.unit}{tag(value)}"
    return f"{value.text} {measure.unit} {value.direction} ({measure.tag})"


def waits(who: str, value: Value) -> str:
    """Return a clause on what somebody puts up with."""
    start = f"{who[0].upper()}{who[1:]}"
    way = value.measure.way
    if way == "delay":
        return f"{start} waits {told(value)}"
    if way == "load":
        return f"A page takes {value.text} s (median)" if math.isfinite(value.mean) else "No page comes"
    if way == "score":
        return f"{start} scores MOS {value.text}"
    if way == "stall":
        return f"{start} stands still {value.text} % of the time"
    if way == "behind":
        return f"{start} is {value.text} s behind"
    return f"{start} loses {value.text} % of its {things(value)}{tag(value)}"


def burden(value: Value) -> str:
    """Return what the best of useless settings does: `delays it by 310 ms (P99, upstream)`."""
    way = value.measure.way
    if way == "delay":
        return f"delays it by {value.text} ms{tag(value)}"
    if way == "load":
        if not math.isfinite(value.mean):
            return "loads none"
        return f"needs {value.text} s for one{tag(value)}"
    if way == "score":
        return f"leaves it at MOS {value.text}"
    if way == "stall":
        return f"stops it {value.text} % of the time"
    if way == "behind":
        return f"leaves it {value.text} s behind"
    return f"loses {value.text} % of its {things(value)}{tag(value)}"


def span(values: Sequence[Value]) -> str:
    """Return a range of numbers: `24 to 26 ms (P99, round trip)`."""
    low, high = (pick(values, key=lambda one: one.mean) for pick in (min, max))
    text = low.text if low.text == high.text else f"{low.text} to {high.text}"
    measure = high.measure
    if measure.tag == "MOS":
        return f"MOS {text}"
    words = f"{text} {measure.unit}"
    if measure.way == "stall":
        return f"it stands still {words} of the time"
    if measure.way == "behind":
        return f"{words} behind"
    same = {value.direction for value in values}
    return f"{words}{tag(high)}" if len(same) == 1 else f"{words} ({measure.tag})"


def where(
    listener: Listener,
    name: str,
    value: Value,
    other: str,
    beaten: Value,
    *,
    is_tagged: bool = True,
    several: bool = False,
    more: Sequence[tuple[str, Value]] = (),
) -> str:
    """Return a clause of both values: `FQ-CoDel keeps the game at 12 ms where drop-tail needs 250 (P99, round trip)`.

    What `more` has follows: `where pie needs 15 and drop-tail 250`.
    """
    way, who = value.measure.way, listener.words
    losing = _and_others(beaten, more)
    s = "" if several else "s"
    end = tag(value) if is_tagged else ""
    if is_tagged and value.direction != beaten.direction and value.direction:
        end = f" {beaten.direction}{_kind(value)}"
        who_text = f"{value.text} {value.measure.unit} {value.direction}"
    else:
        who_text = f"{value.text} {value.measure.unit}"
    if way == "delay":
        return f"{name} keep{s} {who} at {who_text} where {other} needs {losing}{end}"
    if way == "load":
        needs = f"needs {losing}" if math.isfinite(beaten.mean) else "loads none"
        return f"{name} load{s} {who} in {value.text} s where {other} {needs}{end}"
    if way == "score":
        return f"{name} keep{s} {who} at MOS {value.text} where {other} gives {losing}"
    if way == "stall":
        verb = "stop" if several else "stops"
        return f"{name} {verb} {who} {value.text} % of the time where {other} does {losing}"
    if way == "behind":
        return f"{name} keep{s} {who} {value.text} s behind where {other} needs {losing}"
    verb = "lose" if several else "loses"
    return f"{name} {verb} {value.text} % of {whose(who, things(value))} where {other} loses {losing}{end}"


def _and_others(beaten: Value, more: Sequence[tuple[str, Value]]) -> str:
    """Return a number, and those of others by their names: `15, red 40 and drop-tail 250`."""
    parts = [beaten.text]
    for name, value in more:
        text = value.text if math.isfinite(value.mean) else "none"
        where = f" {value.direction}" if value.direction != beaten.direction else ""
        parts.append(f"{name} {text}{where}")
    return together(parts)


def _kind(value: Value) -> str:
    return f" ({value.measure.tag})" if value.measure.tag else ""


def whose(name: str, thing: str) -> str:
    """Return whose a thing is: `CUBIC's rate`, `the rate of LLD with PGS`, `the game's packets`."""
    if name.startswith("the "):
        return f"{name}'s {thing}" if not name.endswith("s") else f"{name}' {thing}"
    own = possessive(name)
    return f"{own} {thing}" if own else f"the {thing} of {name}"


def times(worse: Value, better: Value) -> float:
    """Return by what factor a value is worse than another."""
    high, low = worse.mean, better.mean
    if worse.measure.more_is_better:
        high, low = low, high
    if low <= 0:
        return math.inf if high > 0 else 1.0
    return high / low


def ratio(
    listener: Listener, names: Sequence[str], values: Sequence[Value], base: Value, *, noun: str, lost: str, beside: str
) -> str | None:
    """Return the clause of the winner with its ratio to a baseline; nothing where before and after say more."""
    way = values[0].measure.way
    if way not in ("delay", "load") or not math.isfinite(base.mean):
        return None
    worst = max(values, key=lambda value: value.mean)
    factor = times(base, worst)
    if 1.15 <= factor < 1.9 or math.isinf(factor):
        return None
    unit = worst.measure.unit
    several = len(names) > 1
    start = named(names, noun)
    start = f"{start[0].upper()}{start[1:]}" if noun and amount(names[0]) else start
    verb = (
        ("keep {} at" if way == "delay" else "load {} in")
        if several
        else ("keeps {} at" if way == "delay" else "loads {} in")
    )
    how, like = ("better", "good") if way == "delay" else ("faster", "fast")
    if factor < 1.15:
        much = f"hardly {how} than"
    elif factor < 2.2:
        much = f"twice as {like} as"
    else:
        much = f"{digits(factor)} times {how} than"
    number = f"{base.text} {unit}"
    if base.direction != worst.direction and base.direction:
        number += f" {base.direction}"
    text = span(values)
    return (
        f"{start} {verb.format(listener.words)} {text}{lost}{beside}"
        f"{'' if lost and not beside else ','} {much} {whose(base.setting, number)}"
    )


def good(listener: Listener, names: Sequence[str], values: Sequence[Value], base: Value, noun: str) -> str:
    """Return the clause on a score: `Buffers of 8 and 64 KB keep the call good (MOS 4.4); with 1 MB it is unusable (1.1)`."""
    worst = min(values, key=lambda value: value.mean)
    ours, theirs = (_SCORES[GRADES[value.place]] for value in (worst, base))
    start = named(names, noun)
    if noun and amount(names[0]):
        start = f"{start[0].upper()}{start[1:]}"
    several = len(names) > 1
    if ours == theirs:
        return where(listener, start, worst, base.setting, base, several=several)
    keeps = "keep" if several else "keeps"
    return f"{start} {keeps} {listener.words} {ours} ({span(values)}); with {base.setting} it is {theirs} ({base.text})"


def gains(listener: Listener, name: str, best: Value, own: Value) -> str:
    """Return a clause on somebody who does better with another setting: `PIE loads pages faster, 1.2 s for 2.1`."""
    way, unit = best.measure.way, best.measure.unit
    if way == "load":
        if not math.isfinite(own.mean):
            return f"{name} loads pages, in {best.text} s"
        return f"{name} loads {listener.words} faster, {best.text} s for {own.text}"
    if way == "score":
        return f"{name} keeps {listener.words} better, MOS {best.text} for {own.text}"
    if way == "stall":
        return f"{name} stops {listener.words} less, {best.text} % of the time for {own.text}"
    if way == "behind":
        return f"{name} keeps {listener.words} nearer, {best.text} s behind for {own.text}"
    return f"{name} keeps {listener.words} quicker, {best.text} {unit} for {own.text}"


def pair(best: Value, other: str, beaten: Value, *, is_first: bool) -> str:
    """Return two values in parentheses: `15 ms for CoDel's 22`, and `18 for 31` once that is said."""
    prefix = "MOS " if best.measure.tag == "MOS" and is_first else ""
    if not is_first:
        return f"{best.text} for {beaten.text}"
    unit = f" {best.measure.unit}" if best.measure.unit else ""
    own = possessive(other)
    if own:
        return f"{prefix}{best.text}{unit} for {own} {beaten.text}"
    return f"{prefix}{best.text}{unit}; {beaten.text} with {other}"


def condition(words: str) -> str:
    """Return how a sentence under a condition begins: `At 20 ms`, `With four uploads`."""
    return f"At {words}" if amount(words) else f"With {words}"


def transfers(active: Mapping[str, str]) -> dict[str, str]:
    """Return what sentences call transfers: `the upload` where there is one, by their names where there are more."""
    found: dict[str, str] = {}
    metrics = list(active.values())
    for subject, metric in active.items():
        noun = "download" if metric == "goodput_downstream" else "upload"
        found[subject] = f"the {noun}" if metrics.count(metric) == 1 else subject
    return found


def beside(active: Mapping[str, str]) -> str:
    """Return what else is on the line: ` beside an upload and a download`; nothing if nothing is."""
    metrics = list(active.values())
    parts: list[str] = []
    for metric, one, some in (("goodput", "an upload", "uploads"), ("goodput_downstream", "a download", "downloads")):
        count = metrics.count(metric)
        if count:
            parts.append(one if count == 1 else f"{many(count)} {some}")
    return f" beside {together(parts)}" if parts else ""


def percent(share: float) -> str:
    """Return a share in whole percent."""
    return f"{100 * share:.0f} %"


def things(value: Value) -> str:
    """Return what is lost: packets, or frames."""
    return "frames" if value.metric.startswith("frames") else "packets"
