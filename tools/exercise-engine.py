"""Uses the engine as studies do, so that the compiler learns which paths are hot (`make setup-tuned`).

Called by `maturin build --pgo` with an engine that counts; needs nothing but the engine.
"""

from pathlib import Path

from sojourn import _engine

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
LONGEST_S = 1000.0
"""Scenarios that simulate more than this are left out: they would only repeat themselves."""


def main() -> None:
    """Run the worlds of the benchmark, and every example with the tables that it keeps."""
    for world in _engine.bench_worlds():
        _engine.bench(world, 60.0)
    for path in sorted(SCENARIOS.glob("*.toml")):
        scenario = _engine.Scenario.parse(path.read_text(encoding="utf-8"))
        if scenario.duration_s <= LONGEST_S:
            _engine.run(scenario, 1)


if __name__ == "__main__":
    main()
