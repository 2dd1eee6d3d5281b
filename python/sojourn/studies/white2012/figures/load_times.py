"""Median page load times as rows of dots, printed beside ours.

Source: White and Padden 2012, Tables 7 and 8.
Deviations: none known.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sojourn.plots.dots import DotRow
from sojourn.studies.estimate import Estimate, median_of
from sojourn.studies.view import StudyView
from sojourn.studies.white2012 import cases
from sojourn.studies.white2012.cases import CASES, CODEL, LOADS, point_of
from sojourn.studies.white2012.tables import printed_rows

#: A test case and a queue manager.
Household = tuple[str, str]

#: Test cases with their loads in words, one row of a panel each.
ROWS = tuple(f"{case}: {LOADS[case].description}" for case in CASES)


def printed_summary() -> dict[Household, dict[str, str]]:
    """Return the printed rows of Tables 7 and 8."""
    rows: dict[Household, dict[str, str]] = {}
    for row in printed_rows("summary"):
        # The rows of CoDel stand in both tables.
        if row["queue_manager"] == "DropTail":
            rows[row["test_case"][1:], f"droptail-{row['buffer_packets']}"] = row
        elif row["source"].endswith("7"):
            rows[row["test_case"][1:], CODEL] = row
    return rows


def load_time(view: StudyView, case: str, manager: str) -> Estimate:
    """Median over runs of the median page load time, censored at the length of the run."""
    times = cases.page_load_times(view, case, manager)
    known = np.where(np.isfinite(times), times, np.nan)
    return median_of(known, censored_above=view.duration_s(point_of(case, manager)))


def dot(
    view: StudyView,
    case: str,
    lane: int,
    manager: str,
    printed: Mapping[Household, Mapping[str, str]],
) -> DotRow:
    """Draw one household behind one manager, beside what the document prints of it, if anything."""
    number = CASES.index(case)
    ours = load_time(view, case, manager)
    row = printed.get((case, manager))
    if row is None:
        return DotRow(number, lane, manager, ours)
    if row["median_plt_right_censored"] == "1":
        return DotRow(number, lane, manager, ours, None, ">600 s")
    return DotRow(number, lane, manager, ours, float(row["median_plt_s"]))
