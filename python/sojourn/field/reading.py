"""Files of strangers: read as JSON within bounds, executed never.

A probe's upload may be cut off, or made by somebody who wants our memory. Each refusal is one sentence.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import json
import math
import re
import zlib
from pathlib import Path
from typing import IO, Any, cast

from pydantic import ValidationError

from sojourn.base.files import read_file

__all__ = [
    "LARGEST_FILE",
    "LARGEST_TEXT",
    "Unreadable",
    "content_of",
    "document_of",
    "first_problem",
    "parse_document",
    "read_document",
]

LARGEST_FILE = 32 * 2**20
"""Bytes of a file; chosen: ten minutes of Flent's largest test take half a megabyte."""

LARGEST_TEXT = 64 * 2**20
"""Bytes of its text, unpacked; chosen: ten minutes of Flent's largest test take three megabytes, and the
worst text of this size (empty lists in lists) takes less than two gigabytes in memory."""


_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""Escapes of half a character, which are text only as pairs."""


class Unreadable(Exception):
    """A file that is no measurement, or a damaged one; the text says why."""


def read_document(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, packed by gzip or bzip2 or plain.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    Unreadable
        If it is too large, cut off, no JSON, or no object.
    """
    return document_of(content_of(path))


def content_of(path: Path) -> bytes:
    """Return the bytes of a file of measurements.

    Raises
    ------
    Unreadable
        If it is too large or cannot be read.
    """
    try:
        return read_file(path, most=LARGEST_FILE)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise Unreadable(f"is larger than {LARGEST_FILE // 2**20} MiB") from error
        raise Unreadable(f"cannot be read: {_reason(error)}") from error


def document_of(content: bytes, largest_text: int = LARGEST_TEXT) -> dict[str, Any]:
    """Return the JSON object in the bytes of a file, packed by gzip or bzip2 or plain.

    Parameters
    ----------
    content
        The bytes.
    largest_text
        Bytes of the text at most, unpacked.

    Raises
    ------
    Unreadable
        If it is too large, cut off, no JSON, or no object.
    """
    if not content:
        raise Unreadable("is empty")
    try:
        text = _unpack(content, largest_text)
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable(f"cannot be read: {_reason(error)}") from error
    return parse_document(text)


def parse_document(text: bytes) -> dict[str, Any]:
    """Return the JSON object in a text.

    Raises
    ------
    Unreadable
        If there is none.
    """
    try:
        document = json.loads(text, parse_constant=_no_number)
        if _HALF.search(text):
            json.dumps(document, ensure_ascii=False).encode()
    except RecursionError as error:
        raise Unreadable("is nested too deeply") from error
    except (ValueError, UnicodeDecodeError) as error:
        raise Unreadable("is not JSON, or cut off") from error
    if not isinstance(document, dict):
        raise Unreadable("is JSON, and no object")
    return cast("dict[str, Any]", document)


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


def _no_number(_text: str) -> float:
    return math.nan


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "it is cut off or damaged"
