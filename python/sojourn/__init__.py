"""Sojourn: a latency-under-load laboratory for access networks.

The command line is `sojourn`; this package is the same thing for programs and notebooks:

>>> import sojourn
>>> sorted(sojourn.__all__)[:3]
['Advice', 'Live', 'Packet']

Importing it is cheap: each part is loaded when it is used.
"""

from sojourn.version import VERSION as __version__

TYPE_CHECKING = False  # as type checkers read it; the module typing would take half of the start
if TYPE_CHECKING:
    from typing import Any

    from sojourn.advice.answer import Advice, advise
    from sojourn.api.result import StudyResult, load_result
    from sojourn.api.run import Run, run
    from sojourn.api.study import Study
    from sojourn.base.errors import Problem, RecordError, RunError, ScenarioError, SojournError, StudyError
    from sojourn.calibration.calibrate import calibrate
    from sojourn.plugins.in_process import Packet, QueueManager, add_manager
    from sojourn.scenario.scenario_file import Scenario, load_scenario
    from sojourn.scores.rows import score
    from sojourn.serve.live import Live, live


__all__ = [
    "Advice",
    "Live",
    "Packet",
    "Problem",
    "QueueManager",
    "RecordError",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "SojournError",
    "Study",
    "StudyError",
    "StudyResult",
    "__version__",
    "add_manager",
    "advise",
    "calibrate",
    "live",
    "load_result",
    "load_scenario",
    "run",
    "score",
]

_HOMES = {
    "Advice": "sojourn.advice.answer",
    "advise": "sojourn.advice.answer",
    "Problem": "sojourn.base.errors",
    "RecordError": "sojourn.base.errors",
    "RunError": "sojourn.base.errors",
    "ScenarioError": "sojourn.base.errors",
    "SojournError": "sojourn.base.errors",
    "StudyError": "sojourn.base.errors",
    "Packet": "sojourn.plugins.in_process",
    "QueueManager": "sojourn.plugins.in_process",
    "add_manager": "sojourn.plugins.in_process",
    "calibrate": "sojourn.calibration.calibrate",
    "Run": "sojourn.api.run",
    "run": "sojourn.api.run",
    "Scenario": "sojourn.scenario.scenario_file",
    "load_scenario": "sojourn.scenario.scenario_file",
    "score": "sojourn.scores.rows",
    "Live": "sojourn.serve.live",
    "live": "sojourn.serve.live",
    "Study": "sojourn.api.study",
    "StudyResult": "sojourn.api.result",
    "load_result": "sojourn.api.result",
}


def __dir__() -> list[str]:
    """Name all parts, loaded or not, for tab completion."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> "Any":  # noqa: ANN401 - any public object may come back
    """Load a part of the package when it is first used."""
    if name not in _HOMES:
        message = f"module 'sojourn' has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
