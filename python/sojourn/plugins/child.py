"""A run with plugins: what the process does that has them.

It reads one job from its standard input: a line of JSON and the plugins' files. It answers on its standard output:
lines that say how far it is, and at the end what went wrong, or the files of the run. What plugins print goes elsewhere.

The limits are for mistakes, not for malice: a plugin is a program of the user's, and could lift them.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any, TypeVar

import sojourn._engine as _engine
from sojourn.base.errors import RunError, SojournError
from sojourn.plugins.file import Plugin

if TYPE_CHECKING:
    from sojourn.plugins.library import Interface

CALL_S = 2
"""Seconds of computing that a call into a plugin may take.

chosen: it takes some microseconds; where a queue of 10,000 packets is sorted at each, 1 ms.
"""

ENGINE_S = 60
"""Seconds of computing between calls without progress, of the engine or of what a plugin does as it is removed.

chosen: metrics of a long run take a tenth of it.
"""

LARGEST_OUTPUT = 16 * 2**20
"""Bytes that a plugin may print or write into any file. chosen: prints are for finding mistakes."""

BUILD_ROOM = 256 * 2**20
"""Bytes beside those of the run, for packing its tables. chosen: a long run takes some ten megabytes."""


T = TypeVar("T")


@dataclass(frozen=True)
class Role:
    """Role of a plugin."""

    what: str
    methods: Mapping[str, str]
    """Methods that it needs, with their arguments."""
    named: str
    """Name that its class may have in the file."""
    trial: tuple[object, ...]
    """Arguments with which one is made to see whether that works."""
    interface: Callable[[], Interface]
    """Symbols that a shared library of it exports."""


def _managers() -> Interface:
    from sojourn.plugins.library import MANAGERS

    return MANAGERS


def _controllers() -> Interface:
    from sojourn.plugins.controller_library import CONTROLLERS

    return CONTROLLERS


MANAGER = Role("queue manager", {"enqueue": "packet, now", "dequeue": "now"}, "manager", (Random(0),), _managers)

CONTROLLER = Role(
    "congestion controller",
    {"on_congestion_avoidance": "acked, ack", "on_congestion": "cause, base, window, now"},
    "controller",
    (1448, 10),
    _controllers,
)


class _Wrong(Exception):
    """Fault of a plugin."""


def main() -> None:
    """Do the job of the standard input."""
    with os.fdopen(_far_copy(1), "wb") as answers:
        os.dup2(2, 1)  # whatever prints, prints no answer
        try:
            answer, files = _work(answers)
        except _Wrong as wrong:
            answer, files = {"failed": str(wrong), "hint": "", "is_plugin": True}, {}
        except SojournError as error:
            answer, files = _failure(error), {}
        _end_limit(answers)
        answers.write(json.dumps(answer).encode() + b"\n")
        for content in files.values():
            answers.write(content)
    os._exit(0)  # threads and exits of a plugin are not waited for


def _far_copy(descriptor: int) -> int:
    """Return a copy of a descriptor far from those that a program opens: plugins close and write into what they take for theirs."""
    if os.name == "posix":
        import fcntl
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        try:
            return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, min(most, FAR) - 1)
        except (OSError, OverflowError):  # there are no more
            pass
    return os.dup(descriptor)


FAR = 1024
"""Descriptors that a process may have. chosen: the usual limit; a plugin that closes all is found to say nothing."""


def _work(answers: IO[bytes]) -> tuple[dict[str, Any], dict[str, bytes]]:
    job: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    plugins = [Plugin(one["name"], one["file"], sys.stdin.buffer.read(one["bytes"])) for one in job["plugins"]]
    from sojourn.scenario.scenario_file import Scenario
    from sojourn.simulation.engine import simulate
    from sojourn.store import pack

    if job["scenario"] is not None and "rows" not in job:
        importlib.import_module("polars")  # before the limits, which are the plugin's
    _limit(job["memory"])
    Watch(answers)(0.0)  # from here on, silence is the plugin's
    draws = _Recorded if job.get("how", "law") != "law" else _Chosen if "rows" in job else None
    role = CONTROLLER if job.get("is_controller") else MANAGER
    for plugin in plugins:
        _guarded(plugin, lambda plugin=plugin: _load(plugin, role, draws))
    if "trace" in job:
        return _replay(job, plugins[0], answers)
    if job["scenario"] is None:
        return {"files": {}}, {}
    scenario = Scenario.parse(job["scenario"])
    if "rows" in job:
        return _judge(scenario.compiled, job, answers)
    if scenario.key(job["seed"]) != job["key"]:
        raise _Wrong("the process of the plugin has another version of Sojourn")
    watch = Watch(answers)
    try:
        records = simulate(scenario.compiled, job["seed"], watch=watch, memory=job["memory"])
    except SystemExit as error:
        raise _Wrong(f"the plugin left the program: {_said(error)}") from error
    _end_limit(answers)
    files = pack(records, job["key"], job["seed"], scenario.canonical())
    return {"files": {name: len(content) for name, content in files.items()}}, files


def _judge(
    scenario: _engine.Scenario, job: dict[str, Any], answers: IO[bytes]
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Judge a plugin, row by row; each is sent as it is known, because the plugin may die in the next."""
    watch = Watch(answers)
    if not job["rows"]:
        kept = _watched(lambda: _engine.packets_kept(scenario), watch, 0.0)
        _tell_row(answers, ("" if kept is None else str(kept), "", ""))
    for place, row in enumerate(job["rows"]):
        share = place / len(job["rows"])
        judged = _watched(lambda row=row: _engine.check_row(scenario, job["like"], row), watch, share)
        _tell_row(answers, judged)
    return {"files": {}}, {}


def _replay(job: dict[str, Any], plugin: Plugin, answers: IO[bytes]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Replay a trace into a plugin, and tell calls, line and words of a difference."""
    line = f'plugin name="{plugin.name}"'

    def work() -> tuple[str, int, tuple[int, str] | None]:
        return _engine.replay_trace(job["trace"], line, job["how"], job["slack_ns"])

    _, calls, found = _watched(work, Watch(answers), 0.0)
    at, difference = found or (0, "")
    _tell_row(answers, (str(calls), str(at), difference))
    return {"files": {}}, {}


def _tell_row(answers: IO[bytes], row: tuple[str, str, str]) -> None:
    answers.write(json.dumps({"row": row}).encode() + b"\n")
    answers.flush()


def _watched(work: Callable[[], T], watch: Watch, share: float) -> T:
    """Do work on a thread of its own while this one says that calls return."""
    found: list[T | BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # told by the thread that waits
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK_S)
        watch(share)
    (outcome,) = found
    if isinstance(outcome, BaseException):
        cause = outcome.__cause__ or outcome
        if isinstance(cause, SystemExit):
            raise _Wrong(f"the plugin left the program: {_said(cause)}") from cause
        raise RunError(f"failed: {outcome}") from cause
    return outcome


_LOOK_S = 0.04
"""Time between two looks at calls of a plugin. chosen: as that of a run."""


def _failure(error: SojournError) -> dict[str, Any]:
    """Return the answer about a run that failed: by its plugin, or otherwise."""
    found = re.search(r'failed: the (queue manager|congestion controller|library) "([^"]*)"', error.message)
    cause = error.__cause__
    if found is None or cause is None:
        return {"failed": error.message, "hint": error.hint, "is_plugin": False}
    name = found[2]
    if found[1] == "library" or type(cause).__name__ == "BadLibrary":
        return {"failed": f'the plugin "{name}" broke the rules: {cause}', "hint": "", "is_plugin": True}
    told = f'the plugin "{name}" failed: {_said(cause)}'
    return {"failed": told, "hint": _where(cause), "is_plugin": True}


class _Recorded(Random):
    """The numbers of the trace that is replayed, in place of random ones."""

    def random(self) -> float:
        return _engine.next_draw()


class _Chosen(Random):
    """The number that a law hands out in place of a random one, while it does."""

    def random(self) -> float:
        chosen = _engine.chosen_draw()
        return super().random() if chosen is None else chosen


def _load(plugin: Plugin, role: Role, draws: type[Random] | None) -> None:
    """Make a plugin known to scenarios of this process, with another generator if there is one."""
    if plugin.is_stack:
        _stack(plugin)
        return
    make = _library(plugin, role) if plugin.is_library else factory_of(plugin, role)

    def with_draws(own: Random) -> object:
        random = draws() if draws is not None else own
        random.setstate(own.getstate())
        return make(random)

    factory: Callable[..., object] = make if draws is None else with_draws
    trial: Any = factory(*role.trial)
    missing = [word for word in role.methods if not callable(getattr(trial, word, None))]
    if missing:
        raise _Wrong(
            f'the plugin "{plugin.name}" has no method {" and no method ".join(missing)}: it needs {_methods(role)}'
        )
    if plugin.is_library:
        trial.close()
    _engine.add_plugin(plugin.name, plugin.digest, factory)


def _methods(role: Role) -> str:
    return " and ".join(f"{name}(self, {told})" for name, told in role.methods.items())


def _library(plugin: Plugin, role: Role) -> Callable[..., object]:
    from sojourn.plugins.library import open_library

    return _opened(plugin, lambda path: open_library(path, plugin.name, role.interface()))


def _stack(plugin: Plugin) -> None:
    from sojourn.plugins.stack_library import add_stack

    _opened(plugin, lambda path: add_stack(path, plugin))


def _opened(plugin: Plugin, load: Callable[[str], T]) -> T:
    """Load a library from a copy: what was hashed is what is loaded."""
    from sojourn.plugins.library import BadLibrary

    with tempfile.NamedTemporaryFile(suffix=Path(plugin.file).suffix) as file:
        file.write(plugin.content)
        file.flush()
        try:
            return load(file.name)
        except BadLibrary as error:
            raise _Wrong(str(error)) from error


def factory_of(plugin: Plugin, role: Role = MANAGER) -> Callable[..., object]:
    """Run the file of a plugin in Python and return its class.

    That is its class `manager` or `controller`; else its only class with the methods of one.
    """
    module = ModuleType("sojourn_plugin")
    module.__file__ = plugin.file
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(plugin.content, plugin.file, "exec"), vars(module))
    named: object = vars(module).get(role.named)
    if callable(named):
        return named
    found = [
        one
        for one in vars(module).values()
        if inspect.isclass(one)
        and one.__module__ == module.__name__
        and all(callable(getattr(one, method, None)) for method in role.methods)
    ]
    if len(found) == 1:
        return found[0]
    names = ", ".join(one.__name__ for one in found)
    told = f"{len(found)} classes with {' and '.join(role.methods)}: {names}" if found else "no such class"
    raise _Wrong(
        f'the plugin "{plugin.name}" has {told}; it needs one class with {_methods(role)}, '
        f"or says which by: {role.named} = CLASS"
    )


def _guarded(plugin: Plugin, load: Callable[[], None]) -> None:
    """Load a plugin; its exception becomes a sentence."""
    try:
        load()
    except _Wrong:
        raise
    except SyntaxError as error:
        place = f"{plugin.file}:{error.lineno}"
        raise _Wrong(f'the plugin "{plugin.name}" is not Python: {place}: {error.msg}') from error
    except BaseException as error:  # `sys.exit` too
        place = _where(error)
        end = f" ({place})" if place else ""
        raise _Wrong(f'the plugin "{plugin.name}" cannot be loaded: {_said(error)}{end}') from error


def _said(error: BaseException) -> str:
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _where(error: BaseException | None) -> str:
    """Return the line of the plugin in which it raised."""
    if error is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    here = str(Path(__file__).parent)
    ours = [frame for frame in frames if not frame.filename.startswith((here, "<"))]
    return f"{ours[-1].filename}:{ours[-1].lineno}, in {ours[-1].name}" if ours else ""


class Watch:
    """Tells the parent how far the run is, and lets it compute on while calls of plugins return."""

    def __init__(self, answers: IO[bytes]) -> None:
        self.answers = answers
        self.done: tuple[float, int] | None = None
        self.since_s = 0.0

    def __call__(self, share: float) -> None:
        """Look once, at a share of the run."""
        returned, is_called = _engine.plugin_calls()
        if (share, returned) != self.done:
            self.done, self.since_s = (share, returned), time.process_time()
        elif is_called or time.process_time() - self.since_s > ENGINE_S:
            return
        _grant(CALL_S)
        try:
            self.answers.write(json.dumps({"share": share}).encode() + b"\n")
            self.answers.flush()
        except OSError:  # the parent has gone
            os._exit(1)


def _limit(memory: int) -> None:
    """Bound the further memory of this process."""
    if os.name != "posix":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_OUTPUT, LARGEST_OUTPUT))
    most = _data() + memory + BUILD_ROOM
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    _grant(CALL_S)


def _grant(seconds: int) -> None:
    """Let this process compute for so long from now; then the system ends it."""
    if os.name != "posix":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (min(soft, RUN_S), RUN_S))


RUN_S = 7 * 86400
"""Seconds of computing of a whole run, after which the system ends it whatever it does with signals. chosen: a week."""


def _end_limit(answers: IO[bytes]) -> None:
    """Let this process compute on: the plugin has done its part."""
    answers.write(json.dumps({"share": 1.0, "is_over": True}).encode() + b"\n")
    answers.flush()
    if os.name == "posix":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (RUN_S, RUN_S))


def _data() -> int:
    """Return how many bytes of memory this process has for itself."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:  # noqa: PTH123 - of the system
            found = [line for line in file if line.startswith("VmData:")]
        return int(found[0].split()[1]) * 1024
    except (OSError, IndexError, ValueError):
        return 2**32  # chosen: where the system does not tell, libraries have less
