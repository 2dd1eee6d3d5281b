"""A page in a real browser: what is asked by pointer is answered, tables are sorted, nothing scrolls sideways."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from sojourn.report import build
from studies.small_study import result_of, write

ASKED = """<iframe id=page src="report.html" style="width:%dpx;height:900px;border:0"></iframe><pre id=told></pre><script>
page.onload = () => {
  const it = page.contentDocument, view = page.contentWindow, told = {};
  const pieces = [...it.querySelectorAll("svg.piece")];
  told.pieces = pieces.map((one) => [one.getAttribute("aria-label"), one.getBoundingClientRect().height]);
  told.sideways = it.documentElement.scrollWidth - view.innerWidth;
  const mark = it.querySelector("[data-mark] use");
  const box = mark.getBoundingClientRect();
  const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true };
  mark.dispatchEvent(new view.PointerEvent("pointermove", at));
  told.tip = it.querySelector(".tip").hidden ? "" : it.querySelector(".tip").innerText;
  const table = it.querySelector("table.sorts");
  const last = table.tHead.rows[table.tHead.rows.length - 1].cells;
  const column = [...last].findIndex((one) => one.innerText.includes("%(heading)s"));
  const values = () => [...table.tBodies[0].rows].map((row) => row.cells[column].firstChild.textContent);
  told.before = values();
  last[column].click();
  told.up = values();
  last[column].click();
  told.down = values();
  document.getElementById("told").textContent = JSON.stringify(told);
};
</script>"""


def asked(directory: Path, width: int, heading: str) -> dict[str, Any]:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("no Chromium: apt install chromium")
    frame = directory / "frame.html"
    frame.write_text(ASKED.replace("%d", str(width)).replace("%(heading)s", heading), encoding="utf-8")
    done = subprocess.run(
        [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--allow-file-access-from-files", f"--user-data-dir={directory}/profile"),
            *("--virtual-time-budget=5000", "--window-size=1300,1000"),
            *("--dump-dom", frame.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = re.search(r'<pre id="told">(.+?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stdout[-2000:]
    return json.loads(unescape(found[1]))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a result with its page."""
    folder = tmp_path_factory.mktemp("browser")
    result = result_of(write(folder, ""))
    build(result)
    return folder


def test_a_mark_tells_its_value_and_a_heading_sorts(page: Path) -> None:
    told = asked(page, 1200, "codel")
    assert told["sideways"] <= 0
    assert re.search(r"\d", told["tip"]), told
    numbers = [float(text) for text in told["up"] if text != "–"]
    assert len(numbers) > 1
    assert numbers == sorted(numbers)
    assert [float(text) for text in told["down"] if text != "–"] == sorted(numbers, reverse=True)
    assert sorted(told["before"]) == sorted(told["up"])


def test_on_a_telephone_a_figure_is_its_title_and_a_picture_for_each_panel(page: Path) -> None:
    told = asked(page, 400, "codel")
    assert told["sideways"] <= 0
    (_, title), *panels = told["pieces"]
    assert 10 < title < 80
    assert len(panels) > 1
    assert all(height > title for _, height in panels[:2])
