"""How many homes fit on a channel: the homes that are tried, the answer, and the command."""

from pathlib import Path

import pytest

from sojourn.base.errors import UsageError
from sojourn.homes.neighbourhood import HOURS, Answer, Crowd, counts_of, crowds_of, scaled, settings_of, study_files
from support import CommandLine

SCENARIO = Path(__file__).parents[1] / "scenarios" / "neighbourhood.toml"


def crowd(homes: int, use: float, spoilt: float) -> Crowd:
    return Crowd(homes=homes, use=use, median_ms=4.0, worst_ms=9.0, spoilt=spoilt)


def test_homes_are_scaled_in_their_proportions() -> None:
    counts = counts_of(SCENARIO.read_text(encoding="utf-8"))
    assert counts == {"heavy": 2, "busy": 8, "caller": 20, "other": 170}
    # 2.5, 10, 25 and 212.5 of 250: one more for the first of the two largest rests.
    assert scaled(counts, 250) == {"heavy": 3, "busy": 10, "caller": 25, "other": 212}
    # Each kind stays, whatever the number.
    assert scaled(counts, 4) == {"heavy": 1, "busy": 1, "caller": 1, "other": 3}


def test_the_node_is_split_where_more_than_one_call_in_twenty_is_spoilt() -> None:
    tried = [crowd(100, 40, 0), crowd(200, 75, 5), crowd(300, 93, 5.1), crowd(400, 93, 60)]
    answer = Answer(100, tried)
    assert answer.split_at == tried[2]
    assert answer.near_congestion == tried[1]
    assert answer.sentence.startswith("Split at 300 homes, or before: with 300, 5 % of calls")
    assert "with 200 5 % (75 %)" in answer.sentence
    assert answer.sentence.endswith("above 70 %, from 200 homes on.")
    few = Answer(100, tried[:1])
    assert few.split_at is None
    assert few.sentence.startswith("No split up to 100 homes")
    assert "congestion" not in few.sentence


def test_the_rule_of_cloonan_has_room_for_221_homes_of_a_quarter_megabit_on_four_channels() -> None:
    # Tiers of 35 Mb/s on 97.28 Mb/s: 221 homes and 1.2 tiers are 97.25 Mb/s, 222 homes 97.5.
    tried = [
        Crowd(homes, 0.25 * homes, 4.0, worst, 0.0, left=(97.28 - 0.25 * homes) / 35)
        for homes, worst in [(100, 5.0), (200, 9.9), (300, 10.0)]
    ]
    answer = Answer(100, tried)
    assert answer.by_rule == 221
    assert "1.2 of the fastest tier, has room for 221 homes." in answer.sentence
    assert answer.knee == tried[2]
    assert "twice as long as with 100 homes from 300 on, at 75 % use." in answer.sentence
    # Nothing is said of numbers that were not tried.
    assert Answer(100, tried[:2]).by_rule is None
    assert Answer(100, [crowd(300, 75, 0)]).by_rule is None


def test_the_rates_of_a_plan_are_those_of_the_links() -> None:
    assert settings_of(["plan.up=100 Mb/s", "plan.down=1 Gb/s", "duration=4 s"]) == [
        "access.upstream.link.rate=100 Mb/s",
        "access.downstream.link.rate=1 Gb/s",
        "duration=4 s",
    ]


def test_the_picture_of_the_day_has_fewer_homes_at_night() -> None:
    text = study_files(SCENARIO.read_text(encoding="utf-8"), 200)["study.toml"]
    points = [line for line in text.splitlines() if line.startswith('[points."day/200/')]
    assert len(points) == len(HOURS)
    # A quarter of 2, 8, 20 and 170 at three in the morning: 0.5, 2, 5 and 42.5.
    night = text.split('[overlays."200-at-03".home."other"]\n')[1].splitlines()[0]
    assert night == "count = 42"


def test_channels_downstream_are_told_of_if_homes_share_them() -> None:
    text = SCENARIO.read_text(encoding="utf-8")
    shared = text.replace("docsis31-downstream", "docsis31-group-downstream")
    assert "group/downstream" not in study_files(text, 100)["study.toml"]
    assert "group/downstream" in study_files(shared, 100)["study.toml"]
    numbers = {"channel_use": 40.0, "calls_over_50ms": 0.0, "calls_p99_median": 4.0, "full_maps": 9.0}
    both = {**numbers, "calls_p99_worst": 5.0, "channel_use/downstream": 61.0}
    (found,) = crowds_of({100: {**both, "calls_p99_worst/downstream": 7.0}})
    assert (found.down_use, found.down_worst_ms) == (61, 7)


def test_a_file_without_homes_or_calls_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="no homes"):
        study_files('schema = 1\nname = "x"\n', 100)
    with pytest.raises(UsageError, match="no channel in common"):
        crowds_of({100: {"channel_use": 40.0}})


def test_the_command_says_when_to_split_and_writes_a_page(sojourn: CommandLine, tmp_path: Path) -> None:
    # Calls go both ways, over 10 Mb/s downstream.
    text = SCENARIO.read_text(encoding="utf-8")
    text = text.replace("docsis31-downstream", "docsis31-group-downstream")
    answer = 'name = "answer"\napp = { kind = "voice", direction = "downstream", start_jitter = "20 ms" }'
    call = '[[home.traffic]]\nname = "call"'
    both = f'[[home.traffic]]\n{answer}\nrtt = "30 ms"\n\n{call}'
    file = tmp_path / "both.toml"
    file.write_text(text.replace(call, both), encoding="utf-8")
    # A channel of 10 minislots a frame, 28 Mb/s, nearly all of which 80 homes want.
    done = sojourn(
        *("group", file, "--homes", "20", "--seeds", "1", "--json"),
        *("--set", "duration=4 s", "--set", "measure.from=2 s", "--set", "group.subcarriers=80"),
        *("--set", "group.requests.minimum=4", "--out", tmp_path / "out"),
        *("--set", "group.downstream.rate=10 Mb/s"),
    )
    assert done.status == 0, done.stderr
    answer = done.json()
    tried = [crowd["homes"] for crowd in answer["crowds"]]
    assert tried == [5, 10, 15, 20, 25, 30, 40, 60, 80]
    uses = [crowd["use"] for crowd in answer["crowds"]]
    assert uses[0] < 50
    assert 80 < uses[-1] <= 100
    # The channel is full, although calls come through.
    assert answer["split_at"] == 80
    assert answer["crowds"][-1]["spoilt"] == 0
    assert answer["sentence"].startswith("Split at 80 homes, or before: with 80, 100 % of MAPs have no")
    assert "near congestion, above 70 %, from 80 homes on. Downstream" in answer["sentence"]
    # Calls of 0.1 Mb/s, and acknowledgements: more with more homes, and no call waits for long.
    down = [(crowd["down_use"], crowd["down_worst_ms"]) for crowd in answer["crowds"]]
    assert 0 < down[0][0] < down[-1][0] < 50
    assert all(0.1 < worst < 50 for _, worst in down)
    assert "The other direction" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
