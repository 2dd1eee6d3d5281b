"""Golden traces: which come with Sojourn, how they are read, recorded and replayed.

Source: the format stands in `docs/reference/golden-traces.md`; loads are those of `sojourn-check`. Deviations: none known.
"""

from __future__ import annotations

import gzip
import lzma
import shlex
import zlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Protocol

import sojourn._engine as _engine
from sojourn.aqm.scenarios import CELLS
from sojourn.aqm.suite import BYTES_ONLY, Manager
from sojourn.base.errors import UsageError, plain, why
from sojourn.base.files import read_named
from sojourn.plugins import Plugin, PluginFailed, packets_kept, replay_apart
from sojourn.report.checks import Judged
from sojourn.scenario.scenario_file import Scenario
from sojourn.simulation.engine import simulate
from sojourn.version import VERSION

LARGEST = 64 * 2**20
"""Bytes of the text of a trace. Source: `LARGEST_TRACE` of the engine."""

FOLDER = Path(str(files("sojourn.aqm") / "golden"))
"""Folder of the traces that come with Sojourn."""

COURSES = {
    "drop-tail-packets": ('drop-tail limit="100 packets"', ""),
    "drop-tail-bytes": ('drop-tail limit="75000 B"', ""),
    "codel": ("codel", "RFC 8289"),
    "codel-ecn": ("codel ecn=true", "RFC 8289 section 5"),
    "codel-2012": ("codel profile=white2012", "White 2012 section 1.1"),
    "codel-2013": ("codel profile=white2013", "White 2013 section 3.2"),
    "cobalt": ("cobalt ecn=true", ""),
    "sfq": ("sfq", ""),
    "sfq-ns2": ("sfq-ns2", ""),
    "sfq-codel": ("sfq-codel", "White 2013 section 3.2"),
    "fq-codel": ("fq-codel", "RFC 8290"),
    "fq-cobalt": ("fq-cobalt", ""),
    "cake": ("cake", ""),
    "pie": ("pie ecn=true", "RFC 8033"),
    "sfq-pie": ("sfq-pie", ""),
    "fq-pie": ("fq-pie", ""),
    "docsis-pie": ("docsis-pie", "RFC 8034"),
    "docsis-dual-queue": ("docsis-dual-queue", "RFC 9957"),
    "docsis-dual-queue-unprotected": ("docsis-dual-queue queue_protection=false", ""),
    "dualpi2": ("dualpi2", "RFC 9332"),
    "red": ("red ecn=true", ""),
    "ack-priority": ("ack-priority manager=codel", "White 2013 section 1.3"),
}
"""Traces of the course: name, manager line, and the document that the manager follows, if it is one of the IETF's or of a study."""

RUNS = ("codel", "fq-codel", "pie", "docsis-pie", "docsis-dual-queue", "dualpi2")
"""Kinds with a trace of a run, too."""

RUN_S = 5.0
"""Length of such a run. chosen: its text has some 300 kB."""


@dataclass(frozen=True)
class Replayed:
    """Result of a replay."""

    manager: str
    """Manager line, or the name of a plugin."""
    calls: int
    """Calls of the manager until the end or the first difference."""
    line: int
    """Line of the trace that differs; 0 if none does, or the whole."""
    difference: str
    """First difference; empty if there is none."""


def read_golden(path: Path) -> str:
    """Return the text of a trace, plain or packed by xz or gzip.

    Raises `UsageError` if it cannot be read or is no text of a trace's size.
    """
    try:
        content = read_named(path, most=LARGEST)
        if content[:6] == b"\xfd7zXZ\0":
            content = _unpacked(lzma.LZMADecompressor(memlimit=LARGEST), content, path)
        elif content[:2] == b"\x1f\x8b":
            content = _unpacked(zlib.decompressobj(wbits=31), content, path)
        return content.decode("utf-8")
    except (OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        is_told = isinstance(error, OSError) or type(error) is ValueError
        raise UsageError(f"{plain(path)}: {why(error) if is_told else 'it is damaged'}") from error


class _Unpacker(Protocol):
    """Common interface of the decompressors of xz and gzip."""

    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _unpacked(unpacker: _Unpacker, packed: bytes, path: Path) -> bytes:
    content = unpacker.decompress(packed, LARGEST + 1)
    if len(content) > LARGEST:
        raise UsageError(f"{plain(path)}: it unpacks to more than {LARGEST >> 20} MiB")
    if not unpacker.eof:
        raise ValueError("it is cut off")
    return content


def pack(text: str, path: Path) -> bytes:
    """Return what a file of that name holds: the text, packed if the name says so."""
    content = text.encode()
    if path.suffix == ".xz":
        return lzma.compress(content, preset=6 | lzma.PRESET_EXTREME)
    return gzip.compress(content, 9, mtime=0) if path.suffix == ".gz" else content


def golden_traces(kind: str) -> list[Path]:
    """Return the traces of a kind that come with Sojourn, in order; of `all`, all.

    Raises `UsageError` if there is none.
    """
    found = sorted(FOLDER.glob("*.sjt.xz"))
    if kind != "all":
        wanted = [name for name, (line, _) in COURSES.items() if kind in (name, line.split()[0])]
        wanted += [f"{name}-run" for name in RUNS if kind in (name, f"{name}-run")]
        found = [path for path in found if path.name.removesuffix(".sjt.xz") in wanted]
    if not found:
        kinds = dict.fromkeys(line.split()[0] for line, _ in COURSES.values())
        raise UsageError(f'no golden trace of "{plain(kind)}"', f"all, or one of {', '.join(kinds)}")
    return found


def own_traces(manager: Manager) -> list[Path]:
    """Return the traces that come along for what a manager is: as itself those of each variant, else those of the defaults."""
    lines = {name: line.split()[0] for name, (line, _) in COURSES.items()}
    names = [name for name, kind in lines.items() if kind == manager.like]
    if not manager.is_itself:
        names = [name for name in names if name == manager.like]
    names += [f"{kind}-run" for kind in RUNS if kind == manager.like]
    return [FOLDER / f"{name}.sjt.xz" for name in names]


def room_of(manager: Manager) -> int | None:
    """Return how many packets wait in a plugin before one is dropped for want of room; `None` if it counts no packets.

    Raises `PluginFailed` if the plugin failed.
    """
    return None if manager.plugin is None else packets_kept(manager.scenario(None), manager.plugin)


def judge_by_trace(manager: Manager, path: Path, item: str, *, is_own: bool = False, room: int | None = None) -> Judged:
    """Judge whether a manager does what a trace says, call by call; where the trace has draws, a plugin may have others.

    Raises `UsageError` if the file is no trace.

    Parameters
    ----------
    manager
        As itself, it has the parameters of the trace; else its own.
    path
        The trace.
    item
        What the row is called.
    is_own
        Whether it is a trace of `own_traces`, whose limit is not a plugin's.
    room
        Packets that a plugin holds: such a trace is made anew with that limit.
    """
    name = path.name.partition(".")[0]
    is_with_room = is_own and room is not None and manager.like not in BYTES_ONLY
    text = _with_room(name, room) if is_with_room and room is not None else read_golden(path)
    line = None if manager.is_itself else manager.line
    expected = f"the same outputs, with a limit of {room} packets" if is_with_room else "the same outputs"
    try:
        done, by_law = _replayed(text, line, manager.plugin)
        place = f"line {done.line}: " if done.line else ""
        found = f"{place}{done.difference}" if done.difference else f"so over {done.calls} calls{by_law}"
        verdict = "fail" if done.difference else "pass"
        if done.difference and is_own and manager.plugin is not None and not is_with_room and _overflows(text):
            verdict, found = "not judged", "the trace has drops for want of room, and the manager counts no packets"
    except PluginFailed as error:
        found, verdict = error.message, "fail"
    statement = f"It does what the golden trace {plain(name)} says, call by call."
    return Judged(item, statement, "golden trace", verdict, expected, found)


def _replayed(text: str, line: str | None, plugin: Plugin | None) -> tuple[Replayed, str]:
    """Replay a trace to the letter, or else, if it has draws and a plugin others, by law; in words, if so."""
    has_draws = plugin is not None and "= draws recorded" in text
    try:
        done = replay(text, line=line, plugin=plugin)
        if not (done.difference and has_draws):
            return done, ""
    except PluginFailed as error:
        if not (has_draws and "it draws more numbers than the trace has" in error.message):
            raise
    return replay(text, plugin=plugin, how="law"), ", by law: its random numbers are its own"


def _overflows(text: str) -> bool:
    """Return whether packets are dropped for want of room in a trace."""
    return any(line.startswith("< d ") and line.endswith((" overlimit", " fat_flow")) for line in text.splitlines())


def _with_room(name: str, packets: int) -> str:
    """Return a trace that comes with Sojourn, made anew with a limit in packets."""
    kind, limit = name.removesuffix("-run"), f"{packets} packets"
    if kind != name:
        return _of_run(kind, f"limit={limit}")
    line, rfc = COURSES[name]
    words = [word for word in shlex.split(line) if not word.startswith("limit=")]
    return _engine.golden_course(f'{" ".join(words)} limit="{limit}"', rfc, f"sojourn {VERSION}")


def record(scenario: Scenario, seed: int, direction: str, rfc: str = "") -> str:
    """Return a trace of the arrivals of a run at its manager, before a line of the link's rate.

    Raises `UsageError` if the queue is a plugin; `RunError` if the run failed.
    """
    try:
        observed, arrivals = _engine.observe_queue(scenario.compiled, direction)
    except ValueError as error:
        raise UsageError(str(error)) from error
    simulate(observed, seed)
    return arrivals.trace(rfc, f"sojourn {VERSION}")


def made_anew(name: str) -> str:
    """Return a trace that comes with Sojourn, made anew."""
    kind = name.removesuffix("-run")
    if kind == name:
        line, rfc = COURSES[name]
        return _engine.golden_course(line, rfc, f"sojourn {VERSION}")
    return _of_run(kind)


def _of_run(kind: str, *settings: str) -> str:
    (cell,) = [cell for cell in CELLS if cell.item == "C2"]
    scenario = Manager(kind, kind, settings).scenario(cell, RUN_S)
    return record(scenario, 1, cell.direction, COURSES[kind][1])


def replay(
    text: str, *, line: str | None = None, plugin: Plugin | None = None, how: str = "exact", slack_ns: int = 0
) -> Replayed:
    """Replay a trace into a manager and compare.

    Raises `UsageError` if the text is no trace, or the line no manager; `PluginFailed` if the plugin failed.

    Parameters
    ----------
    text
        The trace.
    line
        The manager, as a manager line; that of the trace if left out.
    plugin
        A plugin in its place.
    how
        `exact`: every line. `law`: for other random numbers. `slack`: for coarser clocks.
    slack_ns
        How much coarser.
    """
    if plugin is not None:
        calls, at, difference = replay_apart(text, plugin, how, slack_ns)
        return Replayed(plugin.name, calls, at, difference)
    try:
        manager, calls, found = _engine.replay_trace(text, line, how, slack_ns)
    except ValueError as error:
        raise UsageError(plain(str(error))) from error
    return Replayed(manager, calls, *(found or (0, "")))
