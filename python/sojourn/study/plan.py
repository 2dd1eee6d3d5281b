"""From a study and the user's wishes to a list of runs: points × seeds, each with its key.

The engine checks every scenario here, so that nothing starts before everything is known to be valid.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property

from sojourn.base.errors import Problem, ScenarioError, StudyError, UsageError
from sojourn.base.toml_text import parse_toml
from sojourn.declarations.answers import Measure
from sojourn.scenario.scenario_file import Scenario, check_scenario
from sojourn.study.definition import StudyDefinition
from sojourn.study.expand import Point, expand_all, select
from sojourn.study.library import Study
from sojourn.study.precision import Precision, Stop, felt_measures, is_plain, more_seeds, precision_of_words, unpaired

Check = Callable[[Study, list[Point]], list[Problem]]
"""Says what is wrong with a study and its points."""


def only_runs(_study: Study, _points: list[Point]) -> list[Problem]:
    """Check nothing: for who wants the runs of a study and none of its answers."""
    return []


MOST_RUNS = 10_000_000
"""Runs of a study. chosen: as many take days on any machine, and their list some gigabytes."""

QUICK_TOTAL_S = 20_000.0
"""Simulated seconds of a quick study that names no duration, over all its points.

chosen: the engine simulates a household some thousand times faster than real time, so that this takes a
few seconds on two cores.
"""
QUICK_LONGEST_S = 60.0
"""chosen: long enough for a dozen page loads, whatever the number of points."""
QUICK_SHORTEST_S = 1.0
"""chosen: TCP needs about a second to fill a link of 100 ms round-trip time."""


@dataclass(frozen=True)
class RunOptions:
    """The user's options beyond the study file."""

    points: tuple[str, ...] = ()
    """Patterns; all points if empty."""
    seeds: int | None = None
    """Number of seeds instead of the study's; points that ask for more keep their own."""
    duration: str | None = None
    """Duration of each run instead of the scenario's."""
    quick: bool = False
    precision: str | None = None
    """Precision in words, in place of the study's own."""


@dataclass(frozen=True)
class PlannedPoint:
    """A point whose scenario is valid."""

    point: Point
    scenario: Scenario

    @property
    def scenario_hash(self) -> str:
        """SHA-256 of the canonical scenario."""
        return hashlib.sha256(self.scenario.canonical().encode()).hexdigest()


@dataclass(frozen=True)
class RunLength:
    """How long the runs of a plan are, where not as long as their scenarios say."""

    duration: str | None = None
    is_most: bool = False
    """True if shorter ones stay as they are."""

    def of(self, item: PlannedPoint) -> PlannedPoint:
        """Return a point with runs of that length.

        Raises `UsageError` if no run can have it.
        """
        if self.duration is None:
            return item
        changed = _with_duration(item, self.duration)
        is_shorter = changed.scenario.duration_s < item.scenario.duration_s
        return changed if is_shorter or not self.is_most else item

    @classmethod
    def asked_for(cls, options: "RunOptions", quick: str | None, points: int) -> "RunLength":
        """Return the length of the runs by the user's options; `quick` is the study's own length for `--quick`."""
        if options.duration is not None:
            return cls(options.duration)
        if not options.quick:
            return cls()
        seconds = min(QUICK_LONGEST_S, max(QUICK_SHORTEST_S, QUICK_TOTAL_S / max(1, points)))
        return cls(quick or f"{round(seconds * 1000)} ms", is_most=True)


@dataclass(frozen=True)
class Seeds:
    """The runs of a point: consecutive seeds of one scenario."""

    scenario: Scenario
    first: int
    count: int

    @cached_property
    def keys(self) -> list[str]:
        """Names under which the store keeps them."""
        return self.scenario.keys(self.first, self.count)

    @cached_property
    def canonical(self) -> str:
        """The scenario in canonical form."""
        return self.scenario.canonical()


@dataclass(frozen=True)
class RunSpec:
    """One run to be made."""

    point: str
    seed: int
    together: Seeds = field(repr=False)
    """The runs of its point."""
    keep: frozenset[str] = frozenset()
    """Record tables that are kept of it beside its metrics."""

    @property
    def scenario(self) -> Scenario:
        """Scenario that it simulates."""
        return self.together.scenario

    @property
    def key(self) -> str:
        """Name under which the store keeps it."""
        return self.together.keys[self.seed - self.together.first]


@dataclass(frozen=True)
class Plan:
    """All runs of a study, in the order in which results are written."""

    study: Study
    options: RunOptions
    points: list[PlannedPoint]
    seeds: list[int]
    """Seeds of each point; those that ask for more have more."""
    runs: list[RunSpec]
    reduced: str = ""
    """Difference of the runs from the whole study, such as `quick` or `shortened, changed`;
    empty for the whole study."""
    precision: Precision | None = None
    """Precision that decides the number of further seeds; `None` if the runs are fixed."""
    length: RunLength = RunLength()
    is_anytime: bool = False
    """True if intervals must hold at every number of runs."""
    share: float = 1.0
    """Of the runs that were asked for: less than 1 is a look at what is there so far, which decides nothing."""
    felt: Mapping[str, Measure] = field(default_factory=dict[str, Measure])
    """Measures that must be precise where the study has none: those of its headline."""

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Measures that may have to be precise."""
        return self.felt or self.study.definition.measures

    def grown(self, stops: Mapping[str, Stop]) -> "Plan | None":
        """Return the plan with more seeds for the points that are not precise enough; `None` if no point gets more.

        Parameters
        ----------
        stops
            Where each point stands.
        """
        if self.precision is None:
            return None
        counts = {point: stop.seeds for point, stop in stops.items()}
        more = more_seeds(self.precision, stops)
        if not more:
            return None
        first, definition = self.seeds[0], self.study.definition
        runs = [
            run for item in self.points for run in runs_of(item, first, (counts | more)[item.point.name], definition)
        ]
        _bound(len(self.points), len(runs))
        return replace(self, runs=runs)

    def shard(self, number: int, count: int) -> "Plan":
        """Return the plan of one of several calls that share the runs: points by turns, or runs if points are few.

        Parameters
        ----------
        number
            Which of them, from 0.
        count
            How many they are.
        """
        turns = {item.point.name: turn for turn, item in enumerate(self.points)}
        if len(turns) >= count:
            own = [run for run in self.runs if turns[run.point] % count == number]
        else:
            own = self.runs[number::count]
        return replace(self, runs=own)

    @property
    def simulated_s(self) -> float:
        """Simulated seconds of all runs together."""
        return sum(run.scenario.duration_s for run in self.runs)

    @property
    def warnings(self) -> list[Problem]:
        """Contradictions in scenarios of the points, each once with its points."""
        points: dict[Problem, list[str]] = {}
        for item in self.points:
            for problem in item.scenario.warnings:
                points.setdefault(problem, []).append(item.point.name)
        return [replace(problem, path=f"{_where(names)}: {problem.path}") for problem, names in points.items()]


def make_plan(study: Study, options: RunOptions, check: Check) -> Plan:
    """Decide which runs a study needs.

    Raises `StudyError` if points or their scenarios are not valid; `UsageError` if the options fit no point, or their
    duration is not one.

    Parameters
    ----------
    study
        The study.
    options
        What the user wishes.
    check
        What else has to hold of the study and all its points: `sojourn.answers.checks.unanswerable`, or `only_runs`
        if what the study declares about its answers does not count.
    """
    definition = study.definition
    quick = definition.quick
    patterns = list(options.points) or (list(quick.points) if options.quick else ["*"])
    every, problems = expand_all(definition, study.base, str(study.path))
    # Points that cannot be made would look like labels that no point has.
    problems = problems or check(study, every) or _unquick(study, every)
    chosen = every if problems else select(every, patterns)
    planned, invalid = _validated(study, chosen)
    if problems or invalid:
        raise StudyError(problems + invalid)
    whole = planned
    length = RunLength.asked_for(options, quick.duration, len(planned))
    planned = [length.of(item) for item in planned]
    felt: dict[str, Measure] = {}
    if options.precision is not None and not any(map(is_plain, definition.measures.values())):
        # Points of a study have the same traffic; some are enough to know what is felt.
        felt = felt_measures(parse_toml(item.scenario.canonical()) for item in planned[:LOOKED_AT])
    precision = _precision(options, definition, felt)
    if precision is not None:
        labels = {item.point.name: item.point.labels for item in planned}
        if problems := unpaired(precision, labels, str(study.path)):
            raise StudyError(problems)
        count = precision.least
    else:
        count = options.seeds or (quick.seeds if options.quick else definition.seeds.count)
    _bound(len(planned), sum(max(count, item.point.seeds) for item in planned))
    first = definition.seeds.first
    seeds = list(range(first, first + count))
    runs = [
        run
        for item in planned
        for run in runs_of(item, first, count if options.quick else max(count, item.point.seeds), definition)
    ]
    is_shorter = any(
        item.scenario.duration_s < own.scenario.duration_s for item, own in zip(planned, whole, strict=True)
    )
    is_partial = len(planned) < len(every) or (precision is None and count < definition.seeds.count)
    words = _reduced(options, is_shorter=is_shorter, is_partial=is_partial)
    reduced = ", ".join([*words, "changed"] if study.settings else words)
    is_anytime = precision is not None and precision.rule == "anytime"
    return Plan(study, options, planned, seeds, runs, reduced, precision, length, is_anytime, felt=felt)


LOOKED_AT = 20
"""Points whose traffic is looked at. chosen: studies vary it along an axis with a few values."""


def _precision(options: RunOptions, definition: StudyDefinition, felt: Mapping[str, Measure]) -> Precision | None:
    """Return what has to be how precise; a number of seeds, and a first look, leave it out."""
    if options.precision is not None:
        return precision_of_words(options.precision, felt or definition.measures, definition.precision)
    return None if options.seeds or options.quick else definition.precision


def runs_of(item: PlannedPoint, first: int, count: int, definition: StudyDefinition) -> Iterator[RunSpec]:
    """Yield the runs of a point with `count` seeds."""
    name = item.point.name
    keep = frozenset(table for table in definition.keep if definition.keeps(table, name))
    together = Seeds(item.scenario, first, count)
    return (RunSpec(name, seed, together, keep) for seed in range(first, first + count))


def _bound(points: int, runs: int) -> None:
    """Refuse more runs than can be made.

    Raises `UsageError` if there are.
    """
    if runs > MOST_RUNS:
        raise UsageError(
            f"{points} points with their seeds are {runs} runs", f"at most {MOST_RUNS}: fewer points or seeds"
        )


def _unquick(study: Study, points: list[Point]) -> list[Problem]:
    """Return what is wrong with what the study says about `--quick`, whether it is asked for or not."""
    quick, file = study.definition.quick, str(study.path)
    found = [
        Problem("quick.points", f'no point fits "{pattern}"', file=file)
        for pattern in quick.points
        if not any(fnmatchcase(point.name, pattern) for point in points)
    ]
    if quick.duration is not None and points:
        changed = points[0].with_values({"duration": quick.duration})
        problems = check_scenario(changed.text)
        found += [
            Problem("quick.duration", problem.message, problem.hint, file=file)
            for problem in problems
            if problem.path == "duration"
        ]
    return found


def _reduced(options: RunOptions, *, is_shorter: bool, is_partial: bool) -> list[str]:
    """Say what makes the runs less than the study; what `--quick` does needs no further words."""
    if options.quick:
        return ["quick"]
    return ["shortened"] * is_shorter + ["partial"] * is_partial


def _validated(study: Study, points: list[Point]) -> tuple[list[PlannedPoint], list[Problem]]:
    """Return the points whose scenarios are valid, and what is wrong with the others."""
    planned: list[PlannedPoint] = []
    met: dict[tuple[str, str, str], list[str]] = {}
    for point in points:
        try:
            planned.append(PlannedPoint(point, Scenario.parse(point.text)))
        except ScenarioError as error:
            for problem in error.problems:
                place, message = _place(point, problem)
                met.setdefault((place, message, problem.hint), []).append(point.name)
    return planned, [
        Problem(path, f"{message} ({_where(names)})", hint, file=str(study.path))
        for (path, message, hint), names in met.items()
    ]


def _place(point: Point, problem: Problem) -> tuple[str, str]:
    """Return where to mend a problem, and its message: an axis says more than the key it varies."""
    for key, place in point.keys.items():
        if problem.path == key or problem.path.startswith(f"{key}."):
            return place, f"{problem.path}: {problem.message}"
    return problem.path, problem.message


def _where(names: list[str]) -> str:
    first = f"point {names[0]}"
    return first if len(names) == 1 else f"{first} and {len(names) - 1} more"


def _with_duration(item: PlannedPoint, duration: str) -> PlannedPoint:
    point = item.point.with_values({"duration": duration})
    try:
        return PlannedPoint(point, Scenario.parse(point.text))
    except ScenarioError as error:
        first = error.problems[0]
        raise UsageError(f"duration {duration}: {first.message}", first.hint) from error
