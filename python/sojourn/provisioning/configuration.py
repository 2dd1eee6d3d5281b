"""A CM configuration file: read, written, examined and compared. The work is done in Rust."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import sojourn._engine as _engine
from sojourn.base.errors import Problem, ScenarioError, UsageError, plain, why
from sojourn.base.files import read_named

SECRET_VARIABLE = "SOJOURN_CMTS_SECRET"
"""Environment variable that holds the shared secret."""


class ProvisioningError(ScenarioError):
    """A configuration file, its text or a table is not valid; `problems` lists everything that is wrong."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing wrong with a configuration file or the service it stands for."""

    code: str
    """Stable name such as `E-TRUNCATED`."""
    severity: str
    """`error` or `warning`."""
    offset: int | None
    """Octet of the file."""
    path: str
    """Path of TLV types such as `24.8`."""
    message: str
    hint: str = ""
    line: int = 0
    """Line of a text, from 1; 0 if it is not about a text."""
    column: int = 0

    @property
    def is_error(self) -> bool:
        """True if nothing can be made of it."""
        return self.severity == "error"

    def problem(self, file: str = "") -> Problem:
        """Return the issue as a problem that the command line prints."""
        place = "" if self.offset is None else f" (octet {self.offset})"
        path = f"TLV {self.path}" if self.path and self.line == 0 else self.path
        message = f"{self.code}: {self.message}{place}"
        return Problem(path, message, self.hint, self.line, self.column, file)


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting that differs between two files; `None` where it is not there."""

    path: str
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Configuration:
    r"""A CM configuration file.

    Examples
    --------
    >>> text = "schema = 1\n[[tlv]]\nnetwork_access = 1"
    >>> [issue.code for issue in encode(text, b"a secret").issues]
    ['W-MANDATORY']
    """

    octets: bytes
    secret: bytes | None = field(default=None, repr=False)
    """The secret that CMTS and provisioning system share; without it the CMTS MIC stays unchecked."""
    strict: bool = False
    """True if doubtful warnings are errors."""
    docsis40: bool = False
    """True if types 103 and 104 have lengths of two octets."""

    @cached_property
    def _examined(self) -> dict[str, Any]:
        text = _engine.provisioning_examine(self.octets, self.secret, self.strict, self.docsis40)
        return json.loads(text)

    @property
    def tlvs(self) -> Sequence[Mapping[str, Any]]:
        """All TLVs in order: `offset`, `path`, `name`, `value`, `meaning`, and `mark`, where the name is from."""
        return self._examined["tlvs"]

    @property
    def integrity(self) -> Mapping[str, str]:
        """State of `cm_mic`, `cmts_mic` and `extended`: `good`, `bad`, `absent` or `unchecked`."""
        return self._examined["integrity"]

    @cached_property
    def issues(self) -> list[Issue]:
        """Everything that is wrong with the file."""
        return [Issue(**issue) for issue in self._examined["issues"]]

    @property
    def text(self) -> str:
        """The file as TOML, from which `encode` makes the same octets."""
        return _engine.provisioning_decode(self.octets, self.docsis40)


def read_configuration(path: str | Path) -> bytes:
    """Return the octets of a binary configuration file.

    Raises
    ------
    UsageError
        If it cannot be read, or is a text.
    """
    octets = read_octets(path)
    if (kind := _kind_of_text(octets)) is not None:
        out = plain(Path(path).with_suffix(".cm").name)
        raise UsageError(
            f"{plain(path)}: is {kind}, and no binary file",
            f"sojourn provision encode {plain(path)} --out {out}, then that file",
        )
    return octets


def _kind_of_text(octets: bytes) -> str | None:
    """Return what octets are that are all text, with a line's end among them; `None` of a binary file."""
    try:
        text = octets.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if "\n" not in text or not all(sign.isprintable() or sign in "\r\n\t" for sign in text):
        return None
    if re.match(r"(?:\s|/\*.*?\*/|(?://|#)[^\n]*\n)*+Main\b", text, re.DOTALL):
        return "text of the docsis tool"
    return "the text form of a configuration file" if "[[tlv]]" in text else "text"


def decode(source: bytes | str | Path, secret: bytes | None = None, *, strict: bool = False) -> Configuration:
    """Read a binary configuration file; there are no octets that this refuses, and a file that is all text is none.

    Parameters
    ----------
    source
        Its octets, or its path.
    secret
        The shared secret, for the CMTS MIC.
    strict
        Whether doubtful warnings are errors.
    """
    octets = source if isinstance(source, bytes) else read_configuration(source)
    return Configuration(octets, secret, strict)


def encode(text: str, secret: bytes | None = None, *, seal: bool | None = None, file: str = "") -> Configuration:
    """Make a binary configuration file from its text form.

    Parameters
    ----------
    text
        The file as TOML.
    secret
        The shared secret, for the CMTS MIC.
    seal
        Make the MICs anew. If left out: if there is a secret, or if the text has no CM MIC.
    file
        What the text is called in messages.

    Raises
    ------
    ProvisioningError
        With everything that is wrong with the text.
    """
    if seal is None:
        seal = secret is not None or "cm_mic" not in text
    try:
        octets = bytes(_engine.provisioning_encode(text, secret, seal))
    except _engine.ProvisioningProblems as error:
        raise ProvisioningError([i.problem(file) for i in issues_of(error)]) from None
    return Configuration(octets, secret)


def diff(before: Configuration, after: Configuration) -> list[Difference]:
    """Return the settings that differ; service flows and classifiers are the same if their references are."""
    rows = json.loads(_engine.provisioning_diff(before.octets, after.octets))
    return [Difference(**row) for row in rows]


def issues_of(error: Exception) -> list[Issue]:
    """Return the issues that the engine raised."""
    return [Issue(**issue) for issue in json.loads(str(error))]


LARGEST = 2**18
"""Octets of a file. chosen: 32 times what a modem has to take; each may be a setting of its own."""


def read_octets(path: str | Path) -> bytes:
    """Return the octets of a file.

    Raises
    ------
    UsageError
        If it cannot be read.
    """
    try:
        return read_named(Path(path), most=LARGEST)
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        raise UsageError(f"{plain(path)}: {why(error)}") from error


def read_secret(path: str | Path | None) -> bytes | None:
    """Return the shared secret of a file, or of the environment variable `SOJOURN_CMTS_SECRET`, or nothing."""
    if path is not None:
        return read_octets(path)
    value = os.environ.get(SECRET_VARIABLE)
    return value.encode() if value else None
