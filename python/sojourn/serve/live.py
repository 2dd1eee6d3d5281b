"""The page as one file, with its engine inside: a notebook shows it, and it can be sent by mail.

Scripts are texts in the file. A few lines at its end give each an address of its own, in the order in which they import each
other. Nothing is loaded from elsewhere: the policy of the page allows only what the file itself has made.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sojourn.base.errors import EnvironmentFailure, UsageError
from sojourn.base.files import write_file
from sojourn.base.toml_text import toml_value
from sojourn.base.whole import whole
from sojourn.scenario.scenario_file import Scenario, load_scenario
from sojourn.serve.lessons import PAGE

HEIGHT = 980
"""Pixels of a frame, unless asked for otherwise; chosen: sliders and four pictures without scrolling on a desktop."""

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob: 'wasm-unsafe-eval'; style-src 'unsafe-inline'; "
    "connect-src blob:; img-src data: blob:; media-src blob:; base-uri 'none'; form-action 'none'"
)
"""Content security policy of the file: it runs its own scripts and sends no requests."""

FIRST = "js/explore.js"
"""The script that no other one imports."""

IMPORTS = re.compile(r"""((?:from|import)\s?\(?)(["'])(\.{1,2}/[\w./-]+)\2""")
"""Imports of a script, also within functions."""


@dataclass(frozen=True, repr=False)
class Live:
    """A scenario with sliders and pictures: each move of a slider simulates the whole run again."""

    scenario: Scenario
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    beside: Mapping[str, str] | None = None
    seed: int = 1
    height: int = HEIGHT

    def __repr__(self) -> str:
        """Name what is shown."""
        return f"<Live page of {self.scenario.name}>"

    def page(self) -> str:
        """Return the page as the text of one file."""
        begin = {"a": dict(self.settings), "b": self.beside and dict(self.beside), "seed": self.seed}
        files = {
            "sliders.json": (PAGE / "sliders.json").read_text(encoding="utf-8"),
            "scenarios/index.json": json.dumps([{"name": self.scenario.name, "file": "scenarios/given.toml"}]),
            "scenarios/given.toml": self.scenario.text,
        }
        brought = {
            "begin": begin,
            "texts": files,
            "scripts": _scripts(),
            "engine": base64.b64encode((PAGE / "engine.wasm.gz").read_bytes()).decode(),
        }
        styles = "".join((PAGE / name).read_text(encoding="utf-8") for name in ("vendor/uplot.css", "css/page.css"))
        # A closing tag inside of a script's text would end it.
        text = json.dumps(brought, ensure_ascii=False).replace("<", "\\u003c")
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>Sojourn: {html.escape(self.scenario.name)}</title><style>{styles}</style></head>"
            '<body><main id="page" tabindex="-1" data-page="explore"><p>The engine is being loaded.</p></main>'
            f'<script type="application/json" id="brought">{text}</script><script type="module">{BEGIN}</script></body></html>'
        )

    def save(self, path: str | Path) -> Path:
        """Write the page into a file that any browser opens, also from a disk."""
        path = Path(path)
        write_file(path, self.page())
        return path

    def _repr_html_(self) -> str:
        """Show the page in a frame that can reach nothing of the notebook."""
        title = html.escape(f"Live run of {self.scenario.name}")
        return (
            f'<iframe title="{title}" sandbox="allow-scripts allow-downloads" width="100%" height="{self.height}" '
            f'style="border:0" srcdoc="{html.escape(self.page())}"></iframe>'
        )


BEGIN = """
const brought = JSON.parse(document.getElementById("brought").textContent);
const made = (parts, type) => URL.createObjectURL(new Blob(parts, { type }));
const packed = Uint8Array.from(atob(brought.engine), (letter) => letter.charCodeAt(0));
const engine = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
const files = { "engine.wasm": made([engine], "application/wasm") };
for (const [name, text] of Object.entries(brought.texts)) files[name] = made([text], "text/plain");
globalThis.sojournInside = { files, begin: brought.begin };
for (const [name, parts] of brought.scripts) {
  // Texts and names of scripts take turns.
  files[name] = made(parts.map((part, place) => (place % 2 ? files[part] : part)), "text/javascript");
}
const { start } = await import(files["js/explore.js"]);
await start(document.getElementById("page"));
"""
"""Script that gives each module its address and starts the page."""


def live(
    scenario: Scenario | str | Path,
    settings: Mapping[str, object] | None = None,
    *,
    beside: Mapping[str, object] | None = None,
    seed: int = 1,
    height: int = HEIGHT,
) -> Live:
    """Return a scenario as a page that a notebook shows: sliders and pictures, and each move simulates the whole run again.

    Parameters
    ----------
    scenario
        A scenario, or the path of its file.
    settings
        Values by their paths that the page begins with, such as `{"access.upstream.queue": "pie"}`.
    beside
        Settings of a second run, which is shown beside the first with the same seed.
    seed
        What decides all that is random in the runs.
    height
        Pixels of the frame.

    Raises
    ------
    ScenarioError
        If the scenario is not valid, alone or with the settings.
    UsageError
        If its queue manager is a program of your own, there is no such file, or the seed is none.
    EnvironmentFailure
        If the engine for browsers was not built.
    """
    if not (PAGE / "engine.wasm.gz").is_file():
        raise EnvironmentFailure("this installation has no engine for browsers", "in the repository: make web")
    seed = whole("seed", seed, 1, 2**32 - 1)
    if not isinstance(scenario, Scenario):
        scenario = load_scenario(Path(scenario))
    first = _checked(scenario, settings or {})
    second = None if beside is None else _checked(scenario, beside)
    return Live(scenario, first, second, seed, height)


def _checked(scenario: Scenario, settings: Mapping[str, object]) -> dict[str, str]:
    """Return settings as the page takes them, if the engine of browsers can run the scenario with them."""
    run = scenario.with_settings(settings)
    if run.kernel:
        raise UsageError(
            f"{run.name} has the TCP of a kernel, which the engine of browsers does not have", "sojourn.run runs it"
        )
    if run.is_prototype or run.has_plugin:
        raise UsageError(
            f"{run.name} has a queue manager of your own, which the engine of browsers does not have",
            "sojourn.run runs it",
        )
    return {path: toml_value(value) for path, value in settings.items()}


def _scripts() -> list[tuple[str, list[str]]]:
    """Return names and texts of scripts, each after those that it imports; in a text, every second part is a name."""
    found: dict[str, list[str]] = {}

    def add(name: str) -> None:
        if name in found:
            return
        path = PAGE / name
        parts: list[str] = []
        last = 0
        text = path.read_text(encoding="utf-8")
        for match in IMPORTS.finditer(text):
            other = (path.parent / match[3]).resolve().relative_to(PAGE.resolve()).as_posix()
            add(other)
            parts += [text[last : match.start(3)], other]
            last = match.end(3)
        parts.append(text[last:])
        found[name] = parts

    add(FIRST)
    return list(found.items())
