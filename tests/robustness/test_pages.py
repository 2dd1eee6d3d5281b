"""Pages show texts of files, and run none of them."""

import re
from pathlib import Path

import polars as pl

from robustness.damage import forget_digests
from sojourn.report.page import content_security_policy, script
from sojourn.report.single import build_run_report
from support import SUMMARY, CommandLine, write_scenario

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


MARKUP = "<img src=x onerror=alert(1)>"
"""A file's name may have all of these characters; a page shows it as text."""


def assert_text_alone(folder: Path) -> None:
    """Assert that a folder has a page, and that no page or drawing has an element of the name."""
    pages = [*folder.rglob("*.html"), *folder.rglob("*.svg")]
    assert any(path.suffix == ".html" for path in pages)
    for path in pages:
        assert "<img src=x" not in path.read_text(encoding="utf-8"), path


def test_a_calibration_shows_the_name_of_its_file_as_text(sojourn: CommandLine, tmp_path: Path) -> None:
    (tmp_path / f"{MARKUP}.toml").write_text(SUMMARY)
    done = sojourn("calibrate", f"{MARKUP}.toml", "--access", "ethernet", "--budget", "400", "--out", "out")
    assert done.status == 0, done.stderr
    assert_text_alone(tmp_path / "out")


def test_a_plugin_has_a_name_of_letters_and_digits(sojourn: CommandLine, tmp_path: Path) -> None:
    (tmp_path / f"{MARKUP}.py").write_text("")
    done = sojourn("check-aqm", "--plugin", f"{MARKUP}.py", "--out", "out")
    assert done.status == 2
    assert "letters, digits and underscores" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_migration_shows_the_name_of_its_file_as_text(sojourn: CommandLine, tmp_path: Path) -> None:
    corpus = Path(__file__).parents[2] / "crates/sojourn-provisioning/tests/corpus"
    (tmp_path / f"{MARKUP}.cm").write_bytes((corpus / "own/v1-white2013.cm").read_bytes())
    (tmp_path / "key").write_text("SOJOURN\n")
    done = sojourn(
        *("provision", "simulate", f"{MARKUP}.cm", "--secret", "key", "--mix", "1"),
        *("--duration", "5 s", "--seeds", "1", "--out", "out"),
    )
    assert done.status == 0, done.stderr
    assert_text_alone(tmp_path / "out")


def test_advice_shows_the_name_of_its_file_as_text(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path).rename(tmp_path / f"{MARKUP}.toml")
    done = sojourn("advise", f"{MARKUP}.toml", "--for", "call", "--can", "modem", "--budget", "3", "--out", "out")
    assert done.status == 0, done.stderr
    assert_text_alone(tmp_path / "out")
