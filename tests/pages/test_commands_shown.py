"""Commands that pages show do what the pages say."""

from collections import Counter
from pathlib import Path

import pytest

from pages.commands import Reader, Shown, kind_of, not_printed, rule_of, settings, shown_on, wrong_with
from pages.markdown import pages, pieces

pytestmark = pytest.mark.whole

SHOWN = {page: commands for page in pages() if (commands := shown_on(page))}
FIRST = ("README.md", "docs/guides/tutorial.md")
"""Pages that a new user reads first: their commands run in every test run, those of the others in the night."""
RUN = [page for page, commands in SHOWN.items() if {"as shown", "shorter"} & {kind_of(one) for one in commands}]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.mark.parametrize(
    "page", [page if page in FIRST else pytest.param(page, marks=pytest.mark.slow) for page in RUN]
)
def test_the_commands_of_a_page_do_what_it_says(page: str, tmp_path: Path, store: Path) -> None:
    wrong = [f"{page}:{done.shown.line}: {done.text}: {done.problem}" for done in Reader(page, tmp_path, store).types()]
    failed = [line for line in wrong if not line.endswith(": ")]
    assert not failed, "\n\n".join(failed)


def test_commands_forms_and_names_have_words_and_options_that_there_are() -> None:
    wrong = [(page, one.line, one.text, told) for page in SHOWN for one in SHOWN[page] if (told := wrong_with(one))]
    assert wrong == []


def test_few_commands_are_left_out_and_each_says_why() -> None:
    kinds = Counter(kind_of(one) for commands in SHOWN.values() for one in commands)
    assert kinds.total() > 350
    assert kinds["as shown"] + kinds["shorter"] > 180
    assert kinds["left out"] <= MOST_LEFT_OUT
    assert all(len(rule.skip) > 4 for rule in settings().rules if rule.skip)


MOST_LEFT_OUT = 60
"""Commands that need programs, places, kernels or hours that a test does not have."""


def test_each_rule_and_each_file_is_for_something() -> None:
    used = {rule_of(one) for commands in SHOWN.values() for one in commands}
    assert [rule for rule in settings().rules if rule not in used] == []
    assert set(settings().files) <= set(RUN)


def test_a_line_that_is_not_printed_is_noticed_and_times_are_not() -> None:
    output = "a run of 2026-11-20T10-00-00\nthe rate  is 5.01\ndone in 3.2 s\n"
    assert not_printed(("a run of 2025-01-01T11-11-11", "...", "done in 12 s"), output) == ""
    assert not_printed(("the rate is 5.02",), output) == "the rate is 5.02"
    assert not_printed(("done in 3.2 s", "the rate is 5.01"), output) == "the rate is 5.01"


def test_a_quote_is_what_the_command_above_it_prints() -> None:
    (shown,) = [one for one in SHOWN["docs/recipes/web-protocols.md"] if one.text == "sojourn study run web-protocols"]
    assert shown.printed[-1].startswith("On a line alone a first visit's page takes ")
    assert not_printed(("It falls, from 85.6; …",), "It falls, from 85.6; and more\n") == ""
    assert not_printed(("It falls, from 85.6; …",), "It falls, from 8; and more\n") != ""


def test_what_is_a_command_a_form_and_a_name() -> None:
    def kind(text: str) -> str:
        return kind_of(Shown("x.md", 1, text, is_inline=True))

    assert kind("sojourn run FILE --qlog DIR") == "form"
    assert kind("sojourn provision encode") == "name"
    assert kind("sojourn query") == "name"
    assert kind("sojourn keys dsl") == "as shown"
    assert kind("sojourn study list") == "as shown"
    assert wrong_with(Shown("x.md", 1, "sojourn run FILE --no-such", is_inline=True))
    assert wrong_with(Shown("x.md", 1, "sojourn rum FILE", is_inline=True))
    assert wrong_with(Shown("x.md", 1, "make tests", is_inline=True))


def test_pages_are_read_as_a_reader_sees_them() -> None:
    found = pieces("README.md")
    assert {"block", "code", "link", "heading"} <= {piece.kind for piece in found}
    lines = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").splitlines()
    for piece in found:
        if piece.kind == "code" and " " not in piece.text:
            assert piece.text in lines[piece.line - 1], piece
