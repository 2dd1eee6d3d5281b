"""The JSON schemas of scenario and study files, for editors and other programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import sojourn._engine as _engine
from sojourn.base.files import write_file
from sojourn.base.json_schema import finished
from sojourn.base.toml_text import parse_toml
from sojourn.study.key_list import described_study_schema
from sojourn.study.skeleton import SCENARIO, STUDY

PACKAGE = Path(__file__).parent.parent

FOLDER = ".sojourn"
"""Folder of schemas beside the files of a study."""

TAPLO = f"""\
# For editors with taplo, the language server of TOML: keys are completed, and wrong ones shown, by the schemas of the
# version that wrote these files. `sojourn schema` prints them.
[[rule]]
include = ["study.toml"]
schema = {{ enabled = true, path = "{FOLDER}/study.schema.json" }}

[[rule]]
include = ["scenario.toml"]
schema = {{ enabled = true, path = "{FOLDER}/scenario.schema.json" }}
"""


@cache
def scenario_schema() -> str:
    """Return the JSON schema of the scenario file.

    Examples
    --------
    >>> json.loads(scenario_schema())["title"]
    'Sojourn scenario file'
    """
    documents = [SCENARIO, *_texts("published/*/scenarios/base.toml"), *_texts("recipes/*.toml")]
    about = "A network and its traffic: what one run of Sojourn simulates."
    return _text(json.loads(_engine.scenario_schema()), "scenario", about, documents)


@cache
def study_schema() -> str:
    """Return the JSON schema of the study file, made from what reads it.

    Examples
    --------
    >>> "scenario" in json.loads(study_schema())["required"]
    True
    """
    documents = [STUDY, *_texts("published/*/study.toml"), *_texts("recipes/*.toml")]
    about = "Many runs of a scenario, and the tables, figures and claims that are made of them."
    return _text(described_study_schema(), "study", about, documents)


def _texts(pattern: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(PACKAGE.glob(pattern))]


def _text(schema: dict[str, Any], kind: str, about: str, documents: list[str]) -> str:
    tables = map(parse_toml, documents)
    word = "seeds" if kind == "study" else "duration"  # of both kinds of file in one folder
    whole = finished(schema, kind, about, [table for table in tables if word in table])
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def with_schemas(files: Mapping[str, str]) -> dict[str, str]:
    """Return the files of a study with the schemas that editors complete and check them by."""
    kinds = {"study.toml": "study", "scenario.toml": "scenario"}
    known = {"study": study_schema, "scenario": scenario_schema}
    named = {
        name: f"#:schema {FOLDER}/{kinds[name]}.schema.json\n{text}" if name in kinds else text
        for name, text in files.items()
    }
    schemas = {f"{FOLDER}/{kind}.schema.json": _compact(made()) for kind, made in known.items()}
    return {**named, ".taplo.toml": TAPLO, **schemas}


def _compact(text: str) -> str:
    return json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) + "\n"


def write_with_schemas(directory: Path, files: Mapping[str, str]) -> None:
    """Write the files of a study and their schemas into a directory."""
    (directory / FOLDER).mkdir(exist_ok=True)
    for name, text in with_schemas(files).items():
        write_file(directory / name, text)
