"""The call and the page in nine households, printed beside ours.

Source: White and Padden 2012, Tables 7 and 8.
Deviations: none known.
"""

from __future__ import annotations

from sojourn.plots.dots import DotRow, dot_panel
from sojourn.plots.spec import PlotSpec
from sojourn.studies.estimate import mean_of
from sojourn.studies.figure import Figure
from sojourn.studies.view import StudyView
from sojourn.studies.white2012.cases import CASES, MANAGER_LABELS, MANAGERS, call
from sojourn.studies.white2012.figures import load_times


def overview(view: StudyView) -> Figure:
    """Scores and page load times, printed beside ours."""
    printed = load_times.printed_summary()
    scores: list[DotRow] = []
    times: list[DotRow] = []
    for lane, manager in enumerate(MANAGERS):
        for number, case in enumerate(CASES):
            score = mean_of(call(view, case, manager, "mos_loss_only"))
            heard = float(printed[case, manager]["voip_mos"])
            scores.append(DotRow(number, lane, manager, score, heard))
            times.append(load_times.dot(view, case, lane, manager, printed))
    plot = PlotSpec(
        name="overview",
        title="The call and the page in nine households",
        panels=(
            dot_panel(
                load_times.ROWS,
                scores,
                lanes=3,
                quantity="score of the call",
                unit="MOS",
                low=0.9,
                high=4.6,
                title="call: right is better",
                labels=MANAGER_LABELS,
            ),
            dot_panel(
                load_times.ROWS,
                times,
                lanes=3,
                quantity="median page load time",
                unit="s",
                scale="log",
                low=2.0,
                high=700.0,
                title="page: left is better",
                with_labels=False,
                labels=MANAGER_LABELS,
            ),
        ),
        columns=2,
        height=118,
        legend="below",
        description="For each test case and queue manager: score of the call and median page load "
        "time, ours with interval and the printed value.",
    )
    return Figure(
        "overview",
        plot,
        "Filled: ours, with the 95 % interval over runs where it is wider than the mark. Hollow "
        "diamond: printed.",
        "overview",
    )
