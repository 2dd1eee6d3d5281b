"""Plan that the collector hands to probes: treatment of each home and period, and its modem's configuration file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sql

from sojourn.base.errors import StudyError, UsageError
from sojourn.field.assignments import Assignments
from sojourn.field.collector.tables import CONFIGURATIONS, PERIODS
from sojourn.provisioning import ProvisioningError, decode, expand


def says(octets: bytes, name: str) -> str:
    """Return what a CM configuration file sets, in words.

    Raises `StudyError` if it is none that a modem would take.
    """
    configuration = decode(octets)
    wrong = [issue.problem(name) for issue in configuration.issues if issue.is_error]
    if wrong:
        raise StudyError(wrong)
    try:
        summary = expand(configuration, modem="3.0").summary
    except ProvisioningError:
        return "the service that its names stand for at the CMTS"
    return "; ".join(f"{direction}: {words}" for direction, words in summary.items())


def set_plan(engine: sql.Engine, assignments: Assignments, configurations: Mapping[str, bytes]) -> None:
    """Take the place of the plan that was there.

    Raises `UsageError` if a file is for a treatment that no home gets; `StudyError` if a file is none that a modem
    would take.

    Parameters
    ----------
    engine
        Of the collector's database.
    assignments
        The periods of each home.
    configurations
        CM configuration files of treatments.
    """
    names = {one.treatment for many in assignments.periods.values() for one in many}
    if strangers := sorted(configurations.keys() - names):
        raise UsageError(f"no home gets the treatment {strangers[0]}", f"treatments: {', '.join(sorted(names))}")
    files = [
        {"treatment": name, "digest": hashlib.sha256(octets).hexdigest(), "says": says(octets, name), "content": octets}
        for name, octets in configurations.items()
    ]
    periods = [
        {
            "probe": probe,
            "week": one.week,
            "treatment": one.treatment,
            "first": _stored(one.first),
            "last": _stored(one.last),
            "begins": _stored(one.begins),
            "until": _stored(one.until),
        }
        for probe, many in assignments.periods.items()
        for one in many
    ]
    with engine.begin() as connection:
        for table, rows in ((PERIODS, periods), (CONFIGURATIONS, files)):
            connection.execute(table.delete())
            if rows:
                connection.execute(table.insert(), rows)


def plan_of(engine: sql.Engine, probe: str) -> list[dict[str, Any]]:
    """Return a home's periods in order, each with what its modem has to be given."""
    wanted = (
        sql.select(
            *(PERIODS.c[name] for name in ("week", "treatment", "first", "last", "begins", "until")),
            CONFIGURATIONS.c.digest.label("configuration"),
            CONFIGURATIONS.c.says,
        )
        .select_from(PERIODS.outerjoin(CONFIGURATIONS, PERIODS.c.treatment == CONFIGURATIONS.c.treatment))
        .where(PERIODS.c.probe == probe)
        .order_by(PERIODS.c.begins)
    )
    with engine.connect() as connection:
        rows = [dict(row) for row in connection.execute(wanted).mappings()]
    for row in rows:
        for name in ("first", "last", "begins", "until"):
            row[name] = row[name].replace(tzinfo=UTC).isoformat()
        row["says"] = row["says"] or ""
    return rows


def configuration_of(engine: sql.Engine, digest: str) -> bytes | None:
    """Return a configuration file; `None` if there is none with this digest."""
    wanted = sql.select(CONFIGURATIONS.c.content).where(CONFIGURATIONS.c.digest == digest)
    with engine.connect() as connection:
        row = connection.execute(wanted).first()
    return None if row is None else bytes(row[0])


def _stored(time: datetime) -> datetime:
    """Return a time as the database has it."""
    return time.astimezone(UTC).replace(tzinfo=None)
