"""Plugins as competitors: one more value of each axis of queue managers, unless the study names them itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from sojourn.base.errors import UsageError
from sojourn.base.toml_text import parse_toml
from sojourn.plugins import named_in
from sojourn.study.axes import KeyAxis

if TYPE_CHECKING:
    from sojourn.plugins import Plugin
    from sojourn.study.definition import StudyDefinition
    from sojourn.study.library import Study


def with_plugins(study: Study, plugins: Sequence[Plugin]) -> Study:
    """Let plugins compete in a study.

    A plugin that the study asks for by `{ kind = "plugin", name = "NAME" }` stands where the study puts it. Any other
    becomes one more value of each axis whose key is a queue.

    Raises `UsageError` if two plugins have one name, or there is no place for one.
    """
    if not plugins:
        return study
    names = [plugin.name for plugin in plugins]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f'two plugins are called "{name}"', "rename one of the files")
    asked_for = set(named_in([study.definition.model_dump(), parse_toml(study.base)]))
    added = [name for name in names if name not in asked_for]
    for plugin in plugins:
        plugin.announce()
    matrices = [matrix for _, matrix in study.definition.matrices()]
    axes = [axis for matrix in matrices for axis in matrix.axes.values()]
    queues = [axis for axis in axes if _is_of_queues(axis)]
    if added and not queues:
        raise UsageError(
            f'{study.definition.name} has no place for the plugin "{added[0]}": no axis has values for a queue',
            f'write {{ kind = "plugin", name = "{added[0]}" }} where the study shall have it',
        )
    for name in added:
        for axis in queues:
            if name in (cast("KeyAxis", axis).values or []):
                raise UsageError(f'the study has a queue manager "{name}" already', "rename the plugin's file")
    definition = with_competitors(study.definition, added)
    return replace(study, definition=definition, plugins=tuple(plugins), added=tuple(added))


def with_competitors(definition: StudyDefinition, names: Sequence[str]) -> StudyDefinition:
    """Return a study with plugins as further values of each axis of queues."""
    if not names:
        return definition

    def longer(axis: list[str] | KeyAxis) -> list[str] | KeyAxis:
        if not isinstance(axis, KeyAxis) or not _is_of_queues(axis):
            return axis
        more = [{"kind": "plugin", "name": name} for name in names]
        return axis.model_copy(update={"values": [*(axis.values or []), *more]})

    axes = {name: longer(axis) for name, axis in definition.axes.items()}
    matrices = [
        one.model_copy(update={"axes": {name: longer(axis) for name, axis in one.axes.items()}})
        for one in definition.matrix
    ]
    return definition.model_copy(update={"axes": axes, "matrix": matrices})


def _is_of_queues(axis: list[str] | KeyAxis) -> bool:
    """Return whether all that varies along an axis are queue managers, and it lists them."""
    return (
        isinstance(axis, KeyAxis)
        and axis.values is not None
        and all(key.split(".")[-1] == "queue" for key in axis.targets)
    )
