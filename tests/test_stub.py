"""The stub of the compiled module says what the module has."""

import ast
import inspect
from pathlib import Path

import pytest

import sojourn
from sojourn import _engine

STUB = ast.parse((Path(sojourn.__file__).parent / "_engine.pyi").read_text())
TYPE_ONLY = {"ArrowStream", "Problem", "RunStatistics", "BenchWorld", "ExpansionChoices"}
"""Names that exist for type checkers only."""
BEHIND_PROTOCOLS = {"ArrowTable"}
"""Classes of the module whose objects the stub describes by what they can do."""

FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name not in TYPE_ONLY}
CONSTANTS = {
    node.target.id for node in STUB.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
}


def test_the_module_has_what_the_stub_names_and_little_else() -> None:
    public = {name for name in dir(_engine) if not name.startswith("_")}
    assert public == set(FUNCTIONS) | set(CLASSES) | BEHIND_PROTOCOLS | CONSTANTS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_what_the_stub_says(name: str) -> None:
    arguments = FUNCTIONS[name].args
    expected = [argument.arg for argument in arguments.args]
    signature = inspect.signature(getattr(_engine, name))
    assert list(signature.parameters) == expected
    optional = [p for p in signature.parameters.values() if p.default is not inspect.Parameter.empty]
    assert len(optional) == len(arguments.defaults)


@pytest.mark.parametrize("name", CLASSES)
def test_classes_have_what_the_stub_says(name: str) -> None:
    present: list[str] = dir(getattr(_engine, name))
    members = {
        node.name for node in CLASSES[name].body if isinstance(node, ast.FunctionDef) and node.name != "__init__"
    }
    assert members <= set(present)
    if not issubclass(getattr(_engine, name), BaseException):
        assert {member for member in present if not member.startswith("_")} <= members
