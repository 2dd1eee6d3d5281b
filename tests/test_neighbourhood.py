"""How many homes fit on a channel: the homes that are tried, the answer, and the command."""

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sojourn.base.errors import UsageError
from sojourn.homes.neighbourhood import Answer, counts_of, crowds_of, plant_of, scaled, settings_of, study_files
from sojourn.homes.thresholds import MOST_HOMES, Crowd, most_rounds_left, next_numbers, thresholds_of
from support import CommandLine

SCENARIO = Path(__file__).parents[1] / "scenarios" / "neighbourhood.toml"


def crowd(homes: int, *, knee: dict[int, float] | None = None, full: float = 1e9, down: float | None = None) -> Crowd:
    """Return a channel that is as full as it has homes; calls suffer at once from a number of homes on, by seed."""
    knees = {1: 390.0} if knee is None else knee
    seeds: dict[int, dict[str, float]] = {}
    for seed, suffer in knees.items():
        seeds[seed] = {
            "calls_over_50ms": 0.0 if homes < suffer else 100.0,
            "full_maps": 100.0 if homes >= full else 50.0,
            "channel_use": min(homes / 5, 95.0),
            "calls_p99_worst": 4.0 if homes < suffer else 400.0,
            "quality_k": (97.28 - 0.25 * homes) / 35,
        }
        if down is not None:
            seeds[seed] |= {
                "calls_over_50ms/downstream": 0.0 if homes < down else 100.0,
                "channel_use/downstream": homes / 5,
            }
    return Crowd(homes, seeds)


def searched(start: int = 200, **channel: Any) -> list[Crowd]:  # noqa: ANN401 - of `crowd`
    """Search as the command does; no more rounds follow than were told."""
    tried: list[Crowd] = []
    most = math.inf
    while numbers := next_numbers(tried, start):
        told = most_rounds_left(tried)
        most = min(most - 1, math.inf if told is None else told)
        assert most >= 1
        assert not {one.homes for one in tried} & set(numbers)
        tried = sorted([*tried, *(crowd(number, **channel) for number in numbers)], key=lambda one: one.homes)
        assert len(tried) < 40
    return tried


def test_homes_are_scaled_in_their_proportions() -> None:
    counts = counts_of(SCENARIO.read_text(encoding="utf-8"))
    assert counts == {"heavy": 2, "busy": 8, "caller": 20, "other": 170}
    # 2.5, 10, 25 and 212.5 of 250: one more for the first of the two largest rests.
    assert scaled(counts, 250) == {"heavy": 3, "busy": 10, "caller": 25, "other": 212}
    # As many as were asked for, whatever the number; somebody is in a call.
    for number in (1, 2, 4, 11, 4096):
        found = scaled(counts, number, "caller")
        assert sum(found.values()) == number
        assert found["caller"] >= 1


@given(
    st.dictionaries(st.integers(1, 9), st.floats(1, 3000), min_size=1, max_size=4),
    st.floats(1, 4000),
    st.integers(1, 300),
    st.one_of(st.none(), st.floats(1, 3000)),
)
@example(knee={1: 26.0}, full=10.0, start=3, down=None)  # two doublings: the second space takes one halving more
def test_a_threshold_is_found_wherever_it_lies_and_from_wherever_the_search_begins(
    knee: dict[int, float], full: float, start: int, down: float | None
) -> None:
    tried = searched(start, knee=knee, full=full, down=down)
    found = {one.name: one for one in thresholds_of(tried)}
    assert all(one.homes <= MOST_HOMES for one in tried)
    bounds = {"the channel is full": full, **({} if down is None else {"calls suffer downstream": down})}
    if len(knee) == 1:  # the search follows the mean over seeds
        bounds["calls suffer"] = next(iter(knee.values()))
    known: list[float] = [*knee.values(), full, *([] if down is None else [down])]
    first = min(known)
    for name, bound in bounds.items():
        homes = found[name].homes
        if homes is None:
            assert bound > min(3.5 * first, MOST_HOMES), name
        else:
            assert bound * 0.94 - 2 <= homes <= max(bound * 1.05, bound + 2), name


def test_the_first_sentence_answers_the_number_that_was_asked_about() -> None:
    seeds = {1: 380.0, 2: 390.0, 3: 400.0}
    tried = searched(knee=seeds)
    split = Answer(200, tried).split
    assert split is not None
    assert (split.name, split.broken) == ("calls suffer", 3)
    assert split.homes is not None
    assert split.low is not None
    assert split.high is not None
    assert split.low < 380 < split.homes < 400 < split.high
    where = f"{split.homes} ({split.low} to {split.high})"
    told = {asked: Answer(asked, tried) for asked in (1, 100, 150, 200, split.homes, 2000, 10_000)}
    # The threshold does not depend on the number that was asked about.
    assert {answer.split for answer in told.values()} == {split}
    assert told[1].sentence == f"1 home: calls are fine, and up to {where}; split then."
    assert told[200].sentence == f"200 homes: calls are fine, and up to {where}; split then."
    edge = told[split.homes]
    assert (edge.verdict, "at the edge" in edge.sentence) == ("edge", True)
    assert told[10_000].verdict == "too many"
    nodes = -(-10_000 // (split.low - 1))
    assert told[10_000].sentence.endswith(f"; {nodes} nodes of {-(-10_000 // nodes)} keep below.")
    full = Answer(200, searched(knee=seeds, full=300))
    assert full.sentence.startswith("200 homes: calls are fine, and the channel is full from ")
    # In one number of homes all rules are said, the unbroken ones too.
    quiet = Answer(200, searched(knee={1: 1e9}))
    assert quiet.sentence == "200 homes: calls are fine, and with 4,096 too; nothing asks for a split."
    assert "–" in {one.told for one in quiet.thresholds}


def test_the_rule_of_cloonan_has_room_for_221_homes_of_a_quarter_megabit_on_four_channels() -> None:
    # Tiers of 35 Mb/s on 97.28 Mb/s: 221 homes and 1.2 tiers are 97.25 Mb/s, 222 homes 97.5.
    (rule,) = [one for one in thresholds_of(searched()) if "fastest tier" in one.name]
    assert rule.homes == 221
    (near,) = [one for one in thresholds_of(searched()) if one.name == "the channel is near congestion"]
    assert near.homes == 350  # 70 % of what 500 homes fill
    # Nothing is said of numbers that were not tried.
    assert [one.homes for one in thresholds_of([crowd(50), crowd(100)]) if "fastest tier" in one.name] == [None]


def test_the_rates_of_a_plan_are_those_of_the_links_and_a_seed_is_the_first() -> None:
    assert settings_of(["plan.up=100 Mb/s", "plan.down=1 Gb/s", "duration=4 s", "seed=7"]) == (
        ["access.upstream.link.rate=100 Mb/s", "access.downstream.link.rate=1 Gb/s", "duration=4 s"],
        7,
    )
    assert "seeds = { first = 7, count = 2 }" in study_files(SCENARIO.read_text("utf-8"), 9, [9], 2, 7)["study.toml"]
    with pytest.raises(UsageError, match="no seed"):
        settings_of(["seed=random"])


def test_the_plant_of_the_answer_is_said() -> None:
    # On the plant of the recipe 400 homes have a worst call of 36 ms, on that of the file 13: the MAPs are 2 ms apart and 1 ms.
    text = SCENARIO.read_text(encoding="utf-8")
    assert plant_of(text) == "280 subcarriers of OFDMA, a MAP each 1 ms"
    assert plant_of(text.replace("subcarriers = 280", 'form = "pon"')) == "a passive optical network"


def test_a_file_without_homes_or_calls_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="no homes"):
        study_files('schema = 1\nname = "x"\n', 100, [100])
    rows = {"point": ["9"], "seed": [1], "subject": ["group"], "metric": ["channel_use"], "value": [40.0]}
    with pytest.raises(UsageError, match="no channel in common"):
        crowds_of(pl.DataFrame(rows), {"9": 9})


def test_the_command_answers_for_the_homes_and_writes_a_page(sojourn: CommandLine, tmp_path: Path) -> None:
    # Calls go both ways, over 10 Mb/s downstream.
    text = SCENARIO.read_text(encoding="utf-8")
    text = text.replace("docsis31-downstream", "docsis31-group-downstream")
    answer = 'name = "answer"\napp = { kind = "voice", direction = "downstream", start_jitter = "20 ms" }'
    call = '[[home.traffic]]\nname = "call"'
    both = f'[[home.traffic]]\n{answer}\nrtt = "30 ms"\n\n{call}'
    for name, count, fewer in [("caller", 20, 2), ("other", 170, 17), ("busy", 8, 1), ("heavy", 2, 1)]:
        text = text.replace(f'name = "{name}"\ncount = {count}', f'name = "{name}"\ncount = {fewer}')
    file = tmp_path / "both.toml"
    file.write_text(text.replace(call, both), encoding="utf-8")

    # A channel of 10 minislots a frame, 28 Mb/s, nearly all of which some 60 homes want.
    def asked(homes: int, *more: str) -> dict[str, Any]:
        done = sojourn(
            *(
                "group",
                file,
                "--homes",
                str(homes),
                "--seeds",
                "1",
                "--json",
                "--out",
                tmp_path / f"out-{homes}{len(more)}",
            ),
            *("--set", "duration=4 s", "--set", "measure.from=2 s", "--set", "group.subcarriers=80"),
            *("--set", "group.requests.minimum=4", "--set", "group.downstream.rate=10 Mb/s", *more),
        )
        assert done.status == 0, done.stderr
        return done.json()

    few, many = asked(7), asked(100_000)
    assert few["thresholds"] == many["thresholds"]
    assert few["split_at"] == many["split_at"]
    assert 20 < few["split_at"] < 200
    assert few["verdict"] == "fine"
    assert few["sentence"].startswith("7 homes: calls are fine, and ")
    assert few["crowds"][0]["homes"] <= 7
    assert any(crowd["homes"] == 7 for crowd in few["crowds"])
    assert many["sentence"].startswith("100,000 homes: too many, ")
    # Calls of 0.1 Mb/s, and acknowledgements: more with more homes.
    down = [crowd["channel_use/downstream"] for crowd in few["crowds"]]
    assert 0 < down[0] < down[-1]
    page = (tmp_path / "out-70" / "report.html").read_text(encoding="utf-8")
    assert "The other direction" in page
    assert "The node by the hour" in page
    assert few["sentence"].split(". ")[0] in page
    # Another first seed is another result.
    assert asked(7, "--set", "seed=7")["thresholds"] != few["thresholds"]
