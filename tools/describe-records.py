"""Write docs/reference/records.md and metrics.md: the tables of runs with every column, and every metric.

usage: .venv/bin/python tools/describe-records.py [--check]
"""

import sys
from itertools import groupby
from pathlib import Path

from sojourn import _engine

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"

BEGINNING = """\
<!-- Generated: .venv/bin/python tools/describe-records.py -->

# Records

What happened in a run stands in tables: Parquet files in the store and in directories of runs, Polars frames as
`Run.tables`, views for `sojourn query`. A study keeps those that its `keep` names, with `point` and `seed` as first columns.
What is not recorded (see `[record]` in the [scenario file](../guides/write-a-scenario.md)) leaves a table empty or away.
"""

RESULT = """
## Tables of a study's result

| table | one row per | columns |
|---|---|---|
| `metrics` | point, seed, subject and metric | `study`, `point`, `seed`, `subject`, `metric`, `value`, `unit` |
| `runs` | run | `point`, `seed`, `key` (in the store), `simulated_s`, `wall_s`, `packet_hops`, `events`, and the labels |
| `summary` | point, subject and metric | `point`, the labels, `subject`, `metric`, `unit`, `n`, `mean`, `low`, `high`, `median`, `interval`, `note` |
| `points` | point | `point` and the labels (`StudyResult.points`) |

[Statistics](../concepts/statistics.md#over-runs) says how `low` and `high` are made.
"""


METRICS = """\
<!-- Generated: .venv/bin/python tools/describe-records.py -->

# Metrics

Every metric of a run has one definition, in `crates/sojourn-metrics`. A metric without a value (the median of nothing) has
no row; it is never zero. [Statistics](../concepts/statistics.md) says how quantiles and intervals are made.

`subject` is a traffic entry of the scenario, or `upstream` or `downstream` for the access link. With homes it is
`family/2/call`, and `family/2/upstream` for the access link of one; other links are `NAME/upstream` and `NAME/downstream`.
What an entry forwards and its access delay are counted on its access link, its losses on all links of its path. If packets
passed in several queues of one manager, each has rows of its own: `upstream/classic`, `upstream/low_latency`,
`upstream/ack_priority`.

Metrics do not depend on what `record` keeps; `record.outcomes` asks for those of Quality of Outcome (`qoo_…`). Losses and delays
of datagrams are counted per flow and direction, and the times of transfers per entry, in memory that does not grow with the
run. Only pages keep their rows, and round trips where outcomes are asked for. Counted delays stand in bins whose middle is
within 0.05 % of every delay in them; the shortest delay is exact. So a packet whose delay is within 0.05 % of the edge of being
late (33 us for a call whose fastest packet took 6 ms) may be counted on either side of it.

| metric | words | unit | better | definition | source |
|---|---|---|---|---|---|
"""


def metrics_page() -> str:
    """Return the page of metrics: one row for metrics that share a definition."""
    rows: list[str] = []
    for (meaning, source, unit, better), group in groupby(
        _engine.metric_schemas(), key=lambda one: tuple(one[k] for k in ("meaning", "source", "unit", "better"))
    ):
        found = list(group)
        names = ", ".join(f"`{one['name']}`" for one in found)
        words = "; ".join(one["words"] for one in found)
        rows.append(f"| {names} | {words} | {unit} | {better} | {meaning} | {source} |\n")
    return METRICS + "".join(rows)


def records_page() -> str:
    """Return the page of records."""
    parts = [BEGINNING]
    for table in _engine.table_schemas():
        parts.append(f"\n## `{table['name']}`\n\n{sentence(table['meaning'])}\n")
        parts.append("\n| column | unit | meaning |\n|---|---|---|\n")
        for column in table["columns"]:
            meaning = str(column["meaning"]).replace("|", "\\|")
            parts.append(f"| `{column['name']}` | {column['unit']} | {meaning} |\n")
    return "".join([*parts, RESULT])


def sentence(text: str) -> str:
    """Return a text that begins large and ends with a dot."""
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."


if __name__ == "__main__":
    pages = {REFERENCE / "records.md": records_page(), REFERENCE / "metrics.md": metrics_page()}
    if "--check" in sys.argv[1:]:
        sys.exit(any(path.read_text(encoding="utf-8") != text for path, text in pages.items()))
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8")
