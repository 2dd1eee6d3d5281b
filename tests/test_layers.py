"""Modules import downwards only: a room knows what is below it, and no two modules know each other."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "python" / "sojourn"

LAYERS = """
    __main__
    cli
    homes
    advice published
    aqm archive congestion emulation nqb scores serve
    calibration judging
    field
    provisioning
    api
    report
    answers
    cluster
    study
    plugins
    simulation
    store
    scenario
    declarations plots
    captures headline linux traces
    process stats
    base version
"""
"""Rooms from the top; those of one line do not know each other."""

HEIGHTS = {room: -depth for depth, line in enumerate(LAYERS.strip().splitlines()) for room in line.split()}


def modules() -> dict[str, Path]:
    """Return the files of all modules by their names; the face of the package is none of them."""
    found: dict[str, Path] = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {name: path for name, path in found.items() if name != "sojourn"}


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Return the modules that a file imports, wherever in it, and for types alone, too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def arrows() -> dict[str, set[str]]:
    """Return what each module of the package imports of it."""
    known = modules()
    return {name: set(imported(path, known)) & {*known, "sojourn"} for name, path in known.items()}


def room(module: str) -> str:
    """Return the folder or file of the package that holds a module."""
    return module.split(".")[1]


def test_every_room_has_a_layer() -> None:
    assert {room(module) for module in modules()} == set(HEIGHTS)


def test_no_module_imports_from_a_room_above_or_beside_its_own() -> None:
    upwards = [
        f"{module} imports {target}"
        for module, targets in arrows().items()
        for target in sorted(targets - {"sojourn"})
        if room(target) != room(module) and HEIGHTS[room(target)] >= HEIGHTS[room(module)]
    ]
    assert upwards == []


def test_no_module_imports_the_face_of_the_package() -> None:
    assert [module for module, targets in arrows().items() if "sojourn" in targets] == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter(arrows()).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))
