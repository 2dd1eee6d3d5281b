"""Collector and probes in a simulated world: laws hold through whatever a seed lets go wrong, and a seed is replayed."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from sojourn.field.collector.storage import Storage
from sojourn.field.probe.spool import Spool
from world.disk import File, SimulatedDisk
from world.sqlite import SimulatedSqlite
from world.trial import run

pytestmark = pytest.mark.whole

SEEDS = range(60)


@pytest.fixture(scope="module")
def sqlite() -> SimulatedSqlite:
    try:
        return SimulatedSqlite()
    except OSError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("seeds", [SEEDS[start : start + 20] for start in SEEDS[::20]], ids=str)
def test_what_is_acknowledged_is_kept_and_arrives_once(sqlite: SimulatedSqlite, seeds: range) -> None:
    for seed in seeds:
        try:
            run(sqlite, seed)
        except Exception as error:
            raise AssertionError(f"python -m world 1 --first {seed} in tests/ replays it") from error


def test_a_seed_makes_the_same_world_again(sqlite: SimulatedSqlite) -> None:
    worlds = [run(sqlite, seed) for seed in (3, 4, 5)]
    assert len(set(worlds)) == 3
    assert [run(sqlite, seed) for seed in (3, 4, 5)] == worlds


def broken(sqlite: SimulatedSqlite) -> Iterator[str]:
    """Return what the laws say of some worlds."""
    for seed in SEEDS:
        try:
            run(sqlite, seed)
        except Exception as error:
            yield str(error)


def test_the_laws_see_a_disk_that_lies(sqlite: SimulatedSqlite, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: SimulatedDisk, __: File) -> None: ...

    monkeypatch.setattr(SimulatedDisk, "sync", nothing)
    assert next(broken(sqlite), "")


def test_the_laws_see_a_database_that_does_not_wait_for_its_disk(
    sqlite: SimulatedSqlite, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = Storage.add

    def hasty(self: Storage, *arguments: object) -> bool:
        with self.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA synchronous=OFF")
        return add(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Storage, "add", hasty)
    assert any("acknowledged and lost" in words for words in broken(sqlite))


def test_the_laws_see_a_probe_that_forgets(sqlite: SimulatedSqlite, monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(Spool):
        def files(self) -> list[Path]:
            """See nothing that lies there."""
            return []

    def careless(self: Spool, file: Path) -> Path:
        forgetful = Forgetful.__new__(Forgetful)
        forgetful.__dict__.update(self.__dict__)
        return add(forgetful, file)

    add = Spool.add
    monkeypatch.setattr(Spool, "add", careless)
    said = list(broken(sqlite))
    assert any("not each measurement once" in words for words in said), said


def test_a_write_that_was_not_synced_may_be_lost_torn_or_kept() -> None:
    ends: set[bytes] = set()
    for seed in range(200):
        disk = SimulatedDisk(random.Random(seed))
        file = disk.open("/a", make=True)
        disk.sync_folder("")
        disk.put(file, 0, b"x" * 1024)
        disk.sync(file)
        disk.put(file, 0, b"y" * 1024)
        disk.lose_power()
        disk.restart()
        ends.add(bytes(disk.open("/a", make=False).now))
    assert ends == {a * 512 + b * 512 for a in (b"x", b"y") for b in (b"x", b"y")}
