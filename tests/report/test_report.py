"""The report says what the result says, in files that other programs and people can read."""

import base64
import csv
import hashlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest

from sojourn.answers.claims import NEEDS_WHOLE
from sojourn.answers.table import Cell
from sojourn.answers.tolerance import Rule
from sojourn.headline import Headline
from sojourn.headline.said import BigNumber
from sojourn.report import build
from sojourn.report.files import CLAIM_COLUMNS, COMPARISON_COLUMNS
from sojourn.report.page import MARKS, page_environment, verdict_of
from sojourn.stats.estimate import Estimate
from sojourn.study.result import ReportSummary
from studies.synthetic import World

VOID = {"meta", "br", "img", "link", "hr", "input", "path", "use"}


class Built(NamedTuple):
    """A report and what the command line would say of it."""

    directory: Path
    summary: ReportSummary
    html: str


def build_world(world: World, directory: Path) -> Built:
    summary = build(world.build(directory))
    return Built(directory, summary, (directory / "report.html").read_text(encoding="utf-8"))


def small_world() -> World:
    """Return a world of two points, which draws three figures only."""
    world = World()
    for point in {point for point, _, _ in world.metrics} - {"C04", "D04-21"}:
        world.drop(point)
    return world


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Built:
    world = World()
    world.set("D05-417", "page", "page_load_time_median", 14.0)
    return build_world(world, tmp_path_factory.mktemp("spoilt"))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Outline(HTMLParser):
    """Collects ids, references and unclosed elements."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.loads: list[str] = []
        self.open: list[str] = []
        self.headings: list[str] = []
        self._heading = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element's id and references."""
        values = dict(attrs)
        if values.get("id"):
            self.ids.append(str(values["id"]))
        for name in ("href", "xlink:href"):
            target = values.get(name) or ""
            if target.startswith("#"):
                self.targets.append(target[1:])
        if tag in ("script", "img", "iframe", "link", "object", "embed"):
            self.loads.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self._heading = tag in ("h1", "h2", "h3")

    def handle_endtag(self, tag: str) -> None:
        """Check that it closes what is open."""
        if tag in VOID:
            return
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open and close."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        """Note the first words of a heading."""
        if self._heading:
            self.headings.append(data.strip())
            self._heading = False


def outline(html: str) -> Outline:
    parser = Outline()
    parser.feed(html)
    parser.close()
    return parser


@pytest.mark.whole
def test_all_promised_files_are_written(spoilt: Built) -> None:
    names = {path.name for path in spoilt.directory.iterdir()}
    assert {"report.html", "comparison.csv", "claims.csv", "tables", "figures"} <= names
    assert not [name for name in names if name.endswith(".partial")]
    tables = {path.name for path in (spoilt.directory / "tables").iterdir()}
    assert {f"table-{n}.csv" for n in range(3, 9)} | {"summary.csv"} == tables
    figures = {path.name for path in (spoilt.directory / "figures").iterdir()}
    for name in (*(f"figure-{n}" for n in range(2, 10)), "overview", "agreement", "delay-by-cause"):
        assert f"{name}.svg" in figures


def test_the_comparison_has_the_contract_s_columns_and_a_row_per_cell(spoilt: Built) -> None:
    found = rows(spoilt.directory / "comparison.csv")
    assert tuple(found[0]) == COMPARISON_COLUMNS
    assert len(found) == 4 * 54 + 2 * 80
    assert {row["verdict"] for row in found} == {"match", "miss", "unjudged"}
    missed = next(r for r in found if r["item"] == "table-5" and r["case"] == "D05" and r["verdict"] == "miss")
    assert (missed["metric"], missed["printed"], missed["ours"]) == ("page_load_time_median", "33.030", "14")
    assert missed["tolerance"] == "±35 % (W12-66)"
    assert float(missed["ci_low"]) < 14 < float(missed["ci_high"])


def test_the_claims_have_the_contract_s_columns_and_a_row_per_claim(spoilt: Built) -> None:
    found = rows(spoilt.directory / "claims.csv")
    assert tuple(found[0]) == CLAIM_COLUMNS
    assert len(found) == 95
    verdicts = {row["id"]: row["verdict"] for row in found}
    assert verdicts["W12-66"] == "fails"
    assert verdicts["W12-02"] == "holds"
    assert verdicts["W12-15"] == "not-run"


def test_the_summary_counts_what_the_files_say(spoilt: Built) -> None:
    cells = rows(spoilt.directory / "comparison.csv")
    for verdict, count in spoilt.summary.comparison.items():
        assert count == sum(row["verdict"] == verdict for row in cells)
    claims = rows(spoilt.directory / "claims.csv")
    for use, counts in spoilt.summary.claims.items():
        for verdict, count in counts.items():
            wanted = verdict.replace("_", "-")
            assert count == sum(r["use"] == use and r["verdict"] == wanted for r in claims)


def test_the_page_loads_nothing_and_runs_its_own_script_alone(spoilt: Built) -> None:
    assert outline(spoilt.html).loads == ["script"]
    (script,) = re.findall(r"<script>(.*?)</script>", spoilt.html, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', spoilt.html)
    assert policy
    assert f"script-src 'sha256-{digest}';" in policy[1]
    assert "default-src 'none'" in policy[1]
    assert len(script) <= 12_000
    for forbidden in ("fetch(", "XMLHttp", "import ", "eval(", "localStorage", "innerHTML"):
        assert forbidden not in script
    for forbidden in ('src="http', "src='http", "@import", "url(http", "javascript:"):
        assert forbidden not in spoilt.html


def test_the_page_says_the_same_without_its_script(spoilt: Built) -> None:
    """Nothing that the script shows or hides is missing from the page as it is sent."""
    sent = re.sub(r"<script>.*?</script>|<style>.*?</style>", "", spoilt.html, flags=re.DOTALL)
    assert "hidden" not in sent.replace("aria-hidden", "")
    assert 'class="piece"' not in sent
    for row in rows(spoilt.directory / "comparison.csv")[:20]:
        assert f">{row['printed']}<" in sent


def test_panels_and_marks_say_what_they_are(spoilt: Built) -> None:
    panels = re.findall(r'<g data-ends="([^"]+)" data-x="([^"]+)" data-y="([^"]+)"', spoilt.html)
    assert len(panels) > 20
    for ends, *sides in panels:
        assert len([float(end) for end in ends.split()]) == 4
        assert all(side.split("|")[0] in ("linear", "log", "words") for side in sides)
    marks = set(re.findall(r'data-mark="([^"]*)"', spoilt.html))
    lanes = set(re.findall(r'data-lane="([^"]*)"', spoilt.html))
    assert {"CoDel"} <= lanes
    assert lanes <= marks


def test_the_page_is_well_formed_and_its_references_resolve(spoilt: Built) -> None:
    found = outline(spoilt.html)
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    assert set(found.targets) <= set(found.ids)


def test_the_page_begins_with_an_overview_and_ends_with_provenance(spoilt: Built) -> None:
    found = outline(spoilt.html).headings
    assert found[1] == "Overview"
    order = [found.index(name) for name in ("Overview", "Printed tables beside ours", "Claims", "Provenance")]
    assert order == sorted(order)


def test_a_miss_is_marked_by_more_than_colour(spoilt: Built) -> None:
    missed = re.search(r'<td class="ours miss">.*?</td>', spoilt.html)
    assert missed
    assert ">14.000<" in missed[0]
    assert 'aria-label="miss">✗<' in missed[0]


def test_failing_claims_come_first(spoilt: Built) -> None:
    fails = spoilt.html.index('id="claims-fail"')
    assert fails < spoilt.html.index('id="claims-not-run"') < spoilt.html.index('id="claims-hold"')


def test_every_drawing_has_words_for_those_who_cannot_see_it(spoilt: Built) -> None:
    drawings = re.findall(r"<svg [^>]*>", spoilt.html)
    assert len(drawings) == 13
    for drawing in drawings:
        label = re.search(r'role="img" aria-label="([^"]+)"', drawing)
        assert label
        assert len(label[1]) > 30


def test_drawings_follow_the_theme_of_the_page(spoilt: Built) -> None:
    body = "".join(re.findall(r"<svg .*?</svg>", spoilt.html, flags=re.DOTALL))
    assert "var(--ink)" in body
    assert "var(--c-green)" in body
    assert "#1c2430" not in body.lower()
    declared = set(re.findall(r"(--[a-z-]+):", spoilt.html))
    assert set(re.findall(r"var\((--[a-z-]+)[,)]", spoilt.html)) <= declared


@pytest.mark.whole
def test_building_again_gives_the_same_bytes(tmp_path: Path) -> None:
    world = small_world()
    first = build_world(world, tmp_path / "a")
    again = build_world(world, tmp_path / "a")
    assert first.html == again.html
    assert first.summary == again.summary


@pytest.mark.whole
def test_a_quick_report_says_so_at_the_top(tmp_path: Path) -> None:
    world = small_world()
    world.quick, world.duration_s = True, 60.0
    built = build_world(world, tmp_path)
    assert '<span class="badge">quick run</span>' in built.html
    judged = {row["id"]: row for row in rows(tmp_path / "claims.csv")}
    assert judged["W12-08"]["note"].startswith("quick")
    assert judged["W12-67"]["note"] == NEEDS_WHOLE


@pytest.mark.whole
def test_what_fails_in_a_quick_run_alone_is_a_first_look_and_not_red(tmp_path: Path, spoilt: Built) -> None:
    world = World()
    world.quick, world.duration_s = True, 60.0
    world.set("D01-417", "page", "page_load_time_median", 14.0)  # W12-65, which runs of 60 s decide
    quick = build_world(world, tmp_path).html
    assert '<body class="first-look">' in quick
    assert "Claims that fail at first look (" in quick
    assert ".first-look .fails, .first-look .miss .mark { color: var(--open); }" in quick
    assert "<body>" in spoilt.html
    assert "Claims that fail (" in spoilt.html


@pytest.mark.parametrize(
    ("printed", "ours", "rule", "verdict"),
    [
        # K16-11: 35 to 130 points where 63 are printed.
        (63.0, 106.0, Rule("K16-11", "B", low=35, high=130), "in-range"),
        (63.0, 66.0, Rule("K16-11", "B", low=35, high=130), "match"),
        (63.0, 140.0, Rule("K16-11", "B", low=35, high=130), "miss"),
        # 0.02 of 0.1 % where at most 0.2 are claimed: no distance that anybody would notice.
        (0.1, 0.02, Rule("W12-59", "A", high=0.2), "match"),
        # As wide as the document's own prints differ.
        (63.0, 106.0, Rule("KI-02", "A", factor=1.8), "match"),
        (63.0, 106.0, Rule("K16-11", "C", low=35, high=130), "unjudged"),
    ],
)
def test_a_tick_is_for_numbers_near_the_print(printed: float, ours: float, rule: Rule, verdict: str) -> None:
    cell = Cell("t", "c", "q", "m", "", f"{printed:g}", printed, Estimate(ours), 0, rule=rule)
    assert verdict_of(cell) == verdict
    assert (MARKS[verdict] == "✓") == (verdict == "match")


@pytest.mark.whole
def test_a_result_with_a_few_points_still_makes_a_report(tmp_path: Path) -> None:
    built = build_world(small_world(), tmp_path)
    assert built.summary.comparison["match"] > 0
    figures = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert {"figure-8", "figure-9"} <= figures
    assert "figure-2" not in figures


def test_provenance_names_what_made_the_result(spoilt: Built) -> None:
    text = spoilt.html[spoilt.html.index('id="provenance"') :]
    for words in ("synthetic", "1, 2, 3", "SHA-256", "C04"):
        assert words in text


def test_markup_in_names_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    world = small_world()
    world.builtin = False
    world.set("C04", "../<script>alert(1)</script>", "goodput", 1.0)
    built = build_world(world, tmp_path)
    assert built.html.count("<script>") == 1  # the page's own
    assert "<script>alert" not in built.html
    assert "&lt;script&gt;" in built.html
    (table,) = (tmp_path / "tables").glob("metrics-*script*.csv")
    assert table.name.startswith("metrics-..__script_alert_1___script_-")


def visible_words(html: str) -> Iterator[str]:
    """Yield text outside of tags and style."""
    yield from re.split(r"<[^>]+>", re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL))


def test_nothing_undefined_reaches_the_page(spoilt: Built) -> None:
    text = " ".join(visible_words(spoilt.html))
    for leak in ("None", "nan", "NaN", "Undefined", "Estimate("):
        assert not re.search(rf"\b{re.escape(leak)}", text), leak


def test_who_wins_where_stands_before_verdicts(spoilt: Built) -> None:
    places = [spoilt.html.index(words) for words in ("Who wins where", 'class="cards"', "<h2>Printed")]
    assert places == sorted(places)


def first_of(headline: Headline) -> list[str]:
    """Return what a page shows of a headline, part by part."""
    blocks = page_environment().get_template("parts.html").module
    text = re.sub(r"<small>|</small>|</?strong>", "", str(vars(blocks)["first"](headline)))
    return [part.strip() for part in re.split(r"<[^>]+>", text) if part.strip()]


def test_the_number_and_the_grades_stand_below_the_sentence() -> None:
    grades = {"today": "F", "PIE": "B to C", "<b>CoDel": "C", "LLD": "A"}
    big = BigNumber("4.5", "ms", "game, P99, upstream")
    headline = Headline("LLD wins.", "winner", grades=grades, big=big)
    assert first_of(headline) == [
        *("LLD wins.", "4.5 ms game, P99, upstream"),
        *("A", "LLD", "B to C", "PIE", "C", "&lt;b&gt;CoDel", "F", "today"),
    ]
    assert headline.graded == "Grades: A LLD; B to C PIE; C <b>CoDel; F today."


def test_what_competes_with_nothing_has_no_list_of_grades() -> None:
    headline = Headline("Grade F.", "run", grades={"": "F"})
    assert first_of(headline) == ["Grade F."]
    assert not headline.graded


def test_own_words_keep_the_number_only_if_they_tell_it() -> None:
    big = BigNumber("4.5", "ms", "game, P99, upstream")
    derived = Headline("LLD keeps the game at 4.5 ms.", "winner", grades={"a": "A"}, big=big)
    assert derived.worded("The game waits 4.5 ms.").big is big
    assert derived.worded("The upload gets 14.5 Mb/s.").big is None


@pytest.mark.whole
def test_points_of_many_labels_have_no_grades(tmp_path: Path) -> None:
    headline = build_world(small_world(), tmp_path).summary.headline
    assert headline is not None
    assert not headline.grades


def test_long_labels_of_rows_may_wrap() -> None:
    labels = ["CAKE", "FQ-CoDel for each station in the access point; CAKE in front"]
    rows = [[{"text": text, "detail": "", "emphasis": ""} for text in (label, "1")] for label in labels]
    heads = {"name": "settings", "title": "", "caption": "", "groups": (), "headings": ["setting", "ping"]}
    table = {**heads, "rows": rows}
    page = page_environment().from_string('{% import "parts.html" as blocks %}{{ blocks.plain_table(table) }}')
    assert re.findall(r'<th( class="long")? scope="row">', page.render(table=table)) == ["", ' class="long"']
