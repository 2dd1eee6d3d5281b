"""Lessons: a file that says what is asked and claimed, a text whose numbers come from runs.

A lesson is a folder with `lesson.toml`, `text.md` and `numbers.json`. The last one is generated: what the runs that the
lesson names gave with twenty seeds. So a site is written without simulating; `tests/serve/test_lessons.py` runs
them again, and judges the claims.
"""

from __future__ import annotations

import json
import re
import statistics
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import jinja2

from sojourn.engine import simulate
from sojourn.metrics import metrics
from sojourn.scenario import load_scenario

__all__ = [
    "ORDER",
    "PAGE",
    "SCENARIOS",
    "SEEDS",
    "Claim",
    "Lesson",
    "Numbers",
    "lessons",
    "middle",
    "simulated",
]

PAGE = Path(__file__).parent / "page"
LESSONS = PAGE / "lessons"
SCENARIOS = Path(__file__).parents[1] / "recipes" / "scenarios"
"""Scenarios of the package: those of lessons are among them."""

SEEDS = range(1, 21)
"""Seeds over which lessons are judged, and of which their teacher's pages tell the middle and the range."""

ORDER = ("bufferbloat", "aqm", "fq", "l4s", "grants", "bbr")
"""As they build on each other."""

Numbers = Mapping[str, Mapping[str, list[float]]]
"""Values of all seeds by run and by subject and metric, as `call/mos`."""


@dataclass(frozen=True)
class Claim:
    """What holds in a run of a lesson."""

    says: str
    run: str
    of: str
    """Subject and metric, as `call/mos`."""
    below: float | None
    above: float | None
    above_run: str | None
    """The run whose value this one's is above, seed by seed."""

    def held(self, numbers: Numbers) -> int:
        """Return with how many seeds it holds."""
        values = numbers[self.run][self.of]
        others = (
            numbers[self.above_run][self.of] if self.above_run else [float("-inf")] * len(values)
        )
        return sum(
            (self.below is None or value < self.below)
            and (self.above is None or value > self.above)
            and value > other
            for value, other in zip(values, others, strict=True)
        )


@dataclass(frozen=True)
class Lesson:
    """A lesson as its folder has it."""

    name: str
    about: Mapping[str, Any]
    text: Mapping[str, str]
    """Markdown of each part."""
    claims: tuple[Claim, ...]
    runs: Mapping[str, Mapping[str, str]]
    """Settings by the name of a run. `start` is shown before the guess, `guess` is what the guess is about."""
    goals: tuple[str, ...]
    teacher: Mapping[str, Any]
    """What a teacher says and asks: `needs`, `check` of each goal, `step`, `wrong`, `picture`, `further`."""

    @property
    def title(self) -> str:
        """Return the question of the lesson."""
        return str(self.about["title"])

    @property
    def scenario(self) -> Path:
        """Return the scenario file."""
        return SCENARIOS / f"{self.about['scenario']}.toml"

    @property
    def folder(self) -> Path:
        """Return where it lies."""
        return LESSONS / self.name

    @property
    def answer(self) -> str:
        """Return subject and metric of what is guessed."""
        return f"{self.about['answer']['subject']}/{self.about['answer']['metric']}"

    def numbers(self) -> Numbers:
        """Return what its runs gave when its numbers were generated."""
        return json.loads((self.folder / "numbers.json").read_text(encoding="utf-8"))

    def filled(self, text: str, numbers: Numbers) -> str:
        """Return a text with the numbers that it names: `{{ value("long", "call/mos") }}`, of seed 1."""

        def value(run: str, of: str) -> str:
            return written(numbers[run][of][0], of)

        return self._template(text).render(value=value, setting=self._setting)

    def wanted(self) -> set[tuple[str, str]]:
        """Return all runs and values that its text, its claims and its guess are about."""
        found = {("guess", self.answer), ("start", self.answer)}
        for claim in self.claims:
            found.add((claim.run, claim.of))
            if claim.above_run:
                found.add((claim.above_run, claim.of))

        def note(run: str, of: str) -> str:
            found.add((run, of))
            return ""

        for text in (*self.text.values(), str(self.about["question"]), *self.spoken()):
            self._template(text).render(value=note, setting=self._setting)
        return found

    @property
    def listener(self) -> str:
        """Return the entry whose delay its pictures show."""
        return str(self.about["sense"])

    def spoken(self) -> Iterator[str]:
        """Yield the texts for a teacher."""
        yield str(self.teacher["needs"])
        yield str(self.teacher["further"])
        for part in ("check", "step", "wrong"):
            for one in self.teacher[part]:
                yield from (text for text in one.values() if isinstance(text, str))

    def _setting(self, run: str, key: str = "") -> str:
        """Return the value of a run's first setting whose path ends like this."""
        return next(value for path, value in self.runs[run].items() if path.endswith(key))

    def _template(self, text: str) -> jinja2.Template:
        return jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False).from_string(
            text
        )


def written(value: float, of: str) -> str:
    """Return a value as texts have it, with its unit."""
    unit = metrics()[of.rpartition("/")[2]].unit
    if unit == "ms":
        figures = 0 if value >= 10 else 1
    elif unit in {"kB", "packets"} or (not unit and (value >= 10 or value == 0)):
        figures = 0
    else:
        figures = 2 if unit else 1
    return f"{value:,.{figures}f} {unit}".replace(",", "\N{NARROW NO-BREAK SPACE}").strip()


def lessons() -> list[Lesson]:
    """Return all lessons of the package, in the order in which they build on each other."""
    return [_read(LESSONS / name) for name in ORDER]


def _read(folder: Path) -> Lesson:
    about = tomllib.loads((folder / "lesson.toml").read_text(encoding="utf-8"))
    text = (folder / "text.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (\w+)\n", text, flags=re.MULTILINE)[1:]
    claims = cast("list[dict[str, Any]]", about.pop("claim"))
    runs = about.pop("runs")
    goals = about.pop("goals")
    return Lesson(
        name=folder.name,
        about=about,
        text=dict(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True)),
        claims=tuple(
            Claim(
                claim["says"],
                claim["run"],
                claim["of"],
                claim.get("below"),
                claim.get("above"),
                claim.get("above_run"),
            )
            for claim in claims
        ),
        runs=runs,
        goals=tuple(goals),
        teacher=tomllib.loads((folder / "teacher.toml").read_text(encoding="utf-8")),
    )


def _runs(lesson: Lesson, name: str) -> Iterator[dict[str, float]]:
    """Run one of a lesson's runs with each seed; yield values by subject and metric."""
    made = [f"{path}={value}" for path, value in lesson.runs[name].items()]
    scenario = load_scenario(lesson.scenario, made).compiled
    for seed in SEEDS:
        yield {
            f"{subject}/{metric}": value
            for subject, metric, value, _ in simulate(scenario, seed).metrics()
        }


def simulated(lesson: Lesson) -> dict[str, dict[str, list[float]]]:
    """Run all that a lesson names, with all seeds."""
    found: dict[str, dict[str, list[float]]] = {}
    wanted = lesson.wanted()
    for run in lesson.runs:
        names = sorted(of for one, of in wanted if one == run)
        values = list(_runs(lesson, run))
        found[run] = {name: [one[name] for one in values] for name in names}
    return found


def middle(values: list[float], of: str) -> tuple[str, str]:
    """Return the median and the range of values, in words."""
    return (
        written(statistics.median(values), of),
        f"{written(min(values), of)} to {written(max(values), of)}",
    )
