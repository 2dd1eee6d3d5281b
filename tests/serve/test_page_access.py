"""The page for everyone: keys alone, small and dark screens, forced colours, print, axe."""

from __future__ import annotations

import base64
import math
import re
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from tests.serve.browsing import AXE, BUFFER, run, wait

from sojourn._engine import delay_causes
from sojourn.plots.styles import look_of
from sojourn.serve.lessons import ORDER


def test_a_slider_and_its_picture_are_seen_together_on_a_small_screen(page: Any) -> None:
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    page.execute_script("document.querySelector('.panel').scrollIntoView()")
    seen = page.execute_script(
        """
        const inside = (one) => { const { top, bottom } = one.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; };
        return [inside(document.querySelector(".panel canvas")), inside(document.querySelector(".controls input[type=range]"))];
        """
    )
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert seen == [True, True]


def test_everything_is_reached_by_the_tabulator_and_nothing_holds_it(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    page.execute_script("document.body.focus()")
    seen: list[str] = []
    for _ in range(60):
        page.switch_to.active_element.send_keys(Keys.TAB)
        seen.append(
            page.execute_script(
                "const one = document.activeElement; return one.dataset.path ?? (one.getAttribute('aria-label') ?? one.textContent).slice(0, 30)"
            )
        )
    assert "Skip to the page" in seen
    assert BUFFER in seen
    assert {"Compare with B", "Undo", "Play", "Zoom in", "Link", "TOML", "CSV", "PNG", "Notebook"} <= set(seen)
    plots = [word for word in seen if word.startswith("backlog of the queue")]
    assert plots, seen


def test_the_cursor_of_a_picture_moves_by_keys(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    plot = page.find_element("css selector", ".plot")
    plot.send_keys(Keys.HOME)
    assert run(page, "return m.cursor.value") == 0
    plot.send_keys(Keys.ARROW_RIGHT)
    assert 0 < run(page, "return m.cursor.value") < 1
    plot.send_keys(Keys.END)
    assert run(page, "return m.cursor.value") == pytest.approx(60, abs=0.5)


PAGES = [
    "index.html",
    "explore.html",
    "senses.html",
    "lessons/index.html",
    "lessons/bufferbloat/index.html",
    "lessons/bufferbloat/teacher.html",
    "lessons/answers.html",
]


STILL = ("lessons/index.html", "teacher.html", "answers.html")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, address: str, name: str, scheme: str) -> None:
    browser.get("about:blank")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get(f"{address}/{name}")
    if not name.endswith(STILL):
        wait(browser, "document.querySelector('.readings')")
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found = browser.execute_async_script("axe.run(document, { resultTypes: ['violations'] }).then(arguments[0])")
    told = [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found["violations"]]
    assert told == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [320, 400])
def test_no_page_scrolls_sideways_on_a_small_screen(browser: Any, address: str, name: str, width: int) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.get("about:blank")
    browser.get(f"{address}/{name}")
    if not name.endswith(STILL):
        wait(browser, "document.querySelector('.readings')")
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= width


@pytest.mark.parametrize("name", [*(f"lessons/{name}/teacher.html" for name in ORDER), "lessons/answers.html"])
def test_no_text_for_teachers_is_cut_on_a_screen_or_in_print(browser: Any, address: str, name: str) -> None:
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get(f"{address}/{name}")
    cut = """return [...document.querySelectorAll("main *")].filter((one) => one.scrollWidth > one.clientWidth + 1
        && getComputedStyle(one).overflowX !== "visible").map((one) => one.textContent.slice(0, 80))"""
    assert browser.execute_script(cut) == []
    # A4 less its margins.
    size = {"width": 703, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    assert browser.execute_script(cut) == []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def apart(one: str, other: str) -> float:
    """Return how far two colours are apart: CIE 1976 in L*a*b* of D65, which is at least 10 for colours of different names."""

    def lab(colour: str) -> list[float]:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        xyz = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b
        z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
        x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in (*xyz, z))
        return [116 * y - 16, 500 * (x - y), 200 * (y - z)]

    return math.dist(lab(one), lab(other))


@pytest.mark.parametrize("theme", [0, 1])
def test_no_two_things_of_a_picture_of_delay_share_a_colour(theme: int) -> None:
    text = (Path(__file__).parents[2] / "python/sojourn/serve/page/css/page.css").read_text(encoding="utf-8")
    roots = re.findall(r":root \{(.*?)\}", text, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", roots[theme]))
    names = [name for name in colours if name.startswith("cause-")] + ["ghost", "line-b", "paper"]
    assert len(names) == len(delay_causes()) + 3
    near = [(one, other) for one, other in combinations(names, 2) if apart(colours[one], colours[other]) < 15]
    assert near == []


def test_each_cause_of_delay_has_a_colour_of_its_own_in_reports() -> None:
    colours = [look_of(cause).colour for cause, *_ in delay_causes()]
    near = [pair for pair in combinations(colours, 2) if apart(*pair) < 15]
    assert near == []


def test_nothing_moves_by_itself_for_whom_that_is_too_much(browser: Any, address: str) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    )
    browser.get("about:blank")
    browser.get(f"{address}/explore.html")
    wait(browser, "document.querySelector('.player button')")
    button = browser.find_element("css selector", ".player button")
    assert button.text == "One second on"
    button.click()
    first = run(browser, "return m.cursor.value")
    time.sleep(0.3)
    assert run(browser, "return m.cursor.value") == first


def test_colours_that_the_reader_has_forced_leave_the_keys_of_curves(browser: Any, address: str) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "forced-colors", "value": "active"}]})
    browser.get("about:blank")
    browser.get(f"{address}/explore.html")
    wait(browser, "document.querySelector('.key')")
    colours = browser.execute_script(
        "return [...document.querySelectorAll('.panel:nth-of-type(2) .key')].map(one => getComputedStyle(one).backgroundColor)"
    )
    assert len(set(colours)) == len(colours) > 1


@pytest.mark.parametrize("name", ORDER)
def test_the_page_for_teachers_prints_on_two_pages(browser: Any, address: str, name: str) -> None:
    browser.get(f"{address}/lessons/{name}/teacher.html")
    for width, height in ((8.27, 11.69), (8.5, 11.0)):
        printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": width, "paperHeight": height})
        pages = len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed["data"])))
        assert 1 <= pages <= 2
    assert browser.find_elements("css selector", "script") == []
