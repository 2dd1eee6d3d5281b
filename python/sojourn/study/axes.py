"""Axes of a study: what varies from point to point, as a list of overlays, a key with values, or a range.

An axis of a key needs no overlay per value:

    target = { key = "access.upstream.queue.target", values = ["2 ms", "5 ms", "10 ms"] }
    rate = { keys = ["access.upstream.link.rate", "access.downstream.link.rate"], values = ["5 Mb/s", "50 Mb/s"] }
    buffer = { key = "access.upstream.queue.limit", from = "8 KB", to = "1 MB", steps = 8, scale = "log" }

Source: Sobol' points as of Joe and Kuo (SIAM J. Sci. Comput. 30, 2008) with Owen's scrambling, by way of
`scipy.stats.qmc`. Deviations: values of ranges and samples are rounded to four significant digits.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, overload

from pydantic import Discriminator, Field, Tag

import sojourn._engine as _engine
from sojourn.base.errors import Problem
from sojourn.base.toml_text import toml_value
from sojourn.declarations.base import LabelValue, Strict

if TYPE_CHECKING:
    import numpy as np

DIGITS = 4
"""Significant digits of computed values. chosen: 1.234 kB is still a whole number of bytes."""


class KeyAxis(Strict):
    """An axis of one key, or of several that vary together, with their values or a range."""

    key: str | None = None
    """Path of a scenario key, such as `access.upstream.queue.target`; traffic goes by its name."""
    keys: list[str] = Field(default_factory=list)
    """Several keys instead. Each element of `values` is one value for all, or a list with one for each."""
    values: list[Any] | None = None
    """The values, as they would stand in the scenario."""
    least: str | float | None = Field(default=None, alias="from")
    """First value of a range."""
    most: str | float | None = Field(default=None, alias="to")
    """Last value of a range."""
    steps: Annotated[int, Field(ge=2, le=100_000)] | None = None
    """How many values a range has, both ends included; a sample needs none."""
    scale: Literal["linear", "log"] = "linear"
    """True if values of a range have equal differences or equal ratios."""

    @property
    def targets(self) -> list[str]:
        """The keys that vary."""
        return self.keys or ([self.key] if self.key else [])


class Sample(Strict):
    """Points spread over the ranges of all axes instead of their product."""

    points: Annotated[int, Field(ge=1, le=1_000_000)]
    """How many."""
    method: Literal["sobol", "random"] = "sobol"
    """Evenly (a scrambled Sobol' sequence), or independently of each other."""
    seed: Annotated[int, Field(ge=0)] = 1
    """Seed of the points; the seeds of runs are separate."""


def _kind(value: object) -> str:
    return "overlays" if isinstance(value, list) else "key"


Axis = Annotated[
    Annotated[Annotated[list[str], Field(min_length=1)], Tag("overlays")] | Annotated[KeyAxis, Tag("key")],
    Discriminator(_kind),
]
"""Names of overlays, or a key with values."""


@dataclass(frozen=True)
class Level:
    """One value of an axis."""

    text: str
    """For names of points."""
    label: LabelValue
    overlay: str = ""
    """The overlay to lay, if the axis lists overlays."""
    settings: tuple[tuple[str, str], ...] = ()
    """Keys and their values as TOML otherwise."""


def problems_of(axis: list[str] | KeyAxis, path: str, *, sampled: bool) -> list[Problem]:
    """Return what is wrong with an axis in itself; whether its keys exist, the scenario decides."""
    if isinstance(axis, list):
        return []
    found: list[Problem] = []

    def complain(key: str, message: str, hint: str = "") -> None:
        found.append(Problem(f"{path}.{key}" if key else path, message, hint))

    if bool(axis.key) == bool(axis.keys):
        complain("", "an axis has one `key`, or `keys` that vary together")
    is_range = axis.least is not None or axis.most is not None
    if (axis.values is not None) == is_range:
        complain("", "an axis has `values`, or a range `from` … `to`")
    elif axis.values is not None:
        _check_values(axis, complain)
    else:
        _check_range(axis, complain, sampled=sampled)
    return found


def _check_values(axis: KeyAxis, complain: Any) -> None:  # noqa: ANN401 - a function
    values = axis.values or []
    if not values:
        complain("values", "is empty")
    if axis.steps is not None:
        complain("steps", "belongs to a range", "leave it out, or write from and to")
    for number, value in enumerate(values, 1):
        if isinstance(value, list) and axis.keys:
            several = cast("list[object]", value)
            if len(several) != len(axis.keys):
                complain(
                    f"values[{number}]",
                    f"{len(several)} values for {len(axis.keys)} keys",
                    "one value for all, or a list with one for each",
                )
    texts = [_level(axis, value, None).text for value in values]
    for text, count in Counter(texts).items():
        if count > 1:
            complain("values", f'"{text}" occurs twice')


def _check_range(axis: KeyAxis, complain: Any, *, sampled: bool) -> None:  # noqa: ANN401 - as above
    for name, end in (("from", axis.least), ("to", axis.most)):
        if end is None:
            complain(name, "missing", "a range has both ends")
        elif isinstance(end, str) and _quantity(end) is None:
            complain(name, f'"{end}" is not a number with a unit', 'for example: "5 ms"')
    if axis.steps is None and not sampled:
        complain("steps", "missing", "how many values from one end to the other")
    ends = [_quantity(end) for end in (axis.least, axis.most) if end is not None]
    first, last = (*ends, None, None)[:2]
    if first is None or last is None:
        return
    if _dimension(first[1]) != _dimension(last[1]):
        complain("to", f'"{axis.most}" and "{axis.least}" do not measure the same')
    elif axis.scale == "log" and min(first[0], last[0]) <= 0:
        complain("from", "a range with equal ratios has no zero", 'scale = "linear"')
    elif first == last:
        complain("to", "both ends are the same")


def unit_of(axis: list[str] | KeyAxis) -> str:
    """Return the unit of an axis's labels; empty where they are words or plain numbers."""
    if isinstance(axis, list):
        return ""
    several = cast("list[object]", axis.values or [])
    first: object = several[0] if several else axis.least
    if axis.values is not None and not _comparable(axis, several):
        return ""
    if isinstance(first, list) and axis.keys:
        first = next(iter(cast("list[object]", first)), "")
    found = _quantity(cast("object", first))
    return found[1] if found else ""


def count_of(axes: Mapping[str, list[str] | KeyAxis], sample: Sample | None) -> int:
    """Return how many points there are, without making them."""
    if sample is not None:
        return sample.points
    return math.prod(
        len(axis) if isinstance(axis, list) else len(axis.values) if axis.values is not None else axis.steps or 2
        for axis in axes.values()
    )


class Combinations(Sequence[dict[str, Level]]):
    """The levels of each point, by its number: the product of all axes, last axis fastest, or a sample of their ranges.

    Parameters
    ----------
    axes
        What varies, by name.
    sample
        How points are drawn instead of taking the product.
    """

    def __init__(self, axes: Mapping[str, list[str] | KeyAxis], sample: Sample | None) -> None:
        self._axes = axes
        self._levels = [] if sample is not None else [levels_of(axis) for axis in axes.values()]
        self._rows = None if sample is None else _draw(len(axes), sample)
        self._count = count_of(axes, sample)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> dict[str, Level]: ...
    @overload
    def __getitem__(self, number: slice) -> list[dict[str, Level]]: ...
    def __getitem__(self, number: int | slice) -> dict[str, Level] | list[dict[str, Level]]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        if not 0 <= number < len(self):
            raise IndexError(number)
        if self._rows is not None:
            shares = zip(self._axes.items(), self._rows[number].tolist(), strict=True)
            return {name: _at(axis, share) for (name, axis), share in shares}
        chosen: list[Level] = []
        for levels in reversed(self._levels):
            number, place = divmod(number, len(levels))
            chosen.append(levels[place])
        return dict(zip(self._axes, reversed(chosen), strict=True))


def levels_of(axis: list[str] | KeyAxis) -> list[Level]:
    """Return the values of an axis that is no part of a sample."""
    if isinstance(axis, list):
        return [Level(name, name, overlay=name) for name in axis]
    if axis.values is None:
        steps = axis.steps or 2
        return [_at(axis, number / (steps - 1)) for number in range(steps)]
    several = cast("list[object]", axis.values)
    unit = unit_of(axis) if _comparable(axis, several) else None
    return [_level(axis, value, unit) for value in several]


def _draw(dimensions: int, sample: Sample) -> np.ndarray:
    """Return points of the unit cube, a row each."""
    if sample.method == "random":
        import numpy as np

        return np.random.default_rng(sample.seed).random((sample.points, dimensions))
    from scipy.stats import qmc

    # The sequence is balanced at powers of two; the first points of one are what is asked for.
    power = max(0, math.ceil(math.log2(sample.points)))
    library: Any = qmc
    points = library.Sobol(dimensions, scramble=True, rng=sample.seed).random_base2(power)
    return points[: sample.points]


def _at(axis: list[str] | KeyAxis, share: float) -> Level:
    """Return the level at a share of the way from the first value to the last."""
    if isinstance(axis, list) or axis.values is not None:
        levels = levels_of(axis)
        return levels[min(int(share * len(levels)), len(levels) - 1)]
    first, last = _quantity(axis.least), _quantity(axis.most)
    assert first is not None
    assert last is not None
    unit = first[1]
    start, end = first[0], last[0] * _scale(last[1]) / _scale(unit)
    is_log = axis.scale == "log"
    value = start * (end / start) ** share if is_log else start + (end - start) * share
    whole = unit in {"", "B", "packets", "packet"} and start == int(start) and end == int(end)
    value = round(value) if whole else float(f"{value:.{DIGITS}g}")
    number = int(value) if value == int(value) else value
    if isinstance(axis.least, str):
        return _level(axis, f"{_plain(number)} {unit}".strip(), unit)
    return _level(axis, number, unit)


def _plain(number: float) -> str:
    """Write a number without an exponent."""
    return f"{number:.12f}".rstrip("0").rstrip(".") if isinstance(number, float) else str(number)


def _level(axis: KeyAxis, value: object, unit: str | None) -> Level:
    """Return a value of the axis; `unit` is that of its label if labels are numbers."""
    targets = axis.targets
    parts = cast("list[object]", value) if axis.keys and isinstance(value, list) else [value] * len(targets)
    first = parts[0] if parts else ""
    label: LabelValue = first if isinstance(first, str | int | float | bool) else _words(first)
    quantity = _quantity(first)
    if unit is not None and quantity is not None:
        number = float(f"{quantity[0] * _scale(quantity[1]) / _scale(unit):.12g}")
        label = int(number) if number == int(number) else number
    settings = tuple((key, toml_value(part)) for key, part in zip(targets, parts, strict=False))
    is_only = sum(_kind_in(other) == _kind_in(first) for other in axis.values or []) <= 1
    return Level(_name(first, is_only=is_only), label, settings=settings)


def _kind_in(value: object) -> str:
    return str(cast("dict[str, object]", value).get("kind")) if isinstance(value, dict) else ""


def _name(value: object, *, is_only: bool) -> str:
    """Return a value as part of a point's name; a table by its kind, if it is the only one of the axis."""
    text = value if isinstance(value, str) else toml_value(value) if value != [] else "none"
    if plugin := _plugin_in(value):
        text = plugin
    elif isinstance(value, dict) and "kind" in value:
        table = cast("dict[str, object]", value)
        plain = [str(item) for item in table.values() if not isinstance(item, dict | list)]
        text = str(table["kind"]) if is_only else "-".join(plain)
    return re.sub(r"[^A-Za-z0-9.]+", "-", text.replace(" ", "").replace("/s", "ps")).strip("-.")


def _plugin_in(value: object) -> str:
    """Return the name of a plugin that a value asks for; empty if it is something else."""
    table = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    if table.get("kind") == "library":
        return "-".join(str(table[key]) for key in ("name", "controller") if table.get(key))
    return str(table.get("name", "")) if table.get("kind") == "plugin" else ""


def _words(value: object) -> str:
    """Return a table with a kind as a label that can be read, such as `drop-tail, limit 256 KB`."""
    if plugin := _plugin_in(value):
        return plugin
    if isinstance(value, list):
        return _listed(cast("list[object]", value))
    if not isinstance(value, dict) or "kind" not in value:
        return toml_value(cast("object", value))
    table = cast("dict[str, object]", value)
    if any(isinstance(item, dict | list) for item in table.values()):
        return toml_value(table)  # what stands deeper tells values apart, too
    rest = (f"{key} {item}" for key, item in table.items() if key != "kind")
    return ", ".join([str(table["kind"]), *rest])


def _listed(values: list[object]) -> str:
    """Return a list of tables, such as conditions, as a label that can be read: `at 0 s, hold 2 ms`."""
    parts: list[str] = []
    for value in values:
        table = cast("dict[str, object]", value) if isinstance(value, dict) else {}
        if not table or any(isinstance(item, dict | list) for item in table.values()):
            return toml_value(values)
        parts.append(", ".join(f"{key} {item}" for key, item in table.items()))
    return "; ".join(parts) or "none"


@cache
def _units() -> dict[str, tuple[str, int]]:
    return {unit: (dimension, scale) for unit, dimension, scale in _engine.units()}


def _scale(unit: str) -> int:
    return _units()[unit][1] if unit else 1


def _dimension(unit: str) -> str:
    return _units()[unit][0] if unit else ""


def _quantity(value: object) -> tuple[float, str] | None:
    """Return number and unit of a value; `None` if it is no quantity."""
    if isinstance(value, bool | list | dict):
        return None
    if isinstance(value, int | float):
        return float(value), ""
    found = re.fullmatch(r"\s*([+-]?[0-9][0-9_]*(?:\.[0-9_]+)?)\s*(\S.*?)?\s*", str(value))
    if found is None:
        return None
    number, unit = found[1].replace("_", ""), found[2] or ""
    return (float(number), unit) if not unit or unit in _units() else None


def _comparable(axis: KeyAxis, values: Sequence[object]) -> bool:
    """Return whether all values are numbers of the same dimension."""
    firsts: list[object] = []
    for value in values:
        if isinstance(value, list) and axis.keys:
            firsts += cast("list[object]", value)[:1]
        else:
            firsts.append(cast("object", value))
    known = [part for part in map(_quantity, firsts) if part is not None]
    return len(known) == len(values) and len({_dimension(unit) for _, unit in known}) == 1
