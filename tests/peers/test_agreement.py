"""Verdicts of the comparison, on made-up repetitions."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

PEERS = Path(__file__).resolve().parents[2] / "benches" / "peers"


@pytest.fixture
def agreement(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(PEERS), *sys.path])
    return importlib.import_module("peer_agreement")


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(PEERS), *sys.path])
    return importlib.import_module("peer_page")


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(PEERS), *sys.path])
    return importlib.import_module("peer_worlds")


def test_a_mean_has_the_interval_of_student(agreement: ModuleType) -> None:
    # Standard deviation of 1 to 5 is sqrt(2.5); t for four degrees of freedom is 2.776.
    got = agreement.estimate([1.0, 2.0, 3.0, 4.0, 5.0])
    assert got.mean == 3.0
    assert got.half_width == pytest.approx(2.776 * (2.5 / 5) ** 0.5, rel=1e-3)


def test_one_repetition_says_nothing_about_chance(agreement: ModuleType) -> None:
    with pytest.raises(ValueError, match="two repetitions or more"):
        agreement.estimate([1.0])


def test_overlapping_repetitions_do_not_differ(agreement: ModuleType) -> None:
    got = agreement.compare([10.0, 11.0, 9.0, 10.5], [10.4, 9.4, 10.9, 10.1])
    assert not got.differs
    assert got.low < 0.0 < got.high


def test_repetitions_far_apart_do_not_agree_and_say_by_how_much(agreement: ModuleType) -> None:
    got = agreement.compare([11.0, 11.1, 10.9], [10.0, 10.1, 9.9])
    assert got.differs
    assert not got.agrees
    assert got.relative == pytest.approx(0.1)
    # Equal spreads: four degrees of freedom, t = 2.776, error sqrt(2 x 0.01 / 3).
    assert got.high - got.low == pytest.approx(2 * 2.776 * (0.02 / 3) ** 0.5, rel=1e-3)


def test_a_wide_spread_on_one_side_hides_a_difference(agreement: ModuleType) -> None:
    # With a pooled variance this would be a difference of 5.6 errors.
    got = agreement.compare([11.0, 11.0, 11.0, 11.0], [8.0, 12.0, 9.0, 11.0])
    assert not got.differs
    # But nobody can say that both agree.
    assert not got.agrees


@pytest.mark.parametrize(("spread", "agrees"), [(0.01, True), (1.0, False)])
def test_agreement_needs_an_interval_that_would_show_a_difference(
    agreement: ModuleType, spread: float, agrees: bool
) -> None:
    repetitions = [10.0 - spread, 10.0, 10.0 + spread]
    assert agreement.compare(repetitions, repetitions).agrees is agrees


@pytest.mark.parametrize(("other", "agrees"), [(5.0, True), (5.001, False)])
def test_without_any_spread_only_equal_numbers_agree(agreement: ModuleType, other: float, agrees: bool) -> None:
    assert agreement.compare([5.0, 5.0], [other, other]).agrees is agrees


def runs(delay: float, spread: float) -> list[dict[str, float]]:
    return [
        {
            "throughput_mbps": 5.0 + 0.001 * step,
            "delay_mean_ms": delay + spread * step,
            "delay_p95_ms": 2 * delay + spread * step,
        }
        for step in (-1, 0, 1)
    ]


def test_the_table_tells_agreement_from_its_mechanisms(pages: ModuleType, worlds: ModuleType) -> None:
    equal = worlds.World("ns-3", "codel", 1)
    own = worlds.World("ns-3", "codel", 1, worlds.OWN_GROWTH)
    table = pages.agreement_table({equal: (runs(3.4, 0.01), runs(3.4, 0.01)), own: (runs(3.4, 0.01), runs(4.4, 0.01))})
    rows = [line for line in table.splitlines() if "mean delay" in line]
    assert "| +0.0 % | agree |" in rows[0]
    assert "| -22.7 % | apart: CUBIC of ns-3 |" in rows[1]
    assert "*own CUBIC*" in table


@pytest.mark.parametrize(("delay", "words"), [(3.4, "| undecided |"), (3.8, "| undecided: two cycles |")])
def test_a_mechanism_is_named_for_an_open_difference_only_if_it_is_large(
    pages: ModuleType, worlds: ModuleType, delay: float, words: str
) -> None:
    equal = worlds.World("ns-3", "codel", 1)
    table = pages.agreement_table({equal: (runs(3.4, 1.0), runs(delay, 1.0))})
    assert words in table.splitlines()[3]


def test_the_summary_counts_equal_configurations_only(pages: ModuleType, worlds: ModuleType) -> None:
    equal = worlds.World("ns-3", "codel", 1)
    beneath = worlds.World("ns-3", "codel", 1, device_queue=True)
    text = pages.summary({equal: (runs(3.4, 0.01), runs(3.4, 0.01)), beneath: (runs(3.4, 0.01), runs(5.8, 0.01))})
    assert "3 of 3 cells agree; apart: 0; undecided: 0" in text
    text = pages.summary({equal: (runs(3.4, 1.0), runs(3.4, 1.0))})
    assert "1 of 3 cells agree; apart: 0; undecided: 2" in text
    text = pages.summary({equal: (runs(3.3, 0.001), runs(3.0, 0.001))})
    assert "1 of 3 cells agree; apart: 2 (at most 10.0 %); undecided: 0" in text


def test_costs_are_compared_by_their_minima(pages: ModuleType, worlds: ModuleType) -> None:
    drivers = importlib.import_module("peer_drivers")
    ours = [drivers.Measured({"run_cpu_s": cpu}, cpu + 0.1) for cpu in (0.2, 0.1, 0.4)]
    theirs = [drivers.Measured({}, cpu) for cpu in (2.1, 1.1, 3.1)]
    table = pages.cost_table([pages.Cost(worlds.World("ns-2", "drop-tail", 1), ours, theirs, 0.1)])
    simulation, process = table.splitlines()[2:]
    assert simulation.endswith("| 0.100 (0.200) | 1.000 (2.000) | 10 |")
    assert process.endswith("| 0.200 (0.300) | 1.100 (2.100) | 5.5 |")
    world = worlds.World("ns-2", "drop-tail", 1, tuned=True)
    table = pages.cost_table([pages.Cost(world, ours, theirs, 0.1, (0.5, 0.4))])
    assert "| ns-2, tuned: drop-tail, 1 upload | simulation |" in table
    assert table.splitlines()[-1] == "|  | as typed | 0.400 (0.450) | 1.100 (2.100) | 2.75 |"


def test_the_page_says_what_was_skipped_and_shows_the_rest(pages: ModuleType, worlds: ModuleType) -> None:
    drivers = importlib.import_module("peer_drivers")
    peers = {"ns-2": drivers.Peer("ns-2", "2.35"), "ns-3": drivers.Peer("ns-3", skipped="it is not here")}
    world = worlds.World("ns-2", "drop-tail", 1)
    run = [drivers.Measured({"run_cpu_s": 0.1}, 0.2)]
    text = pages.page(
        peers,
        {world: (runs(860.0, 1.0), runs(861.0, 1.0))},
        [pages.Cost(world, run, [drivers.Measured({"logging": 1.0}, 1.1)], 0.1)],
        duration_s=150.0,
        warm_up_s=5.0,
    )
    assert "Skipped: it is not here." in text
    assert "| drop-tail, 1 upload | throughput, Mb/s | 5.000 ± 0.002 |" in text
    assert "| ns-2: drop-tail, 1 upload | simulation | 0.100 (0.100) | 1.000 (1.000) | 10 |" in text
    assert "has its logging compiled in" in text
