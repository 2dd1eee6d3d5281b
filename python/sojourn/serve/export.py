"""The page as files: what any web server can carry, under any path."""

from __future__ import annotations

import html
import json
import shutil
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

import jinja2
from markdown_it import MarkdownIt

from sojourn.errors import EnvironmentFailure, UsageError
from sojourn.metrics import metrics
from sojourn.scenario import load_scenario
from sojourn.serve.lessons import PAGE, SCENARIOS, Lesson, lessons, metrics_of

__all__ = ["POLICY", "export"]

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; worker-src 'self'; media-src blob:; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types sojourn"
)
"""What a page may load: its own files, and nothing else."""

SEEDS = range(1, 21)
"""Seeds over which lessons are judged, and of which their teacher's pages tell the middle and the range."""

COPIED = ("css", "js", "vendor")


def export(out: Path, scenarios: Sequence[Path] = (), wanted: str = "all") -> None:
    """Write the page, its engine, scenarios and lessons into a directory.

    Raises
    ------
    UsageError
        If the directory holds something, or there is no such lesson.
    EnvironmentFailure
        If the engine for browsers was not built.
    ScenarioError
        If a scenario is not valid.
    """
    engine = PAGE / "engine.wasm"
    if not engine.is_file():
        raise EnvironmentFailure(
            "this installation has no engine for browsers", "in the repository: make web"
        )
    chosen = _chosen(wanted)
    offered = _offered(scenarios)
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} holds files already", "name a new directory")
    for folder in COPIED:
        shutil.copytree(PAGE / folder, out / folder)
    for file in (*PAGE.glob("engine.wasm*"), PAGE / "sliders.json"):
        shutil.copyfile(file, out / file.name)
    (out / "scenarios").mkdir()
    for name, text in offered.items():
        (out / "scenarios" / f"{name}.toml").write_text(text, encoding="utf-8")
    listing = [{"name": name, "file": f"scenarios/{name}.toml"} for name in offered]
    (out / "scenarios" / "index.json").write_text(json.dumps(listing), encoding="utf-8")
    page = _template()
    common = {"policy": POLICY, "lessons": chosen}
    (out / "index.html").write_text(
        page.render(
            title="Sojourn: Explore",
            base="",
            kind="explore",
            script=True,
            # Of a page that is opened as a file no script runs that could say it.
            body="<p>The engine is being loaded. A browser loads none from a file: serve this directory, for instance "
            "with <code>python3 -m http.server</code>.</p>",
            **common,
        ),
        encoding="utf-8",
    )
    for lesson in chosen:
        folder = out / "lessons" / lesson.name
        folder.mkdir(parents=True)
        base = "../../"
        title = f"Lesson: {lesson.title}"
        (folder / "index.html").write_text(
            page.render(
                title=title,
                base=base,
                kind="lesson",
                script=True,
                lesson=lesson,
                body=_lesson_body(lesson),
                **common,
            ),
            encoding="utf-8",
        )
        (folder / "teacher.html").write_text(
            page.render(
                title=f"For teachers: {lesson.title}",
                base=base,
                kind="teacher",
                script=False,
                body=_teacher_body(lesson),
                **common,
            ),
            encoding="utf-8",
        )


def _chosen(wanted: str) -> list[Lesson]:
    known = {lesson.name: lesson for lesson in lessons()}
    if wanted == "all":
        return list(known.values())
    names = [] if wanted == "none" else wanted.split(",")
    for name in names:
        if name not in known:
            raise UsageError(f"no lesson '{name}'", f"lessons are {', '.join(known)}")
    return [known[name] for name in names]


def _offered(more: Iterable[Path]) -> dict[str, str]:
    """Return texts of scenarios by name: that of the lessons first, then what was named, then the others."""
    first = SCENARIOS / "lesson-buffer.toml"
    others = sorted(path for path in SCENARIOS.glob("*.toml") if path != first)
    offered: dict[str, str] = {}
    for path in (first, *more, *others):
        text = load_scenario(path).text
        offered.setdefault(path.stem, text)
    return offered


def _template() -> jinja2.Template:
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template("page.html")


def _written(value: float, unit: str) -> str:
    figures = 0 if unit == "ms" else 2 if unit else 1
    return f"{value:.{figures}f} {unit}".strip()


def _numbers(lesson: Lesson) -> dict[str, str]:
    """Return what the text of a lesson may name: settings, and values of runs with seed 1."""
    found: dict[str, str] = {}
    for word, settings in (("short", lesson.start), ("long", lesson.at)):
        values = metrics_of(lesson, settings, 1)
        for name, key in (
            ("", ("call", "delay_up_p99")),
            ("_score", ("call", "mos")),
            ("_goodput", ("upload", "goodput")),
        ):
            found[word + name] = _written(values[key], metrics()[key[1]].unit)
    return {
        **found,
        "start": next(iter(lesson.start.values())),
        "at": next(iter(lesson.at.values())),
    }


def _prose(lesson: Lesson, part: str, numbers: dict[str, str]) -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)
    text = environment.from_string(lesson.text[part]).render(numbers)
    return MarkdownIt("js-default", {"html": False}).render(text)


def _lesson_body(lesson: Lesson) -> str:
    numbers = _numbers(lesson)
    about = json.dumps(dict(lesson.about), ensure_ascii=False).replace("<", "\\u003c")
    parts = "".join(
        f'<div data-part="{part}">{_prose(lesson, part, numbers)}</div>' for part in lesson.text
    )
    return f'<h1>{html.escape(lesson.title)}</h1>{parts}<script type="application/json" id="lesson">{about}</script>'


def _teacher_body(lesson: Lesson) -> str:
    """Return the page for teachers: without script, to be printed."""
    numbers = _numbers(lesson)
    rows: list[str] = []
    for claim in lesson.claims:
        values = [
            metrics_of(lesson, claim.where, seed)[claim.subject, claim.metric] for seed in SEEDS
        ]
        unit = metrics()[claim.metric].unit
        held = sum(claim.holds(value) for value in values)
        setting = ", ".join(f"{path} = {value}" for path, value in claim.where.items())
        cells = (
            claim.says,
            setting,
            f"{claim.subject}: {metrics()[claim.metric].words}",
            _written(statistics.median(values), unit),
            f"{_written(min(values), unit)} to {_written(max(values), unit)}",
            f"{held} of {len(values)}",
        )
        looks = ['<td class="text">'] * 3 + ["<td>"] * 3
        row = (f"{look}{html.escape(cell)}</td>" for look, cell in zip(looks, cells, strict=True))
        rows.append(f"<tr>{''.join(row)}</tr>")
    goals = "".join(f"<li>{html.escape(goal)}</li>" for goal in lesson.goals)
    about = lesson.about
    return f"""<article class="prose"><h1>For teachers: {html.escape(lesson.title)}</h1>
<p>{about["minutes"]} minutes, one computer for two. It takes to know what a packet is. <a href="index.html">The lesson</a></p>
<h2>After it, a student can</h2><ol>{goals}</ol>
<h2>Ask first</h2><p>{html.escape(str(about["question"]))} Let them write their guess down before they run it.</p>
<h2>What they see</h2>{_prose(lesson, "saw", numbers)}
<h2>Why</h2>{_prose(lesson, "why", numbers)}
<h2>Check question</h2><p>{html.escape(str(about["check"]))} Answer: {html.escape(str(about["check_answer"]))}.</p>
<h2>What holds, in runs with seeds {SEEDS[0]} to {SEEDS[-1]}</h2>
<div class="scroll whole" tabindex="0" role="region" aria-label="What holds"><table><thead><tr><th scope="col">claim</th>
<th scope="col" class="text">setting</th><th scope="col" class="text">of what</th><th scope="col">median</th><th scope="col">range</th>
<th scope="col">holds in</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div></article>"""
