"""Provenance of a result as rows of a table: version, commit, seeds, machine, totals, hashes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sojourn.study.result import StudyResult


def provenance(result: StudyResult) -> list[tuple[str, str]]:
    """Return name and value of everything that is known."""
    return [(name, value) for name, value in _rows(result) if value]


def _rows(result: StudyResult) -> Iterator[tuple[str, str]]:
    manifest = result.manifest
    yield "study", f"{result.name}{f', {result.reduced} run' if result.reduced else ''}"
    options: dict[str, Any] = manifest.get("options") or {}
    yield "set", "; ".join(str(setting) for setting in options.get("settings") or ())
    plugins: dict[str, dict[str, Any]] = manifest.get("plugins") or {}
    for name, about in plugins.items():
        yield f"plugin {name}", f"{about.get('file')}, SHA-256 {about.get('sha256')}"
    yield "source", result.definition.source
    yield "version", _text(manifest.get("version"))
    yield "engine", _text(manifest.get("engine_version"))
    yield "commit", _commit(manifest)
    yield "started", _text(manifest.get("started_at"))
    counts = [stop.seeds for stop in result.stopped.values()]
    if counts:
        yield "seeds", f"{min(counts)} to {max(counts)} of each point, by precision"
    else:
        yield "seeds", _seeds(manifest.get("seeds"))
    runs = result.runs
    yield "runs", f"{runs.height} runs of {runs['point'].n_unique()} points"
    yield "simulated", f"{float(runs['simulated_s'].sum()):,.0f} s"
    yield "computed", f"{float(runs['wall_s'].sum()):,.1f} s over all runs"
    yield "packet-hops", f"{int(runs['packet_hops'].sum()):,}"
    machine: dict[str, Any] = manifest.get("machine") or {}
    words = [machine.get(key) for key in ("processor", "system", "release", "architecture")]
    cores = machine.get("cores")
    yield ("machine", ", ".join([*(str(w) for w in words if w), *([f"{cores} cores"] if cores else [])]))
    yield "Python", _text(machine.get("python"))


def scenario_hashes(result: StudyResult) -> list[tuple[str, str]]:
    """Return each point with the hash of its scenario."""
    points: dict[str, Any] = result.manifest.get("points") or {}
    return [(name, str(entry.get("scenario_sha256", ""))) for name, entry in points.items()]


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _commit(manifest: dict[str, Any]) -> str:
    commit = manifest.get("commit")
    if not commit:
        return ""
    return f"{commit}{' with local changes' if manifest.get('dirty') else ''}"


def _seeds(seeds: object) -> str:
    if isinstance(seeds, list):
        return ", ".join(str(seed) for seed in seeds)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return _text(seeds)
