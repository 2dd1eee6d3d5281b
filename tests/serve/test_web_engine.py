"""The engine in a browser tab is the engine: golden results in Node.js, the size of what is loaded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "python/sojourn/serve/page"
ENGINE = PAGE / "engine.wasm"
GOLDEN = ROOT / "crates/sojourn-engine/tests/golden/columns.txt"
STUDIES = {"akhtar2013": {"record.objects": "true", "record.series": "100 ms"}}


def missing(what: str, *, there: bool) -> pytest.MarkDecorator:
    """Leave a test out and say so; where browsers are required, let it fail for what is missing."""
    wanted = bool(os.environ.get("SOJOURN_REQUIRE_BROWSER"))
    return pytest.mark.skipif(not there and not wanted, reason=f"the engine of a browser tab: {what}")


needs_engine = missing("make web builds it", there=ENGINE.exists())
needs_node = missing("Node.js is not installed", there=shutil.which("node") is not None)


def world(name: str) -> dict[str, object]:
    """Return a golden world as the engine of a tab takes it."""
    folder = f"python/sojourn/published/{name}/scenarios/base" if name in STUDIES else f"scenarios/{name}"
    text = (ROOT / f"{folder}.toml").read_text(encoding="utf-8")
    settings = {"duration": "20 s", **STUDIES.get(name, {})}
    return {"name": name, "scenario": text, "settings": settings, "seconds": 0}


@needs_engine
@needs_node
def test_the_engine_of_a_tab_gives_the_golden_results_in_node() -> None:
    golden = GOLDEN.read_text(encoding="utf-8").splitlines()
    worlds = [world(name) for name in dict.fromkeys(line.split()[2] for line in golden)]
    found = subprocess.run(
        ["node", ROOT / "tests/serve/golden.mjs", ENGINE],
        input=json.dumps(worlds),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert len(golden) > 700
    assert set(found) == set(golden)


@needs_engine
def test_what_a_page_loads_is_small() -> None:
    assert ENGINE.stat().st_size <= 1_800_000
    brotli = ENGINE.with_name("engine.wasm.br")
    if brotli.exists():
        assert brotli.stat().st_size <= 450_000


@needs_engine
def test_the_engine_of_a_tab_needs_nothing_from_outside() -> None:
    # The import section has number 2 (WebAssembly Core 5.5.2); sections stand in the order of their numbers.
    data = ENGINE.read_bytes()
    assert data[:8] == b"\0asm\1\0\0\0"
    at, sections = 8, list[int]()
    while at < len(data):
        number, at = data[at], at + 1
        size = shift = 0
        while True:
            octet, at = data[at], at + 1
            size |= (octet & 0x7F) << shift
            shift += 7
            if octet < 0x80:
                break
        sections.append(number)
        at += size
    assert 3 in sections
    assert 2 not in sections
