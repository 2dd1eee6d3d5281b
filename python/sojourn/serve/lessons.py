"""Lessons: a file that says what is asked and claimed, a text whose numbers come from runs.

A lesson is a folder with `lesson.toml` and `text.md`. What a lesson claims is tested over twenty seeds
(`tests/serve/test_lessons.py`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sojourn.engine import simulate
from sojourn.scenario import load_scenario

__all__ = ["LESSONS", "SCENARIOS", "Claim", "Lesson", "lessons", "metrics_of"]

PAGE = Path(__file__).parent / "page"
LESSONS = PAGE / "lessons"
SCENARIOS = Path(__file__).parents[1] / "recipes" / "scenarios"
"""Scenarios of the package: those of lessons are among them."""


@dataclass(frozen=True)
class Claim:
    """What holds in a run of a lesson."""

    says: str
    where: Mapping[str, str]
    subject: str
    metric: str
    below: float | None
    above: float | None

    def holds(self, value: float) -> bool:
        """Return whether a value of the metric is as claimed."""
        return (self.below is None or value < self.below) and (
            self.above is None or value > self.above
        )


@dataclass(frozen=True)
class Lesson:
    """A lesson as its folder has it."""

    name: str
    about: Mapping[str, object]
    text: Mapping[str, str]
    """Markdown of each part."""
    claims: tuple[Claim, ...]
    start: Mapping[str, str]
    """Settings before the guess."""
    at: Mapping[str, str]
    """Settings that the guess is about."""
    goals: tuple[str, ...]

    @property
    def title(self) -> str:
        """Return the question of the lesson."""
        return str(self.about["title"])

    @property
    def scenario(self) -> Path:
        """Return the scenario file."""
        return SCENARIOS / f"{self.about['scenario']}.toml"


def lessons() -> list[Lesson]:
    """Return all lessons of the package, in the order of their names."""
    return [_read(path.parent) for path in sorted(LESSONS.glob("*/lesson.toml"))]


def _read(folder: Path) -> Lesson:
    about = tomllib.loads((folder / "lesson.toml").read_text(encoding="utf-8"))
    text = (folder / "text.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (\w+)\n", text, flags=re.MULTILINE)[1:]
    claims = about.pop("claim")
    goals = about.pop("goals")
    return Lesson(
        name=folder.name,
        about=about,
        text=dict(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True)),
        claims=tuple(
            Claim(
                claim["says"],
                claim["where"],
                claim["holds"]["subject"],
                claim["holds"]["metric"],
                claim["holds"].get("below"),
                claim["holds"].get("above"),
            )
            for claim in claims
        ),
        start=about["start"],
        at=about["at"],
        goals=tuple(goals),
    )


def metrics_of(
    lesson: Lesson, settings: Mapping[str, str], seed: int
) -> dict[tuple[str, str], float]:
    """Run a lesson's scenario with these settings; return values by subject and metric."""
    made = [f"{path}={value}" for path, value in settings.items()]
    records = simulate(load_scenario(lesson.scenario, made).compiled, seed)
    return {(subject, metric): value for subject, metric, value, _ in records.metrics()}
