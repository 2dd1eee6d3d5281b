"""The examples of the repository and of its documentation work as they stand."""

import csv
import re
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from sojourn.study.library import load_study, recipe_names
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
        done = sojourn("run", path, "--set", "duration=3 s", "--set", f"{key}{value.strip()}")
        assert done.status == 0, done.stderr


def commands_of(page: str) -> list[list[str]]:
    """Return the `sojourn` commands of a page's console blocks, as lists of words."""
    import shlex

    text = (ROOT / page).read_text()
    blocks = "\n".join(re.findall(r"```console\n(.*?)```", text, re.DOTALL))
    lines = blocks.replace("\\\n", " ").splitlines()
    prompts = [line[2:].split("#")[0] for line in lines if line.startswith("$ ")]
    return [words[1:] for words in map(shlex.split, prompts) if words[0].endswith("sojourn")]


TUTORIAL = "docs/guides/tutorial.md"


def test_the_tutorial_ends_in_python(sojourn: CommandLine, tmp_path: Path) -> None:
    scenario, study = blocks_of(TUTORIAL)
    (tmp_path / "home.toml").write_text(scenario)
    (tmp_path / "queues.toml").write_text(study)
    shorter = ("--duration", "1 s", "--seeds", "2", "--no-figures")
    done = sojourn("study", "run", "queues.toml", "--out", "queues", *shorter)
    assert done.status == 0, done.stderr
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / TUTORIAL).read_text(), re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "shape: (12, 5)" in ran.stdout


def assert_alike(found: str, printed: str) -> None:
    """Compare what a command prints with what a page prints: words exactly, numbers within 10 %."""
    ours, theirs = ([line.split() for line in text.splitlines()] for text in (found, printed))
    assert [len(line) for line in ours] == [len(line) for line in theirs]
    for word, expected in zip(chain(*ours), chain(*theirs), strict=True):
        try:
            assert float(word) == pytest.approx(float(expected), rel=0.1), (word, expected)
        except ValueError:
            assert word == expected


def blocks_of(page: str) -> list[str]:
    """Return the TOML blocks of a page."""
    return re.findall(r"```toml\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def test_the_sweep_of_the_recipe_gives_a_summary_with_intervals(sojourn: CommandLine, tmp_path: Path) -> None:
    recipe = ROOT / "python" / "sojourn" / "recipes" / "codel-targets.toml"
    lines = [line for line in recipe.read_text().splitlines() if line]
    assert len(lines) <= 10
    done = sojourn("study", "run", "codel-targets", "--quick", "--duration", "3 s", "--out", "out")
    assert done.status == 0, done.stderr
    with (tmp_path / "out" / "summary.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "delay_p99"]
    assert {row["target"] for row in rows} == {"2", "5", "10", "20", "50"}
    assert {row["rtt"] for row in rows} == {"20", "50", "100"}
    assert all(row["n"] == "5" for row in rows)
    assert all(0 < float(row["low"]) <= float(row["mean"]) <= float(row["high"]) for row in rows)


RECIPES = {
    "engineer": "dsl-buffer",
    "researcher": "codel-targets",
    "vendor": "pie-or-fq-codel",
    "teacher": "buffer-lesson",
    "household-video": "household-video",
    "low-latency": "low-latency",
    "neighbourhood": "neighbourhood",
    "adaptive-game": "adaptive-game",
    "plant-upgrades": "plant-upgrades",
    "web-protocols": "web-protocols",
    "own-queue": "own-queue",
}
"""The study of each recipe's page."""


def test_each_recipe_has_a_page() -> None:
    folder = ROOT / "docs" / "recipes"
    assert {path.stem for path in folder.glob("*.md")} == set(RECIPES)
    assert set(recipe_names()) == {*RECIPES.values(), "figure-cookbook"}


def test_the_recipes_are_listed_with_their_questions(sojourn: CommandLine) -> None:
    done = sojourn("recipe", "list")
    listed = dict(line.split(maxsplit=1) for line in done.stdout.splitlines()[1:])
    assert set(listed) == set(recipe_names())
    assert listed["buffer-lesson"] == "How long should the buffer be?"


@pytest.mark.parametrize("name", recipe_names())
def test_a_copied_recipe_is_a_study_of_one_s_own_with_the_same_runs(
    sojourn: CommandLine, tmp_path: Path, name: str
) -> None:
    done = sojourn("recipe", "copy", name, "mine")
    assert done.status == 0, done.stderr
    assert done.stdout == "mine/study.toml\n"
    copied = {point.name: point.text for point in load_study(str(tmp_path / "mine")).points()}
    assert copied == {point.name: point.text for point in load_study(name).points()}
    again = sojourn("recipe", "copy", name, "mine")
    assert again.status == 2
    assert "mine is there already" in again.stderr


def test_a_recipe_that_is_not_there_is_told_the_nearest(sojourn: CommandLine) -> None:
    assert 'did you mean "dsl-buffer"?' in sojourn("recipe", "copy", "dsl-bufer").stderr
    assert 'did you mean "dsl-buffer"?' in sojourn("study", "run", "dsl-bufer").stderr


def test_scenarios_of_recipes_are_those_of_the_repository() -> None:
    of_recipes = {path.name for path in (ROOT / "python/sojourn/recipes/scenarios").glob("*.toml")}
    shown = {path.name for path in SCENARIOS if path.is_symlink()}
    assert shown == of_recipes - {"figure-cookbook.toml"}


RECOMMENDED = {"docsis-pie": "50 ms", "docsis-dual-queue": "50 ms", "codel": "417 packets"}
"""Buffers that documents recommend, where they are not the manager's default: White 2012 section 4.1.2 (CableLabs, for Buffer
Control) and 3.1.2."""


@pytest.mark.parametrize("study", RECIPES.values())
def test_managers_compete_with_the_buffers_of_their_documents(study: str) -> None:
    points = load_study(study).points()
    access = [point.document["access"][way] for point in points for way in ("upstream", "downstream")]
    queues = [one["queue"] for one in access if isinstance(one["queue"], dict)]
    managed = [queue for queue in queues if queue["kind"] != "drop-tail" and "limit" in queue]
    for queue in managed:
        assert queue["limit"] == RECOMMENDED[queue["kind"]], (study, queue)


def own_manager() -> str:
    """Return the queue manager that the page for vendors has a reader save."""
    page = (ROOT / "docs/recipes/vendor.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    return program


@pytest.mark.slow
def test_the_story_of_the_vendor_ends_with_the_sentence_that_its_page_prints(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "small_first.py").write_text(own_manager())
    (command,) = [one for one in commands_of("docs/recipes/vendor.md") if "--plugin" in one]
    done = sojourn(*command, "--no-figures", "--json")
    assert done.status == 0, done.stderr
    said = " ".join((ROOT / "docs/recipes/vendor.md").read_text().split())
    printed = said.split("begins with who wins: > ")[1].split("upload.")[0]
    sentence = done.json()["headline"]["sentence"]
    assert sentence.split("upload.")[0] == printed
    assert sentence.split("upload.")[0] in (tmp_path / "mine" / "report.html").read_text()


@pytest.mark.slow
def test_the_exercise_of_an_hour_ends_in_its_picture_in_python_and_in_c(sojourn: CommandLine, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: plugins in C are not tested")
    page = (ROOT / "docs/recipes/own-queue.md").read_text(encoding="utf-8")
    *steps, whole = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (in_c,) = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    assert sojourn("recipe", "copy", "own-queue", "exercise").status == 0
    python, c = (tmp_path / "exercise" / f"my_queue.{end}" for end in ("py", "c"))
    begun = python.read_text()
    method = re.compile(r"    def dequeue.*?(?=    def )", re.DOTALL)
    third = method.sub(steps[1] + "\n", begun).replace(
        "self.bytes = 0\n", "self.bytes = 0\n        self.next_drop = 0.0\n", 1
    )
    constants, function = in_c.split("\n", 1)
    library = re.sub(r"static int32_t dequeue.*?\n}\n", lambda _: function, c.read_text(), count=1, flags=re.DOTALL)
    library = library.replace("uint32_t first, count, bytes;", "uint32_t first, count, bytes; uint64_t next_drop_ns;")
    c.write_text(library.replace("#include <stdlib.h>\n", f"#include <stdlib.h>\n{constants}\n"))
    (build,) = re.findall(r"^\$ (cc .*)$", page, re.MULTILINE)
    subprocess.run(build.split(), cwd=tmp_path, check=True)
    found: dict[str, dict[str, float]] = {}
    for name, text in (
        ("begin", begun),
        ("second", method.sub(steps[0] + "\n", begun)),
        ("third", third),
        ("whole", whole),
        ("library", None),
    ):
        if text is not None:
            python.write_text(text)
        plugin = "libmy_queue.so" if text is None else "exercise/my_queue.py"
        how = ("--duration", "15 s", "--seeds", "1", "--no-figures", "--store", "kept")
        done = sojourn("study", "run", "exercise", "--plugin", plugin, "--out", name, *how)
        assert done.status == 0, done.stderr
        rows = csv.DictReader((tmp_path / name / "summary.csv").read_text().splitlines())
        mine = [row for row in rows if row["queue"] == "my-queue"]
        found[name] = {f"{row['subject']}/{row['metric']}": float(row["mean"]) for row in mine if row["mean"]}
    waits = {name: values["call/delay_p99"] for name, values in found.items()}
    drops = {name: values["upstream/dropped_packets"] for name, values in found.items()}
    assert waits["begin"] > 300 > 40 > waits["second"] > waits["whole"]
    assert drops["third"] < 0.7 * drops["second"]
    assert found["third"]["call/loss_total"] > found["whole"]["call/loss_total"] == 0
    assert found["library"] == found["third"]
    assert sojourn("figure", "whole", "picture").status == 0
    assert "my-queue" in (tmp_path / "picture.svg").read_text()


def test_the_commands_for_plugins_work_as_the_guide_prints_them(sojourn: CommandLine, tmp_path: Path) -> None:
    import shlex

    if shutil.which("cc") is None:
        pytest.skip("no C compiler: plugins in C are not tested")
    page = (ROOT / "docs/guides/bring-your-own-algorithm.md").read_text(encoding="utf-8")
    (tmp_path / "my_manager.py").write_text(own_manager())
    for included in re.findall(r"```{literalinclude} (\S+)", page):
        shutil.copy(ROOT / "docs/guides" / included, tmp_path)
    lines = re.findall(r"^\$ (.*)$", page, re.MULTILINE)
    commands = [words for words in map(shlex.split, lines) if words[0] in ("cc", "sojourn")]
    assert [words[:2] for words in commands] == [
        ["sojourn", "study"],
        ["cc", "-std=c11"],
        ["sojourn", "study"],
        ["sojourn", "check-aqm"],
    ]
    sentences: list[str] = []
    for words in commands:
        if words[0] == "cc":
            subprocess.run(words, cwd=tmp_path, check=True)
            continue
        if words[1] == "check-aqm":
            judged = sojourn(*words[1:], "--laws")
            assert judged.status == 0
            said = [line for line in judged.stderr.splitlines() if " s left" not in line]  # progress of a busy machine
            assert "\n".join(said).strip() in page
            continue
        shorter = ("--duration", "1 s", "--seeds", "2", "--no-figures", "--json")
        done = sojourn(*words[1:], *shorter)
        assert done.status == 0, (words, done.stderr)
        sentences.append(done.json()["headline"]["sentence"])
    # The library does what the class does, and is called after its own file.
    assert sentences[0].replace("my-manager", "small") == sentences[1]


@pytest.mark.slow
def test_the_answers_that_recipes_print_are_those_of_their_studies(sojourn: CommandLine, tmp_path: Path) -> None:
    folder = ROOT / "docs" / "recipes"
    said = {page: " ".join((folder / f"{page}.md").read_text().split()) for page in RECIPES}
    said = {page: text.replace(" > ", " ") for page, text in said.items()}
    done = sojourn("study", "run", "dsl-buffer", "--out", "dsl", "--no-figures")
    assert done.status == 0, done.stderr
    headline = said["engineer"].split("The call waits least")[1].split("Below it")[0].strip()
    page = " ".join((tmp_path / "dsl" / "report.html").read_text(encoding="utf-8").split())
    assert_alike(page.split("The call waits least")[1].split("<")[0], headline)
    done = sojourn("study", "run", "pie-or-fq-codel", "--out", "v", "--no-figures")
    assert done.status == 0, done.stderr
    done = sojourn("compare", "v", "--by", "queue")
    headline = said["vendor"].split("one sentence: ")[1].split("> ")[-1].split(" …")[0]
    by_value = done.stdout[done.stdout.index("fq-codel instead of") :]  # below sentence and grades
    assert_alike(by_value[: len(headline)].rpartition(";")[0], headline.rpartition(";")[0])
