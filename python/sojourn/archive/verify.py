"""An RO-Crate verified: its files are as described, and its runs, made again here, have the same bits."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.api.run import run
from sojourn.archive.crate import copy_whole, read_crate
from sojourn.base.errors import RecordError, UsageError, plain
from sojourn.base.files import is_file, open_file, read_file
from sojourn.base.on_disk import read_listing, shape
from sojourn.scenario.scenario_file import Scenario, decoded
from sojourn.simulation.run_directory import is_run
from sojourn.store import Store
from sojourn.study.definition import load_definition
from sojourn.study.files import study_folder_of
from sojourn.study.library import Study
from sojourn.study.manifest import describe_source
from sojourn.study.plan import RunOptions, make_plan, only_runs
from sojourn.study.runner import Progress, run_study
from sojourn.study.write import write_table

_PIECE = 2**20


@dataclass(frozen=True)
class Verified:
    """Outcome of a verification."""

    files: int
    """Files that the crate describes."""
    compared: tuple[str, ...]
    """Files that were made again."""
    made_by: str
    """Version of the engine that made the crate."""
    here: str
    """Version of the engine here."""
    differences: tuple[str, ...]
    """A sentence for each file that is not as described, or came out otherwise."""

    @property
    def sentence(self) -> str:
        """The answer in a sentence."""
        other = "" if self.made_by == self.here else f"; it was made by {plain(self.made_by)}, and this is {self.here}"
        if self.differences:
            more = len(self.differences) - 1
            rest = f", and {more} more file{'s' if more > 1 else ''}" if more else ""
            return f"differs: {self.differences[0]}{rest}{other}"
        return (
            f"verified: {self.files} files are as described, and {len(self.compared)} of them, made again here, have the same "
            f"bits{other}"
        )


def verify_crate(directory: Path, *, jobs: int, memory: int | None, progress: Progress) -> Verified:
    """Check the files of a crate, make its runs again, and compare.

    No code of the crate runs: a study's module is left out, and a crate with runs of a plugin is refused.

    Raises `RecordError` if it is no crate of a result; `UsageError` if it has runs of a plugin.
    """
    listed = read_crate(directory)
    with tempfile.TemporaryDirectory() as place:
        crate, again = Path(place) / "crate", Path(place) / "again"
        crate.mkdir()
        wrong = copy_whole(directory, listed, crate)
        if first := next((sentence for sentence in wrong if sentence.startswith("manifest.json")), ""):
            raise RecordError(first, "without it, nothing says what to make again")
        manifest = read_listing(crate, "manifest.json")
        if manifest.get("plugins"):
            raise UsageError(
                "the crate has runs of a plugin, whose code it does not have", "make the study again with --plugin"
            )
        if is_run(crate):
            again.mkdir()
            _run_again(crate, manifest, again, memory)
        else:
            _study_again(crate, manifest, again, Store(Path(place) / "store"), jobs, memory, progress)
        known = {one.name for one in listed}
        made = [name for name in _made(again) if name in known]
        missing = sorted(name for name in known - set(made) if _is_made(name))
        compared = [difference for name in made if (difference := _difference(crate / name, again / name, name, place))]
        lost = [f"{plain(name)} was not made again" for name in missing]
    told = {sentence.partition(" ")[0].rstrip(":") for sentence in compared}
    wrong = [sentence for sentence in wrong if sentence.partition(" ")[0].rstrip(":") not in told]
    here = str(describe_source()["engine_version"])
    return Verified(len(listed), tuple(made), str(manifest.get("engine_version")), here, (*compared, *lost, *wrong))


def _run_again(crate: Path, manifest: dict[str, Any], again: Path, memory: int | None) -> None:
    seed = manifest.get("seed")
    if not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise RecordError("manifest.json: seed is no seed")
    text = decoded(read_file(crate / "scenario.toml", root=crate))
    made = run(Scenario.parse(text), seed, memory=memory, watch=lambda _: None)
    for name, table in made.tables.items():
        write_table(table, again / f"{name}.parquet")


def _study_again(
    crate: Path, manifest: dict[str, Any], again: Path, store: Store, jobs: int, memory: int | None, progress: Progress
) -> None:
    path = study_folder_of(crate) / "study.toml"
    definition = load_definition(path, root=crate)
    base = crate / "scenarios" / Path(definition.scenario).name
    study = Study(path, definition, base, decoded(read_file(base, root=crate)), builtin=False)
    run_study(
        make_plan(study, _options(manifest), only_runs),
        store,
        out=again,
        jobs=jobs,
        memory=memory,
        progress=progress,
        finish=lambda _: None,
    )


_OPTIONS: dict[str, Any] = {"points": list[str], "seeds": int | None, "duration": str | None, "precision": str | None}
"""Options of a study that a manifest keeps, with their types."""


def _options(manifest: dict[str, Any]) -> RunOptions:
    kept, wrong = shape(manifest, {"options": dict[str, Any], "quick": bool})
    options, more = shape(kept.get("options", {}), _OPTIONS)
    if wrong or more:
        raise RecordError(f"manifest.json: {', '.join([*wrong, *more])} of the study cannot be read")
    points: list[str] = options.get("points", [])
    return RunOptions(
        tuple(points),
        options.get("seeds"),
        options.get("duration"),
        quick=kept.get("quick", False),
        precision=options.get("precision"),
    )


def _is_made(name: str) -> bool:
    """Return whether a file of a result is made of its runs alone, with the same bytes each time."""
    return (name.endswith(".parquet") and name != "runs.parquet") or name == "summary.csv"


def _made(again: Path) -> Iterator[str]:
    for path in sorted(again.rglob("*")):
        name = path.relative_to(again).as_posix()
        if path.is_file() and _is_made(name):
            yield name


def _difference(one: Path, other: Path, name: str, place: str) -> str:
    """Return where two files differ first; empty if nowhere."""
    if not is_file(one, root=Path(place)):
        return f"{plain(name)}: the file is missing"
    at = 0
    with open_file(one, root=Path(place)) as kept, open_file(other, root=Path(place)) as made:
        while True:
            left, right = kept.read(_PIECE), made.read(_PIECE)
            if left != right:
                pairs = enumerate(zip(left, right, strict=False))
                first = next((n for n, (a, b) in pairs if a != b), min(len(left), len(right)))
                told = [f"0x{side[first]:02x}" if first < len(side) else "the end" for side in (left, right)]
                return f"{plain(name)} differs from byte {at + first} on: {told[0]} in the crate, {told[1]} when made again"
            if not left:
                return ""
            at += len(left)
