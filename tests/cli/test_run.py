"""`sojourn run`: one scenario from the file to the numbers."""

import json
import re
import tomllib
from pathlib import Path

import polars as pl
import pytest
import tomli_w

from sojourn.headline.said import number
from support import CommandLine, words_only, write_scenario


def test_metrics_go_to_stdout_and_words_to_stderr(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    done = sojourn("run", "household.toml")
    assert done.status == 0, done.stderr
    heading, *rows = done.stdout.splitlines()
    assert heading.split() == ["subject", "metric", "value", "unit"]
    shown = [row.split()[:2] for row in rows]
    assert shown[0] == ["bulk", "goodput"]
    assert ["call", "mos"] in shown
    assert len(rows) <= 10
    assert done.stderr.startswith("household, seed 1: 2 s simulated in ")
    everything = sojourn("run", "household.toml", "--all").stdout.splitlines()
    assert len(everything) > 60
    assert set(done.stdout.split()) <= set("\n".join(everything).split())


def test_one_run_gives_pictures_that_can_be_made_again(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    done = sojourn("run", "household.toml", "--report", "--out", "out")
    assert done.status == 0, done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    for words in ("Over time", "Delay of packets", "Where the delay comes from", "queuing delay"):
        assert words in page
    assert page.count("<svg") == 4
    assert 'src="http' not in page
    (tmp_path / "out" / "report.html").unlink()
    again = sojourn("report", "out")
    assert again.status == 0, again.stderr
    assert (tmp_path / "out" / "report.html").read_text() == page


def test_a_run_without_records_of_packets_still_has_a_report(sojourn: CommandLine, tmp_path: Path) -> None:
    off = {"datagrams": False, "transfers": False, "occupancy": False, "delays": False}
    write_scenario(tmp_path, record={**off, "histograms": False, "series": "off"})
    done = sojourn("run", "household.toml", "--report")
    assert done.status == 0, done.stderr
    (page,) = tmp_path.glob("results/household/*/report.html")
    assert "What matters most" in page.read_text()


def test_a_direction_that_loses_nothing_does_not_stretch_its_axis(sojourn: CommandLine, tmp_path: Path) -> None:
    download = {"name": "get", "app": {"kind": "bulk", "direction": "downstream"}, "stack": "linux-cubic"}
    write_scenario(tmp_path, traffic=[download])
    done = sojourn("run", "household.toml", "--report", "--out", "out")
    assert done.status == 0, done.stderr
    rows = {tuple(row.split()[:2]) for row in done.stdout.splitlines()}
    assert ("get", "goodput_downstream") in rows


def test_json_is_one_object_with_the_same_numbers(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    command = ("run", "household.toml", "--json", "--seed", "3", "--store", "kept")
    first, again = sojourn(*command).json(), sojourn(*command).json()
    assert first["seed"] == 3
    assert first["simulated_s"] == 2.0
    assert (first["from_store"], again["from_store"]) == (False, True)
    assert first["metrics"] == again["metrics"]
    assert first["key"] == again["key"]
    assert {"subject", "metric", "value", "unit"} == set(first["metrics"][0])


def test_a_run_that_is_made_in_no_time_is_made_again_rather_than_kept(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    made = sojourn("run", "household.toml", "--json").json()
    assert sojourn.stored_runs() == []
    kept = sojourn("run", "household.toml", "--json", "--store", "kept").json()
    assert made["metrics"] == kept["metrics"]
    # 5 + 20 Mb/s for 4000 s: eight million packets, should somebody send them.
    write_scenario(tmp_path, duration="4000 s", traffic=[{"name": "call", "app": {"kind": "voice"}}])
    assert sojourn("run", "household.toml").status == 0
    assert len(sojourn.stored_runs()) == 1


def test_a_run_that_takes_its_time_tells_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from sojourn.cli import run_command
    from sojourn.process import progress

    monkeypatch.setattr(progress, "SILENT_S", 0.0)
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    path = write_scenario(tmp_path, duration="4000 s", record={"datagrams": False})
    assert run_command(["run", str(path), "--store", str(tmp_path / "store")]) == 0
    lines = [x for x in capsys.readouterr().err.splitlines() if re.match("household: .*%", x)]
    assert lines
    assert all(re.fullmatch(r"household: \d+ % after \d+ s(, about \d+ s left)?", x) for x in lines)


def test_settings_change_the_scenario(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    done = sojourn(*("run", "household.toml", "--json"), *("--set", "duration=1 s", "--set", "traffic.bulk.rtt=50 ms"))
    assert done.json()["simulated_s"] == 1.0
    plain = sojourn("run", "household.toml", "--json", "--set", "duration=1 s")
    assert plain.json()["key"] != done.json()["key"]


def test_a_setting_that_is_not_valid_is_told_with_its_path(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    done = sojourn("run", "household.toml", "--set", "access.upstream.queue.limit=5 volts")
    assert done.status == 2
    assert done.stderr.startswith("error: household.toml: access.upstream.queue.limit: ")


def test_a_file_decides_its_seed_unless_the_command_does(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path, seeds={"first": 9, "count": 1})
    assert sojourn("run", "household.toml", "--json").json()["seed"] == 9
    assert sojourn("run", "household.toml", "--json", "--seed", "2").json()["seed"] == 2


def test_records_are_written_on_request(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    done = sojourn("run", "household.toml", "--out", "out", "--json")
    assert done.status == 0, done.stderr
    assert done.json()["out"] == "out"
    metrics = pl.read_parquet(tmp_path / "out" / "metrics.parquet")
    assert metrics.to_dicts() == done.json()["metrics"]
    assert (tmp_path / "out" / "scenario.toml").exists()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["key"] == done.json()["key"]
    again = sojourn("run", "household.toml", "--out", "out")
    assert again.status == 2
    assert "not overwritten" in again.stderr


def test_seeds_decide_what_is_random(sojourn: CommandLine, tmp_path: Path) -> None:
    web = {"name": "page", "app": {"kind": "web"}, "stack": "linux-cubic", "rtt": "20 ms"}
    write_scenario(tmp_path, traffic=[web], duration="30 s")
    one, two = (sojourn("run", "household.toml", "--json", "--seed", seed).json() for seed in ("1", "2"))
    assert one["key"] != two["key"]


@pytest.mark.parametrize("place", ["--out", "--store"])
def test_a_place_that_cannot_be_written_is_an_error_of_the_environment(
    sojourn: CommandLine, tmp_path: Path, place: str
) -> None:
    write_scenario(tmp_path)
    (tmp_path / "file").write_text("in the way")
    done = sojourn("run", "household.toml", place, "file/below")
    assert done.status == 1
    assert "not a directory" in done.stderr
    assert words_only(done)


def test_a_setting_that_changes_nothing_is_told(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    asked = ("--set", "duration=2000 ms", "--set", "traffic.call.rtt=77ms")
    done = sojourn("run", "household.toml", *asked)
    assert done.status == 0, done.stderr
    assert "--set duration=2000 ms changes nothing: " in done.stderr
    assert done.stderr.count("changes nothing") == 1
    over = sojourn("run", "household.toml", "--set", "duration=9 s", "--set", "duration=3 s")
    assert "--set duration=9 s changes nothing: " in over.stderr


def test_traffic_that_begins_later_than_the_averages_is_said_with_its_own_rate(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    document = tomllib.loads((write_scenario(tmp_path, duration="10 s")).read_text(encoding="utf-8"))
    entry = next(one for one in document["traffic"] if one["name"] == "bulk")
    app = {"kind": entry["app"]} if isinstance(entry["app"], str) else entry["app"]
    entry["app"] = {**app, "start": "5 s"}
    late = tmp_path / "late.toml"
    late.write_text(tomli_w.dumps(document), encoding="utf-8")
    done = sojourn("run", late, "--report", "--out", "out")
    assert done.status == 0, done.stderr
    told = re.search(
        r"goodput of bulk: ([\d.]+) Mb/s from 5 s on, where its traffic begins; ([\d.]+) Mb/s from 0 s on, in the metrics",
        done.stderr,
    )
    assert told is not None, done.stderr
    content = sojourn("run", late, "--json").json()
    assert f"gets {number(float(told[1]))}" in content["headline"]["sentence"]
    assert re.search(rf"^bulk +goodput from 5 s +{re.escape(told[1][:3])}", done.stdout, re.MULTILINE)
    (rate,) = [
        float(row["value"]) for row in content["metrics"] if (row["subject"], row["metric"]) == ("bulk", "goodput")
    ]
    assert (float(told[1]), float(told[2])) == pytest.approx((2 * rate, rate), rel=0.01)
    (since,) = [one for one in content["since_traffic_begins"] if one["subject"] == "bulk"]
    assert since["value"] == pytest.approx(2 * rate)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert told[0].removeprefix("goodput") in page
    assert "goodput from 5 s" in page
    assert "traffic begins" not in sojourn("run", write_scenario(tmp_path, duration="2 s")).stderr
