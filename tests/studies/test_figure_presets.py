"""Figures in a few words show the numbers of their runs: they are read back from the drawing and reckoned again from the metrics."""

import math
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn.answers.figure import Figure
from sojourn.plots.backends import mpl
from sojourn.plots.reshape import reshaped
from sojourn.plots.spec import Band, Cells, Dots, Line, Note
from sojourn.report.drawing import inline
from sojourn.report.figure_files import figure_named, figures_of
from sojourn.stats.estimate import paired_ratio
from sojourn.study.result import StudyResult
from support import CommandLine
from support.drawings import drawn_values

QUEUES = {"drop-tail": "drop-tail", "codel": "CoDel", "pie": "PIE", "fq-codel": "FQ-CoDel"}
RATES = [5, 20, 50]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    """Run the cookbook: twelve points of 4 s with three seeds."""
    directory = tmp_path_factory.mktemp("cookbook")
    command = CommandLine(directory)
    done = command(
        *("study", "run", "figure-cookbook", "--seeds", "3", "--duration", "4 s", "--no-figures"),
        *("--out", "cookbook", "--store", "store"),
    )
    assert done.status == 0, done.stderr
    return StudyResult.load(directory / "cookbook")


@pytest.fixture(scope="module")
def figures(result: StudyResult) -> list[Figure]:
    return figures_of(result.directory)


def drawn(figures: list[Figure], name: str) -> dict[tuple[int, str], list[tuple[float, float]]]:
    plot = figure_named(figures, name, "").plot
    return drawn_values(inline(mpl.svg(plot), name, plot))


def per_seed(result: StudyResult, queue: str, rate: int, subject: str, metric: str) -> np.ndarray:
    rows = result.metrics.join(result.runs.select("point", "seed", "queue", "rate"), on=["point", "seed"])
    chosen = rows.filter(
        (pl.col("queue") == queue)
        & (pl.col("rate") == rate)
        & (pl.col("subject") == subject)
        & (pl.col("metric") == metric)
    )
    return chosen.sort("seed")["value"].to_numpy()


def test_a_share_has_the_parts_of_the_sum_and_jain_s_index(result: StudyResult, figures: list[Figure]) -> None:
    found = drawn(figures, "share")
    for place, rate in enumerate(RATES):
        for row, queue in enumerate(QUEUES):
            parts = [float(per_seed(result, queue, rate, one, "goodput").mean()) for one in ("near", "middle", "far")]
            bars = [np.array(found[place, f"{one} server"]).reshape(-1, 2, 2)[row] for one in ("near", "middle", "far")]
            widths = [float(bar[1, 0] - bar[0, 0]) for bar in bars]
            assert widths == pytest.approx([100 * part / sum(parts) for part in parts], abs=0.1)
            index = sum(parts) ** 2 / (3 * sum(part**2 for part in parts))
            marks = figure_named(figures, "share", "").plot.panels[place].marks
            texts = [mark.text for mark in marks if isinstance(mark, Note)]
            assert texts[row] == f"{index:.2f}"


def test_a_heat_map_has_a_cell_for_each_pair_of_values(figures: list[Figure]) -> None:
    plot = figure_named(figures, "heatmap", "").plot
    # The picture itself says what its numbers are, whatever its title.
    assert list(plot.named_marks()) == ["delay of the game, P99, ms"]
    assert plot.legend == "below"
    (mark,) = plot.panels[0].marks
    assert isinstance(mark, Cells)
    assert {(cell.x, cell.y) for cell in mark.cells} == {(x, y) for x in range(3) for y in range(4)}
    shades = {cell.shade for cell in mark.cells}
    assert (min(shades), max(shades)) == (0.0, 1.0)
    assert [text for _, text in plot.panels[0].y.ticks] == [*reversed(QUEUES.values())]
    page = inline(mpl.svg(plot), "h", plot)
    for cell in mark.cells:
        assert cell.told.startswith(cell.text)
        assert f'data-value="{cell.told}"' in page


def test_a_ratio_is_that_of_runs_with_the_same_seed(result: StudyResult, figures: list[Figure]) -> None:
    found = drawn(figures, "ratio")
    for lane, name in list(QUEUES.items())[1:]:
        for row, rate in enumerate(RATES):
            ours, base = (per_seed(result, queue, rate, "far", "goodput") for queue in (lane, "drop-tail"))
            value, height = found[1, name][row]
            assert value == pytest.approx(math.exp(np.log(ours / base).mean()), rel=0.005)
            assert round(height) == len(RATES) - 1 - row
            interval = paired_ratio(ours, base)
            panel = figure_named(figures, "ratio", "").plot.panels[1]
            (mark,) = (one for one in panel.marks if isinstance(one, Dots) and one.label == name)
            assert mark.low is not None
            assert mark.low[row] == pytest.approx(interval.low)


def test_a_tradeoff_has_a_mark_and_an_ellipse_for_each_competitor(result: StudyResult, figures: list[Figure]) -> None:
    found = drawn(figures, "tradeoff")
    plot = figure_named(figures, "tradeoff", "").plot
    for place, rate in enumerate(RATES):
        for queue, name in QUEUES.items():
            volumes = sum(
                per_seed(result, queue, rate, one, "forwarded_volume")
                for one in ("near", "middle", "far", "game", "call")
            )
            used = per_seed(result, queue, rate, "upstream", "utilisation")
            capacity = volumes * 8e-3 / 4.0 / used
            share = 100 * per_seed(result, queue, rate, "far", "goodput") / capacity
            heights = [y for _, y in found[place, name]]
            assert any(y == pytest.approx(float(share.mean()), abs=0.15) for y in heights)
        ellipses = [mark for mark in plot.panels[place].marks if isinstance(mark, Line)]
        assert len(ellipses) == len(QUEUES)
        assert all(mark.x[0] == pytest.approx(mark.x[-1]) for mark in ellipses)


def test_a_share_of_the_capacity_is_of_the_link_s_rate(result: StudyResult) -> None:
    """A DOCSIS link's rate holds for Ethernet frames, and what is forwarded counts these."""
    from sojourn.answers.view import StudyView

    view = StudyView(result)
    for rate in RATES:
        assert view.capacity(f"drop-tail-{rate}Mbps", "upstream") == pytest.approx(rate, rel=0.06)


def test_a_timeline_has_the_rate_of_the_first_seed(result: StudyResult, figures: list[Figure]) -> None:
    plot = figure_named(figures, "timeline", "").plot
    assert [panel.y.label for panel in plot.panels] == ["rate in Mb/s", "queuing delay in ms"]
    lines = {mark.label: mark for mark in plot.panels[0].marks if isinstance(mark, Line)}
    assert list(lines) == list(QUEUES.values())
    series = result.records("series").filter(
        (pl.col("point") == "pie-20Mbps") & (pl.col("seed") == 1) & (pl.col("link") == "upstream")
    )
    total = series.select(pl.col("forwarded_bytes").sum()).collect().item()
    line = lines["PIE"]
    width = float(line.x[1] - line.x[0])
    assert float(line.y.sum()) * width == pytest.approx(total * 8e-6, rel=0.03)


def test_a_distribution_passes_through_the_quantile_of_its_measure(result: StudyResult, figures: list[Figure]) -> None:
    plot = figure_named(figures, "cdf", "").plot
    assert [panel.title for panel in plot.panels] == [f"rate {rate} Mb/s" for rate in RATES]
    lines = {mark.label: mark for mark in plot.panels[1].marks if isinstance(mark, Line)}
    median = per_seed(result, "fq-codel", 20, "game", "delay_up_p50")
    line = lines["FQ-CoDel"]
    reached = float(line.x[np.searchsorted(line.y, 0.5)])
    assert median.min() * 0.95 <= reached <= median.max() * 1.05


def test_a_stack_has_the_causes_of_the_mean_delay(result: StudyResult, figures: list[Figure]) -> None:
    found = drawn(figures, "stack")
    rows = result.records("delays").filter(
        (pl.col("point") == "drop-tail-50Mbps")
        & (pl.col("traffic") == "game")
        & (pl.col("direction") == "upstream")
        & (pl.col("cause") == "queue")
    )
    packets, total = rows.select(pl.col("packets").sum(), pl.col("total_ns").sum()).collect().row(0)
    first, last = np.array(found[2, "queue"]).reshape(-1, 2, 2)[0, :, 0]
    assert last - first == pytest.approx(total / packets / 1e6, rel=0.01)


def test_a_figure_as_wide_as_a_column_keeps_all_names_and_numbers(figures: list[Figure]) -> None:
    wide = figure_named(figures, "ratio", "").plot
    narrow = reshaped(wide, 88.0)
    assert (narrow.width, narrow.columns) == (88.0, 1)
    assert narrow.height > 2 * wide.height
    names = [text for _, text in wide.panels[0].y.ticks]
    assert all([text for _, text in panel.y.ticks] == names for panel in narrow.panels)
    before, after = (drawn_values(inline(mpl.svg(plot), "r", plot)) for plot in (wide, narrow))
    for key, values in before.items():
        assert np.array(after[key]) == pytest.approx(np.array(values), rel=0.02, abs=0.02)


def test_the_command_writes_a_figure_with_the_width_that_is_asked_for(result: StudyResult, tmp_path: Path) -> None:
    command = CommandLine(tmp_path)
    listed = command("figure", result.directory)
    assert [line.split("\t")[0] for line in listed.stdout.splitlines()] == [
        *("share", "heatmap", "ratio", "tradeoff", "timeline", "cdf", "stack", "sweep-rate")
    ]
    wide = ("--width", "88mm", "--font", "DejaVu Serif", "--font-size", "8pt", "--out", "paper")
    done = command("figure", result.directory, "tradeoff", *wide)
    assert done.status == 0, done.stderr
    assert done.stdout.split() == ["paper/tradeoff.svg", "paper/tradeoff.pdf"]
    svg = (tmp_path / "paper" / "tradeoff.svg").read_text()
    assert f'width="{88 / 25.4 * 72:.2f}'[:12] in svg
    assert "DejaVu Serif" in svg
    assert "What a shorter queue costs" not in svg.partition("<g ")[2]
    assert (tmp_path / "paper" / "tradeoff.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rato"], 'did you mean "ratio"?'),
        (["ratio", "--width", "88"], "'88' is not a length such as 88mm"),
        (["ratio", "--font", "DejaVu Sherif"], "did you mean DejaVu Serif?"),
        (["ratio", "--width", "3mm"], "20 mm in each direction at least"),
    ],
)
def test_a_wrong_figure_length_or_font_is_told(
    result: StudyResult, tmp_path: Path, arguments: list[str], words: str
) -> None:
    done = CommandLine(tmp_path)("figure", result.directory, *arguments)
    assert done.status == 2
    assert words in done.stderr


TWO_FACETS = """
[[figure]]
item = "by-both"
kind = "sweep"
over = "rate"
facet = ["queue", "rate"]
panels = [{ lines = [{ measure = "game" }] }]

[[figure]]
item = "alike"
kind = "sweep"
over = "rate"
facet = "queue"
panels = [{ lines = [{ measure = "game" }] }]

[[figure]]
item = "each-its-own"
kind = "sweep"
over = "rate"
facet = "queue"
scales = "own"
panels = [{ lines = [{ measure = "game" }] }]
"""


def test_several_labels_make_panels_and_panels_share_their_scale_unless_told_otherwise(
    result: StudyResult, tmp_path: Path
) -> None:
    directory = tmp_path / "more"
    shutil.copytree(result.directory, directory)
    study = directory / "study.toml"
    study.write_text(study.read_text(encoding="utf-8") + TWO_FACETS, encoding="utf-8")
    made = figures_of(directory)
    both = figure_named(made, "by-both", "").plot
    assert [panel.title for panel in both.panels][:2] == ["drop-tail, rate 5 Mb/s", "drop-tail, rate 20 Mb/s"]
    assert (len(both.panels), both.columns) == (12, 3)
    alike, own = (figure_named(made, name, "").plot for name in ("alike", "each-its-own"))
    largest = max(float(np.max(mark.high)) for panel in alike.panels for mark in panel.marks if isinstance(mark, Band))
    highs = {panel.y.high for panel in alike.panels}
    assert len(highs) == 1
    assert largest < float(next(iter(highs)) or 0.0) < 1.2 * largest
    assert {panel.y.high for panel in own.panels} == {None}
