"""Names that a version promises, and those of the last version that are gone without a word in the changelog.

usage: .venv/bin/python tools/promises.py            say what is gone; exit status 1 if something is
       .venv/bin/python tools/promises.py --write    keep the names of this version, as a step of making one

The names of the last version stand in tests/promises.txt: keys and words of scenario and study files, metrics, tables and
columns, commands and options, Python names with their parameters, functions and fields of the C header. docs/reference/promises.md
says what may change when.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import sojourn
from sojourn import _engine
from sojourn.cli.app import COMMANDS, parser_of
from sojourn.study.definition import SUMMARY_COLUMNS
from sojourn.study.key_list import key_list, scenario_keys_once
from sojourn.study.result import METRICS_SCHEMA
from sojourn.version import VERSION

ROOT = Path(__file__).resolve().parent.parent
KEPT, CHANGELOG = ROOT / "tests" / "promises.txt", ROOT / "CHANGELOG.md"
ANNOUNCED = "### Renamed and removed"

Name = tuple[str, str]
"""Kind of a name, and the name, without spaces."""


def names() -> set[Name]:
    """Return all names that this version has."""
    return {*_keys(), *_records(), *_commands(), *_python(), *_c()}


def _keys() -> Iterator[Name]:
    for row in [*scenario_keys_once(), *(row for row in key_list() if row.file == "study")]:
        where = f"{row.file} file"
        for kind in row.kind.split(", "):
            place = f"{row.path}, {kind}" if kind else row.path
            if row.is_choice:
                yield f"{where}, {row.value.partition(' ')[0]}s of {place}", row.name
                continue
            parent, _, name = row.path.rpartition(".")
            owner = ", ".join(part for part in (parent, kind) if part)
            yield f"{where}, keys of {owner or 'all'}", name
            for word in re.findall(r'"([\w.-]+)"', row.value):
                yield f"{where}, words of {row.path}", word


def _records() -> Iterator[Name]:
    for metric in _engine.metric_schemas():
        yield f"metrics in {metric['unit'] or 'no unit'}", metric["name"]
    for table in _engine.table_schemas():
        for column in table["columns"]:
            yield f"columns of {table['name']} in {column['unit'] or 'no unit'}", column["name"]
    for file, columns in (("metrics.parquet", METRICS_SCHEMA), ("summary.csv", SUMMARY_COLUMNS)):
        for column in columns:
            yield f"columns of {file} of a result", column


def _commands() -> Iterator[Name]:
    for words in COMMANDS:
        yield "commands", words.replace(" ", "-")
        for action in parser_of(words).declared:
            for option in {*action.option_strings} - {"-h", "--help"}:
                yield f"options of {words}", option


def _python() -> Iterator[Name]:
    for name in sojourn.__all__:
        thing = getattr(sojourn, name)
        yield "Python names of sojourn", name
        if inspect.isclass(thing):
            members = {*dir(thing), *getattr(thing, "__dataclass_fields__", ())} - {*dir(Exception)}
            for member in members:
                if not member.startswith("_"):
                    yield f"Python names of sojourn.{name}", member
                    yield from _parameters(f"{name}.{member}", inspect.getattr_static(thing, member, None))
        else:
            yield from _parameters(name, thing)


def _parameters(name: str, thing: object) -> Iterator[Name]:
    function = getattr(thing, "__func__", thing)
    if inspect.isfunction(function):
        for parameter in inspect.signature(function).parameters:
            if parameter not in ("self", "cls"):
                yield f"parameters of sojourn.{name}", parameter


def _c() -> Iterator[Name]:
    path = ROOT / "tools" / "check-crates"
    loader = importlib.machinery.SourceFileLoader("check_crates", str(path))
    spec = importlib.util.spec_from_loader("check_crates", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    header = ROOT / "crates" / "sojourn-queue-c" / "include" / "sojourn_queue.h"
    for signature in module.signatures(header.read_text(encoding="utf-8")):
        yield "C header", signature


def as_text(version: str, found: set[Name]) -> str:
    """Return names as they are kept."""
    groups: dict[str, list[str]] = {}
    for group, name in sorted(found):
        groups.setdefault(group, []).append(name)
    lines = [f"version: {version}"]
    for group, listed in groups.items():
        lines += textwrap.wrap(
            f"{group}: {' '.join(listed)}", 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines) + "\n"


def kept(text: str) -> tuple[str, set[Name]]:
    """Return the version and names of a text that `as_text` made."""
    (_, version), *groups = (line.split(": ", 1) for line in text.replace("\n  ", " ").splitlines())
    return version, {(group, name) for group, listed in groups for name in listed.split()}


def broken(text: str, now: set[Name], changelog: str) -> list[str]:
    """Return a sentence for each name that is gone and that the changelog does not announce.

    Parameters
    ----------
    text
        The names of the last version.
    now
        Those of this one.
    changelog
        The changelog; what stands above the last version counts.
    """
    version, before = kept(text)
    above = changelog.split(f"\n## {version} ")[0]
    told = "".join(re.findall(rf"^{re.escape(ANNOUNCED)}$(.*?)(?=^##|\Z)", above, re.MULTILINE | re.DOTALL))
    announced = set(re.findall(r"`([^`]+)`", told))
    return [
        f'{name} ({group}) of version {version} is gone. Announce it in CHANGELOG.md above "## {version}" under "{ANNOUNCED}": '
        f"`{name}` and the name or way that takes its place; docs/reference/promises.md says what else such a change asks for."
        for group, name in sorted(before - now)
        if name not in announced
    ]


def main(arguments: list[str]) -> int:
    """Keep the names of this version, or say which of the last one are gone."""
    if arguments == ["--write"]:
        KEPT.write_text(as_text(VERSION, names()), encoding="utf-8")
        return 0
    found = broken(KEPT.read_text(encoding="utf-8"), names(), CHANGELOG.read_text(encoding="utf-8"))
    for sentence in found:
        print(sentence)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
