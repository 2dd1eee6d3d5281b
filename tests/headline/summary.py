"""`summary.csv` as the checker of sentences reads it: cells by labels, subjects by the words that may mean them."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

COLUMNS = {"point", "subject", "metric", "unit", "n", "mean", "low", "high", "median", "interval", "note"}


@dataclass(frozen=True)
class Cell:
    """A row of `summary.csv`."""

    mean: float
    low: float
    high: float
    has_interval: bool = True


@dataclass
class Summary:
    """The rows of a summary by labels."""

    rows: list[dict[str, str]]
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Words of a study for values of labels."""

    @classmethod
    def read(cls, path: Path, names: Mapping[str, str] | None = None) -> Summary:
        """Read a file; `names` are the words of the study for values of labels."""
        with path.open(encoding="utf-8", newline="") as text:
            return cls(list(csv.DictReader(text)), names or {})

    @cached_property
    def labels(self) -> list[str]:
        """Labels that vary."""
        found = [name for name in self.rows[0] if name not in COLUMNS] if self.rows else []
        return [name for name in found if len({row[name] for row in self.rows}) > 1] or ["point"]

    @cached_property
    def cells(self) -> dict[tuple[str, ...], dict[tuple[str, str], Cell]]:
        """By values of the labels: the cells by subject and metric."""
        found: dict[tuple[str, ...], dict[tuple[str, str], Cell]] = {}
        for row in self.rows:
            if row["mean"]:
                mean = float(row["mean"])
                # An end that is not there is not known; the same value in each run has both.
                unknown = {"low": -math.inf, "high": math.inf} if row["interval"] or row["n"] == "1" else {}
                ends = [float(row[end]) if row[end] else unknown.get(end, mean) for end in ("low", "high")]
                if "gave a value" in row["note"]:
                    ends = [-math.inf, math.inf]
                place = tuple(row[label] for label in self.labels)
                found.setdefault(place, {})[row["subject"], row["metric"]] = Cell(
                    mean, ends[0], ends[1], bool(row["interval"])
                )
        return found

    @cached_property
    def runs(self) -> set[int]:
        """Runs of a cell."""
        return {int(row["n"]) for row in self.rows}

    def words(self, label: str) -> dict[str, str]:
        """Values of a label as a sentence names them, by their words."""
        found: dict[str, str] = {}
        for value in dict.fromkeys(row[label] for row in self.rows):
            found[self.names.get(value, value)] = value
            found.setdefault(value, value)
        return found

    @cached_property
    def subjects(self) -> dict[str, set[str]]:
        """Metrics by subject."""
        found: dict[str, set[str]] = {}
        for row in self.rows:
            found.setdefault(row["subject"], set()).add(row["metric"])
        return found

    def named(self, who: str) -> list[str]:
        """Subjects that the words of a sentence may mean."""
        words = who.removeprefix("the ").strip()
        if words in self.subjects:
            return [words]
        ends = [name for name in self.subjects if words.endswith(f" {name}")]
        if ends:
            return ends
        by_noun = {
            "pages": {"page_load_time_median", "pages_unfinished"},
            "page": {"page_load_time_median", "pages_unfinished"},
            "call": {"mos", "frames"},
            "game": {"delay_round_trip_p99", "delay_up_p99", "delay_down_p99"},
            "cloud game": {"frames_downstream"},
            "video": {"underflow_max"},
            "live video": {"live_latency"},
            "upload": {"goodput"},
            "download": {"goodput_downstream"},
        }.get(words, set())
        return [name for name, metrics in self.subjects.items() if metrics & by_noun]
