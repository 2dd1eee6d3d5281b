"""Numbers that pages give of studies are those of the studies, and tables of numbers name the command or test that makes them."""

import re
import runpy
import subprocess
import sys
import tomllib
from collections import Counter

import pytest
from markdown_it import MarkdownIt

from pages.markdown import ROOT, pages
from sojourn.study.library import load_study
from sojourn.study.plan import RunOptions, make_plan, only_runs

STUDIES = ROOT / "docs/results/studies.md"
ROW = re.compile(r"^\| `(\w+)` \| .* \| (\d+) h(?: \(`--points '([^']+)'`\))? \|", re.MULTILINE)


def test_the_table_of_studies_has_all_of_them() -> None:
    from sojourn.study.library import builtin_names

    assert {row[1] for row in ROW.finditer(STUDIES.read_text(encoding="utf-8"))} >= set(builtin_names())


@pytest.mark.parametrize("row", ROW.findall(STUDIES.read_text(encoding="utf-8")), ids=lambda row: row[0])
def test_simulated_hours_are_those_of_the_study(row: tuple[str, str, str]) -> None:
    name, hours, pattern = row
    plan = make_plan(load_study(name), RunOptions(points=(pattern,) if pattern else ()), only_runs)
    assert hours == f"{plan.simulated_s / 3600:.0f}"


@pytest.mark.parametrize(
    ("page", "pattern", "said"),
    [
        (
            "docs/results/akhtar2013.md",
            "observed/*",
            r"observed/\*'` \(six points, ten runs of 1200 s each, (\d+) in all",
        ),
        ("docs/results/akhtar2013.md", "published/*", r"loads, ten runs of 6000 s as on the slides\)()"),
    ],
)
def test_runs_of_akhtar_2013_are_those_of_the_study(page: str, pattern: str, said: str) -> None:
    found = re.search(said, (ROOT / page).read_text(encoding="utf-8"))
    assert found is not None
    plan = make_plan(load_study("akhtar2013"), RunOptions(points=(pattern,)), only_runs)
    assert found[1] in ("", str(len(plan.runs)))
    assert {spec.scenario.duration_s for spec in plan.runs} == {1200.0 if pattern == "observed/*" else 6000.0}
    assert len(plan.runs) == 10 * len(plan.points)


def test_the_page_of_fitted_constants_counts_the_assumptions() -> None:
    text = (ROOT / "docs/results/fitted-constants.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    files = {file.parent.name: file for file in (ROOT / "python/sojourn/published").glob("*/assumptions.toml")}
    assert {name for name, *_ in rows} == set(files)
    fitted = 0
    for name, *said in rows:
        kinds = Counter(one["origin"] for one in tomllib.loads(files[name].read_text(encoding="utf-8"))["assumption"])
        assert said == [str(kinds[kind]) for kind in ("documented", "chosen", "fitted")], name
        fitted += kinds["fitted"]
    assert f"\n{fitted} constants are fitted: " in text


SOURCE = re.compile(
    r"`(?:\S*bin/)?(?:sojourn |make |tools/|python |cargo |cd tests)|tests/|benches/|`test_\w+`|^\$ |test_\w+\.py|`\w+(?:_\w+){3,}`",
    re.MULTILINE,
)
"""How a command or a test is named."""

NUMBER = re.compile(r"\s*[−~<>≈+-]?\**\d[\d.,]*\**(?: (?:%|ms|Mb/s|s|kB|MB|h|min))?(?: .*)?")


def unsourced(text: str) -> tuple[int, list[int]]:
    """Return how many tables of numbers a page has, and the lines of those without command or test above them.

    It stands in the table's section, or before the first section for the whole page.
    """
    lines = text.splitlines()
    head = next((number for number, line in enumerate(lines) if line.startswith("##")), len(lines))
    count, missing = 0, list[int]()
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type != "table_open" or token.map is None:
            continue
        first, end = token.map
        cells = [cell for line in lines[first + 2 : end] for cell in line.strip().strip("|").split("|")]
        if sum(bool(NUMBER.fullmatch(cell)) for cell in cells) < SHARE_OF_NUMBERS * len(cells):
            continue
        count += 1
        section = max((number for number in range(first) if lines[number].startswith("#")), default=0)
        if not SOURCE.search("\n".join([*lines[:head], *lines[section:first]])):
            missing.append(first + 1)
    return count, missing


SHARE_OF_NUMBERS = 0.35
"""chosen: tables of results have more, tables of words and bounds fewer."""


def test_tables_of_numbers_name_their_command_or_their_test() -> None:
    """Decisions keep the numbers that they were made by."""
    held = [page for page in pages() if not page.startswith("docs/decisions/")]
    found = {page: unsourced((ROOT / page).read_text(encoding="utf-8")) for page in held}
    assert sum(count for count, _ in found.values()) > 80
    assert {page: missing for page, (_, missing) in found.items() if missing} == {}


def test_a_table_without_a_source_is_noticed() -> None:
    table = "\n\n## It\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert unsourced(f"# Page{table}") == (1, [5])
    assert unsourced(f"# Page\n\nCommand: `sojourn run FILE`.{table}") == (1, [])


def test_every_picture_of_the_gallery_is_drawn_by_the_tool_and_small() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "draw-gallery"))
    drawn = {f"{name}.svg" for names in tool["PICTURES"].values() for name in names.values()}
    files = {path.name: path.stat().st_size for path in (ROOT / "docs/guides/figures").iterdir()}
    assert set(files) == drawn
    assert max(files.values()) <= tool["MOST_BYTES"]
    assert sum(files.values()) <= 950_000
    shown = (ROOT / "docs/guides/gallery.md").read_text(encoding="utf-8")
    assert {name for name in drawn if f"(figures/{name})" not in shown} == set()
    recipes = ROOT / "python/sojourn/recipes"
    for recipe in tool["PICTURES"]:
        link = re.search(rf"study run {recipe} --quick.*?{{run}}`([^`]+)`", shown, re.DOTALL)
        assert link, recipe
        study = tomllib.loads((recipes / f"{recipe}.toml").read_text(encoding="utf-8"))
        assert ROOT / link[1] == recipes / study["scenario"]


@pytest.mark.slow
def test_no_picture_of_the_gallery_is_stale() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools/draw-gallery", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
