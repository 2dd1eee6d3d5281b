"""From a folder of measurement files to one table of tests.

Every file is either imported or named with the reason why not; nothing in a file is
executed. Two files with the same content count once.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.base import files
from sojourn.base.errors import RecordError, UsageError, plain
from sojourn.base.formulas import no_formula, without_formulas
from sojourn.base.on_disk import read_table
from sojourn.base.output import new_directory, writing
from sojourn.field.flent import looks_like_flent, read_flent
from sojourn.field.iperf3 import end_of, looks_like_iperf3, other_ends, read_iperf3
from sojourn.field.irtt import looks_like_irtt, read_irtt
from sojourn.field.labels import Labelling
from sojourn.field.reading import LARGEST_TEXT, Unreadable, content_of, document_of, read_document
from sojourn.field.records import SCHEMA, FieldTest, frame_of_tests
from sojourn.study.write import write_table

TESTS = "tests.parquet"

RATIO = 100
"""Bytes of an upload's text for each byte that was sent, at most; chosen: results of Flent pack to a tenth, and a
text that packs to a thousandth says one thing again and again."""

SMALL_TEXT = 2**20
"""Bytes that may come of any upload, however short."""

_READERS: tuple[tuple[Callable[[dict[str, Any]], bool], Callable[[dict[str, Any], str], list[FieldTest]]], ...] = (
    (looks_like_flent, read_flent),
    (looks_like_iperf3, read_iperf3),
    (looks_like_irtt, read_irtt),
)


@dataclass(frozen=True)
class Imported:
    """Result of an import."""

    tests: pl.DataFrame
    files: int
    skipped: tuple[tuple[str, str], ...] = field(default=())
    """File and reason, in the order of the files."""


def read_file(path: Path, name: str) -> list[FieldTest]:
    """Return the tests in one file of any known tool.

    Raises `Unreadable` if it is not a measurement, or a damaged one.
    """
    return _tests_in(read_document(path), name)


def read_upload(body: bytes, file: str, probe: str) -> list[FieldTest]:
    """Return the tests in a measurement file; the token says who measured, whatever the file does.

    Raises `Unreadable` if it is none, or one that unpacks to much more than measurements do.
    """
    most = min(LARGEST_TEXT, max(SMALL_TEXT, RATIO * len(body)))
    return [replace(test, probe=probe) for test in _tests_in(document_of(body, most), file)]


def _tests_in(document: dict[str, Any], name: str) -> list[FieldTest]:
    for recognises, read in _READERS:
        if recognises(document):
            return [within_bounds(test) for test in read(document, name)]
    raise Unreadable("is JSON of no tool that is known here (Flent, iperf3, irtt)")


LONGEST_TEXT = 300
"""Characters of a name, treatment or zone; chosen: Flent's longest title of real trials has a fifth of it."""

YEARS = range(1990, 2101)
"""Years of a test; chosen: before them no tool that is read here measured, and a later one is a wrong clock."""

LARGEST_RATE_MBPS = 1e7
"""chosen: ten times the fastest access line that any scenario may have."""

LONGEST_DELAY_MS = 3.6e6
"""An hour; chosen: longer than any tool waits for an answer."""


def within_bounds(test: FieldTest) -> FieldTest:
    """Return a test whose values some line and some clock can have: every row, page and export carries them."""
    for name in ("latency_kind", "treatment", "zone", "flags", "test", "tool"):
        if (length := len(getattr(test, name))) > LONGEST_TEXT:
            raise Unreadable(f"has {length:,} characters as its {name}; {LONGEST_TEXT} are the most")
    if test.time.year not in YEARS:
        raise Unreadable(f"is of the year {test.time.year}; tests are of {YEARS[0]} to {YEARS[-1]}")
    for name, most, unit in (
        ("throughput_mbps", LARGEST_RATE_MBPS, "Mb/s"),
        ("throughput_grid_mbps", LARGEST_RATE_MBPS, "Mb/s"),
        ("latency_ms", LONGEST_DELAY_MS, "ms"),
    ):
        value = getattr(test, name)
        if value is not None and not abs(value) <= most:
            raise Unreadable(f"has {value:.3g} {unit} as its {name.rpartition('_')[0]}; {most:.3g} is the most")
    return test


def import_files(
    source: Path, labelling: Labelling | None = None, progress: Callable[[int, int], None] = lambda _done, _total: None
) -> Imported:
    """Read every file below a folder, or one file.

    Raises `UsageError` if there is no such folder or file.

    Parameters
    ----------
    source
        Folder or file.
    labelling
        What is said of the tests beside the files.
    progress
        Told after each file: how many are done, of how many.
    """
    paths = measurement_files(source)
    read: dict[str, list[FieldTest]] = {}
    skipped: list[tuple[str, str]] = []
    seen: dict[bytes, str] = {}
    ends: dict[str, tuple[str, bool]] = {}
    for done, (path, name) in enumerate(paths, start=1):
        try:
            content = content_of(path)
            document = document_of(content)
            found = _tests_in(document, name)
            first = seen.setdefault(hashlib.sha256(content).digest(), name)
            if first == name:
                read[name] = found
                if (end := end_of(document)) is not None:
                    ends[name] = end
            else:
                skipped.append((name, f"has the content of {first}"))
        except Unreadable as reason:
            skipped.append((name, str(reason)))
        progress(done, len(paths))
    for name, client in other_ends(ends):
        del read[name]
        skipped.append((name, f"is the server's end of the test in {client}"))
    tests = [test for found in read.values() for test in found]
    if labelling is not None:
        tests = labelling.apply(tests)
    return Imported(frame_of_tests(tests), len(paths), tuple(skipped))


def measurement_files(source: Path) -> list[tuple[Path, str]]:
    """Return every file below a folder, or one file, with its name below it.

    Raises `UsageError` if there is no such folder or file.
    """
    if not source.exists():
        raise UsageError(f"there is no {source}", "a folder of .flent.gz, iperf3 or irtt files")
    root = source if source.is_dir() else source.parent
    paths = [source] if source.is_file() else source.rglob("*")
    return [
        (path, plain(path.relative_to(root).as_posix()))  # the system has names that are no text
        for path in sorted(paths)
        if path == source or (path.is_file() and not path.name.startswith(".") and path.suffix not in {".md", ".csv"})
    ]


def write_imported(imported: Imported, directory: Path, source: Path) -> None:
    """Write `tests.parquet`, `tests.csv`, `skipped.csv` and `manifest.json` into a new directory.

    Raises `UsageError` if the directory is in use.
    """
    from sojourn.version import VERSION

    with new_directory(directory) as unfinished, writing(directory):
        write_table(imported.tests, unfinished / TESTS)
        files.write_file(unfinished / "tests.csv", without_formulas(imported.tests).write_csv())
        skipped = io.StringIO()
        rows = [("file", "reason"), *imported.skipped]
        csv.writer(skipped).writerows([no_formula(cell) for cell in row] for row in rows)
        files.write_file(unfinished / "skipped.csv", skipped.getvalue())
        manifest = {
            "kind": "trial",
            "version": VERSION,
            "source": str(source),
            "files": imported.files,
            "tests": imported.tests.height,
            "skipped": len(imported.skipped),
        }
        files.write_file(unfinished / "manifest.json", json.dumps(manifest, indent=2) + "\n")


def read_imported(directory: Path) -> pl.DataFrame:
    """Return the tests that an import wrote.

    Raises `UsageError` if the directory holds no import; `RecordError` if its table is damaged.
    """
    if not (directory / TESTS).exists():
        raise UsageError(f"{directory} holds no imported tests", "sojourn trial import PATH --out DIR")
    try:
        return read_table(directory, TESTS, {}, only=SCHEMA)
    except RecordError as error:
        raise RecordError(f"{directory}: {error.message}", "import the files again") from error
