"""Uses by the words of `--for`: the traffic of a scenario that stands for them, and the cost of a setting for them.

Units and ranges: losses are natural logarithms, so that a twentieth more of any delay weighs the same.
Deviations: a delay is that of datagrams without propagation, which no setting changes, over all links. What a game costs is
its round trip, propagation included: two milliseconds more of forty are five per cent, and not thirty. Pages of which none
was completed count as if each had taken the whole run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sojourn.base.errors import UsageError, nearest, plain

Values = Mapping[str, float]
"""Measures of one run: by entry and measure, `game.delay_up`; see `sojourn.advice.bench`."""


@dataclass(frozen=True)
class Use:
    """One use.

    Attributes
    ----------
    word
        As in `--for`.
    whose
        In a sentence, as in "the game's delay".
    kinds
        Kinds of applications that stand for it.
    weight
        Its weight beside others.
    felt, unit
        The measure that is printed first, and its unit.
    unusable
        From where on it is graded F (specification of headlines, section 2), in that unit.
    """

    word: str
    whose: str
    kinds: tuple[str, ...]
    weight: float
    felt: str
    unit: str
    unusable: float = math.inf


USES: Mapping[str, Use] = {
    use.word: use
    for use in (
        Use("call", "the call's", ("voice", "video-call"), 1.0, "delay one way (P99)", "ms", 400.0),
        Use(
            "game",
            "the game's",
            ("online-game", "game", "cloud-game"),
            1.0,
            "round trip over router and line (P99)",
            "ms",
            200.0,
        ),
        Use("web", "the pages'", ("web", "web-3gpp", "web-akhtar"), 0.5, "load time (P95)", "s", 10.0),
        Use("bulk", "the transfers'", ("bulk",), 0.25, "goodput upstream", "Mb/s"),
    )
}
"""All uses with their weights. chosen: what cannot wait counts most."""

CALM_MS = 10.0
"""A delay that no caller notices. chosen: half of the time between two packets of a call."""

ENDLESS = 1e6
"""Value of a delay that never ended, ms or s."""


@dataclass(frozen=True)
class User:
    """An entry of the scenario that counts.

    Attributes
    ----------
    use
        The use.
    name
        Of the entry.
    weight
        Its weight.
    """

    use: Use
    name: str
    weight: float

    def loss(self, values: Values, duration_s: float) -> float:
        """Return what a run cost this one."""
        if self.use.word == "call":
            delay = max(values.get(f"{self.name}.delay_{way}", 0.0) for way in ("up", "down"))
            missed = values.get(f"{self.name}.missed", 100.0)
            return math.log1p(missed) + max(math.log(max(delay, 1e-3) / CALM_MS), 0.0)
        if self.use.word == "game":
            return math.log(self._trip(values, "way") or ENDLESS)
        if self.use.word == "web":
            return math.log(values.get(f"{self.name}.page", duration_s))
        rates = [values.get(f"{self.name}.goodput_{way}", 0.0) for way in ("up", "down")]
        used = [rate for rate in rates if rate > 0]
        return -sum(math.log(rate) for rate in used) / len(used) if used else math.log(ENDLESS)

    def felt(self, values: Values) -> float:
        """Return the first measure of a run, in the unit of the use."""
        if self.use.word == "web":
            return values.get(f"{self.name}.page", ENDLESS)
        return values.get("goodput_up", 0.0) if self.use.word == "bulk" else self.delay(values)

    def delay(self, values: Values) -> float:
        """Return the 99th percentile of delay that is felt, ms; of a game that of round trips."""
        if self.use.word == "game":
            return self._trip(values, "delay") or ENDLESS
        ways = [value for way in ("up", "down") if (value := values.get(f"{self.name}.delay_{way}")) is not None]
        return max(ways, default=ENDLESS)

    def _trip(self, values: Values, what: str) -> float:
        """Return the 99th percentile of round trips; of packets one way alone that of the way."""
        trip = values.get(f"{self.name}.{what}_trip")
        if trip is not None:
            return trip
        return sum(value for way in ("up", "down") if (value := values.get(f"{self.name}.{what}_{way}")) is not None)


def read_uses(text: str) -> dict[str, float]:
    """Return the weights of those who count, by use, in the order in which they stand.

    Raises `UsageError` if a use is not known or its weight is none.

    Examples
    --------
    >>> read_uses("game,web:2")
    {'game': 1.0, 'web': 2.0}
    """
    found: dict[str, float] = {}
    for part in text.split(","):
        word, colon, weight = (piece.strip() for piece in part.strip().partition(":"))
        if not word:
            continue
        if word not in USES:
            hint = nearest(word, list(USES)) or f"one or more of {', '.join(USES)}"
            raise UsageError(f'--for: "{plain(word)}" is not known', hint)
        found[word] = _weight(weight) if colon else USES[word].weight
    if not found:
        raise UsageError("--for names no use", f"one or more of {', '.join(USES)}")
    return found


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 < weight <= 1000:
        raise UsageError(f'--for: "{plain(text)}" is no weight', "a number above 0, as in game,web:0.5")
    return weight


def users_of(document: Mapping[str, Any], weights: Mapping[str, float] | None) -> list[User]:
    """Return who counts in a scenario; all of its uses if none is named.

    Raises `UsageError` if there is no traffic of a use.
    """
    entries: list[tuple[str, str]] = []
    for entry in document.get("traffic", []):
        app = entry.get("app")
        table = cast("Mapping[str, Any]", app) if isinstance(app, Mapping) else {"kind": app}
        kind = "voice" if table.get("is_call") is True else str(table.get("kind", ""))
        entries.append((str(entry["name"]), kind))
    present = {word: [name for name, kind in entries if kind in use.kinds] for word, use in USES.items()}
    if weights is None:
        weights = {word: USES[word].weight for word, names in present.items() if names}
        real = {word: weight for word, weight in weights.items() if word != "bulk"}
        weights = real or weights
    users = [
        User(USES[word], name, weight / len(present[word]))
        for word, weight in weights.items()
        for name in present[word]
    ]
    missing = [word for word in weights if not present[word]]
    if missing or not users:
        told = ", ".join(f"{name} ({kind})" for name, kind in entries) or "none"
        what = f"no traffic for {', '.join(missing)}" if missing else "no traffic that a person feels"
        raise UsageError(
            f"the scenario has {what}", f"its traffic: {told}; a call is voice, a game online-game, pages are web"
        )
    return users


def loss_of(users: Sequence[User], values: Values, duration_s: float) -> float:
    """Return what a run cost all who count, by their weights."""
    return sum(user.weight * user.loss(values, duration_s) for user in users)
