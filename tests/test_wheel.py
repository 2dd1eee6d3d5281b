"""What others install: a wheel that needs no compiler, and sources from which the same engine is built."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from tests.serve.test_offline import shown_alone

ROOT = Path(__file__).parent.parent
DECIDES_RESULTS = ("Cargo.lock", "Cargo.toml", "rust-toolchain.toml")
"""What names the engine's version beside the crates, as in `crates/sojourn-python/digest.rs`."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build wheel and source distribution; with the features of `make setup` nothing is compiled again."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run([ROOT / "tools" / "build-wheel", out, "--features", "count-allocations"], check=True)
    return out


def constraints(directory: Path) -> Path:
    """Write the versions of the lock without their digests, which pip wants of all or none."""
    lock = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    path = directory / "constraints.txt"
    path.write_text("\n".join(re.findall(r"^[\w.-]+==[\w.]+", lock, re.MULTILINE)))
    return path


@pytest.mark.slow
def test_the_wheel_brings_the_page_with_the_engine_for_browsers(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    page = "sojourn/serve/page"
    assert {f"{page}/engine.wasm", f"{page}/js/main.js", f"{page}/vendor/uplot.js"} <= names
    assert {f"{page}/lessons/bufferbloat/text.md", "sojourn/serve/templates/page.html"} <= names


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Install the wheel into an empty environment; return its programs, and the variables of a shell there."""
    (wheel,) = built.glob("*.whl")
    home = tmp_path_factory.mktemp("empty")
    venv.create(home / "empty", with_pip=True)
    programs = home / "empty" / "bin"
    assert shutil.which("cargo", path=str(programs)) is None
    # Nothing else is found: neither a compiler nor what this process has on its way to modules.
    clean = {"PATH": str(programs), "SOJOURN_STORE": str(home / "store"), "NO_COLOR": "1"}
    network = {name: value for name, value in os.environ.items() if name.lower().endswith("proxy")}
    pip = [programs / "python", "-m", "pip", "--disable-pip-version-check", "--quiet"]
    limits = constraints(home)
    found = subprocess.run([sys.executable, "-m", "pip", "cache", "dir"], capture_output=True, text=True, check=False)
    subprocess.run(
        [*pip, "install", "--only-binary", ":all:", "--no-compile", "-c", limits, f"{wheel}[serve]"],
        env={**network, **clean, "PIP_CACHE_DIR": found.stdout.strip()},
        check=True,
    )
    return programs, clean


@pytest.mark.slow
def test_the_wheel_runs_in_an_empty_environment_without_a_compiler(
    built: Path, installed: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    (wheel,) = built.glob("*.whl")
    assert "-cp311-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    package = ROOT / "python"
    for folder in ("recipes", "published", "report/templates", "report/assets"):
        for path in (package / "sojourn" / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert str(path.relative_to(package)) in names
    programs, clean = installed

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [programs / "sojourn", *arguments], cwd=tmp_path, env=clean, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    tutorial = (ROOT / "docs" / "guides" / "tutorial.md").read_text(encoding="utf-8")
    (tmp_path / "home.toml").write_text(re.findall(r"```toml\n(.*?)```", tutorial, re.DOTALL)[0])
    run("check", "home.toml")
    assert "delay_up_p99" in run("run", "home.toml")
    run("run", "home.toml", "--set", "duration=2 s", "--report", "--out", "home")
    assert (tmp_path / "home" / "report.html").exists()
    run("study", "new", "calls")
    run("recipe", "copy", "buffer-lesson")
    run("check", "buffer-lesson/scenario.toml")
    assert "white2013" in run("study", "list")
    code = "import sojourn; print(sojourn.__file__)"
    home = subprocess.run(
        [programs / "python", "-c", code], cwd=tmp_path, env=clean, capture_output=True, text=True, check=False
    )
    assert home.stdout.startswith(str(programs.parent)), home.stderr


@pytest.mark.slow
def test_the_installed_page_shows_a_lesson_without_a_network(
    installed: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    programs, clean = installed
    variables = [f"{name}={value}" for name, value in clean.items()]
    command = [programs / "sojourn", "serve", "lesson", "bufferbloat", "--json", "--port", "0"]
    assert shown_alone(["env", "-i", *variables, *map(str, command)], tmp_path) == (
        "tab",
        "Is a longer buffer better?",
        [],
    )


@pytest.mark.slow
def test_the_sources_are_those_that_name_the_version_of_the_engine(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    crates = [
        path
        for folder in (ROOT / "crates").glob("*")
        if folder.name
        not in (
            "sojourn-benches",
            "sojourn-queue-c",
            "sojourn-random-scenarios",
            "sojourn-testbed",
            "sojourn-testkit",
            "sojourn-web",
        )  # no parts of the module
        for kept in ("src/**/*", "data/**/*", "*.rs", "Cargo.toml")
        for path in folder.glob(kept)
        if path.is_file()
    ]
    names = [*DECIDES_RESULTS, *(str(path.relative_to(ROOT)) for path in crates)]
    assert len(names) > 200
    with tarfile.open(archive) as sources:
        for name in names:
            packed = sources.extractfile(f"{archive.name.removesuffix('.tar.gz')}/{name}")
            assert packed is not None
            content = (ROOT / name).read_bytes()
            assert _but_members(packed.read()) == _but_members(content), name


def _but_members(manifest: bytes) -> bytes:
    """Leave out which crates are members, as the digest of the engine does: the archive has fewer."""
    return b"".join(line for line in manifest.splitlines(True) if not line.startswith(b"members = ["))
