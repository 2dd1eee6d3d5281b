"""Plugins as competitors: one more value of each axis of queue managers, or of stacks, unless the study names them itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
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
    becomes one more value of each axis whose key is a queue, or a stack if it is a library of transports.

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
    competitors = [_Competitor(plugin.name, is_stack=plugin.is_stack) for plugin in plugins if plugin.name in added]
    for one in competitors:
        places = [axis for axis in axes if one.has_place_in(axis)]
        if not places:
            raise UsageError(
                f'{study.definition.name} has no place for the plugin "{one.name}": no axis has values for a {one.key}',
                f'write {{ kind = "{one.kind}", name = "{one.name}" }} where the study shall have it',
            )
        if any(one.name in (cast("KeyAxis", axis).values or []) for axis in places):
            raise UsageError(f'the study has a {one.noun} "{one.name}" already', "rename the plugin's file")
    definition = with_competitors(study.definition, added, {one.name for one in competitors if one.is_stack})
    return replace(study, definition=definition, plugins=tuple(plugins), added=tuple(added))


@dataclass(frozen=True)
class _Competitor:
    """A plugin that no file of the study asks for."""

    name: str
    is_stack: bool

    @property
    def key(self) -> str:
        """Last part of the keys that it may be a value of."""
        return "stack" if self.is_stack else "queue"

    @property
    def kind(self) -> str:
        """Kind by which scenarios ask for it."""
        return "library" if self.is_stack else "plugin"

    @property
    def noun(self) -> str:
        """Values of such keys, in words."""
        return "stack" if self.is_stack else "queue manager"

    def has_place_in(self, axis: list[str] | KeyAxis) -> bool:
        """Return whether all that varies along an axis are such values, and it lists them."""
        return (
            isinstance(axis, KeyAxis)
            and axis.values is not None
            and all(key.split(".")[-1] == self.key for key in axis.targets)
        )


def with_competitors(
    definition: StudyDefinition, names: Sequence[str], stacks: Collection[str] = ()
) -> StudyDefinition:
    """Return a study with plugins as further values of each axis that has a place for them; `stacks` are those that are stacks."""
    competitors = [_Competitor(name, is_stack=name in stacks) for name in names]
    if not competitors:
        return definition

    def longer(axis: list[str] | KeyAxis) -> list[str] | KeyAxis:
        more = [{"kind": one.kind, "name": one.name} for one in competitors if one.has_place_in(axis)]
        if not more or not isinstance(axis, KeyAxis):
            return axis
        return axis.model_copy(update={"values": [*(axis.values or []), *more]})

    axes = {name: longer(axis) for name, axis in definition.axes.items()}
    matrices = [
        one.model_copy(update={"axes": {name: longer(axis) for name, axis in one.axes.items()}})
        for one in definition.matrix
    ]
    return definition.model_copy(update={"axes": axes, "matrix": matrices})
