"""What a headline states before any words: claims, each with the cells of the result that it was computed from."""

from __future__ import annotations

import math

TYPE_CHECKING = False  # as type checkers read it; the modules typing and dataclasses would take their time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from sojourn.headline.board import Value
    from sojourn.headline.said import Cell

__all__ = ["RELATIONS", "Claim", "Range"]

RELATIONS: Mapping[str, str] = {
    "keeps_at": "what settings give to the subject over all conditions (`at`), or a run without settings",
    "better_by": "what the others give (`theirs`), with the factor over all conditions if that says more",
    "best": "no setting beats these in any condition",
    "turns_at": "who is best in one condition of several in which that differs, or how often each is",
    "cannot_tell": "differences are chance, or may be",
    "not_felt": "nothing of a run disturbs the subject",
    "none_usable": "no setting keeps the subject usable in any condition",
    "loses": "share of its rate that the subject loses against the setting that gives it most, over all conditions",
    "costs_nothing": "the subject loses less than is told, in each condition and beyond chance",
    "gains": "the subject does better with another setting, in the named condition",
    "untold": "how many of all subjects do better with another setting, and are not named",
    "shares": "rates of transfers beside the subject, or of several that nobody waits beside",
    "missing": "settings that have not run",
}
"""Relations of claims, and what each states."""


class Range:
    """What a subject has over all conditions of a claim: the least and the largest mean, as `summary.csv` has them.

    Attributes
    ----------
    low, high
        Means at the ends.
    low_text, high_text
        The same as sentences write them.
    unit, kind, direction
        Unit, what the number is (`P99`), and the direction if it is one.
    way, things
        Row in `WAYS`, and what is lost: packets or frames.
    """

    __slots__ = ("direction", "high", "high_text", "kind", "low", "low_text", "things", "unit", "way")

    def __init__(self, values: Sequence[Value]) -> None:
        low, high = (pick(values, key=lambda one: one.mean) for pick in (min, max))
        measure = high.measure
        self.low, self.high, self.low_text, self.high_text = low.mean, high.mean, low.text, high.text
        self.unit, self.kind, self.way = measure.unit, measure.tag, measure.way
        ways = {one.direction for one in values}
        self.direction = ways.pop() if len(ways) == 1 else "the worse way"
        self.things = "frames" if high.metric.startswith("frames") else "packets"

    @property
    def is_finite(self) -> bool:
        """Whether it came at all, in each condition."""
        return math.isfinite(self.high)

    @property
    def text(self) -> str:
        """The numbers of a sentence, without unit."""
        if self.low_text == self.high_text:
            return self.low_text
        return f"{self.low_text} to {self.high_text}"

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        what = ", ".join(part for part in (self.kind, self.direction) if part)
        return {"low": self.low, "high": self.high, "unit": self.unit, "what": what}


class Claim:
    """One statement: a subject, a relation of `RELATIONS`, a value, and the cells that it was computed from."""

    __slots__ = ("over", "relation", "subject", "value")

    def __init__(self, subject: str, relation: str, over: Sequence[Cell] = (), **value: Any) -> None:  # noqa: ANN401 - as JSON
        self.subject, self.relation, self.over = subject, relation, tuple(over)
        self.value: Mapping[str, Any] = value

    def __repr__(self) -> str:
        """Show everything but the cells."""
        return f"Claim({self.subject!r}, {self.relation!r}, {_plain(self.value)!r})"

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        over = [
            {"setting": one.setting, "condition": one.condition, "subject": one.subject, "metric": one.metric}
            | {"mean": one.value}
            for one in self.over
        ]
        return {"subject": self.subject, "relation": self.relation, "value": _plain(self.value), "over": over}


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value as JSON has it."""
    if isinstance(value, Range):
        return value.as_json()
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
    return value
