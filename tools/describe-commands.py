"""Write the commands and options of docs/reference/command-line.md, as their parsers declare them.

usage: .venv/bin/python tools/describe-commands.py [--check]
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from sojourn.cli.app import CHAPTERS, COMMANDS, parser_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "command-line.md"
BEGIN, END = "<!-- Generated: .venv/bin/python tools/describe-commands.py -->\n", "<!-- End of what is generated -->\n"


def commands() -> Iterator[str]:
    """Yield the lines of the reference: chapters as in `sojourn --help`, their commands, arguments and options."""
    for title, words in CHAPTERS.items():
        yield f"\n## {title}"
        for command, (_, about) in COMMANDS.items():
            if command.partition(" ")[0] in words:
                yield from _command(command, about)
    yield ""


def _command(words: str, about: str) -> Iterator[str]:
    actions = [action for action in parser_of(words).declared if "--help" not in action.option_strings]
    takes = "".join(f" {_argument(action)}" for action in actions if not action.option_strings)
    yield f"\n### `sojourn {words}{takes}`\n"
    yield _cell(about)
    if actions:
        yield "\n| argument, option | does |"
        yield "|---|---|"
    for action in actions:
        yield f"| `{_cell(_option(action))}` | {_cell(action.help or '')} |"


def _argument(action: argparse.Action) -> str:
    name = _metavar(action)
    return {"*": f"[{name}…]", "+": f"{name}…", "?": f"[{name}]"}.get(str(action.nargs), name)


def _option(action: argparse.Action) -> str:
    if not action.option_strings:
        return _argument(action)
    value = "" if action.nargs == 0 else f" {_metavar(action)}"
    return ", ".join(action.option_strings) + value


def _metavar(action: argparse.Action) -> str:
    if isinstance(action.metavar, tuple):
        return " ".join(action.metavar)
    return action.metavar or action.dest.upper()


def _cell(text: str) -> str:
    return " ".join(text.replace("%%", "%").replace("|", "\\|").split())


def page() -> str:
    """Return the page, with the part that is generated as it should be."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return before + BEGIN + "\n".join(commands()) + "\n" + END + rest.split(END)[1]


def main(arguments: list[str]) -> int:
    """Write the page, or say whether it is as it should be."""
    if arguments == ["--check"]:
        return 0 if PAGE.read_text(encoding="utf-8") == page() else 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
