"""Looks are told apart by more than one property, and can be seen."""

import itertools
from types import SimpleNamespace
from typing import cast

import pytest

from sojourn.answers.figures.common import look_of
from sojourn.answers.open_study import OpenStudy
from sojourn.base.metrics import delay_causes
from sojourn.plots import styles
from sojourn.study.library import load_study

LABELS = load_study("white2012").definition.labels
LABELS_2013 = load_study("white2013").definition.labels
MANAGERS = [words.look or name for name, words in LABELS["queue_manager"].items()]
COUPLINGS = [words.look for words in LABELS["coupling"].values()]
BESIDE = ("pie-draft", "buffer-240ms", "buffer-480ms")
"""Settings of 2013 that are in no figure of the document."""
MANAGERS_2013 = [words.look or name for name, words in LABELS_2013["queue_manager"].items() if name not in BESIDE]


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.1."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_queue_managers_differ_in_colour_and_marker() -> None:
    looks = [styles.look_of(name) for name in MANAGERS]
    assert len({look.colour for look in looks}) == len(looks)
    assert len({look.marker for look in looks}) == len(looks)


def test_queue_managers_of_2013_differ_in_colour_marker_and_dash() -> None:
    looks = [styles.look_of(name) for name in MANAGERS_2013]
    assert len(looks) == 7
    for kind in ("colour", "marker", "dash"):
        assert len({getattr(look, kind) for look in looks}) == len(looks), kind


def test_no_cause_of_delay_has_the_colour_of_a_queue_manager() -> None:
    managers = {styles.look_of(name).colour for name in MANAGERS}
    assert not managers & {styles.look_of(cause).colour for cause in delay_causes()}


def test_causes_and_couplings_differ_from_each_other() -> None:
    shown = [cause for cause in delay_causes() if cause not in ("sender", "recovery")]
    assert len({styles.look_of(cause).colour for cause in shown}) == len(shown)
    couplings = [styles.look_of(name) for name in COUPLINGS]
    assert len({look.marker for look in couplings}) == len(couplings)


def test_words_have_enough_contrast_on_paper() -> None:
    assert contrast(styles.INK, styles.PAPER) >= 7.0
    assert contrast(styles.MUTED, styles.PAPER) >= 4.5


def test_the_palette_goes_round_and_neighbours_differ() -> None:
    assert styles.look_of("cycle-0") == styles.look_of("cycle-7")
    for first, second in itertools.pairwise(range(7)):
        a, b = styles.look_of(f"cycle-{first}"), styles.look_of(f"cycle-{second}")
        assert a.colour != b.colour
        assert a.marker != b.marker


@pytest.mark.parametrize("name", ["turquoise", "blue wavy", "blue turquoise", "dashed blue", ""])
def test_words_that_name_no_look_are_none(name: str) -> None:
    assert not styles.is_known(name)


def test_an_unknown_look_is_an_error() -> None:
    with pytest.raises(KeyError, match="no look is called turquoise"):
        styles.look_of("turquoise")


def test_a_queue_manager_keeps_its_look_beside_values_without_one() -> None:
    given = {"dualpi2": "indigo circle", "fq": "sfq-codel"}

    def look(_label: str, value: object) -> str:
        return given.get(str(value), str(value))

    def words(_label: str, value: object) -> SimpleNamespace:
        return SimpleNamespace(look=given.get(str(value), ""))

    def study(values: list[str]) -> OpenStudy:
        points = SimpleNamespace(look=look, labels={"queue": values}, words=words)
        return cast("OpenStudy", SimpleNamespace(points=points))

    mixed = study(["dualpi2", "fq", "codel-1q", "pie", "red-150", "lld"])
    looks = {value: look_of(mixed, "queue", value) for value in mixed.points.labels["queue"]}
    assert (looks["dualpi2"], looks["fq"], looks["pie"]) == ("indigo circle", "sfq-codel", "pie")
    assert len({styles.look_of(one).colour for one in looks.values()}) == len(looks)
    # Words of plots that are no managers are only words beside values without a look, and a label of numbers has the palette.
    assert [look_of(study(["limit", "other"]), "queue", value) for value in ("limit", "other")] == [
        "cycle-0",
        "cycle-1",
    ]
    assert [look_of(study(["5", "20"]), "queue", value) for value in ("5", "20")] == ["cycle-0", "cycle-1"]
