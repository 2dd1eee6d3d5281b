"""Help comes at once, and names what there is."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from support import CommandLine, write_scenario, write_study

HEAVY = ["polars", "matplotlib", "scipy", "plotly", "numpy", "duckdb", "distributed", "pydantic"]


def test_help_names_all_commands(sojourn: CommandLine) -> None:
    done = sojourn("--help")
    assert done.status == 0
    assert done.stderr == ""
    for command in ("check", "run", "study", "report", "compare", "query", "bench"):
        assert f"\n  {command} " in done.stdout


def test_each_command_stands_in_one_chapter_of_the_help() -> None:
    from sojourn.cli.app import CHAPTERS, COMMANDS

    told = [word for words in CHAPTERS.values() for word in words]
    assert sorted(told) == sorted({words.partition(" ")[0] for words in COMMANDS})


@pytest.mark.parametrize(
    "command",
    [
        ["check"],
        ["run"],
        ["study"],
        ["study", "list"],
        ["study", "show"],
        ["study", "run"],
        ["report"],
        ["compare"],
        ["query"],
        ["bench"],
    ],
)
def test_each_command_explains_itself(sojourn: CommandLine, command: list[str]) -> None:
    done = sojourn(*command, "--help")
    assert done.status == 0
    assert done.stdout.startswith(f"Usage: sojourn {' '.join(command)}")


def test_help_and_the_package_load_nothing_heavy() -> None:
    code = (
        f"import sys, sojourn, sojourn.cli, sojourn.cli.app\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_who_counts_the_points_of_a_study_loads_no_data_frames(tmp_path: Path) -> None:
    write_study(tmp_path)
    code = (
        "import sys; from sojourn.cli import run_command\n"
        "assert run_command(['study', 'plan', 'study.toml', '--count']) == 0\n"
        "print('polars' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("4 points, 8 runs\n", "False\n")


@pytest.mark.parametrize("settings", [[], ["--set", "duration=1 s"]])
def test_a_short_run_loads_nothing_that_takes_its_time(tmp_path: Path, settings: list[str]) -> None:
    write_scenario(tmp_path)
    slow = [*HEAVY, "dataclasses", "inspect", "pathlib", "tomllib", "json", "typing", "shutil"]
    code = (
        "import sys; from sojourn.cli import run_command\n"
        "before = set(sys.modules)\n"
        f"assert run_command(['run', 'household.toml', *{settings!r}]) == 0\n"
        f"print([name for name in {slow!r} if name in set(sys.modules) - before], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"


def test_quantiles_load_no_compiler_and_numpy_keeps_its_names() -> None:
    code = (
        "import sys, sojourn.stats.special, numpy\n"
        "print([name for name in ('numpy.f2py', 'numpy.testing') if name in sys.modules], numpy.__all__.count('f2py'))\n"
        "print('testing' in dir(numpy), numpy.testing.__name__, sojourn.stats.special.stdtrit(4, 0.975))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # The quantile of Student's t with four degrees of freedom, as tables print it.
    assert done.stdout.startswith("[] 1\nTrue numpy.testing 2.776445")


def test_a_misspelt_option_is_told_the_nearest(sojourn: CommandLine) -> None:
    done = sojourn("run", "x.toml", "--sed", "5")
    assert "did you mean --seed?" in done.stderr


def test_help_takes_less_than_its_budget(sojourn: CommandLine) -> None:
    # CPU time: the machine may be busy. The first call compiles the modules and does not count.
    sojourn.fresh("--help")
    began = time.monotonic()
    done = sojourn.fresh("--help")
    assert min(done.processor_s, time.monotonic() - began) < 0.4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["stdy"], "no such command 'stdy'"),
        (["run"], "required: FILE"),
        (["run", "x.toml", "--sed", "5"], "no such option: --sed"),
        (["run", "x.toml", "--seed", "five"], "--seed: 'five' is not a whole number"),
        (["run", "x.toml", "--seed", "-1"], "--seed: -1 is out of range"),
        (["study", "run", "x", "--jobs", "0"], "--jobs: 0 is out of range: at least 1"),
        (["study", "rum"], "no such command 'rum'"),
        (["compare", "a", "b", "c"], "unexpected: c"),
    ],
)
def test_wrong_usage_is_one_sentence_and_a_hint(sojourn: CommandLine, arguments: list[str], words: str) -> None:
    done = sojourn(*arguments)
    assert done.status == 2
    assert done.stdout == ""
    error, hint = done.stderr.splitlines()
    assert words.lower() in error.lower()
    assert hint.startswith("  hint: ")
    assert hint.endswith("--help")


def test_the_version_is_printed(sojourn: CommandLine) -> None:
    assert sojourn("--version").stdout == "sojourn 0.2.0\n"


@pytest.mark.parametrize("columns", ["40", "100"])
def test_help_is_as_wide_as_the_terminal(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from sojourn.cli.app import parser_of

    monkeypatch.setenv("COLUMNS", columns)
    widths = [len(line) for line in parser_of("run").format_help().splitlines()]
    assert int(columns) - 25 < max(widths) <= int(columns)
