"""Uses the engine as its users do, so that the compiler learns which paths are hot.

Called by `tools/note-hot-paths` with an engine that counts.
"""

from pathlib import Path

from sojourn import _engine
from sojourn.study.library import load_study
from sojourn.study.plan import RunOptions, make_plan, only_runs

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
LONGEST_S = 1000.0
"""Scenarios that simulate more than this are left out: they would only repeat themselves."""

STUDIES = {"white2012": "20 s", "white2013": "10 s", "white2019": "2 s", "akhtar2013": "60 s"}
"""Published studies and how long their points are simulated. chosen: some seconds of processor time each; the faster
the lines, the shorter."""

POINTS = 30
"""Points of a study that are simulated, evenly spread over its list."""


def main() -> None:
    """Run the worlds of the benchmark, and examples and points of studies with the tables that they keep."""
    for world in _engine.bench_worlds():
        _engine.bench(world, 60.0)
    for path in sorted(SCENARIOS.glob("*.toml")):
        scenario = _engine.Scenario.parse(path.read_text(encoding="utf-8"))
        if scenario.duration_s <= LONGEST_S:
            _engine.run(scenario, 1)
    for study, duration in STUDIES.items():
        plan = make_plan(load_study(study), RunOptions(duration=duration), only_runs)
        for planned in plan.points[:: max(1, len(plan.points) // POINTS)]:
            _engine.run(planned.scenario.compiled, 1)


if __name__ == "__main__":
    main()
