"""The study in a few sentences and one table: who wins where, and at what cost.

Source: the metrics of the runs; nothing here is taken from the document.
Deviations: none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sojourn.studies.estimate import Estimate
from sojourn.studies.parts import PlainCell, PlainTable
from sojourn.studies.table import format_estimate
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2012 import cases
from sojourn.studies.white2012.cases import (
    CASES,
    CODEL,
    DROPTAIL_21,
    DROPTAIL_417,
    LOADED,
    LOADS,
    MANAGER_LABELS,
    MANAGERS,
)
from sojourn.studies.white2012.claims import voice, volume, web
from sojourn.studies.white2012.figures.load_times import load_time

#: Differences that a person would not notice or a repetition would not confirm, so that both count as
#: best; chosen: a tenth of a score, the 9.9 % by which the document's own load times differ, and 1 %.
_SAME_SCORE = 0.1
_SAME_TIME = 0.099
_SAME_VOLUME = 0.01


def headlines(view: StudyView) -> tuple[str, ...]:
    """Return the findings in sentences, as far as the runs allow."""
    found: list[str] = []
    for sentence in (_against_one_second, _against_50_ms, _byte_limit):
        try:
            found.append(sentence(view))
        except NotRecorded:
            continue
    return tuple(found)


def _changes(view: StudyView, rival: str) -> tuple[float, float, float]:
    """Mean gain of score, median ratio of load times, and mean change of volume, cases 02 to 09."""
    codel, tail = voice.scores(view, CODEL, LOADED), voice.scores(view, rival, LOADED)
    gain = float(np.mean([codel[c] - tail[c] for c in LOADED]))
    speed = float(
        np.median([1 / r for r in web.ratios(view, CODEL, rival, LOADED).values() if r > 0])
    )
    ours, theirs = volume.volumes(view, CODEL), volume.volumes(view, rival)
    change = float(np.mean([ours[c] / theirs[c] - 1 for c in LOADED]))
    return gain, speed, change


def _against_one_second(view: StudyView) -> str:
    gain, speed, change = _changes(view, DROPTAIL_417)
    return (
        f"Against one second of drop-tail, CoDel raises the score of the call by {gain:.1f} points on "
        f"average over the eight households with an upload, loads pages {speed:.0f} times as fast (half "
        f"of the cases more, half less), and uploads {_percent(change)}."
    )


def _against_50_ms(view: StudyView) -> str:
    gain, speed, change = _changes(view, DROPTAIL_21)
    direction = "better" if gain >= 0 else "worse"
    return (
        f"Against 50 ms of drop-tail, the call is {abs(gain):.2f} points {direction}, pages load "
        f"{speed:.1f} times as fast where they load at all, and CoDel uploads {_percent(change)}."
    )


def _byte_limit(view: StudyView) -> str:
    packets = sum(web.completed(view, c, DROPTAIL_21) for c in ("04", "06"))
    in_bytes = sum(web.completed(view, c, cases.DROPTAIL_BYTES) for c in ("04", "06"))
    return (
        f"Counting the 50 ms in bytes instead of packets lets {in_bytes:.0f} pages complete in D04 and "
        f"D06 together, where {packets:.0f} do otherwise."
    )


def _percent(change: float) -> str:
    if abs(change) < 5e-4:
        return "as much"
    return f"{100 * abs(change):.1f} % {'more' if change > 0 else 'less'}"


def summary(view: StudyView) -> PlainTable | None:
    """Return the table of scores, load times and volumes, the best of each marked."""
    try:
        rows = tuple(_row(view, case) for case in CASES)
    except NotRecorded:
        return None
    names = tuple(MANAGER_LABELS[manager] for manager in MANAGERS)
    return PlainTable(
        name="summary",
        title="Who wins where, and at what cost",
        caption="Ours. Bold: best, or as good as best (within 0.1 points, 9.9 % of the time, 1 % of "
        "the volume).",
        headings=("case", "load", *names, *names, *names),
        rows=rows,
        groups=(
            ("", 2),
            ("Score of the call (MOS)", 3),
            ("Median page load time, s", 3),
            ("Upload, MB", 3),
        ),
    )


def _row(view: StudyView, case: str) -> tuple[PlainCell, ...]:
    scores = [voice.scores(view, manager, (case,))[case] for manager in MANAGERS]
    times = [load_time(view, case, manager) for manager in MANAGERS]
    volumes = [volume.volumes(view, manager, (case,))[case] / 1000 for manager in MANAGERS]
    best_score = max(scores)
    known = [time.value for time in times if time.value is not None]
    best_time = min(known) if known else np.inf
    best_volume = max(volumes)
    return (
        PlainCell(case),
        PlainCell(LOADS[case].description),
        *(_cell(f"{v:.2f}", v >= best_score - _SAME_SCORE) for v in scores),
        *(_time(time, lambda v: v <= best_time * (1 + _SAME_TIME)) for time in times),
        *(
            _cell(f"{v:.1f}", v >= best_volume * (1 - _SAME_VOLUME))
            if best_volume
            else PlainCell("–")
            for v in volumes
        ),
    )


def _cell(text: str, is_best: bool) -> PlainCell:  # noqa: FBT001
    return PlainCell(text, "best" if is_best else "")


def _time(time: Estimate, is_best: Callable[[float], bool]) -> PlainCell:
    return _cell(format_estimate(time, 2), time.value is not None and is_best(time.value))
