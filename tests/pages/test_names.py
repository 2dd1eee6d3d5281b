"""Links, paths, identifiers and options that pages name exist."""

import re
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from pages.commands import options_of
from pages.markdown import ROOT, Piece, pages, pieces

ALSO = ("ARCHITECTURE.md", "CONTRIBUTING.md", "MAINTAINERS.md", "SECURITY.md")
"""Pages for those who work on Sojourn; the changelog names what was there, too."""

PAGES = [*pages(), *ALSO]

MADE = ("docs/reference/scenario.schema.json", "live/", "docs/live/")
"""What the documentation has and git has not."""

SOURCES = (
    "*.rs",
    "*.py",
    "*.pyi",
    "*.toml",
    "*.js",
    "*.ts",
    "*.h",
    "*.c",
    "*.html",
    "*.json",
    "*.csv",
    "*.conf",
    "Makefile",
)


@cache
def tracked() -> tuple[str, ...]:
    """Return all files of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return tuple(listed.stdout.splitlines())


@cache
def words() -> frozenset[str]:
    """Return every word of the sources, and the names of their files."""
    found: set[str] = set()
    for name in tracked():
        if any(fnmatchcase(Path(name).name, pattern) for pattern in SOURCES) or name.startswith("tools/"):
            path = ROOT / name
            if path.is_file():
                found.update(re.findall(r"\w+", path.read_text(encoding="utf-8", errors="ignore")))
            found.update(re.findall(r"\w+", name))
    return frozenset(found)


@cache
def rust_tests() -> dict[str, set[str]]:
    """Return the crates that have a test of each name."""
    found: dict[str, set[str]] = {}
    for name in tracked():
        if name.startswith("crates/") and name.endswith(".rs"):
            text = (ROOT / name).read_text(encoding="utf-8")
            for test in re.findall(r"#\[test\]\s*(?:#\[[^\n]*\]\s*)*(?:async )?fn (\w+)", text):
                found.setdefault(test, set()).add(name.split("/")[1])
    return found


def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and Sphinx make them."""
    found: set[str] = set()
    for piece in pieces(page):
        if piece.kind == "heading":
            slug = re.sub(r"[^\w\- ]", "", piece.text.lower()).replace(" ", "-")
            numbers = (slug, *(f"{slug}-{number}" for number in range(1, 9)))
            found.add(next(one for one in numbers if one not in found))
    text = (ROOT / page).read_text(encoding="utf-8")
    return found | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)) | set(re.findall(r'id="([\w-]+)"', text))


def wrong_link(page: str, piece: Piece) -> str:
    """Return why a link leads nowhere; empty if it leads somewhere, or out of the repository."""
    if re.match(r"[a-z]+:", piece.info):
        return ""
    path, _, anchor = unquote(piece.info).partition("#")
    target = (ROOT / page).parent / path if path else ROOT / page
    name = target.resolve().relative_to(ROOT).as_posix()
    if name.startswith(MADE):
        return ""
    if not any(one == name or one.startswith(f"{name}/") for one in tracked()):
        return f"there is no {name}"
    if page.startswith("docs/") and name.endswith(".md") and not name.startswith("docs/"):
        return f"{name} is no page of the site, which `make docs` refuses to link"
    return f"{name} has no #{anchor}" if anchor and name.endswith(".md") and anchor not in anchors(name) else ""


def test_links_lead_to_files_and_headings_that_there_are() -> None:
    links = [(page, piece) for page in PAGES for piece in pieces(page) if piece.kind == "link"]
    assert len(links) > 250
    assert [f"{page}:{one.line}: {told}" for page, one in links if (told := wrong_link(page, one))] == []


TOPS = (
    "crates/",
    "python/",
    "tests/",
    "docs/",
    "tools/",
    "scenarios/",
    "benches/",
    "examples/",
    "specs/",
    "fuzz/",
    "sojourn-",
)
ENDS = (".rs", ".py", ".toml", ".md")


AWAY = ("ensemble/01.toml", "examples/simple-docsislink.cc")
"""Files of a result, and of docsis-ns3."""


def wrong_path(text: str) -> str:
    """Return the path that code within a line names and that there is not; empty if it names none, or there is one."""
    place = re.sub(r"[:,].*", "", text.split(" ")[0])
    if (
        place in AWAY
        or "/" not in place
        or re.search(r"[A-Z]{3}|…|[<>$]", place)
        or not (place.startswith(TOPS) or place.endswith(ENDS))
    ):
        return ""
    if place.startswith("sojourn-"):
        place = f"crates/{place}"
    place = place.rstrip("/")
    if place.startswith(("docs/_build", "docs/reference/scenario")):
        return ""
    ends = (place, f"*/{place}", f"{place}/*", f"*/{place}/*")
    return "" if any(fnmatchcase(name, end) for name in tracked() for end in ends) else place


def code_of(page: str) -> Iterator[Piece]:
    """Yield what a page writes as code within its lines."""
    return (piece for piece in pieces(page) if piece.kind == "code")


def test_paths_that_pages_name_are_there() -> None:
    wrong = [f"{page}:{one.line}: {told}" for page in PAGES for one in code_of(page) if (told := wrong_path(one.text))]
    assert wrong == []


def unknown_word(text: str) -> str:
    """Return the first name in code within a line that no source has; empty if there is none."""
    if not re.fullmatch(r"[\w.:]+(?:\(\))?", text):
        return ""
    names = [
        name
        for name in re.findall(r"[A-Za-z_]\w*", text)
        if "_" in name.strip("_") or re.match(r"[A-Z][a-z]+[A-Z]", name)
    ]
    return next((name for name in names if name not in words()), "")


ELSEWHERE = frozenset(
    {
        *("QueueDisc", "W_max", "W_est", "tcp_tso_autosize", "hystart_ack_delay"),
        *("codel_get_time", "codel_should_drop", "fq_pie_qdisc_enqueue", "high_seq"),
        *("pie_calculate_probability", "pie_drop_early", "pie_process_dequeue", "red_action"),
        *("bbr_quantization_budget", "bbr_tso_segs_goal", "tcp_min_rtt", "tcp_clean_rtx_queue", "FLAG_SET_XMIT_TIMER"),
        *("minstrel_ht", "sample_wait"),
        *("cake_get_flow_quantum", "cobalt_newton_step", "hystart_update", "icsk_ack", "tcp_grow_window"),
        *("red_calc_qavg_from_idle_time", "red_mark_probability", "sfq_dequeue", "sfq_enqueue", "tcp_probe"),
        *("MIN_BURST_SIZE", "BURST_INTERVAL_NANOS", "RTTE_MIN_RTO", "MAX_BURST_PACKETS", "N_SAMPLING"),
    }
)
"""Names of ns-3, of RFC 9438, of Linux, of quinn, of s2n-quic and of smoltcp."""


def test_names_that_pages_write_as_code_stand_in_the_sources() -> None:
    """Decisions name what was there then, and the page of records is made from the records."""
    held = [page for page in PAGES if not page.startswith("docs/decisions/") and page != "docs/reference/records.md"]
    found = [(page, one, told) for page in held for one in code_of(page) if (told := unknown_word(one.text))]
    assert [f"{page}:{one.line}: {told}" for page, one, told in found if told not in ELSEWHERE] == []


def test_a_test_in_rust_is_named_with_its_crate() -> None:
    wrong: list[str] = []
    for page in PAGES:
        lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
        headings = [number for number, line in enumerate(lines, start=1) if line.startswith("#")]
        for one in code_of(page):
            crates = rust_tests().get(one.text, set())
            begin = max((number for number in headings if number <= one.line), default=1)
            end = min((number for number in headings if number > one.line), default=len(lines) + 1)
            section = "\n".join(lines[begin - 1 : end - 1])
            if crates and page != "docs/reference/clauses.md" and not any(crate in section for crate in crates):
                wrong.append(f"{page}:{one.line}: {one.text} of {', '.join(sorted(crates))}")
    assert wrong == []


FOREIGN = frozenset({"--device", "--security-opt"})
"""Options of Docker."""


def test_options_that_pages_name_are_those_of_a_command() -> None:
    from sojourn.cli.app import COMMANDS

    known = {option for command in COMMANDS for option in options_of(command)} | FOREIGN
    wrong = [
        f"{page}:{one.line}: {option}"
        for page in PAGES
        for one in code_of(page)
        if one.text.startswith("--")
        for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", one.text)
        if option not in known
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "told"),
    [("crates/sojourn-queue/src/lib.rs", ""), ("congestion/no_such.rs", "congestion/no_such.rs"), ("a/b", "")],
)
def test_a_path_that_is_not_there_is_noticed(text: str, told: str) -> None:
    assert wrong_path(text) == told


def test_a_name_and_a_link_that_are_not_there_are_noticed() -> None:
    assert unknown_word("sojourn_queue::add_manager") == ""
    assert unknown_word("no_such" + "_name_here") == "no_such" + "_name_here"
    assert wrong_link("README.md", Piece("link", "docs/no-such.md", "", 1)) == "there is no docs/no-such.md"
    assert wrong_link("README.md", Piece("link", "CONTRIBUTING.md#no-such", "", 1)) == "CONTRIBUTING.md has no #no-such"
