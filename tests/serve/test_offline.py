"""The page with the network unplugged: server and browser where there is nothing but loopback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.serve.test_web_engine import needs_engine

ALONE = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


OFFLINE = """
import json, socket, subprocess, sys, time
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
    sys.exit("there is a network")
except OSError:
    pass
server = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
text = ""
for line in server.stdout:
    text += line
    if line.startswith("}"):
        break
said = json.loads(text)
options = webdriver.ChromeOptions()
for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
    options.add_argument(argument)
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
options.binary_location = "/usr/bin/chromium"
browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
try:
    browser.get(said["url"])
    end = time.monotonic() + 90
    while not browser.execute_script("return Boolean(globalThis.sojourn?.a.run.value)"):
        assert time.monotonic() < end, browser.find_element("css selector", "body").text
        time.sleep(0.1)
    shown = browser.execute_script("return document.querySelector('h1').textContent")
    complaints = [entry["message"] for entry in browser.get_log("browser")]
    print(json.dumps([said["live"], shown, complaints]))
finally:
    browser.quit()
    server.terminate()
    server.wait()
"""
"""Run in a namespace with nothing but loopback: our program serves, a browser opens a lesson."""


def can_be_alone() -> bool:
    """Return whether this machine lets a user have a network of nothing."""
    if None in map(shutil.which, ("unshare", "ip", "chromium", "chromedriver")):
        return False
    return subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode == 0


def shown_alone(serve: list[str], home: Path) -> tuple[str, str, list[str]]:
    """Open what a command serves where there is no network; return its engine, its title and what the browser complained of."""
    if not can_be_alone():
        pytest.skip("the page without a network: it takes namespaces of users, and a browser")
    done = subprocess.run(
        [*ALONE, sys.executable, "-c", OFFLINE, *serve], cwd=home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    live, title, complaints = json.loads(done.stdout)
    return live, title, complaints


@needs_engine
def test_a_lesson_needs_no_network(tmp_path: Path) -> None:
    lesson = ["serve", "lesson", "bufferbloat", "--json", "--port", "0"]
    assert shown_alone([sys.executable, "-m", "sojourn", *lesson], tmp_path) == (
        "tab",
        "Is a longer buffer better?",
        [],
    )
