"""Answer of a calibration: a sentence, text for a terminal, the scenario, and twenty access lines that fit as well."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.base.digits import significant
from sojourn.base.errors import RunError
from sojourn.base.notebook import table_html
from sojourn.calibration.identify import Finding
from sojourn.calibration.inversion import buffer_ms
from sojourn.calibration.line import FAMILIES, FAMILY_WORDS, Access
from sojourn.calibration.line_text import scenario_text
from sojourn.calibration.misfit import NO_POSTERIOR
from sojourn.calibration.side import Choices, Side
from sojourn.version import VERSION

MEMBERS = 20
"""Lines of an ensemble. chosen: enough for its 5th and 95th percentile to be lines of it."""


def amount(value: float, unit: str) -> str:
    """Return a value with its unit, sizes from 10 kB in kB.

    Examples
    --------
    >>> amount(612_000, "B"), amount(19.978, "Mb/s")
    ('612 kB', '19.98 Mb/s')
    """
    if unit == "B" and value >= 1e4:
        value, unit = value / 1e3, "kB"
    if unit == "kB" and value >= 1e4:
        value, unit = value / 1e3, "MB"
    return f"{_digits(value)} {unit}"


def _digits(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return significant(value, 4 if value >= 10 else 3)


@dataclass(frozen=True)
class Answer:
    """A line as far as measurements tell.

    Attributes
    ----------
    access
        Its kind.
    sides
        Directions that were loaded.
    choices
        What was chosen.
    """

    access: Access
    sides: tuple[Side, ...]
    choices: Choices

    @property
    def is_misfit(self) -> bool:
        """True if any direction is unlike what the model makes."""
        return any(side.is_misfit for side in self.sides)

    @property
    def sentence(self) -> str:
        """The answer in a sentence."""
        return " ".join(_sentence(side) for side in self.sides)

    def lines(self) -> list[str]:
        """Return what a terminal shows, a line per quantity."""
        return [line for side in self.sides for line in _lines(side)]

    def scenario(self) -> str:
        """Return the likeliest line as a scenario, with the test that was measured on it.

        Raises `RunError` if nothing was fitted.
        """
        side, *others = self._fitted()
        there = central(others[0]) if others else None
        return member_text(side, *central(side), there, name="calibrated", told=(*others, side))

    def ensemble(self) -> list[str]:
        """Return twenty lines that may be it, as scenarios; empty if nothing was fitted."""
        fitted = [side for side in self.sides if side.posterior is not None]
        if not fitted:
            return []
        side, *others = fitted
        theirs: list[tuple[str, dict[str, float]] | None] = [None] * MEMBERS
        if others:
            # Draws of both directions come in the order of their tables; together they are met by chance.
            order = np.random.default_rng([self.choices.seed, 1]).permutation(MEMBERS)
            drawn = draws_of(others[0], MEMBERS, self.choices.seed)
            theirs = [drawn[place] for place in order.tolist()]
        return [
            member_text(side, family, values, there, name=f"calibrated/{number:02d}")
            for number, ((family, values), there) in enumerate(
                zip(draws_of(side, MEMBERS, self.choices.seed), theirs, strict=True), start=1
            )
        ]

    def _fitted(self) -> list[Side]:
        fitted = [side for side in self.sides if side.posterior is not None]
        if not fitted:
            raise RunError(
                "nothing was fitted: there is a bound, or the measurement is unlike anything that the model makes",
                "`.lines()` has what the measurement itself says",
            )
        return fitted

    def as_json(self) -> dict[str, Any]:
        """Return all that is said, for programs."""
        return {
            "sentence": self.sentence,
            "access": self.access.name,
            "sides": [_as_json(side) for side in self.sides],
            "version": VERSION,
        }

    def __repr__(self) -> str:
        """Say it in a sentence."""
        return f"<Calibration: {self.sentence}>"

    def _repr_html_(self) -> str:
        """Show what is known as a table."""
        rows = [
            (
                side.direction,
                finding.unknown.words,
                amount(finding.middle, finding.unknown.unit),
                _range(finding),
                finding.verdict,
            )
            for side in self.sides
            for finding in side.findings
        ]
        return table_html(self.sentence, ("direction", "quantity", "median", "90 %", "how well"), rows)


def central(side: Side) -> tuple[str, dict[str, float]]:
    """Return the likeliest draw of the likeliest family, with the medians that stand for its values."""
    posterior = side.posterior
    assert posterior is not None
    from sojourn.calibration.fit import interval

    members = np.flatnonzero(posterior.families == posterior.best)
    first = members[int(np.argmax(posterior.weights[members]))]
    values: dict[str, float] = {}
    for column, one in enumerate(side.unknowns):
        if one.of(FAMILIES[posterior.best]) and math.isfinite(posterior.values[first, column]):
            if one.scale == "choice" or one.rarely:
                values[one.name] = float(posterior.values[first, column])
            else:
                family = None if one.is_reported and not one.families else posterior.best
                values[one.name] = interval(*posterior.of(column, family))[0]
    return FAMILIES[posterior.best], values


def draws_of(side: Side, count: int, seed: int) -> list[tuple[str, dict[str, float]]]:
    """Return draws of the posterior, evenly over its weights."""
    posterior = side.posterior
    assert posterior is not None
    start = np.random.default_rng([seed, 0]).random()
    places = np.searchsorted(np.cumsum(posterior.weights), (np.arange(count) + start) / count)
    found: list[tuple[str, dict[str, float]]] = []
    for row in np.minimum(places, len(posterior.weights) - 1):
        known = {
            one.name: float(value)
            for one, value in zip(side.unknowns, posterior.values[row], strict=True)
            if math.isfinite(value)
        }
        found.append((FAMILIES[int(posterior.families[row])], known))
    return found


def member_text(
    side: Side,
    family: str,
    values: Mapping[str, float],
    there: tuple[str, Mapping[str, float]] | None = None,
    *,
    name: str,
    told: Sequence[Side] = (),
) -> str:
    """Return a draw as a scenario, `there` of the other direction; with where values of these sides come from."""
    return scenario_text(
        side.access,
        side.measured.load,
        side.guess,
        family,
        values,
        other_way=there,
        comments={
            key_of(one, name): text
            for one in told
            for name, text in origins(one).items()
            if one is side or name not in SHARED
        },
        name=name,
    )


SHARED = ("rtt", "map")
"""Unknowns that a scenario of both directions has once: those of the first direction."""


def key_of(side: Side, name: str) -> str:
    """Return the key path of an unknown in the scenario."""
    key = next(one.key for one in side.unknowns if one.name == name).replace("DIRECTION", f"{side.direction}stream")
    is_pie = side.posterior is not None and FAMILIES[side.posterior.best] == side.access.pie
    return key.replace(".target", ".reference") if is_pie else key  # DOCSIS-PIE calls its own a target


def origins(side: Side) -> dict[str, str]:
    """Return where each value of the scenario comes from, by the name of the unknown."""
    names = side.measured.names
    files = f"{len(names)} file{'s' * (len(names) != 1)}, sha256 {side.measured.digests[0][:12]}..."
    how = "robust statistics" if side.posterior is not None and side.posterior.is_robust else "all statistics"
    found: dict[str, str] = {}
    for finding in side.findings:
        if finding.verdict == "not identifiable":
            found[finding.unknown.name] = "assumed: not identifiable"
        elif finding.verdict == "given":
            found[finding.unknown.name] = "given: by the caller"
        else:
            found[finding.unknown.name] = (
                f"calibrated: {files}, {amount(finding.middle, finding.unknown.unit)} {_range(finding)} 90 %, {how}, "
                f"misfit {side.misfit:.2g}, sojourn {VERSION}"
            )
    return found


def _range(finding: Finding) -> str:
    unit = finding.unknown.unit
    low, high = (amount(value, unit) for value in (finding.low, finding.high))
    if low.partition(" ")[2] == high.partition(" ")[2]:
        low = low.partition(" ")[0]
    return f"[{low}, {high}]"


def _sentence(side: Side) -> str:
    way = f"{side.direction}stream"
    reading = side.reading
    if reading.is_window_limited and not math.isfinite(reading.buffer_bytes):
        return (
            f"The line carries {amount(reading.rate_mbps, 'Mb/s')} {way}; no loss was seen, so the sender's window was the limit, and without "
            "round trips of pings nothing is known of its buffer."
        )
    if reading.is_window_limited:
        return (
            f"The line carries {amount(reading.rate_mbps, 'Mb/s')} {way}; its buffer holds at least "
            f"{amount(reading.buffer_bytes, 'B')}, because the sender's window was the limit and never filled it."
        )
    if side.posterior is None:
        return (
            f"The line carries about {amount(reading.rate_mbps, 'Mb/s')} {way}, and its queue is unlike any that is modelled: "
            "no posterior is given."
        )
    found = {one.unknown.name: one for one in side.findings}
    shares = side.posterior.shares
    named = [f"{FAMILY_WORDS[FAMILIES[one]]} ({100 * shares[one]:.0f} %)" for one in side.posterior.alike]
    text = f"The line carries {amount(found['rate'].middle, 'Mb/s')} {way} behind {' or '.join(named)}"
    if len(named) > 1:
        text += ": this measurement cannot tell them apart"
    elif "buffer" in found:
        one = found["buffer"]
        text += f" of {amount(one.middle, 'B')} {_range(one)}, {buffer_ms(one.middle, found['rate'].middle):.0f} ms"
    elif "target" in found and found["target"].verdict != "not identifiable":
        text += f" with a target of {amount(found['target'].middle, 'ms')}"
    return text + "."


def _lines(side: Side) -> list[str]:
    way = f"{side.direction}stream"
    rows: list[tuple[str, str, str, str]] = []
    reading = side.reading
    if side.posterior is None:
        rows.append(
            (f"line {side.direction}", amount(reading.rate_mbps, "Mb/s"), "", "read off: payload and headers over time")
        )
        if math.isfinite(reading.idle_ms):
            rows.append(("idle RTT", amount(reading.idle_ms, "ms"), "", "read off"))
        if reading.is_window_limited and not math.isfinite(reading.buffer_bytes):
            rows.append((f"{way} buffer", "-", "", "not known: no loss was seen, and the file has no pings"))
        elif reading.is_window_limited:
            rows.append(
                (
                    f"{way} buffer",
                    f"at least {amount(reading.buffer_bytes, 'B')}",
                    "",
                    "bound only: no loss seen, the sender's window was the limit",
                )
            )
            if reading.is_offloaded:
                rows.append(
                    ("spread", amount(reading.spread_bytes, "B"), "", "one unit of segmentation offload, not the queue")
                )
        elif math.isfinite(reading.buffer_bytes):
            rows.append(
                (
                    "buffer",
                    amount(reading.buffer_bytes, "B"),
                    "",
                    "read off, if it is drop-tail and one CUBIC flow filled it",
                )
            )
    else:
        for finding in side.findings:
            rows.append(_row(side, finding))
            if finding.unknown.name == "rtt":
                shares = ", ".join(
                    f"{name} {share:.2f}"
                    for share, name in sorted(zip(side.posterior.shares, FAMILIES, strict=True), reverse=True)
                )
                rows.append(("queue", shares, "", ""))
    if side.table is not None:
        rows.append(("misfit", "", "", _misfit(side)))
    first = max(len(row[0]) for row in rows)
    second = max(len(row[1]) for row in rows if row[0] not in ("queue", f"{way} buffer"))
    third = max(len(row[2]) for row in rows)
    return [f"{a:<{first}}  {b:<{second}} {c:<{third}}  {d}".rstrip() for a, b, c, d in rows]


def _row(side: Side, finding: Finding) -> tuple[str, str, str, str]:
    one = finding.unknown
    name = f"line {side.direction}" if one.name == "rate" else one.words.replace("base round trip", "base RTT")
    if finding.verdict == "not identifiable":
        return name, "-", "", f"not identifiable: {_why(one.name)}"
    told = finding.verdict
    if one.name == "buffer":
        rate = next(found.middle for found in side.findings if found.unknown.name == "rate")
        told += f" = {buffer_ms(finding.middle, rate):.0f} ms at the rate"
    if one.name == "rate":
        told += f", goodput {amount(side.reading.goodput_mbps, 'Mb/s')} x {side.access.frame:g}/1448"
    return name, amount(finding.middle, one.unit), _range(finding), told


def _why(name: str) -> str:
    if name == "bucket":
        return "a bucket that runs empty at once, or not within the test, looks the same"
    if name == "map":
        return "too few idle round trips"
    return "many values make what was seen"


def _misfit(side: Side) -> str:
    if side.posterior is None and side.measured.told is not None:
        return f"{side.misfit:.2g} times what the model makes; more than {NO_POSTERIOR:g}: no posterior"
    if side.posterior is None:
        return f"{side.robust_misfit:.1f} errors from anything that the model makes (robust; more than {NO_POSTERIOR:g}): no posterior"
    text = f"{side.misfit:.2g} times what the model makes"
    if side.posterior.is_robust and side.misfit <= 1:
        return f"{text}, but dynamics contradict the rate and were left out (robust)"
    if side.posterior.is_robust:
        return f"{text}; dynamics were left out (robust)"
    return f"{text}: like the model" if side.misfit <= 1 else f"{text}; dynamics were trusted all the same"


def _as_json(side: Side) -> dict[str, Any]:
    def number(value: float) -> float | None:
        return value if math.isfinite(value) else None

    reading = side.reading
    return {
        "direction": side.direction,
        "files": list(side.measured.names),
        "families": None
        if side.posterior is None
        else {name: float(share) for name, share in zip(FAMILIES, side.posterior.shares, strict=True)},
        "quantities": [
            {
                "name": one.unknown.name,
                "key": key_of(side, one.unknown.name),
                "unit": one.unknown.unit,
                "median": one.middle,
                "low": one.low,
                "high": one.high,
                "contraction": one.contraction,
                "verdict": one.verdict,
            }
            for one in side.findings
        ],
        "bound": {"buffer_bytes_at_least": number(reading.buffer_bytes)} if reading.is_window_limited else None,
        "offload": reading.is_offloaded,
        "read_off": {
            "goodput_mbps": number(reading.goodput_mbps),
            "rate_mbps": number(reading.rate_mbps),
            "idle_ms": number(reading.idle_ms),
            "second_largest_ms": number(reading.second_largest_ms),
            "buffer_bytes": number(reading.buffer_bytes),
            "bucket_bytes": number(reading.bucket_bytes),
        },
        "misfit": side.misfit,
        "robust_misfit": side.robust_misfit,
        "is_robust": side.posterior is not None and side.posterior.is_robust,
        "runs": 0 if side.table is None else len(side.table),
        "cannot_be_known": list(side.unknowable),
    }
