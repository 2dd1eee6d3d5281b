"""Pages show texts of files, and run none of them."""

import re
from pathlib import Path

import polars as pl

from robustness.damage import forget_digests
from sojourn.report.page import content_security_policy, script
from sojourn.report.single import build_run_report
from support import CommandLine, write_scenario

SCRIPT = '"><script>alert(1)</script><b id="$\\frac{$'


def test_texts_of_records_are_shown_and_not_run(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    assert sojourn("run", "household.toml", "--out", "out").status == 0
    for path in (tmp_path / "out").glob("*.parquet"):
        table = pl.read_parquet(path)
        words = [name for name in ("traffic", "direction", "subject") if name in table.columns]
        changed = [
            pl.when(pl.col(name).cast(pl.String) == value)
            .then(pl.lit(SCRIPT))
            .otherwise(pl.col(name).cast(pl.String))
            .alias(name)
            for name in words
            for value in [{"traffic": "bulk", "direction": "upstream", "subject": "call"}[name]]
        ]
        table.with_columns(changed).write_parquet(path)
    forget_digests(tmp_path / "out")
    build_run_report(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<script") == 1  # the page's own
    assert f"<script>{script()}</script>" in page
    assert "&lt;script&gt;" in page
    for drawing in (tmp_path / "out" / "figures").glob("*.svg"):
        assert "<script" not in drawing.read_text()


def test_a_page_allows_its_own_style_sheets_and_nothing_else(sojourn: CommandLine, tmp_path: Path) -> None:
    import base64
    import hashlib

    write_scenario(tmp_path)
    assert sojourn("run", "household.toml", "--report", "--out", "out").status == 0
    page = (tmp_path / "out" / "report.html").read_text()
    policy = content_security_policy()
    assert f'content="{policy}"' in page
    assert "default-src 'none'" in policy
    sheets = re.findall(r"<style[^>]*>(.*?)</style>", page, re.DOTALL)
    assert len(sheets) == 5  # the page's and four drawings'
    for sheet in sheets:
        digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
