"""JSON schemas of files as editors want them: an identity, a title and examples for each key, and no text twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, cast

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The draft that SchemaStore and the language servers of TOML take."""

IDENTITY = "https://json.schemastore.org/sojourn-{}.json"
"""The `$id` of a schema. chosen: where SchemaStore keeps one under that name; nothing is fetched from there."""

MOST_EXAMPLES = 3
"""Examples of a key. chosen: a list that an editor shows at once."""

COMMON = {
    "schema": "version of the file format",
    "kind": "which of the kinds this table is",
    "profile": "values of a document or a program, of which keys beside it change some",
}
"""Descriptions of keys that many tables have."""

SHARED = "definitions"

Node = dict[str, Any]


def finished(schema: Node, kind: str, about: str, documents: Iterable[Node]) -> Node:
    """Return a schema for editors.

    Parameters
    ----------
    schema
        As it was made; it is changed.
    kind
        Kind of file: `scenario` or `study`.
    about
        What such a file is, in a sentence.
    documents
        Valid files, whose values are the examples.
    """
    schema.pop("$schema", None)
    _use_draft_7(schema)
    _title(schema)
    for document in documents:
        _exemplify(schema, schema, document)
    head = {"$schema": DRAFT, "$id": IDENTITY.format(kind), "title": f"Sojourn {kind} file", "description": about}
    whole = {**head, **_shared({name: value for name, value in schema.items() if name not in head})}
    _declare_required(whole)
    return whole


def _declare_required(schema: Node) -> None:
    """Name what a branch requires among its properties: Ajv's strict mode, which SchemaStore validates by, refuses it otherwise."""
    for node in list(_nodes(schema)):
        required = node.get("required")
        if isinstance(required, list):
            properties = node.setdefault("properties", {})
            for name in cast("list[str]", required):
                properties.setdefault(name, True)


def _nodes(value: object) -> Iterator[Node]:
    """Yield all tables below a value, and itself."""
    if isinstance(value, dict):
        yield cast("Node", value)
        for part in cast("Node", value).values():
            yield from _nodes(part)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from _nodes(part)


def _use_draft_7(schema: Node) -> None:
    """Write what the draft of 2020 calls otherwise in the words of draft 7."""
    if "$defs" in schema:
        schema[SHARED] = schema.pop("$defs")
    for node in _nodes(schema):
        if isinstance(node.get("$ref"), str):
            node["$ref"] = node["$ref"].replace("#/$defs/", f"#/{SHARED}/")
        if isinstance(node.get("prefixItems"), list):
            node["items"] = node.pop("prefixItems")
        # OpenAPI's; a property of that name is a table with a type.
        if "propertyName" in node.get("discriminator", ()):
            del node["discriminator"]


def _title(schema: Node) -> None:
    for node in _nodes(schema):
        properties = node.get("properties")
        if isinstance(properties, dict):
            for name, value in cast("dict[str, Node]", properties).items():
                if "$ref" not in value:
                    value["title"] = name.replace("_", " ")
                    value["description"] = value.get("description") or COMMON.get(name, "")


def _branches(root: Node, node: Node) -> Iterator[Node]:
    """Yield the tables that may describe a value of a node."""
    if isinstance(reference := node.get("$ref"), str):
        target: Any = root
        for part in reference.removeprefix("#/").split("/"):
            target = target[part]
        yield from _branches(root, target)
    yield node
    for word in ("anyOf", "oneOf", "allOf"):
        for branch in node.get(word, ()):
            yield from _branches(root, branch)


def _exemplify(root: Node, node: Node, value: object) -> None:
    """Add the values of a document to the keys that they are of."""
    for branch in list(_branches(root, node)):
        if isinstance(value, dict):
            for name, part in cast("Node", value).items():
                key = branch.get("properties", {}).get(name, branch.get("additionalProperties"))
                if isinstance(key, dict):
                    _note(cast("Node", key), part)
                    _exemplify(root, cast("Node", key), part)
        elif isinstance(value, list) and isinstance(branch.get("items"), dict):
            for part in cast("list[object]", value)[:MOST_EXAMPLES]:
                _exemplify(root, branch["items"], part)


def _note(key: Node, value: object) -> None:
    """Add an example, if the schema does not list all values in any case."""
    if (
        isinstance(value, str | int | float)
        and not isinstance(value, bool)
        and not {"$ref", "enum", "const"} & set(key)
    ):
        examples = key.setdefault("examples", [])
        if value not in examples and len(examples) < MOST_EXAMPLES:
            examples.append(value)


def _shared(schema: Node) -> Node:
    """Return the schema with references to parts that it has several times."""
    texts: dict[int, str] = {}
    counts: dict[str, int] = {}
    for node in _nodes(schema):
        if {"description", "anyOf", "properties", "pattern"} & set(node):
            text = texts[id(node)] = json.dumps(node, sort_keys=True)
            counts[text] = counts.get(text, 0) + 1
    names: dict[str, str] = {}
    parts: Node = {}

    def share(value: Any, *, at_top: bool = False) -> Any:  # noqa: ANN401 - any value of JSON
        if isinstance(value, list):
            return [share(part) for part in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        node = cast("Node", value)
        text = texts.get(id(node), "")
        if at_top or counts.get(text, 0) < 2 or len(text) < LEAST_SHARED:
            return {name: share(part) for name, part in node.items()}
        if text not in names:
            names[text] = f"part{len(names) + 1}"
            parts[names[text]] = share(node, at_top=True)
        return {"$ref": f"#/{SHARED}/{names[text]}"}

    made = share(schema, at_top=True)
    return {**made, SHARED: {**made.get(SHARED, {}), **parts}}


LEAST_SHARED = 80
"""Characters of a part from which on a reference is shorter."""
