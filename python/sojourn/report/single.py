"""The report of one run: what mattered, rates and queues over time, delays and where they come from.

Made from the files that `sojourn run --out` writes, so that `sojourn report` can make it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl
from markupsafe import Markup

from sojourn.answers.figure import Figure
from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.base.digits import significant
from sojourn.base.errors import RecordError, ScenarioError
from sojourn.base.files import fresh_folder, write_file
from sojourn.base.metrics import delay_causes, words_of
from sojourn.base.on_disk import read_text
from sojourn.headline import LINKS, headline_of_run, headline_rows
from sojourn.plots.cdf import steps
from sojourn.plots.spec import Axis, Line, Panel, PlotSpec, log_ticks
from sojourn.plots.stack import stack_panel
from sojourn.plots.timeseries import Trace, timeseries_panel
from sojourn.report.conditions import Condition, bands, conditions_of, notes
from sojourn.report.drawing_files import draw_files
from sojourn.report.felt_section import felt
from sojourn.report.page import page_of
from sojourn.scenario.scenario_file import Scenario
from sojourn.simulation.averages import Row, Since, labelled, since_beginnings
from sojourn.simulation.run_directory import read_run

MOST_CURVES = 6  # chosen by eye; what sends less is drawn together as others
OTHERS = "others"
WIDEST_BINS = 600  # chosen: more bins than this are closer than the lines are wide

Tables = dict[str, pl.DataFrame]


def build_run_report(directory: Path, *, pdf: bool = False) -> list[str]:
    """Write report.html and figures/ into the directory of a run.

    Raises `RecordError` if the directory is not complete.

    Returns
    -------
    list of str
        What of the directory is damaged and left out, a sentence each.
    """
    manifest, tables, damages = read_run(directory)
    try:
        scenario = read_text(directory, "scenario.toml")
    except RecordError as error:
        damages.append(error.message)
        scenario = ""
    metrics = _metric_rows(tables["metrics"])
    counted, since = _counted(scenario, manifest, metrics)
    matters = headline_rows(counted)
    since = [one for one in since if (one.subject, one.metric) in {row[:2] for row in matters}]
    figures = run_figures(tables, damages, scenario)
    folder = fresh_folder(directory / "figures", root=directory)
    packets = _kept(lambda: _packet_table(tables), "the table of packets", damages)
    drawn = draw_files(figures, folder, pdf=pdf)
    page = page_of(
        "run.html",
        title=_title(manifest),
        facts=" ".join([_facts(manifest), *(f"{one.sentence[:1].upper()}{one.sentence[1:]}." for one in since)]),
        damages=damages,
        headline=headline_of_run(counted, scenario),
        matters=_metric_table(labelled(matters, since), "What matters most"),
        figures=[(figure, Markup(drawn[figure.item])) for figure in figures],
        packets=packets,
        all_metrics=_metric_table(metrics, "All metrics"),
        scenario=scenario,
        manifest=_UNKNOWN | manifest,
    )
    write_file(directory / "report.html", page)
    return damages


_UNKNOWN = {"version": "unknown", "engine_version": "unknown", "key": "unknown", "commit": None}

Made = TypeVar("Made")


def _kept(make: Callable[[], Made], what: str, damages: list[str]) -> Made | None:
    """Make a part of the page; if the records do not allow it, say so and go on."""
    try:
        return make()
    except Exception as error:  # records are not trusted
        from sojourn.answers.modules import what_failed

        damages.append(f"{what} could not be made: {what_failed(error)}")
        return None


MOST_SETTINGS = 3
"""More settings than this are counted. chosen: a title is a line."""


def _title(manifest: dict[str, Any]) -> str:
    """Return what tells a run from others of its file: its name with what was set."""
    name = str(manifest.get("scenario", "A run"))
    given: object = manifest.get("settings", [])
    if not isinstance(given, list):
        return name
    settings = cast("list[object]", given)
    told: list[str] = []
    for setting in settings[:MOST_SETTINGS]:
        key, _, value = str(setting).partition("=")
        told.append(f"{'.'.join(key.split('.')[-2:])} = {value.strip().strip(chr(39) + chr(34))}")
    if len(settings) > MOST_SETTINGS:
        told.append(f"{len(settings) - MOST_SETTINGS} more settings")
    return f"{name}: {', '.join(told)}" if told else name


def _facts(manifest: dict[str, Any]) -> str:
    if manifest.get("kind") == "emulation":
        return _emulated(manifest)
    statistics = manifest.get("statistics")
    made = ""
    if statistics is not None:
        made = (
            f"{statistics['simulated_s']:g} s simulated with seed {manifest.get('seed', '?')}; "
            f"{statistics['packet_hops']:,} packet-hops in {statistics['wall_s']:.2f} s. "
        )
    return f"{made}One run is one roll of the dice: a study repeats it with other seeds and gives intervals."


def _counted(scenario: str, manifest: dict[str, Any], rows: list[Row]) -> tuple[list[Row], list[Since]]:
    """Return the metrics with rates from where their traffic begins."""
    try:
        canonical = Scenario.parse(scenario).canonical()
        return since_beginnings(canonical, float(manifest["statistics"]["simulated_s"]), rows)
    except (ScenarioError, TypeError, KeyError, ValueError):  # of an untrusted directory
        return rows, []


def _emulated(manifest: dict[str, Any]) -> str:
    """Say of an emulation what went through it, and how far it can be trusted."""
    said: Any = manifest.get("emulation")  # not trusted
    told = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
    duration_s: Any = told.get("duration_s")
    lasted = f"{duration_s:.0f} s" if isinstance(duration_s, float) else "Some time"
    late: Any = told.get("lateness_matters")
    words: list[Any] = [told.get("trust"), *(late if isinstance(late, list) else [])]
    sentences = [f"{word[:1].upper()}{word[1:]}." for word in words if isinstance(word, str)]
    made = f"{lasted} of real packets through the emulated link; no other run repeats them."
    return " ".join([made, *sentences])


def run_figures(tables: Tables, damages: list[str] | None = None, scenario: str = "") -> list[Figure]:
    """Return the figures that the tables of a run allow.

    Parameters
    ----------
    tables
        Record tables by name.
    damages
        Gets a sentence for each figure that they do not allow; such figures are errors if left out.
    scenario
        Its text; what changes on its links is drawn behind the figure over time.
    """
    looks = _looks(tables)
    parts: dict[str, Callable[[], list[Figure]]] = {
        "the figure of what people feel": lambda: list(felt(tables["metrics"])),
        "the figure over time": lambda: list(_over_time(tables, looks, scenario)),
        "the figure of causes": lambda: list(_causes(tables)),
        "the figure of delays": lambda: list(_distributions(tables, looks)),
    }
    found: list[Figure] = []
    for what, make in parts.items():
        found += make() if damages is None else _kept(make, what, damages) or []
    return found


def _looks(tables: Tables) -> dict[str, str]:
    """Give each traffic entry a look, the same in all figures, in the order of the scenario."""
    names: dict[str, None] = {}
    for table in ("traffic", "traffic_series", "delay_histogram"):
        if table in tables:
            names |= dict.fromkeys(tables[table]["traffic"].cast(pl.String).to_list())
    looks = {str(name): f"cycle-{number}" for number, name in enumerate(names)}
    return looks | {OTHERS: "reference"}


def _metric_table(rows: Sequence[tuple[str, str, float, str]], title: str) -> PlainTable:
    body = tuple(
        (PlainCell(subject), PlainCell(words_of(metric)), PlainCell(_number(value)), PlainCell(unit))
        for subject, metric, value, unit in rows
    )
    name = title.lower().replace(" ", "-")
    return PlainTable(name, title, "", ("traffic or link", "measure", "value", "unit"), body)


def _metric_rows(metrics: pl.DataFrame) -> list[tuple[str, str, float, str]]:
    """Return metrics as rows; what is missing has no name, or no number."""
    words = [pl.col(name).cast(pl.String).fill_null("") for name in ("subject", "metric", "unit")]
    value = pl.col("value").cast(pl.Float64).fill_null(np.nan)
    return metrics.select(words[0], words[1], value, words[2]).rows()


def _number(value: float) -> str:
    if not np.isfinite(value):
        return significant(value)
    return f"{value:,.0f}" if abs(value) >= 10_000 or value == int(value) else f"{value:.4g}"


def _packet_table(tables: Tables) -> PlainTable | None:
    """Return packets sent, forwarded, lost and marked of each traffic entry and direction."""
    traffic = tables.get("traffic")
    if traffic is None:
        return None
    columns = {
        "sent_packets": "sent",
        "forwarded_packets": "forwarded",
        "dropped_queue_packets": "lost in the queue",
        "dropped_transmit_queue_packets": "lost behind it",
        "marked_packets": "marked",
        "retransmissions": "sent again",
    }
    shown = {name: words for name, words in columns.items() if name in traffic.columns}
    rows = [row for row in traffic.iter_rows(named=True) if row["sent_packets"] or row["forwarded_packets"]]
    if not rows:
        return None
    shown = {
        name: words
        for name, words in shown.items()
        if name in ("sent_packets", "forwarded_packets", "dropped_queue_packets") or any(row[name] for row in rows)
    }
    body = tuple(
        (
            PlainCell(str(row["traffic"])),
            PlainCell(str(row["direction"])),
            *(PlainCell(f"{int(row[name] or 0):,}") for name in shown),
        )
        for row in rows
    )
    return PlainTable(
        "packets",
        "Packets",
        "On the access link, acknowledgements included.",
        ("traffic", "direction", *shown.values()),
        body,
    )


def _over_time(tables: Tables, looks: dict[str, str], scenario: str) -> Iterator[Figure]:
    """Rate of each traffic entry, waiting time and losses of each link, side by side."""
    series, by_traffic = tables.get("series"), tables.get("traffic_series")
    if series is None or series.is_empty():
        return
    _refuse_uneven(series, by_traffic)
    width = float(series["width_ns"][0]) / 1e9
    bins = int(series.select((pl.col("start_ns") // pl.col("width_ns")).max()).item() or 0) + 1
    group = max(1, -(-bins // WIDEST_BINS))
    until = bins * width
    rates = {link: _rates(by_traffic, link, bins, width, group) for link in LINKS}
    columns = {link: _link_columns(series.filter(pl.col("link") == link), bins, group) for link in LINKS}
    marks = any("marked_packets" in part for part in columns.values())
    time = np.arange(0, bins, group) * width
    changes = {link: conditions_of(scenario, link, until) for link in LINKS}
    panels = [
        _rate_panel(
            [Trace(time, values, looks[name], name) for name, values in rates[link].items()],
            changes[link],
            f"{link}: rates",
            until,
        )
        for link in LINKS
    ]
    # Causes that were empty all the time are left out.
    for kind, least in (("sojourn", SHOWN_DELAY_MS), ("lost", SHOWN_PACKETS)):
        panels += [
            _link_panel(kind, time, part, until, link, changes[link])
            for link, part in columns.items()
            if _reaches(least, part["longest" if kind == "sojourn" else "lost"], part)
        ]
    rows = -(-len(panels) // 2)
    what = "queuing delay" + (", lost and marked packets" if marks else " and lost packets")
    yield Figure(
        "over-time",
        PlotSpec(
            name="over-time",
            title="Over time",
            panels=tuple(panels),
            columns=2,
            height=18 + 44 * rows,
            legend="below",
            description=f"Rate of each traffic entry, {what} over time, upstream left, downstream right.",
        ),
        f"Bins of {group * width:g} s. Rates are those that leave the queues; the wine-coloured curve is the longest "
        "wait of a bin, the dashed one its mean."
        + (" Bands show when the link is different, and how." if any(changes.values()) else ""),
        "overview",
    )


MOST_BINS = 50_000_000
"""More bins than this are no run's. chosen: what an array of 400 MB holds."""


def _refuse_uneven(*tables: pl.DataFrame | None) -> None:
    """Make sure that series have bins of one width, not too many, and none before the run.

    Raises `RecordError` if they have not.
    """
    shown = [table.select("start_ns", "width_ns") for table in tables if table is not None]
    rows = pl.concat([table.cast(pl.Float64) for table in shown])
    start, width = rows["start_ns"], rows["width_ns"]
    even = rows.null_count().sum_horizontal().item() == 0 and width.n_unique() == 1 and width[0] > 0
    low, high = (float(start.min() or 0.0), float(start.max() or 0.0)) if even else (0.0, 0.0)  # pyright: ignore[reportArgumentType]
    if not even or not 0 <= low <= high < MOST_BINS * width[0]:
        raise RecordError("the bins of its series are not those of a run")


def _reaches(least: float, values: np.ndarray, part: dict[str, np.ndarray]) -> bool:
    """Return whether a panel would show more than an empty line; marks stand beside losses."""
    marks = part.get("marked_packets", values) if values is part["lost"] else values
    return max((float(one.max()) for one in (values, marks) if one.size), default=0.0) >= least


def _rate_panel(traces: list[Trace], changes: Sequence[Condition], title: str, until: float) -> Panel:
    high = _top(traces) if changes else None
    return timeseries_panel(
        traces,
        quantity="rate",
        unit="Mb/s",
        title=title,
        until_s=until,
        high=high,
        bands=bands(changes, high or 0.0),
        extras=notes(changes, high or 0.0),
    )


def _top(traces: Sequence[Trace]) -> float:
    """Return the end of an axis above all curves, with room for words."""
    return 1.25 * max((float(t.value.max()) for t in traces if t.value.size), default=1.0) or 1.0


def _link_panel(
    kind: str, time: np.ndarray, found: dict[str, np.ndarray], until: float, link: str, changes: Sequence[Condition]
) -> Panel:
    if kind == "sojourn":
        traces = [
            Trace(time, found["longest"], "tail", "longest wait"),
            Trace(time, found["mean"], "median", "mean wait"),
        ]
        high = _top(traces) if changes else None
        return timeseries_panel(
            traces,
            quantity="queuing delay",
            unit="ms",
            until_s=until,
            title=f"{link}: waiting",
            high=high,
            bands=bands(changes, high or 0.0),
        )
    traces = [Trace(time, found["lost"], "limit", "lost", solid=True)]
    if "marked_packets" in found:
        traces.append(Trace(time, found["marked_packets"], "reference", "marked"))
    return timeseries_panel(traces, quantity="packets a bin", unit="", until_s=until, title=f"{link}: lost packets")


SHOWN_DELAY_MS = 1.0  # chosen: waits below are of no interest, however the axis might be stretched
SHOWN_PACKETS = 1.0


def _dense(frame: pl.DataFrame, column: str, bins: int) -> np.ndarray:
    values = np.zeros(bins)
    places = (frame["start_ns"] // frame["width_ns"]).to_numpy().astype(int)
    values[places] = frame[column].cast(pl.Float64).fill_null(0.0).to_numpy()
    return values


def _grouped(values: np.ndarray, group: int) -> np.ndarray:
    padding = -len(values) % group
    return np.concatenate([values, np.zeros(padding)]).reshape(-1, group)


def _rates(frame: pl.DataFrame | None, link: str, bins: int, width: float, group: int) -> dict[str, np.ndarray]:
    if frame is None:
        return {}
    part = frame.filter(pl.col("link") == link)
    found: dict[str, np.ndarray] = {}
    for name in part["traffic"].cast(pl.String).unique(maintain_order=True):
        rows = part.filter(pl.col("traffic").cast(pl.String) == name)
        mean = _grouped(_dense(rows, "forwarded_bytes", bins), group).mean(axis=1)
        found[str(name)] = mean * 8 / 1e6 / width
    if len(found) <= MOST_CURVES:
        return found
    ordered = sorted(found, key=lambda name: -float(found[name].sum()))
    kept = {name: found[name] for name in ordered[: MOST_CURVES - 1]}
    kept[OTHERS] = np.sum([found[name] for name in ordered[MOST_CURVES - 1 :]], axis=0)
    return kept


def _link_columns(frame: pl.DataFrame, bins: int, group: int) -> dict[str, np.ndarray]:
    packets = _grouped(_dense(frame, "forwarded_packets", bins), group)
    mean = _grouped(_dense(frame, "sojourn_mean_ns", bins), group) / 1e6
    total = packets.sum(axis=1)
    with np.errstate(invalid="ignore"):
        weighted = np.where(total > 0, (mean * packets).sum(axis=1) / np.maximum(total, 1), 0.0)
    found = {
        "mean": weighted,
        "longest": _grouped(_dense(frame, "sojourn_max_ns", bins), group).max(axis=1) / 1e6,
        "lost": _grouped(_dense(frame, "dropped_packets", bins), group).sum(axis=1),
    }
    if "marked_packets" in frame.columns:
        marked = _grouped(_dense(frame, "marked_packets", bins), group).sum(axis=1)
        if marked.any():
            found["marked_packets"] = marked
    return found


def _distributions(tables: Tables, looks: dict[str, str]) -> Iterator[Figure]:
    """Distribution of access delay, upstream and downstream, one curve per traffic entry."""
    histogram = tables.get("delay_histogram")
    if histogram is None or histogram.is_empty():
        return
    traffic = list(dict.fromkeys(histogram["traffic"].cast(pl.String)))[:MOST_CURVES]
    panels: list[Panel] = []
    for direction in LINKS:
        marks: list[Line] = []
        for name in traffic:
            part = histogram.filter(
                (pl.col("direction").cast(pl.String) == direction) & (pl.col("traffic").cast(pl.String) == name)
            )
            if part.is_empty():
                continue
            x, share = steps(part["delay_ns"].to_numpy().astype(float) / 1e6, part["packets"].to_numpy().astype(float))
            marks.append(Line(x, 100 * share, looks[name], name, step=True))
        if marks:
            panels.append(
                Panel(
                    x=_delay_axis(marks),
                    y=Axis("packets at or below", "%", low=0.0, high=100.0),
                    marks=tuple(marks),
                    title=direction,
                )
            )
    if panels:
        yield Figure(
            "delay",
            PlotSpec(
                name="delay",
                title="Delay of packets",
                panels=tuple(panels),
                columns=len(panels),
                height=84,
                legend="below",
                description="Cumulative distribution of access delay, a curve per traffic entry.",
            ),
            "From the queue to the far end of the access link, one way; data and acknowledgements alike.",
            "delay",
        )


def _delay_axis(lines: Sequence[Line]) -> Axis:
    """Return a log axis around the curves, with at least two labels."""
    low = min(float(line.x[0]) for line in lines)
    high = max(float(line.x[-1]) for line in lines)
    low, high = low / 1.2, max(high, 1.5 * low) * 1.2
    return Axis("access delay", "ms", scale="log", low=low, high=high, ticks=log_ticks(low, high))


def _causes(tables: Tables) -> Iterator[Figure]:
    """Mean delay of the data by cause, a bar per traffic entry and direction."""
    delays = tables.get("delays")
    if delays is None or delays.is_empty():
        return
    rows: list[str] = []
    parts: dict[str, list[float]] = {cause: [] for cause in delay_causes()}
    grouped = delays.filter(pl.col("packets") > 0).partition_by(
        "traffic", "direction", as_dict=True, maintain_order=True
    )
    for (traffic, direction), part in grouped.items():
        rows.append(f"{traffic}, {direction}")
        totals = dict(part.select(pl.col("cause").cast(pl.String), "total_ns").iter_rows())
        for cause in delay_causes():
            parts[cause].append(float(totals.get(cause, 0)) / float(part["packets"][0]) / 1e6)
    shown = {cause: np.array(values) for cause, values in parts.items() if any(values)}
    if not shown:
        return
    yield Figure(
        "causes",
        PlotSpec(
            name="causes",
            title="Where the delay comes from",
            panels=(
                stack_panel(
                    rows,
                    shown,
                    quantity="mean delay",
                    unit="ms",
                    labels={cause: delay_causes()[cause] for cause in shown},
                    decimals=1,
                ),
            ),
            height=34 + 9 * len(rows),
            legend="below",
            description="Stacked bars: mean delay of each traffic entry's data by cause.",
        ),
        "From the application's write to the arrival of the data: datagrams, and segments of TCP that carry data.",
        "delay",
    )
