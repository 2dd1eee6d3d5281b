"""Scenario files: reading them, changing them, and what is wrong with them.

What a scenario may say is decided by the compiled part; here are files, settings and error types.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import sojourn._engine as _engine
from sojourn.base.errors import Problem, ScenarioError, UsageError, plain, why
from sojourn.base.files import read_named
from sojourn.base.notebook import table_html
from sojourn.base.toml_text import parse_toml, toml_value
from sojourn.scenario.settings import apply_settings


@dataclass(frozen=True, repr=False)
class Scenario:
    """A valid scenario: what one run simulates, except for its seed.

    Examples
    --------
    >>> scenario = load_scenario("scenarios/home.toml")  # doctest: +SKIP
    >>> longer = scenario.with_settings({"duration": "60 s"})  # doctest: +SKIP
    """

    text: str
    """The scenario file."""
    compiled: _engine.Scenario
    """The same, as the engine takes it."""

    @classmethod
    def parse(cls, text: str, file: str = "", *, is_emulated: bool = False) -> "Scenario":
        """Check a scenario's text; for an emulation it needs no traffic.

        Raises
        ------
        ScenarioError
            With everything that is wrong.
        """
        try:
            read = _engine.Scenario.parse_for_emulation if is_emulated else _engine.Scenario.parse
            return cls(text, read(text))
        except _engine.ScenarioProblems as error:
            raise ScenarioError(_problems(error.problems, file)) from error

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self.compiled.name

    @property
    def duration_s(self) -> float:
        """Simulated time of a run, in seconds."""
        return self.compiled.duration_s

    @property
    def seed(self) -> int:
        """The first seed that the file asks for."""
        return self.compiled.seed

    @property
    def seed_count(self) -> int:
        """How many seeds the file asks for."""
        return self.compiled.seed_count

    @cached_property
    def document(self) -> dict[str, Any]:
        """The file as nested tables."""
        return parse_toml(self.text.removeprefix("\ufeff"))

    @property
    def warnings(self) -> list[Problem]:
        """Contradictions: the scenario runs, but not as it says."""
        return _problems(self.compiled.warnings, "")

    def canonical(self) -> str:
        """Return the scenario with every default filled in, as TOML."""
        return self.compiled.canonical()

    def key(self, seed: int) -> str:
        """Return the name under which the store keeps the run with this seed.

        Raises
        ------
        UsageError
            If a queue manager written in Python decides in it.
        """
        return self.keys(seed, 1)[0]

    def keys(self, first: int, count: int) -> list[str]:
        """Return the names of the runs with `count` seeds from `first` on; cheaper than `key` for each.

        Raises
        ------
        UsageError
            If a queue manager written in Python decides in it.
        """
        try:
            return self.compiled.keys(first, count)
        except ValueError as error:
            raise UsageError(
                f"{self.name} has a queue manager written in Python, and its runs are not kept",
                "run it by sojourn.run without a store, or put the class into a file: `sojourn study run --plugin FILE`",
            ) from error

    @property
    def is_prototype(self) -> bool:
        """True if a class of this process manages a queue; see `sojourn.add_manager`."""
        return self.compiled.is_prototype

    @property
    def has_plugin(self) -> bool:
        """True if a plugin manages a queue; such runs are made in a process of their own."""
        return self.compiled.has_plugin

    @property
    def kernel(self) -> str:
        """Digest of the kernel whose TCP carries connections; such runs are made in its guest. Empty without."""
        return self.compiled.kernel

    @property
    def is_apart(self) -> bool:
        """True if its runs are made in a process of their own."""
        return self.has_plugin or bool(self.kernel)

    def __repr__(self) -> str:
        """Name the scenario and its length."""
        return f"<Scenario {self.name}: {self.duration_s:g} s>"

    def _repr_html_(self) -> str:
        """Show the links with their queues, and the traffic."""
        title = f"{self.name}, {self.duration_s:g} s"
        links = table_html(title, ("link", "direction", "line", "queue"), _links(self.document))
        headings = ("home", "traffic", "application", "stack", "round-trip time")
        rows = list(_traffic(self.document))
        if not any(home for home, *_ in rows):
            headings, rows = headings[1:], [row[1:] for row in rows]
        return links + table_html("Traffic", headings, rows)

    def with_settings(self, *settings: str | Mapping[str, object]) -> "Scenario":
        """Return a changed scenario; traffic goes by its name.

        Parameters
        ----------
        settings
            Values by key, such as `{"access.upstream.queue.target": "10 ms"}`, or texts of the form `a.b.c=V`.

        Raises
        ------
        UsageError
            If a setting is not of that form.
        ScenarioError
            If the changed scenario is not valid.
        """
        texts: list[str] = []
        for setting in settings:
            if isinstance(setting, str):
                texts.append(setting)
                continue
            texts += [f"{key}={toml_value(value)}" for key, value in setting.items()]
        return Scenario.parse(apply_settings(self.text, texts))


def _tables(value: object) -> list[dict[str, object]]:
    """Return the tables of a value that is one, or a list of them."""
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    return [cast("dict[str, object]", item) for item in items if isinstance(item, dict)]


def _links(document: dict[str, object]) -> Iterator[tuple[str, ...]]:
    named = [("access", table) for table in _tables(document.get("access"))]
    named += [(str(table.get("name")), table) for table in _tables(document.get("link"))]
    for name, table in named:
        for direction in ("upstream", "downstream"):
            for side in _tables(table.get(direction)):
                yield name, direction, in_words(side.get("link")), in_words(side.get("queue"))


def _traffic(document: dict[str, object]) -> Iterator[tuple[str, ...]]:
    homes = [("", document), *((in_words(home), home) for home in _tables(document.get("home")))]
    for home, table in homes:
        for entry in _tables(table.get("traffic")):
            values = (entry.get(key, "") for key in ("name", "app", "stack", "rtt"))
            yield home, *map(in_words, values)


def in_words(value: object) -> str:
    """Return a value of a scenario as a reader sees it in a line: its kind or name, then its plain values.

    Examples
    --------
    >>> in_words({"kind": "serial", "rate": "10 Mb/s", "delay": "5 ms"})
    'serial, rate 10 Mb/s, delay 5 ms'
    >>> in_words(["20 ms", "30 ms"])
    '20 ms, 30 ms'
    """
    if isinstance(value, list):
        return ", ".join(in_words(item) for item in cast("list[object]", value))
    if not isinstance(value, dict):
        return str(value)
    words: list[str] = []
    for key, item in cast("dict[str, object]", value).items():
        if key in ("kind", "name"):
            words.insert(0, str(item))
        elif not isinstance(item, dict | list):
            words.append(f"{key} {item}")
    return ", ".join(words)


def load_scenario(path: str | Path, settings: Sequence[str] = (), *, is_emulated: bool = False) -> Scenario:
    """Read a scenario file and apply settings to it.

    Settings are applied before the check, so they may complete a file that is not valid by itself.

    Parameters
    ----------
    path
        The scenario file.
    settings
        Changes of the form `a.b.c=V`.
    is_emulated
        For an emulation, whose traffic is that of real programs: traffic entries may be missing.

    Raises
    ------
    UsageError
        If the file cannot be read or a setting is malformed.
    ScenarioError
        If the scenario is not valid.
    """
    text = read_text(path)
    if settings:
        try:
            text = apply_settings(text, settings)
        except _engine.ScenarioProblems as error:
            raise ScenarioError(_problems(error.problems, str(path))) from error
        # Positions in the changed text mean nothing to the reader of the file.
        try:
            return Scenario.parse(text, str(path), is_emulated=is_emulated)
        except ScenarioError as error:
            problems = [Problem(p.path, p.message, p.hint, file=p.file) for p in error.problems]
            raise ScenarioError(problems) from error
    return Scenario.parse(text, str(path), is_emulated=is_emulated)


def check_scenario(text: str, file: str = "") -> list[Problem]:
    """Return everything that is wrong with a scenario's text; nothing if it is valid."""
    return _problems(_engine.check(text), file)


def scenario_warnings(text: str, file: str = "") -> list[Problem]:
    """Return what contradicts itself in a valid scenario's text: it runs, and not as it says."""
    return _problems(_engine.ScenarioFile.parse(text).warnings(), file)


def decoded(data: bytes) -> str:
    """Return the text of a file; the byte-order mark that some editors put in front goes."""
    return data.decode("utf-8").removeprefix("\ufeff")


def read_text(path: str | Path) -> str:
    """Return the content of a file that has to be a text.

    Raises
    ------
    UsageError
        If it cannot be read.
    ScenarioError
        If it is not a text.
    """
    try:
        return decoded(read_named(Path(path)))
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        if isinstance(error, UnicodeDecodeError):
            raise ScenarioError([Problem("", "not a UTF-8 text", file=str(path))]) from error
        raise UsageError(f"{plain(path)}: {why(error)}") from error


def _problems(found: Sequence["_engine.Problem"], file: str) -> list[Problem]:
    return [Problem(item["path"], item["message"], item["hint"], item["line"], item["column"], file) for item in found]
