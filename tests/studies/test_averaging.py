"""No number of a figure or table is an average over a label that its reader does not see."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sojourn.answers.checks import unanswerable
from sojourn.answers.figure import Figure
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.reporting import declared_parts
from sojourn.answers.view import StudyView
from sojourn.base.errors import StudyError
from sojourn.plots.spec import Dots, Line
from sojourn.study.library import builtin_names, load_study
from sojourn.study.plan import RunOptions, make_plan
from studies.small_study import result_of, write

MEASURE = """
[measures.delay]
subject = "call"
metric = "delay_p95"
title = "P95 of delay"
"""

SWEEP = """
[[figure]]
item = "over"
kind = "sweep"
over = "place"
panels = [{ lines = [{ measure = "delay" }] }]
"""

TOGETHER = "would put queue (tail, codel) into one number"


def problems(folder: Path, answers: str) -> list[tuple[str, str, str]]:
    study = write(folder, MEASURE + answers)
    try:
        make_plan(load_study(str(study)), RunOptions(), unanswerable)
    except StudyError as error:
        return [(one.path, one.message, one.hint) for one in error.problems]
    return []


def drawn(folder: Path, answers: str) -> Figure:
    study = write(folder, MEASURE + answers)
    make_plan(load_study(str(study)), RunOptions(), unanswerable)
    opened = OpenStudy.of(load_study(str(study)))
    (figure,) = declared_parts(opened, StudyView(result_of(study))).figures
    return figure


def curves(figure: Figure) -> Sequence[list[float]]:
    return [list(one.y) for panel in figure.plot.panels for one in panel.marks if isinstance(one, Line)]


def test_a_sweep_that_would_average_over_an_axis_is_refused_with_three_ways_out(tmp_path: Path) -> None:
    assert problems(tmp_path, SWEEP) == [
        (
            "figure over",
            TOGETHER,
            'give it panels (facet = "queue"), curves (lanes = "queue"), or one value (where = { queue = "tail" })',
        )
    ]


def test_a_lane_is_a_curve_with_its_name_and_axes_have_units(tmp_path: Path) -> None:
    figure = drawn(tmp_path, SWEEP + 'lanes = "queue"\n')
    assert curves(figure) == [[100.0, 200.0], [10.0, 30.0]]
    (panel,) = figure.plot.panels
    assert [mark.label for mark in panel.marks if isinstance(mark, Dots)] == ["tail", "codel"]
    assert (panel.x.label, panel.y.label) == ("place", "P95 of delay in ms")


def test_a_facet_is_a_panel_with_its_title(tmp_path: Path) -> None:
    figure = drawn(tmp_path, SWEEP + 'facet = "queue"\n')
    assert curves(figure) == [[100.0, 200.0], [10.0, 30.0]]
    assert [panel.title for panel in figure.plot.panels] == ["tail", "codel"]


def test_a_fixed_value_is_one_curve(tmp_path: Path) -> None:
    assert curves(drawn(tmp_path, SWEEP + 'where = { queue = "codel" }\n')) == [[10.0, 30.0]]


def test_a_measure_may_say_over_what_it_averages(tmp_path: Path) -> None:
    figure = drawn(tmp_path, 'pooled = ["queue"]\n' + SWEEP)
    assert curves(figure) == [[55.0, 115.0]]


@pytest.mark.parametrize(
    ("answer", "where"),
    [
        (
            '[[figure]]\nitem = "d"\nkind = "dots"\nrows = ["place"]\nlanes = [{ where = {}, look = "tail", label = "all" }]\npanels = [{ measure = "delay" }]\n',
            "figure d",
        ),
        ('[winners]\ncompare = "place"\nmeasures = ["delay"]\nrows = []\n', "winners"),
        (
            '[[numbers]]\nname = "n"\ntitle = "N"\nviews = [[]]\ncompare = "place"\nnames = ["{place}"]\ncolumns = [{ measure = "delay", title = "d" }]\n',
            "numbers n",
        ),
    ],
    ids=["dots", "winners", "numbers"],
)
def test_other_figures_and_tables_are_refused_alike(tmp_path: Path, answer: str, where: str) -> None:
    ((path, message, hint),) = problems(tmp_path, answer)
    assert (path, message) == (where, TOGETHER)
    assert 'where = { queue = "tail" }' in hint


def test_a_bar_is_of_one_point(tmp_path: Path) -> None:
    stack = 'rows = "place"\nfacet = "place"\nsubject = "call"\nitem = "s"\nkind = "stack"\n'
    found = problems(tmp_path, "[[figure]]\n" + stack)
    assert ("figure s", TOGETHER) in [one[:2] for one in found]


def test_a_distribution_is_of_what_its_panel_says(tmp_path: Path) -> None:
    samples = '[measures.all]\nsubject = "call"\nsamples = "delay"\nquantile = 0.5\n'
    figure = '[[figure]]\nitem = "c"\nkind = "distribution"\nmeasure = "all"\nlanes = "place"\naxis = { quantity = "delay" }\n'
    found = problems(tmp_path, samples + figure)
    assert ("figure c", TOGETHER) in [one[:2] for one in found]


def test_a_sentence_says_how_it_averages(tmp_path: Path) -> None:
    headline = '[[headline]]\ntext = "{d:3}"\nvalues.d = { measure = "delay", where = { place = "near" } }\n'
    ((path, message, hint),) = problems(tmp_path, headline)
    assert (path, message) == ("headline[1].values.d", TOGETHER)
    assert hint.startswith('group by it (by = ["queue"])')
    assert problems(tmp_path, headline.replace(" } }", ' }, across = "mean" }')) == []


def test_a_result_of_somebody_else_shows_the_reason_in_place_of_the_figure(tmp_path: Path) -> None:
    study = write(tmp_path, MEASURE + SWEEP)
    opened = OpenStudy.of(load_study(str(study)))
    (figure,) = declared_parts(opened, StudyView(result_of(study))).figures
    assert "2 points that differ in queue would be one number" in figure.caption


NEAR = MEASURE + 'where = { place = "near" }\n'
"""The measure for some points only: 100 ms with `tail`, 10 ms with `codel`."""


@pytest.mark.parametrize(
    "kind",
    [
        'kind = "sweep"\nover = "place"\nlanes = "queue"\npanels = [{ lines = [{ measure = "delay" }] }]',
        'kind = "dots"\nrows = ["place"]\nlanes = "queue"\npanels = [{ measure = "delay" }]',
        'kind = "swarm"\nlanes = "queue"\nfacet = "place"\nstrata = "place"\npanel = { measure = "delay" }',
    ],
    ids=["sweep", "dots", "swarm"],
)
def test_a_figure_shows_no_point_that_its_measure_is_not_for(tmp_path: Path, kind: str) -> None:
    study = write(tmp_path, f'{NEAR}[[figure]]\nitem = "f"\ntitle = "F"\n{kind}\n')
    make_plan(load_study(str(study)), RunOptions(), unanswerable)
    opened = OpenStudy.of(load_study(str(study)))
    (figure,) = declared_parts(opened, StudyView(result_of(study))).figures
    dots = [one for panel in figure.plot.panels for one in panel.marks if isinstance(one, Dots)]
    values = np.concatenate([one.y if "sweep" in kind else one.x for one in dots])
    assert set(values.tolist()) == {10.0, 100.0}


def test_a_figure_that_asks_for_other_points_has_them(tmp_path: Path) -> None:
    figure = SWEEP + 'where = { place = "far" }\nlanes = "queue"\n'
    study = write(tmp_path, NEAR + figure)
    make_plan(load_study(str(study)), RunOptions(), unanswerable)
    opened = OpenStudy.of(load_study(str(study)))
    (drawn,) = declared_parts(opened, StudyView(result_of(study))).figures
    dots = [one for panel in drawn.plot.panels for one in panel.marks if isinstance(one, Dots)]
    assert {value for one in dots for value in one.y.tolist()} == {200.0, 30.0}


@pytest.mark.whole
@pytest.mark.parametrize("study", builtin_names())
def test_the_published_studies_can_be_answered(study: str) -> None:
    assert make_plan(load_study(study), RunOptions(), unanswerable).points
