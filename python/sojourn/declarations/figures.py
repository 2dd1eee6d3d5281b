"""Figures of a study file: one table per figure, of a kind each.

Source: the words are those of docs/reference/study-file.md.
Deviations: none.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sojourn.declarations.base import Number, Strict, Where

Scale = Literal["linear", "log"]


class RuleDefinition(Strict):
    """A reference line at `x` or at `y`, or only words there, if both are given."""

    x: Number | None = None
    """Position of a vertical line."""
    y: Number | None = None
    """Position of a horizontal line."""
    label: str = ""
    """Words beside it."""
    look: str = "reference"
    """Colour and mark, such as `codel`, `tail` or `reference`."""


class AxisDefinition(Strict):
    """An axis of numbers; what is left out is that of the measure, or follows from the data."""

    quantity: str = ""
    """Words for the axis."""
    unit: str | None = None
    """Unit of the numbers, such as `ms`."""
    scale: Scale = "linear"
    """`linear` or `log`."""
    low: Number | None = None
    """Lower end of the axis."""
    high: Number | None = None
    """Upper end of the axis."""
    headroom: Number | None = None
    """The axis ends at this multiple of the largest value."""
    floor: Number | None = None
    """Smaller values are drawn here."""
    ticks: list[Number] = Field(default_factory=lambda: list[Number]())
    """Numbers that are marked on the axis."""
    tick_labels: list[str] = Field(default_factory=list)
    """How `ticks` are labelled; as numbers if left out."""
    rules: list[RuleDefinition] = Field(default_factory=lambda: list[RuleDefinition]())
    """Lines across the panel."""


class FigureBase(Strict):
    """Keys of all figures.

    In `caption`, `{spread}` says how the spread over seeds is shown.
    """

    item: str
    """Name in the report, in links and in file names."""
    title: str = ""
    """Heading, as readers see it."""
    caption: str = ""
    """Sentence below it."""
    description: str = ""
    """Text alternative: what a reader who cannot see it should know."""
    group: Literal["overview", "printed", "delay"] = "printed"
    """Section of the report."""
    width: Number = 180
    """Millimetres."""
    height: Number | None = None
    """Millimetres; what the rows need if left out."""
    columns: int | None = None
    """Panels beside each other; by their number if left out."""


class FacetFigure(FigureBase):
    """A figure with a panel for each value of a label, or for each combination of several."""

    facet: str | list[str] = ""
    """Labels that make panels beside each other."""
    where: Where = Field(default_factory=dict)
    """Labels of the points that it is about, with their values; all points if left out."""

    @property
    def facets(self) -> list[str]:
        """Labels that make panels, the slowest first."""
        return [self.facet] if isinstance(self.facet, str) and self.facet else list(self.facet)


Scales = Literal["shared", "own"]
"""True if panels that show one measure have one scale, so that eyes compare them, or each its own."""


class FunctionFigure(FigureBase):
    """Drawn by a function of the study's module."""

    kind: Literal["function"] = "function"
    function: str
    """Function of the study's module that makes it."""


class Lane(Strict):
    """One of the things that a dot plot compares within a row."""

    where: Where
    """Labels of the points that it is about, with their values; all points if left out."""
    look: str
    """Colour and mark, such as `codel`, `tail` or `reference`."""
    label: str
    """Name in the legend."""


class DotPanel(AxisDefinition):
    """One panel of a dot plot."""

    measure: str
    """Name of a measure."""
    title: str = ""
    """Over the panel; of a facet, `{title}` and `{short}` are words for its value."""
    seeds: Literal["", "mean", "median"] = ""
    """How the numbers of seeds become one; as of the measure if left out."""
    printed: str = ""
    """Metric of printed tables whose values stand beside ours."""
    printed_in: list[str] = Field(default_factory=list)
    """These tables, the first that has it."""


class DotsFigure(FigureBase):
    """Rows of dots: each row a value of labels, each lane a competitor."""

    kind: Literal["dots"]
    rows: list[str]
    """Labels whose values are the rows."""
    row: str = "{name}: {title}"
    """How a row is called; of several labels, `{load}` is the name of a value."""
    lanes: str | list[Lane]
    """Label whose values compete, or what competes, one by one."""
    where: Where = Field(default_factory=dict)
    """Labels of the points that it is about, with their values; all points if left out."""
    complete: Literal["", "all", "any"] = ""
    """Rows shown: all, those run with `all` competitors, or with `any`."""
    facet: str = ""
    """Label that makes a panel for each of its values."""
    panels: list[DotPanel] = Field(min_length=1)
    """Panels, one by one."""


class SwarmFigure(FigureBase):
    """Each competitor a row, each point a small mark, their mean a large one; a panel per facet."""

    kind: Literal["swarm"]
    lanes: str
    """Label whose values are the rows."""
    facet: str
    """Label whose values are the panels."""
    strata: str
    """Label whose values stand above each other within a row."""
    where: Where = Field(default_factory=dict)
    """Labels of the points that it is about, with their values; all points if left out."""
    panel: DotPanel
    """The axis, and the measure on it."""


class DistributionFigure(FigureBase):
    """Cumulative distributions, one curve per competitor, in panels by label."""

    kind: Literal["distribution"]
    measure: str
    """One with `samples`."""
    lanes: str
    """Label whose values are the curves or marks."""
    where: Where = Field(default_factory=dict)
    """Labels of the points that it is about, with their values; all points if left out."""
    views: list[list[str]] = Field(default_factory=lambda: [[]])
    """For each column of panels the labels that make its panels; two labels of one view make a grid."""
    facet_title: list[str] = Field(default_factory=list)
    """Template of the titles of the panels, for each view."""
    axis: AxisDefinition
    """The axis of values."""
    whole_units: bool = False
    """Rounded up to whole units before they are drawn."""
    tail: Annotated[float | None, Field(gt=0, lt=1)] = None
    """Share above each value instead, on a logarithmic axis that is labelled with quantiles and ends here."""
    counts: bool = False
    """True if each panel says of how many samples its curves are made."""


class SeriesTrace(Strict):
    """One curve over time."""

    point: str
    """Name of the point."""
    value: str = "rate"
    """`rate`, `delay`, `backlog`, or a function of the study's module."""
    link: str = "upstream"
    """Link that it is about: `upstream`, `downstream` or a name."""
    look: str = ""
    """Colour and mark, such as `codel`, `tail` or `reference`."""
    label: str = ""
    """Name in the legend."""
    weight: Literal["thin", "normal", "bold"] = "normal"
    """Width of the line."""
    band: Literal["", "seeds", "bins"] = ""
    """Area around it: lowest to highest of the seeds, or of the bins that `per` puts together."""
    band_label: str = ""
    """Name of the area in the legend."""
    per: Number | None = None
    """Seconds that are averaged."""


class SeriesPanel(AxisDefinition):
    """One panel of curves over time."""

    title: str = ""
    """Heading, as readers see it."""
    until: Number | None = None
    """Seconds; the whole run if left out."""
    traces: list[SeriesTrace]
    """Curves, one by one."""


class TimeSeriesFigure(FigureBase):
    """Rates, delays and queues over time; the first seed is drawn."""

    kind: Literal["timeseries"]
    panels: list[SeriesPanel] = Field(min_length=1)
    """Panels, one by one."""
    share_x: bool = False
    """True if all panels have one axis of time."""
    share_y: bool = False
    """True if all panels have one axis of values."""
    legend: bool = True
    """True if there is a legend."""


class StackFigure(FacetFigure):
    """Delay by cause as bars, a row per value of a label, a panel per facet."""

    kind: Literal["stack"]
    subject: str
    """Traffic entry or link."""
    direction: Literal["upstream", "downstream", "round-trip"] = "upstream"
    """One way, or both summed."""
    rows: str
    """Label whose values are the rows."""
    causes: dict[str, str] = Field(default_factory=dict)
    """How causes are called, in the order in which a packet meets them."""
    leave_out: list[str] = Field(default_factory=list)
    """Causes that are not drawn, and count in no sum."""


class SweepLine(Strict):
    """One curve of a sweep."""

    measure: str
    """Name of a measure."""
    look: str = ""
    """Colour and mark, such as `codel`, `tail` or `reference`."""
    label: str = ""
    """Name in the legend."""


class SweepPanel(AxisDefinition):
    """Panels of a sweep that show the same measures, one per facet."""

    lines: list[SweepLine]
    """Curves, one by one."""
    title: bool = False
    """True if the name of the facet stands above; it does above the first panels if none says so."""


class SweepFigure(FacetFigure):
    """Measures over the values of a label, in equal steps."""

    kind: Literal["sweep"]
    over: str
    """Label whose values are the horizontal axis."""
    quantity: str = ""
    """Quantity of the label's values, with its unit; the label itself if left out."""
    mark: str = ""
    """Value of the label to draw a line at."""
    lanes: str = ""
    """Label whose values are curves; each panel then shows one measure."""
    scales: Scales = "shared"
    """True if panels have one scale, or each its own."""
    panels: list[SweepPanel] = Field(min_length=1)
    """Panels, one by one."""


class AgreementPanel(Strict):
    """Printed against ours, for some metrics."""

    metrics: list[str]
    """Metrics that are drawn."""
    quantity: str
    """Words for the axis."""
    unit: str
    """Unit of the numbers, such as `ms`."""
    scale: Scale = "linear"
    """`linear` or `log`."""
    floor: Number | None = None
    """Smaller numbers are drawn here."""
    times: Number = 1
    """Factor that numbers are multiplied with."""
    besides_zero: bool = False
    """True if prints of 0 are left out."""


class AgreementFigure(FigureBase):
    """Every printed number of the study's tables against ours."""

    kind: Literal["agreement"]
    panels: list[AgreementPanel] = Field(min_length=1)
    """Panels, one by one."""


class ShareFigure(FacetFigure):
    """Shares as a stacked bar per value of a label, with Jain's index of fairness at its end."""

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
    """Name of a measure."""
    x: str
    """Label whose values are the columns."""
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
    """Labels of the points that it is about, with their values; all points if left out."""


class TradeoffFigure(FacetFigure):
    """One measure against another: a mark per competitor, with the ellipse that holds two thirds of its runs."""

    kind: Literal["tradeoff"]
    x: str
    """Measure of the horizontal axis, such as a delay."""
    y: str
    """Measures, such as delay and goodput."""
    lanes: str
    """Label whose values are the curves or marks."""
    scales: Scales = "shared"
    """True if panels have one scale, or each its own."""
    scale: Scale = "linear"
    """Of the x axis."""


class TimelineFigure(FigureBase):
    """Course over time: a panel per value, a curve per competitor; the first seed is drawn."""

    kind: Literal["timeline"]
    lanes: str
    """Label whose values are the curves or marks."""
    where: Where = Field(default_factory=dict)
    """One point is left for each competitor."""
    values: list[Literal["rate", "delay", "backlog"]] = Field(default_factory=lambda: ["rate", "delay"], min_length=1)
    """Panels: `rate`, `delay`, `backlog`."""
    link: str = "upstream"
    """Link that it is about: `upstream`, `downstream` or a name."""
    until: Number | None = None
    """Seconds; the whole run if left out."""
    per: Number | None = None
    """Seconds that are averaged; a three hundredth of the time if left out."""


class CdfFigure(FacetFigure):
    """Cumulative distributions of a measure with `samples`: a curve per competitor, a panel per value of a label."""

    kind: Literal["cdf"]
    measure: str
    """Name of a measure."""
    lanes: str
    """Label whose values are the curves or marks."""
    scale: Scale = "log"
    """`linear` or `log`."""
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
