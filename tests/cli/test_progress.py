"""Progress of a study where somebody watches it in a notebook."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sojourn.study import progress
from sojourn.study.execute import Finished
from sojourn.study.library import load_study
from sojourn.study.plan import RunOptions, make_plan, only_runs
from support import write_study


class Shown:
    """A bar that remembers what it showed."""

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.words: list[str] = []

    def show(self, share: float, text: str) -> None:
        """Remember what is shown."""
        self.shares.append(share)
        self.words.append(text)


def test_a_notebook_sees_each_run_of_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bar = Shown()
    monkeypatch.setattr(progress, "notebook_bar", lambda: bar)
    plan = make_plan(load_study(str(write_study(tmp_path))), RunOptions(), only_runs)
    watching = progress.StudyProgress("2 threads")
    watching.start(plan, plan.runs)
    entry: Any = SimpleNamespace(statistics={"wall_s": 0.1})
    for run in plan.runs:
        watching.advance(Finished(run, entry))
    assert len(bar.shares) == 1 + len(plan.runs)
    assert bar.shares == sorted(bar.shares)
    assert (bar.shares[0], bar.shares[-1]) == (0.0, 1.0)
    assert "8 of 8 runs, about 0 s left" in bar.words[-1]
