"""`specs/*.toml`: requirements of documents, the places that meet them and the tests that hold them."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def clauses(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools"), *sys.path])
    return importlib.import_module("clauses")


def test_every_named_place_and_test_exists(clauses: ModuleType) -> None:
    assert list(clauses.problems(clauses.read())) == []


def test_the_page_is_made_from_the_files(clauses: ModuleType) -> None:
    page = (ROOT / "docs" / "reference" / "clauses.md").read_text(encoding="utf-8")
    assert page == clauses.page(clauses.read()), "run tools/clauses.py --write"


def test_the_documents_that_the_models_follow_are_there(clauses: ModuleType) -> None:
    names = {document.name for document in clauses.read()}
    numbers = (8289, 8290, 8033, 8034, 9293, 5681, 6298, 6675, 8985, 9438)
    assert names >= {f"RFC {number}" for number in numbers}


def test_a_renamed_function_and_a_lost_test_are_noticed(clauses: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "law.rs").write_text(
        "struct Law;\nimpl Law {\n    fn on_head() {}\n}\n#[test]\nfn it_holds() {}\n", encoding="utf-8"
    )
    spec = tmp_path / "specs" / "rfc1.toml"
    text = (
        'document = "RFC 1"\ntitle = "Law"\n[[clause]]\nsection = "1"\nstatement = "It holds."\n'
        'status = "implemented"\nwhere = ["law.rs: Law::on_head"]\ntest = ["law.rs: it_holds"]\n'
    )
    spec.write_text(text, encoding="utf-8")

    def found() -> list[str]:
        return list(clauses.problems(clauses.read(tmp_path), tmp_path))

    assert found() == []
    for right, wrong, message in (
        ("on_head", "on_tail", "law.rs: Law::on_tail is not there"),
        ("Law::", "Rule::", "law.rs: Rule::on_head is not there"),
        ("it_holds", "on_head", "there is no test law.rs: on_head"),
        ("law.rs: it", "lost.rs: it", "there is no test lost.rs: it_holds"),
        ('"implemented"', '"partly"', "a reason is missing"),
        ('"implemented"', '"done"', "'done' is not one of"),
    ):
        spec.write_text(text.replace(right, wrong), encoding="utf-8")
        assert any(message in line for line in found()), message
