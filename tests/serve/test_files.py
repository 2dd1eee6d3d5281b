"""The files of the page: libraries are those of the lock file, own scripts do nothing that the policy would refuse."""

from __future__ import annotations

import gzip
import hashlib
import re
import tomllib
from pathlib import Path

import pytest

SERVE = Path(__file__).resolve().parents[2] / "python/sojourn/serve"
PAGE = SERVE / "page"
OWN = sorted(
    [*(PAGE / "js").glob("*.js"), *(PAGE / "css").glob("*.css"), *SERVE.glob("templates/*")]
)
LOCK = tomllib.loads((SERVE / "vendor.toml").read_text(encoding="utf-8"))


def test_each_library_is_the_one_that_the_lock_file_names() -> None:
    named = {file["to"]: file["sha256"] for package in LOCK["package"] for file in package["files"]}
    found = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in (PAGE / "vendor").iterdir()
    }
    assert found == named


def test_each_library_brings_its_licence() -> None:
    for package in LOCK["package"]:
        assert package["licence"] in {"MIT", "Apache-2.0"}
        assert any(file["to"].endswith(".LICENSE") for file in package["files"])


@pytest.mark.parametrize("file", OWN, ids=lambda file: file.name)
def test_own_files_write_no_markup_and_load_nothing_from_elsewhere(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    refused = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://|\son\w+=\"|style=\""
    assert re.findall(refused, text) == []


def test_scripts_and_styles_are_small() -> None:
    files = [*(PAGE / "js").iterdir(), *(PAGE / "css").iterdir()]
    files += [file for file in (PAGE / "vendor").iterdir() if file.suffix != ".LICENSE"]
    assert sum(file.stat().st_size for file in files) <= 160_000
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) <= 60_000
