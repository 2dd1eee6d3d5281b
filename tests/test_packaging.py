"""Files for packagers say what the package itself says: the same version, the same libraries."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from sojourn.version import VERSION
from support import CommandLine

ROOT = Path(__file__).parents[1]

VERSIONS = {
    "Cargo.toml": r'^\[workspace\.package\][^\[]*?^version = "([^"]+)"',
    "pyproject.toml": r'^version = "([^"]+)"',
    "CITATION.cff": r"^version: (\S+)",
    "codemeta.json": r'"version": "([^"]+)"',
    "flake.nix": r'version = "([^"]+)";',
    "packaging/conda/recipe.yaml": r'^  version: "([^"]+)"',
    "docs/conf.py": r'^(?:release|version) = "([^"]+)"',
}
"""Where the version stands beside `sojourn.version`, and how it is written there."""


@pytest.mark.parametrize("name", VERSIONS)
def test_every_file_names_the_version_of_the_package(name: str) -> None:
    found = re.findall(VERSIONS[name], (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    assert set(found) == {VERSION}


def test_the_recipe_of_conda_asks_for_the_libraries_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8"))
    wanted = {line.replace(">=", " >=", 1) for line in project["dependencies"]}
    asked = {line.replace("matplotlib-base", "matplotlib") for line in recipe["requirements"]["run"]}
    assert asked - {f"python {project['requires-python']}"} == wanted


def test_the_flake_asks_for_the_libraries_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=\[]", line)[0] for line in project["dependencies"]}
    listed = re.search(
        r"dependencies = with pkgs\.python3Packages; \[([^\]]*)\]", (ROOT / "flake.nix").read_text(encoding="utf-8")
    )
    assert listed
    assert set(listed[1].split()) == names


def test_the_description_for_citations_is_json_with_the_licences_of_the_package() -> None:
    described = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {url.rsplit("/", 1)[1] for url in described["license"]} == set(project["license"].split(" OR "))


@pytest.mark.parametrize("hook", ["sojourn-check", "sojourn-check-system"])
def test_a_hook_of_other_repositories_passes_right_files_and_names_what_is_wrong(
    sojourn: CommandLine, hook: str
) -> None:
    entries = {
        entry["id"]: entry for entry in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    }
    program, *arguments = entries[hook]["entry"].split()
    assert program == "sojourn"
    right = ROOT / "scenarios" / "dsl-small-buffer.toml"
    wrong = sojourn.directory / "scenarios" / "wrong.toml"
    wrong.parent.mkdir()
    wrong.write_text(right.read_text(encoding="utf-8").replace("duration", "duratoin"), encoding="utf-8")
    assert re.search(entries[hook]["files"], "scenarios/wrong.toml")
    assert sojourn(*arguments, right).status == 0
    refused = sojourn(*arguments, right, wrong)
    assert refused.status == 2
    assert "duratoin" in refused.stderr
