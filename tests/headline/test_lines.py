"""What a run says first: the direction that lags, and losses with what came too late."""

import json
from pathlib import Path
from typing import Any

from sojourn import _engine, run
from sojourn.answers.checks import TWO_WAY
from sojourn.headline import headline_rows, may_be_named
from sojourn.scenario.scenario_file import check_scenario, load_scenario
from support import HOUSEHOLD, CommandLine, write_scenario

GAME = {"name": "game", "app": {"kind": "online-game"}, "rtt": "20 ms"}

LAGGING: dict[str, Any] = {
    "duration": "10 s",
    "access": {
        "upstream": {"link": {"kind": "serial", "rate": "10 Mb/s"}, "queue": {"kind": "drop-tail", "limit": "250 ms"}},
        "downstream": {
            "link": {"kind": "serial", "rate": "100 Mb/s"},
            "queue": {"kind": "drop-tail", "limit": "250 ms"},
        },
    },
    "traffic": [GAME, HOUSEHOLD["traffic"][0]],
}
"""A game beside an upload: all that it feels is upstream, and most of its bytes go downstream."""


def test_a_run_tells_the_direction_that_lags_and_what_comes_too_late(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path, **LAGGING)
    done = sojourn("run", "household.toml")
    assert done.status == 0, done.stderr
    game = {row[1]: float(row[2]) for row in map(str.split, done.stdout.splitlines()[1:]) if row[0] == "game"}
    assert game["delay_up_p99"] > 200.0
    assert game["loss_total_up"] > 90.0
    assert not {"delay_p99", "delay_p50", "lost"} & set(game)


def test_pages_and_notebooks_tell_the_same(sojourn: CommandLine, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, **LAGGING)
    assert sojourn("run", "household.toml", "--report", "--out", "out").status == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    first = page[page.index("What matters most") :].partition("</table>")[0]
    assert "99th percentile of delay upstream" in first
    assert "packets lost or late upstream" in first
    finished: Any = run(load_scenario(path))
    html = finished._repr_html_()
    assert "delay_up_p99" in html
    assert "loss_total_up" in html


def values_of(metrics: dict[str, float]) -> dict[tuple[str, str], float]:
    return {("game", metric): value for metric, value in metrics.items()}


def test_the_other_direction_is_told_if_it_matters() -> None:
    delays = {"delay_p99": 40.0, "delay_up_p99": 40.0, "delay_down_p99": 250.0}
    rows = [("game", metric, value, "ms") for metric, value in {"late": 9.0, **delays}.items()]
    assert [row[1] for row in headline_rows(rows)] == ["delay_down_p99", "delay_up_p99"]
    assert may_be_named(values_of(delays)) == {("game", "delay_up_p99"), ("game", "delay_down_p99")}
    little = {**delays, "delay_up_p99": 25.0}
    assert may_be_named(values_of(little)) == {("game", "delay_down_p99")}


def test_measures_without_directions_are_named_as_they_are() -> None:
    assert may_be_named(values_of({"delay_p99": 9.0, "loss_total": 1.0, "delay_p01": 1.0})) == {
        ("game", "delay_p99"),
        ("game", "loss_total"),
    }


def kinds_of_applications() -> list[str]:
    schema = json.loads(_engine.scenario_schema())
    app = schema["properties"]["traffic"]["items"]["properties"]["app"]
    (kinds,) = (one["enum"] for one in app["anyOf"] if "enum" in one)
    return kinds


def test_the_kinds_that_send_both_ways_are_those_whose_losses_have_directions(tmp_path: Path) -> None:
    both: set[str] = set()
    for kind in kinds_of_applications():
        entry = {"name": "one", "app": kind}
        ways = [{**entry, "stack": "linux-cubic"}, entry]
        files = [write_scenario(tmp_path, f"{kind}-{n}.toml", traffic=[way]) for n, way in enumerate(ways)]
        (path,) = (file for file in files if not check_scenario(file.read_text(encoding="utf-8")))
        if "loss_total_up" in run(load_scenario(path)).metrics["metric"].to_list():
            both.add(kind)
    assert both == TWO_WAY
