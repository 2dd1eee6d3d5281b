"""Contents of a store: names, seeds and scenarios of runs, of any version of the engine.

Files may be untrusted or damaged: lists leave out unreadable ones, and a request for one raises its error.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.base.errors import RecordError
from sojourn.base.files import folder_names, read_file
from sojourn.base.on_disk import read_table
from sojourn.store import LAYOUT, SEGMENTS_LAYOUT
from sojourn.store.segments import LISTING
from sojourn.store.shelf import Shelf

MOST_KNOWN = 20_000
"""Single runs whose names are kept in memory; chosen: some megabytes."""

MOST_LISTED = 200_000
"""Runs of segments that are listed; chosen: some ten megabytes."""

LARGEST_RUN_JSON = 4 << 20

_TOLD = ("key", "seed", "scenario", "simulated_s")


@dataclass(frozen=True)
class ListedRun:
    """Entry of a run in a list."""

    key: str
    name: str
    """Of its scenario."""
    seed: int
    simulated_s: float
    engine: str


class Catalogue:
    """Lists the runs of a store.

    Parameters
    ----------
    root
        The store.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._single = root / LAYOUT
        self._shelf = Shelf(root, SEGMENTS_LAYOUT, LISTING)
        self._known: OrderedDict[str, ListedRun] = OrderedDict()
        self._segments: dict[Path, dict[str, ListedRun]] = {}

    def runs(self, after: str = "") -> Iterator[ListedRun]:
        """Give runs in the order of their keys, from behind a key on."""
        self._look_at_segments()
        kept = {key: run for runs in self._segments.values() for key, run in runs.items()}
        keys = sorted({key for key in (*kept, *self._single_keys(after)) if key > after})
        for key in keys:
            found = kept.get(key) or self._about(key)
            if found is not None:
                yield found

    def scenario(self, key: str) -> tuple[str, int] | None:
        """Return the scenario and the seed of a run; `None` if there is no such run.

        Raises `RecordError` if it is damaged.
        """
        self._look_at_segments()
        home = next((home for home, runs in self._segments.items() if key in runs), None)
        if home is not None:
            table = self._table(home)
            for found, seed, scenario, _ in table:
                if found == key:
                    return scenario, seed
        if not (key.isalnum() and len(key) > 2 and key in folder_names(self._single / key[:2])):
            return None
        try:
            info = self._info(key)
            return str(info["scenario"]), int(info["seed"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise RecordError(f"run {key[:12]} of the store is damaged") from error

    def _look_at_segments(self) -> None:
        """Read what has come, and forget what has gone; what is in a segment never changes."""
        top = self._shelf.place / "runs"
        there = [
            top / version / name
            for version in folder_names(top, root=self._root)
            for name in folder_names(top / version, root=self._root)
        ]
        self._segments = {home: self._segments[home] for home in there if home in self._segments}
        listed = sum(map(len, self._segments.values()))
        for home in there:
            if home in self._segments or listed >= MOST_LISTED:
                continue
            try:
                table = self._table(home)
            except RecordError:
                continue
            engine = home.parent.name[:12]
            self._segments[home] = {
                key: ListedRun(key, _name(scenario), seed, simulated, engine)
                for key, seed, scenario, simulated in table
            }
            listed += len(table)

    def _table(self, home: Path) -> list[tuple[str, int, str, float]]:
        """Return keys, seeds, scenarios and lengths of the runs in a segment.

        Raises `RecordError` if they cannot be read.
        """
        info = self._shelf.listed(home)
        table = read_table(home, "runs.parquet", info["files"], _TOLD).select(_TOLD)
        return [
            (str(key), int(seed), str(scenario), float(simulated))
            for key, seed, scenario, simulated in table.drop_nulls().iter_rows()
        ]

    def _single_keys(self, after: str) -> Iterator[str]:
        for part in folder_names(self._single, root=self._root):
            if len(part) != 2 or part < after[:2]:
                continue
            for key in folder_names(self._single / part, root=self._root):
                if key.startswith(part):
                    yield key

    def _about(self, key: str) -> ListedRun | None:
        if key in self._known:
            return self._known[key]
        try:
            info = self._info(key)
            known = ListedRun(
                key,
                _name(str(info["scenario"])),
                int(info["seed"]),
                float(info["statistics"]["simulated_s"]),
                str(info["engine_version"])[:12],
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        self._known[key] = known
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return known

    def _info(self, key: str) -> dict[str, Any]:
        path = self._single / key[:2] / key / "run.json"
        return json.loads(read_file(path, root=self._root, most=LARGEST_RUN_JSON))


def _name(scenario: str) -> str:
    """Return the name in a canonical scenario; empty if it has none."""
    lines = (line for line in scenario.splitlines() if line.startswith("name = "))
    try:
        return str(json.loads(next(lines, 'name = ""').removeprefix("name = ")))
    except ValueError:
        return ""
