"""Makes some runs of a store again and compares: another result means broken memory, or a fault of the engine."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import sojourn._engine as _engine
from sojourn.base.errors import SojournError
from sojourn.scenario.scenario_file import Scenario
from sojourn.simulation.engine import simulate
from sojourn.store import SEGMENTS_LAYOUT
from sojourn.store.objects import Objects
from sojourn.store.segments import LISTING

SHARE = 0.001
"""Share of runs that are made again if nothing else is asked for."""


@dataclass
class Audit:
    """Result of an audit."""

    runs: int = 0
    """Made again."""
    segments: int = 0
    """Segments of this engine's version that the store has."""
    differ: list[str] = field(default_factory=list[str])
    """Keys of runs that come out otherwise."""
    damaged: list[str] = field(default_factory=list[str])
    """Names of segments that cannot be read."""


def audit(objects: Objects, share: float = SHARE, seed: int | None = None) -> Iterator[Audit]:
    """Make a random share of the runs again, at least one; give what is known after each.

    Raises `StoreUnreachable` if the store does not answer.

    Parameters
    ----------
    objects
        The store.
    share
        Of all runs of this version of the engine, from 0 to 1.
    seed
        Decides which; others each time if left out.
    """
    chance = random.Random(seed)
    place = f"{SEGMENTS_LAYOUT}/runs/{_engine.engine_version()}"
    listings = [name for name in objects.names(place) if name.endswith(f"/{LISTING}")]
    names = [name.partition("/")[0] for name in listings]
    found = Audit(segments=len(names))
    chance.shuffle(names)
    owed = chance.random()  # so that small segments have their share
    for name in names:
        table = _table(objects, f"{place}/{name}", "runs", ("key", "seed", "scenario"))
        metrics = _table(objects, f"{place}/{name}", "metrics", _METRICS)
        if table is None or metrics is None:
            found.damaged.append(name)
            yield found
            continue
        owed += share * table.height
        count = min(table.height, int(owed))
        if not found.runs:
            count = max(1, count)
        owed -= count
        for row in sorted(chance.sample(range(table.height), count)):
            key, number, text = table.row(row)
            found.runs += 1
            kept = metrics.filter(metrics["run"] == row).drop("run")
            if not _is_same(str(key), int(number), str(text), kept):
                found.differ.append(str(key))
            yield found
    if not names:
        yield found


_METRICS = ("run", "subject", "metric", "value", "unit")


def _table(objects: Objects, place: str, name: str, columns: tuple[str, ...]) -> Any:  # noqa: ANN401 - of Polars
    """Return columns of a table; nothing if it is damaged."""
    import polars as pl

    from sojourn.base.on_disk import digest_of

    content = objects.read(f"{place}/{name}.parquet")
    listing = objects.read(f"{place}/{LISTING}")
    if content is None or listing is None:
        return None
    try:
        expected = json.loads(listing)["files"][f"{name}.parquet"]["digest"]
        if digest_of(content) != expected:
            return None
        return pl.read_parquet(io.BytesIO(content)).select(columns)
    except (ValueError, KeyError, TypeError, RecursionError, pl.exceptions.PolarsError):
        return None


def _is_same(key: str, seed: int, text: str, kept: Any) -> bool:  # noqa: ANN401 - of Polars
    import polars as pl

    try:
        scenario = Scenario.parse(text)
        if scenario.key(seed) != key:
            return False
        again = pl.DataFrame(simulate(scenario.compiled, seed).table("metrics"))
    except SojournError:
        return False
    return again.select(_METRICS[1:]).equals(kept.select(_METRICS[1:]))
