"""Random mutations of studies, base scenarios and settings: whatever is written, words come back and no traceback.

    PYTHONPATH=tests python -m robustness.mutations 5000 [SEED]

prints how many inputs were valid and how many were refused, and each that ended otherwise; exit status 1 if one did.
The suite makes a few hundred of them.
"""

import copy
import random
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import Any, cast

import tomli_w

from sojourn.answers.checks import unanswerable
from sojourn.base.errors import SojournError
from sojourn.scenario.scenario_file import check_scenario, load_scenario, read_text
from sojourn.study.library import load_study
from sojourn.study.plan import RunOptions, make_plan
from support import HOUSEHOLD, STUDY

ODD: list[Any] = [
    *(0, -1, 1, 2**63, 10**30, True, False, 0.5, float("nan"), float("inf"), 1e308),
    *("", "x", "\x00", "\ufeff", "../..", "{q[x]}", "{rtt.__class__}", "{rtt!r}", "{rtt:>1000000000}", "{"),
    *("10 ms", "-1 s", "1e9 s", "nan s", "near", "$\\frac{$", "<script>alert(1)</script>", "a" * 5000),
    *([], {}, [[]], [{}], {"kind": 5}, {"kind": "codel"}, {"name": 5}, [{"name": "bulk"}], ["near"] * 3),
    {"a": {"b": {"c": {"d": [1, [2, [3]]]}}}},
    {"key": "duration", "values": ["1 s", "2 s"]},
    {"key": "traffic.bulk.rtt", "from": "1 ms", "to": "1 s", "steps": 100_000, "scale": "log"},
]
"""Values that somebody might write, by mistake or on purpose."""

KEYS = [
    *("traffic", "remove", "access", "name", "kind", "app", "stack", "queue", "link", "seed", "seeds", "load"),
    *("overlays", "matrix", "axes", "points", "quick", "keep", "labels", "sample", "home", "record", "schema"),
    *("scenario", "include", "parameters", "claim", "figure", "table", "measures", "winners", "a.b", "", "\x00"),
]

RAW = [
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"[" * 1000, b"]" * 100, b"[[traffic]]\n", b"[traffic.a]\n", b"\n", b'"',
    b"'''", b"=", b"a" * 10_000, b"\\u0000", b"# ", b"{" * 500, b"1" * 5000, b"remove = 5\n", b"traffic = 5\n",
]  # fmt: skip
"""Bytes that are put anywhere."""

PATHS = [
    *("duration", "seed", "traffic", "traffic.bulk", "traffic.bulk.name", "traffic.nobody.rtt", "remove", "a.b"),
    *("access.upstream.queue", "access.upstream.queue.limit", "access.upstream.link.rate", "record.series", ""),
    *("traffic.bulk.stack.initial_window", "traffic.bulk.stack", "[0]", "access..queue", '"', "a" * 3000, "\udcff"),
]


def _places(node: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 - any TOML value
    """Return all containers of a document with their keys."""
    found: list[tuple[Any, Any]] = []
    values = cast("dict[Any, Any] | list[Any]", node)
    items = values.items() if isinstance(values, dict) else enumerate(values)
    for key, value in list(items):
        found.append((values, key))
        if isinstance(value, dict | list):
            found += _places(value)
    return found


def mutated(document: dict[str, Any], dice: random.Random) -> bytes:
    """Return a document as TOML with one, two or four things changed; sometimes as bytes that are none."""
    changed = copy.deepcopy(document)
    for _ in range(dice.choice([1, 1, 2, 4])):
        places = _places(changed)
        if not places:
            break
        container, key = dice.choice(places)
        action = dice.randrange(5)
        if action == 0:
            container[key] = copy.deepcopy(dice.choice(ODD))
        elif action == 1:
            del container[key]
        elif action == 2 and isinstance(container, dict):
            container[dice.choice(KEYS)] = copy.deepcopy(dice.choice(ODD))
        elif action == 3 and isinstance(container, dict):
            container[dice.choice(KEYS)] = cast("dict[Any, Any]", container).pop(key)
        else:
            other, from_key = dice.choice(places)
            if isinstance(other, dict) == (from_key in other if isinstance(other, dict) else False):
                container[key] = copy.deepcopy(cast("Any", other[from_key]))
    try:
        text = tomli_w.dumps(changed).encode()
    except (TypeError, ValueError, RecursionError):
        text = tomli_w.dumps(document).encode()
    while dice.random() < 0.2:
        place = dice.randrange(len(text) + 1)
        piece = dice.choice(RAW)
        cut = dice.choice([0, 0, 1, 20])
        text = text[:place] + piece + text[place + cut :]
    return text


def one(dice: random.Random, folder: Path) -> str:
    """Make one input and read it; return `valid` or `refused`.

    Raises
    ------
    Exception
        Whatever is not an error in words.
    """
    study, base = folder / "study.toml", folder / "base.toml"
    study.write_bytes(tomli_w.dumps(STUDY).encode())
    base.write_bytes(tomli_w.dumps(HOUSEHOLD).encode())
    what = dice.randrange(3)
    try:
        if what == 0:
            study.write_bytes(mutated(STUDY, dice))
        elif what == 1:
            base.write_bytes(mutated(HOUSEHOLD, dice))
            if check_scenario(read_text(base), str(base)):
                return "refused"
        else:
            value = dice.choice(ODD)
            text = value if isinstance(value, str) else repr(value).replace("'", '"')
            load_scenario(base, [f"{dice.choice(PATHS)}{dice.choice(['=', '=', '=', ''])}{text}"])
            return "valid"
        make_plan(load_study(str(study)), RunOptions(quick=dice.random() < 0.3), unanswerable)
    except SojournError as error:
        if "Traceback" in str(error):
            raise
        return "refused"
    return "valid"


def campaign(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Return how inputs ended, and what is to be known of those that ended with a traceback."""
    ends: Counter[str] = Counter()
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            dice = random.Random(f"{seed}/{number}")
            try:
                ends[one(dice, Path(folder))] += 1
            except Exception:
                ends["traceback"] += 1
                faults.append(f"seed {seed}, input {number}:\n{traceback.format_exc(limit=-4)}")
    return ends, faults


def main() -> int:
    """Make a campaign."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    ends, faults = campaign(count, seed)
    print(f"{count} inputs: " + ", ".join(f"{number} {end}" for end, number in sorted(ends.items())))
    print("\n".join(faults[:20]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
