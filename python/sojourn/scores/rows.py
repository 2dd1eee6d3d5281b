"""Scores of results and of files, a row each: what `sojourn score` prints, for programs.

Source: see `sojourn.scores.judge`.
Deviations: over runs of a study the mean of their scores, with its interval; of one run or file its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import sojourn._engine as _engine
from sojourn.answers.view import StudyView
from sojourn.scores.judge import Outcome, apdex_of, judge, rating_of
from sojourn.scores.observed import Subject, observed_at, subjects_of
from sojourn.scores.requirement import USES, Requirement, read_requirement, requirement_of
from sojourn.stats.estimate import bounded_mean_of
from sojourn.stats.quantity import Quantity


def score(
    paths: Sequence[str | Path] | str | Path,
    uses: str = "",
    *,
    requirements: Sequence[str | Path] = (),
    loss_as_delay: bool = False,
    telr: float | None = _engine.DEFAULT_TELR,
) -> list[dict[str, Any]]:
    """Score results and files for those who use the line.

    Parameters
    ----------
    paths
        Directories of runs, results of studies, files of measurements.
    uses
        Who counts, with commas, such as `game,call`, which it is if neither this nor a requirement is named.
    requirements
        The user's files of requirements.
    loss_as_delay
        Whether what is lost counts as an endless delay as well.
    telr
        Talker echo loudness rating in dB of those who call; `None` for telephones without echo.

    Returns
    -------
    list
        A row for each subject and score: `of`, `score`, `value`, `low` and `high` (95 %), `decided_by`, `idle`, and how it was measured.

    Raises
    ------
    UsageError
        If a path has nothing to be scored, or a use is not known.
    """
    own = [read_requirement(Path(path)) for path in requirements]
    words = uses or ("" if own else "game,call")
    named = dict.fromkeys(word.strip() for word in words.split(",") if word.strip())
    needs = [*(requirement_of(use) for use in named), *own]
    directions = [one.direction for one in needs]
    return [
        {"path": str(path), "of": subject.name, **row}
        for path in ([paths] if isinstance(paths, str | Path) else paths)
        for subject in subjects_of(Path(path), directions)
        for row in _rows(subject, needs, loss_as_delay=loss_as_delay, telr=telr)
    ]


def qoo(view: StudyView, point: str, subject: str, use: str) -> np.ndarray:
    """Return the Quality of Outcome of an entry at a point of a study, one number for each seed; NaN where nothing was sent.

    A measure of a study asks for it: its module imports this function, and `function = "qoo"` with `arguments = ["game", "game"]` names the
    entry and the use. Runs keep `datagrams`, or `transfers` of a probe.

    Parameters
    ----------
    view, point
        As any function of a study's module gets them.
    subject
        Entry of the scenario.
    use
        A use, such as `game`; or the path of the user's requirement.
    """
    needs = requirement_of(use) if use in USES else read_requirement(Path(use))
    found = observed_at(view.result, point, subject, needs.direction)
    outcomes = {seed: judge(one, needs, interval=False) for seed, one in found.items()}
    values = [outcomes.get(seed) for seed in view.seeds(point)]
    return np.array([math.nan if one is None else one.value for one in values])


def _rows(
    subject: Subject, needs: list[Requirement], *, loss_as_delay: bool, telr: float | None
) -> list[dict[str, Any]]:
    """Return the scores of a subject, one by one."""
    rows: list[dict[str, Any]] = []
    for need in needs:
        outcomes = [
            (one, found)
            for one in subject.observed
            if one.direction == need.direction
            and (found := judge(one, need, loss_as_delay=loss_as_delay, interval=_is_alone(subject)))
        ]
        if not outcomes:
            continue
        first = outcomes[0]
        idle = first[0].idle and judge(first[0].idle, need, loss_as_delay=loss_as_delay, interval=False)
        value, low, high = _over_runs([found for _, found in outcomes])
        flags = dict.fromkeys((*first[0].flags, *first[1].flags))
        decided = first[1].decides if _is_alone(subject) else f"{first[1].decides} (first run)"
        rows.append(
            {
                "score": f"{'strict ' * loss_as_delay}QoO {need.name}",
                "value": value,
                "low": low,
                "high": high,
                "latency": first[1].latency,
                "loss": first[1].loss,
                "throughput": first[1].throughput,
                "decided_by": decided,
                "idle": None if not idle else idle.value,
                "flags": list(flags),
                "method": first[0].method,
                "direction": need.direction,
                "samples": sum(len(one.delay_ms) for one, _ in outcomes),
                "seconds": _seconds(first[0].sent_s),
                "origin": need.origin,
                "sentence": f"{subject.name}: {value:.0f} of 100 for {_article(need.name)}, decided by {decided}.",
            }
        )
    for one in subject.observed[:1] if _is_alone(subject) else []:
        count = len(one.delay_ms)
        uses = {need.name for need in needs}
        if one.direction == "two-way" and uses & {"game", "cloud-game"}:
            rows.append(_plain(f"Apdex {SATISFIED_MS:g} ms", apdex_of(one, SATISFIED_MS), one.method, count))
        if uses & {"call", "video-call"}:
            row = _plain("R (G.107)", rating_of(one, telr), one.method, count)
            rows.append({**row, "flags": [_echo(telr)]})
    if subject.responsiveness is not None:
        found = subject.responsiveness
        row = _plain("RPM", found.value, "draft-ietf-ippm-responsiveness-09", None)
        row["decided_by"] = f"foreign {found.foreign:.0f}, loaded {found.loaded:.0f}"
        rows.append({**row, "flags": [found.confidence]})
    return rows


SATISFIED_MS = 50.0
"""Round trips that satisfy a player. chosen: up to which a game is perfect in its requirement; four times that annoys."""


def _plain(score: str, value: float | None, method: str, samples: int | None) -> dict[str, Any]:
    """Return a score without parts."""
    return {
        "score": score,
        "value": value,
        "low": None,
        "high": None,
        "decided_by": "",
        "idle": None,
        "flags": [],
        "method": method,
        "samples": samples,
        "sentence": f"{score}: {value if value is None else round(value, 3)}.",
    }


def _echo(telr: float | None) -> str:
    """Say which echo a rating counts."""
    if telr is None:
        return "R counts no echo"
    default = " (the default of G.107)" if telr == _engine.DEFAULT_TELR else ""
    return f"R counts an echo of TELR {telr:g} dB{default}; --telr none is without"


def _is_alone(subject: Subject) -> bool:
    return len(subject.observed) <= 1


def _over_runs(found: list[Outcome]) -> tuple[float, float | None, float | None]:
    """Return the mean over runs and its interval; of one run its own."""
    if len(found) == 1:
        return found[0].value, found[0].low, found[0].high
    mean = bounded_mean_of([one.value for one in found], Quantity(0.0, 100.0))
    return mean.value or 0.0, mean.low, mean.high


def _article(name: str) -> str:
    return name if name == "web" else f"a {name.replace('-', ' ')}"


def _seconds(sent: np.ndarray) -> float:
    return float(sent.max() - sent.min()) if len(sent) else 0.0
