"""Run many seeds; say which broke a law."""

import argparse
import sys
import time
import traceback

from world.sqlite import SimulatedSqlite
from world.trial import run


def main() -> int:
    """Run them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    sqlite = SimulatedSqlite()
    broken: list[int] = []
    began, done = time.monotonic(), 0
    for done, seed in enumerate(range(options.first, options.first + options.count), 1):
        try:
            run(sqlite, seed)
        except Exception:
            broken.append(seed)
            print(f"seed {seed}:\n{traceback.format_exc(limit=-3)}", flush=True)
            if len(broken) == 10:
                break
        if done % 1000 == 0:
            print(f"{done} seeds, {len(broken)} broken, {done / (time.monotonic() - began):.1f} a second", flush=True)
    print(f"{done} seeds from {options.first}: {len(broken)} broke a law")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
