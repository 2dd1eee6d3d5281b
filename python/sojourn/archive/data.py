"""Data sets of the project: names, licences and digests, and how they come from a folder or an address.

Nothing is fetched unless a user names the place. A file arrives whole and as its digest says, or not at all.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sojourn.archive.crate import Listed, copied
from sojourn.base.errors import EnvironmentFailure, MissingExtra, RecordError, UsageError, nearest, plain, why
from sojourn.base.files import make_folder
from sojourn.base.toml_text import parse_toml


@dataclass(frozen=True)
class DataSet:
    """Files that belong together."""

    name: str
    about: str
    licence: str
    files: tuple[Listed, ...]
    """Names as in the repository, which any mirror keeps."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


@cache
def data_sets() -> dict[str, DataSet]:
    """Return all data sets by name."""
    document = parse_toml(Path(__file__).with_name("data.toml").read_text(encoding="utf-8"))
    return {
        name: DataSet(name, table["about"], table["licence"], tuple(map(_listed, table["files"].splitlines())))
        for name, table in document.items()
    }


def _listed(line: str) -> Listed:
    digest, size, name = line.split(" ", 2)
    return Listed(name, int(size), digest)


def data_set(name: str) -> DataSet:
    """Return a data set.

    Raises `UsageError` if there is none of the name.
    """
    if name not in data_sets():
        raise UsageError(f'no data set "{plain(name)}"', nearest(name, data_sets()) or "`sojourn data list` names all")
    return data_sets()[name]


def fetch(wanted: DataSet, place: str, directory: Path) -> None:
    """Bring the files of a data set from a folder or an address that mirrors the repository.

    Raises `RecordError` if a file is missing or is not as its digest says; `MissingExtra` if pooch is needed and absent.
    """
    if place.startswith(("http://", "https://")):
        _download(wanted, place.rstrip("/") + "/", directory)
        return
    root = Path(place)
    for file in wanted.files:
        make_folder((directory / file.name).parent, root=directory)
        try:
            digest = copied(root / file.name, directory / file.name, file.size, root, directory)
        except OSError as error:
            raise RecordError(f"{plain(file.name)} of {plain(place)}: {why(error)}") from error
        if digest != file.digest:
            raise RecordError(f"{plain(file.name)} of {plain(place)} is another file: its SHA-256 is {digest[:16]}…")


def _download(wanted: DataSet, address: str, directory: Path) -> None:
    try:
        import pooch
    except ImportError as error:
        raise MissingExtra("fetching from an address", "pooch", "data") from error
    library: Any = pooch  # whose types are incomplete
    digests = {file.name: f"sha256:{file.digest}" for file in wanted.files}
    shelf = library.create(path=directory, base_url=address, registry=digests)
    downloader = library.HTTPDownloader(timeout=PATIENCE_S, allow_redirects=False)
    for file in wanted.files:
        if shutil.disk_usage(directory).free < file.size:
            raise EnvironmentFailure(f"no room for {plain(file.name)}")
        try:
            shelf.fetch(file.name, downloader=downloader)
        except (OSError, ValueError) as error:
            reason = "is another file" if isinstance(error, ValueError) else plain(str(error).partition("\n")[0][:200])
            raise RecordError(f"{plain(file.name)} of {plain(address)}: {reason}") from error


PATIENCE_S = 30
"""Seconds that an address may say nothing. chosen: a slow mirror, and no dead one."""
