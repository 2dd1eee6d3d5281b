"""What laying an overlay means, literally: the oracle for the compiled implementation."""

import copy
from typing import Any, cast

Document = dict[str, Any]


def merge(base: Document, overlay: Document) -> Document:
    """Return `base` changed by `overlay`; neither argument is touched.

    Raises `ValueError` if the overlay removes what is not there, or gives entries that cannot be matched by name.
    """
    result = copy.deepcopy(base)
    changes = copy.deepcopy(overlay)
    for path in changes.pop("remove", []):
        _remove(result, path)
    _merge_lists(result, changes, ("link", "home", "load", "traffic"))
    return result


def _merge_lists(target: Document, changes: Document, keys: tuple[str, ...]) -> None:
    """Merge tables key by key, and these lists entry by entry."""
    lists = {key: changes.pop(key) for key in keys if key in changes}
    _merge_tables(target, changes)
    for key, changed in lists.items():
        entries = _named(target.get(key, []))
        for name, change in _named(changed).items():
            entry = entries.setdefault(name, {"name": name})
            _merge_lists(entry, change, ("load", "traffic") if key == "home" else ())
        target[key] = list(entries.values())


def _merge_tables(target: Document, changes: Document) -> None:
    for key, value in changes.items():
        present = target.get(key)
        if isinstance(value, dict) and isinstance(present, dict):
            value, present = cast("Document", value), cast("Document", present)
            if "kind" not in value or value["kind"] == present.get("kind"):
                _merge_tables(present, value)
                continue
        if isinstance(value, dict) and isinstance(present, str) and "kind" not in value:
            value = {"kind": present, **cast("Document", value)}
        target[key] = value


def _named(written: object) -> dict[str, Document]:
    """Return entries by name, from either way of writing them."""
    if isinstance(written, dict):
        entries: list[object] = []
        for name, entry in cast("dict[str, object]", written).items():
            if not isinstance(entry, dict):
                raise ValueError(f'"{name}" has to be a table')
            entries.append({"name": name} | cast("Document", entry))
    elif isinstance(written, list):
        entries = cast("list[object]", written)
    else:
        raise ValueError("a table by name or an array of tables belongs here")
    named: dict[str, Document] = {}
    for number, entry in enumerate(entries, 1):
        name = cast("Document", entry).get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            raise ValueError(f"entry {number} has no name to match it by")
        if name in named:
            raise ValueError(f'"{name}" occurs twice')
        named[name] = cast("Document", entry)
    return named


def _remove(document: Document, path: str) -> None:
    *parents, last = path.split(".")
    place: object = document
    for part in parents:
        place = _step(place, part)
    if isinstance(place, list):
        entries = cast("list[Any]", place)
        kept: list[Any] = [
            entry for entry in entries if not isinstance(entry, dict) or cast("Document", entry).get("name") != last
        ]
        if len(kept) == len(entries):
            raise ValueError(f'cannot remove "{path}": the base has no such entry')
        entries[:] = kept
    elif isinstance(place, dict) and last in place:
        del cast("Document", place)[last]
    else:
        raise ValueError(f'cannot remove "{path}": the base has no such key')


def _step(place: object, part: str) -> object:
    if isinstance(place, dict):
        return cast("Document", place).get(part)
    if isinstance(place, list):
        for entry in cast("list[Document]", place):
            if entry.get("name") == part:
                return entry
    return None
