"""Settings of a single scenario: `a.b.c=V` laid over its text, as the command line takes them.

What a setting means is decided by the compiled part; here nothing heavy is imported, for a short run costs little
more than itself.
"""

from __future__ import annotations

import sojourn._engine as _engine

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Sequence


def apply_settings(text: str, settings: Sequence[str]) -> str:
    """Return a scenario's text with `a.b.c=V` settings in place, one after the other.

    The value is TOML (`5`, `true`, `["20 ms"]`), or else a string, so that quantities need no quotes. Conditions of a link may be
    `@FILE`, a table in CSV, and so may opportunities, a file of Mahimahi's form, trains of light use, one of CellReplay's, and packets, a list of them or a capture.

    Raises `UsageError` if a setting is not of that form, or has no place in the scenario; `_engine.ScenarioProblems` if
    the text is not TOML.

    Examples
    --------
    >>> print(apply_settings('duration = "600 s"', ["duration=10 s"]), end="")
    duration = "10 s"
    """
    file = _engine.ScenarioFile.parse(text)
    for setting in settings:
        path, equals, value = setting.partition("=")
        if not equals or not path.strip():
            from sojourn.base.errors import UsageError

            raise UsageError(
                f"--set {setting}: not of the form a.b.c=V", "for example: --set access.upstream.queue.target=10ms"
            )
        key = path.strip().rpartition(".")[2]
        if value.startswith("@") and key in ("conditions", "light", "opportunities", "packets"):
            value = _file(value[1:], key)
        try:
            file, problems = file.with_setting(path, value)
        except UnicodeEncodeError:  # bytes of the command line that are no UTF-8
            from sojourn.base.errors import UsageError, plain

            raise UsageError(f"--set {plain(setting)}: not a UTF-8 text") from None
        if problems:
            from sojourn.base.errors import UsageError

            message = problems[0]["message"].removeprefix("cannot be set: ")
            raise UsageError(f"--set {setting}: {message}", problems[0]["hint"])
    return file.text()


def is_of_kernel(name: str) -> bool:
    """Return whether the stack `name:CONTROLLER` of a command line is that of a kernel: `linux`, or `linux@NAME`."""
    return name.partition("@")[0] == "linux"


def stack_of(name: str, controller: str) -> str:
    """Return the real stack `name:controller` of a command line, as a scenario file spells it.

    Examples
    --------
    >>> stack_of("linux@6.12", "bbr")
    '{ kind = "linux", kernel = "6.12", controller = "bbr" }'
    """
    if not is_of_kernel(name):
        return f'{{ kind = "library", name = "{name}", controller = "{controller}" }}'
    kernel = name.partition("@")[2]
    chosen = f', kernel = "{kernel}"' if kernel else ""
    return f'{{ kind = "linux"{chosen}, controller = "{controller}" }}'


def _file(name: str, key: str) -> str:
    from pathlib import Path

    from sojourn.base.errors import UsageError, why
    from sojourn.base.files import read_named
    from sojourn.captures.packets import is_capture, packets_of_file
    from sojourn.traces.schedule import conditions_from_csv, opportunities_from_text, trains_from_text

    try:
        if key == "packets" and is_capture(Path(name)):
            return packets_of_file(Path(name), None)
        content = read_named(Path(name))
        if key == "packets":
            return packets_of_file(Path(name), content)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(f"{name} cannot be read: {why(error)}") from error
    read = {"conditions": conditions_from_csv, "light": trains_from_text, "opportunities": opportunities_from_text}
    return read[key](text, name)
