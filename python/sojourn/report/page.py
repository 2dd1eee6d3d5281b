"""The report as one HTML file: everything inline, nothing to load, readable without scripts."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from sojourn.answers.claims import Holds, JudgedClaim
from sojourn.answers.figure import Figure
from sojourn.answers.report_content import PlainTable, StudyParts
from sojourn.answers.table import Cell, Table, format_number
from sojourn.answers.tolerance import Verdict
from sojourn.report import drawing, markdown, origins
from sojourn.report.provenance import provenance, scenario_hashes
from sojourn.study.result import StudyResult

_HOME = Path(__file__).parent

LONG_TABLE = 40
"""Longer tables than this are folded, and follow the figures; chosen: what fits a screen or two. So do
all tables of a study that redraws figures, which say the same at a glance."""

WIDE_TABLE = 10
"""So are wider ones; chosen: what fits the page with intervals."""

MANY_FIGURES = 10
"""More figures than this in a section get a list of links; chosen by eye."""

MARKS = {"match": "✓", "in-range": "≈", "miss": "✗", "unjudged": "·"}
"""Sign of a verdict besides colour."""

_USES = {
    "gate": ("Gates", "simulation results that a release must keep"),
    "unit": ("Closed form", "held by exact tests, or by every run"),
    "report": ("Reported", "shown, and never a reason to block"),
    "context": ("Context", "background"),
}


@dataclass(frozen=True)
class DrawnFigure:
    """A figure with its drawing."""

    figure: Figure
    svg: Markup


@dataclass(frozen=True)
class ClaimGroup:
    """Claims with one verdict."""

    title: str
    anchor: str
    claims: tuple[JudgedClaim, ...]

    @property
    def is_printed(self) -> bool:
        """True if some stand in a document, whose print can be believed more or less."""
        return any(judged.claim.trust for judged in self.claims)


@dataclass(frozen=True)
class Scorecard:
    """One number of the overview, with a bar."""

    title: str
    done: int
    total: int
    words: str

    @property
    def share(self) -> float:
        """Share in percent, 0 if there is nothing to count."""
        return 100.0 * self.done / self.total if self.total else 0.0


def render(result: StudyResult, parts: StudyParts, drawings: Mapping[str, str], *, drawn: bool = True) -> str:
    """Return the page.

    Parameters
    ----------
    result
        Where title and provenance come from.
    parts
        What the study says.
    drawings
        Each figure by item, as `drawing_files` draws it for a page.
    drawn
        Whether figures were drawn; the page says if not.
    """
    figures = [DrawnFigure(figure, Markup(drawings[figure.item])) for figure in parts.figures]
    cells = [cell for table in parts.printed for cell in table.ordered_cells()]
    is_short = any(word in result.reduced for word in ("quick", "shortened"))
    return page_of(
        "report.html",
        result=result,
        definition=result.definition,
        parts=parts,
        drawn=drawn,
        is_short=is_short,
        shown_tables=[table for table in parts.plain_tables if not _is_folded(table, parts)],
        folded_tables=[table for table in parts.plain_tables if _is_folded(table, parts)],
        many_figures=MANY_FIGURES,
        overview_figures=_group(figures, "overview"),
        printed_figures=_group(figures, "printed"),
        delay_figures=_group(figures, "delay"),
        scorecards=scorecards(cells, parts.claims, parts.beside),
        origins=origins.told(result, parts.assumptions),
        closeness=closeness(cells),
        misses=[cell for cell in cells if cell.verdict is Verdict.MISS],
        claim_groups=claim_groups(parts.claims, " at first look" if is_short else ""),
        notes=Markup(markdown.render(parts.notes, level=2)) if parts.notes else "",
        provenance=provenance(result),
        scenario_hashes=scenario_hashes(result),
    )


def _is_folded(table: PlainTable, parts: StudyParts) -> bool:
    if table.folded or len(table.rows) > LONG_TABLE or len(table.headings) > WIDE_TABLE:
        return True
    return any(figure.group == "printed" for figure in parts.figures)


def _group(figures: Sequence[DrawnFigure], group: str) -> list[DrawnFigure]:
    return [drawn for drawn in figures if drawn.figure.group == group]


def scorecards(cells: Sequence[Cell], claims: Sequence[JudgedClaim], beside: Sequence[Table] = ()) -> list[Scorecard]:
    """Count verdicts for the overview; empty kinds are left out, and background that nothing can judge."""
    cards: list[Scorecard] = []
    if cells:
        cards.append(_of_cells("Printed cells", cells))
    for reference in dict.fromkeys(table.reference for table in beside):
        own = [table for table in beside if table.reference == reference]
        found = [cell for table in own for cell in table.ordered_cells()]
        cards.append(_of_cells(f"Beside {reference}", found))
    for use, (title, words) in _USES.items():
        outcomes = Counter(j.outcome.verdict for j in claims if j.claim.use == use)
        judged = outcomes[Holds.HOLDS] + outcomes[Holds.FAILS]
        if not outcomes or (use == "context" and not judged):
            continue
        left = outcomes[Holds.NOT_RUN]
        tail = f"; {left} not run" if left else ""
        cards.append(Scorecard(f"{title}", outcomes[Holds.HOLDS], judged, f"claims hold: {words}{tail}"))
    return cards


def _of_cells(title: str, cells: Sequence[Cell]) -> Scorecard:
    count = Counter(cell.verdict for cell in cells)
    judged = count[Verdict.MATCH] + count[Verdict.MISS]
    wide = sum(verdict_of(cell) == "in-range" for cell in cells)
    loosely = f", {wide} of them by the range of a claim alone" if wide else ""
    left = count[Verdict.UNJUDGED]
    more = f"; {left} more {'is' if left == 1 else 'are'} shown and not judged" if left else ""
    words = f"match within tolerance{loosely}{more}"
    return Scorecard(title, count[Verdict.MATCH], judged, words)


def closeness(cells: Sequence[Cell]) -> str:
    """Say how close matches are, beyond the tolerances: some of these are wide.

    Prints that are words have no distance.
    """
    judged = [cell for cell in cells if cell.verdict is not Verdict.UNJUDGED and has_number(cell)]
    if not judged:
        return ""
    equal = sum(cell.is_equal for cell in judged)
    near = sum(is_near(cell) for cell in judged)
    return (
        f"Tolerances follow the claims and some are wide. Of the {len(judged)} judged cells, {near} lie "
        f"within 10 % of the print (or within 0.1 of it, where it is small), and {equal} equal it within "
        "its last digit and our interval."
    )


def has_number(cell: Cell) -> bool:
    """Return whether a number was printed, give or take the sign of a bound, and not a word."""
    return cell.printed.lstrip("<>≤≥ ").replace(".", "", 1).replace("-", "", 1).isdigit()


def is_near(cell: Cell) -> bool:
    """Return whether ours is within 10 % of the print, or within 0.1 in its unit."""
    ours, printed = cell.ours.value, cell.printed_value
    if ours is None or printed is None:
        return False
    return abs(ours - printed) <= max(0.1 * abs(printed), 0.1)


def verdict_of(cell: Cell) -> str:
    """Return what marks a cell: a tick is for numbers near the print, or as near as the print itself is sure.

    Some claims allow more: 106 may lie in the range of a claim that prints 63, and is no match of that number.
    """
    rule = cell.rule
    if cell.verdict is not Verdict.MATCH or rule is None or not has_number(cell):
        return cell.verdict.value
    widths = (rule.relative, rule.factor, rule.absolute)
    is_wide = all(width is None for width in widths) and not (is_near(cell) or cell.is_equal)
    return "in-range" if is_wide else cell.verdict.value


def claim_groups(claims: Sequence[JudgedClaim], how: str = "") -> list[ClaimGroup]:
    """Group claims by verdict, failing ones first; `how` ends the titles of verdicts."""
    titles = {
        Holds.FAILS: (f"Claims that fail{how}", "claims-fail"),
        Holds.NOT_RUN: ("Claims not run", "claims-not-run"),
        Holds.HOLDS: (f"Claims that hold{how}", "claims-hold"),
    }
    groups: list[ClaimGroup] = []
    for verdict, (title, anchor) in titles.items():
        chosen = tuple(judged for judged in claims if judged.outcome.verdict is verdict)
        if chosen:
            groups.append(ClaimGroup(title, anchor, chosen))
    return groups


def interval(cell: Cell) -> str:
    """Write a cell's interval short: a half-width if it is even, nothing if it vanishes.

    Examples
    --------
    >>> from sojourn.stats.estimate import Estimate
    >>> cell = Cell("", "", "", "", "", "", None, Estimate(3.0, 2.9, 3.1, 5), decimals=1)
    >>> interval(cell)
    '±0.1'
    """
    value, low, high = cell.ours.value, cell.ours.low, cell.ours.high
    if value is None or low is None or high is None:
        return ""
    if format_number(low, cell.decimals) == format_number(high, cell.decimals):
        return ""
    if not format_number(0.5 * (high - low), cell.decimals).strip("0."):
        return ""
    if abs((high - value) - (value - low)) <= 0.1 * (high - low):
        return f"±{format_number(0.5 * (high - low), cell.decimals)}"
    return f"{format_number(low, cell.decimals)}–{format_number(high, cell.decimals)}"


@cache
def style_sheet() -> Markup:
    """Return the style sheet that every page carries.

    It is read once: a page whose policy names another text than it carries has no style.
    """
    return Markup((_HOME / "assets" / "report.css").read_text(encoding="utf-8"))


def script() -> Markup:
    """Return the script that every page carries, without its comments and indents."""
    lines = (_HOME / "assets" / "report.js").read_text(encoding="utf-8").splitlines()
    stripped = (line.strip() for line in lines)
    return Markup("\n".join(line for line in stripped if line and not line.startswith("//")))


def content_security_policy() -> str:
    """Return what a browser may do with a page: show it, with the style sheets and the script that are ours, and load nothing.

    Attributes may have styles, as drawings need them; these load nothing either.
    """
    styles = " ".join(_digest(text) for text in (f"\n{style_sheet()}\n", drawing.STYLE))
    return (
        f"default-src 'none'; style-src-elem {styles}; style-src-attr 'unsafe-inline'; "
        f"script-src {_digest(script())}; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    """Return how a policy names a text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def page_of(template: str, **content: object) -> str:
    """Return the page that a template makes of its content."""
    return page_environment().get_template(template).render(content)


@cache
def page_environment() -> jinja2.Environment:
    """Return what templates of pages are rendered with."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HOME / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tools: dict[str, Any] = {
        "marks": MARKS,
        "verdict_of": verdict_of,
        "interval": interval,
        "uses": _USES,
        "style": style_sheet(),
        "policy": Markup(content_security_policy()),
        "script": script(),
    }
    environment.globals.update(tools)
    return environment
