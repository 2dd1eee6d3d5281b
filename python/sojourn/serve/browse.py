"""Listings: results below a directory, runs of the store, scenarios and studies that were named.

Everything goes by an identifier from a listing, and is looked up in a listing made anew: no text of a request becomes a path.
Files there may be untrusted or damaged: they are read by `sojourn.base.files` and `sojourn.base.on_disk`, which follow no
links and say in a sentence what is wrong.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from sojourn.base.errors import RecordError, why
from sojourn.base.files import folder_names, is_file, read_file
from sojourn.base.on_disk import read_listing
from sojourn.simulation.run_directory import is_run, read_run
from sojourn.store.catalogue import Catalogue
from sojourn.study.library import builtin_names, builtin_title, recipe_names, recipe_title
from sojourn.study.result import StudyResult

MOST_RESULTS = 500
"""Results that are listed; chosen."""

PAGE_OF_RUNS = 100
"""Runs of the store in an answer; chosen."""

MOST_ROWS = 2_000
"""Rows of a table in an answer; chosen: more are not read in a page."""


class Browser:
    """Looks things up.

    Parameters
    ----------
    results
        The directory below which results lie.
    store
        The directory of the store.
    named
        Scenario files, studies and results that the command line has named.
    """

    def __init__(self, results: Path, store: Path, named: Sequence[Path] = ()) -> None:
        self._results = results
        self._store = Catalogue(store)
        self._scenarios = {_id(path): path for path in named if _is_scenario(path)}
        self._studies = {_id(path): path for path in named if _is_study(path)}
        self._named = [path for path in named if path.is_dir()]

    def scenarios(self) -> list[dict[str, str]]:
        """Return the scenario files that were named."""
        return [{"id": number, "name": path.stem} for number, path in self._scenarios.items()]

    def scenario(self, number: str) -> str | None:
        """Return the text of one of them as it is now."""
        path = self._scenarios.get(number)
        if path is None:
            return None
        try:
            return read_file(path, most=1 << 20).decode()
        except (OSError, ValueError) as error:
            raise RecordError(f"{path} cannot be read: {why(error)}") from error

    def studies(self) -> list[dict[str, str]]:
        """Return studies that can be run: those named, those of the package, recipes."""
        found = [{"id": number, "name": path.stem, "title": str(path)} for number, path in self._studies.items()]
        found += [{"id": n, "name": n, "title": builtin_title(n)} for n in builtin_names()]
        found += [{"id": n, "name": n, "title": recipe_title(n)} for n in recipe_names()]
        return found

    def study(self, number: str) -> tuple[str, str] | None:
        """Return name and source of a study that can be run."""
        if number in self._studies:
            path = self._studies[number]
            return path.stem, str(path)
        known = {*builtin_names(), *recipe_names()}
        return (number, number) if number in known else None

    def results(self) -> list[dict[str, Any]]:
        """Return what lies below the directory of results, the newest first."""
        found = [_listed(number, path) for number, path in self._result_places()]
        found.sort(key=lambda one: one["when"], reverse=True)
        return found[:MOST_RESULTS]

    def _result_places(self) -> Iterator[tuple[str, Path]]:
        seen = set[str]()
        places = list(self._named)
        for name in folder_names(self._results):
            if name.startswith("."):
                continue
            home = self._results / name
            inner = [home / one for one in folder_names(home, root=self._results) if one[0] != "."]
            places += [home, *inner]
        for path in places:
            # `latest` is a link to one that is listed by its own name.
            if path.is_symlink() or not is_file(path / "manifest.json", root=path):
                continue
            number = _id(path)
            if number not in seen:
                seen.add(number)
                yield number, path

    def result_place(self, number: str) -> Path | None:
        """Return where a result lies."""
        return next((path for known, path in self._result_places() if known == number), None)

    def result(self, number: str) -> dict[str, Any] | None:
        """Return what a result says: points with means, or metrics of a run.

        Raises `RecordError` if it cannot be read.
        """
        path = self.result_place(number)
        if path is None:
            return None
        about: dict[str, Any] = {"id": number, "place": str(path), "report": is_file(path / "report.html", root=path)}
        if is_run(path):
            manifest, tables, damages = read_run(path)
            rows = tables["metrics"].select("subject", "metric", "value", "unit").rows()
            return {
                **about,
                "kind": "run",
                "name": path.name,
                "damages": damages,
                "columns": ["subject", "metric", "value", "unit"],
                "rows": _plain(rows),
                "runs": [{"point": "", "seed": manifest.get("seed", 1)}],
            }
        result = StudyResult.load(path)
        summary = result.summary
        keys = [one for one in ("point", "subject", "metric", "unit") if one in summary.columns]
        numbers = [one for one in ("n", "mean", "low", "high") if one in summary.columns]
        return {
            **about,
            "kind": "study",
            "name": result.overview,
            "damages": list(result.damages),
            "columns": [*keys, *numbers],
            "rows": _plain(summary.select(*keys, *numbers).rows()),
            "runs": [
                {"point": point, "seed": seed, "key": key}
                for point, seed, key in result.runs.select("point", "seed", "key").rows()[:MOST_ROWS]
            ],
        }

    def report(self, number: str) -> bytes | None:
        """Return the report of a result, if it has one."""
        path = self.result_place(number)
        if path is None:
            return None
        try:
            return read_file(path / "report.html", root=path, most=64 << 20)
        except OSError:
            return None

    def run_of_result(self, number: str) -> dict[str, Any] | None:
        """Return scenario, seed and metrics of a result that is one run."""
        path = self.result_place(number)
        if path is None or not is_run(path):
            return None
        manifest, tables, _ = read_run(path)
        rows = tables["metrics"].select("subject", "metric", "value").rows()
        try:
            text = read_file(path / "scenario.toml", root=path, most=1 << 20, is_shown=True).decode()
        except (OSError, ValueError) as error:
            raise RecordError(f"scenario.toml cannot be read: {why(error)}") from error
        return {"scenario": text, "seed": manifest.get("seed", 1), "metrics": _plain(rows)}

    def runs(self, query: str, after: str) -> dict[str, Any]:
        """Return runs of the store in the order of their keys, from behind a key on.

        Parameters
        ----------
        query
            What names of scenarios have in them; empty for all.
        after
            A key; empty to begin.
        """
        found: list[dict[str, Any]] = []
        wanted = query.casefold()
        for run in self._store.runs(after):
            if wanted not in run.name.casefold():
                continue
            if len(found) == PAGE_OF_RUNS:
                return {"runs": found, "more": found[-1]["key"]}
            found.append(asdict(run))
        return {"runs": found, "more": None}

    def run(self, key: str) -> dict[str, Any] | None:
        """Return scenario and seed of a run of the store.

        Raises `RecordError` if it is damaged.
        """
        found = self._store.scenario(key)
        if found is None:
            return None
        scenario, seed = found
        return {"key": key, "scenario": scenario, "seed": seed}


def _id(path: Path) -> str:
    return hashlib.sha256(str(path.absolute()).encode(errors="surrogateescape")).hexdigest()[:16]


def opening(path: Path) -> str:
    """Return the address, with what stands behind its `#`, that shows what the command line has named."""
    if _is_scenario(path):
        return f"explore.html#file={_id(path)}"
    return "results.html" if _is_study(path) else f"results.html#result={_id(path)}"


def _is_study(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        text = read_file(path).decode(errors="replace")
    except OSError:
        return False
    # A study says which scenario it starts from; a scenario has no such key.
    return any(re.match(r"scenario\s*=", line) for line in text.splitlines())


def _is_scenario(path: Path) -> bool:
    return path.is_file() and not _is_study(path)


def _listed(number: str, path: Path) -> dict[str, Any]:
    said: dict[str, Any] = {}
    damage = ""
    try:
        said = read_listing(path, "manifest.json")
    except RecordError as error:
        damage = error.message
    started = said.get("started_at", "")
    measured = said.get("measured")
    return {
        "id": number,
        "name": path.parent.name if path.name[:2] == "20" else path.name,
        "when": started if isinstance(started, str) else "",
        "label": path.name,
        "runs": cast("dict[str, Any]", measured).get("runs") if isinstance(measured, dict) else None,
        "quick": said.get("quick") is True,
        "damage": damage,
    }


def _plain(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return rows as JSON has them: no infinity, nothing that is no number."""
    return [
        [None if isinstance(cell, float) and not math.isfinite(cell) else cell for cell in row]
        for row in rows[:MOST_ROWS]
    ]
