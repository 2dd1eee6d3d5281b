"""The collector's page: which probes report, whose clock is wrong, and what the tests say so far.

It loads nothing and runs nothing: one document with one style sheet, which the policy names by its digest.
"""

from __future__ import annotations

import base64
import hashlib
import math
from datetime import UTC, datetime, timedelta

import jinja2
import polars as pl

from sojourn.field.collector.storage import ProbeState, Storage
from sojourn.field.deltas import observations
from sojourn.field.records import TARGETS

SILENT = timedelta(hours=26)
"""A probe that has not reported for so long is silent; chosen: a day, and time for one retry."""

CLOCK_S = 60.0
"""Larger clock errors are shown; chosen: slots are hours apart, but a clock that is wrong by a minute has a fault."""

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #ddd; }
th { font-weight: 600; } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.wrong { font-weight: 600; color: #9c2a00; } .muted { color: #595959; }
"""

POLICY = (
    "default-src 'none'; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of every answer."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Field trial</title>
<style>{{ style }}</style>
</head>
<body>
<h1>Field trial</h1>
<p id="summary">{{ reporting }} of {{ active }} probes report; {{ uploads }} uploads, {{ tests }} tests. <span class="muted">{{ now }} UTC</span></p>
{% if results %}
<h2>Results so far</h2>
<p>Mean percent deltas from each home's own mean. These are running numbers: no intervals, and weeks that have not ended.</p>
<table id="results">
<thead><tr><th scope="col">treatment</th>{% for title in titles %}<th scope="col" class="number">{{ title }}</th>{% endfor %}</tr></thead>
<tbody>
{% for name, cells in results %}
<tr><th scope="row">{{ name }}</th>{% for cell in cells %}<td class="number">{{ cell }}</td>{% endfor %}</tr>
{% endfor %}
</tbody>
</table>
{% endif %}
<h2>Probes</h2>
<table id="probes">
<thead><tr><th scope="col">probe</th><th scope="col" class="number">uploads</th><th scope="col">last</th><th scope="col">state</th></tr></thead>
<tbody>
{% for probe in probes %}
<tr><th scope="row">{{ probe.name }}</th><td class="number">{{ probe.uploads }}</td><td>{{ probe.last }}</td><td{% if probe.is_wrong %} class="wrong"{% endif %}>{{ probe.state }}</td></tr>
{% endfor %}
</tbody>
</table>
</body>
</html>
"""


def page(storage: Storage, now: datetime | None = None) -> str:
    """Return the page as HTML."""
    now = now or datetime.now(UTC)
    probes = storage.probes()
    tests = storage.tests()
    titles, results = _results(tests)
    rows = [_row(probe, now) for probe in probes]
    active = [probe for probe in probes if not probe.revoked]
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(_PAGE).render(
        style=_STYLE,
        reporting=sum(1 for probe in active if probe.last and now - probe.last < SILENT),
        active=len(active),
        uploads=sum(probe.uploads for probe in probes),
        tests=tests.height,
        now=f"{now:%Y-%m-%d %H:%M}",
        titles=titles,
        results=results,
        probes=rows,
    )


def _row(probe: ProbeState, now: datetime) -> dict[str, object]:
    words: list[str] = []
    if probe.revoked:
        words.append("revoked")
    elif probe.last is None:
        words.append("never reported")
    elif now - probe.last >= SILENT:
        words.append(f"silent for {(now - probe.last).days} days" if (now - probe.last).days > 1 else "silent")
    clock = probe.clock_error_s
    if clock is not None and abs(clock) >= CLOCK_S:
        words.append(f"its clock is {abs(clock):.0f} s {'fast' if clock > 0 else 'slow'}")
    return {
        "name": probe.name,
        "uploads": probe.uploads,
        "last": f"{probe.last:%Y-%m-%d %H:%M}" if probe.last else "–",
        "state": ", ".join(words) or "reports",
        "is_wrong": bool(words) and not probe.revoked,
    }


def _results(tests: pl.DataFrame) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return mean deltas by treatment, or by week where the files name none."""
    means: dict[str, dict[str, float]] = {}
    titles: list[str] = []
    for target in TARGETS:
        rows = observations(tests, target)
        if rows.is_empty():
            continue
        titles.append(target.title)
        by = (
            pl.when(pl.col("treatment") != "").then(pl.col("treatment")).otherwise(pl.format("week {}", pl.col("week")))
        )
        for level, mean in rows.group_by(by.alias("level")).agg(pl.col("delta").mean()).rows():
            means.setdefault(str(level), {})[target.title] = float(mean)
    from sojourn.field.analysis import ordered_levels

    return titles, [
        (level, [_percent(means[level].get(title, math.nan)) for title in titles])
        for level in ordered_levels(list(means))
    ]


def _percent(value: float) -> str:
    return f"{value:+.1f} %".replace("-", "−") if math.isfinite(value) else "–"
