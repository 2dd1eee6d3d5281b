"""Read untrusted files with validation; errors are one sentence.

A result lists its data files with sizes and digests, as the store does, so that damage is known before a decoder
meets it. An untrusted listing may claim anything: columns and keys are taken only with their
right types.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sojourn.base.errors import RecordError, plain
from sojourn.base.files import open_file, read_file
from sojourn.base.json_text import NotJson, parse_json
from sojourn.base.memory import budget

if TYPE_CHECKING:
    from io import BufferedReader

    import polars as pl

WORDS = "words"
"""A column of texts: names, units, causes."""

NUMBERS = "numbers"
"""A column of numbers, whole or not."""

_NAMED = frozenset(
    {"cause", "direction", "key", "link", "lost_at", "lost_for", "metric", "point", "queue"}
    | {"reason", "signal", "study", "subject", "traffic", "unit"}
)
"""Columns of record tables and results that hold words."""

_COUNTED = re.compile(r"(.*_)?(ns|s|bytes|packets|mbps|hops|events|mean|max|seed|value|retransmissions)")
"""Columns that hold numbers."""


def digest_of(content: bytes) -> str:
    """Return the digest by which files are listed."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def list_files(directory: Path, files: Iterable[Path]) -> dict[str, dict[str, int | str]]:
    """Return size and digest of files below a directory, by name."""
    listing: dict[str, dict[str, int | str]] = {}
    for path in sorted(files):
        with open_file(path, root=directory) as file:
            size, digest = size_and_digest(file)
        listing[path.relative_to(directory).as_posix()] = {"bytes": size, "digest": digest}
    return listing


def size_and_digest(file: BufferedReader) -> tuple[int, str]:
    """Return size and digest of an open file, which is read to its end."""
    digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
    return file.tell(), digest.hexdigest()


def open_listed(directory: Path, name: str, listing: Mapping[str, Any]) -> BufferedReader:
    """Open a file of a result, and make sure that it is the one that was written; one not listed may be anything.

    Raises `RecordError` if it is another one, not there, or no file.

    Parameters
    ----------
    directory
        The result.
    name
        The file below it, as it is listed.
    listing
        What `list_files` has given.
    """
    listed = listing.get(name)
    try:
        file = open_file(directory / name, root=directory)
        if not isinstance(listed, dict):
            return file
        expected = cast("dict[str, object]", listed)
        # The size before the contents: a file of a terabyte of holes takes an hour to read.
        size = os.fstat(file.fileno()).st_size
        if size != expected.get("bytes"):
            file.close()
            raise RecordError(f"{name} has {size} bytes instead of {plain(expected.get('bytes'))}")
        if size > budget():
            file.close()
            raise RecordError(f"{name} has {size:,} bytes, more than there is memory for")
        _, digest = size_and_digest(file)
        file.seek(0)
    except OSError as error:
        raise RecordError(f"{name} cannot be read: {_why(error)}") from error
    if digest != expected.get("digest"):
        file.close()
        raise RecordError(f"{name} is not the file that was written")
    return file


def read_text(directory: Path, name: str) -> str:
    """Read a text of a result.

    Raises `RecordError` if it cannot be read.
    """
    try:
        return read_file(directory / name, root=directory, is_shown=True).decode()
    except (OSError, ValueError) as error:
        raise RecordError(f"{name} cannot be read: {_why(error)}") from error


def read_listing(directory: Path, name: str) -> dict[str, Any]:
    """Read a JSON object of a result.

    Raises `RecordError` if the file holds something else.
    """
    path = directory / name
    try:
        content = parse_json(read_file(path, root=directory))
    except OSError as error:
        raise RecordError(f"{path.name} cannot be read: {_why(error)}") from error
    except NotJson as error:
        raise RecordError(f"{path.name} {error}") from error
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


def read_table(
    directory: Path,
    name: str,
    listing: Mapping[str, Any],
    needed: Iterable[str] = (),
    only: Mapping[str, pl.DataType | type[pl.DataType]] | None = None,
) -> pl.DataFrame:
    """Read a Parquet file of a result.

    Raises `RecordError` if it is not the file that was written, is damaged, needs more memory than there is, or its
    columns are not what their names say.

    Parameters
    ----------
    directory
        The result.
    name
        The file below it.
    listing
        What `list_files` has given; see `open_listed`.
    needed
        Columns that have to be there.
    only
        Columns with their types, if the table has to have these and no others.
    """
    import polars as pl

    own = name.rpartition("/")[2]
    try:
        with open_listed(directory, name, listing) as file:
            packed = pl.scan_parquet(file)
            schema = packed.collect_schema()
            refuse_nested(own, schema)
            refuse_others(own, schema, needed, only)
            _refuse_larger(own, packed.select(pl.len()).collect().item(), schema)
            file.seek(0)
            table = pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise RecordError(f"{own} is damaged: {_why(error)}") from error
    except BaseException as error:
        if not isinstance(error, pl.exceptions.PanicException):
            raise
        raise RecordError(f"{own} is damaged") from error
    return table


def refuse_nested(name: str, schema: Mapping[str, pl.DataType]) -> None:
    """Make sure that no column holds lists or structures: one row of them may be of any size, and no table here has any.

    Raises `RecordError` if one does.
    """
    for column, kind in schema.items():
        if kind.is_nested():
            raise RecordError(f"{name}: column {plain(column)} holds {_told(kind)}s, and no table of Sojourn does")


def _refuse_larger(name: str, rows: int, schema: Mapping[str, pl.DataType]) -> None:
    """Make sure that there is memory for a table.

    Raises `RecordError` if there is not.
    """
    if rows * len(schema) * LEAST_CELL > budget():
        raise RecordError(f"{name} has {rows:,} rows, more than there is memory for")


LEAST_CELL = 8
"""Bytes that a number of a table takes in memory; a packed file says how many there are, not their size in memory."""


def refuse_others(
    name: str,
    schema: Mapping[str, pl.DataType],
    needed: Iterable[str] = (),
    only: Mapping[str, pl.DataType | type[pl.DataType]] | None = None,
) -> None:
    """Make sure that a table has the columns of its name with the types of theirs, and no others if `only` has them.

    Raises `RecordError` if it has not.
    """
    import polars as pl

    if only is not None and dict(schema) != dict(only):
        raise RecordError(f"{name} has other columns than it should")
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
