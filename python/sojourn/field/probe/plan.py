"""Plan of a home as the collector hands it out: the treatment of each period, and the file that its modem loads.

plan.json          what the collector said last; good while it is away
modem/NAME.cm      CM configuration files of treatments
announced          the period that was announced last
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator

from sojourn.base.files import is_file, read_file, write_file
from sojourn.field.assignments import is_label
from sojourn.field.probe.settings import ProbeSettings
from sojourn.field.probe.upload import client_of
from sojourn.field.reading import Unreadable, first_problem, parse_document

LARGEST_MODEM_FILE = 2**16
"""Bytes of a CM configuration file; chosen: they have some hundred."""

MOST_PERIODS = 10_000


class PlannedPeriod(BaseModel):
    """A period of a home."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    week: Annotated[int, Field(ge=0, le=99_999)]
    treatment: str
    first: AwareDatetime
    last: AwareDatetime
    begins: AwareDatetime
    until: AwareDatetime
    says: Annotated[str, Field(max_length=1000)] = ""
    configuration: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None

    @field_validator("treatment")
    @classmethod
    def _is_label(cls, name: str) -> str:
        if not is_label(name):
            message = "cannot stand in the title of a test"
            raise ValueError(message)
        return name

    @property
    def labels(self) -> str:
        """Labels in the title of a test."""
        return f"treatment={self.treatment} week={self.week}"

    def words(self, spool: Path) -> str:
        """Say what the person in the home has to do."""
        modem = f"give the modem the treatment {self.treatment}"
        if self.configuration is not None:
            modem = f"let the modem load {modem_file(spool, self)} ({self.says})"
        return f"week {self.week}, {self.treatment}: {modem}, before {self.first:%Y-%m-%d %H:%M} UTC"


class HomePlan(BaseModel):
    """The periods of a home."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    periods: Annotated[list[PlannedPeriod], Field(max_length=MOST_PERIODS)] = []

    def at(self, time: datetime) -> PlannedPeriod | None:
        """Return the period of a moment; `None` outside the trial."""
        return next((one for one in self.periods if one.begins <= time < one.until), None)


def read_plan(text: bytes) -> HomePlan:
    """Return what a collector answered, or what was kept of it.

    Raises `Unreadable` if it is no plan.
    """
    try:
        return HomePlan.model_validate(parse_document(text))
    except ValidationError as error:
        raise Unreadable(f"is no plan: {first_problem(error)}") from error


def refresh(
    settings: ProbeSettings,
    say: Callable[[str], None],
    *,
    transport: Any = None,  # noqa: ANN401 - httpx may be absent
) -> HomePlan:
    """Ask the collector for the plan and for the files of modems; its last answer holds while it is away."""
    settings.spool.mkdir(parents=True, exist_ok=True)
    kept = settings.spool / "plan.json"
    client, failure = client_of(settings.collector, settings.token(), transport)
    try:
        answer = client.get("/plan")
        if answer.status_code == 200:
            plan = read_plan(answer.content)
            for period in plan.periods:
                _fetch(client, settings.spool, period)
            write_file(kept, answer.content)
            return plan
        if answer.status_code != 404:  # a collector of an earlier version has none
            say(f"no plan: the collector answered {answer.status_code}")
    except (failure, Unreadable) as error:
        say(f"no new plan: {type(error).__name__}: {error}")
    finally:
        client.close()
    try:
        return read_plan(read_file(kept))
    except (OSError, Unreadable):
        return HomePlan()


def _fetch(client: Any, spool: Path, period: PlannedPeriod) -> None:  # noqa: ANN401 - httpx may be absent
    """Get a period's file, unless it is there."""
    if period.configuration is None:
        return
    file = modem_file(spool, period)
    if is_file(file) and _digest(read_file(file)) == period.configuration:
        return
    content: bytes = client.get(f"/configurations/{period.configuration}").content
    if len(content) > LARGEST_MODEM_FILE or _digest(content) != period.configuration:
        raise Unreadable(f"has another file for {period.treatment} than it names")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_file(file, content)


def modem_file(spool: Path, period: PlannedPeriod) -> Path:
    """Return where a treatment's CM configuration file is kept."""
    return spool / "modem" / f"{period.treatment}.cm"


def title_at(settings: ProbeSettings, plan: HomePlan, time: datetime) -> str:
    """Return the title of a test: that of the settings, and the period's labels."""
    period = plan.at(time)
    return " ".join(part for part in (settings.title, period.labels if period else "") if part)


def announce(settings: ProbeSettings, plan: HomePlan, say: Callable[[str], None], now: datetime | None = None) -> None:
    """Say once what a new period asks of the person in the home."""
    period = plan.at(now or datetime.now(UTC))
    told = settings.spool / "announced"
    words = "" if period is None else period.words(settings.spool)
    if words and not (is_file(told) and read_file(told) == words.encode()):
        say(words)
        write_file(told, words)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
