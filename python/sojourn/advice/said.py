"""Sentences of advice: the answer first, then its grounds, then alternatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sojourn.advice.arms import AS_IS, WAYS, Arm, Line
from sojourn.advice.race import OUT_OF_TIME
from sojourn.advice.uses import User
from sojourn.base.digits import significant
from sojourn.stats.estimate import Estimate, log_mean_of, mean_of

if TYPE_CHECKING:
    from sojourn.advice.search import Found

KIND_WORDS: Mapping[str, str] = {"cake": "CAKE", "fq-codel": "FQ-CoDel", "pie": "PIE", "codel": "CoDel"}
"""How sentences call what a router runs."""


def rate_words(mbps: float) -> str:
    """Return a rate as people say it.

    Examples
    --------
    >>> rate_words(18.6), rate_words(0.64)
    ('18.6 Mb/s', '640 kb/s')
    """
    return f"{significant(mbps)} Mb/s" if mbps >= 1 else f"{significant(1000 * mbps)} kb/s"


def setting_words(line: Line, arm: Arm) -> str:
    """Return a setting in words."""
    if arm.who != "router":
        return arm.words
    up, down = (line.router_mbps(arm, way) for way in ("upstream", "downstream"))
    counted = line.counted(arm, "upstream").words
    return f"{KIND_WORDS[arm.kind]} at {rate_words(up)} up and {rate_words(down)} down, counting {counted}"


def felt_rows(found: Found, users: Sequence[User]) -> list[tuple[str, str, dict[Arm, Estimate]]]:
    """Return what was confirmed: a measure in words, its unit, and its estimate by setting."""
    measures: list[tuple[str, str, str, str]] = []
    for user in users:
        word, name = user.use.word, user.name
        if word == "game":
            measures.append((f"{name}: round trip without propagation, 99 %", "ms", f"{name}.delay_trip", "ratio"))
        if word in ("game", "call"):
            measures += [
                (f"{name}: delay upstream, 99 %", "ms", f"{name}.delay_up", "ratio"),
                (f"{name}: delay downstream, 99 %", "ms", f"{name}.delay_down", "ratio"),
                (f"{name}: packets lost or late", "%", f"{name}.missed", "mean"),
            ]
        elif word == "web":
            measures.append((f"{name}: page load time, 95 %", "s", f"{name}.page", "ratio"))
    measures += [
        ("goodput upstream", "Mb/s", "goodput_up", "mean"),
        ("goodput downstream", "Mb/s", "goodput_down", "mean"),
    ]
    rows: list[tuple[str, str, dict[Arm, Estimate]]] = []
    for words, unit, key, kind in measures:
        estimates: dict[Arm, Estimate] = {}
        for arm, runs in found.confirmed.items():
            values = [run[key] for run in runs if key in run]
            if values:
                is_ratio = kind == "ratio" and min(values) > 0
                estimates[arm] = (log_mean_of if is_ratio else mean_of)(values)
        if any((estimate.value or 0) > 0 for estimate in estimates.values()):
            rows.append((words, unit, estimates))
    return rows


def felt(found: Found, arm: Arm, users: Sequence[User]) -> float:
    """Return what the first of those who count feels with a setting, as a mean of the confirming runs."""
    return float(np.mean([users[0].felt(run) for run in found.confirmed[arm]]))


def is_cured(found: Found, users: Sequence[User]) -> bool:
    """Return whether a setting makes the line usable, or at least twice as good where it is not."""
    before, after = felt(found, AS_IS, users), felt(found, found.taken, users)
    return after <= max(users[0].use.unusable, 0.5 * before)


def sentence(found: Found, line: Line, users: Sequence[User]) -> str:
    """Return the answer."""
    if found.taken == AS_IS and any(one.verdict == "undecided" for one in found.standings):
        return f"Leave it as it is for now: no setting was shown to be better so far ({found.stop}); a longer --budget may decide."
    if found.taken == AS_IS:
        return "Leave it as it is: no setting that was tried is better by more than can be felt."
    setting, gain = setting_words(line, found.taken), f"{_gain(found, users)}{_cost(found)}"
    if is_cured(found, users):
        return f"Set {setting}: {gain}."
    varies = any(line.is_varying(way) for way in WAYS)
    cause = (
        "the delay is in the radio, whose rate falls below that of any shaper" if varies else "the delay is elsewhere"
    )
    return f"No setting cures this line: {cause}. With {setting} {gain}."


def _gain(found: Found, users: Sequence[User]) -> str:
    """Return what the first of those who count has of it."""
    use = users[0].use
    before, after = felt(found, AS_IS, users), felt(found, found.taken, users)
    moved = "falls" if after < before else "rises"
    return f"{use.whose} {use.felt} {moved} from {significant(before, 3)} to {significant(after, 3)} {use.unit}"


def _cost(found: Found) -> str:
    """Return its cost in goodput."""
    parts: list[str] = []
    for key, way in (("goodput_up", "up"), ("goodput_down", "down")):
        before, after = (
            float(np.mean([run.get(key, 0.0) for run in found.confirmed[arm]])) for arm in (AS_IS, found.taken)
        )
        if before > 0 and abs(after - before) >= 0.005 * before:
            parts.append(f"{significant(after, 3)} instead of {significant(before, 3)} Mb/s {way}")
    return f", with {' and '.join(parts)}" if parts else ""


def second_sentence(found: Found, line: Line, users: Sequence[User]) -> str:
    """Return the second best, and its measure that people feel; a cost in logarithms is no ratio of delays, so it is not printed."""
    second = found.second
    if second is None:
        return ""
    words = setting_words(line, second.arm)
    value = f"{significant(felt(found, second.arm, users), 3)} {users[0].use.unit}"
    if second.verdict == "equal":
        return f"Second: {words}; it cannot be told apart ({value})."
    if second.verdict == "undecided":
        return f"Second: {words}; whether it is worse could not be decided ({value})."
    own = f"{significant(felt(found, found.taken, users), 3)} {users[0].use.unit}"
    also = "" if len(users) == 1 else ", all who count together"
    return f"Second: {words}, which is worse{also}: {users[0].use.whose} {users[0].use.felt} is {value} for {own}."


def group_sentence(found: Found) -> str:
    """Return which settings cannot be told apart, and why this one of them was taken."""
    equal = [one.arm for one in found.standings if one.verdict == "equal"]
    undecided = [one.arm for one in found.standings if one.verdict == "undecided"]
    if not equal and not undecided:
        return "No other setting that was tried is as good."
    text = ""
    if equal:
        text = f"Cannot be told apart: {_names([found.taken, *equal])}; this one leaves most goodput, or changes least."
    if undecided:
        text += f"{' ' * bool(text)}Not decided: {_names(undecided)} ({found.stop})."
    return text


def _names(arms: Sequence[Arm]) -> str:
    """Return settings by name, those of one kind together."""
    if any(arm.who != "router" for arm in arms):
        return ", ".join(arm.name for arm in arms)
    ups: dict[str, list[float]] = {}
    for arm in arms:
        ups.setdefault(arm.kind, []).append(arm.up)
    return ", ".join(f"{KIND_WORDS[kind]} at {_span(shares)} of the line" for kind, shares in ups.items())


def _span(shares: Sequence[float]) -> str:
    low, high = min(shares), max(shares)
    return f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"


def cliff_sentences(found: Found, line: Line) -> list[str]:
    """Return where a rate that is too high stops helping."""
    told: list[str] = []
    if not found.cliffs and found.taken.who == "router" and found.stop == OUT_OF_TIME:
        told.append("How near the cliff is was not looked for: the time was up, and a longer --budget does it.")
    for cliff in sorted(found.cliffs, key=lambda one: one.edge is None):
        rate = line.rates_mbps[cliff.way]
        where = f" ({cliff.supposed})" if cliff.supposed else ""
        if cliff.edge is None:
            last = max(cliff.delays_ms)
            told.append(
                f"No cliff {cliff.way} up to {last:.2f} of the line ({rate_words(last * rate)}), counting {cliff.counted}{where}."
            )
            continue
        told.append(
            f"The cliff {cliff.way} lies at {cliff.edge:.2f} of the line ({rate_words(cliff.edge * rate)}), counting "
            f"{cliff.counted}{where}: there {significant(cliff.delays_ms[cliff.edge], 3)} ms instead of "
            f"{significant(cliff.plateau_ms, 3)}."
        )
    return told
