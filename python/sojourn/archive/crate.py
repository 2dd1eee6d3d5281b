"""The description of an RO-Crate, read from untrusted hands: which files it has, with which digests."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sojourn.base.errors import RecordError, plain, why
from sojourn.base.files import make_folder, new_file, open_file
from sojourn.base.on_disk import read_listing
from sojourn.study.files import is_inside

METADATA = "ro-crate-metadata.json"
"""Name of the description (RO-Crate 1.1, section 3)."""

MOST_FILES = 10_000
"""Files of a crate. chosen: a result has a few tens, one with a table for each of 5,000 points as many."""

MOST_BYTES = 8 * 2**30
"""Bytes of a crate. chosen: what a disk has room for twice."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_PIECE = 2**20


@dataclass(frozen=True)
class Listed:
    """A file as a crate describes it."""

    name: str
    size: int
    digest: str


def read_crate(directory: Path) -> list[Listed]:
    """Return the files that a crate describes.

    Raises `RecordError` if it is no crate, or describes files outside of it, without digest, twice, or too many or too large.
    """
    try:
        content = read_listing(directory, METADATA)
    except RecordError as error:
        raise RecordError(
            f"{plain(directory)} is no RO-Crate: {error.message}", "sojourn export RESULT --ro-crate DIR writes one"
        ) from error
    graph = content.get("@graph")
    if not isinstance(graph, list):
        raise RecordError(f"{METADATA}: @graph is no list of entities")
    found: dict[str, Listed] = {}
    for entity in cast("list[object]", graph):
        if isinstance(entity, dict) and _is_file(cast("dict[str, Any]", entity)):
            one = _listed(cast("dict[str, Any]", entity))
            if one.name in found:
                raise RecordError(f"{METADATA}: {plain(one.name)} stands twice")
            found[one.name] = one
            if len(found) > MOST_FILES:
                raise RecordError(f"{METADATA}: more than {MOST_FILES} files")
    if sum(one.size for one in found.values()) > MOST_BYTES:
        raise RecordError(f"{METADATA}: files of more than {MOST_BYTES // 2**30} GiB")
    if "manifest.json" not in found:
        raise RecordError(f"{plain(directory)} is an RO-Crate of something else: it has no manifest.json of Sojourn")
    return list(found.values())


def _is_file(entity: Mapping[str, Any]) -> bool:
    kind = entity.get("@type")
    is_file = kind == "File" or (isinstance(kind, list) and "File" in kind)
    return is_file and entity.get("@id") != METADATA


def _listed(entity: Mapping[str, Any]) -> Listed:
    name, size, digest = (entity.get(key) for key in ("@id", "contentSize", "sha256"))
    if not isinstance(name, str) or not is_inside(name) or "\\" in name or "\0" in name or not Path(name).name:
        raise RecordError(f"{METADATA}: {plain(repr(name)[:200])} is no file of the crate")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise RecordError(f"{METADATA}: {plain(name)} has no sha256")
    if not isinstance(size, str) or not (size.isascii() and size.isdecimal() and len(size) < 16):
        raise RecordError(f"{METADATA}: {plain(name)} has no contentSize in bytes")
    return Listed(name, int(size), digest)


def copy_whole(directory: Path, listed: list[Listed], target: Path) -> list[str]:
    """Copy the files of a crate that are as it describes them; return a sentence for each that is not.

    No link is followed, nothing but regular files of the size that is described is read, and nothing is written outside of
    the target.
    """
    wrong: list[str] = []
    for one in listed:
        path = target / one.name
        make_folder(path.parent, root=target)
        try:
            digest = copied(directory / one.name, path, one.size, directory, target)
        except OSError as error:
            wrong.append(f"{plain(one.name)}: {why(error)}")
            continue
        if digest != one.digest:
            wrong.append(f"{plain(one.name)} is not the file that {METADATA} describes: its SHA-256 is {digest[:16]}…")
    return wrong


def copied(source: Path, path: Path, size: int, root: Path, target: Path) -> str:
    """Copy a file below `root` to one below `target`, and return its SHA-256.

    Raises `OSError` if it is not there, is a link or no file, or has another size.
    """
    digest = hashlib.sha256()
    with open_file(source, root=root) as file, new_file(path, root=target) as copy:
        if os.fstat(file.fileno()).st_size != size:
            raise OSError(0, f"has another size than the {size} B that are listed")
        while piece := file.read(_PIECE):
            digest.update(piece)
            copy.write(piece)
    return digest.hexdigest()
