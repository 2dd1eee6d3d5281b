"""Puts small segments of a store together: what a study has kept within seconds of each other lies in folders of a few runs.

Segments that a plan of many machines names stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from sojourn.base.errors import RecordError
from sojourn.base.files import remove
from sojourn.base.on_disk import read_table
from sojourn.store import PackedRun, Store
from sojourn.store.segments import RUN, Segment

SMALL = 500
"""Runs below which a segment counts as small."""

TOGETHER = 1000
"""Runs of those that are made of them. chosen: as workers make them."""


def compact(store: Store, named: frozenset[str] = frozenset()) -> tuple[int, int]:
    """Put small segments together; return how many there were, and of how many they are now.

    Raises `EnvironmentFailure` if they cannot be written.

    Parameters
    ----------
    store
        The store of this machine.
    named
        Segments that have to stay.
    """
    before = after = 0
    for group in _groups(store, named):
        asked = frozenset(group[0].info["asked"])
        runs = [run for segment in group for run in runs_of(segment)]
        store.put_together(runs, asked)
        before, after = before + len(group), after + 1
        for segment in group:
            remove(segment.directory, root=store.directory)
    return before, after


def _groups(store: Store, named: frozenset[str]) -> Iterator[list[Segment]]:
    """Give small segments that keep the same tables, as many as fit together."""
    waiting: dict[tuple[str, ...], list[Segment]] = {}
    for name in store.segments.names():
        if name in named:
            continue
        try:
            segment = store.segments.open(name)
        except RecordError:  # told, and made again, by who wants its runs
            continue
        if segment.runs.height >= SMALL:
            continue
        group = waiting.setdefault(tuple(segment.info["asked"]), [])
        if group and sum(one.runs.height for one in group) + segment.runs.height > TOGETHER:
            if len(group) > 1:
                yield group
            group = waiting[tuple(segment.info["asked"])] = []
        group.append(segment)
    yield from (group for group in waiting.values() if len(group) > 1)


def runs_of(segment: Segment) -> Iterator[PackedRun]:
    """Give the runs of a segment as they were before."""
    about = segment.table("runs", ("key", "seed", "scenario"))
    parts: dict[str, dict[int, pl.DataFrame]] = {}
    for file in segment.info["files"]:
        table = Path(file).stem
        if table != "runs":
            rows = read_table(segment.directory, file, segment.info["files"], (RUN,))
            several = rows.partition_by(RUN, include_key=False, as_dict=True, maintain_order=True)
            parts[table] = {int(key[0]): part for key, part in several.items()}
    for row, (key, seed, scenario) in enumerate(about.iter_rows()):
        tables = {table: own[row] for table, own in parts.items() if row in own}
        tables.setdefault("metrics", parts["metrics"][next(iter(parts["metrics"]))].clear())
        yield PackedRun(key, seed, scenario, segment.statistics[row], tables)
