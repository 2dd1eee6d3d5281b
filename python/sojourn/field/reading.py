"""Files of strangers: read as JSON within bounds, executed never.

A probe's upload may be cut off, or made by one who wants our memory. Each refusal is one sentence.

Source: `sojourn.base.json_text`; iperf3's JSON stream (`--json-stream`, since 3.17): an object a line with `event` and `data`.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import zlib
from pathlib import Path
from typing import IO, Any, cast

from pydantic import ValidationError

from sojourn.base.files import read_file
from sojourn.base.json_text import NotJson, TooMuch, parse_json, parse_with_pairs

LARGEST_FILE = 32 * 2**20
"""Bytes of a file; chosen: ten minutes of Flent's largest test take half a megabyte."""

LARGEST_TEXT = 64 * 2**20
"""Bytes of its text, unpacked; chosen: ten minutes of Flent's largest test take three megabytes."""

SUMS = frozenset({"sum", "sum_sent", "sum_received"})
"""Names that iperf3 before 3.11 says twice of a bidirectional test, once for each direction."""

KINDS = (
    (b"Main", "is text of the docsis tool: sojourn provision encode"),
    (b"\x0a\x0d\x0d\x0a", "is a packet capture: sojourn capture show"),
    (b"\xa1\xb2", "is a packet capture: sojourn capture show"),
    (b"\xd4\xc3\xb2\xa1", "is a packet capture: sojourn capture show"),
    (b"\x4d\x3c\xb2\xa1", "is a packet capture: sojourn capture show"),
    (b"PAR1", "is a table in Parquet and no measurement"),
    (b"PK\x03\x04", "is a ZIP archive: unpack it first"),
    (b"\xfd7zXZ", "is compressed by xz: unxz it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed by zstd: unzstd it first"),
    (b"SQLite format 3", "is a database and no measurement"),
    (b"<", "is markup and no measurement"),
)
"""First bytes of files that are often taken for a measurement, and the kind of file."""


class Unreadable(Exception):
    """A file that is no measurement, or a damaged one; the text says why."""


def read_document(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, packed by gzip or bzip2 or plain.

    Raises `Unreadable` if it is too large, cut off, no JSON, or no object.

    Parameters
    ----------
    path
        The file.
    """
    return document_of(content_of(path))


def content_of(path: Path) -> bytes:
    """Return the bytes of a file of measurements.

    Raises `Unreadable` if it is too large or cannot be read.
    """
    try:
        return read_file(path, most=LARGEST_FILE)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise Unreadable(f"is larger than {LARGEST_FILE // 2**20} MiB") from error
        raise Unreadable(f"cannot be read: {_reason(error)}") from error


def document_of(content: bytes, largest_text: int = LARGEST_TEXT) -> dict[str, Any]:
    """Return the JSON object in the bytes of a file, packed by gzip or bzip2 or plain.

    Raises `Unreadable` if it is too large, cut off, no JSON, or no object.

    Parameters
    ----------
    content
        The bytes.
    largest_text
        Bytes of the text at most, unpacked.
    """
    if not content:
        raise Unreadable("is empty")
    try:
        text = _unpack(content, largest_text)
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable(f"cannot be read: {_reason(error)}") from error
    return parse_document(text)


def parse_document(text: bytes) -> dict[str, Any]:
    """Return the JSON object in a text, or that of iperf3's stream of objects.

    A name of `SUMS` that stands twice has both values as its value, in a tuple.

    Raises `Unreadable` if there is none.
    """
    for first, words in KINDS:
        if text.startswith(first):
            raise Unreadable(words)
    try:
        document, repeated = parse_with_pairs(text, SUMS)
    except TooMuch as error:
        raise Unreadable(str(error)) from error
    except NotJson as error:
        document, repeated = _of_lines(text, error), frozenset[str]()
    if not isinstance(document, dict):
        raise Unreadable("is JSON, and no object")
    found = cast("dict[str, Any]", document)
    if repeated and "intervals" not in found:
        raise Unreadable(f"says {sorted(repeated)[0]} twice in one object: which counts is not known")
    return found


def _of_lines(text: bytes, error: NotJson) -> dict[str, Any]:
    """Return the union of lines of JSON; if they are none, the error of the whole text is raised.

    Raises `Unreadable` if they are no stream of iperf3.
    """
    first, _, rest = text.lstrip().partition(b"\n")
    try:
        head = cast("object", parse_json(first))
        parse_json(rest.lstrip().partition(b"\n")[0])
    except NotJson:
        raise Unreadable(str(error)) from error
    if not isinstance(head, dict) or not {"event", "data"} <= head.keys():
        raise Unreadable("is lines of JSON, an object a line, of no tool that is known here")
    events: dict[str, list[Any]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                one = cast("object", parse_json(line))
            except NotJson as wrong:
                raise Unreadable(f"line {number}: {wrong}") from wrong
            if isinstance(one, dict):
                event = cast("dict[str, Any]", one)
                events.setdefault(str(event.get("event")), []).append(event.get("data"))
    found = {name: events[name][-1] for name in ("start", "end", "error") if name in events}
    if "end" not in found and "error" not in found:
        raise Unreadable("is cut off: a stream of iperf3 without its end")
    return {**found, "intervals": events.get("interval", [])}


def first_problem(error: ValidationError) -> str:
    """Return the first thing wrong with a document, in a few words."""
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    return f"{place}: {problem['msg']}"[:200]


def _unpack(content: bytes, most: int) -> bytes:
    file = io.BytesIO(content)
    if content[:2] == b"\x1f\x8b":
        with gzip.GzipFile(fileobj=file) as packed:
            return _bounded(packed, most)
    if content[:3] == b"BZh":
        with bz2.BZ2File(file) as packed:
            return _bounded(packed, most)
    return _bounded(file, most)


def _bounded(file: IO[bytes] | gzip.GzipFile, most: int) -> bytes:
    text = file.read(most + 1)
    if len(text) > most:
        raise Unreadable(f"unpacks to more than {most / 2**20:.3g} MiB")
    return text


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "it is cut off or damaged"
