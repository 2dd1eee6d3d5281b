"""Directories of strangers: whatever is put there, a command ends in words and changes nothing outside.

usage: .venv/bin/python -m robustness.strangers COMMAND|all COUNT [SEED]    (in tests/)

A home directory holds what nobody may touch or tell, and a result, a store or a trial that came from somebody else. Of
that, some files are replaced: by links, pipes, sockets, devices, directories, files of other owners, hard links to
what lies outside; others are added: bytecode, modules, settings of libraries, names of all kinds. In a third of the
draws a thread swaps a file for another while the command reads; figures are drawn in a tenth of them. Then a command is run, and looked at:

- it ends, with a status of its own and without a traceback;
- nothing in the home directory has changed but the directory itself and what the command was asked to write;
- no secret of the home directory stands in what was written or printed, and no control sign in what was printed.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import marshal
import os
import random
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path
from unittest import mock

from robustness.damage import make_results
from sojourn.cli import run_command
from sojourn.plots.backends import mpl
from support import write_study

SECRET = "SECRET-of-the-house"
"""Stands in every file of the home directory."""

EVIL = 'import os, pathlib; pathlib.Path(os.environ["HOME"], "EVIL").write_text("run")\n'
"""A program that leaves a trace."""

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt" viewBox="0 0 9 9"></svg>'
"""Stands for drawings where they are not drawn."""

WAIT_S = 120
"""A draw that takes longer hangs. chosen: the slowest takes a second; machines may be busy."""

OUTPUTS = [
    "report.html",
    "summary.csv",
    "summary.parquet",
    "comparison.csv",
    "claims.csv",
    "effects.csv",
    "page.html",
    ".summary.csv.partial",
    ".report.html.partial",
    "figures",
    "tables",
    "figures/over-time.svg",
    "tables/points.csv",
]
"""Names that commands write, or wrote."""

EXTRAS: dict[str, str | bytes] = {
    "matplotlibrc": "text.usetex: True\nbackend: module://evil\n",
    "evil.py": EVIL,
    "study.py": EVIL,
    "study/study.py": EVIL,
    "sitecustomize.py": EVIL,
    "numpy.py": EVIL,
    "polars.py": EVIL,
    "duckdb.py": EVIL,
    "matplotlib.py": EVIL,
    "conftest.py": EVIL,
    ".duckdbrc": "copy (select 1) to 'EVIL';\n",
    ".env": "SOJOURN_STORE=/\n",
    "pyvenv.cfg": "home = /\n",
    ".git/config": "[core]\n\tfsmonitor = touch EVIL\n",
    "a[b]*?.parquet": b"PAR1",
    "\x1b[31mred\n.parquet": b"PAR1PAR1PAR1",
    "records/\x1b]0;title\x07.parquet": b"",
    ".x.unfinished-nowhere.1": "x",
    ".x.reserved": "nowhere.1",
}


def bytecode() -> bytes:
    """Return bytecode that claims to need no check against its source."""
    code = compile(EVIL, "study.py", "exec")
    magic = __import__("importlib.util").util.MAGIC_NUMBER
    return magic + (1).to_bytes(4, "little") + b"\0" * 8 + marshal.dumps(code)


def make_home(home: Path) -> None:
    """Fill a home directory with what nobody may touch."""
    for name in (".bashrc", ".ssh/id_ed25519", ".ssh/authorized_keys", "Documents/letter.txt"):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{SECRET} {name}\n")
    (home / "Documents" / "study.toml").write_text(f'name = "{SECRET}"\n')
    (home / "Documents" / "manifest.json").write_text(f'{{"study": "{SECRET}"}}\n')
    (home / "bin").mkdir()
    (home / "bin" / "tool").symlink_to("../.bashrc")


def digest_of(home: Path, *aside: Path) -> str:
    """Return a digest of a whole directory, names, kinds, modes, times and contents, but for some places."""
    found = hashlib.sha256()
    for folder, folders, files in os.walk(home):
        here = Path(folder)
        folders[:] = sorted(name for name in folders if here / name not in aside)
        for name in sorted([*folders, *files]):
            path = here / name
            if path in aside:
                continue
            told = path.lstat()
            holds_aside = any(place.is_relative_to(path) for place in aside)
            times = 0 if holds_aside else told.st_mtime_ns
            content = b""
            if stat.S_ISREG(told.st_mode):
                content = path.read_bytes()
            elif stat.S_ISLNK(told.st_mode):
                content = os.fsencode(path.readlink())
            links = told.st_nlink if stat.S_ISREG(told.st_mode) and not told.st_nlink > 1 else 1
            found.update(repr((str(path), told.st_mode, told.st_uid, times, links)).encode())
            found.update(content)
    return found.hexdigest()


Harm = Callable[[Path, Path, random.Random], None]


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)


def _link(path: Path, home: Path, dice: random.Random) -> None:
    targets = [
        home / ".bashrc",
        home / ".ssh",
        home / ".ssh" / "id_ed25519",
        home / "Documents",
        home / "Documents" / "manifest.json",
        home / "Documents" / "study.toml",
        home / "not-there",
        home,
        path,
        Path("/dev/zero"),
        Path("/dev/stdin"),
        Path("/proc/self/environ"),
        Path("/"),
    ]
    target = dice.choice(targets)
    _clear(path)
    path.symlink_to(os.path.relpath(target, path.parent) if dice.random() < 0.3 else target)


def _hard_link(path: Path, home: Path, _: random.Random) -> None:
    if path.exists():  # what is read through one is nobody's secret: who made it could read it
        return
    _clear(path)
    path.hardlink_to(home / ".bashrc")


def _pipe(path: Path, _home: Path, _: random.Random) -> None:
    _clear(path)
    os.mkfifo(path)


def _socket(path: Path, _home: Path, _: random.Random) -> None:
    _clear(path)
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as end:  # of long names
        end.bind(str(path))


def _device(path: Path, _home: Path, dice: random.Random) -> None:
    _clear(path)
    with contextlib.suppress(PermissionError):  # who is not root makes none
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, dice.choice([3, 5, 8, 9])))


def _directory(path: Path, _home: Path, dice: random.Random) -> None:
    _clear(path)
    path.mkdir()
    if dice.random() < 0.5:
        (path / "inside").write_text("x")


def _file(path: Path, _home: Path, dice: random.Random) -> None:
    _clear(path)
    path.write_bytes(dice.choice([b"", b"x", b"PAR1", b"{}", b"[", b"\xff" * 99]))


def _owner(path: Path, _home: Path, dice: random.Random) -> None:
    if path.is_symlink() or not path.exists():
        return
    with contextlib.suppress(PermissionError):
        os.chown(path, dice.choice([0, 1, 12345]), 12345)
    path.chmod(dice.choice([0, 0o444, 0o4777]))


def _gone(path: Path, _home: Path, _: random.Random) -> None:
    _clear(path)


HARMS: list[Harm] = [_link, _link, _link, _hard_link, _pipe, _pipe, _socket, _device, _directory, _file, _owner, _gone]


def _places(given: Path, dice: random.Random) -> Path:
    """Choose a name below a directory: one that is there, or one that commands write."""
    there = [path for path in sorted(given.rglob("*")) if not path.is_symlink()]
    if dice.random() < 0.4 or not there:
        return given / dice.choice(OUTPUTS)
    return dice.choice(there)


def harmed(given: Path, home: Path, dice: random.Random) -> list[str]:
    """Change some things in a directory; return what was done."""
    done: list[str] = []
    for _ in range(dice.choice([1, 1, 2, 3])):
        if dice.random() < 0.25:
            name = dice.choice([*EXTRAS, "study/__pycache__/study.cpython-311.pyc"])
            content = EXTRAS.get(name, bytecode())
            with contextlib.suppress(OSError):
                (given / name).parent.mkdir(parents=True, exist_ok=True)
                data = content.encode() if isinstance(content, str) else content
                if not (given / name).is_symlink():
                    (given / name).write_bytes(data)
            done.append(f"extra {name!r}")
            continue
        path, harm = _places(given, dice), dice.choice(HARMS)
        if any(parent.is_symlink() for parent in path.parents):
            continue  # it lies outside by now
        with contextlib.suppress(FileExistsError, NotADirectoryError):
            harm(path, home, dice)
        done.append(f"{harm.__name__} {path.relative_to(given)}")
    return done


@contextlib.contextmanager
def swapping(given: Path, home: Path, dice: random.Random, aside: Path) -> Generator[str]:
    """Swap a file for something else, and back, while the block lasts."""
    files = [path for path in sorted(given.rglob("*")) if path.is_file() or path.is_dir()]
    files = [path for path in files if not any(one.is_symlink() for one in [path, *path.parents])]
    path, harm = dice.choice(files or [given / "x"]), dice.choice(HARMS[:-2])
    if not files:
        yield "nothing to swap"
        return
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    harm(aside / "other", home, dice)
    ended = threading.Event()

    def swap() -> None:
        pause = dice.choice([0.0, 0.0002, 0.002])
        here, there = aside / "other", aside / "own"
        while not ended.is_set():
            with contextlib.suppress(OSError):
                path.rename(there)
                here.rename(path)
                time.sleep(pause)
                path.rename(here)
                there.rename(path)
            time.sleep(pause)

    thread = threading.Thread(target=swap, daemon=True)
    thread.start()
    try:
        yield f"swapped {path.relative_to(given)} {harm.__name__}"
    finally:
        ended.set()
        thread.join()


class World:
    """A home directory with wholes to copy, and what each command is asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.given = self.home / "Downloads" / "given"
        self.out = self.home / "Downloads" / "out"
        self._wholes = folder / "wholes"
        self._wholes.mkdir()
        self.study, self.run = make_results(self._wholes)
        self.store = self._wholes / "store"
        self.trial = self._trial()
        make_home(self.home)
        self.given.parent.mkdir()
        self.own = folder / "own"
        self.own.mkdir()
        write_study(self.own, "400 ms", keep=["series"], matrix=[{"axes": {"rtt": ["near"]}}])

    def _trial(self) -> Path:
        files = Path(__file__).parents[1] / "field" / "files"
        trial = self._wholes / "trial"
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            assert run_command(["trial", "import", str(files), "--out", str(trial)]) == 0, said.getvalue()
        return trial

    def draw(self, command: str, dice: random.Random) -> tuple[Path, list[str]]:
        """Return what of the wholes a command reads, and its arguments."""
        given, whole = str(self.given), str(self.study)
        study = str(self.own / "study.toml")
        choices: dict[str, list[tuple[Path, list[str]]]] = {
            "report": [(self.study, ["report", given]), (self.run, ["report", given])],
            "compare": [
                (self.study, ["compare", given, whole, "--all"]),
                (self.study, ["compare", whole, given, "--json"]),
                (self.study, ["compare", given, "--by", "rtt", "--html", f"{given}/page.html"]),
            ],
            "query": [
                (self.study, ["query", "--store", given, "select * from metrics"]),
                (self.study, ["query", "--store", given, "show tables"]),
                (self.run, ["query", "--store", given, "select * from delays"]),
                (self.store, ["query", "--store", given, "select * from runs", "--csv"]),
                (self.store, ["query", "--store", given, "select key, link from series"]),
                (self.store, ["query", "--store", given, f"explain analyze copy runs to '{given}/x'"]),
            ],
            "study run": [
                (self.store, ["study", "run", study, "--store", given, "--out", str(self.out)]),
                (self.study, ["study", "run", f"{given}/study.toml", "--out", str(self.out)]),
            ],
            "check": [
                (self.study, ["check", f"{given}/study.toml"]),
                (self.own, ["check", given + "/study.toml", given + "/base.toml"]),
            ],
            "trial": [
                (self.trial, ["trial", "analyse", given]),
                (self.trial, ["trial", "import", given, "--out", str(self.out)]),
            ],
        }
        return dice.choice(choices[command])


COMMANDS = ["report", "compare", "query", "study run", "check", "trial"]


def one(world: World, command: str, dice: random.Random) -> tuple[str, str]:
    """Make one draw; return how the command ended, and what is wrong with that, if anything."""
    for place in (world.given, world.out):
        _clear(place)
    whole, arguments = world.draw(command, dice)
    shutil.copytree(whole, world.given)
    what = harmed(world.given, world.home, dice)
    aside = (world.given, world.out, world.home / ".cache", world.home / ".config")
    before = digest_of(world.home, *aside)
    said = io.StringIO()
    race: contextlib.AbstractContextManager[str] = contextlib.nullcontext("")
    if dice.random() < 1 / 3:
        race = swapping(world.given, world.home, dice, world.folder / "aside")
    draws = dice.random() < 1 / 10
    with (
        contextlib.ExitStack() as stack,
        race as swapped,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        what.append(swapped)
        if not draws:  # what is written is as much, and takes a tenth of the time
            stack.enter_context(mock.patch.object(mpl, "_laid_out", return_value=None))
            stack.enter_context(mock.patch.object(mpl, "_svg", return_value=SVG))
        try:
            status: int | str = run_command(arguments)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            status = "traceback"
            said.write(traceback.format_exc(limit=-4, chain=False))
    wrong = ""
    if status not in (0, 1, 2) or "Traceback" in said.getvalue():
        wrong = f"status {status}"
    elif digest_of(world.home, *aside) != before:
        wrong = "the home directory has changed"
    elif SECRET in said.getvalue() or _told(world):
        wrong = "a secret was told"
    elif "\x1b" in said.getvalue():
        wrong = "a control sign was printed"
    end = f"{command}: {'done' if status == 0 else 'refused'}"
    return end, wrong and f"{wrong}: {arguments}, {what}: {said.getvalue()[-1500:]}"


def _told(world: World) -> bool:
    """Return whether a secret stands in a file that a command wrote."""
    for place in (world.given, world.out):
        for folder, _, files in os.walk(place):
            for name in files:
                path = Path(folder) / name
                told = path.lstat()
                if stat.S_ISREG(told.st_mode) and told.st_nlink == 1:
                    path.chmod(0o600)
                    if SECRET.encode() in path.read_bytes():
                        return True
    return False


@contextlib.contextmanager
def at_home(world: World) -> Generator[None]:
    """Stand in the home directory of a world, with its caches, and beside what somebody gave."""
    kept = dict(os.environ)
    here = Path.cwd()
    os.environ |= {
        "HOME": str(world.home),
        "XDG_CACHE_HOME": str(world.home / ".cache"),
        "XDG_CONFIG_HOME": str(world.home / ".config"),
        "SOJOURN_STORE": str(world.folder / "cache"),
    }
    os.chdir(world.given.parent)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(kept)


def campaign(
    command: str, numbers: range, seed: int, world: World, progress: Path | None = None
) -> tuple[Counter[str], list[str]]:
    """Return how commands ended, and what is to be known of those that broke a law."""
    ends: Counter[str] = Counter()
    faults: list[str] = []
    with at_home(world):
        for number in numbers:
            end, wrong = one(world, command, random.Random(f"{seed}/{command}/{number}"))
            ends[end] += 1
            if wrong:
                ends["broken"] += 1
                faults.append(f"seed {seed}, {command} {number}: {wrong}")
            if progress is not None:
                progress.write_text(f"{number}\n{dict(ends)}\n" + "\n".join(faults[:20]))
    return ends, faults


def work(command: str, first: int, count: int, seed: int, progress: Path) -> None:
    """Make a part of a campaign; the whole life of a process of `watched`."""
    with tempfile.TemporaryDirectory() as folder:
        campaign(command, range(first, count), seed, World(Path(folder)), progress)


def watched(command: str, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Make a campaign in another process, which is killed where it hangs, and goes on behind that."""
    ends: Counter[str] = Counter()
    faults: list[str] = []
    first = 0
    with tempfile.TemporaryDirectory() as folder:
        progress = Path(folder) / "progress"
        while first < count:
            progress.write_text(f"{first - 1}\n{{}}\n")
            statement = f"from robustness.strangers import work; from pathlib import Path; work({command!r}, {first}, {count}, {seed}, Path({str(progress)!r}))"
            process = subprocess.Popen([sys.executable, "-c", statement], stderr=subprocess.PIPE)
            while process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(1)
                if time.time() - progress.stat().st_mtime > WAIT_S:
                    process.kill()
                    process.wait()
            number, told, *wrong = progress.read_text().split("\n", 2)
            ends.update(eval(told))
            faults += [line for line in wrong[0].split("\n") if line] if wrong else []
            first = int(number) + 1
            if first < count:
                ends["broken"] += 1
                words = (process.stderr.read() if process.stderr else b"")[-2000:].decode()
                faults.append(f"seed {seed}, {command} {first}: hangs or kills the process {words}")
                first += 1
    return ends, faults


def main() -> int:
    """Make a campaign of each command."""
    command = sys.argv[1] if len(sys.argv) > 1 else "all"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    broken = False
    for name in COMMANDS if command == "all" else [command]:
        ends, faults = watched(name, count, seed)
        print(f"{name}, {count} draws, seed {seed}: {dict(sorted(ends.items()))}", flush=True)
        print("\n".join(faults[:20]), flush=True)
        broken |= bool(faults)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
