"""What a study file says about its figures: one table per figure, of a kind each.

Source: the words are those of docs/reference/study-file.md.
Deviations: none.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sojourn.declarations.base import Number, Strict, Where

__all__ = [
    "AgreementFigure",
    "AnyFigure",
    "AxisDefinition",
    "CdfFigure",
    "DistributionFigure",
    "DotPanel",
    "DotsFigure",
    "FacetFigure",
    "FigureBase",
    "FunctionFigure",
    "HeatmapFigure",
    "Lane",
    "RatioFigure",
    "RuleDefinition",
    "SeriesPanel",
    "SeriesTrace",
    "ShareFigure",
    "StackFigure",
    "SwarmFigure",
    "SweepFigure",
    "TimeSeriesFigure",
    "TimelineFigure",
    "TradeoffFigure",
]

Scale = Literal["linear", "log"]


class RuleDefinition(Strict):
    """A reference line at `x` or at `y`, or only words there, if both are given."""

    x: Number | None = None
    y: Number | None = None
    label: str = ""
    look: str = "reference"


class AxisDefinition(Strict):
    """An axis of numbers; what is left out is that of the measure, or follows from the data."""

    quantity: str = ""
    unit: str | None = None
    scale: Scale = "linear"
    low: Number | None = None
    high: Number | None = None
    headroom: Number | None = None
    """The axis ends at this multiple of the largest value."""
    floor: Number | None = None
    """Smaller values are drawn here."""
    ticks: list[Number] = Field(default_factory=lambda: list[Number]())
    tick_labels: list[str] = Field(default_factory=list)
    """How `ticks` are labelled; as numbers if left out."""
    rules: list[RuleDefinition] = Field(default_factory=lambda: list[RuleDefinition]())


class FigureBase(Strict):
    """What all figures have.

    In `caption`, `{spread}` says how the spread over seeds is shown.
    """

    item: str
    title: str = ""
    caption: str = ""
    description: str = ""
    """Text alternative: what a reader who cannot see it should know."""
    group: Literal["overview", "printed", "delay"] = "printed"
    """Section of the report."""
    width: Number = 180
    height: Number | None = None
    """Millimetres; what the rows need if left out."""
    columns: int | None = None


class FacetFigure(FigureBase):
    """A figure with a panel for each value of a label, or for each combination of several."""

    facet: str | list[str] = ""
    """Labels that make panels beside each other."""
    where: Where = Field(default_factory=dict)

    @property
    def facets(self) -> list[str]:
        """Labels that make panels, the slowest first."""
        return [self.facet] if isinstance(self.facet, str) and self.facet else list(self.facet)


Scales = Literal["shared", "own"]
"""Whether panels that show one measure have one scale, so that eyes compare them, or each its own."""


class FunctionFigure(FigureBase):
    """Drawn by a function of the study's module."""

    kind: Literal["function"] = "function"
    function: str


class Lane(Strict):
    """One of the things that a dot plot compares within a row."""

    where: Where
    look: str
    label: str


class DotPanel(AxisDefinition):
    """One panel of a dot plot."""

    measure: str
    title: str = ""
    """Over the panel; of a facet, `{title}` and `{short}` are words for its value."""
    seeds: Literal["", "mean", "median"] = ""
    printed: str = ""
    """Metric of printed tables whose values stand beside ours."""
    printed_in: list[str] = Field(default_factory=list)
    """These tables, the first that has it."""


class DotsFigure(FigureBase):
    """Rows of dots: each row a value of labels, each lane a competitor."""

    kind: Literal["dots"]
    rows: list[str]
    row: str = "{name}: {title}"
    """How a row is called; of several labels, `{load}` is the name of a value."""
    lanes: str | list[Lane]
    """Label whose values compete, or what competes, one by one."""
    where: Where = Field(default_factory=dict)
    complete: Literal["", "all", "any"] = ""
    """Rows shown: all, those run with `all` competitors, or with `any`."""
    facet: str = ""
    """Label that makes a panel for each of its values."""
    panels: list[DotPanel] = Field(min_length=1)


class SwarmFigure(FigureBase):
    """Each competitor a row, each point a small mark, their mean a large one; a panel per facet."""

    kind: Literal["swarm"]
    lanes: str
    facet: str
    strata: str
    """Label whose values stand above each other within a row."""
    where: Where = Field(default_factory=dict)
    panel: DotPanel


class DistributionFigure(FigureBase):
    """Cumulative distributions, one curve per competitor, in panels by label."""

    kind: Literal["distribution"]
    measure: str
    """One with `samples`."""
    lanes: str
    where: Where = Field(default_factory=dict)
    views: list[list[str]] = Field(default_factory=lambda: [[]])
    """For each column of panels the labels that make its panels; two labels of one view make a grid."""
    facet_title: list[str] = Field(default_factory=list)
    """Template of the titles of the panels, for each view."""
    axis: AxisDefinition
    whole_units: bool = False
    """Rounded up to whole units before they are drawn."""
    tail: Annotated[float | None, Field(gt=0, lt=1)] = None
    """Share above each value instead, on a logarithmic axis that is labelled with quantiles and ends here."""
    counts: bool = False
    """Whether each panel says of how many samples its curves are made."""


class SeriesTrace(Strict):
    """One curve over time."""

    point: str
    value: str = "rate"
    """`rate`, `delay`, `backlog`, or a function of the study's module."""
    link: str = "upstream"
    look: str = ""
    label: str = ""
    weight: Literal["thin", "normal", "bold"] = "normal"
    band: Literal["", "seeds", "bins"] = ""
    """Area around it: lowest to highest of the seeds, or of the bins that `per` puts together."""
    band_label: str = ""
    per: Number | None = None
    """Seconds that are averaged."""


class SeriesPanel(AxisDefinition):
    """One panel of curves over time."""

    title: str = ""
    until: Number | None = None
    """Seconds; the whole run if left out."""
    traces: list[SeriesTrace]


class TimeSeriesFigure(FigureBase):
    """Rates, delays and queues over time; the first seed is drawn."""

    kind: Literal["timeseries"]
    panels: list[SeriesPanel] = Field(min_length=1)
    share_x: bool = False
    share_y: bool = False
    legend: bool = True


class StackFigure(FacetFigure):
    """Where the delay goes: bars by cause, a row per value of a label, a panel per facet."""

    kind: Literal["stack"]
    subject: str
    direction: Literal["upstream", "downstream", "round-trip"] = "upstream"
    """One way, or both summed."""
    rows: str
    causes: dict[str, str] = Field(default_factory=dict)
    """How causes are called, in the order in which a packet meets them."""
    leave_out: list[str] = Field(default_factory=list)
    """Causes that are not drawn, and count in no sum."""


class SweepLine(Strict):
    """One curve of a sweep."""

    measure: str
    look: str = ""
    label: str = ""


class SweepPanel(AxisDefinition):
    """Panels of a sweep that show the same measures, one per facet."""

    lines: list[SweepLine]
    title: bool = False
    """Whether the name of the facet stands above; it does above the first panels if none says so."""


class SweepFigure(FacetFigure):
    """Measures over the values of a label, in equal steps."""

    kind: Literal["sweep"]
    over: str
    quantity: str = ""
    """What the values of the label are, with their unit; the label itself if left out."""
    mark: str = ""
    """Value of the label to draw a line at."""
    lanes: str = ""
    """Label whose values are curves; each panel then shows one measure."""
    scales: Scales = "shared"
    panels: list[SweepPanel] = Field(min_length=1)


class AgreementPanel(Strict):
    """Printed against ours, for some metrics."""

    metrics: list[str]
    quantity: str
    unit: str
    scale: Scale = "linear"
    floor: Number | None = None
    times: Number = 1
    besides_zero: bool = False
    """Whether prints of 0 are left out."""


class AgreementFigure(FigureBase):
    """Every printed number of the study's tables against ours."""

    kind: Literal["agreement"]
    panels: list[AgreementPanel] = Field(min_length=1)


class ShareFigure(FacetFigure):
    """Who gets how much: a bar per value of a label, made of measures, with Jain's index of fairness at its end."""

    kind: Literal["share"]
    of: list[str] = Field(min_length=2)
    """Measures of one unit: what each gets."""
    rows: str
    """Label whose values are the bars."""
    amounts: bool = False
    """Bars as long as the sum, in the unit of the measures, instead of shares in percent."""


class HeatmapFigure(FacetFigure):
    """A measure over two labels: a cell for each pair of values, the darker the larger, with its number."""

    kind: Literal["heatmap"]
    measure: str
    x: str
    y: str
    """Labels whose values are columns and rows."""
    scale: Scale = "linear"
    """How numbers become shades."""


class RatioFigure(FigureBase):
    """How many times a baseline's: each competitor by its paired ratio, with the interval over pairs of runs."""

    kind: Literal["ratio"]
    measures: list[str] = Field(min_length=1)
    """A panel each."""
    lanes: str
    """Label whose values compete."""
    against: str
    """The value that all others are compared with."""
    rows: list[str]
    """Labels whose combinations are rows."""
    where: Where = Field(default_factory=dict)


class TradeoffFigure(FacetFigure):
    """One measure against another: a mark per competitor, with the ellipse that holds two thirds of its runs."""

    kind: Literal["tradeoff"]
    x: str
    y: str
    """Measures, such as delay and goodput."""
    lanes: str
    scales: Scales = "shared"
    scale: Scale = "linear"
    """Of the x axis."""


class TimelineFigure(FigureBase):
    """What happens over time: a panel per value, a curve per competitor; the first seed is drawn."""

    kind: Literal["timeline"]
    lanes: str
    where: Where = Field(default_factory=dict)
    """One point is left for each competitor."""
    values: list[Literal["rate", "delay", "backlog"]] = Field(default_factory=lambda: ["rate", "delay"], min_length=1)
    link: str = "upstream"
    until: Number | None = None
    """Seconds; the whole run if left out."""
    per: Number | None = None
    """Seconds that are averaged; a three hundredth of the time if left out."""


class CdfFigure(FacetFigure):
    """Cumulative distributions of a measure with `samples`: a curve per competitor, a panel per value of a label."""

    kind: Literal["cdf"]
    measure: str
    lanes: str
    scale: Scale = "log"
    tail: Annotated[float | None, Field(gt=0, lt=1)] = None
    """Share above each value instead, down to there."""


AnyFigure = Annotated[
    FunctionFigure
    | DotsFigure
    | SwarmFigure
    | DistributionFigure
    | TimeSeriesFigure
    | StackFigure
    | SweepFigure
    | AgreementFigure
    | ShareFigure
    | HeatmapFigure
    | RatioFigure
    | TradeoffFigure
    | TimelineFigure
    | CdfFigure,
    Field(discriminator="kind"),
]
