"""Configuration file of a probe.

collector = "https://trial.example.net"
token_file = "/etc/sojourn/token"
server = "netperf.example.net"
slots = ["08:00", "12:00", "17:00"]
tests = ["rrul_up", "rrul_down"]
length = 60
"""

from __future__ import annotations

import tomllib
from datetime import time
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from sojourn.base.errors import Problem, StudyError, UsageError
from sojourn.base.files import read_named
from sojourn.base.toml_text import parse_toml
from sojourn.field.probe.own_tests import problems_of


class ProbeSettings(BaseModel):
    """The settings of one probe."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collector: Annotated[str, Field(pattern=r"^https?://")]
    """Address of the collector."""
    token_file: Path
    """File with the token, readable by the probe alone."""
    server: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.:_-]*$")]
    """Host that runs netserver."""
    title: Annotated[str, Field(max_length=200)] = ""
    """Goes into the title of each test, such as `zone=Europe/Berlin`; what the collector's plan says follows it."""
    slots: Annotated[list[time], Field(min_length=1)] = [time(8), time(12), time(17)]
    """Times of day of tests, UTC: those of Klatsky 2016."""
    jitter_s: Annotated[float, Field(ge=0, le=3600)] = 300.0
    """Each test begins later by a random time up to this. chosen: fifty probes do not meet at the server."""
    tests: Annotated[list[Annotated[str, Field(pattern=r"^([a-z0-9_]+|[^-].*\.conf)$")]], Field(min_length=1)] = [
        "rrul_up",
        "rrul_down",
    ]
    """Flent's tests, one after the other; `rrul_down`, which it does not have, and `.conf` files of its kind."""
    length: Annotated[int, Field(ge=5, le=3600)] = 60
    """Seconds of load."""
    pause_s: Annotated[float, Field(ge=0, le=3600)] = 30.0
    """Between the tests of a slot. chosen: queues and other people recover."""
    spool: Path = Path("/var/lib/sojourn-probe")
    """Directory in which measurements wait and are kept."""
    keep: Annotated[int, Field(ge=0)] = 500
    """Measurements kept after they were sent."""
    flent: str = "flent"
    """The program."""

    @field_validator("slots")
    @classmethod
    def _in_order(cls, slots: list[time]) -> list[time]:
        if any(slot.tzinfo is not None for slot in slots):
            message = "slots are UTC and have no zone"
            raise ValueError(message)
        return sorted(set(slots))

    def token(self) -> str:
        """Return the token.

        Raises `UsageError` if its file cannot be read.
        """
        try:
            token = read_named(self.token_file).decode().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read the token in {self.token_file}", "what `collector add` printed") from error
        if not token.isascii() or not token.isprintable() or not token:
            raise UsageError(f"{self.token_file} holds no token", "what `collector add` printed")
        return token


def load_settings(path: Path) -> ProbeSettings:
    """Read a probe's file; relative paths are relative to it.

    Raises
    ------
    UsageError
        If it cannot be read.
    StudyError
        Everything wrong with it.
    """
    try:
        document: dict[str, Any] = parse_toml(read_named(path).decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", "a file in TOML") from error
    try:
        settings = ProbeSettings.model_validate(document)
    except ValidationError as error:
        raise StudyError(
            [
                Problem(".".join(str(p) for p in item["loc"]), item["msg"].lower(), file=str(path))
                for item in error.errors()
            ]
        ) from error
    home = path.parent
    tests = [str(home / one) if one.endswith(".conf") else one for one in settings.tests]
    problems = [problem for one in tests if one.endswith(".conf") for problem in problems_of(Path(one))]
    if problems:
        raise StudyError(problems)
    return settings.model_copy(
        update={"token_file": home / settings.token_file, "spool": home / settings.spool, "tests": tests}
    )
