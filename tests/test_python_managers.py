"""Queue managers written in Python decide like ours, and their mistakes are told."""

# ruff: noqa: ARG002, D101, D102 - the methods are those of sojourn.QueueManager, the names say what is wrong

from collections import deque
from pathlib import Path
from random import Random

import pytest

import sojourn
from sojourn import Packet, Scenario
from sojourn.base.errors import UsageError
from sojourn.store import Store
from support import write_scenario


class Fifo:
    """First in, first out; holds so many packets."""

    limit = 50

    def __init__(self, random: Random) -> None:
        self.random = random
        self.line: deque[Packet] = deque()

    def enqueue(self, packet: Packet, now: float) -> None:
        assert packet.arrived == now
        if len(self.line) == self.limit:
            packet.drop("overlimit")
        else:
            self.line.append(packet)

    def dequeue(self, now: float) -> Packet | None:
        assert all(packet.arrived <= now for packet in self.line)
        return self.line.popleft() if self.line else None


class Unlucky(Fifo):
    """Drops one packet in twenty, at the head."""

    def dequeue(self, now: float) -> Packet | None:
        while self.line and self.random.random() < 0.05:
            self.line.popleft().drop("target")
        return super().dequeue(now)


class Marking(Fifo):
    """Marks what has waited for 10 ms."""

    marked = 0

    def dequeue(self, now: float) -> Packet | None:
        if self.line and now - self.line[0].arrived > 0.010:
            Marking.marked += self.line[0].mark()
        return super().dequeue(now)


class Raising(Fifo):
    def dequeue(self, now: float) -> Packet | None:
        raise ZeroDivisionError("in dequeue")


class Twice(Fifo):
    last: Packet | None = None

    def dequeue(self, now: float) -> Packet | None:
        self.last = self.last or super().dequeue(now)
        return self.last


class Silent(Fifo):
    def dequeue(self, now: float) -> Packet | None:
        return None


class Late(Fifo):
    last: Packet | None = None

    def dequeue(self, now: float) -> Packet | None:
        if self.last is not None:
            self.last.drop()
        self.last = super().dequeue(now)
        return self.last


class Misspelt(Fifo):
    def enqueue(self, packet: Packet, now: float) -> None:
        packet.drop("tired")


@pytest.fixture
def base(tmp_path: Path) -> Scenario:
    """Return a small household whose upstream buffer holds 50 packets."""
    return sojourn.load_scenario(write_scenario(tmp_path))


def with_class(base: Scenario, factory: type[Fifo], name: str = "mine") -> Scenario:
    sojourn.add_manager(name, factory)
    return base.with_settings({"access.upstream.queue": {"kind": "python", "class": name}})


def test_a_line_in_python_gives_the_same_bits_as_ours(base: Scenario) -> None:
    ours = sojourn.run(base, seed=3)
    theirs = sojourn.run(with_class(base, Fifo), seed=3)
    assert theirs.metrics.equals(ours.metrics)
    dropped = ours.metrics.filter(subject="upstream", metric="dropped_overlimit")
    assert dropped["value"].item() > 0


def test_packets_are_dropped_by_numbers_that_follow_the_seed(base: Scenario) -> None:
    scenario = with_class(base, Unlucky)
    first, again, other = (sojourn.run(scenario, seed=seed) for seed in (1, 1, 2))
    assert first.metrics.equals(again.metrics)
    assert not first.metrics.equals(other.metrics)
    counted = first.metrics.filter(subject="upstream", metric="dropped_target")["value"].item()
    assert counted > 10


def test_marks_are_put_on_packets_and_counted(base: Scenario) -> None:
    ecn = base.with_settings({"traffic.bulk.stack": {"kind": "linux-cubic", "ecn": "classic"}})
    run = sojourn.run(with_class(ecn, Marking))
    counted = run.metrics.filter(subject="upstream", metric="marked_early")["value"].item()
    assert counted == Marking.marked > 10
    received = run.metrics.filter(subject="bulk", metric="marks_received")["value"].item()
    assert 0 < received <= counted


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        (Raising, "ZeroDivisionError: in dequeue"),
        (Twice, "dequeue returned packet 0, which does not wait here"),
        (Silent, "dequeue returned None, and 1 packets wait"),
        (Late, "packet 0 was dropped or marked, and does not wait here"),
        (Misspelt, 'no reason "tired"; known: overlimit, fat_flow, early'),
    ],
)
def test_a_mistake_ends_the_run_and_is_told(base: Scenario, factory: type[Fifo], said: str) -> None:
    scenario = with_class(base, factory)
    with pytest.raises(sojourn.RunError, match='queue manager "mine"') as caught:
        sojourn.run(scenario)
    assert said in caught.value.message
    assert caught.value.__cause__ is not None
    assert sojourn.run(base).metrics.height > 0  # and the next run is as ever


def test_such_runs_are_kept_nowhere(base: Scenario, tmp_path: Path) -> None:
    scenario = with_class(base, Fifo)
    assert scenario.is_prototype
    assert sojourn.run(scenario).key == ""
    store = Store(tmp_path / "store")
    with pytest.raises(UsageError, match="written in Python"):
        sojourn.run(scenario, store=store)
    axes = {"length": {"key": "duration", "values": ["1 s", "2 s"]}}
    with pytest.raises(UsageError, match="written in Python"):
        sojourn.Study(scenario, axes).run(out=tmp_path / "out", store=store)
    assert not list((tmp_path / "store").glob("*/??/*"))
    assert not base.is_prototype


def test_a_name_in_quotes_does_not_make_a_prototype(base: Scenario) -> None:
    with_class(base, Fifo)
    named = base.text.replace('"household"', "'kind = \"python\"'")
    assert not Scenario.parse(named).is_prototype


def test_a_class_that_was_not_added_and_one_that_cannot_manage_are_told(base: Scenario) -> None:
    with_class(base, Fifo)
    with pytest.raises(sojourn.ScenarioError) as caught:
        base.with_settings({"access.upstream.queue": {"kind": "python", "class": "yours"}})
    (problem,) = caught.value.problems
    assert problem.path == "access.upstream.queue.class"
    assert 'no class "yours" was added; there is: ' in problem.message
    with pytest.raises(UsageError, match="no method enqueue and no method dequeue"):
        sojourn.add_manager("none", lambda random: random)  # pyright: ignore[reportArgumentType]
