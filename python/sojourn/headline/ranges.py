"""Numbers of claims: ranges over the conditions of a result, and the number that a page sets large."""

from __future__ import annotations

from sojourn.headline.said import BigNumber

TYPE_CHECKING = False  # as type checkers read it; the modules typing and dataclasses would take their time
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sojourn.headline.board import Value


class Range:
    """Range of a subject over all conditions of a claim: the least and the largest mean, as `summary.csv` has them.

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
    def text(self) -> str:
        """The numbers of a sentence, without unit."""
        if self.low_text == self.high_text:
            return self.low_text
        return f"{self.low_text} to {self.high_text}"

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        what = ", ".join(part for part in (self.kind, self.direction) if part)
        return {"low": self.low, "high": self.high, "unit": self.unit, "what": what}


def big_number(words: str, value: Value) -> BigNumber:
    """Return the number that a page sets large, of an application as sentences call it."""
    measure = value.measure
    parts = (words.removeprefix("the "), measure.tag, value.direction)
    return BigNumber(value.text, measure.unit, ", ".join(part for part in parts if part))
