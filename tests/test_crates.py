"""The crates for others' programs pack, and work for a program that has the packed files alone, without `std`."""

import os
import re
import shutil
import subprocess
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PUBLIC = (
    "sojourn-base",
    "sojourn-keys",
    "sojourn-stack",
    "sojourn-queue",
    "sojourn-link",
    "sojourn-transport",
    "sojourn-queue-c",
    "sojourn-testbed",
)
"""Crates that others may depend on, each after what it needs."""

BARE = "wasm32-unknown-unknown"
"""A target whose programs may have no system."""

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo")


def cargo(*arguments: str, cwd: Path, target: Path) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"CARGO_TARGET_DIR": str(target), "CARGO_TERM_COLOR": "never"}
    command = ["cargo", *arguments, "--offline"]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the unpacked packages of the public crates."""
    folder = tmp_path_factory.mktemp("packed")
    names = [word for name in PUBLIC for word in ("-p", name)]
    done = cargo("package", *names, "--no-verify", "--allow-dirty", cwd=ROOT, target=folder / "target")
    assert done.returncode == 0, done.stderr
    for name in PUBLIC:
        (package,) = (folder / "target" / "package").glob(f"{name}-[0-9]*.crate")
        with tarfile.open(package) as archive:
            archive.extractall(folder, filter="data")
        (folder / package.name.removesuffix(".crate")).rename(folder / name)
    return folder


@pytest.mark.slow
def test_what_others_depend_on_names_versions_that_can_be_resolved(packed: Path) -> None:
    for name in PUBLIC:
        manifest = tomllib.loads((packed / name / "Cargo.toml").read_text())
        package = manifest["package"]
        assert package["description"]
        assert package["keywords"]
        assert package["categories"]
        assert (packed / name / package["readme"]).is_file()
        for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
            assert (packed / name / licence).read_text() == (ROOT / licence).read_text(), name
        for dependency, about in manifest.get("dependencies", {}).items():
            assert "path" not in about, (name, dependency)
            assert not about["version"].startswith("="), (name, dependency)


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def test_none_of_them_asks_for_std_but_by_the_feature_of_that_name() -> None:
    for name in PUBLIC[:-2]:  # the last are for programs with a system
        root = (ROOT / "crates" / name / "src" / "lib.rs").read_text()
        assert "#![no_std]" in root, name
        asked = re.findall(r"(#\[cfg\([^\n]*\)\]\n)?extern crate std;", without_comments(root))
        allowed = {"#[cfg(test)]\n", '#[cfg(any(feature = "std", test))]\n'}
        assert set(asked) <= allowed, name


def test_without_features_the_queue_managers_have_three_crates_below_them() -> None:
    tool = ROOT / "tools" / "check-crates"
    done = subprocess.run([tool, "tree"], capture_output=True, text=True, check=False)
    assert done.stdout == "tree: passed: libm, sojourn-base, sojourn-keys below sojourn-queue\n"
    assert done.returncode == 0


HOSTS = {"udp-relay": "2 passed", "rattan-queue": "4 passed", "smoltcp-device": "4 passed"}
"""Programs of others' kinds with a queue manager in them, and their tests."""


@pytest.mark.slow
@pytest.mark.parametrize("example", HOSTS)
def test_each_host_with_a_queue_manager_in_it_works(example: str, tmp_path: Path) -> None:
    program = tmp_path / example
    shutil.copytree(ROOT / "examples" / example, program, ignore=shutil.ignore_patterns("target"))
    manifest = program / "Cargo.toml"
    manifest.write_text(manifest.read_text().replace("../../crates", str(ROOT / "crates")))
    shared = ROOT / "target" / "hosts"
    done = cargo("test", "--quiet", cwd=program, target=shared)
    if example == "smoltcp-device" and "no matching package" in done.stderr:
        pytest.skip("smoltcp was never downloaded: the device is not tried")
    assert done.returncode == 0, done.stderr + done.stdout
    assert HOSTS[example] in done.stdout


@pytest.mark.slow
def test_a_program_without_std_has_a_queue_manager_from_the_packed_files(packed: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "bare", tmp_path / "bare", ignore=shutil.ignore_patterns("target"))
    program = tmp_path / "bare"
    manifest = (program / "Cargo.toml").read_text().replace("../../crates", str(packed))
    patches = "".join(f'{name} = {{ path = "{packed / name}" }}\n' for name in PUBLIC)
    (program / "Cargo.toml").write_text(f"{manifest}\n[patch.crates-io]\n{patches}")
    shutil.copy(ROOT / "Cargo.lock", program)
    done = cargo("test", "--quiet", cwd=program, target=tmp_path / "target")
    assert done.returncode == 0, done.stderr
    assert "1 passed" in done.stdout
    found = subprocess.run(
        ["rustc", "--print", "target-libdir", "--target", BARE], capture_output=True, text=True, check=True
    )
    if not Path(found.stdout.strip()).is_dir():
        pytest.skip(f"{BARE} is not installed: that nothing asks for std was not tried")
    # The program has a panic handler and an allocator of its own, which collide with those of `std`.
    for package in ("link", "transport"):
        manifest = (program / "Cargo.toml").read_text()
        line = f'sojourn-{package} = {{ path = "{packed / f"sojourn-{package}"}", default-features = false }}\n'
        (program / "Cargo.toml").write_text(manifest.replace("[dependencies]\n", f"[dependencies]\n{line}", 1))
        with (program / "src" / "lib.rs").open("a") as source:
            source.write(f"use sojourn_{package} as _;\n")
    build = ("rustc", "--quiet", "--lib", "--crate-type", "cdylib", "--target", BARE)
    done = cargo(*build, cwd=program, target=tmp_path / "target")
    assert done.returncode == 0, done.stderr
    (built,) = (tmp_path / "target" / BARE / "debug").glob("bare.wasm")
    assert built.stat().st_size > 1000
