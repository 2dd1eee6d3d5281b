"""Provenance of a result: version, commit, machine, seeds, scenarios."""

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sojourn._engine as _engine
from sojourn.base.files import write_file
from sojourn.linux.build import described
from sojourn.study.library import Study
from sojourn.study.plan import Plan, RunOptions
from sojourn.version import VERSION


def describe_source() -> dict[str, Any]:
    """Return version, engine version, and commit and dirty flag if the package runs from a checkout."""
    return {
        "version": VERSION,
        "engine_version": _engine.engine_version(),
        **_checkout(Path(__file__).resolve().parents[3]),
    }


def _checkout(root: Path) -> dict[str, Any]:
    unknown: dict[str, Any] = {"commit": None, "dirty": None}
    if not (root / "Cargo.toml").exists() or not (root / ".git").exists():
        return unknown
    try:
        commit = _git(root, "rev-parse", "HEAD")
        changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return unknown
    return {"commit": commit.strip(), "dirty": bool(changes.strip())}


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout


def describe_machine() -> dict[str, Any]:
    """Return what the runs ran on."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        "byte_order": sys.byteorder,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def make_manifest(plan: Plan, *, started_at: datetime, measured: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a finished study.

    Parameters
    ----------
    plan
        What was run.
    started_at
        When.
    measured
        Totals of the runs, and how they were executed.
    """
    points = {
        item.point.name: {
            "scenario_sha256": item.scenario_hash,
            "duration_s": item.scenario.duration_s,
            "overlays": list(item.point.overlays),
            "labels": item.point.labels,
        }
        for item in plan.points
    }
    about = describe_study(plan.study, plan.options, plan.seeds, plan.reduced, started_at=started_at)
    if digests := {item.scenario.kernel for item in plan.points} - {""}:
        about["kernels"] = [described(digest) for digest in sorted(digests)]
    return {**about, **measured, "points": points}


def describe_study(
    study: Study, options: RunOptions, seeds: list[int], reduced: str, *, started_at: datetime
) -> dict[str, Any]:
    """Return what a manifest says of a study beside its points and runs."""
    return {
        "schema": 1,
        "study": study.definition.name,
        "title": study.definition.title,
        "builtin": study.builtin,
        "quick": options.quick,
        "reduced": reduced,
        "options": {
            "points": list(options.points),
            "seeds": options.seeds,
            "duration": options.duration,
            "settings": list(study.settings),
        },
        **describe_source(),
        "started_at": started_at.astimezone(UTC).isoformat(timespec="seconds"),
        "machine": describe_machine(),
        "seeds": seeds,
        "label_units": study.definition.label_units(),
        "plugins": {
            plugin.name: {
                "file": plugin.file,
                "sha256": plugin.sha256,
                "added": plugin.name in study.added,
                "stack": plugin.is_stack,
            }
            for plugin in study.plugins
        },
    }


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file for people and programs."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    write_file(path, text + "\n")
