"""The keys of scenario and study files as a list that can be searched by what people call things."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import sojourn._engine as _engine


@dataclass(frozen=True)
class KeyRow:
    """One key, or one kind or profile that a table may have."""

    file: str
    """`scenario` or `study`."""
    path: str
    """Its path; DIRECTION is upstream or downstream, NAME a traffic entry or another name of the user's."""
    kind: str
    """Kinds of the table that have it; empty if all do."""
    value: str
    """Type of its value, with its unit; of a kind or profile, its form."""
    default: str
    allowed: str
    about: str
    origin: str
    """Origin of the default."""

    @property
    def is_choice(self) -> bool:
        """True if this is a kind or a profile and no key."""
        return self.value.startswith(("kind = ", "profile = "))

    @property
    def name(self) -> str:
        """The last part of the path; of a kind or profile, its name."""
        return self.value.split('"')[1] if self.is_choice else self.path.rpartition(".")[2]

    def asdict(self) -> dict[str, str]:
        """Return the row for JSON."""
        return asdict(self)


@cache
def key_list() -> list[KeyRow]:
    """Return all keys, those of the scenario file first."""
    rows = [KeyRow("scenario", *row) for row in _engine.scenario_keys()]
    return [*_merged(rows), *_study_keys()]


@cache
def scenario_keys_once() -> list[KeyRow]:
    """Return the keys of scenario files, each told once: links and homes have the keys of the access link and of traffic."""
    rows = _merged([KeyRow("scenario", *row) for row in _engine.scenario_keys()])
    known = {(row.path, row.value, row.kind) for row in rows}
    return [row for row in rows if (_at_home(row.path), row.value, row.kind) not in known]


def synonyms() -> dict[str, list[str]]:
    """Return what people call things: for a word, names that are meant by it."""
    return dict(_engine.synonyms()) | EVERYDAY


def _merged(rows: list[KeyRow]) -> list[KeyRow]:
    """Tell a key once that several kinds of a table have in common: the default of most, and others with their kinds."""
    merged: dict[tuple[str, ...], list[KeyRow]] = {}
    for row in rows:
        same = (row.path, row.value, row.allowed, row.about, row.origin)
        merged[same] = [*merged.get(same, []), row] if row.kind else [row]
    return [_as_one(same) for same in merged.values()]


def _as_one(rows: list[KeyRow]) -> KeyRow:
    """Return rows of the same key of several kinds as one."""
    by_default: dict[str, list[str]] = {}
    for row in rows:
        by_default.setdefault(row.default, []).extend(row.kind.split(", "))
    usual = max(by_default, key=lambda default: len(by_default[default]))
    others = [f"{default} of {', '.join(kinds)}" for default, kinds in by_default.items() if default != usual]
    return replace(rows[0], kind=", ".join(row.kind for row in rows), default="; ".join([usual, *others]))


def described_study_schema() -> dict[str, Any]:
    """Return the schema of the study file as what reads it makes it, with a description of each key."""
    from sojourn.study.definition import StudyDefinition

    schema = StudyDefinition.model_json_schema(by_alias=True)
    texts = _field_texts()
    for name, node in [("StudyDefinition", schema), *schema.get("$defs", {}).items()]:
        for key, described in node.get("properties", {}).items():
            described.setdefault("description", texts.get(name, {}).get(key, ""))
    return schema


def _study_keys() -> Iterator[KeyRow]:
    schema = described_study_schema()
    definitions = cast("dict[str, Any]", schema.get("$defs", {}))
    yield from _merged(list(_properties(schema, definitions, "", "", ())))


def _field_texts() -> dict[str, dict[str, str]]:
    """Read the texts below the fields of all models of study files, by class and field, those of their bases included."""
    texts: dict[str, dict[str, str]] = {}
    room = Path(__file__).parent
    files = [*sorted((room.parent / "declarations").glob("*.py")), *sorted(room.glob("*.py"))]
    for path in sorted(files, key=lambda path: path.name != "base.py"):  # which others build on
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.ClassDef):
                continue
            fields = texts.setdefault(node.name, {})
            for base in node.bases:
                fields |= texts.get(base.id, {}) if isinstance(base, ast.Name) else {}
            for field, below in zip(node.body, node.body[1:], strict=False):
                if (
                    isinstance(field, ast.AnnAssign)
                    and isinstance(field.target, ast.Name)
                    and isinstance(below, ast.Expr)
                    and isinstance(below.value, ast.Constant)
                ):
                    names = [one.value for one in getattr(field.value, "keywords", []) if one.arg == "alias"]
                    for name in [field.target.id, *(one.value for one in names if isinstance(one, ast.Constant))]:
                        fields[str(name)] = " ".join(str(below.value.value).split())
    return texts


def _properties(
    node: dict[str, Any], definitions: dict[str, Any], path: str, kind: str, above: tuple[str, ...]
) -> Iterator[KeyRow]:
    required = node.get("required", [])
    for name, described in cast("dict[str, dict[str, Any]]", node.get("properties", {})).items():
        here = f"{path}.{name}" if path else name
        tables = list(_inner(described, definitions))
        about = described.get("description") or (tables[0][0].get("description", "") if len(tables) == 1 else "")
        about = about or (
            str(node.get("description", "")) if "const" in described else ""
        )  # a kind is what its table is
        default = described.get("default")
        yield KeyRow(
            file="study",
            path=here,
            kind=kind,
            value=_type_of(described),
            default="required"
            if name in required
            else ""
            if default in (None, "", [], {}) or isinstance(default, dict)
            else str(default),
            allowed=_bounds(described),
            about=_first_sentence(about),
            origin="",
        )
        for inner, suffix, reference in tables:
            if reference not in above:
                of_kind = str(inner.get("properties", {}).get("kind", {}).get("const", "")) if len(tables) > 1 else kind
                yield from _properties(inner, definitions, here + suffix, of_kind, (*above, reference))


def _inner(node: dict[str, Any], definitions: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield the tables that a value may be made of, how its path goes on, and their names in the schema."""
    for part in [node, *node.get("allOf", []), *node.get("anyOf", []), *node.get("oneOf", [])]:
        if "$ref" in part:
            name = str(part["$ref"]).rpartition("/")[2]
            yield definitions[name], "", name
        named = cast("dict[str, Any]", part.get("patternProperties", {})).values()
        children = [
            (part.get("items"), ""),
            *((child, ".NAME") for child in (part.get("additionalProperties"), *named)),
        ]
        for child, suffix in children:
            if isinstance(child, dict):
                for found, more, name in _inner(cast("dict[str, Any]", child), definitions):
                    yield found, suffix + more, name


_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "table",
}


def _type_of(node: dict[str, Any]) -> str:
    if "const" in node:
        return str(node["const"])
    if "enum" in node:
        return ", ".join(f'"{value}"' for value in node["enum"])
    if "type" in node:
        return _TYPES.get(str(node["type"]), str(node["type"]))
    if "$ref" in node or "allOf" in node:
        return "table"
    kinds = [_type_of(part) for part in [*node.get("anyOf", []), *node.get("oneOf", [])] if part.get("type") != "null"]
    return " or ".join(dict.fromkeys(kinds)) or "any value"


def _bounds(node: dict[str, Any]) -> str:
    return f"at least {node['minimum']}" if "minimum" in node else ""


def _first_sentence(text: str) -> str:
    return " ".join(re.split(r"\n\n", text, maxsplit=1)[0].split()).rstrip(".")


def outline() -> list[KeyRow]:
    """Return the keys that stand at the top and the tables below them, without their own keys, each told once."""
    rows = [
        row
        for row in key_list()
        if not row.kind
        and not row.is_choice
        and ("." not in row.path or (row.file == "scenario" and "table" in row.value))
    ]
    known = {row.path for row in rows}
    return [row for row in rows if _at_home(row.path) not in known]


def find_keys(asked: str) -> list[KeyRow]:
    """Return the keys below a path, or else those that a word may mean, best first.

    Parameters
    ----------
    asked
        A path such as `access.upstream.queue`, or words such as `bufferbloat`. What words find is named once: the
        same keys of links and homes are left out.
    """
    below = [row for row in key_list() if _stands_below(row, asked)]
    if below:
        return below
    return _search(asked)


def _stands_below(row: KeyRow, path: str) -> bool:
    wanted, present = path.split("."), row.path.split(".")
    if len(wanted) > len(present):
        return False
    return all(
        part == found
        or (found == "DIRECTION" and part in ("upstream", "downstream"))
        or (found == "NAME" and part not in _known_names())
        for part, found in zip(wanted, present, strict=False)
    )


@cache
def _known_names() -> frozenset[str]:
    return frozenset(part for row in key_list() for part in row.path.split("."))


EVERYDAY = {
    "bandwidth": ["rate", "peak"],
    "fairness": ["fq-codel", "sfq-codel", "sfq", "fq-pie", "quantum"],
    "jitter": ["start-jitter", "jitter", "sd"],
    "lag": ["rtt", "delay", "queue", "game", "online-game"],
    "tlv": ["target", "limit", "rate", "peak", "burst"],
    "wi-fi": ["conditions", "hold", "hold-packets", "jitter", "path"],
    "wifi": ["conditions", "hold", "hold-packets", "jitter", "path"],
}
"""Words for which no kind of the engine has a name of its own."""

_WIFI = (
    "`[wifi.NAME]` is a channel with its stations and neighbours (docs/models/wifi.md); a Wi-Fi that was measured is a [[link]] in the `path` of what"
    " passes it, with `conditions` that you say: `hold` and `hold_packets` are its turns to send, `rate` and `jitter` its changes. Roaming, power save,"
    " OFDMA and MU-MIMO are not modelled: docs/concepts/not-modelled.md"
)

REMARKS = {
    "tlv": "TLVs of CM configuration files are read, written and simulated by `sojourn provision`",
    "wi-fi": _WIFI,
    "wifi": _WIFI,
}
"""Notes beside the keys that a word finds."""


def _search(asked: str) -> list[KeyRow]:
    """Return rows whose name, or then whose text, has the word or one of its synonyms."""
    known = synonyms()
    words = [_folded(word) for word in asked.split()]
    wanted = {w for word in words for w in (word, *known.get(word, []))}
    ranked: list[tuple[int, int, KeyRow]] = []
    for number, row in enumerate(key_list()):
        name = _folded(row.name)
        text = _folded(f"{row.about} {row.value} {row.kind}")
        if name in wanted:
            rank = 0 if row.is_choice else 1
        elif row.value.startswith("kind = ") and _folded(row.path.rpartition(".")[2]) in words:
            rank = 1  # what a table of that name may be
        elif any(word in name for word in words):
            rank = 2
        elif any(re.search(rf"\b{re.escape(word)}", text) for word in words):
            rank = 3
        else:
            continue
        ranked.append((rank, number, row))
    found = {(row.path, row.value) for _, _, row in ranked}
    ranked = [item for item in ranked if (_at_home(item[2].path), item[2].value) not in found]
    best = min((rank for rank, _, _ in ranked), default=0)
    # Names that fit say it; texts that mention the word only count where no name does.
    most = 2 if best <= 2 else 3
    return [row for rank, _, row in sorted(ranked, key=lambda item: item[1]) if rank <= most]


def _at_home(path: str) -> str | None:
    """Return where a key of a link, a home or a manager behind another stands in the plainest scenario."""
    for several, one in (
        (r"link\.NAME\.(upstream|downstream)\b", "access.DIRECTION"),
        (r"home\.NAME\.access\.(upstream|downstream)\b", "access.DIRECTION"),
        (r"home\.NAME\.(traffic|load)\b", "traffic"),
        (r"load\.NAME\.stack\b", "traffic.NAME.stack"),
        (r"access\.DIRECTION\.service_flow\.NAME\.queue\b", "access.DIRECTION.queue"),
        (r"access\.DIRECTION\.service_flow\.NAME\.proactive\b", "access.DIRECTION.link.proactive"),
        (r"access\.DIRECTION\.queue\.manager\b", "access.DIRECTION.queue"),
        (r"wifi\.NAME\.(ap|station\.NAME)\.queue\b", "access.DIRECTION.queue"),
    ):
        if re.match(several, path):
            return re.sub(several, one, path, count=1)
    return None


def _folded(text: str) -> str:
    return text.lower().replace("_", "-")


def nearest_key(asked: str) -> str | None:
    """Return the name or path nearest to what was asked for."""
    names = {row.name for row in key_list()} | {row.path for row in key_list()}
    return _engine.nearest(asked, sorted(names))
