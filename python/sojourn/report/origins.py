"""Origins of the values of a study's scenarios: documents, a choice, a fit, or the study itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, cast

import sojourn._engine as _engine
from sojourn.answers.report_content import Assumption
from sojourn.base.errors import RecordError
from sojourn.base.files import folder_names
from sojourn.base.on_disk import read_text
from sojourn.base.toml_text import parse_toml
from sojourn.study.result import StudyResult

_WORDS = {"study": "set by the study", "documented": "documented", "chosen": "chosen", "fitted": "fitted"}
"""Words for origins, in the order of the page."""

_KINDS = {"chosen": "chosen", "assumed": "chosen", "fitted": "fitted"}
"""Kinds by the first word of an origin; a usual value that no document gives is our choice."""

_ASIDE = ("record.", "schema", "seed", "name", "duration")
"""Tables and keys that say how long and what is recorded, not what the network is like."""


def origins(result: StudyResult, assumptions: Sequence[Assumption] = ()) -> Counter[str]:
    """Count the values of a result's base scenario by origin, and the assumptions of the study.

    What stands in the file is set by the study. Of defaults, the origin stands beside the key; what no key
    tells belongs to a profile with a name, such as a stack, and is documented with it.
    """
    found: dict[tuple[str, str, str], str] = {}
    for name in folder_names(result.directory / "scenarios", root=result.directory):
        try:
            text = read_text(result.directory, f"scenarios/{name}")
            complete = _engine.Scenario.parse(text).canonical()
        except (RecordError, ValueError):  # of an earlier version
            continue
        written = {place for place, _, _ in _values(parse_toml(text))}
        for place, kind, value in _values(parse_toml(complete)):
            key = re.sub(r"\d+", "NAME", place, count=1) if place.startswith("traffic.") else place
            key = re.sub(r"^access\.\w+", "access.DIRECTION", key)
            found[key, kind, value] = "study" if place in written else _origin(key, kind)
    counts = Counter(found.values())
    counts.update(one.origin for one in assumptions)
    return counts


def told(result: StudyResult, assumptions: Sequence[Assumption] = ()) -> str:
    """Say it in a sentence; empty if the result has no scenarios."""
    counts = origins(result, assumptions)
    total = sum(counts.values())
    if not total:
        return ""
    parts = [f"{counts[origin]} {words}" for origin, words in _WORDS.items() if counts[origin]]
    parts += [f"{count} {origin}" for origin, count in counts.items() if origin not in _WORDS]
    return f"Of {total} values and assumptions behind these runs: {', '.join(parts)}."


def _values(table: dict[str, Any], path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield place, kind of the table around it, and value of every key; entries go by their number."""
    kind = str(table.get("kind", ""))
    for key, value in table.items():
        place = f"{path}{key}"
        if isinstance(value, dict):
            yield from _values(cast("dict[str, Any]", value), f"{place}.")
        elif key == "traffic":
            for number, one in enumerate(cast("list[dict[str, Any]]", value)):
                yield from _values(one, f"{place}.{number}.")
        elif key not in ("kind", "name") and not place.startswith(_ASIDE):
            yield place, kind, str(value)


@cache
def _keys() -> dict[tuple[str, str], str]:
    """Return the origin by path and kind, and by path alone."""
    rows = _engine.scenario_keys()
    return {(row[0], ""): row[6] for row in rows} | {(row[0], row[1]): row[6] for row in rows}


def _origin(path: str, kind: str) -> str:
    keys = _keys()
    origin = keys.get((path, kind), keys.get((path, ""), ""))
    first = origin.partition(":")[0]
    return _KINDS.get(first, "documented")
