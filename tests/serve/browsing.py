"""What tests of the page in a browser share: opening it, waiting, reading its numbers, taking its lessons."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sojourn.scenario.scenario_file import load_scenario
from sojourn.serve.lessons import lessons
from sojourn.simulation.engine import simulate

AXE = Path(__file__).parent / "vendor" / "axe.min.js"


LESSONS = {one.name: one for one in lessons()}


BUFFER = "access.upstream.queue.limit"
Run = Callable[..., Any]


def opened(browser: Any, url: str) -> None:
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(url)
    wait(browser, "globalThis.sojourn?.a.run.value != null")


def wait(browser: Any, condition: str, seconds: float = 150) -> None:
    end = time.monotonic() + seconds
    while not browser.execute_script(f"return Boolean({condition})"):
        assert time.monotonic() < end, condition
        time.sleep(0.05)


def run(browser: Any, script: str, *arguments: object) -> Any:
    """Run an asynchronous script with `m`, what the page shows, and `given`, the arguments."""
    found = browser.execute_async_script(
        "const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1), m = globalThis.sojourn;"
        f"(async () => {{ {script} }})().then((value) => done({{ value }}), (error) => done({{ error: String(error) }}))",
        *arguments,
    )
    assert "error" not in found, found
    return found.get("value")


def readings(browser: Any) -> dict[str, list[str]]:
    rows = browser.execute_script(
        "return [...document.querySelectorAll('.readings tbody tr')].map(row => [...row.children].map(cell => cell.textContent))"
    )
    return {row[0]: row[1:] for row in rows}


def native(text: str, seed: int | None, folder: Path) -> dict[tuple[str, str], float | None]:
    """Return the metrics of a scenario text as `sojourn run` has them, by subject and name."""
    file = folder / "taken.toml"
    file.write_text(text, encoding="utf-8")
    compiled = load_scenario(file).compiled
    return {
        (of, name): value
        for of, name, value, _ in simulate(compiled, compiled.seed if seed is None else seed).metrics()
    }


def lesson(browser: Any, address: str, name: str) -> None:
    opened(browser, f"{address}/lessons/{name}/index.html")


def choose(browser: Any, name: str, place: int) -> None:
    browser.find_elements("css selector", f"input[name={name}]")[place].click()
