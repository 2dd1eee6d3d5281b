"""Pages count what results and definitions hold: points, runs, packets, cells, claims; and call nothing missing that is there."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from sojourn import _engine
from sojourn.study.library import Study, builtin_names, load_study

DOCS = Path(__file__).parents[1] / "docs"
COUNTS: dict[str, Any] = json.loads((DOCS / "results" / "counts.json").read_text("utf-8"))
USES = ("gate", "unit", "report")


def page(study: str) -> str:
    return (DOCS / "results" / f"{study}.md").read_text(encoding="utf-8")


def row(study: str, beginning: str) -> str:
    """Return what the overview of a page says in the row that begins so."""
    found = re.search(rf"^\| {beginning}[^|]*\| ([^|]*) \|$", page(study), re.MULTILINE)
    assert found, f"{study}.md has no row that begins with {beginning}"
    return found[1]


@pytest.fixture(scope="module", params=builtin_names())
def study(request: pytest.FixtureRequest) -> Study:
    return load_study(request.param)


def test_every_claim_is_counted_on_the_page_of_its_study(study: Study) -> None:
    name = study.definition.name
    for use in USES:
        said = row(name, f"{use} claims that hold")
        numbers = re.match(r"(\d+) of (?:the )?(\d+)", said)
        assert numbers, said
        left = re.search(r"; (\d+)", said)
        judged = int(numbers[2]) + (int(left[1]) if left else 0)
        claims = [claim for claim in study.definition.claim if claim.use == use]
        assert judged == len(claims), f"{name}.md, {use} claims: {said}"


@pytest.mark.parametrize("name", COUNTS)
def test_a_page_counts_what_the_result_does(name: str) -> None:
    counts = COUNTS[name]
    text = page(name)
    assert f"({counts['points']} points" in text
    assert f"{counts['packet_hops']:,} packet-hops" in text
    assert f"{counts['simulated_s']:,} s" in text
    for use in USES:
        claims = counts["claims"][use]
        judged = len(claims["holds"]) + len(claims["fails"])
        assert row(name, f"{use} claims that hold").startswith(f"{len(claims['holds'])} of {judged}")
        if use == "gate":
            assert [one for one in claims["fails"] if one not in text] == []
    cells = counts["cells"]
    judged = cells["match"] + cells["miss"]
    assert not judged or f"| {cells['match']} of {judged}" in text


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_those_of_the_study_as_it_is_defined(name: str) -> None:
    study, counts = load_study(name), COUNTS[name]
    assert counts["reduced"] == ""
    assert counts["points"] == len(study.points())
    for use in USES:
        known = sorted(claim.identifier for claim in study.definition.claim if claim.use == use)
        counted = [one for ids in counts["claims"][use].values() for one in ids]
        assert sorted(counted) == known


def application_kinds() -> set[str]:
    found = [
        re.fullmatch(r'kind = "(.+)"', kind)
        for path, _, kind, *_ in _engine.scenario_keys()
        if path == "traffic.NAME.app"
    ]
    return {kind[1] for kind in found if kind}


def test_no_application_is_called_not_modelled() -> None:
    text = (DOCS / "concepts" / "not-modelled.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"\*\*Applications\.\*\*.*?\n\n", text, re.DOTALL)
    missing = [s for s in re.split(r"[.;:]\s", said.lower()) if "not modelled" in s]
    words = {word for kind in application_kinds() for word in kind.split("-")} - {"has", "rate"}
    assert [w for w in words if any(re.search(rf"\b{w}s?\b", one) for one in missing)] == []


def test_no_study_lists_as_left_out_what_its_points_have(study: Study) -> None:
    notes = study.path.parent / study.definition.notes
    sections = re.findall(r"^## (?:Left out|Not run)\n.*?(?=^## |\Z)", notes.read_text("utf-8"), re.M | re.S)
    named = {kind for kind in application_kinds() if any(f"`{kind}`" in text for text in sections)}
    if named:
        used = {e["app"]["kind"] for point in study.points() for e in point.document["traffic"]}
        assert named.isdisjoint(used)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(COUNTS))
def test_no_verdict_of_a_quick_run_is_turned_round_by_the_whole_study(name: str, tmp_path: Path) -> None:
    from sojourn.cli.app import execute

    out = tmp_path / "out"
    command = ["study", "run", name, "--quick", "--no-figures", "--out", str(out), "--store", str(tmp_path / "store")]
    assert execute(command) == 0
    whole = {claim: word for of in COUNTS[name]["claims"].values() for word, claims in of.items() for claim in claims}
    with (out / "claims.csv").open(newline="", encoding="utf-8") as file:
        quick = {row["id"]: row["verdict"] for row in csv.DictReader(file) if row["verdict"] in ("holds", "fails")}
    assert quick
    assert {claim: word for claim, word in quick.items() if whole[claim] != word} == {}
