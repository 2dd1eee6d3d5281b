"""Editors: taplo refuses mistakes as `sojourn check` does, and tombi completes keys, by the schemas beside a file."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import pytest

from support import CommandLine

PROGRAMS = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
TAPLO, TOMBI = (shutil.which(name, path=PROGRAMS) or name for name in ("taplo", "tombi"))
"""Of `requirements/dev.txt`, as the tests are: without them, these fail."""


@pytest.fixture
def study(sojourn: CommandLine) -> Path:
    """Return the folder of a new study."""
    assert sojourn("study", "new", "mine").status == 0
    return sojourn.directory / "mine"


def lint(folder: Path, *names: str) -> tuple[int, str]:
    """Return the status of taplo, and its output."""
    done = subprocess.run([TAPLO, "lint", *names], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)


def test_what_is_written_is_valid_for_both(study: Path, sojourn: CommandLine) -> None:
    assert lint(study, "study.toml", "scenario.toml")[0] == 0
    assert sojourn("check", study / "study.toml", study / "scenario.toml").status == 0


@pytest.mark.parametrize(
    "command",
    [("recipe", "copy", "buffer-lesson"), ("home", "--down", "50", "--up", "10", "--access", "dsl", "--explain")],
)
def test_recipes_and_explained_homes_are_valid_for_both(sojourn: CommandLine, command: tuple[str, ...]) -> None:
    done = sojourn(*command)
    assert done.status == 0, done.stderr
    (written,) = sojourn.directory.glob("*/.taplo.toml")
    status, said = lint(written.parent, "study.toml", "scenario.toml")
    assert status == 0, said
    assert sojourn("check", written.parent / "study.toml", written.parent / "scenario.toml").status == 0


WRONG = [
    ("scenario.toml", 'duration = "60 s"', 'duratoin = "60 s"', "duratoin"),
    ("scenario.toml", 'rate = "10 Mb/s"', 'rate = "10 MBit per second"', "MBit per second"),
    ("scenario.toml", 'rate = "10 Mb/s"', "rate = 10", "10"),
    ("scenario.toml", 'kind = "serial", rate = "10 Mb/s"', 'kind = "sreial", rate = "10 Mb/s"', "sreial"),
    ("scenario.toml", 'limit = "1 MB"', 'limits = "1 MB"', "limits"),
    ("scenario.toml", "datagrams = false", 'datagrams = "no"', "no"),
    ("scenario.toml", 'stack = "linux-cubic"', 'stack = "linux-cubix"', "linux-cubix"),
    ("study.toml", "count = 5", "cuont = 5", "cuont"),
    ("study.toml", 'quick = { duration = "10 s" }', 'quik = { duration = "10 s" }', "quik"),
    ("study.toml", 'scenario = "scenario.toml"', "scenario = 5", "5"),
]
"""File, what stands there, what is written in its place, and what is wrong of it."""


@pytest.mark.parametrize(("name", "right", "wrong", "word"), WRONG)
def test_both_refuse_ten_mistakes_and_name_the_same_word(
    study: Path, sojourn: CommandLine, name: str, right: str, wrong: str, word: str
) -> None:
    text = (study / name).read_text(encoding="utf-8")
    assert right in text
    (study / name).write_text(text.replace(right, wrong, 1), encoding="utf-8")
    line = text[: text.index(right)].count("\n") + 1
    status, said = lint(study, name)
    assert status != 0
    assert word in said
    assert re.search(rf"{name}:{line}:", said), said
    checked = sojourn("check", study / name)
    assert checked.status == 2
    assert word in checked.stderr or right.partition(" ")[0] in checked.stderr
    if name == "scenario.toml":
        assert f"{name}:{line}:" in checked.stderr


class Server:
    """The language server of tombi, asked as an editor asks it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [TOMBI, "lsp", "--offline"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._number = 0
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.tell("initialized", {})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def tell(self, method: str, parameters: dict[str, Any]) -> None:
        """Notify the server."""
        self._send({"method": method, "params": parameters})

    def ask(self, method: str, parameters: dict[str, Any]) -> Any:  # noqa: ANN401 - any value of JSON
        """Return the answer of the server to a request."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        for message in self._messages():
            if message.get("id") == self._number and "method" not in message:
                assert "error" not in message, message
                return message["result"]
            if "id" in message:  # a request of the server: it has no configuration to be handed
                items = cast("dict[str, list[Any]]", message.get("params") or {}).get("items", [])
                self._send({"id": message["id"], "result": [None for _ in items] or None})
        raise AssertionError(method)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _messages(self) -> Iterator[dict[str, Any]]:
        assert self._process.stdout
        while head := self._process.stdout.readline():
            length = int(head.decode().removeprefix("Content-Length: "))
            while self._process.stdout.readline().strip():
                pass
            yield json.loads(self._process.stdout.read(length))


def completed(server: Server, path: Path, text: str) -> set[str]:
    """Return what an editor offers where the text has a bar."""
    before, _, after = text.partition("|")
    document = {"uri": path.as_uri(), "languageId": "toml", "version": 1, "text": before + after}
    server.tell("textDocument/didOpen", {"textDocument": document})
    position = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
    for _ in range(20):  # a schema is read while it is first asked for
        asked = {"textDocument": {"uri": path.as_uri()}, "position": position}
        found: Any = server.ask("textDocument/completion", asked)
        items: list[dict[str, Any]] = found or []
        if items:
            return {str(item["label"]).strip('"') for item in items}
    return set()


HEAD = 'schema = 1\nname = "x"\nduration = "1 s"\n'

COMPLETED = [
    ("scenario.toml", "schema = 1\ndur|", "duration"),
    ("scenario.toml", "schema = 1\nse|", "seed"),
    ("scenario.toml", f"{HEAD}[access.upstream]\nqu|", "queue"),
    ("scenario.toml", f"{HEAD}[access.upstream.link]\nra|", "rate"),
    ("scenario.toml", f'{HEAD}[access.upstream.queue]\nkind = "|"\n', "fq-codel"),
    ("scenario.toml", f"{HEAD}[record]\nda|", "datagrams"),
    ("scenario.toml", f'{HEAD}[[traffic]]\nname = "a"\nst|', "stack"),
    ("study.toml", "schema = 1\nti|", "title"),
    ("study.toml", "schema = 1\n[seeds]\nco|", "count"),
    ("study.toml", "schema = 1\n[precision.seeds]\nmo|", "most"),
]
"""File, what is typed up to the bar, and what an editor has to offer there."""


def test_ten_keys_and_words_are_completed(study: Path) -> None:
    with Server() as server:
        missing: list[tuple[str, str, set[str]]] = []
        for number, (name, text, word) in enumerate(COMPLETED):
            kind = name.removesuffix(".toml")
            path = study / f"typed-{number}.toml"
            offered = completed(server, path, f"#:schema .sojourn/{kind}.schema.json\n{text}")
            if word not in offered:
                missing.append((text, word, offered))
        assert missing == []


@pytest.mark.parametrize("kind", ["scenario", "study"])
def test_every_key_has_a_title_and_a_description_and_most_have_a_value_to_begin_with(
    kind: str, sojourn: CommandLine
) -> None:
    schema = sojourn("schema", kind).json()
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert schema["$id"].endswith(f"/sojourn-{kind}.json")
    assert schema["description"]
    keys = [key for key in described_keys(schema, schema) if "$ref" not in key]
    assert len(keys) > 200
    assert [key for key in keys if not key.get("title") or not key.get("description")] == []
    text = json.dumps(schema)
    assert "$defs" not in text
    begun = [key for key in keys if {"default", "examples", "enum", "const", "anyOf", "items", "properties"} & set(key)]
    assert len(begun) > 0.8 * len(keys)


def described_keys(root: dict[str, Any], value: object) -> Iterator[dict[str, Any]]:
    """Yield the schemas of all keys, each once."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        for key in cast("dict[str, dict[str, Any] | bool]", table.get("properties", {})).values():
            if isinstance(key, bool):  # a branch requires the key; beside it stands what the key is
                continue
            reference = key.get("$ref", "")
            yield root["definitions"][reference.split("/")[2]] if reference.startswith("#/definitions/part") else key
        for part in table.values():
            yield from described_keys(root, part)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from described_keys(root, part)
