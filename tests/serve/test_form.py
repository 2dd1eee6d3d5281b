"""The form of all keys and the scenario as text: both are the engine's, in Node.js and in a browser."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from tests.serve.browsing import AXE, opened, run, wait
from tests.serve.test_web_engine import PAGE, ROOT, needs_engine, needs_node

from sojourn.serve.site import read, site

SCENARIOS = ("lesson-buffer", "lld-cloud-game", "rrul", "line-that-changes", "lesson-grants", "neighbourhood")
"""A line of each kind, names with spaces, entries of a load, conditions, homes."""

BUFFER = "access.upstream.queue.limit"


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Run the form over these scenarios."""
    made = subprocess.run(
        ["node", ROOT / "tests/serve/form.mjs", PAGE, *(ROOT / "scenarios" / f"{name}.toml" for name in SCENARIOS)],
        input=read(site()["keys.json"]),
        capture_output=True,
        check=True,
    )
    return json.loads(made.stdout)


@needs_engine
@needs_node
def test_a_value_in_force_that_is_set_again_changes_nothing(found: dict[str, Any]) -> None:
    assert found["set"] > 500
    assert found["moved"] == []


@needs_engine
@needs_node
def test_a_value_in_the_text_means_what_the_setting_means(found: dict[str, Any]) -> None:
    assert found["wrong"] == []
    # What it does not follow is spelt anew by the engine, and that is rare.
    assert found["edited"] > 20 * found["spelt"]
    assert found["changed"] > 200


@needs_engine
@needs_node
def test_comments_stay(found: dict[str, Any]) -> None:
    assert found["comments"] == []


@needs_engine
@needs_node
def test_entries_are_copied_removed_renamed_and_added(found: dict[str, Any]) -> None:
    assert found["entries"] == [
        ["upload", "second", "call"],
        ["upload"],
        ["upload", "phone"],
        ["upload", "call", "game"],
        # A name with a space is shown as it is, and its entry is found.
        ["upload", "my phone"],
        ["upload"],
        None,
        True,
    ]


@needs_engine
@needs_node
def test_each_key_has_a_way_to_be_set(found: dict[str, Any]) -> None:
    from sojourn.study.key_list import scenario_keys_once

    keys = [row for row in scenario_keys_once() if not row.is_choice]
    assert sum(found["shapes"].values()) == len(keys)
    assert set(found["shapes"]) == {"check", "kind", "radio", "list", "either", "text"}


def test_the_table_of_keys_is_small() -> None:
    import gzip

    assert len(gzip.compress(read(site()["keys.json"]))) <= 72_000


@pytest.fixture
def keys(browser: Any, address: str) -> Any:
    opened(browser, f"{address}/explore.html")
    browser.execute_script("[...document.querySelectorAll('details.later')].at(-1).open = true")
    wait(browser, "document.querySelector('.keys details')")
    return browser


def test_a_key_is_found_by_what_people_call_it_and_set(keys: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    keys.find_element("css selector", ".keys input[type=search]").send_keys("bandwidth upstream.link")
    wait(keys, "document.querySelector('.key-row')")
    shown = [one.text for one in keys.find_elements("css selector", ".key-row code")]
    assert "access.upstream.link.rate" in shown
    field = keys.find_element("id", "key-access.upstream.link.rate")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(Keys.NULL, "5 Mb/s", Keys.ENTER)
    wait(keys, "sojourn.a.run.value.settings['access.upstream.link.rate'] === '5 Mb/s'")
    wait(keys, r"/goodput up4\.\d/.test(document.querySelector('.readings').textContent)")
    keys.find_element("css selector", ".key-row button.link").click()
    wait(keys, "!('access.upstream.link.rate' in sojourn.a.run.value.settings)")


def test_the_text_keeps_its_comments_and_says_what_is_wrong_where(keys: Any) -> None:
    run(keys, f"await m.change(m.a, '{BUFFER}', '128 KB')")
    next(one for one in keys.find_elements("css selector", ".keys button") if one.text == "As text").click()
    wait(keys, "document.querySelector('textarea')?.value.includes('128 KB')")
    text = keys.find_element("css selector", "textarea").get_property("value")
    assert "# acknowledgements only" in text
    assert 'queue = { kind = "drop-tail", limit = "128 KB" }' in text
    write = """const place = document.querySelector("textarea");
        place.focus(); place.value = arguments[0]; place.dispatchEvent(new Event("input", { bubbles: true }));"""
    keys.execute_script(write, text.replace('"128 KB"', '"128 apples"'))
    wait(keys, "document.querySelector('.keys .problems')")
    line = 1 + text[: text.index('"128 KB"')].count("\n")
    assert f"line {line}" in keys.find_element("css selector", ".keys .problems").text
    keys.execute_script(write, text.replace('"128 KB"', '"256 KB"'))
    wait(keys, "sojourn.scenario.value.includes('256 KB') && !document.querySelector('.keys .problems')")
    assert run(keys, "await m.undo(); return m.scenario.value.includes('256 KB')") is False


def test_a_kind_that_is_chosen_keeps_what_both_have(keys: Any) -> None:
    run(
        keys,
        "await m.change(m.a, 'access.upstream.queue', 'codel'); await m.change(m.a, 'access.upstream.queue.target', '9 ms')",
    )
    keys.execute_script("document.querySelectorAll('.keys details').forEach((one) => { one.open = true; })")
    wait(keys, "document.getElementById('key-access.upstream.queue')?.value === 'codel'")
    from selenium.webdriver.support.select import Select

    Select(keys.find_element("id", "key-access.upstream.queue")).select_by_value("fq-codel")
    wait(keys, "sojourn.a.run.value.settings['access.upstream.queue'] === 'fq-codel'")
    assert run(keys, "return m.a.run.value.settings['access.upstream.queue.target']") == "9 ms"
    Select(keys.find_element("id", "key-access.upstream.queue")).select_by_value("drop-tail")
    wait(keys, "sojourn.a.run.value.settings['access.upstream.queue'] === 'drop-tail'")
    assert run(keys, "return m.a.run.value.settings['access.upstream.queue.target'] ?? null") is None
    # What this kind needs is as the file has it.
    assert run(keys, "return m.a.run.value.settings['access.upstream.queue.limit']") == "64000 B"


def test_axe_finds_nothing_in_the_form(keys: Any) -> None:
    keys.execute_script("document.querySelectorAll('.keys details').forEach((one) => { one.open = true; })")
    next(one for one in keys.find_elements("css selector", ".keys button") if one.text == "As text").click()
    wait(keys, "document.querySelector('textarea') && document.querySelectorAll('.key-row').length > 100")
    keys.execute_script(AXE.read_text(encoding="utf-8"))
    found = keys.execute_async_script("axe.run(document, { resultTypes: ['violations'] }).then(arguments[0])")
    assert [(one["id"], [node["html"][:160] for node in one["nodes"]][:3]) for one in found["violations"]] == []
