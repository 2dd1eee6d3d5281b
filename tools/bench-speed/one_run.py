"""Run the scenario that stands on standard input, and print what that cost as one JSON object.

usage: python one_run.py [RUNS [THREADS [ENGINE]]]

ENGINE is the file of another build of the engine, to be measured beside the installed one.
"""

import importlib.util
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any


def peak_bytes() -> int:
    """Return the largest resident memory of this process so far; 0 where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return 1024 * int(lines[0].split()[1]) if lines else 0


def engine_of(path: str) -> ModuleType:
    """Load a build of the engine from its file."""
    spec = importlib.util.spec_from_file_location("kept._engine", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no build of the engine")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Run RUNS seeds on THREADS threads, one and one if they are not given."""
    runs, threads = (*(int(argument) for argument in sys.argv[1:3]), 1, 1)[:2]
    if len(sys.argv) > 3:
        engine: Any = engine_of(sys.argv[3])
    else:
        from sojourn import _engine as engine
    scenario = engine.Scenario.parse(sys.stdin.read())
    before = peak_bytes()
    began = time.monotonic()

    def one(seed: int) -> dict[str, Any]:
        return dict(engine.run(scenario, seed).statistics)

    with ThreadPoolExecutor(threads) as pool:
        all_statistics = list(pool.map(one, range(1, runs + 1)))
    wall = time.monotonic() - began
    print(
        json.dumps(
            {
                "cpu_s": sum(statistics["cpu_s"] for statistics in all_statistics),
                "wall_s": wall,
                "simulated_s": sum(statistics["simulated_s"] for statistics in all_statistics),
                "packet_hops": sum(statistics["packet_hops"] for statistics in all_statistics),
                "peak_bytes": peak_bytes(),
                "start_bytes": before,
            }
        )
    )


if __name__ == "__main__":
    main()
