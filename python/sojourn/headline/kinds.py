"""Kinds of applications in scenario files, and the entries that a file is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast


def kinds_in(*documents: Mapping[str, Any]) -> dict[str, str]:
    """Return the kinds of applications in scenario files and overlays, by traffic entry.

    Examples
    --------
    >>> kinds_in({"traffic": [{"name": "a", "app": "voice"}]}, {"traffic": {"b": {"app": {"kind": "web"}}}})
    {'a': 'voice', 'b': 'web'}
    """
    return {name: kind for document in documents for name, kind in _kinds(document)}


def marked_in(*documents: Mapping[str, Any]) -> list[str]:
    """Return the traffic entries that scenario files and overlays mark with `about = true`.

    Examples
    --------
    >>> marked_in({"traffic": [{"name": "a", "about": True}, {"name": "b"}]})
    ['a']
    """
    entries = (entry for document in documents for entry in _tables(document.get("traffic")))
    marks = {str(entry["name"]): entry["about"] is True for entry in entries if "name" in entry and "about" in entry}
    return [name for name, is_marked in marks.items() if is_marked]


def _kinds(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for entry in _tables(document.get("traffic")):
        app: Any = entry.get("app")
        kind = cast("dict[str, Any]", app).get("kind") if isinstance(app, dict) else app
        if isinstance(kind, str) and "name" in entry:
            yield str(entry["name"]), kind


def _tables(value: object) -> list[dict[str, Any]]:
    """Return a list of tables; tables by name have it as their key."""
    if isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        return [{"name": name, **cast("dict[str, Any]", one)} for name, one in named.items() if isinstance(one, dict)]
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
