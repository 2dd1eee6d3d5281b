"""Runs with plugins, each in a process of its own: what the parent does.

A plugin may crash, compute for ever, take all memory or leave the program: the run fails in a sentence, and nothing
else does. The process limits itself (see `sojourn.plugins.child`); here it gets its job, and is ended if it waits
without computing.
"""

from __future__ import annotations

import json
import math
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Annotated, Any, cast

from pydantic import Field, ValidationError

import sojourn._engine as _engine
from sojourn.base.errors import InterruptedRun, RunError, plain
from sojourn.base.memory import budget
from sojourn.declarations.base import Strict
from sojourn.plugins.child import BUILD_ROOM, CALL_S
from sojourn.plugins.file import Plugin
from sojourn.process.isolated import python_command
from sojourn.scenario.scenario_file import Scenario
from sojourn.simulation.engine import NOTICE_EVERY_S
from sojourn.simulation.guest import simulate_in_guest

PATIENCE_S = 60.0
"""Seconds without a word from the process, after which it is ended.

chosen: it speaks while calls return, many times a second; on a machine that is busy, somewhat less often.
"""

IDLE_S = 8.0
"""Seconds without a word in which the process computes next to nothing, after which it is ended: a call waits for something.

chosen: with start and end, who asks has an answer within 15 s; a process that computes gets its share many times in them.
"""

IDLE_SHARE = 0.02
"""Share of one core that counts as nothing. chosen: who looks every 0.04 s whether calls return takes a thousandth."""

GRACE_S = 2.0
"""Seconds of computing in a call beyond those after which the system ends the process, if the plugin has not told it not to.

chosen: the system counts whole seconds, and this side looks some times a second.
"""

MEMORY = 2**30
"""Default limit of a plugin's memory, in bytes.

chosen: a long run without rows takes 64 MB; to fill ten times as much takes a second.
"""

MOST_LINES = 10
"""Last lines of a failed plugin's output in its error. chosen: an exception of Python fits."""


class PluginFailed(RunError):
    """A plugin crashed, took too much, or broke the rules of a queue manager."""


def try_plugins(plugins: Sequence[Plugin]) -> None:
    """Load plugins in a process of their own and make a manager of each, so that faults are reported before runs begin.

    Raises
    ------
    PluginFailed
        If one cannot be loaded.
    """
    _ask({"scenario": None}, plugins, min(budget(), MEMORY), None, "could be loaded", 0.0)


def simulate_apart(
    scenario: Scenario,
    seed: int,
    plugins: Sequence[Plugin],
    *,
    cancel: _engine.CancelToken | None = None,
    watch: Callable[[float], None] | None = None,
    memory: int | None = None,
    is_controller: bool = False,
) -> dict[str, bytes]:
    """Make a run with plugins, or with the TCP of a kernel; return its files as `sojourn.store.pack` does.

    Parameters
    ----------
    scenario, seed
        What to run.
    plugins
        Those that the scenario may ask for.
    cancel
        What stops it from another thread.
    watch
        Called with the share that is done.
    memory
        Bytes that the run may take, plugin and records together; a gigabyte if left out.
    is_controller
        Whether plugins are congestion controllers.

    Raises
    ------
    PluginFailed
        If a plugin failed.
    RunError
        If the run failed otherwise.
    InterruptedRun
        If `cancel` was used.
    """
    if scenario.kernel:
        return simulate_in_guest(scenario, seed, cancel=cancel, watch=watch, memory=memory)
    job = {"scenario": scenario.canonical(), "seed": seed, "key": scenario.key(seed)}
    job |= {"is_controller": is_controller}
    share = min(budget(), MEMORY) if memory is None else memory
    return _ask(job, plugins, share, cancel, "came to its end", scenario.duration_s, watch)


def check_apart(
    scenario: Scenario, plugin: Plugin, like: str, rows: Sequence[str], told: Callable[[tuple[str, str, str]], None]
) -> None:
    """Judge a plugin that manages the upstream of a scenario.

    Parameters
    ----------
    scenario, plugin
        What is judged.
    like
        The kind whose laws it keeps; none if empty.
    rows
        Which rows, by what the engine calls them.
    told
        Called with verdict, expectation and finding of each row that was judged, in order.

    Raises
    ------
    PluginFailed
        If the plugin failed, in the first row that was not told.
    """
    job = {"scenario": scenario.canonical(), "like": like, "rows": list(rows)}
    _ask(job, [plugin], min(budget(), MEMORY), None, "was judged", 0.0, row=told)


def packets_kept(scenario: Scenario, plugin: Plugin) -> int | None:
    """Return how many packets wait at once in a plugin before one is dropped for want of room; `None` if it counts no packets.

    Raises
    ------
    PluginFailed
        If the plugin failed.
    """
    found: list[tuple[str, str, str]] = []
    check_apart(scenario, plugin, "", [], found.append)
    ((kept, _, _),) = found
    return int(kept) if kept else None


def replay_apart(text: str, plugin: Plugin, how: str, slack_ns: int) -> tuple[int, int, str]:
    """Replay a golden trace into a plugin: calls, and the line and the words of a difference.

    Parameters
    ----------
    text
        The trace.
    plugin
        Plugin that replays it.
    how, slack_ns
        How both are compared.

    Raises
    ------
    PluginFailed
        If the plugin failed.
    RunError
        If the text is no trace.
    """
    job = {"scenario": None, "trace": text, "how": how, "slack_ns": slack_ns}
    found: list[tuple[str, str, str]] = []
    aim = "had replayed the trace"
    _ask(job, [plugin], min(budget(), MEMORY), None, aim, 0.0, row=found.append)
    ((calls, line, difference),) = found
    return int(calls), int(line), _plain_lines(difference)


def _ask(
    job: dict[str, Any],
    plugins: Sequence[Plugin],
    memory: int,
    cancel: _engine.CancelToken | None,
    aim: str,
    duration_s: float,
    watch: Callable[[float], None] | None = None,
    row: Callable[[tuple[str, str, str]], None] | None = None,
) -> dict[str, bytes]:
    """Have a process do a job; `aim` names the aim that it missed if it dies."""
    listed = [{"name": p.name, "file": p.file, "bytes": len(p.content)} for p in plugins]
    head = json.dumps({**job, "memory": memory, "plugins": listed}).encode()
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            python_command("from sojourn.plugins.child import main; main()", is_repeatable=True),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            cwd="/",
            env=_environment(),
            start_new_session=True,  # an interrupt ends this process, which ends that one
        )
        try:
            answer, share = _talk(process, head, plugins, cancel, watch, row, memory + BUILD_ROOM)
        finally:
            process.kill()
            _close(process)
        if "files" in answer:
            return cast("dict[str, bytes]", answer["files"])
        if "failed" in answer:
            kind = PluginFailed if answer.get("is_plugin") else RunError
            raise kind(_plain_lines(answer["failed"]), _plain_lines(answer.get("hint", "")))
        names = " and ".join(f'"{plugin.name}"' for plugin in plugins)
        past = f", past {share * duration_s:.3g} s of simulated time" if duration_s else ""
        what = _end(process.returncode, answer, aim)
        raise PluginFailed(f"the plugin {names} {what}{past}", _printed(printed))


def _environment() -> dict[str, str]:
    """Return variables under which the same input gives the same bits: hashes of texts follow none of the user's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    alone = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return kept | alone | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def _talk(
    process: subprocess.Popen[bytes],
    head: bytes,
    plugins: Sequence[Plugin],
    cancel: _engine.CancelToken | None,
    watch: Callable[[float], None] | None,
    row: Callable[[tuple[str, str, str]], None] | None,
    most: int,
) -> tuple[dict[str, Any], float]:
    """Hand the job over and listen; return the answer, or how it ended without one, and the share that was done.

    An answer has `most` bytes at most.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(head + b"\n" + b"".join(plugin.content for plugin in plugins))
        process.stdin.close()
    except OSError:  # it died before: its last answer is read below
        pass
    share, text, is_over = 0.0, bytearray(), False
    heard, used, has_spoken, is_limited = time.monotonic(), _used_s(process.pid), False, True
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not is_over:
            if cancel is not None and cancel.cancelled:
                raise InterruptedRun("the run was interrupted")
            if time.monotonic() - heard > PATIENCE_S:
                return {"silent": True}, share
            if not selector.select(NOTICE_EVERY_S):
                silent, computed = time.monotonic() - heard, _used_s(process.pid) - used
                if has_spoken and silent > IDLE_S and computed < IDLE_SHARE * silent:
                    return {"idle": True}, share
                if has_spoken and is_limited and computed > CALL_S + GRACE_S:
                    return {"computes": True}, share
                continue
            part = os.read(process.stdout.fileno(), 1 << 20)
            heard, used, is_over = time.monotonic(), _used_s(process.pid), not part
            has_spoken = True
            text += part
            while (end := text.find(b"\n")) >= 0:
                line = _word(bytes(text[:end]))
                if "row" in line and row is not None:
                    row(line["row"])
                elif "share" not in line:
                    return _whole(line, bytes(text[end + 1 :]), process.stdout, most), share
                share = line.get("share", share)
                is_limited = is_limited and "is_over" not in line
                del text[: end + 1]
                if watch is not None:
                    watch(share)
            if len(text) > LONGEST_WORD:
                return FOREIGN, share
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:  # it closed its output and goes on
        return {"silent": True}, share
    return {}, share


class _Word(Strict):
    """A line of the process's output."""

    share: float | None = Field(None, ge=0.0, le=1.0)
    is_over: bool | None = None
    """True if plugins have done their part, so that other code may be computing."""
    row: tuple[str, str, str] | None = None
    failed: str | None = None
    hint: str | None = None
    is_plugin: bool | None = None
    files: dict[str, Annotated[int, Field(ge=0)]] | None = None
    """Sizes of the files that follow."""


FOREIGN = {"foreign": True}
"""The answer of a process in which a plugin has written among its words."""

LONGEST_WORD = 2**20
"""Bytes of a line. chosen: rows of judgements and words of failures have some hundred."""


def _word(line: bytes) -> dict[str, Any]:
    """Return what the process says in a line."""
    try:
        word = _Word.model_validate_json(line).model_dump(exclude_none=True)
    except ValidationError:
        return FOREIGN
    return word or FOREIGN


def _used_s(pid: int) -> float:
    """Return how long a process has computed, in seconds; for ever where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123 - of the system
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return math.inf


def _whole(line: dict[str, Any], start: bytes, rest: IO[bytes], most: int) -> dict[str, Any]:
    """Return an answer with the files that follow it; without, if they did not come, or are other ones."""
    if "files" not in line:
        return line
    sizes: Mapping[str, int] = line["files"]
    total = sum(sizes.values())
    if total > most or len(start) > total:
        return FOREIGN
    content = start + rest.read(total - len(start) + 1)
    if len(content) != total:
        return {} if len(content) < total else FOREIGN
    files: dict[str, bytes] = {}
    place = 0
    for name, size in sizes.items():
        files[name] = content[place : place + size]
        place += size
    return {"files": files}


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # what was not written will not be
                continue
    process.wait()


def _end(status: int, answer: Mapping[str, Any], aim: str) -> str:
    """Say how a process ended that gave no answer."""
    if answer.get("silent"):
        return f"said nothing for {PATIENCE_S:.0f} s and was ended"
    if answer.get("idle"):
        return f"waited for {IDLE_S:.0f} s in one call and was ended"
    if answer.get("foreign"):
        return "wrote into a descriptor of the process that is not its own"
    if answer.get("computes") or status == -signal.SIGXCPU:
        return f"computed for {CALL_S} s in one call"
    if status == -signal.SIGKILL:
        return "was killed, perhaps for want of memory"
    if status < 0:
        return f"crashed: {signal.strsignal(-status)}"
    return f"ended its process with status {status} before it {aim}"


def _printed(file: IO[bytes]) -> str:
    """Return what the process printed last, as a hint."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8192))
    lines = file.read().decode("utf-8", "replace").strip().splitlines()[-MOST_LINES:]
    return "" if not lines else "it printed:\n" + "\n".join(f"  {plain(line)}" for line in lines)


def _plain_lines(text: str) -> str:
    return "\n".join(plain(line) for line in text.splitlines())
