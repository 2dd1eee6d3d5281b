"""A result or a run as an RO-Crate: its files with digests, what made them, and how to make them again.

Source: RO-Crate Metadata Specification 1.1; Process Run Crate for the action.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.archive.crate import METADATA, MOST_FILES
from sojourn.base.errors import MissingExtra, RecordError, UsageError, plain
from sojourn.base.files import open_file
from sojourn.base.on_disk import read_listing
from sojourn.simulation.run_directory import is_run

NO_LICENCE = "#licence"
"""Identity of the entity that says that no licence is stated."""

KINDS = {
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".toml": "application/toml",
    ".csv": "text/csv",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".md": "text/markdown",
}
"""Media types by the ends of names."""


@dataclass(frozen=True)
class Credit:
    """The author of a result, and the terms on which others may use it."""

    licence: str = ""
    """Address of a licence; none is stated if empty."""
    author: str = ""


def export_crate(result: Path, directory: Path, credit: Credit) -> int:
    """Write a result or a run as an RO-Crate into a directory; return the number of its files.

    Raises `RecordError` if there is no result; `MissingExtra` if rocrate is not installed; `UsageError` if it has too many
    files.
    """
    manifest = read_listing(result, "manifest.json")
    if not isinstance(manifest.get("engine_version"), str):
        raise RecordError(
            f"{plain(result)} is not the result of a study or the directory of a run", "sojourn run --out DIR"
        )
    try:
        from rocrate.model.contextentity import ContextEntity
        from rocrate.rocrate import ROCrate
    except ImportError as error:
        raise MissingExtra("exporting an RO-Crate", "rocrate", "crate") from error
    single = is_run(result)
    name = str(manifest.get("scenario") if single else manifest.get("title") or manifest.get("study"))
    crate: Any = ROCrate(version="1.1")
    crate.metadata.extra_terms["sha256"] = "https://schema.org/sha256"
    crate.name = name
    crate.description = f"{'A run' if single else 'A study'} of Sojourn: scenario, seeds, records and page."
    if "started_at" in manifest:
        crate.datePublished = str(manifest["started_at"])
    licence = {"@type": "CreativeWork", "name": credit.licence or "No licence is stated: ask the author."}
    crate.license = crate.add(ContextEntity(crate, credit.licence or NO_LICENCE, properties=licence))
    if credit.author:
        crate.creator = crate.add(
            ContextEntity(crate, "#author", properties={"@type": "Person", "name": credit.author})
        )
    files: list[Any] = []
    for path in _files(result):
        inner = path.relative_to(result).as_posix()
        with open_file(path, root=result) as file:
            digest, size = hashlib.file_digest(file, "sha256").hexdigest(), os.fstat(file.fileno()).st_size
        kind = KINDS.get(path.suffix, "application/octet-stream")
        told = {"name": inner, "sha256": digest, "contentSize": str(size), "encodingFormat": kind}
        files.append(crate.add_file(str(path), inner, properties=told))
    inputs = [file for file in files if file.id.endswith((".toml", ".md"))]
    engine = crate.add(ContextEntity(crate, "#sojourn", properties=_software(manifest)))
    crate.root_dataset["mentions"] = crate.add_action(
        engine,
        "#run",
        object=inputs,
        result=[file for file in files if file not in inputs],
        properties={
            "@type": "CreateAction",
            "name": name,
            "description": f"sojourn verify makes it again; seeds {_seeds(manifest)}",
            "endTime": str(crate.datePublished),
        },
    )
    crate.write(directory)
    return len(files)


def _software(manifest: dict[str, Any]) -> dict[str, str]:
    return {
        "@type": "SoftwareApplication",
        "name": "Sojourn",
        "version": str(manifest.get("version", "")),
        "softwareVersion": str(manifest["engine_version"]),
        "identifier": str(manifest.get("commit") or ""),
    }


def _seeds(manifest: dict[str, Any]) -> str:
    seeds = manifest.get("seeds", [manifest.get("seed")])
    return ", ".join(map(str, seeds[:8])) + (f" and {len(seeds) - 8} more" if len(seeds) > 8 else "")


def _files(result: Path) -> list[Path]:
    """Return the files of a result; links and an older description are left out."""
    found: list[Path] = []
    for folder, folders, names in os.walk(result, followlinks=False):
        folders.sort()
        found += [Path(folder) / name for name in sorted(names) if name != METADATA]
        if len(found) > MOST_FILES:
            raise UsageError(
                f"{plain(result)} has more than {MOST_FILES} files", "a result of a study, or the directory of a run"
            )
    return [path for path in found if not path.is_symlink()]
