"""What lessons claim holds, and no number in their texts is typed."""

from __future__ import annotations

import re
from typing import cast

import pytest

from sojourn.serve.lessons import Lesson, lessons, metrics_of

SEEDS = range(1, 21)
LESSONS = {lesson.name: lesson for lesson in lessons()}


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
def test_each_claim_holds_with_nineteen_of_twenty_seeds(name: str) -> None:
    lesson = LESSONS[name]
    assert lesson.claims
    for claim in lesson.claims:
        values = [
            metrics_of(lesson, claim.where, seed)[claim.subject, claim.metric] for seed in SEEDS
        ]
        held = sum(map(claim.holds, values))
        assert held >= len(SEEDS) - 1, f"{claim.says} {min(values)} to {max(values)}"


def typed_numbers(lesson: Lesson) -> list[str]:
    """Return numbers in the texts of a lesson that no run has filled in."""
    found: list[str] = []
    for text in lesson.text.values():
        found += re.findall(r"(?<![\w.])\d+(?:\.\d+)?", re.sub(r"\{\{.*?\}\}", "", text))
    return found


@pytest.mark.parametrize("name", LESSONS)
def test_no_number_in_a_text_is_typed(name: str) -> None:
    lesson = LESSONS[name]
    # The scale of opinion scores ends there; it comes from no run.
    assert set(typed_numbers(lesson)) <= {"4.5"}


@pytest.mark.parametrize("name", LESSONS)
def test_sentences_are_short(name: str) -> None:
    for text in LESSONS[name].text.values():
        filled = re.sub(r"\{\{.*?\}\}", "so", text)
        for sentence in re.split(r"[.?!:](?:\s|$)", filled):
            assert len(sentence.split()) <= 25, sentence


@pytest.mark.parametrize("name", LESSONS)
def test_the_answer_of_the_guess_is_near_one_choice(name: str) -> None:
    lesson = LESSONS[name]
    answer = cast("dict[str, str]", lesson.about["answer"])
    choices = cast("list[str]", lesson.about["choose"])
    value = metrics_of(lesson, lesson.at, 1)[answer["subject"], answer["metric"]]
    near = [choice for choice in choices if 0.67 < value / float(choice.split()[0]) < 1.5]
    assert len(near) == 1
