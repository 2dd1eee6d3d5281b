"""What lies on disk and may be damaged, or somebody else's: read as what it should be, or told in a sentence why not.

A result lists its data files with sizes and digests, as the store does, so that damage is known before a decoder
meets it. What was written by others lists what it likes: columns and keys are taken only with the types that they
should have.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sojourn.errors import RecordError, plain

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "NUMBERS",
    "WORDS",
    "check_listed",
    "digest_of",
    "list_files",
    "read_listing",
    "read_table",
    "record_columns",
    "refuse_others",
    "shape",
]

WORDS = "words"
"""A column of texts: names, units, causes."""

NUMBERS = "numbers"
"""A column of numbers, whole or not."""

_NAMED = frozenset(
    {"cause", "direction", "key", "link", "lost_at", "lost_for", "metric", "point", "queue"}
    | {"reason", "signal", "study", "subject", "traffic", "unit"}
)
"""Columns of record tables and results that hold words."""

_COUNTED = re.compile(
    r"(.*_)?(ns|s|bytes|packets|mbps|hops|events|mean|max|seed|value|retransmissions)"
)
"""Columns that hold numbers."""


def digest_of(content: bytes) -> str:
    """Return the digest by which files are listed."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def list_files(directory: Path, files: Iterable[Path]) -> dict[str, dict[str, int | str]]:
    """Return size and digest of files below a directory, by name."""
    listing: dict[str, dict[str, int | str]] = {}
    for path in sorted(files):
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, lambda: hashlib.blake2b(digest_size=16))
        name = path.relative_to(directory).as_posix()
        listing[name] = {"bytes": path.stat().st_size, "digest": digest.hexdigest()}
    return listing


def check_listed(path: Path, name: str, listing: Mapping[str, Any]) -> None:
    """Make sure that a file is the one that was written; one that is not listed may be anything.

    Parameters
    ----------
    path
        The file.
    name
        As which it is listed.
    listing
        What `list_files` has given.

    Raises
    ------
    RecordError
        If it is another one, or not there.
    """
    listed = listing.get(name)
    if not isinstance(listed, dict):
        return
    try:
        found = list_files(path.parent, [path])[path.name]
    except OSError as error:
        raise RecordError(f"{name} cannot be read: {_why(error)}") from error
    expected = cast("dict[str, object]", listed)
    if found["bytes"] != expected.get("bytes"):
        wanted = expected.get("bytes")
        raise RecordError(f"{name} has {found['bytes']} bytes instead of {plain(wanted)}")
    if found["digest"] != expected.get("digest"):
        raise RecordError(f"{name} is not the file that was written")


def read_listing(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    RecordError
        If the file holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise RecordError(f"{path.name} is nested too deeply") from error
    except OSError as error:
        raise RecordError(f"{path.name} cannot be read: {_why(error)}") from error
    except ValueError as error:
        raise RecordError(f"{path.name} is not JSON: {_why(error)}") from error
    if not isinstance(content, dict):
        raise RecordError(f"{path.name} does not hold a JSON object")
    return cast("dict[str, Any]", content)


def shape(content: Mapping[str, Any], kinds: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the keys that have the types that they should have, and the names of those that do not.

    Parameters
    ----------
    content
        A JSON object. Keys that `kinds` does not name stay as they are.
    kinds
        Type of each key that is used, as annotations write it.
    """
    from pydantic import TypeAdapter, ValidationError

    kept, wrong = dict(content), list[str]()
    for key, kind in kinds.items():
        if key not in content:
            continue
        try:
            TypeAdapter(kind).validate_python(content[key], strict=True)
        except ValidationError:
            del kept[key]
            wrong.append(key)
    return kept, wrong


def read_table(path: Path, needed: Iterable[str] = ()) -> pl.DataFrame:
    """Read a Parquet file.

    Parameters
    ----------
    path
        The file.
    needed
        Columns that have to be there.

    Raises
    ------
    RecordError
        If it is damaged, or its columns are not what their names say.
    """
    import polars as pl

    try:
        table = pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise RecordError(f"{path.name} is damaged: {_why(error)}") from error
    except BaseException as error:
        if not isinstance(error, pl.exceptions.PanicException):
            raise
        raise RecordError(f"{path.name} is damaged") from error
    refuse_others(path.name, table.schema, needed)
    return table


def refuse_others(name: str, schema: Mapping[str, pl.DataType], needed: Iterable[str] = ()) -> None:
    """Make sure that a table has the columns of its name with the types of theirs.

    Raises
    ------
    RecordError
        If it has not.
    """
    import polars as pl

    missing = [column for column in needed if column not in schema]
    if missing:
        raise RecordError(f"{name} has no column {_listed(missing)}")
    for column, kind in record_columns(schema).items():
        found = schema[column]
        is_word = isinstance(found, pl.String | pl.Categorical | pl.Enum)
        if not (is_word if kind == WORDS else found.is_numeric()):
            raise RecordError(f"{name}: column {plain(column)} holds {_told(found)} and no {kind}")


def record_columns(names: Iterable[str]) -> dict[str, str]:
    """Return what columns of record tables and results hold, `WORDS` or `NUMBERS`, as far as their names say it."""
    found: dict[str, str] = {}
    for name in names:
        if name in _NAMED:
            found[name] = WORDS
        elif _COUNTED.fullmatch(name):
            found[name] = NUMBERS
    return found


def _told(kind: pl.DataType) -> str:
    if str(kind) == "String":
        return "words"
    return "numbers" if kind.is_numeric() else str(kind).split("(", 1)[0].lower()


def _listed(names: list[str]) -> str:
    return ", ".join(plain(name) for name in names)


def _why(error: Exception) -> str:
    """Return the first line of what a library says."""
    text = str(getattr(error, "strerror", None) or error)
    return plain((text.splitlines() or [type(error).__name__])[0][:200])
