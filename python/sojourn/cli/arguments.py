"""Arguments of commands: what argparse reads, with our way of saying what is wrong.

A command is a module with a function `arguments`, which declares what the command takes, and a function
`execute`, which does it. Only the module of the command that was called is loaded.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import contextmanager, suppress

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import NoReturn


class HelpWanted(Exception):
    """Help was asked for; its text is the message."""


class Parser(argparse.ArgumentParser):
    """A parser that raises instead of leaving the process.

    Parameters
    ----------
    words
        The command, such as `study run`.
    about
        A sentence about it.
    """

    def __init__(self, words: str, about: str) -> None:
        super().__init__(
            prog=f"sojourn {words}", description=about, allow_abbrev=False, add_help=False, formatter_class=_Formatter
        )
        self._takes_command = False
        self._optional_values: dict[str, str] = {}
        self.add_argument("-h", "--help", action=_Help, help="Show this help and exit.")

    @property
    def declared(self) -> list[argparse.Action]:
        """Arguments and options, in the order of their declaration."""
        return self._actions

    def option(self, name: str, metavar: str, about: str, **how: object) -> None:
        """Declare an option with a value."""
        self.add_argument(name, metavar=metavar, help=about, **how)  # pyright: ignore[reportArgumentType]

    def flag(self, name: str, about: str, *, to: str = "") -> None:
        """Declare an option without a value; `to` is its name in the program if it differs."""
        target = to or name.lstrip("-").replace("-", "_")
        self.add_argument(name, action="store_true", dest=target, help=about)

    def choice(self, name: str, metavar: str, about: str, alone: str, others: Sequence[str]) -> None:
        """Declare an option that stands `alone`, or as `NAME=OTHER`; the word behind it is never its value."""
        self._optional_values[name] = f"{name}={alone}"
        self.add_argument(
            name,
            nargs="?",
            metavar=metavar,
            help=about,
            choices=(alone, *others),
            dest=name.lstrip("-").replace("-", "_"),
        )

    def takes_command(self) -> None:
        """Keep what stands behind `--` as the command that the user wants to be run."""
        self._takes_command = True

    def parse_args(self, args: list[str]) -> argparse.Namespace:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Read arguments; those of the command are not looked at."""
        if not self._takes_command:
            return super().parse_args(args)
        end = args.index("--") if "--" in args else len(args)
        options = super().parse_args([self._optional_values.get(word, word) for word in args[:end]])
        options.command = args[end + 1 :]
        return options

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong as an error of usage."""
        from sojourn.base.errors import UsageError

        raised = sys.exc_info()[1]  # what argparse makes a text of
        unreadable = None if raised is None else raised.__context__
        hint = unreadable.hint if isinstance(unreadable, Unreadable) else f"{self.prog} --help"
        _, unknown, rest = message.partition("unrecognized arguments: ")
        if unknown:
            first = rest.split()[0]
            message = f"no such option: {first}" if first[0] == "-" else f"unexpected: {rest}"
            hint = self._meant(first) + hint
        raise UsageError(message.replace("argument -", "option -", 1), hint)

    def _meant(self, word: str) -> str:
        from difflib import get_close_matches

        known = [name for action in self._actions for name in action.option_strings]
        close = get_close_matches(word.partition("=")[0], known, n=1)
        return f"did you mean {close[0]}? See " if close else ""


class _Formatter(argparse.HelpFormatter):
    """Help that begins with a capital letter, and texts that keep their paragraphs."""

    def __init__(self, prog: str) -> None:
        # argparse would load shutil, and with it four kinds of compression, to ask how wide the terminal is.
        super().__init__(prog, width=_columns() - 2)

    def add_usage(self, usage, actions, groups, prefix=None):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        super().add_usage(usage, actions, groups, "Usage: " if prefix is None else prefix)


def _columns() -> int:
    """Return the width of the terminal as `shutil.get_terminal_size` has it."""
    with suppress(KeyError, ValueError):
        wished = int(os.environ["COLUMNS"])
        if wished > 0:
            return wished
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (AttributeError, ValueError, OSError):
        return 80


class _Help(argparse.Action):
    def __init__(self, option_strings: list[str], dest: str, help: str) -> None:  # noqa: A002
        super().__init__(option_strings, dest=argparse.SUPPRESS, nargs=0, help=help)
        del dest

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        raise HelpWanted(parser.format_help())


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a reader of whole numbers from `least` on."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if value < least or (most is not None and value > most):
            bound = f"at least {least}" if value < least else f"at most {most}"
            raise argparse.ArgumentTypeError(f"{text} is out of range: {bound}")
        return value

    return read


def opportunity_option(parser: Parser) -> None:
    """Declare how much a trace carries at each of its times."""
    parser.option(
        "--opportunity", "BYTES", "Bytes of an opportunity (1504).", type=whole_number(1, 65_536), default=1504
    )


def amount(text: str) -> float:
    """Read an amount of money, in whatever currency."""
    digits = text.replace(".", "", 1)
    if not (digits.isascii() and digits.isdigit()) or len(text) > LONGEST_NUMBER:
        raise argparse.ArgumentTypeError(f"{text!r} is no price, such as 0.04")
    return float(text)


class Unreadable(argparse.ArgumentTypeError):
    """A value of an option that cannot be read, with what would be right."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@contextmanager
def _hinted() -> Generator[None]:
    """Keep the hint of what cannot be read for `Parser.error`."""
    from sojourn.base.errors import UsageError

    try:
        yield
    except UsageError as error:
        raise Unreadable(error.message, error.hint) from None


def span(text: str) -> float:
    """Read a time such as `30s` or `2 min`, in seconds; a number alone is seconds."""
    from sojourn.base.quantities import seconds_of

    with _hinted():
        return seconds_of(text)


def size(text: str) -> int:
    """Read a size such as `8GB`, in bytes; a number alone is refused."""
    from sojourn.base.quantities import size_bytes

    with _hinted():
        return size_bytes(text)


def line_rate(text: str) -> float:
    """Read the rate of a line such as `50M`, in Mb/s; a number alone is Mb/s."""
    from sojourn.base.quantities import mbps_of

    with _hinted():
        return mbps_of(text)


def bit_rate(text: str) -> int:
    """Read a rate such as `50Mb/s`, in b/s; a number alone is Mb/s."""
    from sojourn.base.quantities import rate_bps

    with _hinted():
        bps = rate_bps(text)
    if not LEAST_RATE <= bps <= MOST_RATE:
        raise Unreadable(f"{text} is out of range", "1 kb/s to 100 Gb/s")
    return bps


LEAST_RATE, MOST_RATE = 10**3, 10**11
"""Rates that are asked about, b/s. chosen: a modem of the last century, and any line for years."""

LONGEST_NUMBER = 12
"""Characters of an amount. chosen: more than any price."""


def share_of(text: str) -> tuple[int, int]:
    """Read which of how many shares, such as `3/8`; the first is 0."""
    number, _, count = text.partition("/")
    if not (number.isascii() and number.isdecimal() and count.isascii() and count.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no share, such as 0/8")
    if len(count) > SHARE_DIGITS or int(number) >= int(count):
        raise argparse.ArgumentTypeError(f"{text} is out of range: the shares of 8 are 0/8 to 7/8")
    return int(number), int(count)


SHARE_DIGITS = 6
"""Digits of a number of shares. chosen: a million machines."""


def named_files(option: str, texts: Sequence[str], example: str) -> dict[str, str]:
    """Return paths by the names that an option gives them, as NAME=FILE.

    Raises `UsageError` if a text has no name or no file, or a name stands twice.
    """
    from sojourn.base.errors import UsageError

    found: dict[str, str] = {}
    for text in texts:
        name, _, path = text.partition("=")
        if not name or not path:
            raise UsageError(f"{option} {text}: a name and a file are needed", f"{option} {example}")
        if name in found:
            raise UsageError(f"{option} names {name} twice", "one file for each treatment")
        found[name] = path
    return found
