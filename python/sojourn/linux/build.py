"""Builds user-mode Linux with time travel from a source tree, and keeps it in the user's cache directory.

A kernel is known by the digest of its source and its configuration. It is built in a folder of its own that is removed afterwards, whatever
happens; the kept folder is renamed when it is whole, so that what has its name can be started.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import sojourn._engine as _engine
from sojourn.base.errors import EnvironmentFailure, UsageError
from sojourn.base.files import read_file, write_file

DEFAULT_SOURCE = "linux-source-6.12"
"""Debian's package, whose archive lies in /usr/src."""

PACKAGES = ("gcc", "libc6-dev", "make", "flex", "bison", "bc", "xz-utils")
"""Debian packages that a build needs beside the source."""

TOOLS = {"gcc": "gcc", "make": "make", "flex": "flex", "bison": "bison", "bc": "bc", "xz": "xz-utils"}
"""Programs that a build calls, and the Debian package of each."""

HZ = 1000
"""Ticks a second. chosen: the clock of TCP's timers and of CUBIC; 100, which user-mode Linux has, rounds both to 10 ms."""

NEWEST = "newest"
"""The kernel that was built last, as scenarios ask for it."""

TIME_TRAVEL = "CONFIG_UML_TIME_TRAVEL_SUPPORT=y"
LOG_LINES = 12
"""Last lines of a failed build that are shown. chosen: an error of the compiler with its place."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that can be started."""

    name: str
    """How users ask for it."""
    version: str
    digest: str
    """Of source and configuration."""
    source: str
    """The tree or archive it was built from."""
    source_digest: str
    configuration_digest: str
    compiler: str
    hz: int
    built: str
    """Date of the build, in UTC."""
    seconds: float
    """Duration of the build."""
    size: int
    """Of the program, in bytes."""

    @property
    def directory(self) -> Path:
        """Folder of the kernel, its configuration and this description."""
        return default_directory() / self.digest[:16]

    @property
    def program(self) -> Path:
        """The kernel as a program of the host."""
        return self.directory / "linux"

    def described(self) -> dict[str, object]:
        """Return what a manifest says of it."""
        return {"name": self.name, "version": self.version, "configuration": self.configuration_digest, "hz": self.hz}

    @property
    def controllers(self) -> list[str]:
        """Words for its congestion controllers; Reno is part of each kernel."""
        configuration = (self.directory / "config").read_text(encoding="utf-8")
        found = re.findall(r"^CONFIG_TCP_CONG_([A-Z0-9_]+)=y$", configuration, re.MULTILINE)
        return ["reno", *(name.lower() for name in found if name != "ADVANCED")]


def default_directory() -> Path:
    """Return where kernels are kept: below `SOJOURN_KERNELS`, or in the user's cache directory."""
    chosen = os.environ.get("SOJOURN_KERNELS")
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("sojourn") / "linux"


def kernels() -> list[Kernel]:
    """Return all kernels that were built, the newest first."""
    found: list[Kernel] = []
    for file in default_directory().glob("*/kernel.json"):
        try:
            kernel = Kernel(**json.loads(read_file(file)))
        except (OSError, ValueError, TypeError):
            continue  # of an older layout, or damaged: it is built anew
        if kernel.program.is_file():
            found.append(kernel)
    return sorted(found, key=lambda kernel: kernel.built, reverse=True)


def find(name: str | None) -> Kernel:
    """Return the kernel of a name, or the newest; without one, say which command builds it."""
    built = kernels()
    for kernel in built:
        if name is None or name in (kernel.name, kernel.digest[:16]):
            return kernel
    if not built:
        raise UsageError(
            "there is no kernel for virtual time yet", "sojourn linux build    (once, 5 to 15 minutes, without root)"
        )
    raise UsageError(
        f"there is no kernel {name}",
        f"built are {', '.join(kernel.name for kernel in built)}; others: sojourn linux build",
    )


def announce_kernels() -> None:
    """Let scenarios of this process ask for the kernels that were built; they run in guests only."""
    built = kernels()
    for kernel in reversed(built):
        _engine.add_kernel(kernel.name, kernel.digest, kernel.controllers)
    if built:
        _engine.add_kernel(NEWEST, built[0].digest, built[0].controllers)


def described(digest: str) -> dict[str, object]:
    """Return what a manifest says of a kernel, which may be on another machine."""
    found = [kernel.described() for kernel in kernels() if kernel.digest == digest]
    return {"digest": digest, **(found[0] if found else {})}


def of_digest(digest: str) -> Kernel:
    """Return the kernel of a digest; without it, say which command builds one.

    Raises `UsageError` if it was not built on this machine.
    """
    for kernel in kernels():
        if kernel.digest == digest:
            return kernel
    raise UsageError(
        f"the kernel {digest[:16]} of this scenario is not on this machine",
        'sojourn linux build    (from the same source; or stack = { kind = "linux" } without a digest)',
    )


def build(source: str, name: str | None, jobs: int, say: Callable[[str], None]) -> tuple[Kernel, bool]:
    """Build a kernel unless it is there; return it, and whether it was built now."""
    _refuse_machine()
    origin = _origin(source)
    configuration = (Path(__file__).parent / "kernel.config").read_text(encoding="utf-8")
    configuration_digest = hashlib.sha256(f"{CHANGES}\n{configuration}".encode()).hexdigest()
    say(f"reading {origin}")
    source_digest = _digest_of(origin)
    digest = hashlib.sha256(f"{source_digest} {configuration_digest}".encode()).hexdigest()
    for kernel in kernels():
        if kernel.digest == digest and name in (None, kernel.name):
            return kernel, False
    home = default_directory()
    home.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=".building-", dir=home) as place:
        work = Path(place)
        tree = _linked(origin, work) if origin.is_dir() else _unpacked(origin, work)
        _change(tree)
        made = _Make(tree, work)
        made.configure(configuration)
        version = made.version()
        say(f"building Linux {version} with {jobs} jobs")
        made.compile(jobs)
        whole = work / "whole"
        whole.mkdir()
        program = whole / "linux"
        shutil.move(made.output / "linux", program)
        subprocess.run(["strip", "--strip-debug", program], check=False, capture_output=True)
        shutil.copy(made.output / ".config", whole / "config")
        kernel = Kernel(
            name=name or ".".join(version.split(".")[:2]),
            version=version,
            digest=digest,
            source=source if not origin.is_dir() else str(origin),
            source_digest=source_digest,
            configuration_digest=configuration_digest,
            compiler=made.compiler(),
            hz=HZ,
            built=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            seconds=round(time.monotonic() - began, 1),
            size=program.stat().st_size,
        )
        write_file(whole / "kernel.json", json.dumps(asdict(kernel), indent=1) + "\n")
        shutil.rmtree(kernel.directory, ignore_errors=True)
        whole.rename(kernel.directory)
    return kernel, True


def _refuse_machine() -> None:
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise EnvironmentFailure(
            f"user-mode Linux runs on Linux of x86-64, and this is {platform.system()} of {platform.machine()}"
        )


def missing_packages() -> list[str]:
    """Return the Debian packages of the tools that this machine lacks."""
    return [package for tool, package in TOOLS.items() if shutil.which(tool) is None]


def _origin(source: str) -> Path:
    """Return the tree or the archive that is meant; say how to install what is missing."""
    missing = missing_packages()
    archive = Path("/usr/src") / f"{source}.tar.xz"
    is_package = source.startswith("linux-source-") and not Path(source).exists()
    if is_package and not archive.is_file():
        missing.append(source)
    if missing:
        raise EnvironmentFailure(
            f"the build needs {', '.join(missing)}", f"sudo apt-get install --no-install-recommends {' '.join(missing)}"
        )
    if is_package:
        return archive
    tree = Path(source).resolve()
    if not (tree / "arch" / "um" / "Kconfig").is_file():
        raise UsageError(f"{source} is no source tree of Linux: arch/um/Kconfig is not there")
    return tree


def _digest_of(origin: Path) -> str:
    """Return the SHA-256 of an archive, or of the names and contents of a tree without its history."""
    if origin.is_file():
        with origin.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    total = hashlib.sha256()
    for path in _files(origin):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{path.relative_to(origin)}\0{content}\n".encode(errors="surrogateescape"))
    return total.hexdigest()


def _files(tree: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(each for each in folders if each != ".git")
        for each in sorted(names):
            path = Path(folder, each)
            if path.is_file() and not path.is_symlink():
                yield path


UNUSED = ("drivers/gpu", "drivers/media", "drivers/net/ethernet", "drivers/net/wireless", "drivers/staging", "sound")
"""Folders whose sources no build of this architecture reads: a third of the tree."""


def _unpacked(archive: Path, work: Path) -> Path:
    """Unpack what a build of this architecture reads, and return the tree."""
    out = [f"--exclude=*/{folder}/*.[chS]" for folder in UNUSED]
    done = subprocess.run(["tar", "-xf", archive, "-C", work, *out], capture_output=True, text=True, check=False)
    trees = [path.parent for path in work.glob("*/Kconfig")]
    if done.returncode != 0 or len(trees) != 1:
        raise EnvironmentFailure(f"{archive} cannot be unpacked: {done.stderr.strip()}")
    return trees[0]


def _linked(tree: Path, work: Path) -> Path:
    """Return a tree of links to the files of another one, so that what is changed for the build is not changed there."""
    copy = work / "tree"
    shutil.copytree(tree, copy, copy_function=os.symlink, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    return copy


CHANGES = (
    ("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100\n", f"config HZ\n\tint\n\tdefault {HZ}\n"),
    ("arch/x86/um/user-offsets.c", "DEFINE_LONGS(HOST_FP_SIZE, 2696)", "DEFINE_LONGS(HOST_FP_SIZE, 12288)"),
)
"""Files of the tree, and what becomes of a text in them before the build: ticks, which have no option, and the room for the registers of a
processor, in which those of AMX (11,008 B) do not fit before Linux 6.13: no program starts there (`ptrace set fp regs failed`)."""


def _change(tree: Path) -> None:
    for name, old, new in CHANGES:
        path = tree / name
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if old in text:
            path.unlink()  # it may be a link
            write_file(path, text.replace(old, new))


class _Make:
    """The kernel's own build of one tree, with its output beside it."""

    def __init__(self, tree: Path, work: Path) -> None:
        self._tree = tree
        self._work = work
        self.output = work / "output"
        self.output.mkdir()

    def configure(self, configuration: str) -> None:
        """Write the configuration; refuse a tree that has no time travel."""
        fragment = self._work / "fragment"
        write_file(fragment, configuration)
        self._call("allnoconfig", KCONFIG_ALLCONFIG=str(fragment))
        have = (self.output / ".config").read_text(encoding="utf-8").splitlines()
        if TIME_TRAVEL not in have:
            raise UsageError(
                f"Linux {self.version()} has no time travel for user-mode Linux (UML_TIME_TRAVEL_SUPPORT)",
                "it is in Linux from 5.4 on",
            )

    def compile(self, jobs: int) -> None:
        """Build the program."""
        self._call(f"-j{jobs}", "linux")

    def version(self) -> str:
        """Return the version that the tree names itself."""
        return self._call("-s", "kernelrelease").split()[-1]

    def compiler(self) -> str:
        """Return the compiler as the configuration names it."""
        for line in (self.output / ".config").read_text(encoding="utf-8").splitlines():
            if line.startswith("CONFIG_CC_VERSION_TEXT="):
                return line.partition("=")[2].strip('"')
        return ""

    def _call(self, *words: str, **settings: str) -> str:
        """Call `make`, keep what is printed in a log, and return it; the log's last lines tell why it failed."""
        environment = {**os.environ, "LC_ALL": "C", **settings}
        environment.update(
            KBUILD_BUILD_TIMESTAMP="1970-01-01", KBUILD_BUILD_USER="sojourn", KBUILD_BUILD_HOST="sojourn"
        )
        done = subprocess.run(
            ["make", "-C", str(self._tree), "ARCH=um", f"O={self.output}", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            env=environment,
            check=False,
        )
        if done.returncode != 0:
            last = "\n".join(f"  {line}" for line in done.stdout.splitlines()[-LOG_LINES:])
            raise EnvironmentFailure(f"the tree does not build; the last lines of its log:\n{last}")
        return done.stdout
