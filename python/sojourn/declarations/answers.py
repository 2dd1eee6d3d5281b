"""Answers of a study file: measures, claims, tables, winners, headlines, figures.

Everything here is data. A *measure* is a number of a point; a *value* asks a measure of points that
labels select, groups it and combines it; claims, headlines and figures name measures and values. What
data cannot say is a function of the study's module, named where it is needed.

Source: the words are those of docs/reference/study-file.md.
Deviations: none.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sojourn.declarations.base import LabelValue, Number, Strict, Where
from sojourn.declarations.figures import AnyFigure

Aggregate = Literal["mean", "median", "min", "max", "sum"]
Limit = int | float | str
"""A limit: a number, or the name of a value such as `late` or `late.08`."""


class LabelWords(Strict):
    """How a value of a label is called."""

    name: str = ""
    """In lists of numbers and in rows; the value itself if left out."""
    title: str = ""
    """In words, where there is room."""
    short: str = ""
    """In words, for legends and narrow places."""
    look: str = ""
    """Colour, dash and marker, see the looks of plots; that of the value itself if left out."""
    needs: str = ""
    """Condition of a setting, a sentence. Below a headline whose winner has one stand it and its nearest rival; the values of such a label stand in the order of their changes."""


class Measure(Strict):
    """A number of a point: exactly one of `metric`, `samples`, `series`, `function`, `occupied`, or one made of other measures.

    Those are `by_label`, `difference`, `ratio`, `distance` and `order`.
    """

    subject: str = ""
    """Traffic entry or link, as in the metrics."""
    metric: str = ""
    """Metric of a run, such as `delay_p99`."""
    per: str = ""
    """A second metric that divides the first, of the same subject unless `per_subject` names another."""
    per_subject: str = ""
    """Traffic entry whose metric (`per`, or the same) divides: the ratio of two."""
    jain: list[str] = Field(default_factory=lambda: list[str]())
    """Traffic entries among which the metric is shared: the number is Jain's index of fairness, 1 if all get the same."""
    capacity: Literal["", "upstream", "downstream"] = ""
    """A rate as a share of what this link can carry, in percent, headers included."""
    samples: Literal["", "delay", "load-time", "round-trip", "probe"] = ""
    """Distribution over packets, pages or what a probe measured; needs `quantile`, `share_below`, `mean` or `trimmed`.

    Round trips are the delays of both directions of the subject, taken as independent.
    """
    lane: Annotated[int, Field(ge=0, le=2)] = 0
    """Of a probe: 0 echoes or handshakes, 1 questions over new connections, 2 questions over the kept one."""
    window: Annotated[list[Number], Field(max_length=2)] = Field(default_factory=lambda: list[Number]())
    """Seconds of the run in which a probe's sample begins: from, and until; all if left out."""
    every: Annotated[int, Field(ge=1)] = 1
    """Of a probe: this many samples apart, as a slower one has them."""
    direction: Literal["upstream", "downstream"] = "upstream"
    """Direction of the samples."""
    quantile: Annotated[float | None, Field(ge=0, le=1)] = None
    """Quantile of the samples, from 0 to 1."""
    share_below: Number | None = None
    """Share of the samples below this value."""
    mean: bool = False
    """The mean of `samples`."""
    trimmed: Annotated[float | None, Field(gt=0, lt=0.5)] = None
    """Their mean without this share at either end: of a quarter, the interquartile mean."""
    series: str = ""
    """Function of the study's module that takes the bins of a link and returns a number."""
    link: str = "upstream"
    """Link that it is about: `upstream`, `downstream` or a name."""
    function: str = ""
    """Function of the study's module that takes the result and a point and returns numbers by seed."""
    occupied: Annotated[int | None, Field(ge=0)] = None
    """Share of the time with at least this many packets in the queue of `link`, all seeds together."""
    arguments: list[LabelValue] = Field(default_factory=lambda: list[LabelValue]())
    """Passed to the function after its own."""
    by_label: dict[str, dict[str, str]] = Field(default_factory=lambda: dict[str, dict[str, str]]())
    """A label, and for each of its values the measure that this one is at points with it."""
    difference: Annotated[list[str | int | float], Field(max_length=2)] = Field(
        default_factory=lambda: list[str | int | float]()
    )
    """Two measures or numbers: the first less the second, run by run."""
    ratio: Annotated[list[str | int | float], Field(max_length=2)] = Field(
        default_factory=lambda: list[str | int | float]()
    )
    """The first over the second."""
    distance: Annotated[list[str | int | float], Field(max_length=2)] = Field(
        default_factory=lambda: list[str | int | float]()
    )
    """How far the first is from the second, whichever is larger, as a share of the second."""
    order: Annotated[list[str], Field(max_length=2)] = Field(default_factory=list)
    """Two measures: of how many pairs of points one run of each gives the order by the first that they have by the second
    over all runs. Pairs that differ by less than `relative` and `absolute` of the second do not count."""
    among: list[str] = Field(default_factory=list)
    """Labels in which the points of these pairs differ; all others are those of the point that is asked."""
    at: Where = Field(default_factory=dict)
    """Asked at the point that differs in these labels instead."""
    where: Where = Field(default_factory=dict)
    """Points that it is for, by label."""
    cells: list[str] = Field(default_factory=list)
    """Labels of which each combination weighs the same, however many samples it has."""
    weights: dict[str, Number] = Field(default_factory=lambda: dict[str, Number]())
    """Weights of cells, by the value of the first of `cells`; 1 if not named."""
    pooled: list[str] = Field(default_factory=lambda: list[str]())
    """Further labels that may differ between the points of one number: those of a cell are put together."""
    mixed_first: bool = False
    """Directions are mixed over the cells before they make round trips, as docsis-ns3 does."""
    above_least: bool = False
    """Distances from the smallest sample of all: delay variation."""
    seeds: Literal["mean", "median", "min", "max", "variation"] = "median"
    """How one number is made of several seeds; the variation is their standard deviation as a share of their mean."""
    missing: Literal["unknown", "never"] = "unknown"
    """Meaning of a run without the number: unknown, or more than the length of the run."""
    absent: Number | None = None
    """Value at points without the subject; left out, such points lack the number."""
    times: Number = 1
    """Factor that numbers are multiplied with."""
    per_second: bool = False
    """Divided by the length of the run."""
    # How it is written, and when two of it are as good as equal.
    title: str = ""
    """Words for the measure."""
    unit: str = ""
    """Unit of the numbers, such as `ms`."""
    decimals: int = 2
    """Digits behind the point; by the size of the numbers if left out."""
    better: Literal["less", "more"] = "less"
    """`lower` or `higher`; as known of the metric if left out."""
    relative: Number = 0
    """Differences that count as none, as a share of the best."""
    absolute: Number = 0
    """The same in the unit."""
    compared: Literal["", "difference", "ratio"] = ""
    """How two of it are compared; left out, times by their ratio and all else by the difference."""
    whole_from: Number | None = None
    """Numbers from here on are written without decimals."""


class Value(Strict):
    """One number, or one per group: of a measure, or made of other values of the same claim."""

    measure: str = ""
    """Name of a measure."""
    where: Where = Field(default_factory=dict)
    """Points by label; a label given as a list makes groups."""
    points: dict[str, str] = Field(default_factory=dict)
    """Points by name instead, each under the name of its group."""
    by: list[str] | None = None
    """Labels that make the groups, the slowest first; the listed ones of `where` if left out."""
    name: str = ""
    """How a group is called, such as `"{load} {rf}"`; the names of its labels if left out."""
    across: Aggregate | None = None
    """How one number is made of several points of a group."""
    over: Aggregate | None = None
    """How one number is made of all groups."""
    seeds: Literal["", "mean", "median", "min", "max"] = ""
    """As of the measure, if not as that says."""
    versus: Where = Field(default_factory=dict)
    """Points that each group is compared with, in pairs of runs with the same seed: labels that differ from `where`."""
    compared: Literal["", "difference", "ratio"] = ""
    """How they are compared; as of the measure, if not as that says."""
    end: Literal["", "low", "high"] = ""
    """An end of the 95 % interval over seeds, or over pairs, in place of the number itself."""
    times: Number = 1
    """Factor that numbers are multiplied with."""
    plus: Number = 0
    """Number that is added."""
    log: bool = False
    """Its natural logarithm, taken first; unknown of what is not above zero."""
    absolute: bool = False
    """Without its sign."""
    of: str = ""
    """Another value, to reduce with `over` or to choose from with `only`."""
    only: list[str] = Field(default_factory=list)
    """Names of the groups that count; all if left out."""
    ratio: Annotated[list[str], Field(max_length=2)] = Field(default_factory=list)
    """Two values: the first over the second, group by group."""
    difference: Annotated[list[str], Field(max_length=2)] = Field(default_factory=list)
    """Two named numbers: the first less the second."""
    sum: list[str] = Field(default_factory=list)
    """Named numbers that are added."""
    finite: bool = False
    """True if groups that never came or are unknown are left out."""
    together: dict[str, str] = Field(default_factory=dict)
    """Other values as the groups of one, by the name of the group."""
    slope: str = ""
    """Value whose slope over `against` is taken, by least squares."""
    fit: str = ""
    """The same for R² of the line."""
    against: list[Number] = Field(default_factory=lambda: list[Number]())
    """Numbers of the horizontal axis of a fit, by group."""
    function: str = ""
    """Function of the study's module that takes the asker and returns a number or numbers by name."""


class Condition(Strict):
    """Condition on a value: on each of its groups, or on `in_at_least` of them."""

    value: str = ""
    """A value, or one group of it such as `late.08`."""
    name: str = ""
    """For texts: which groups meet it."""
    at_least: Limit | None = None
    """Holds from this number on."""
    at_most: Limit | None = None
    """Holds up to this number."""
    above: Limit | None = None
    """Holds above this number."""
    below: Limit | None = None
    """Holds below this number."""
    factor: Number = 1
    """Multiplies a limit that is a value."""
    near: Limit | None = None
    """The middle of a range, with `within`."""
    within: Number | None = None
    """Holds between these two numbers."""
    within_share: Number | None = None
    """Holds within this share of the other number."""
    only: list[str] = Field(default_factory=list)
    """Names of the groups that count; all if left out."""
    besides: list[str] = Field(default_factory=list)
    """Groups that the condition is not for."""
    in_at_least: Annotated[int | None, Field(ge=1)] = None
    """How many groups have to meet it; all if left out."""
    rising: list[str] = Field(default_factory=list)
    """Values, each below the next; one grouped value means its groups in their order."""
    not_falling: list[str] = Field(default_factory=list)
    """Values, none above the next."""
    any_of: list[Condition] = Field(default_factory=lambda: list[Condition]())
    """Conditions of which one is enough, or as many as `in_at_least` says."""


class ClaimDefinition(Strict):
    """One testable statement, and how it is judged: by conditions, a function, or a test."""

    identifier: str
    """Name of the claim, such as `W12-66`."""
    statement: str
    """The claim in words."""
    where: str = ""
    """Section, table or figure of the document."""
    use: Literal["gate", "unit", "report", "context"] = "report"
    """`gate` (must hold), `unit` (held by a test), `report` (shown) or `context`."""
    trust: str = ""
    """How far the print can be believed, A to D; empty if nothing is printed."""
    criterion: str = ""
    """Criterion of a reproduced claim, in words."""
    values: dict[str, Value] = Field(default_factory=dict)
    """Named numbers that are asked of the result."""
    holds: list[Condition] = Field(default_factory=lambda: list[Condition]())
    """Conditions, all of which have to hold."""
    ours: str = ""
    """Result in words, with `{value}`; all values if left out."""
    note: str = ""
    """Words beside it, with `{value}`."""
    seconds: Number = 0
    """Shortest runs that can judge it; without it, a run that is cut short leaves it to the whole study."""
    seeds: Annotated[int, Field(ge=1)] = 1
    """Fewest runs of each point that can judge it."""
    function: str = ""
    """Function of the study's module that judges instead."""
    instead: dict[str, str] = Field(default_factory=dict)
    """Measures, and those to judge by a second time in their place; said if that decides otherwise."""
    instead_words: str = ""
    """Difference of the second time, such as `without the delay`."""
    all_of: list[str] = Field(default_factory=list)
    """Claims that have to hold."""
    not_run: str = ""
    """Why no run of this study can judge it."""


class Assumption(Strict):
    """A value that the document does not give."""

    what: str
    """The assumption."""
    value: str
    """The value, with its unit."""
    origin: Literal["documented", "chosen", "fitted"]
    """`documented` elsewhere or following from the text, `chosen` for a reason, or `fitted`: taken because
    printed results then match, so that such a match confirms nothing."""
    reason: str
    """Why this value."""


class Headline(Strict):
    """A finding in a sentence with `{value}`, or a function of the study's module that says it."""

    text: str = ""
    """Sentence in which each number and name is a placeholder: a value, `{call.mos}`, `{traffic}`, a label, a scenario key."""
    values: dict[str, Value] = Field(default_factory=dict)
    """Named numbers that are asked of the result."""
    seconds: Number = 0
    """Shortest runs that can say it."""
    printed: dict[str, Number] = Field(default_factory=lambda: dict[str, Number]())
    """Numbers that the document prints, for `{printed.NAME}`."""
    function: str = ""
    """Function of the study's module that makes it."""


class Winners(Strict):
    """Table of winners: the values of one label compete, in each combination of others."""

    compare: str
    """Label whose values compete."""
    measures: list[str]
    """In the order of the table."""
    rows: list[str]
    """Labels that make the rows."""
    columns: str = ""
    """Label that makes groups of columns, with one row per measure; left out, measures are the groups."""
    where: Where = Field(default_factory=dict)
    """Labels of the points that it is about, with their values; all points if left out."""
    title: str = "Who wins where, and at what cost"
    """Heading, as readers see it."""
    caption: str = ""
    """Sentence below it."""
    seeds: Literal["", "mean", "median"] = ""
    """How one number is made of several seeds, if not as the measures say."""
    intervals: bool = False
    """True if half the width of the interval stands below each number."""
    headings: list[str] = Field(default_factory=list)
    """Over the first columns; the labels if left out."""


class NumbersColumn(Strict):
    """One column of a table of numbers."""

    measure: str
    """Name of a measure."""
    title: str
    """Heading, as readers see it."""
    heading: str = ""
    """Heading over it and its neighbours with the same."""
    decimals: int | None = None
    """Digits behind the point; by the size of the numbers if left out."""


class NumbersTable(Strict):
    """A table of our own numbers: a row per point, or per group of points."""

    name: str
    """Name in links and in file names."""
    title: str
    """Heading, as readers see it."""
    caption: str = ""
    """`{spread}` says how the spread over seeds is shown."""
    where: Where = Field(default_factory=dict)
    """Labels of the points that it is about, with their values; all points if left out."""
    beyond: Where = Field(default_factory=dict)
    """Points that are left out, by label."""
    rows: list[str] = Field(default_factory=list)
    """Labels whose combinations are the rows; one row per point if left out."""
    views: list[list[str]] = Field(default_factory=lambda: list[list[str]]())
    """Labels of which each list makes rows of mixed points, with a row per value of `compare` each."""
    compare: str = ""
    """Label whose values get rows of their own."""
    names: list[str] = Field(default_factory=list)
    """Templates of the first columns: `{load}`, `{load_title}`, `{load_short}`, `{point}`."""
    headings: list[str] = Field(default_factory=list)
    """Headings over them."""
    columns: list[NumbersColumn]
    """Columns, one by one."""
    samples: bool = False
    """True if a last column counts the samples of distributions."""


class PrintedColumn(Strict):
    """One column of a printed table."""

    measure: str
    """Name of a measure."""
    printed: str
    """Column of the printed file."""
    title: str
    """Heading, as readers see it."""
    metric: str = ""
    """As in the tolerances; the name of the measure if left out."""
    spread: str = ""
    """Column of the printed file with the standard deviation over its runs, for rules with `deviations`."""
    unit: str | None = None
    """Unit of the numbers, such as `ms`."""
    bound: str = ""
    """Sign of prints that are only a bound, where `bound_if` says so."""
    bound_if: str = ""
    """Column of the printed file that is 1 then."""
    decimals: int = 0
    """Least decimals of simulated values."""
    heading: str = ""
    """Heading over it; the title of its group if left out."""
    seeds: Literal["", "mean", "median"] = ""
    """How one number is made of several seeds, if not as the measure says."""


class PrintedGroup(Strict):
    """Columns of a printed table that show the same points."""

    where: Where = Field(default_factory=dict)
    """Points by label."""
    against: Where = Field(default_factory=dict)
    """Points that these are compared with, by `compare`."""
    compare: Literal["", "difference", "ratio"] = ""
    """Label whose values stand beside each other."""
    title: str = ""
    """Heading, as readers see it."""
    name: str = ""
    """How tolerances and files call its points; the last value of `where` if left out."""
    printed: str
    """File of printed values, relative to the study file."""
    match: dict[str, str] = Field(default_factory=dict)
    """Columns of the file and what its rows say there, with `{row}` for the name of the row."""
    case: str = "{row}"
    """How a cell is called in files."""
    columns: list[PrintedColumn]
    """Columns, one by one."""


class RatedColumn(Strict):
    """Words for a number: each ends at a limit, the last has none."""

    measure: str
    """Name of a measure."""
    title: str
    """Heading, as readers see it."""
    metric: str = ""
    """As files call it; the name of the measure if left out."""
    match: dict[str, str] = Field(default_factory=dict)
    """Labels of the points of the column or row."""
    words: list[str] = Field(min_length=2)
    """From the best."""
    limits: list[Number]
    """Ends of all words but the last, in ascending order; a limit belongs to the better word."""
    claim: str = ""
    """Claim that its cells are judged by."""
    trust: str = "B"
    """How far the print can be believed, A to D."""
    decimals: int = 1
    """Digits behind the point; by the size of the numbers if left out."""


class RatedRow(Strict):
    """A row of a table of words."""

    label: str
    """Name of the row."""
    description: str = ""
    """Words behind the name."""
    case: str
    """Case of the printed table."""
    name: str
    """How files call its points."""
    where: Where
    """Labels of the points that it is about, with their values; all points if left out."""
    match: dict[str, str]
    """Labels of the points of the column or row."""


class RatedTable(Strict):
    """A printed table of words, such as `good` and `poor`, beside the words that ours deserve."""

    item: str
    """Name in the report, in links and in file names."""
    title: str
    """Heading, as readers see it."""
    caption: str = ""
    """Sentence below it."""
    heading: str = ""
    """Heading of the first column."""
    printed: str
    """File of printed words, relative to the study file."""
    word: str
    """Its column with the words."""
    complete: str = ""
    """Label of which all values have to be run for a point to count."""
    where: Where = Field(default_factory=dict)
    """Labels of the points that it is about, with their values; all points if left out."""
    columns: list[RatedColumn]
    """Columns, one by one."""
    rows: list[RatedRow]
    """Rows, one by one."""


class PrintedTable(Strict):
    """A printed table, to be set beside ours cell by cell."""

    item: str
    """Name in the report, in links and in file names."""
    title: str
    """Heading, as readers see it."""
    caption: str = ""
    """Sentence below it."""
    rows: str
    """Label whose values are the rows."""
    where: Where = Field(default_factory=dict)
    """Labels of the points that it is about, with their values; all points if left out."""
    row_label: str = "{row}"
    """Label whose values are the rows."""
    groups: list[PrintedGroup] = Field(min_length=1)
    """Groups of columns."""
    seconds: Number = 0
    """Length of the printed runs."""
    reference: str = ""
    """Whose values its files hold if they are not printed, such as `the authors' program`: a second reference, whose cells
    are judged and counted by themselves."""


class Pool(Strict):
    """Homes of one name pooled: `caller/1/call` to `caller/40/call` are `caller/*/call` in the summary."""

    metrics: Annotated[list[str], Field(min_length=1)] = Field(default_factory=lambda: ["*"])
    """Patterns of the metrics that are put together."""
    quantiles: list[Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=lambda: [0.5, 0.9])
    """Over homes, beside their mean: 0.9 makes `caller/*/call p90`."""
    over: dict[str, Number] = Field(default_factory=dict)
    """By metric a limit: how many homes are above it, %, makes `caller/*/call over 50 ms`."""
    keep: list[str] = Field(default_factory=list)
    """Patterns of homes' subjects that keep rows of their own; those of measures do."""


class Declarations(Strict):
    """The part of a study file that says what to make of the runs."""

    include: list[str] = Field(default_factory=list)
    """Further files of the folder whose tables belong to this one."""
    module: str = ""
    """Python file of the folder with the functions that are named elsewhere."""
    notes: str = ""
    """Markdown file of the folder that ends the report."""
    tolerances: str = ""
    """File of the folder with the rules that judge printed cells."""
    labels: dict[str, dict[str, LabelWords]] = Field(default_factory=dict)
    """Names and titles of the values of labels."""
    compare: str = ""
    """Label whose values compete in the headline; found by what varies if left out."""
    baseline: str = ""
    """Value of that label which the others are measured by; `today`, `drop-tail` or the first if left out."""
    feels: list[str] = Field(default_factory=list)
    """Applications (`"call"`) or traffic entries that the headline is about; all if left out."""
    at: dict[str, str | int | float] = Field(default_factory=dict)
    """Values of labels that the headline is about (`{ rtt = "20 ms" }`); ranges over all conditions if left out."""
    measures: dict[str, Measure] = Field(default_factory=dict)
    """Named numbers of a point, with which tables, figures and claims work."""
    pool: Pool | None = None
    """Puts homes of one name together; each is a subject of the summary if left out."""
    claim: list[ClaimDefinition] = Field(default_factory=lambda: list[ClaimDefinition]())
    """Statements that are judged."""
    tests: dict[str, str] = Field(default_factory=dict)
    """Claims that a test of the project holds, as `file::test`."""
    table: list[PrintedTable] = Field(default_factory=lambda: list[PrintedTable]())
    """Tables beside printed numbers."""
    rated: list[RatedTable] = Field(default_factory=lambda: list[RatedTable]())
    """Tables of words for numbers."""
    winners: Winners | None = None
    """Table that says who wins."""
    numbers: list[NumbersTable] = Field(default_factory=lambda: list[NumbersTable]())
    """Tables of numbers."""
    headline: list[Headline] = Field(default_factory=lambda: list[Headline]())
    """Sentences that the report begins with."""
    assumption: list[Assumption] = Field(default_factory=lambda: list[Assumption]())
    """Assumptions of the study, with their reasons."""
    figure: list[AnyFigure] = Field(default_factory=lambda: list[AnyFigure]())
    """Figures of the report."""


def declares_answers(own: Declarations) -> bool:
    """Return whether a study says anything about its answers; the report of one that does not is the general one."""
    lists = (own.claim, own.table, own.rated, own.numbers, own.headline, own.figure)
    return bool(own.module or own.measures or own.winners or any(lists))
