"""Damaged and foreign results: whatever stands in a result's files, words come back and no traceback.

usage: .venv/bin/python -m robustness.damage [COUNT] [SEED]    (in tests/)

A result of a study and one of a run are copied, one file is damaged, and a command reads the copy. Half of the time
the manifest no longer lists files by digest, as one of somebody else need not, so that decoders meet the damage.
"""

import contextlib
import io
import json
import os
import random
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import polars as pl

from robustness.mutations import ODD, mutated
from sojourn.base.errors import SojournError
from sojourn.base.toml_text import parse_toml
from sojourn.cli import run_command
from support import write_scenario, write_study

NUMBERS = [1e308, -1e308, float("nan"), float("inf"), -float("inf"), 0, -1, 1, 2**62, 5e-324, None]
WORDS = ["$\\frac{$", '"><script>alert(1)</script>', "\x00", "", "a" * 3000, "../../x", "\u202e", "{x.y}", None]


def make_results(folder: Path) -> tuple[Path, Path]:
    """Make a small result of a study and one of a run; return their directories."""
    keep = ["series", "traffic_series", "delay_histogram", "delays", "occupancy"]
    study = write_study(folder, "400 ms", keep=keep, matrix=[{"axes": {"rtt": ["near", "far"]}}])
    store = ["--store", str(folder / "store")]
    one = write_scenario(folder, duration="400 ms")
    for command in (
        ["study", "run", str(study), "--out", str(folder / "study"), "--no-figures", *store],
        ["run", str(one), "--out", str(folder / "run"), *store],
    ):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            assert run_command(command) == 0, said.getvalue()
    return folder / "study", folder / "run"


def damage_bytes(path: Path, dice: random.Random) -> str:
    """Cut, flip, empty, replace or remove a file."""
    content = bytearray(path.read_bytes())
    what = dice.choice(["cut", "flip", "flip", "empty", "noise", "gone", "folder", "longer"])
    if what == "cut":
        content = content[: dice.randrange(len(content) + 1)]
    elif what == "flip" and content:
        for _ in range(dice.choice([1, 1, 4, 30])):
            last = dice.random() < 0.5  # where Parquet says what it holds
            place = len(content) - 1 - dice.randrange(min(len(content), 500)) if last else dice.randrange(len(content))
            content[place] = dice.randrange(256)
    elif what == "empty":
        content = bytearray()
    elif what == "noise":
        content = bytearray(dice.randbytes(dice.choice([1, 10, 3000])))
    elif what == "longer":
        content += dice.randbytes(dice.choice([1, 100]))
    path.unlink()
    if what == "folder":
        path.mkdir()
    elif what != "gone":
        path.write_bytes(content)
    return what


def damage_table(path: Path, dice: random.Random) -> str:
    """Change columns, types, values or rows of a Parquet file."""
    table = pl.read_parquet(path)
    column = dice.choice(table.columns)
    what = dice.choice(["drop", "rename", "type", "value", "value", "value", "all", "rows", "label", "order"])
    if what == "drop":
        table = table.drop(column)
    elif what == "rename":
        table = table.rename({column: dice.choice(["x", "n", "mean", "point ", "by_point", "left", "$\\frac{$"])})
    elif what == "type":
        kinds: list[Callable[[pl.Expr], pl.Expr]] = [
            lambda one: one.cast(pl.String),
            lambda _: pl.lit(1.5),
            lambda _: pl.lit(value=True),
            lambda _: pl.lit(None),
            lambda _: pl.lit(1).cast(pl.Datetime),
            lambda one: one.implode().over(pl.int_range(pl.len())),
            lambda one: pl.struct(one.alias("x")),
            lambda _: pl.lit(b"\xff\xfe"),
            lambda _: pl.lit(7).cast(pl.Int8),
        ]
        table = table.with_columns(dice.choice(kinds)(pl.col(column)).alias(column))
        what = f"type of {column}"
    elif what in ("value", "all"):
        number = table.schema[column].is_numeric()
        value: Any = dice.choice(NUMBERS if number else WORDS)
        kind = table.schema[column] if number else pl.String()
        if number and isinstance(value, float):
            kind = pl.Float64()
        if number and isinstance(value, int) and value < 0:
            kind = pl.Int64()
        changed = pl.lit(value, dtype=kind if value is not None else None)
        chosen = pl.lit(value=True) if what == "all" else pl.int_range(pl.len()) == dice.randrange(max(1, table.height))
        old = pl.col(column).cast(kind, strict=False)
        table = table.with_columns(pl.when(chosen).then(changed).otherwise(old).alias(column))
        what = f"{value!r:.30} in {column}"
    elif what == "rows":
        table = dice.choice(
            [table.clear(), table.head(1), pl.concat([table, table]), table.sample(fraction=0.5, seed=1)]
        )
    elif what == "label":
        table = table.with_columns(
            pl.lit(dice.choice([1.0, "x", None, 1e308])).alias(dice.choice(["z", "n", "mean", "runs"]))
        )
    else:
        table = table.sample(fraction=1.0, shuffle=True, seed=dice.randrange(1000))
    table.write_parquet(path)
    return what


def damage_json(path: Path, dice: random.Random) -> str:
    """Change keys and values of a JSON file."""
    if dice.random() < 0.1:
        path.write_text(
            dice.choice(["[]", "null", "5", '"x"', "{}", "[" * 100_000, "1" * 5000, '{"a":NaN}', "\ufeff{}"])
        )
        return "another document"
    content: Any = json.loads(path.read_text())
    place: Any = content
    while True:
        if not place:
            return "nothing"
        keys = cast("list[Any]", list(place) if isinstance(place, dict) else list(range(len(place))))  # pyright: ignore[reportUnknownArgumentType]
        key = dice.choice(keys)
        if not isinstance(place[key], dict | list) or dice.random() < 0.4:
            break
        place = cast("Any", place[key])
    what = dice.choice(["odd", "odd", "gone"])
    if what == "gone":
        del place[key]
    else:
        place[key] = dice.choice(ODD)
    with contextlib.suppress(TypeError, ValueError, UnicodeEncodeError):
        path.write_text(json.dumps(content))
    return f"{what} {key}"


def forget_digests(directory: Path) -> None:
    """Take the list of files out of a manifest."""
    path = directory / "manifest.json"
    with contextlib.suppress(OSError, ValueError, AttributeError, RecursionError):
        content = json.loads(path.read_text())
        content.pop("files", None)
        path.write_text(json.dumps(content))


def damaged(directory: Path, dice: random.Random) -> str:
    """Damage one file of a result; return what was done."""
    files = [
        path
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.suffix in (".parquet", ".json", ".toml")
    ]
    path = dice.choice(files)
    if dice.random() < 0.6:
        forget_digests(directory)
    name = path.relative_to(directory)
    if dice.random() < 0.3:
        return f"{name}: {damage_bytes(path, dice)}"
    if path.suffix == ".parquet":
        return f"{name}: {damage_table(path, dice)}"
    if path.suffix == ".json":
        return f"{name}: {damage_json(path, dice)}"
    path.write_bytes(mutated(parse_toml(path.read_text()), dice))
    return f"{name}: mutated"


def read(directory: Path, whole: Path, dice: random.Random) -> tuple[str, int, str]:
    """Let a command, or a program, read a result; return which one, its status and what it said."""
    said = io.StringIO()
    commands: list[list[str]] = [
        ["report", str(directory)],
        ["query", "--store", str(directory), "select subject, metric, avg(value) from metrics group by all"],
        ["query", "--store", str(directory), "select * from runs"],
    ]
    if (directory / "study.toml").exists():
        commands += [
            ["compare", str(directory), str(whole), "--all"],
            ["compare", str(whole), str(directory), "--json"],
            ["compare", str(directory), "--by", "rtt", "--html", str(directory / "page.html")],
        ]
    command = dice.choice([commands[0], commands[0], None, *commands])
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        if command is not None:
            return command[0], run_command(command), said.getvalue()
        import sojourn

        try:
            result: Any = sojourn.load_result(directory)
            result._repr_html_()
            repr(result)
            len(result.metrics)
        except SojournError as error:
            return "load_result", 1, str(error)
    return "load_result", 0, ""


def campaign(count: int, seed: int, wholes: tuple[Path, Path] | None = None) -> tuple[Counter[str], list[str]]:
    """Return how commands ended, and what is to be known of those that ended with a traceback."""
    ends: Counter[str] = Counter()
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wholes = wholes or make_results(folder)
        copy = folder / "copy"
        for number in range(count):
            dice = random.Random(f"{seed}/{number}")
            whole = dice.choice(wholes)
            shutil.copytree(whole, copy)
            what = "nothing"
            if progress := os.environ.get("DAMAGE_PROGRESS"):
                Path(progress).write_text(f"{seed}/{number}")
            try:
                what = damaged(copy, dice)
                reader, status, said = read(copy, whole, dice)
                ends[f"{reader} {'done' if status == 0 else 'refused'}"] += 1
                if status not in (0, 1, 2) or "Traceback" in said:
                    faults.append(f"seed {seed}, input {number}, {whole.name}, {what}: {status} {said}")
                if status and "\n" in said.strip().split("hint:")[0].strip() and reader == "report":
                    ends["report in several lines"] += 1
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                ends["traceback"] += 1
                faults.append(
                    f"seed {seed}, input {number}, {whole.name}, {what}:\n{traceback.format_exc(limit=-4, chain=False)}"
                )
            shutil.rmtree(copy)
    return ends, faults


def main() -> int:
    """Make a campaign."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    ends, faults = campaign(count, seed)
    print(f"{count} results: " + ", ".join(f"{number} {end}" for end, number in sorted(ends.items())))
    print("\n".join(faults[:40]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
