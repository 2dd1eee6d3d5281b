"""Write docs/reference/records.md: the tables of runs and results, with every column.

usage: .venv/bin/python tools/describe-records.py [--check]
"""

import sys
from pathlib import Path

from sojourn import _engine

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "records.md"

BEGINNING = """\
<!-- Generated: .venv/bin/python tools/describe-records.py -->

# Records

What happened in a run stands in tables: Parquet files in the store and in directories of runs, Polars frames as
`Run.tables`, views for `sojourn query`. A study keeps those that its `keep` names, with `point` and `seed` as first columns.
What is not recorded (see `[record]` in the [scenario file](scenario-file.md)) leaves a table empty or away.
"""

RESULT = """
## Tables of a study's result

| table | one row per | columns |
|---|---|---|
| `metrics` | point, seed, subject and metric | `study`, `point`, `seed`, `subject`, `metric`, `value`, `unit` |
| `runs` | run | `point`, `seed`, `key` (in the store), `simulated_s`, `wall_s`, `packet_hops`, `events`, and the labels |
| `summary` | point, subject and metric | `point`, the labels, `subject`, `metric`, `unit`, `n`, `mean`, `low`, `high`, `median`, `interval`, `note` |
| `points` | point | `point` and the labels (`StudyResult.points`) |

How `low` and `high` are made stands with the [metrics](metrics.md).
"""


def page() -> str:
    """Return the page."""
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
    if "--check" in sys.argv[1:]:
        sys.exit(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
