"""The page of speed: what counts instructions says, and the generated worlds."""

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "bench-speed"


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(TOOL), *sys.path])
    return importlib.import_module("speed_measure")


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(TOOL), *sys.path])
    return importlib.import_module("speed_worlds")


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(TOOL), *sys.path])
    return importlib.import_module("speed_page")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("123456,,instructions:u,1000,100.00,,\n", 123_456),
        ("<not supported>,,instructions:u,0,100.00,,\n", None),
        ("==12== \n==12== I   refs:      1,234,567\n", 1_234_567),
        ("", None),
    ],
)
def test_counts_of_instructions_are_read(measuring: ModuleType, text: str, count: int | None) -> None:
    assert measuring.parse_instructions(text) == count


def test_without_a_counter_the_page_says_so(
    measuring: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    how, command = measuring.counter()
    assert how.startswith("skipped:")
    assert command == []


def test_the_first_sentence_of_the_page_has_the_extremes_of_its_table() -> None:
    page = (TOOL.parents[1] / "docs" / "results" / "speed.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `[^|]+` \| [\d,]+ \| [\d.]+ \| (\d+) \| \d+ \| \d+ \| ([\d,]+) \|", page, re.MULTILINE)
    each = sorted(int(row[0]) for row in rows)
    speeds = sorted((row[1] for row in rows), key=lambda text: int(text.replace(",", "")))
    assert len(rows) == 4
    assert f"\n\nA packet takes {each[0]} to {each[-1]} ns of processor time" in page
    assert f"simulates {speeds[0]} to {speeds[-1]} s of a line." in page


def test_every_generated_world_is_a_valid_scenario(worlds: ModuleType) -> None:
    from sojourn import _engine

    generated = [
        *worlds.by_flows().values(),
        *worlds.by_rate().values(),
        *worlds.crowded().values(),
        *worlds.by_duration(written=False).values(),
        *worlds.by_duration(written=True).values(),
        *worlds.quiet_days().values(),
    ]
    assert len(generated) == 20
    for world in generated:
        assert _engine.check(world.scenario()) == []


def test_a_quiet_household_lasts_as_long_as_it_says(worlds: ModuleType) -> None:
    from sojourn import _engine

    durations = {
        name: _engine.Scenario.parse(world.scenario()).duration_s for name, world in worlds.quiet_days().items()
    }
    assert durations == {"1 h": 3600.0, "24 h": 86_400.0, "1 h, usual tables": 3600.0}
    assert "[record]" not in worlds.quiet_days()["1 h, usual tables"].scenario()


def test_a_generated_world_is_measured_in_a_process_of_its_own(
    measuring: ModuleType, worlds: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "ENOUGH_S", 0.0)
    cost = measuring.sized_world(worlds.Sized(duration_s=10.0), repetitions=1)
    # 10 s of 5 Mb/s are 4167 full packets; each passes two links, and so do acknowledgements.
    assert 8_000 < cost.packet_hops < 40_000
    assert cost.simulated_s == 10.0
    assert 0.0 < cost.cpu_s < 5.0
    assert cost.peak_bytes >= cost.start_bytes > 0


def test_a_kept_build_is_measured_in_turns_with_this_one(
    measuring: ModuleType, worlds: ModuleType, tmp_path: Path
) -> None:
    from sojourn import _engine

    kept = tmp_path / "_engine-kept.so"
    kept.write_bytes(Path(str(_engine.__file__)).read_bytes())
    world = worlds.Sized(duration_s=2.0)
    both = measuring.pairs(world, kept, 2)
    assert len(both) == 2
    assert {cost.packet_hops for pair in both for cost in pair} == {both[0][0].packet_hops}
    (tmp_path / "broken.so").write_bytes(b"no build")
    with pytest.raises(measuring.MeasurementError):
        measuring.pairs(world, tmp_path / "broken.so", 1)


def test_the_floor_is_measured_in_turns_with_the_dumbbell(
    measuring: ModuleType, worlds: ModuleType, pages: ModuleType
) -> None:
    world = worlds.Sized(duration_s=1.0)
    turns = measuring.beside_floor("echo floor hops 5 min 0.1 s 12.5 ns/hop", world, 2)
    assert [floor for _, floor in turns] == [12.5, 12.5]
    assert all(ours > 0 for ours, _ in turns)
    text = pages.floor_text([(50.0, 12.5), (40.0, 10.0), (45.0, 15.0)])
    assert "the floor takes 12.5 ns a packet-hop, the dumbbell 45.0" in text
    assert "4.00 times as long (3.00 to\n4.00 by pair)" in text
    assert 'FLOOR="PROGRAM ARGUMENTS"' in pages.floor_text([])
    for command in ("echo nothing", "no-such-program-here"):
        with pytest.raises(measuring.MeasurementError, match="floor"):
            measuring.beside_floor(command, world, 1)


def test_points_of_a_study_are_worlds(worlds: ModuleType) -> None:
    from sojourn import _engine

    for world in worlds.of_study().values():
        assert _engine.Scenario.parse(world.scenario()).duration_s == 600.0
    assert set(worlds.of_study()) == set(worlds.STUDY_WORLDS)


@pytest.mark.whole
def test_the_page_and_the_picture_show_what_was_measured(
    measuring: ModuleType, pages: ModuleType, tmp_path: Path
) -> None:
    drawing = importlib.import_module("speed_drawing")
    cost, twice, thrice = (
        measuring.Cost(0.1 * times, 0.1, 600.0, 1_000_000, 20 * 2**20, 10 * 2**20) for times in (1, 2, 3)
    )
    results = pages.Results(
        fixed={"dumbbell": [thrice, cost, twice]},
        flows={1.0: cost, 10.0: cost},
        rates={1e6: cost, 1e10: cost},
        crowded={"1000 uploads": [twice, thrice], "1 upload": [cost, cost]},
        durations={60.0: cost},
        durations_written={60.0: cost},
        quiet={"24 h": cost},
        study={"x13": twice},
        kept="abc1234",
        pairs={"dumbbell": [(twice, cost), (cost, cost), (thrice, cost)], "new": []},
        floor=[(50.0, 12.5)],
        runs=4,
        wall_by_jobs={1: 1.0, 2: 0.5},
        counter="valgrind",
        instructions={"dumbbell": 321.4},
    )
    text = pages.page(results, 4)
    assert "| `dumbbell` | 1,000,000 | 10.00 | 100 | 200 | 321 | 6,000 | 20.0 |" in text
    assert "| 10 Gb/s, 2 s | 1,000,000 | 0.10 | 100 |" in text
    assert "| 1000 uploads | 1,000,000 | 0.20 | 200 |" in text
    assert "2.50 times\none of the dumbbell (median of the pairs; 2.00 to 3.00)" in text
    assert "| 24 h | 1,000,000 | 0.10 | 100 |" in text
    assert "| 2 | 0.50 | 2.00 |" in text
    assert "| `x13` | 1,000,000 | 200 | 3,000 | 20.0 |" in text
    assert "of this build and of abc1234, in turns, 3 times" in text
    assert "| `dumbbell` | 2.000 | 1.000 | 3.000 | 100 | 100 |" in text
    assert "| `new` | the kept build does not know a key of it | | | | |" in text
    assert "`make bench-keep` keeps" in pages.pairs_text("", {})
    first, second = tmp_path / "1.svg", tmp_path / "2.svg"
    drawing.draw(results.curves(), first)
    drawing.draw(results.curves(), second)
    assert first.read_bytes() == second.read_bytes()
    assert "ns per packet-hop" in first.read_text(encoding="utf-8")
