"""The examples of the repository and of its documentation work as they stand."""

import re
import shutil
from pathlib import Path

import pytest

from support import CommandLine

ROOT = Path(__file__).parent.parent
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))


def test_there_are_examples() -> None:
    assert len(SCENARIOS) >= 4


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_each_example_is_valid_and_runs(sojourn: CommandLine, path: Path) -> None:
    done = sojourn("run", path, "--set", "duration=5 s", "--json")
    assert done.status == 0, done.stderr
    assert done.json()["simulated_s"] == 5.0
    assert done.json()["metrics"]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_settings_that_an_example_suggests_are_valid(sojourn: CommandLine, path: Path) -> None:
    suggested = re.findall(r"^#\s+--set ([\w.]+=)'?([^'\n]+)'?$", path.read_text(), re.MULTILINE)
    for key, value in suggested:
        done = sojourn("run", path, "--set", "duration=1 s", "--set", f"{key}{value.strip()}")
        assert done.status == 0, done.stderr


def commands_of(page: str) -> list[list[str]]:
    """Return the `sojourn` commands of a page's console blocks, as lists of words."""
    import shlex

    text = (ROOT / page).read_text()
    blocks = "\n".join(re.findall(r"```console\n(.*?)```", text, re.DOTALL))
    lines = blocks.replace("\\\n", " ").splitlines()
    prompts = [line[2:].split("#")[0] for line in lines if line.startswith("$ ")]
    return [words[1:] for words in map(shlex.split, prompts) if words[0].endswith("sojourn")]


@pytest.mark.parametrize("page", ["README.md", "docs/guides/ask-your-own-question.md"])
def test_the_commands_of_a_page_work(sojourn: CommandLine, tmp_path: Path, page: str) -> None:
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    shutil.copyfile(tmp_path / "scenarios" / "dsl-small-buffer.toml", tmp_path / "mine.toml")
    commands = commands_of(page)
    assert len(commands) >= 2
    for command in commands:
        done = sojourn(*command)
        assert done.status == 0, (command, done.stderr)


def test_the_study_of_the_guide_runs(sojourn: CommandLine, tmp_path: Path) -> None:
    page = "docs/guides/write-a-study.md"
    text = "\n".join(re.findall(r"```toml\n(.*?)```", (ROOT / page).read_text(), re.DOTALL))
    (tmp_path / "buffers.toml").write_text(text)
    shutil.copyfile(ROOT / "scenarios" / "dsl-small-buffer.toml", tmp_path / "mine.toml")
    show, quick, *_ = commands_of(page)
    assert sojourn(*show).status == 0
    done = sojourn(*quick)
    assert done.status == 0, done.stderr
    report = tmp_path / done.stdout.strip()
    words = report.read_text(encoding="utf-8")
    assert "codel-is-shorter" in words
    assert "Who wins where" in words
    assert "could not be drawn" not in words
