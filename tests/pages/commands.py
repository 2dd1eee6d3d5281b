"""Commands that pages show, and how a test runs them.

usage: PYTHONPATH=tests python -m pages.commands [PAGE…]

Without pages: how many commands are shown, and what becomes of them. With pages: runs theirs and tells of each.

A command is a line behind `$ ` in a block `console`; a line of an indented block, or code within a line, that begins with
`sojourn` or `make`. Code within a line is only a *form* if it has words in capitals for what a reader puts in (FILE), and
only a *name* if it lacks what the command needs: both are held against the parser. Everything else runs, in the order of
the page, in one directory; lines below a command in its block, and a quote below the block, are what it prints, `...` stands for more. `pages.toml`
says which files a reader of a page has, and which commands run in a shorter form or are left out, and why. With the variable
`SOJOURN_WHOLE_PAGES` all of them run as shown, which takes hours.
"""

import os
import re
import resource
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from shutil import copy, copytree
from typing import Any

from pages.markdown import ROOT, Piece, pages, pieces

WHOLE = "SOJOURN_WHOLE_PAGES"
"""Set in the environment for the nightly form: commands with a shorter form run as shown."""

PROGRAMS = ("sojourn", "make")
LONGEST_S = 300.0


@dataclass(frozen=True, slots=True)
class Shown:
    """A command as a page shows it."""

    page: str
    line: int
    text: str
    is_inline: bool
    printed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """How commands are run that are not run as shown; `*` in `page` and `command` stands for anything."""

    command: str
    page: str = "*"
    add: str = ""
    """Words at the end that make it shorter."""
    instead: str = ""
    """A shorter command in its place."""
    skip: str = ""
    """Why it is not run."""
    status: int = 0
    """The exit status that it should have."""

    def covers(self, shown: Shown) -> bool:
        """Return whether the rule is about a command."""
        return fnmatchcase(shown.page, self.page) and fnmatchcase(shown.text, self.command)


@dataclass(frozen=True, slots=True)
class Settings:
    """What `pages.toml` says."""

    files: dict[str, dict[str, str]]
    rules: list[Rule] = field(default_factory=list[Rule])


@cache
def settings() -> Settings:
    """Read `pages.toml`."""
    table: dict[str, Any] = tomllib.loads(Path(__file__).with_name("pages.toml").read_text(encoding="utf-8"))
    return Settings(table["files"], [Rule(**rule) for rule in table["rule"]])


def rule_of(shown: Shown) -> Rule | None:
    """Return the first rule about a command."""
    return next((rule for rule in settings().rules if rule.covers(shown)), None)


def shown_on(page: str) -> list[Shown]:
    """Return the commands of a page, forms and names among them; a quote is what the block above it prints."""
    found: list[Shown] = []
    for piece in pieces(page):
        if piece.kind == "quote":
            at = max((place for place, one in enumerate(found) if not one.is_inline), default=None)
            if at is not None:
                found[at] = replace(found[at], printed=(*found[at].printed, piece.text))
        found += _commands(page, piece)
    return found


def _commands(page: str, piece: Piece) -> Iterator[Shown]:
    if piece.kind == "block" and piece.info == "console":
        yield from _of_console(page, piece)
    elif piece.kind == "indented":
        for number, line in enumerate(piece.text.splitlines()):
            if _is_command(line):
                yield Shown(page, piece.line + number, _plain(line), is_inline=False)
    elif piece.kind == "code" and piece.info != "heading" and _is_command(piece.text):
        yield Shown(page, piece.line, _plain(piece.text), is_inline=True)


def _of_console(page: str, piece: Piece) -> Iterator[Shown]:
    lines = piece.text.replace("\\\n", " \\\0").splitlines()
    at = piece.line
    found: list[tuple[int, str, list[str]]] = []
    for line in lines:
        at += 1
        if line.startswith("$ "):
            found.append((at, line[2:].replace("\\\0", " "), []))
        elif found:
            found[-1][2].append(line)
        at += line.count("\0")
    for line, text, printed in found:
        yield Shown(page, line, _plain(text), is_inline=False, printed=tuple(printed))


def _is_command(text: str) -> bool:
    words = text.replace("sudo ", "").split()
    return bool(words) and words[0].rpartition("bin/")[2] in PROGRAMS and words[1:2] != ["="]


def _plain(text: str) -> str:
    """Return a command without the directory of its program, and without the comment behind it."""
    text = re.sub(r"(?<![\w/])(?:\.venv|sojourn)/bin/", "", text)
    return " ".join(re.sub(r"\s+# .*", "", text).split())


def is_form(shown: Shown) -> bool:
    """Return whether code within a line has words for what a reader puts in."""
    if not shown.is_inline:
        return False
    parts = [part for word in _split(shown.text) for part in re.split(r"[=:/|,.@]+", word.strip("[]…."))]
    return "…" in shown.text or "..." in shown.text or any(re.fullmatch(r"[A-Z][A-Z_]*", part) for part in parts)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def is_name(shown: Shown) -> bool:
    """Return whether code within a line only names a command, or one with an option."""
    if not shown.is_inline or not shown.text.startswith("sojourn"):
        return False
    from sojourn.base.errors import UsageError
    from sojourn.cli.app import COMMANDS, GROUPS, parser_of

    words, rest = command_of(shown.text)
    if words not in COMMANDS:
        return not rest and (words in GROUPS or not words)
    parser = parser_of(words)
    if not rest:
        return any(not action.option_strings or action.required for action in parser.declared)
    try:
        parser.parse_args(list(rest))
    except UsageError as error:
        return "required" in str(error) or "expected" in str(error)
    return False


def command_of(text: str) -> tuple[str, list[str]]:
    """Return the words of the command that a text calls, and what follows them."""
    from sojourn.cli.app import COMMANDS, GROUPS

    rest = _split(text)[1:]
    both = " ".join(rest[:2])
    if both in COMMANDS:
        return both, rest[2:]
    if rest and (rest[0] in COMMANDS or rest[0] in GROUPS):
        return rest[0], rest[1:]
    return "", rest


def options_of(words: str) -> set[str]:
    """Return the options of a command, or of all commands of a group."""
    from sojourn.cli.app import COMMANDS, parser_of

    below = [words] if words in COMMANDS else [one for one in COMMANDS if one.startswith(f"{words} ")]
    actions = [action for one in below for action in parser_of(one).declared]
    return {"--version", *(option for action in actions for option in action.option_strings)}


def wrong_with(shown: Shown) -> str:
    """Return what is wrong with the words of a command, form or name, held against the parser; empty if nothing."""
    if shown.text.startswith("make"):
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        unknown = [word for word in shown.text.split()[1:2] if word not in targets]
        return f"no target {unknown[0]}" if unknown else ""
    if not shown.text.startswith("sojourn"):
        return ""
    words, rest = command_of(re.split(r" && | > ", shown.text)[0])
    if not words and rest and rest[0] != "COMMAND":
        return f"no command {shown.text!r}"
    end = rest.index("--") if "--" in rest else len(rest)
    given = [re.split(r"[=|\]]", word.lstrip("["))[0] for word in rest[:end] if re.match(r"\[?--[a-z]", word)]
    unknown = [option for option in given if option not in options_of(words)]
    return f"no option {unknown[0]} of sojourn {words}" if unknown and words else ""


def kind_of(shown: Shown) -> str:
    """Return what becomes of a command: `form`, `name`, `left out`, `shorter` or `as shown`."""
    if is_form(shown):
        return "form"
    if is_name(shown):
        return "name"
    rule = rule_of(shown)
    if rule is None:
        return "as shown"
    return "left out" if rule.skip else "shorter" if rule.add or rule.instead else "as shown"


def blocks_of(said: str) -> str:
    """Return blocks of a page, said as `PAGE toml 1+2`: page, language, and which of its blocks."""
    page, language, numbers = said.split()
    found = [piece.text for piece in pieces(page) if piece.kind == "block" and piece.info == language]
    return "\n".join(found[int(number) - 1] for number in numbers.split("+"))


@dataclass(frozen=True, slots=True)
class Done:
    """A command that was run."""

    shown: Shown
    text: str
    status: int
    output: str
    processor_s: float
    problem: str


class Reader:
    """A reader of a page, who types its commands in one directory.

    Parameters
    ----------
    page
        The page.
    directory, store
        Where the commands run, and the store of finished runs.
    """

    def __init__(self, page: str, directory: Path, store: Path) -> None:
        self.page = page
        self.directory = directory
        self.environment = os.environ | {
            "SOJOURN_STORE": str(store),
            "NO_COLOR": "1",
            "COLUMNS": "130",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ROOT": str(ROOT),
        }
        self._write_files()

    def _write_files(self) -> None:
        """Write what a reader has: the examples, files that the page prints with `cat`, and what `pages.toml` says."""
        copytree(ROOT / "scenarios", self.directory / "scenarios")
        for shown in shown_on(self.page):
            if shown.printed and shown.text.startswith("cat "):
                (self.directory / shown.text.split()[1]).write_text("\n".join((*shown.printed, "")), encoding="utf-8")
        for name, source in settings().files.get(self.page, {}).items():
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if source.startswith("$ "):
                status, output, _ = self._run(source.removeprefix("$ "))
                assert status == 0, (self.page, name, output)
            elif ".md " in source:
                path.write_text(blocks_of(source), encoding="utf-8")
            else:
                found = sorted(ROOT.glob(source))
                assert found, (self.page, source)
                for file in found:
                    copy(file, path.parent if path.name == "*" else path)

    def _run(self, text: str) -> tuple[int, str, float]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(
                ["bash", "-c", text],
                cwd=self.directory,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=3600 if WHOLE in os.environ else LONGEST_S,
            )
        except subprocess.TimeoutExpired as late:
            return 124, str(late.stdout or ""), 0.0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return done.returncode, done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def types(self) -> Iterator[Done]:
        """Run the commands of the page, in their order; the result of a shorter form does not print what the page shows."""
        shortened: set[str] = set()
        for shown in shown_on(self.page):
            kind = kind_of(shown)
            rule = rule_of(shown) or Rule(shown.text)
            if kind not in ("as shown", "shorter"):
                continue
            is_whole = kind == "as shown" or (WHOLE in os.environ and not shown.text.startswith("make"))
            shorter = rule.instead.replace("{1}", _word(shown, 1)).replace("{3}", _word(shown, 3))
            text = shown.text if is_whole else shorter or f"{shown.text} {rule.add}"
            words = shown.text.split()
            if not is_whole and "--out" in words[:-1]:
                shortened.add(words[words.index("--out") + 1])
            is_whole = is_whole and shortened.isdisjoint(words)
            status, output, used = self._run(text)
            problem = ""
            if status != rule.status:
                problem = f"exit status {status}: {output[-1500:]}"
            elif is_whole and (missing := not_printed(shown.printed, output)):
                problem = f"does not print {missing!r}, but\n{output[-3000:]}"
            for report in () if problem else self.directory.rglob("report.html"):
                if "could not be drawn" in report.read_text(encoding="utf-8"):
                    problem = f"{report.relative_to(self.directory)}: a figure could not be drawn"
            yield Done(shown, text, status, output, used, problem)


def _word(shown: Shown, place: int) -> str:
    words = shown.text.split()
    return words[place] if place < len(words) else ""


def not_printed(printed: tuple[str, ...], output: str) -> str:
    """Return the first line that a page shows and a command did not print, in this order; empty if there is none."""
    lines = iter([_comparable(line) for line in output.splitlines()])
    for line in printed:
        wanted = _comparable(line)
        if wanted and wanted != "..." and not any(_is(wanted, one) for one in lines):
            return line
    return ""


def _is(wanted: str, line: str) -> bool:
    """Whether a line is the one that a page shows, or begins as it does where the page ends with an ellipsis."""
    return line == wanted or (wanted.endswith(" …") and line.startswith(wanted.removesuffix(" …")))


def _comparable(line: str) -> str:
    """Return a line without what differs from call to call: dates, times of day, how long something took."""
    line = re.sub(r"\d{4}-\d\d-\d\d(?:[T ]\d\d[-:]\d\d(?:[-:]\d\d)?)?", "DATE", line)
    line = re.sub(r"\b(in|after|about|took) (?:[\d.]+ (?:ms|s|min|h)\b(?: \d+ s)?)+", r"\1 TIME", line)
    return " ".join(line.split())


def main(wanted: list[str]) -> int:
    """Count the commands of all pages, or run those of some."""
    from collections import Counter
    from tempfile import TemporaryDirectory

    if not wanted:
        kinds = Counter(kind_of(shown) for page in pages() for shown in shown_on(page))
        print(f"{kinds.total()} shown: {', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}")
        return 0
    failed = 0
    for page in wanted:
        with TemporaryDirectory() as directory:
            base = Path(directory) / "page"
            base.mkdir()
            for done in Reader(page, base, Path(directory) / "store").types():
                failed += bool(done.problem)
                print(
                    f"{done.processor_s:6.1f} s {'FAILED' if done.problem else 'ok':6} {page}:{done.shown.line} {done.text}"
                )
                if done.problem:
                    print(done.problem)
                sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
