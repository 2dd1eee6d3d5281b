"""Which conditions of a result a figure or a table can show: a result may hold only some of them.

Source: White 2013 section 4.1.1 for how conditions are put together.
Deviations: if households of a group were not run, those that were stand for it; captions say so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sojourn.studies.distribution import Distribution, mixture, pooled
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import (
    GROUP_LOADS,
    GROUPS,
    LOADS,
    MANAGERS,
    RF_LEVELS,
    Cell,
    Samples,
    point_of,
)


@dataclass(frozen=True)
class Selection:
    """The conditions that were run with each of the managers, so that comparing them is fair."""

    managers: tuple[str, ...]
    loads: dict[Cell, tuple[str, ...]]
    """Households of each cell; cells without any are left out."""

    @classmethod
    def of(cls, view: StudyView) -> Selection:
        """Look up what was run.

        Raises
        ------
        NotRecorded
            If no condition of the document was run.
        """
        managers = tuple(
            manager
            for manager in MANAGERS
            if any(point_of(load, rf, manager) in view.points for load in LOADS for rf in RF_LEVELS)
        )
        loads: dict[Cell, tuple[str, ...]] = {}
        for rf in RF_LEVELS:
            for group in GROUPS:
                found = _complete(view, rf, group, managers)
                if managers and found:
                    loads[rf, group] = found
        if not loads:
            message = "needs conditions of the document"
            raise NotRecorded(message)
        return cls(managers, loads)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Cells with at least one household."""
        return tuple(self.loads)

    def of_group(self, group: str) -> tuple[str, ...]:
        """Households of a group that were run at any level of congestion, in order."""
        found = {load for (_, one), loads in self.loads.items() if one == group for load in loads}
        return tuple(load for load in GROUP_LOADS[group] if load in found)

    def has(self, load: str, rf: str) -> bool:
        """Whether a household was run at a level of congestion."""
        return load in self.loads.get((rf, LOADS[load].group), ())

    @property
    def words(self) -> str:
        """What is missing, as a sentence for captions; empty if nothing is."""
        missing = [
            load
            for load, kind in LOADS.items()
            if any(load not in self.loads.get((rf, kind.group), ()) for rf in RF_LEVELS)
        ]
        return f" Not run at all three levels: {', '.join(missing)}." if missing else ""


def _complete(view: StudyView, rf: str, group: str, managers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        load
        for load in GROUP_LOADS[group]
        if all(point_of(load, rf, manager) in view.points for manager in managers)
    )


def pool(
    view: StudyView, samples: Samples, manager: str, rf: str, loads: Iterable[str]
) -> dict[int, Distribution]:
    """Pool households, by seed: each packet or page weighs the same; some may have none.

    Raises
    ------
    NotRecorded
        If none has any.
    """
    parts = [_known(view, samples, load, rf, manager) for load in loads]
    return {seed: pooled(part[seed] for part in parts if seed in part) for seed in _seeds(parts)}


def mix(
    view: StudyView, samples: Samples, manager: str, cells: Iterable[tuple[str, tuple[str, ...]]]
) -> dict[int, Distribution]:
    """Mix cells of (level of congestion, households), by seed: each cell weighs the same."""
    parts: list[dict[int, Distribution]] = []
    for rf, loads in cells:
        try:
            parts.append(pool(view, samples, manager, rf, loads))
        except NotRecorded:
            continue
    return {seed: mixture(part[seed] for part in parts if seed in part) for seed in _seeds(parts)}


def _known(
    view: StudyView, samples: Samples, load: str, rf: str, manager: str
) -> dict[int, Distribution]:
    """Return the samples of a condition; a condition that was run may have given none."""
    try:
        return samples(view, load, rf, manager)
    except NotRecorded:
        view.require(point_of(load, rf, manager))
        return {}


def _seeds(parts: Iterable[dict[int, Distribution]]) -> list[int]:
    seeds = sorted({seed for part in parts for seed in part})
    if not seeds:
        message = "no samples"
        raise NotRecorded(message)
    return seeds


def repetitions(view: StudyView, point: str, what: str) -> str:
    """Say in a caption what shows the spread over seeds, or that there is none to show."""
    count = len(view.seeds(point))
    return "One seed." if count < 2 else f"{what}: 95 % interval over {count} seeds."


def small_print(view: StudyView, selection: Selection, what: str) -> str:
    """Say how the spread over seeds is shown, and which households are missing."""
    (rf, _), loads = next(iter(selection.loads.items()))
    point = point_of(loads[0], rf, selection.managers[0])
    return repetitions(view, point, what) + selection.words
