"""The files of the page: libraries are those of the lock file, own scripts do nothing that the policy would refuse."""

from __future__ import annotations

import gzip
import hashlib
import re
import tomllib
from pathlib import Path

import pytest

from sojourn.serve.lessons import ORDER
from sojourn.serve.site import read, site, slim, slim_style

SERVE = Path(__file__).resolve().parents[2] / "python/sojourn/serve"
PAGE = SERVE / "page"
OWN = sorted([*(PAGE / "js").glob("*.js"), *(PAGE / "css").glob("*.css"), *SERVE.glob("templates/*")])
LOCK = tomllib.loads((SERVE / "vendor.toml").read_text(encoding="utf-8"))


def test_each_library_is_the_one_that_the_lock_file_names() -> None:
    named = {file["to"]: file["sha256"] for package in LOCK["package"] for file in package["files"]}
    found = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in (PAGE / "vendor").iterdir()}
    assert found == named


def test_each_library_brings_its_licence() -> None:
    for package in LOCK["package"]:
        assert package["licence"] in {"MIT", "Apache-2.0"}
        assert any(file["to"].endswith(".LICENSE") for file in package["files"])


@pytest.mark.parametrize("file", OWN, ids=lambda file: file.name)
def test_own_files_write_no_markup_and_load_nothing_from_elsewhere(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    refused = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://|\son\w+=\"|style=\""
    )
    assert re.findall(refused, text) == []


def loaded(first: str) -> set[Path]:
    """Return what a page's first script imports, and what that imports, and so on."""
    found: set[Path] = set()
    wanted = [PAGE / "js" / "main.js", PAGE / "js" / first, PAGE / "js" / "worker.js"]
    while wanted:
        path = wanted.pop()
        if path in found:
            continue
        found.add(path)
        names = re.findall(r'from ?"(\.[^"]+)"|^import "(\.[^"]+)"', path.read_text(), re.MULTILINE)
        wanted += [(path.parent / (one or other)).resolve() for one, other in names]
    return found


@pytest.mark.parametrize("first", ["start.js", "explore.js", "lesson.js", "results.js"])
def test_scripts_and_styles_of_a_page_are_small(first: str) -> None:
    scripts = loaded(first)
    assert any(path.name == "preact.js" for path in scripts)
    pages = site()
    files = [*scripts, *(PAGE / "css").iterdir(), PAGE / "vendor" / "uplot.css"]
    served = [read(pages[file.relative_to(PAGE).as_posix()]) for file in files]
    assert sum(map(len, served)) <= 147_000
    assert sum(len(gzip.compress(one)) for one in served) <= 58_900


@pytest.mark.parametrize("file", sorted((PAGE / "js").glob("*.js")), ids=lambda file: file.name)
def test_what_is_left_out_of_a_script_is_no_part_of_it(file: Path) -> None:
    kept, whole = slim(file).decode().splitlines(), file.read_text(encoding="utf-8").splitlines()
    left = iter(kept)
    line = next(left, None)
    for one in whole:
        if one.strip() == line:
            line = next(left, None)
        else:
            assert re.match(r"//|/\*\*|\*", one.strip()), one
    assert line is None


@pytest.mark.parametrize("file", sorted((PAGE / "css").glob("*.css")), ids=lambda file: file.name)
def test_a_style_sheet_keeps_all_but_comments_and_space(file: Path) -> None:
    kept, whole = slim_style(file).decode(), file.read_text(encoding="utf-8")
    without = re.sub(r"/\*.*?\*/", "", whole, flags=re.DOTALL)
    assert re.sub(r"\s", "", kept) == re.sub(r"\s", "", without)
    # Space that stands between two words, or parts of a selector, has a meaning.
    spaced = re.compile(r"(?<=[\w)\]*%\"]) +(?=[\w(.#*:>\"-])")
    assert len(spaced.findall(kept)) == len(
        spaced.findall(re.sub(r"(?<=[\w)]:) |\s+(?=[{}])", "", re.sub(r"\s+", " ", without)))
    )


def test_the_documentation_links_to_pages_that_stand_beside_it() -> None:
    # `make docs` writes the site into `live`.
    text = (SERVE.parents[2] / "docs/guides/see-it-live.md").read_text(encoding="utf-8")
    linked = re.findall(r'href="\.\./live/([^"]+)"', text)
    pages = site()
    assert {"index.html", "explore.html", "lessons/index.html"} <= set(linked) <= set(pages)
    lessons = read(pages["lessons/index.html"]).decode()
    for name in ORDER:
        assert f'href="{name}/index.html"' in lessons
        assert f"lessons/{name}/index.html" in pages
