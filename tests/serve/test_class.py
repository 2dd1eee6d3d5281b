"""What a class gets: its site, a frame of a learning platform around it, answers on one printed page; in Chromium and in Firefox."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest
from tests.serve.browsing import LESSONS, native, readings, wait
from tests.serve.conftest import serving
from tests.serve.firefox import Firefox, firefox_program

from sojourn.serve.lessons import ORDER
from support import CommandLine

PAPERS = ((8.27, 11.69), (8.5, 11.0))
"""A4 and Letter, in inches."""

FRAME = """<!doctype html><title>Week 3</title><link rel="icon" href="data:,"><h1>Week 3</h1>
<iframe src="{source}" title="Lesson" width="100%" height="900" allow="clipboard-write"
  sandbox="allow-scripts allow-same-origin allow-downloads"></iframe>"""
"""What docs/guides/teach-a-class.md has a teacher put into a platform."""


def test_a_site_for_a_class_has_what_its_lessons_need_and_no_link_to_an_answer(class_site: Path, site: Path) -> None:
    files = {path.relative_to(class_site).as_posix(): path for path in class_site.rglob("*") if path.is_file()}
    assert {f"lessons/{name}/index.html" for name in ORDER} | {"index.html", "explore.html", "engine.wasm"} <= set(
        files
    )
    scenarios = {name for name in files if name.startswith("scenarios/")}
    lines = {f"scenarios/lesson-{line}.toml" for line in ("buffer", "grants", "attic")}
    assert scenarios == {"scenarios/index.json", *lines}
    students = {name: path for name, path in files.items() if not name.startswith("teacher/")}
    assert not {name for name in students if "teacher" in name or "answers" in name or name == "keys.json"}
    for name, path in students.items():
        if path.suffix == ".html":
            text = path.read_text(encoding="utf-8")
            assert "teacher" not in text, name
            for target in re.findall(r'(?:href|src)="([^"#:]+)"', text):
                assert (path.parent / target).resolve().is_file(), (name, target)
    whole = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    assert sum(path.stat().st_size for path in students.values()) < 0.65 * whole


def test_the_command_writes_a_site_for_a_class(sojourn: CommandLine, tmp_path: Path, class_site: Path) -> None:
    assert class_site.is_dir()  # the engine was built
    done = sojourn("serve", "export", "site", "--lessons", "bufferbloat,bbr")
    assert (done.status, done.stdout) == (0, "site/index.html\n")
    assert "answers: site/teacher/index.html" in done.stderr
    assert {path.name for path in (tmp_path / "site" / "lessons").iterdir()} == {"bufferbloat", "bbr"}
    for wrong in ("none", "bufferblot"):
        assert sojourn("serve", "export", "other", "--lessons", wrong).status == 2


def test_all_answers_are_on_one_printed_page(browser: Any, class_port: int, address: str) -> None:
    for url in (f"http://127.0.0.1:{class_port}/teacher/index.html", f"{address}/lessons/answers.html"):
        browser.get(url)
        text = browser.find_element("css selector", "main").text
        for name in ORDER:
            assert LESSONS[name].title in text
            assert str(LESSONS[name].about["check_answer"]) in text
        for width, height in PAPERS:
            printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": width, "paperHeight": height})
            assert len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed["data"]))) == 1
        assert browser.find_elements("css selector", "script") == []


def test_a_lesson_runs_in_a_frame_of_a_learning_platform(browser: Any, class_port: int, tmp_path: Path) -> None:
    # Another name is another site: what a browser keeps from frames of others, it keeps from this one.
    source = f"http://localhost:{class_port}/lessons/bufferbloat/index.html"
    (tmp_path / "index.html").write_text(FRAME.format(source=source))
    with serving(tmp_path) as port:
        browser.get("about:blank")
        browser.get_log("browser")
        browser.get(f"http://127.0.0.1:{port}/index.html")
        browser.switch_to.frame(0)
        wait(browser, "globalThis.sojourn?.a.run.value != null")
        browser.find_element("xpath", "//button[text()='Skip the guess']").click()
        wait(browser, "globalThis.sojourn.a.run.value.settings['access.upstream.queue.limit'] === '1 MB'")
        wait(browser, r"/MOS1\.\d/.test(document.querySelector('.readings').textContent)")
        assert float(readings(browser)["call: MOS"][0]) < 2
        assert [entry["message"] for entry in browser.get_log("browser")] == []
        browser.switch_to.default_content()


@pytest.mark.slow
@pytest.mark.skipif(firefox_program() is None, reason="the page in Firefox: firefox-esr is not installed")
def test_a_lesson_runs_in_firefox_and_has_the_numbers_of_this_machine(class_port: int, tmp_path: Path) -> None:
    lesson = LESSONS["bufferbloat"]
    with Firefox(tmp_path) as firefox:
        firefox.open(f"http://127.0.0.1:{class_port}/lessons/{lesson.name}/index.html")
        firefox.wait("globalThis.sojourn?.a.run.value != null")
        firefox.run(
            "document.querySelectorAll('input[name=guess]')[1].click(); await 0;"
            "document.querySelector('button.first').click()"
        )
        limit = "access.upstream.queue.limit"
        firefox.wait(f"globalThis.sojourn.a.run.value.settings['{limit}'] === '1 MB'")
        firefox.wait(
            "[...document.querySelectorAll('[role=status]')].some((one) => one.textContent.startsWith('You said 50 ms'))"
        )
        metrics, drawn, problems = firefox.run(
            """
            const canvas = document.querySelector(".panel canvas");
            const points = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            return [globalThis.sojourn.a.run.value.metrics, points.some((value) => value), document.querySelectorAll(".problems").length];
            """
        )
    assert drawn
    assert problems == 0
    settings = lesson.runs["guess"]
    text = lesson.scenario.read_text(encoding="utf-8").replace('limit = "64 KB"', f'limit = "{settings[limit]}"')
    found = native(text, 1, tmp_path)
    compared = [(of, name, value) for of, name, value, _ in metrics if value is not None and name != "backlog_mean"]
    assert len(compared) > 50
    for of, name, value in compared:
        assert found[of, name] == pytest.approx(value, rel=1e-5), (of, name)
