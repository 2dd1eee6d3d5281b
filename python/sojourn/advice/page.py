"""The page of an answer, with the picture of the cliff, and the same for programs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from markupsafe import Markup

from sojourn.advice.answer import LEVEL, Advice
from sojourn.advice.cliff import CLIFF
from sojourn.advice.said import setting_words
from sojourn.answers.figure import Figure, of_one_panel
from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.base.digits import significant
from sojourn.base.files import fresh_folder, write_file
from sojourn.plots.spec import Axis, Dots, Line, Mark, Panel
from sojourn.report.drawing_files import draw_files
from sojourn.report.page import page_of

TARGETS = {
    "tc": "Linux: tc",
    "uci": "OpenWrt: SQM",
    "docsis": "CM configuration file, as text for sojourn provision encode",
    "autorate": "cake-autorate",
    "modem": "Modem or access node, by hand",
}
"""Headings of the lines to paste."""

VERDICTS = {"taken": "taken", "equal": "cannot be told apart", "undecided": "not decided", "worse": "worse"}


def _title(advice: Advice) -> str:
    """Return the title: the line by its rates, and not the name of its file."""
    rates = advice.line.rates_mbps
    told = [
        f"{rates[way]:.3g} Mb/s {word}" for way, word in (("downstream", "down"), ("upstream", "up")) if way in rates
    ]
    return f"What to set on a line of {' and '.join(told)}" if told else "What to set on this line"


def write_page(advice: Advice, directory: Path) -> None:
    """Write `report.html`, its figure, `advice.json`, the line and the lines to paste into a new directory."""
    figures = [_graph(advice)] if advice.found.cliffs else []
    drawn = draw_files(figures, fresh_folder(directory / "figures", root=directory))
    page = page_of(
        "advice.html",
        title=_title(advice),
        headline=advice.sentence,
        facts=advice.sentences,
        pastes=[(TARGETS[name], text) for name, text in advice.blocks.items()],
        setting=setting_words(advice.line, advice.setting),
        confirmed=_confirmed(advice),
        standings=_standings(advice),
        figures=[(figure, Markup(drawn[figure.item])) for figure in figures],
        assumed=advice.assumed,
    )
    write_file(directory / "report.html", page)
    text = json.dumps(advice.as_json(), indent=2, ensure_ascii=False)
    write_file(directory / "advice.json", text + "\n")
    write_file(directory / "scenario.toml", advice.line.text)
    if advice.configuration is not None:
        write_file(directory / "better.cm", advice.configuration.octets)
    for name, block in advice.blocks.items():
        write_file(directory / f"{name}.txt", block)


def _confirmed(advice: Advice) -> PlainTable:
    rows = tuple(tuple(PlainCell(text) for text in row) for row in advice.rows())
    return PlainTable(
        "confirmed",
        "Effect",
        f"Means of {len(advice.found.confirmed[advice.setting])} runs of {advice.found.confirm_s:g} s with other seeds than "
        f"the race, and {100 * LEVEL:.0f} % intervals. Delays are those of the router and the line, without propagation.",
        advice.headings(),
        rows,
    )


def _standings(advice: Advice) -> PlainTable:
    use = advice.users[0].use
    rows = tuple(
        (
            PlainCell(setting_words(advice.line, one.arm)),
            PlainCell(VERDICTS[one.verdict]),
            PlainCell(f"{significant(one.felt, 3)} {use.unit}"),
        )
        for one in advice.found.standings
    )
    return PlainTable(
        "settings",
        "All that raced in the last round",
        f"Of each setting {use.whose} {use.felt} in the race. The race ended: {advice.found.stop}.",
        ("setting", "", use.felt),
        rows,
    )


def _graph(advice: Advice) -> Figure:
    """Delay over the share of the line in the shaper."""
    marks: list[Mark] = []
    for place, cliff in enumerate(advice.found.cliffs):
        x, y = (np.array(list(values)) for values in zip(*cliff.delays_ms.items(), strict=True))
        where = f" {cliff.supposed}" if cliff.supposed else ""
        label = f"{cliff.way}, counting {cliff.counted}{where}"
        marks += [Line(100 * x, y, f"cycle-{place}", label), Dots(100 * x, y, f"cycle-{place}")]
    least = min(cliff.plateau_ms for cliff in advice.found.cliffs)
    most = max(max(cliff.delays_ms.values()) for cliff in advice.found.cliffs)
    panel = Panel(
        x=Axis("rate of the router's shaper", "% of the line"),
        y=Axis("delay, 99 %", "ms", scale="log", low=least / 2, high=max(1.2 * most, 4 * least)),
        marks=tuple(marks),
    )
    return of_one_panel(
        "cliff",
        "How near the cliff is",
        panel,
        caption=f"A rate is over the cliff where the delay is above {CLIFF} times that at the lowest rate.",
        description="99th percentile of delay over the rate of the router's shaper as a share of the line's.",
    )
