"""What lessons claim holds, their numbers are those of runs, and no number in their texts is typed."""

from __future__ import annotations

import dataclasses
import re

import pytest

from sojourn.base.errors import UsageError
from sojourn.serve.lessons import SEEDS, Lesson, judged, lessons, simulated
from sojourn.serve.site import read, site
from sojourn.serve.teacher import teacher_body
from support import CommandLine

LESSONS = {lesson.name: lesson for lesson in lessons()}


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
def test_the_numbers_of_a_lesson_are_those_of_its_runs(name: str) -> None:
    lesson = LESSONS[name]
    now, kept = simulated(lesson), lesson.numbers()
    # `tools/fill-lessons` writes them anew.
    assert now.keys() == kept.keys()
    for run, values in now.items():
        assert kept[run] == {of: pytest.approx(numbers, rel=1e-9) for of, numbers in values.items()}


@pytest.mark.parametrize("name", LESSONS)
def test_each_claim_holds_with_nineteen_of_twenty_seeds(name: str) -> None:
    lesson = LESSONS[name]
    numbers = lesson.numbers()
    assert len(lesson.claims) > 4
    for claim in lesson.claims:
        values = numbers[claim.run][claim.of]
        assert len(values) == len(SEEDS) == 20
        assert claim.held(numbers) >= 19, f"{claim.says} {min(values)} to {max(values)}"


def test_the_command_runs_what_a_lesson_claims_and_shows_each_seed(sojourn: CommandLine) -> None:
    done = sojourn("serve", "lesson", "l4s", "--check")
    assert done.status == 0, done.stderr
    rows = done.stdout.splitlines()
    assert len(rows) == 1 + len(LESSONS["l4s"].claims)
    assert all("●" * 20 in row and "20 of 20" in row for row in rows[1:])
    assert "3,664" in done.stdout  # and no spelt-out narrow space
    for wrong in (("--check",), ("lesson", "nothing", "--check")):
        assert sojourn("serve", *wrong).status == 2


def test_a_claim_that_fails_with_two_seeds_does_not_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sojourn.serve.lessons.SEEDS", range(1, 4))
    claim = dataclasses.replace(LESSONS["grants"].claims[0], below=0.0, above=None, above_run=None)
    (verdict,) = judged(dataclasses.replace(LESSONS["grants"], claims=(claim,)))
    assert (verdict.strip, verdict.is_kept, len(verdict.values)) == ("○○○", False, 3)


def typed_numbers(lesson: Lesson) -> list[str]:
    """Return numbers in the texts of a lesson that no run has filled in."""
    found: list[str] = []
    for text in (*lesson.text.values(), *lesson.spoken()):
        found += re.findall(r"(?<![\w.])\d+(?:\.\d+)?", re.sub(r"\{\{.*?\}\}", "", text))
    return found


@pytest.mark.parametrize("name", LESSONS)
def test_no_number_in_a_text_is_typed(name: str) -> None:
    lesson = LESSONS[name]
    # The scale of opinion scores ends there, and a study has a year in its name: neither comes from a run.
    assert set(typed_numbers(lesson)) <= {"4.5", "2021"}


@pytest.mark.parametrize("name", LESSONS)
def test_sentences_are_short(name: str) -> None:
    for text in (*LESSONS[name].text.values(), *LESSONS[name].spoken()):
        filled = re.sub(r"\{\{.*?\}\}", "so", text)
        for sentence in re.split(r"[.?!:](?:\s|$)", filled):
            assert len(sentence.split()) <= 25, sentence


@pytest.mark.parametrize("name", LESSONS)
def test_the_answer_of_the_guess_is_near_one_choice(name: str) -> None:
    lesson = LESSONS[name]
    value = lesson.numbers()["guess"][lesson.answer][0]
    choices: list[str] = lesson.about["choose"]
    away = sorted(abs(float(choice.split()[0]) - value) for choice in choices)
    assert away[0] <= 0.15 * value
    # The others are clearly wrong.
    assert away[1] > 3 * away[0]


@pytest.mark.parametrize("name", LESSONS)
def test_each_lesson_has_all_parts_and_an_answer_among_its_choices(name: str) -> None:
    lesson = LESSONS[name]
    assert list(lesson.text) == ["hook", "question", "saw", "why", "engineers"]
    assert lesson.about["check_answer"] in lesson.about["check_choose"]
    assert len(lesson.goals) == 3


@pytest.mark.parametrize("name", LESSONS)
def test_a_teacher_has_a_check_for_each_goal_and_ten_minutes_of_words(name: str) -> None:
    lesson = LESSONS[name]
    teacher = lesson.teacher
    assert len(teacher["check"]) == len(lesson.goals)
    assert sum(step["minutes"] for step in teacher["step"]) == lesson.about["minutes"] == 10
    assert {step["do"] for step in teacher["step"]} == {"Say", "Ask", "Show"}
    assert len(teacher["wrong"]) == 3
    assert set(teacher["picture"]) <= set(lesson.runs)


@pytest.mark.parametrize("name", LESSONS)
def test_the_page_for_teachers_has_what_the_lesson_says_and_no_script(name: str) -> None:
    page = teacher_body(LESSONS[name])
    assert "<script" not in page
    assert "{{" not in page
    assert page.count("<b>Check</b>") == 3
    assert "data:image" not in page


def test_the_picture_for_teachers_shows_the_delay_of_both_runs() -> None:
    pages = site()
    picture = read(pages["lessons/bufferbloat/picture.svg"]).decode()
    for words in ("delay on the line in ms", "time in s", "limit 8 KB", "limit 1 MB"):
        assert words in picture
    assert "<script" not in picture
    # It is drawn once for all who ask.
    assert read(pages["lessons/bufferbloat/picture.svg"]) is read(pages["lessons/bufferbloat/picture.svg"])


def test_codes_lead_to_the_lesson_of_the_site_that_was_named() -> None:
    pages = site(base="https://example.org/some/where")
    address = "https://example.org/some/where/lessons/fq/index.html"
    page = read(pages["lessons/fq/teacher.html"]).decode()
    assert f"QR code: {address}" in page
    assert 'src="data:image/svg+xml' in page
    for wrong in ("example.org", "javascript:alert(1)", "https://example.org/a b"):
        with pytest.raises(UsageError, match="no address of a site"):
            site(base=wrong)
