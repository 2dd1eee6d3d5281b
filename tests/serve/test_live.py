"""`sojourn.live` in a notebook: its cells are executed, and what the last one shows is opened in a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from tests.serve.browsing import wait
from tests.serve.test_web_engine import needs_engine
from tests.test_python_managers import Fifo

import sojourn
from sojourn.base.errors import EnvironmentFailure, ScenarioError, UsageError
from sojourn.serve import live as room

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "scenarios" / "lesson-buffer.toml"
BUFFER = "access.upstream.queue.limit"

pytestmark = needs_engine


def executed(notebook: Path) -> list[dict[str, str]]:
    """Execute a notebook in a kernel of its own; return what its cells show, by kind of text."""
    read: Any = nbformat.read  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    content = read(notebook, as_version=4)
    NotebookClient(content, timeout=120, kernel_name="python3").execute()
    return [output["data"] for cell in content["cells"] for output in cell["outputs"]]


def written(path: Path, *cells: str) -> Path:
    made: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "id": f"cell{number}",
            "metadata": {},
            "source": cell.splitlines(keepends=True),
            "execution_count": None,
            "outputs": [],
        }
        for number, cell in enumerate(cells)
    ]
    notebook: dict[str, Any] = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def opened(browser: Any, page: Path) -> None:
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(page.as_uri())


def readings(browser: Any) -> dict[str, list[str]]:
    rows = browser.execute_script(
        "return [...document.querySelectorAll('.readings tbody tr')].map(row => [...row.children].map(cell => cell.textContent))"
    )
    return {row[0]: row[1:] for row in rows}


def test_a_notebook_shows_sliders_and_pictures_that_move(browser: Any, tmp_path: Path) -> None:
    notebook = written(
        tmp_path / "lesson.ipynb",
        "import sojourn\n",
        f"home = sojourn.load_scenario({str(LESSON)!r})\nhome",
        f"sojourn.live(home, {{'{BUFFER}': '1 MB'}}, beside={{'access.upstream.queue': 'fq-codel'}})",
    )
    shown = executed(notebook)
    page = tmp_path / "shown.html"
    plain, rich = shown[-1]["text/plain"], shown[-1]["text/html"]
    page.write_text(f"<!doctype html><p id=mine>{plain}</p>{rich}")
    opened(browser, page)
    browser.switch_to.frame(0)
    try:
        wait(browser, "globalThis.sojourn?.b?.run.value && document.querySelector('.readings')")
        assert len(browser.find_elements("css selector", ".panel canvas")) == 4
        found = readings(browser)
        assert found["call: MOS"][:2] == ["1.08", "4.41"]
        # The same numbers as the engine of this process has them.
        run = sojourn.run(sojourn.load_scenario(LESSON).with_settings({BUFFER: "1 MB"}))
        score = run.metrics.filter(subject="call", metric="mos")["value"][0]
        assert f"{score:.2f}" == found["call: MOS"][0]
        from selenium.webdriver.common.keys import Keys

        browser.find_element("css selector", f'input[type=range][data-path="{BUFFER}"]').send_keys(Keys.HOME)
        wait(browser, "/MOS4\\.\\d/.test(document.querySelector('.readings').textContent)")
        # Nothing of the notebook is within reach, and nothing is asked of anybody.
        reached = browser.execute_async_script(
            """const done = arguments[0];
            let page = null;
            try { page = parent.document.getElementById("mine").textContent; } catch (error) { page = error.name; }
            fetch("http://127.0.0.1:9/").then(() => done([page, "asked"]), (error) => done([page, error.name]));"""
        )
        assert reached == ["SecurityError", "TypeError"]
        asked = browser.execute_script(
            "return performance.getEntriesByType('resource').map(one => one.name).filter(name => !/^(blob|data):/.test(name))"
        )
        assert [name for name in asked if "127.0.0.1:9" not in name] == []
    finally:
        browser.switch_to.default_content()


def test_the_page_in_one_file_opens_from_a_disk_and_markup_in_it_is_text(browser: Any, tmp_path: Path) -> None:
    name = "</script><script>globalThis.hurt=1</script><img src=x onerror='globalThis.hurt=2'>"
    text = LESSON.read_text(encoding="utf-8").replace('"lesson/buffer"', json.dumps(name))
    scenario = sojourn.Scenario.parse(text)
    opened(browser, sojourn.live(scenario).save(tmp_path / "one.html"))
    wait(browser, "globalThis.sojourn?.a.run.value && document.querySelector('.readings')")
    assert browser.execute_script("return globalThis.hurt ?? null") is None
    assert browser.find_elements("css selector", "img") == []
    assert browser.title == f"Sojourn: {name}"
    assert [entry["message"] for entry in browser.get_log("browser")] == []
    # What cannot work in a file is not offered.
    assert "Link" not in [one.text for one in browser.find_elements("css selector", ".exports button")]


def test_settings_that_are_wrong_are_told_before_a_page_is_made() -> None:
    with pytest.raises(ScenarioError, match="not a buffer limit"):
        sojourn.live(LESSON, {BUFFER: "long"})
    with pytest.raises(ScenarioError):
        sojourn.live(LESSON, beside={"access.upstream.link.rate": "-1 Mb/s"})


def test_a_queue_manager_in_python_is_not_for_browsers() -> None:
    sojourn.add_manager("mine", Fifo)
    mine = {"access.upstream.queue": {"kind": "python", "class": "mine"}}
    scenario = sojourn.load_scenario(LESSON).with_settings(mine)
    with pytest.raises(UsageError, match="a queue manager of your own"):
        sojourn.live(scenario)


@pytest.mark.whole
def test_without_the_engine_of_browsers_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(room, "PAGE", tmp_path)
    with pytest.raises(EnvironmentFailure, match="no engine for browsers"):
        sojourn.live(LESSON)
