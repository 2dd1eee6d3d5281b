"""The page's own server: results, runs of the store, studies that are begun and cancelled, and its pages in a browser."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serve.browsing import AXE, wait
from tests.serve.conftest import ENGINE, Server
from tests.support import CommandLine

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "scenarios/lesson-buffer.toml"


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a single run, a study and a scenario."""
    home = tmp_path_factory.mktemp("full")
    command = CommandLine(home)
    shutil.copy(LESSON, home / "mine.toml")
    made = command("run", "mine.toml", "--set", "duration=5 s", "--report", "--out", "results/one")
    assert made.status == 0, made.stderr
    report = home / "results/one/report.html"
    hostile = "<script>parent.hurt = 1; document.title = 'hurt'</script><img src=x onerror=alert(1)>"
    report.write_text(report.read_text().replace("</body>", f"{hostile}</body>"))
    study = command(
        "study",
        "run",
        "buffer-lesson",
        "--quick",
        "--seeds",
        "1",
        "--duration",
        "5 s",
        "--no-figures",
        "--out",
        "results/lesson",
    )
    assert study.status == 0, study.stderr
    (home / "results/<img src=x onerror=alert(1)>").mkdir()
    (home / "results/<img src=x onerror=alert(1)>/manifest.json").write_text("{")
    one = Server(home / "results", command.store, home / "mine.toml")
    yield one
    one.stop()


def test_results_are_listed_and_read(full: Server) -> None:
    found = {one["name"]: one for one in full.json("results")["results"]}
    assert set(found) == {"one", "lesson", "<img src=x onerror=alert(1)>"}
    assert "not JSON" in found["<img src=x onerror=alert(1)>"]["damage"]
    run = full.json(f"results/{found['one']['id']}")
    assert run["kind"] == "run"
    assert {"call", "upload"} <= {row[0] for row in run["rows"]}
    study = full.json(f"results/{found['lesson']['id']}")
    assert study["columns"][:3] == ["point", "subject", "metric"]
    assert len(study["runs"]) >= 2
    again = full.json(f"runs/{study['runs'][0]['key']}")
    assert 'name = "buffer-lesson/' in again["scenario"]


def test_what_is_not_listed_is_not_found(full: Server) -> None:
    for path in ("results/..%2f..", "results/0000000000000000", "runs/..", "runs/zz", "scenarios/x", "results/x/run"):
        assert full.ask(f"/api/{path}")[0] == 404
    damaged = next(one for one in full.json("results")["results"] if one["damage"])
    assert full.ask(f"/api/results/{damaged['id']}")[0] == 422


def test_the_store_is_searched_by_names(full: Server) -> None:
    found = full.json("runs?q=LESSON")
    assert {one["name"].partition("/")[0] for one in found["runs"]} == {"buffer-lesson"}
    assert found["more"] is None
    assert full.json("runs?q=nothing")["runs"] == []
    keys = [one["key"] for one in found["runs"]]
    assert full.json(f"runs?after={keys[0]}")["runs"][0]["key"] == keys[1]


def test_a_report_is_given_for_its_ticket_and_may_do_nothing(full: Server) -> None:
    one = next(one for one in full.json("results")["results"] if one["name"] == "one")
    path = full.json(f"results/{one['id']}")["report"]
    status, headers, body = full.ask(f"/{path}", drop=("Authorization",))
    assert status == 200
    assert b"hurt" in body
    policy = headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "script" not in policy
    assert full.ask(f"/{path[:-1]}{'0' if path[-1] != '0' else '1'}")[0] == 404
    assert full.ask(f"/report/{one['id']}")[0] == 404


def ended(server: Server, number: str, seconds: float = 240) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while True:
        (job,) = (one for one in server.json("jobs")["jobs"] if one["id"] == number)
        if job["state"] not in {"waiting", "running"}:
            return job
        assert time.monotonic() < end, job
        time.sleep(0.2)


def running(server: Server, number: str) -> None:
    end = time.monotonic() + 240
    while not any(
        one["id"] == number and one["state"] == "running" and one["total"] for one in server.json("jobs")["jobs"]
    ):
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.slow
def test_a_study_runs_tells_how_far_it_is_and_leaves_a_result(tmp_path: Path) -> None:
    server = Server(tmp_path / "results", tmp_path / "store", "--store", tmp_path / "store")
    try:
        order = {"study": "buffer-lesson", "quick": True, "seeds": 1, "set": ["duration=5 s"]}
        job = ended(server, server.json("jobs", "POST", order)["id"])
        assert job["state"] == "done", job
        assert job["done"] == job["total"] > 1
        (result,) = server.json("results")["results"]
        assert server.json(f"results/{result['id']}")["kind"] == "study"
        # What is wrong with an order is told in the engine's words.
        order["set"] = ["access.upstream.queue={ kind = 'python', name = 'os' }"]
        job = ended(server, server.json("jobs", "POST", order)["id"])
        assert job["state"] == "failed"
        assert "python" in " ".join(job["words"])
    finally:
        server.stop()


@pytest.mark.slow
def test_a_study_is_cancelled_while_it_waits_and_while_it_runs(tmp_path: Path) -> None:
    server = Server(tmp_path / "results", tmp_path / "store", "--store", tmp_path / "store")
    try:
        order = {"study": "white2013", "seeds": 1}
        first = server.json("jobs", "POST", order)["id"]
        second = server.json("jobs", "POST", order)["id"]
        server.json(f"jobs/{second}", "DELETE")
        assert ended(server, second)["state"] == "cancelled"
        running(server, first)
        server.json(f"jobs/{first}", "DELETE")
        assert ended(server, first, 30)["state"] == "cancelled"
        server.json(f"jobs/{first}", "DELETE")  # again: nothing happens
        assert server.ask("/api/jobs/none", "DELETE")[0] == 404
        assert server.json("results")["results"] == []
        for _ in range(21):
            assert server.ask("/api/jobs", "POST", json.dumps(order).encode())[0] == 201
        running(server, server.json("jobs")["jobs"][20]["id"])
        assert server.ask("/api/jobs", "POST", json.dumps(order).encode())[0] == 409
        # The server ends, and what it has begun ends with it.
        assert server.stop() == 3
    finally:
        server.stop()


def test_a_port_that_is_taken_gives_way_to_the_next(tmp_path: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        one = Server(tmp_path / "results", tmp_path / "store", "--port", str(port))
        try:
            assert port < one.port < port + 10
        finally:
            one.stop()


def test_nothing_is_served_without_what_it_takes(tmp_path: Path) -> None:
    command = CommandLine(tmp_path)
    gone = command("serve", "gone.toml")
    assert gone.status == 2
    assert "there is no gone.toml" in gone.stderr
    assert command("serve", "lesson", "none").status == 2
    assert "bufferbloat" in command("serve", "lesson").stdout


# In a browser


@pytest.fixture
def watched(browser: Any, full: Server) -> Iterator[Any]:
    """Open the start page by its link; no page may complain or load anything from elsewhere."""
    if not ENGINE.exists():
        pytest.skip("make web builds the engine for browsers")
    browser.get("about:blank")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.get_log("browser")
    browser.get(full.link.replace("explore.html", "").partition("&")[0])
    wait(browser, "document.querySelector('.doors li a')")
    yield browser
    browser.switch_to.default_content()
    loaded = browser.execute_script("return performance.getEntriesByType('resource').map(one => one.name)")
    assert [name for name in loaded if not name.startswith((full.root, "data:", "blob:"))] == []


def complaints(browser: Any) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser")]


def axe(browser: Any) -> list[Any]:
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found = browser.execute_async_script(
        "axe.run(document, { resultTypes: ['violations'], iframes: false }).then(arguments[0])"
    )
    return [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found["violations"]]


def test_the_start_page_runs_and_has_doors(watched: Any) -> None:
    wait(watched, "document.querySelector('.readings')")
    assert "#" not in watched.current_url  # the token does not stay in the address
    text = watched.find_element("css selector", "main").text
    for door in ("Explore", "Look at results", "Take a lesson", "Is a longer buffer better?"):
        assert door in text
    assert complaints(watched) == []


def test_a_file_opens_in_explore(watched: Any, full: Server) -> None:
    page = full.link.partition("#")[0]
    assert page.endswith("/explore.html")
    watched.get("about:blank")
    watched.get(full.link)
    wait(watched, "document.querySelector('.readings')")
    assert watched.execute_script("return sojourn.scenario.value") == LESSON.read_text()
    assert "file=" in watched.current_url
    assert "k=" not in watched.current_url
    assert complaints(watched) == []


def results_page(browser: Any, full: Server) -> None:
    browser.get(f"{full.root}/results.html")
    wait(browser, "document.querySelector('table button.link')")


def open_result(browser: Any, name: str) -> None:
    browser.find_element("xpath", f"//table//button[text()='{name}']").click()
    wait(browser, f"document.querySelector('[aria-label=\"The result\"]')?.textContent.includes({name!r})")


def test_a_result_shows_its_table_and_its_report_without_scripts(watched: Any, full: Server) -> None:
    results_page(watched, full)
    assert watched.find_elements("css selector", "main img") == []  # markup in a name is text
    open_result(watched, "one")
    assert "upload" in watched.find_element("css selector", '[aria-label="Values"]').text
    assert complaints(watched) == []
    watched.find_element("xpath", "//summary[text()='Report']").click()
    frame = watched.find_element("css selector", "iframe")
    watched.execute_script("arguments[0].scrollIntoView()", frame)
    wait(watched, "performance.getEntriesByType('resource').some(one => one.name.includes('/report/'))")
    watched.switch_to.frame(frame)
    wait(watched, "document.querySelector('h1')")
    assert watched.execute_script("return self.origin") == "null"
    assert watched.execute_script("return document.title").find("hurt") == -1
    watched.switch_to.default_content()
    assert watched.execute_script("return globalThis.hurt ?? 0") == 0


def test_a_stored_run_made_again_says_the_same_numbers(watched: Any, full: Server) -> None:
    results_page(watched, full)
    open_result(watched, "one")
    watched.find_element("xpath", "//button[text()='Play it live']").click()
    wait(watched, "document.querySelector('.status')?.textContent.includes('As stored')")
    assert "the stored run" in watched.find_element("css selector", "select").text
    assert complaints(watched) == []


@pytest.mark.slow
def test_a_study_is_begun_by_the_form(watched: Any, full: Server) -> None:
    results_page(watched, full)
    watched.execute_script(
        """const select = document.querySelector('form select');
        select.value = 'buffer-lesson';
        select.dispatchEvent(new Event('change', { bubbles: true }));"""
    )
    seeds = watched.find_element("css selector", "form input[type=number]")
    seeds.send_keys("1")
    watched.find_element("xpath", "//button[text()='Run']").click()
    wait(watched, "document.querySelector('.jobs li')?.textContent.includes('buffer-lesson')")
    wait(watched, "document.querySelector('.jobs li').textContent.includes(': done')", 240)
    wait(watched, "document.querySelectorAll('table button.link').length > 3")
    assert complaints(watched) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_results(watched: Any, full: Server, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    watched.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    assert axe(watched) == []
    results_page(watched, full)
    open_result(watched, "lesson")
    assert axe(watched) == []


@pytest.mark.parametrize("width", [320, 400])
def test_results_do_not_scroll_sideways_on_a_small_screen(watched: Any, full: Server, width: int) -> None:
    results_page(watched, full)
    open_result(watched, "one")
    screen = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    watched.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    assert watched.execute_script("return document.documentElement.scrollWidth") <= width


def test_without_the_token_a_page_says_what_to_do(browser: Any, full: Server) -> None:
    browser.get("about:blank")
    browser.get(f"{full.root.replace('127.0.0.1', 'localhost')}/results.html")
    wait(browser, "document.querySelector('main').textContent.includes('link that the terminal shows')")
