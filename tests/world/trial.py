"""One seed: two homes measure and send, strangers try, machines and connections fail; then the laws are looked at.

Laws: what was acknowledged is kept, through every loss of power; every measurement arrives, once, as it was sent; at a probe
each is in one place; strangers read nothing; the only errors are those that say "later"; `/health` says what is so.
"""

import asyncio
import hashlib
import logging
import random
import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import uvicorn
from sqlalchemy.exc import SQLAlchemyError
from uvicorn.server import ServerState

from field.services import flent_file
from sojourn.base.errors import SojournError
from sojourn.field.collector import app as service
from sojourn.field.collector import storage
from sojourn.field.collector.storage import Storage
from sojourn.field.importer import read_upload
from sojourn.field.probe.spool import Spool
from sojourn.field.probe.upload import Uploader
from sojourn.field.records import FieldTest
from sojourn.process.connections import connection_class
from world.disk import PowerFailure, SimulatedDisk
from world.network import Connection, Loop, Network, Person
from world.sqlite import SimulatedSqlite

EPOCH = datetime(2026, 11, 23, 8, tzinfo=UTC)
HOMES = ("home-01", "home-02")
FILES = 3
"""Measurements of each home."""

TROUBLE_S = 600.0
"""So long things go wrong; then all that is left must arrive."""

END_S = 86_400.0
SPOOL = Path("/spool")
DATABASE = "sqlite:///file:/data/trial.db?vfs=world&uri=true"
SECRET = "treatment-nobody-knows"


@cache
def measurement(home: str, number: int) -> bytes:
    return flent_file(10 * HOMES.index(home) + number, title=f"buffer={SECRET}")


@cache
def reading(body: bytes, file: str, probe: str) -> tuple[FieldTest, ...]:
    return tuple(read_upload(body, file, probe))


def read_again(body: bytes, file: str, probe: str) -> list[FieldTest]:
    """Read an upload; each is read once in all worlds."""
    return list(reading(body, file, probe))


async def at_once(call: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401
    """Do the work where threads would do it: here."""
    return call(*arguments)


class Messages(logging.Handler):
    """What the server says: nothing but that its database failed."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        self.said.append(record.getMessage())


class Clock:
    """A clock that somebody sets."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.error = timedelta()

    def __call__(self) -> datetime:
        """Return the time that it shows."""
        return EPOCH + timedelta(seconds=self._loop.now) + self.error


class Trial:
    """The world of one seed."""

    def __init__(self, sqlite: SimulatedSqlite, seed: int) -> None:
        self.seed = seed
        self.dice = random.Random(f"trial/{seed}")
        self.loop = Loop()
        self.disk = SimulatedDisk(random.Random(f"disk/{seed}"))
        self.sqlite = sqlite
        sqlite.start(self.disk, seed, self._sleep)
        self.network = Network(self.loop, random.Random(f"network/{seed}"), self._connection, lambda: self.is_dark)
        self.clocks = {name: Clock(self.loop) for name in ("collector", *HOMES)}
        self.is_dark = True
        self.storage: Storage | None = None
        self.config: uvicorn.Config | None = None
        self.tokens: dict[str, str] = {}
        self.acknowledged: set[tuple[str, str]] = set()
        self.is_calm = False
        self.error: BaseException | None = None
        self.spool_disks: dict[str, SimulatedDisk] = {}
        self.strangers: list[Connection] = []
        self.messages = Messages()
        self.trace = hashlib.sha256()

    def _sleep(self, seconds: float) -> None:
        self.loop.now += seconds

    def note(self, *what: object) -> None:
        """Note what happens, so that a replay can be told from another world."""
        self.trace.update(f"{self.loop.now:.6f} {what}\n".encode())

    # ---- the collector -----------------------------------------------------------------------------

    def start_collector(self) -> None:
        """Start it on whatever its disk holds; look at once whether all that was acknowledged is there."""
        self.disk.restart()
        with suppress(SQLAlchemyError):
            _engine(DATABASE).dispose()  # connections of an earlier start
        try:
            started = Storage(DATABASE, self.clocks["collector"])
            known = {probe.name for probe in started.probes()}
            for home in HOMES:
                if home not in self.tokens:
                    change = started.renew_probe if home in known else started.add_probe
                    self.tokens[home] = change(home)
                assert started.probe_of(self.tokens[home]), "a token is lost"
            kept = {(probe, digest): content for probe, digest, _, content in started.files()}
        except (SojournError, SQLAlchemyError) as error:
            if not (self.disk.is_off or self.disk.full or self.disk.failing_syncs):
                raise AssertionError("a sound disk keeps the collector from starting") from error
            self.note("start fails")
            self.power_fails()
            return
        lost = self.acknowledged - kept.keys()
        assert not lost, f"acknowledged and lost: {sorted(lost)}"
        for (home, digest), content in kept.items():
            assert hashlib.sha256(content).hexdigest() == digest, f"other bytes of {home}"
        self.storage = started
        self.config = uvicorn.Config(
            service.create_app(started, read=read_again, call=at_once),
            log_config=None,
            access_log=False,
            lifespan="off",
        )
        self.config.load()
        self.protocol = connection_class([])
        self.state = ServerState()
        self.is_dark = False
        self.note("start", len(kept))

    def _connection(self) -> Any:  # noqa: ANN401 - a protocol of uvicorn
        assert self.config is not None
        return self.protocol(config=self.config, server_state=self.state, app_state={}, _loop=self.loop)

    def power_fails(self) -> None:
        """Take the collector away; it comes back after a while."""
        self.is_dark = True
        self.disk.is_off = True
        self.network.reset_all()
        if self.storage is not None:
            gone, self.storage = self.storage, None
            with suppress(SQLAlchemyError):
                gone.close()
        self.disk.lose_power()
        self.sqlite.power_failed()
        self.note("power fails")
        self.loop.call_later(self.dice.uniform(0.5, 60.0), self.start_collector)

    # ---- homes -------------------------------------------------------------------------------------

    def probe(self, home: str) -> Callable[[Person], None]:
        """Return what a home's computer does; it is switched off and on as well."""
        disk = self.spool_disks[home] = SimulatedDisk(random.Random(f"{home}/{self.seed}"))
        dice = random.Random(f"probe/{home}/{self.seed}")

        def work(person: Person) -> None:
            number = 0
            while True:
                disk.restart()
                if self.loop.now < TROUBLE_S and dice.random() < 0.3:
                    disk.power_fails_at = disk.calls + dice.randrange(1, 60)
                try:
                    spool = Spool(SPOOL, 500, disk)
                    while number < FILES or spool.files():
                        if number < FILES and self._measure(spool, disk, home, number):
                            number += 1
                        self._send(person, spool, home, dice)
                        person.wait(dice.uniform(1.0, 120.0))
                except PowerFailure:
                    disk.lose_power()
                    self.note(home, "power fails")
                except SojournError as error:
                    if not (disk.full or disk.failing_syncs):
                        raise
                    self.note(home, error)
                else:
                    return
                person.wait(dice.uniform(1.0, 60.0))

        return work

    def _measure(self, spool: Spool, disk: SimulatedDisk, home: str, number: int) -> bool:
        """Measure, as Flent does: a file named by the clock, which may show the same time twice.

        Returns
        -------
        bool
            Whether the spool has it.
        """
        body = measurement(home, number)
        name = Path(f"/flent/rrul_up-{self.clocks[home]():%Y-%m-%dT%H}.flent.gz")
        try:
            source = disk.open(str(name), make=True)
            disk.put(source, 0, None)
            disk.put(source, 0, body)
        except OSError:
            return False
        spool.add(name)
        self.note(home, "measured", number)
        return True

    def _send(self, person: Person, spool: Spool, home: str, dice: random.Random) -> None:
        uploader = Uploader(
            "http://collector",
            self.tokens[home],
            _Watched(self, spool, home),
            transport=self.network.transport(person),
            sleep=lambda seconds: person.wait(seconds),
            clock=self.clocks[home],
            dice=dice.uniform,
        )
        try:
            report = uploader.send(attempts=3)
            assert not report.refused, "a measurement was refused"
        finally:
            uploader.close()

    # ---- strangers ---------------------------------------------------------------------------------

    def stranger(self) -> None:
        """Ask for something without a token, or with one that is none; or say half a sentence."""
        one = self.network.connect(None)
        if one is not None:
            self.strangers.append(one)
            digest = hashlib.sha256(measurement(HOMES[0], 0)).hexdigest()
            path = self.dice.choice(("/", "/plan", f"/configurations/{digest}", f"/uploads/{digest}", "/health", "/x"))
            method = "PUT" if "uploads" in path else "GET"
            token = self.dice.choice(("", "Authorization: Bearer x\r\n", "Authorization: Basic eDp4\r\n"))
            text = f"{method} {path} HTTP/1.1\r\nHost: c\r\n{token}Content-Length: 3\r\n\r\nabc".encode()
            one.send(text[: self.dice.choice((len(text), self.dice.randrange(len(text))))])
        if self.loop.now < TROUBLE_S:
            self.loop.call_later(self.dice.expovariate(1 / 60.0), self.stranger)

    # ---- what goes wrong ---------------------------------------------------------------------------

    def trouble(self) -> None:
        """Change what goes wrong, every now and then; in the end, nothing does."""
        calm = self.loop.now >= TROUBLE_S
        for disk in (self.disk, *self.spool_disks.values()):
            disk.full = not calm and self.dice.random() < 0.15
            disk.failing_syncs = 0.0 if calm else self.dice.choice((0.0, 0.0, 0.1, 0.5))
        self.network.breaking = 0.0 if calm else self.dice.choice((0.0, 0.05, 0.3))
        self.network.slow = 0.0 if calm else self.dice.choice((0.0, 0.0, 0.05, 0.3))
        if calm:
            self.disk.power_fails_at = 0
            self.is_calm = True
            self.note("calm")
            return
        fate = self.dice.random()
        if fate < 0.3 and not self.is_dark:
            self.disk.power_fails_at = self.disk.calls + self.dice.randrange(1, 80)
        elif fate < 0.4 and not self.is_dark:
            self.power_fails()
        clock = self.clocks[self.dice.choice(("collector", *HOMES))]
        if self.dice.random() < 0.3:
            clock.error = timedelta(seconds=self.dice.choice((0, 1, -1)) * self.dice.expovariate(1e-5))
        self.loop.call_later(self.dice.expovariate(1 / 40.0), self.trouble)

    # ---- the whole ---------------------------------------------------------------------------------

    def run(self) -> str:
        """Run to the end; return what tells this world from others.

        Raises `AssertionError` if a law does not hold.
        """
        self.disk.on_failure = lambda: self.loop.call_soon(self.power_fails)
        self.loop.set_exception_handler(self._broke)
        people = [Person(self.loop, self.probe(home)) for home in HOMES]
        self.loop.call_later(1.0, self.trouble)
        self.loop.call_later(2.0, self.stranger)
        try:
            self.start_collector()
            self.loop.run_until_complete(self._until_done(people))
            for person in people:
                if person.error is not None:
                    raise person.error
            self._look_at_the_end()
        finally:
            for person in people:
                person.end()
            if self.storage is not None:
                with suppress(SQLAlchemyError):
                    self.storage.close()
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.loop.run_until_complete(asyncio.sleep(0))
            self.loop.close()
        return self.trace.hexdigest()

    def _broke(self, _loop: object, context: dict[str, Any]) -> None:
        """Keep what broke outside of a request, such as a law at a start."""
        self.error = self.error or context.get("exception") or RuntimeError(context["message"])

    async def _until_done(self, people: list[Person]) -> None:
        while not all(person.has_ended for person in people) or self.is_dark or not self.is_calm:
            assert self.loop.now < END_S, "something never arrives"
            if self.error is not None:
                raise self.error
            if any(person.error for person in people):
                return
            await asyncio.sleep(5.0)
        await asyncio.sleep(60.0)  # what is on its way arrives

    def _look_at_the_end(self) -> None:
        assert self.storage is not None
        wanted = {
            (home, hashlib.sha256(body).hexdigest()): body
            for home in HOMES
            for number in range(FILES)
            for body in [measurement(home, number)]
        }
        kept = [(probe, digest) for probe, digest, _, _ in self.storage.files()]
        assert sorted(kept) == sorted(wanted), "not each measurement once"
        assert {(p, d): c for p, d, _, c in self.storage.files()} == wanted, "other bytes"
        with self.storage.engine.connect() as connection:
            count = connection.exec_driver_sql("SELECT count(*) FROM tests").scalar_one()
            fine = connection.exec_driver_sql("PRAGMA integrity_check").scalar_one()
        assert count == len(wanted), "not each test once"
        assert fine == "ok", fine
        assert self.storage.can_store(), "the collector says that it cannot store"
        for home, disk in self.spool_disks.items():
            disk.restart()
            digests = [hashlib.sha256(disk.read(path)).hexdigest() for path in disk.files(SPOOL / "sent")]
            mine = {digest for probe, digest in wanted if probe == home}
            assert set(digests) == mine, f"{home} has put away other files"
            assert not disk.files(SPOOL / "waiting")
            assert not disk.files(SPOOL / "refused")
        for one in self.strangers:
            text = bytes(one.received)
            assert SECRET.encode() not in text
            assert all(home.encode() not in text for home in HOMES)
            # The network may cut an answer anywhere.
            first, whole, _ = text.partition(b"\r\n")
            status = first.partition(b" ")[2][:3] if whole else b""
            assert status in {b"", b"200", b"400", b"401", b"404", b"503"}, text[:100]
            body = text.partition(b"\r\n\r\n")[2]
            assert status != b"200" or b"ok\n".startswith(body), text
        odd = [text for text in self.messages.said if not text.startswith("the database failed: ")]
        odd = [text for text in odd if text != "Invalid HTTP request received."]
        assert not odd, odd[0]


class _Watched(Spool):
    """A spool whose putting away is an acknowledgement: the probe has read that the collector has the file."""

    def __init__(self, trial: Trial, spool: Spool, home: str) -> None:
        self.__dict__.update(spool.__dict__)
        self._trial = trial
        self._home = home

    def done(self, file: Path) -> None:
        """Note the acknowledgement, before anything can go wrong here."""
        digest = hashlib.sha256(self.content(file)).hexdigest()
        self._trial.acknowledged.add((self._home, digest))
        self._trial.note(self._home, "acknowledged", digest[:8])
        super().done(file)


@contextmanager
def _tokens(seed: int) -> Generator[None]:
    """Let tokens be those of a seed: they are in the database, and the order of its pages is to be the same."""
    dice = random.Random(f"tokens/{seed}")
    before = secrets.token_urlsafe
    secrets.token_urlsafe = lambda *_: f"{dice.getrandbits(256):064x}"  # type: ignore[assignment]
    try:
        yield
    finally:
        secrets.token_urlsafe = before


@contextmanager
def _one_engine() -> Generator[None]:
    """Let all worlds use one engine of SQLAlchemy, which knows its statements; its connections are of one start."""
    before = storage._engine  # pyright: ignore[reportPrivateUsage]
    storage._engine = _engine  # pyright: ignore[reportPrivateUsage]
    try:
        yield
    finally:
        storage._engine = before  # pyright: ignore[reportPrivateUsage]


_engine = cache(storage._engine)  # pyright: ignore[reportPrivateUsage]


def run(sqlite: SimulatedSqlite, seed: int) -> str:
    """Run one seed; return what tells its world from others.

    Raises `AssertionError` if a law does not hold.
    """
    trial = Trial(sqlite, seed)
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers[:] = [trial.messages]
    root.setLevel(logging.WARNING)
    try:
        with _tokens(seed), _one_engine():
            return trial.run()
    finally:
        root.handlers[:] = before
        root.setLevel(level)
