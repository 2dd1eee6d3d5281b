"""The page as files by their addresses: what any web server can carry under any path, and what our own serves."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import jinja2
from markdown_it import MarkdownIt

from sojourn.errors import EnvironmentFailure, UsageError
from sojourn.files import write_file
from sojourn.metrics import metrics
from sojourn.scenario import load_scenario
from sojourn.serve.guard import POLICY
from sojourn.serve.lessons import PAGE, SCENARIOS, SEEDS, Lesson, Numbers, lessons, middle

__all__ = ["export", "site"]

COPIED = ("css", "js", "vendor")

Site = dict[str, bytes | Path]
"""Contents by address below the site: bytes, or the file that has them."""


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
    if not (PAGE / "engine.wasm").is_file():
        raise EnvironmentFailure(
            "this installation has no engine for browsers", "in the repository: make web"
        )
    files = site(scenarios, wanted)
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} holds files already", "name a new directory")
    for name, content in files.items():
        data = content.read_bytes() if isinstance(content, Path) else content
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, data)


def site(scenarios: Sequence[Path] = (), wanted: str = "all", *, served: bool = False) -> Site:
    """Return all files of the site.

    Parameters
    ----------
    scenarios
        Scenario files to offer besides those of the package.
    wanted
        `all`, `none`, or names of lessons with commas between them.
    served
        Whether our own server carries it, which has results and studies, too.
    """
    chosen = _chosen(wanted)
    offered = _offered(scenarios)
    files: Site = {
        path.relative_to(PAGE).as_posix(): path
        for folder in COPIED
        for path in sorted((PAGE / folder).iterdir())
    }
    for path in (*PAGE.glob("engine.wasm*"), PAGE / "sliders.json"):
        files[path.name] = path
    for name, text in offered.items():
        files[f"scenarios/{name}.toml"] = text.encode()
    listing = [{"name": name, "file": f"scenarios/{name}.toml"} for name in offered]
    files["scenarios/index.json"] = json.dumps(listing).encode()

    page = _template()
    common = {"policy": POLICY, "served": served, "lessons": chosen}

    def put(address: str, title: str, kind: str, body: str, lesson: Lesson | None = None) -> None:
        text = page.render(
            title=title,
            base="../" * address.count("/"),
            kind=kind,
            script=kind not in {"teacher", "lessons"},
            lesson=lesson,
            body=body,
            **common,
        )
        files[address] = text.encode()

    put("index.html", "Sojourn", "start", _start_body(chosen))
    # Of a page that is opened as a file no script runs that could say it.
    loading = (
        "<p>The engine is being loaded. A browser loads none from a file: serve this directory, for instance "
        "with <code>python3 -m http.server</code>.</p>"
    )
    put("explore.html", "Sojourn: Explore", "explore", loading)
    put("senses.html", "Sojourn: Hear and feel", "senses", loading)
    if served:
        put("results.html", "Sojourn: Results and studies", "results", "<p>One moment.</p>")
    if chosen:
        put("lessons/index.html", "Sojourn: Lessons", "lessons", _lessons_body(chosen))
    for number, lesson in enumerate(chosen, 1):
        place = f"lessons/{lesson.name}"
        heading = f"Lesson {number} of {len(chosen)}"
        put(
            f"{place}/index.html",
            f"Lesson: {lesson.title}",
            "lesson",
            _lesson_body(lesson, heading),
            lesson,
        )
        teacher = _teacher_body(lesson)
        put(f"{place}/teacher.html", f"For teachers: {lesson.title}", "teacher", teacher)
    return files


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


def _prose(lesson: Lesson, part: str, numbers: Numbers) -> str:
    text = lesson.filled(lesson.text[part], numbers)
    return MarkdownIt("js-default", {"html": False}).render(text)


def _start_body(chosen: Sequence[Lesson]) -> str:
    items = "".join(
        f'<li><a href="lessons/{lesson.name}/index.html">{html.escape(lesson.title)}</a></li>'
        for lesson in chosen
    )
    found = f"<section><h2>Take a lesson</h2><ol>{items}</ol></section>" if chosen else ""
    return (
        "<h1>A video call and an upload share a line of 10 Mb/s</h1>"
        '<div data-part="play"><p>The engine is being loaded. A browser loads none from a file: serve this directory, for '
        "instance with <code>python3 -m http.server</code>.</p></div>"
        '<div class="doors" data-part="doors"><section><h2>Try a line</h2><p>Choose a scenario, move what it has sliders for, '
        'put two settings side by side.</p><p><a href="explore.html">Explore</a></p></section><section><h2>Hear and feel</h2>'
        "<p>What a call sounds like behind an upload, and what a hand feels.</p>"
        '<p><a href="senses.html">Hear the call, feel the lag</a></p></section>'
        f"{found}</div>"
    )


def _lessons_body(chosen: Sequence[Lesson]) -> str:
    items = "".join(
        f'<li><a href="{lesson.name}/index.html">{html.escape(lesson.title)}</a> '
        f'<a class="quiet" href="{lesson.name}/teacher.html">For teachers<span class="unseen">: '
        f"{html.escape(lesson.title)}</span></a></li>"
        for lesson in chosen
    )
    return (
        "<h1>Lessons</h1><p>Each takes ten minutes: guess, run, see why, play. They build on each other.</p>"
        f'<ol class="lessons">{items}</ol>'
    )


def _lesson_body(lesson: Lesson, heading: str) -> str:
    numbers = lesson.numbers()
    about = {
        **lesson.about,
        "question": lesson.filled(str(lesson.about["question"]), numbers),
        "heading": heading,
        "start": lesson.runs["start"],
        "at": lesson.runs["guess"],
    }
    text = json.dumps(about, ensure_ascii=False).replace("<", "\\u003c")
    parts = "".join(
        f'<div data-part="{part}">{_prose(lesson, part, numbers)}</div>' for part in lesson.text
    )
    return f'<h1>{html.escape(lesson.title)}</h1>{parts}<script type="application/json" id="lesson">{text}</script>'


def _teacher_body(lesson: Lesson) -> str:
    """Return the page for teachers: without script, to be printed."""
    numbers = lesson.numbers()
    rows: list[str] = []
    for claim in lesson.claims:
        setting = ", ".join(f"{path} = {value}" for path, value in lesson.runs[claim.run].items())
        subject, _, metric = claim.of.rpartition("/")
        cells = (
            claim.says,
            setting,
            f"{subject}: {metrics()[metric].words}",
            *middle(numbers[claim.run][claim.of], claim.of),
            f"{claim.held(numbers)} of {len(SEEDS)}",
        )
        looks = ['<td class="text">'] * 3 + ["<td>"] * 3
        row = (f"{look}{html.escape(cell)}</td>" for look, cell in zip(looks, cells, strict=True))
        rows.append(f"<tr>{''.join(row)}</tr>")
    goals = "".join(f"<li>{html.escape(goal)}</li>" for goal in lesson.goals)
    about = lesson.about
    question = html.escape(lesson.filled(str(about["question"]), numbers))
    answer = middle(numbers["guess"][lesson.answer], lesson.answer)
    return f"""<article class="prose"><h1>For teachers: {html.escape(lesson.title)}</h1>
<p>{about["minutes"]} minutes, one computer for two. It takes to know what a packet is. <a href="index.html">The lesson</a></p>
<h2>After it, a student can</h2><ol>{goals}</ol>
<h2>Ask first</h2><p>{question} Let them write their guess down before they run it. It is {answer[0]}; over the seeds
{answer[1]}.</p>
<h2>What they see</h2>{_prose(lesson, "saw", numbers)}
<h2>Why</h2>{_prose(lesson, "why", numbers)}
<h2>Check question</h2><p>{html.escape(str(about["check"]))} Answer: {html.escape(str(about["check_answer"]))}.</p>
<h2>What holds, in runs with seeds {SEEDS[0]} to {SEEDS[-1]}</h2>
<div class="scroll whole" tabindex="0" role="region" aria-label="What holds"><table><thead><tr><th scope="col">claim</th>
<th scope="col" class="text">setting</th><th scope="col" class="text">of what</th><th scope="col">median</th><th scope="col">range</th>
<th scope="col">holds in</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div></article>"""
