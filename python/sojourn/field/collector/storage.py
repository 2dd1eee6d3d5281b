"""Database of the collector: probes by the hash of their token, their uploads, and the tests in them.

An upload is named by the SHA-256 digest of its bytes, and a probe has each digest once: an upload that is repeated
changes nothing. It is there when its transaction has ended, and before that not at all.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import sqlalchemy as sql
from sqlalchemy.event import listens_for
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from sojourn.base.errors import EnvironmentFailure, UsageError
from sojourn.field.collector.tables import CHECKS, METADATA, PROBES, TEST_COLUMNS, TESTS, UPLOADS, VIEWERS
from sojourn.field.importer import read_upload
from sojourn.field.reading import Unreadable
from sojourn.field.records import SCHEMA, FieldTest

LOOK = timedelta(seconds=15)
LOOK_BYTES = 2**16
"""Least interval (s) and size (bytes) of test writes that show if a database stores. chosen: an upload has some
ten thousand bytes, and a disk that is asked all the time writes a gigabyte in three days."""


@dataclass(frozen=True, slots=True)
class ProbeState:
    """State of a probe.

    Attributes
    ----------
    name
        Its name.
    uploads
        How many files came from it.
    last
        When the last one came, UTC.
    clock_error_s
        By how much its clock was fast then; `None` if it did not say its time.
    revoked
        Whether its token is no longer good.
    """

    name: str
    uploads: int
    last: datetime | None
    clock_error_s: float | None
    revoked: bool


def new_token() -> str:
    """Return a token of 256 random bits."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """Return what is stored of a token. It has too many bits to be guessed, so a plain digest hides it."""
    return hashlib.sha256(token.encode()).hexdigest()


def _clock() -> datetime:
    return datetime.now(UTC)


class Storage:
    """A database of uploads.

    Raises `UsageError` if the URL is none; `EnvironmentFailure` if the database does not answer.

    Parameters
    ----------
    url
        As SQLAlchemy takes it: `sqlite:///trial.db`, or `postgresql://user:password@host/database`. Text that looks like no
        URL is the path of an SQLite file, which other users may not read.
    clock
        What time it is, UTC.
    """

    def __init__(self, url: str, clock: Callable[[], datetime] = _clock) -> None:
        self.engine = _engine(url)
        self.now = clock
        self._look = threading.Lock()
        self._looked: datetime | None = None
        self._can_store = True
        try:
            METADATA.create_all(self.engine)
            self._bring_up_to_date()
        except SQLAlchemyError as error:
            raise EnvironmentFailure(
                f"the database of the collector does not answer: {_reason(error)}",
                "sqlite:///FILE, or postgresql://USER:PASSWORD@HOST/DATABASE",
            ) from error

    def _bring_up_to_date(self) -> None:
        """Give a database of an earlier version the columns that have come since, and read its uploads again.

        A trial may be under way: its tests must not be read by two rules.
        """
        there = {column["name"] for column in sql.inspect(self.engine).get_columns(TESTS.name)}
        new = [column for column in TEST_COLUMNS if column.name not in there]
        if not new:
            return
        with self.engine.begin() as connection:
            for column in new:
                kind = column.type.compile(self.engine.dialect)
                connection.execute(sql.text(f"ALTER TABLE {TESTS.name} ADD COLUMN {column.name} {kind}"))
            connection.execute(TESTS.delete())
            uploads = sql.select(UPLOADS.c.id, PROBES.c.name, UPLOADS.c.name, UPLOADS.c.content).join(
                PROBES, PROBES.c.id == UPLOADS.c.probe_id
            )
            for upload, probe, name, content in connection.execute(uploads).all():
                with suppress(Unreadable):
                    self._add_tests(connection, upload, read_upload(content, f"{probe}/{name}", probe))

    @staticmethod
    def _add_tests(connection: sql.Connection, upload: int | None, tests: Sequence[FieldTest]) -> None:
        if tests:
            connection.execute(TESTS.insert(), [{"upload_id": upload, **_row(test)} for test in tests])

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    def _stored_now(self) -> datetime:
        """Return the time as the database has it, without a zone."""
        return self.now().replace(tzinfo=None)

    # ---- whether it works --------------------------------------------------------------------------

    def can_store(self) -> bool:
        """Return whether the last test write, which is removed again, was stored."""
        with self._look:
            now = self.now()
            if self._looked is None or not timedelta() <= now - self._looked < LOOK:
                self._can_store = self._stores()
                self._looked = now
            return self._can_store

    def has_failed(self) -> None:
        """Say that something could not be stored or read; that holds until a look finds otherwise."""
        self._can_store = False
        self._looked = self.now()

    def _stores(self) -> bool:
        try:
            for change in (CHECKS.insert().values(content=bytes(LOOK_BYTES)), CHECKS.delete()):
                with self.engine.begin() as connection:
                    connection.execute(change)
        except SQLAlchemyError:
            return False
        return True

    # ---- probes and viewers ------------------------------------------------------------------------

    def add_probe(self, name: str) -> str:
        """Add a probe and return its token, which is not kept.

        Raises `UsageError` if there is one of this name, or the name is none.
        """
        if not name or len(name) > 100 or not name.isprintable() or name != name.strip():
            raise UsageError(f'"{name}" is no name for a probe', "such as home-07")
        token = new_token()
        try:
            with self.engine.begin() as connection:
                connection.execute(
                    PROBES.insert().values(name=name, token_hash=token_hash(token), added=self._stored_now())
                )
        except IntegrityError as error:
            raise UsageError(f'there is a probe "{name}" already', "revoke it first") from error
        return token

    def renew_probe(self, name: str) -> str:
        """Give a probe another token and return it; the old one is no longer good.

        Raises `UsageError` if there is none of this name.
        """
        token = new_token()
        self._change(name, token_hash=token_hash(token), revoked=None)
        return token

    def revoke_probe(self, name: str) -> None:
        """Refuse a probe's token from now on; what came from it stays.

        Raises `UsageError` if there is none of this name.
        """
        self._change(name, revoked=self._stored_now())

    def _change(self, name: str, **values: Any) -> None:  # noqa: ANN401 - columns of several types
        with self.engine.begin() as connection:
            changed = connection.execute(PROBES.update().where(PROBES.c.name == name).values(**values))
        if not changed.rowcount:
            raise UsageError(f'there is no probe "{name}"', "sojourn trial collector probes")

    def add_viewer(self) -> str:
        """Return a new token for the page."""
        token = new_token()
        with self.engine.begin() as connection:
            connection.execute(VIEWERS.insert().values(token_hash=token_hash(token), added=self._stored_now()))
        return token

    def is_viewer(self, token: str) -> bool:
        """Return whether a token opens the page."""
        wanted = sql.select(VIEWERS.c.id).where(VIEWERS.c.token_hash == token_hash(token))
        with self.engine.connect() as connection:
            return connection.execute(wanted).first() is not None

    def probe_of(self, token: str) -> tuple[int, str] | None:
        """Return number and name of the probe with a token; `None` if it is unknown or revoked."""
        wanted = sql.select(PROBES.c.id, PROBES.c.name).where(
            PROBES.c.token_hash == token_hash(token), PROBES.c.revoked.is_(None)
        )
        with self.engine.connect() as connection:
            row = connection.execute(wanted).first()
        return None if row is None else (int(row[0]), str(row[1]))

    def probes(self) -> list[ProbeState]:
        """Return all probes by name."""
        latest = (
            sql.select(
                UPLOADS.c.probe_id, sql.func.count().label("uploads"), sql.func.max(UPLOADS.c.id).label("latest")
            )
            .group_by(UPLOADS.c.probe_id)
            .subquery()
        )
        wanted = (
            sql.select(PROBES.c.name, latest.c.uploads, UPLOADS.c.received, UPLOADS.c.clock_error_s, PROBES.c.revoked)
            .select_from(
                PROBES.outerjoin(latest, latest.c.probe_id == PROBES.c.id).outerjoin(
                    UPLOADS, UPLOADS.c.id == latest.c.latest
                )
            )
            .order_by(PROBES.c.name)
        )
        with self.engine.connect() as connection:
            return [
                ProbeState(name, uploads or 0, last.replace(tzinfo=UTC) if last else None, clock, bool(gone))
                for name, uploads, last, clock, gone in connection.execute(wanted)
            ]

    # ---- uploads -----------------------------------------------------------------------------------

    def has(self, probe: int, digest: str) -> bool:
        """Return whether a probe's upload is there already."""
        wanted = sql.select(UPLOADS.c.id).where(UPLOADS.c.probe_id == probe, UPLOADS.c.digest == digest)
        with self.engine.connect() as connection:
            return connection.execute(wanted).first() is not None

    def add(
        self,
        probe: int,
        digest: str,
        name: str,
        content: bytes,
        tests: Sequence[FieldTest],
        clock_error_s: float | None,
    ) -> bool:
        """Keep an upload with its tests; nothing happens if it is there already.

        Returns
        -------
        bool
            Whether it is new. Either way it is on disk when this returns.
        """
        try:
            with self.engine.begin() as connection:
                done = connection.execute(
                    UPLOADS.insert().values(
                        probe_id=probe,
                        digest=digest,
                        name=name[:200],
                        received=self._stored_now(),
                        clock_error_s=clock_error_s,
                        content=content,
                    )
                )
                (upload,) = done.inserted_primary_key or (None,)
                self._add_tests(connection, upload, tests)
        except IntegrityError:
            if self.has(probe, digest):
                return False
            raise
        return True

    def count(self) -> int:
        """Return how many uploads there are."""
        with self.engine.connect() as connection:
            return int(connection.execute(sql.select(sql.func.count(UPLOADS.c.id))).scalar_one())

    def tests(self) -> pl.DataFrame:
        """Return all tests, as an import of their files would."""
        wanted = sql.select(*TEST_COLUMNS)
        with self.engine.connect() as connection:
            rows = [dict(row) for row in connection.execute(wanted).mappings()]
        for row in rows:
            row["time"] = row["time"].replace(tzinfo=UTC)
        return pl.DataFrame(rows, schema=SCHEMA, orient="row").sort("probe", "time", "direction", "file")

    def files(self) -> Iterator[tuple[str, str, str, bytes]]:
        """Yield probe, digest, name and content of every upload."""
        wanted = (
            sql.select(PROBES.c.name, UPLOADS.c.digest, UPLOADS.c.name, UPLOADS.c.content)
            .join(PROBES, PROBES.c.id == UPLOADS.c.probe_id)
            .order_by(UPLOADS.c.id)
            .execution_options(yield_per=100)
        )
        with self.engine.connect() as connection:
            for probe, digest, name, content in connection.execute(wanted):
                yield probe, digest, name, bytes(content)


def _engine(url: str) -> sql.Engine:
    if "://" not in url:
        url = f"sqlite:///{url}"
    try:
        parsed = sql.make_url(url)
    except SQLAlchemyError as error:
        raise UsageError(f"{url!r} is no URL of a database", "sqlite:///trial.db") from error
    if parsed.drivername in {"postgresql", "postgres"}:
        parsed = parsed.set(drivername="postgresql+pg8000")
    if parsed.drivername not in {"sqlite", "postgresql+pg8000"}:
        raise UsageError(
            f"the collector keeps its data in SQLite or PostgreSQL, not in {parsed.drivername}",
            "sqlite:///trial.db or postgresql://USER:PASSWORD@HOST/DATABASE",
        )
    if parsed.drivername == "sqlite":
        if parsed.database and not parsed.database.startswith((":", "file:")):
            _make_private(parsed.database)
        engine = sql.create_engine(parsed, connect_args={"timeout": 30.0})

        @listens_for(engine, "connect")
        def prepare(connection: Any, _record: object) -> None:  # noqa: ANN401 - a driver's connection  # pyright: ignore[reportUnusedFunction]
            # Readers do not wait for the writer; what is committed survives a loss of power.
            cursor = connection.cursor()
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
                cursor.execute(f"PRAGMA {pragma}")
            cursor.close()

        return engine
    return sql.create_engine(parsed, pool_pre_ping=True)


def _make_private(path: str) -> None:
    """Create the database with a mode that other users cannot read; the files beside it take its mode."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if stat.S_IMODE(os.stat(path).st_mode) & 0o077:  # noqa: PTH116 - a path as SQLAlchemy has it
            with suppress(PermissionError):  # of another owner
                os.chmod(path, 0o600)  # noqa: PTH101
    except OSError:  # the database says it better
        return


def _row(test: FieldTest) -> dict[str, Any]:
    """Return a test as a row; times of a database have no zone, and are UTC."""
    row = asdict(test)
    row["time"] = test.time.astimezone(UTC).replace(tzinfo=None)
    return row


def _reason(error: SQLAlchemyError) -> str:
    return str(getattr(error, "orig", None) or error).splitlines()[0][:200]
