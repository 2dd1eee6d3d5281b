"""Characterising one controller: its runs, its rows, its place among known ones."""

from __future__ import annotations

import functools
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sojourn._engine as _engine
from sojourn.base.toml_text import parse_toml, toml_value
from sojourn.congestion import bbr, general, heist, l4s, rtp, rules, states
from sojourn.congestion.scenario import Cell, Run, Stacks, flow, scenario_text
from sojourn.judging.bands import Band, Tell, over_seeds, read_band, wanted
from sojourn.plugins import Plugin, PluginFailed, simulate_apart
from sojourn.report.checks import Judged
from sojourn.scenario.scenario_file import Scenario
from sojourn.scenario.settings import apply_settings, is_of_kernel, stack_of
from sojourn.simulation.engine import simulate
from sojourn.stats.estimate import Estimate

BAND = ("linux-reno", "linux-cubic", "bbr3", "prague", "ledbat")
"""Stacks whose least and greatest value are the band."""

SHORT = {"reno": "linux-reno", "cubic": "linux-cubic"}
"""Names of controllers that no stack has."""

SUITES: Mapping[str, Sequence[Cell]] = {
    "general": general.CELLS,
    "bbr": sorted((*bbr.CELLS, *states.CELLS), key=lambda cell: int(cell.item[1:])),
    "l4s": l4s.CELLS,
    "heist": heist.CELLS,
    "rtp": rtp.CELLS,
}
"""Scenarios by suite."""

SCALABLE = ("dctcp-l4s", "accecn-l4s")
"""Modes of ECN whose packets are ECT(1): the low-latency queue takes them."""


@functools.cache
def stack_kinds() -> list[str]:
    """Return the names of the engine's own stacks, in the order of the reference page."""
    kinds = (row[2] for row in _engine.scenario_keys() if row[0] == "traffic.NAME.stack")
    return [kind.split('"')[1] for kind in kinds if kind.startswith("kind = ") and kind.split('"')[1] not in REAL]


REAL = ("library", "linux")
"""Kinds of stacks that are real code."""

LAWS_BY_WORD: Mapping[str, str] = {
    "reno": "reno",
    "cubic": "cubic",
    "bbr": "bbr1",
    "dctcp": "dctcp",
    "prague": "prague",
}
"""Kinds of controllers by the words that real stacks have for theirs."""


@dataclass(frozen=True)
class Controller:
    """A controller that is characterised: that of a stack, a plugin in one, one of a real stack, or one that sets the rate of media.

    That of a real stack is called `STACK:WORD`, where the stack is a library or `linux`, and the word is its own for the controller.
    """

    name: str
    settings: tuple[str, ...] = ()
    stack: str = ""
    """The stack that carries it, if its name is not that of one."""
    plugin: Plugin | None = None
    like: str = ""
    """The stack whose document a plugin follows; empty if it may be that of Reno or of CUBIC."""

    @functools.cached_property
    def table(self) -> dict[str, Any]:
        """The stack with its settings, as a table of a scenario file.

        Raises `UsageError` if a key is not one of it, or its value none.
        """
        if self.is_media:
            text = _alone(rtp.MEDIA[self.name], is_media=True)
            text = apply_settings(text, [f"traffic.own.app.{one}" for one in self.settings])
            Scenario.parse(text)
            app: dict[str, Any] = parse_toml(text)["traffic"][0]["app"]
            return app
        if self.is_real:
            name, _, word = self.name.partition(":")
            stack = stack_of(name, word or "default")
        else:
            own = f', controller = {{ kind = "plugin", name = "{self.name}" }}' if self.plugin else ""
            stack = f'{{ kind = "{self.stack or self.name}"{own} }}'
        text = _alone(stack)
        text = apply_settings(text, [f"traffic.own.stack.{one}" for one in self.settings])
        Scenario.parse(text)
        stack: str | dict[str, Any] = parse_toml(text)["traffic"][0]["stack"]
        return {"kind": stack} if isinstance(stack, str) else stack

    @functools.cached_property
    def whole(self) -> dict[str, Any]:
        """The same with all defaults."""
        canonical = Scenario.parse(_alone(toml_value(self.table))).canonical()
        return parse_toml(canonical)["traffic"][0]["stack"]

    @functools.cached_property
    def stacks(self) -> Stacks:
        """The stack as scenarios want it."""
        own = toml_value(self.table)
        if self.is_media:
            return Stacks(own, own, own)
        ecn = str(self.whole["ecn"])

        def with_ecn(mode: str) -> str:
            return toml_value({**self.table, "ecn": mode})

        marked = with_ecn("classic" if ecn == "off" else ecn)
        return Stacks(own, marked, with_ecn("off"), with_ecn("classic"))

    @property
    def is_real(self) -> bool:
        """True if a library or a kernel carries its connections."""
        return self.is_kernel or (self.plugin is not None and self.plugin.is_stack)

    @property
    def is_kernel(self) -> bool:
        """True if a kernel carries its connections."""
        return is_of_kernel(self.name.partition(":")[0])

    @property
    def title(self) -> str:
        """Return its name in a sentence."""
        word = self.name.partition(":")[2]
        if not self.is_kernel:
            return self.name
        return (
            f"Linux {self.whole['kernel']}'s {word.upper() if word in ('bbr', 'cubic', 'dctcp') else word.capitalize()}"
        )

    @property
    def stack_name(self) -> str:
        """The stack that it is, or whose document it follows."""
        return self.like if self.plugin is not None and not self.is_real else self.name

    @functools.cached_property
    def law(self) -> str:
        """The kind of controller whose document it follows; empty if it may follow either of two."""
        if self.is_real:
            return LAWS_BY_WORD.get(self.name.partition(":")[2], "")
        if self.plugin is None:
            return str(self.whole["controller"]["kind"])
        return str(Controller(self.like).whole["controller"]["kind"]) if self.like else ""

    @property
    def is_proportional(self) -> bool:
        """True if its answer to marks is in proportion to them, as DCTCP's."""
        return self.whole["ecn"] in ("dctcp", *SCALABLE)

    @property
    def sets_ecn(self) -> bool:
        """True if a setting has turned ECN on."""
        return any(setting.partition("=")[0] == "ecn" for setting in self.settings)

    @property
    def is_media(self) -> bool:
        """True if it sets the rate of a source, and no stack has it."""
        return self.plugin is None and self.name in rtp.MEDIA

    @property
    def is_bbr(self) -> bool:
        """True if the cases of BBR's draft are its own."""
        kind = self.law if self.is_real else "" if self.is_media else str(self.whole["controller"]["kind"])
        return kind.startswith("bbr")

    @property
    def is_scalable(self) -> bool:
        """True if its packets are ECT(1), as RFC 9331 has it."""
        return not self.is_media and self.whole["ecn"] in SCALABLE

    def scenario(self, cell: Cell) -> Scenario:
        """Return a scenario with it."""
        return Scenario.parse(scenario_text(cell, self.stacks))


def _alone(stack: str, *, is_media: bool = False) -> str:
    def traffic(stacks: Stacks) -> str:
        if is_media:
            return f'\n[[traffic]]\nname = "own"\napp = {stacks.own}\nrtt = "40 ms"\n'
        return flow("own", stacks.own)

    cell = Cell("", "", "", "", traffic, ())
    return scenario_text(cell, Stacks(stack, stack, stack))


def chosen(
    controller: Controller, suites: Sequence[str] | None, only: str | None, quick: Sequence[str] | None
) -> list[tuple[str, Cell]]:
    """Return the scenarios for a controller with their suites.

    Raises `UsageError` if `only` names what is not there.

    Parameters
    ----------
    controller
        What is characterised.
    suites
        Names of suites; what fits its kind if `None`. A controller of media has its own suite alone, and no other has that.
    only
        Scenarios, criteria or sections that a user named, over all suites.
    quick
        Scenarios of a first look.
    """
    all_of_them = [(suite, cell) for suite, cells in SUITES.items() for cell in cells]
    items = {cell.item for cell in wanted(only, [cell for _, cell in all_of_them], quick)}
    return [
        (suite, cell)
        for suite, cell in all_of_them
        if cell.item in items
        and (suite == "rtp") == controller.is_media
        and (only is not None or _is_asked(controller, suites, suite, cell))
    ]


def _is_asked(controller: Controller, suites: Sequence[str] | None, suite: str, cell: Cell) -> bool:
    return _fits(controller, suite, cell) if suites is None else suite in suites


def _fits(controller: Controller, suite: str, cell: Cell) -> bool:
    if controller.is_media:
        return True
    if suite == "bbr":
        return controller.is_bbr or cell.item in bbr.ITEMS_OF_OTHERS
    return suite == "general" or controller.is_scalable


@dataclass(frozen=True)
class Measured:
    """A scenario with what was measured: estimates by number."""

    cell: Cell
    suite: str
    values: Mapping[str, Estimate]


@dataclass
class Result:
    """All that is known of a controller."""

    controller: Controller
    judged: list[Judged] = field(default_factory=list[Judged])
    measured: list[Measured] = field(default_factory=list[Measured])

    @property
    def failed(self) -> list[Judged]:
        """Rows that failed."""
        return [row for row in self.judged if row.verdict == "fail"]


def characterise(
    controller: Controller,
    cells: Sequence[tuple[str, Cell]],
    seeds: int,
    jobs: int,
    band: Band,
    tell: Tell | None = None,
) -> Result:
    """Run scenarios with a controller, `seeds` times each, and judge it by what came of them.

    A plugin that fails in one of them fails a row, and has no other. `tell` is called with the share of the runs that is done.

    Raises `RunError` if a run failed.
    """

    def run(cell: Cell, seed: int, watch: Tell) -> dict[str, float]:
        found = _run(controller, cell, seed, watch)
        if cell.moment is not None:
            moment_s = cell.moment(found)
            if math.isnan(moment_s):
                return dict.fromkeys((number.name for number in cell.numbers), math.nan)
            found = _run(controller, cell.at(moment_s), seed, watch)
        return {number.name: float(number.of(found)) for number in cell.numbers}

    try:
        estimates = over_seeds([cell for _, cell in cells], seeds, jobs, run, tell)
    except PluginFailed as error:
        row = Judged("X", "Every scenario runs to its end.", "contract", "fail", "an end", error.message)
        return Result(controller, [row])
    measured = [Measured(cell, suite, values) for (suite, cell), values in zip(cells, estimates, strict=True)]
    values = {one.cell.item: one.values for one in measured}
    rows: list[Judged] = []
    for suite in dict.fromkeys(one.suite for one in measured):
        is_judged = suite in rules.RULES and (suite != "bbr" or controller.is_bbr)
        rows += rules.judged(suite, values, band, controller) if is_judged else []
    return Result(controller, rows, measured)


def _run(controller: Controller, cell: Cell, seed: int, watch: Tell) -> Run:
    import polars as pl

    scenario = controller.scenario(cell)
    if controller.plugin is None and not controller.is_kernel:
        records = simulate(scenario.compiled, seed, watch=watch)
        rows = records.metrics()
        return Run(cell, _by_name(rows), lambda name: pl.DataFrame(records.table(name)))
    plugins = [] if controller.plugin is None else [controller.plugin]
    files = simulate_apart(scenario, seed, plugins, watch=watch, is_controller=True)

    def table(name: str) -> pl.DataFrame:
        return pl.read_parquet(io.BytesIO(files[f"{name}.parquet"]))

    return Run(cell, _by_name(table("metrics").rows()), table)


def _by_name(rows: Iterable[tuple[Any, ...]]) -> dict[tuple[str, str], float]:
    return {(str(subject), str(name)): float(value) for subject, name, value, _ in rows}


def known_controllers() -> Band:
    """Return what is known of known controllers, as `tools/bands` measured it."""
    return read_band(Path(__file__).with_name("band.csv"), BAND)
