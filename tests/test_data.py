"""Data sets are listed by digest, and come from a place that is named, whole or not at all."""

import functools
import http.server
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import CommandLine

ROOT = Path(__file__).parents[1]


def test_the_list_is_that_of_the_files() -> None:
    assert subprocess.run([sys.executable, ROOT / "tools" / "list-data", "--check"], check=False).returncode == 0


def test_sets_are_listed_with_licence_and_size(sojourn: CommandLine) -> None:
    done = sojourn("data", "list")
    assert done.status == 0, done.stderr
    for name in ("golden-traces", "flent-trial", "printed-tables", "cases"):
        assert any(line.startswith(f"{name} ") and "kB" in line for line in done.stdout.splitlines())
    sets = {one["name"]: one for one in sojourn("data", "list", "--json").json()["data"]}
    assert all(one["licence"] and one["files"] for one in sets.values())
    assert len(sets["golden-traces"]["files"]) == 28


def test_a_set_comes_from_a_folder(sojourn: CommandLine) -> None:
    done = sojourn("data", "fetch", "flent-trial", "--from", ROOT)
    assert done.status == 0, done.stderr
    found = [path for path in (sojourn.directory / "flent-trial").rglob("*") if path.is_file()]
    assert len(found) == 18
    assert all(
        path.read_bytes() == (ROOT / path.relative_to(sojourn.directory / "flent-trial")).read_bytes() for path in found
    )


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Return a folder with the Flent files, and the address that serves it."""
    folder = tmp_path / "mirror"
    shutil.copytree(ROOT / "tests" / "field" / "files", folder / "tests" / "field" / "files")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_a_set_comes_from_an_address(sojourn: CommandLine, mirror: tuple[Path, str]) -> None:
    pytest.importorskip("pooch", reason="pooch is not installed (pip install 'sojourn[data]')")
    done = sojourn("data", "fetch", "flent-trial", "--from", mirror[1], "--out", "there")
    assert done.status == 0, done.stderr
    assert len([path for path in (sojourn.directory / "there").rglob("*") if path.is_file()]) == 18


@pytest.mark.parametrize("by_address", [False, True])
@pytest.mark.parametrize("damage", ["changed", "missing", "link"])
def test_a_file_that_is_not_as_listed_leaves_nothing(
    sojourn: CommandLine, mirror: tuple[Path, str], damage: str, *, by_address: bool
) -> None:
    if by_address:
        pytest.importorskip("pooch", reason="pooch is not installed (pip install 'sojourn[data]')")
    folder, address = mirror
    path = sorted((folder / "tests" / "field" / "files").iterdir())[3]
    content = path.read_bytes()
    path.unlink()
    if damage == "changed" or (damage == "link" and by_address):
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "link":
        (folder / "elsewhere").write_bytes(content)
        path.symlink_to(folder / "elsewhere")
    done = sojourn("data", "fetch", "flent-trial", "--from", address if by_address else folder)
    assert done.status == 1
    assert path.name in done.stderr
    assert "Traceback" not in done.stderr
    assert not (sojourn.directory / "flent-trial").exists()


def test_nothing_is_fetched_unasked(sojourn: CommandLine) -> None:
    done = sojourn("data", "fetch", "flent-trial")
    assert done.status == 2
    assert "--from" in done.stderr
    done = sojourn("data", "fetch", "flent-trail", "--from", ROOT)
    assert done.status == 2
    assert 'did you mean "flent-trial"?' in done.stderr
