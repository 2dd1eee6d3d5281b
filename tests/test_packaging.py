"""Files for packagers say what the package itself says: the same version, the same libraries."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

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


LINTERS = f"{ROOT / 'target/tools/linters/bin'}:{os.environ['PATH']}"
"""Where `tools/install-packaging-linters` puts programs for the tests of the night."""


def linter(name: str) -> str:
    """Return the path of a linter, or leave the test out."""
    found = shutil.which(name, path=LINTERS)
    if found is None:
        pytest.skip(f"NOT TESTED: no {name}; tools/install-packaging-linters installs it")
    return found


def said(*command: str | Path, text: str = "") -> tuple[int, str]:
    """Return the status and the words of a program."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    hadolint, text = linter("hadolint"), (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert said(hadolint, ROOT / "Dockerfile") == (0, "")
    assert "DL3002" in said(hadolint, "-", text=text.replace("USER 1000", "USER root"))[1]
    assert "DL3042" in said(hadolint, "-", text=text.replace("--no-cache-dir", ""))[1]


EVALUATED = """
let
  package = listed: builtins.listToAttrs (map (name: {{ inherit name; value = name; }}) listed);
  pkgs = {{
    python3Packages = package {libraries} // {{ buildPythonApplication = asked: asked; }};
    rustPlatform = {{ importCargoLock = asked: builtins.pathExists asked.lockFile; cargoSetupHook = "setup"; maturinBuildHook = "build"; }};
    mkShell = asked: asked;
  }} // package [ "cargo" "rustc" "gnumake" "python3" "nodejs" ];
  nixpkgs = {{
    lib.genAttrs = names: make: builtins.listToAttrs (map (name: {{ inherit name; value = make name; }}) names);
    legacyPackages = {{ x86_64-linux = pkgs; aarch64-linux = pkgs; }};
  }};
  made = (import {flake}).outputs {{ self = "source"; inherit nixpkgs; }};
in {{ package = made.packages.x86_64-linux.default; shell = made.devShells.aarch64-linux.default; }}
"""
"""The flake with packages that are their names, as nixpkgs itself is fetched from elsewhere."""


@pytest.mark.slow
def test_nix_evaluates_the_flake_to_the_libraries_of_the_package(tmp_path: Path) -> None:
    nix = linter("nix-instantiate")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=\[]", line)[0] for line in project["dependencies"]}
    libraries = "[" + " ".join(f'"{name}"' for name in sorted(names)) + "]"

    def evaluated(flake: Path) -> tuple[int, str]:
        text = EVALUATED.format(libraries=libraries, flake=flake)
        done = subprocess.run(
            [nix, "--eval", "--strict", "--json", "--store", f"dummy://{tmp_path}", "-E", text],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr if done.returncode else done.stdout

    status, text = evaluated(ROOT / "flake.nix")
    assert status == 0, text
    package: dict[str, Any] = json.loads(text)["package"]
    assert (package["version"], set(package["dependencies"])) == (VERSION, names)
    assert package["cargoDeps"] is True
    wrong = tmp_path / "flake.nix"
    wrong.write_text(
        (ROOT / "flake.nix").read_text(encoding="utf-8").replace("            scipy\n", "            scippy\n")
    )
    assert "undefined variable 'scippy'" in evaluated(wrong)[1]


RENDERED = """
import sys
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig
recipe = Stage0Recipe.from_file(sys.argv[1])
for platform in ("linux-64", "linux-aarch64"):
    (made,) = recipe.render(VariantConfig(), RenderConfig(platform=PlatformConfig(target_platform=platform)))
    said = made.recipe.to_dict()
    print(said["package"]["name"], said["package"]["version"], *said["requirements"]["build"])
"""


@pytest.mark.slow
def test_rattler_build_renders_the_recipe_of_conda(tmp_path: Path) -> None:
    hadolint = Path(linter("hadolint"))
    python = hadolint.with_name("python")
    if not python.exists():
        pytest.skip("NOT TESTED: no rattler-build; tools/install-packaging-linters installs it")
    recipe = ROOT / "packaging" / "conda" / "recipe.yaml"
    status, text = said(python, "-c", RENDERED, recipe)
    assert status == 0, text
    assert text.splitlines() == [f"sojourn {VERSION} gcc_{one} rust_{one}" for one in ("linux-64", "linux-aarch64")]
    wrong = tmp_path / "recipe.yaml"
    wrong.write_text(recipe.read_text(encoding="utf-8").replace("  host:", "  hots:"))
    assert "unknown field 'hots'" in said(python, "-c", RENDERED, wrong)[1]


def test_the_flake_asks_for_the_libraries_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=\[]", line)[0] for line in project["dependencies"]}
    listed = re.search(
        r"dependencies = with pkgs\.python3Packages; \[([^\]]*)\]", (ROOT / "flake.nix").read_text(encoding="utf-8")
    )
    assert listed
    assert set(listed[1].split()) == names


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what SchemaStore asks for a new schema."""
    directory = tmp_path_factory.mktemp("schemastore")
    subprocess.run([ROOT / "tools" / "write-schemastore", directory], check=True)
    return directory


@pytest.mark.parametrize("kind", ["scenario", "study"])
def test_each_schema_of_schemastore_has_an_entry_and_files_that_it_accepts_and_refuses(kind: str, store: Path) -> None:
    name = f"sojourn-{kind}"
    source = store / "src"
    schema = json.loads((source / "schemas" / "json" / f"{name}.json").read_text(encoding="utf-8"))
    entries = json.loads((source / "api-json-catalog-entries.json").read_text(encoding="utf-8"))
    (entry,) = [one for one in entries if one["url"] == schema["$id"]]
    assert set(entry) == {"name", "description", "fileMatch", "url"}
    (pattern,) = entry["fileMatch"]
    assert fnmatch(f"home.sojourn{'' if kind == 'scenario' else '-study'}.toml", pattern)
    # SchemaStore refuses patterns that match files of others.
    assert [name for name in ("study.toml", "scenario.toml", "pyproject.toml", ".toml") if fnmatch(name, pattern)] == []
    taplo = shutil.which("taplo", path=f"{ROOT / '.venv/bin'}:{os.environ['PATH']}") or "taplo"
    address = (source / "schemas" / "json" / f"{name}.json").as_uri()
    accepted = sorted((source / "test" / name).glob("*.toml"))
    refused = sorted((source / "negative_test" / name).glob("*.toml"))
    assert len(accepted) > 10
    assert refused
    status, text = said(taplo, "lint", "--schema", address, *accepted)
    assert status == 0, text
    assert [file.name for file in refused if said(taplo, "lint", "--schema", address, file)[0] == 0] == []


@pytest.mark.parametrize("kind", ["scenario", "study"])
def test_a_branch_of_a_schema_declares_what_it_requires(kind: str, store: Path) -> None:
    """Ajv, strict mode: "required property … is not defined", with which SchemaStore would refuse the schema."""
    text = (store / "src" / "schemas" / "json" / f"sojourn-{kind}.json").read_text(encoding="utf-8")
    nodes: list[dict[str, Any]] = []
    json.loads(text, object_hook=lambda node: nodes.append(node) or node)
    branches = [node for node in nodes if isinstance(node.get("required"), list)]
    assert len(branches) > 10
    assert [node["required"] for node in branches if not set(node["required"]) <= set(node.get("properties", {}))] == []


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
