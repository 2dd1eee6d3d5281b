"""The study of the field trial runs what the talk describes, and its closed-form claims hold."""

import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn import Scenario, _engine, run
from sojourn.answers.claims import NEEDS_WHOLE
from sojourn.field.deltas import weekly_ratio
from sojourn.field.population import DEFAULT, draw_homes, home_overlay
from sojourn.field.regression import fit
from sojourn.study.library import Study, load_study

FOLDER = Path(__file__).parents[2] / "python/sojourn/published/klatsky2016"


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("klatsky2016")


def test_the_homes_are_those_that_the_population_gives() -> None:
    written = tomllib.loads((FOLDER / "homes.toml").read_text(encoding="utf-8"))["overlays"]
    drawn = {home.name: home_overlay(home) for home in draw_homes(50)}
    assert written == drawn


def test_homes_do_not_depend_on_how_many_there_are() -> None:
    assert draw_homes(50)[:7] == draw_homes(99)[:7]
    tiers = [home.up_mbps for home in draw_homes(400)]
    for tier, share in zip(DEFAULT.tiers, DEFAULT.shares, strict=True):
        assert np.mean(np.equal(tiers, tier)) == pytest.approx(share, abs=0.08)


def test_the_trial_is_that_of_the_talk(study: Study) -> None:
    # K16-02: 8, 48, 96 KB in weeks 1, 2, 3, upstream only; three tests a day for a week.
    points = {point.name: point for point in study.points()}
    limits = {"8KB": "8192 B", "48KB": "49152 B", "96KB": "98304 B"}
    base = points["trial/up-96KB/home-01"]
    for treatment, limit in limits.items():
        point = points[f"trial/up-{treatment}/home-01"]
        canonical = tomllib.loads(_engine.Scenario.parse(point.text).canonical())
        assert canonical["access"]["upstream"]["queue"]["limit"] == limit
        assert point.document["access"]["downstream"] == base.document["access"]["downstream"]
    assert study.definition.seeds.count == 21
    assert sum(name.startswith("trial/up-") for name in points) == 250


def test_the_sweep_takes_the_cost_of_8_kb_apart() -> None:
    points = {point.name: point for point in load_study(str(FOLDER / "sweep.toml")).points()}
    assert len(points) == 4 * 3 * 6 * 4 * 3

    def upload(modem: str, treatment: str) -> float:
        """Return what four uploads carry at 10 Mb/s and 40 ms."""
        metrics = run(Scenario.parse(points[f"{modem}/cubic/10Mbps-40ms/{treatment}"].text)).metrics
        streams = pl.col("subject").cast(pl.String).str.starts_with("test-upload-") & (
            pl.col("metric") == "goodput_loaded"
        )
        return sum(metrics.filter(streams)["value"].to_list())

    # Of 10 Mb/s the loop leaves 3.6 to 8 KB; without it, or with the packets that wait for a grant elsewhere, nearly all.
    assert upload("loop", "8KB") == pytest.approx(3.6, abs=0.4)
    assert upload("loop", "48KB") > 8.5
    assert upload("no-loop", "8KB") > 8.5
    assert upload("outside", "8KB") > 8.5


@pytest.mark.slow
def test_known_effects_lie_within_their_intervals_as_often_as_those_say() -> None:
    # K16-06: 93 to 97 % of 1000 draws; the plain interval, since these errors are independent.
    effects = {"2": 27.0, "3": 63.0}
    generator = np.random.default_rng(16)
    covered = 0
    draws = 500
    week = np.tile(np.repeat(["1", "2", "3"], 3), 6)
    true = np.array([effects.get(name, 0.0) for name in week])
    frame = pl.DataFrame({"probe": np.repeat(np.arange(6).astype(str), 9), "week": week})
    for _ in range(draws):
        rows = frame.with_columns(delta=pl.Series(true + 10.0 * generator.standard_normal(54)))
        found = fit(rows, (("week", ("1", "2", "3")),), bootstrap=False)
        for level, effect in effects.items():
            one = found.coefficient("week", level)
            covered += one.low <= effect <= one.high
    assert 0.93 <= covered / (2 * draws) <= 0.97


@pytest.mark.whole
def test_a_week_without_an_effect_is_rejected_as_often_as_the_level_says() -> None:
    # K16-07: 3 to 7 %.
    generator = np.random.default_rng(7)
    frame = pl.DataFrame(
        {"probe": np.repeat(np.arange(6).astype(str), 9), "week": np.tile(np.repeat(["1", "2", "3"], 3), 6)}
    )
    draws, rejected = 600, 0
    for _ in range(draws):
        rows = frame.with_columns(delta=pl.Series(generator.standard_normal(54)))
        rejected += fit(rows, (("week", ("1", "2", "3")),), bootstrap=False).factors[0].p < 0.05
    assert 0.03 <= rejected / draws <= 0.07


def test_points_and_ratios_of_the_print_agree() -> None:
    # K16-18: balanced deltas sum to zero, so 27 and 63 points are -30, -3, 33; 14 and 14 are -9.3, 4.7, 4.7.
    for effects, first, ratios in (((27, 63), -30.0, (1.39, 1.90)), ((14, 14), -28 / 3, (1.15, 1.15))):
        assert sum(effects) / 3 == pytest.approx(-first)
        for effect, ratio in zip(effects, ratios, strict=True):
            assert weekly_ratio(effect, first) == pytest.approx(ratio, abs=0.006)


@pytest.mark.slow
def test_a_quick_run_judges_and_draws_what_it_can(tmp_path: Path) -> None:
    from sojourn.cli.app import execute

    out = tmp_path / "out"
    command = ["study", "run", "klatsky2016", "--quick", "--no-figures"]
    assert execute([*command, "--out", str(out), "--store", str(tmp_path / "store")]) == 0
    claims = pl.read_csv(out / "claims.csv")
    gates = claims.filter(pl.col("use") == "gate")
    # Two weeks of one home in ten decide that a longer buffer delays and carries more; the others need all homes.
    assert gates.filter(pl.col("verdict") == "holds")["id"].to_list() == ["K16-01", "K16-12"]
    assert set(gates.filter(pl.col("verdict") != "holds")["note"]) == {NEEDS_WHOLE}
    assert pl.read_csv(out / "comparison.csv").height == 6
