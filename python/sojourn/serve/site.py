"""The page as files by their addresses: what any web server can carry under any path, and what our own serves."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path

import jinja2
from markdown_it import MarkdownIt

from sojourn.base.errors import EnvironmentFailure, UsageError
from sojourn.base.files import write_file
from sojourn.scenario.scenario_file import load_scenario
from sojourn.serve.guard import POLICY
from sojourn.serve.lessons import PAGE, SCENARIOS, Lesson, Numbers, lessons
from sojourn.serve.picture import delay_picture
from sojourn.serve.teacher import answers_body, checked_base, teacher_body

COPIED = ("css", "js", "vendor")

NOT_FOR_CLASS = {"keyform.js", "keys.js", "results.js", "senses.js", "start.js"}
"""Scripts of pages that a class does not get. It gets no compressed engine either: platforms send files as they are."""

LOADING = (
    "<p>The engine is being loaded. A browser loads none from a file: serve this directory, for instance with "
    "<code>python3 -m http.server</code>.</p>"
)
"""Placeholder of a page. It names the fault itself: from a file, no script runs that could."""

Content = bytes | Path | Callable[[], bytes]

Site = dict[str, Content]
"""Contents by address below the site: bytes, the file that has them, or a function that makes them on request."""


def read(content: Content) -> bytes:
    """Return what stands at an address."""
    if isinstance(content, Path):
        return content.read_bytes()
    return content if isinstance(content, bytes) else content()


@cache
def _keys() -> bytes:
    """Return the table of keys for the form: paths, values, meanings."""
    from sojourn.study.key_list import scenario_keys_once, synonyms

    rows = [
        [row.path, row.kind, row.value, row.default, row.allowed, row.about, row.origin] for row in scenario_keys_once()
    ]
    text = json.dumps({"keys": rows, "synonyms": synonyms()}, ensure_ascii=False)
    return text.encode()


def export(
    out: Path, scenarios: Sequence[Path] = (), wanted: str = "all", base: str = "", *, for_class: bool = False
) -> None:
    """Write the page, its engine, scenarios and lessons into a directory.

    Raises `UsageError` if the directory holds something, or there is no such lesson; `EnvironmentFailure` if the engine
    for browsers was not built; `ScenarioError` if a scenario is not valid.

    For a class it is the lessons, what they run, and Explore with the scenarios of the lessons. Their answers are in the
    folder `teacher`, to which no page leads.
    """
    if not (PAGE / "engine.wasm").is_file():
        raise EnvironmentFailure("this installation has no engine for browsers", "in the repository: make web")
    files = site(scenarios, wanted, base=base, for_class=for_class)
    if for_class and wanted == "none":
        raise UsageError("a class needs a lesson", "leave out --lessons, or name some")
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} holds files already", "name a new directory")
    for name, content in files.items():
        data = read(content)
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, data)


def site(
    scenarios: Sequence[Path] = (),
    wanted: str = "all",
    *,
    base: str = "",
    served: bool = False,
    for_class: bool = False,
) -> Site:
    """Return all files of the site.

    Parameters
    ----------
    scenarios
        Scenario files to offer besides those of the package.
    wanted
        `all`, `none`, or names of lessons with commas between them.
    base
        Address at which students find the site, for the QR codes on pages for teachers; without it there are none.
    served
        Whether our own server carries it, which has results and studies, too.
    for_class
        Whether it has only what a class needs, see `export`.
    """
    chosen = _chosen(wanted)
    home = checked_base(base) if base else ""
    offered = _offered(
        scenarios, [lesson.scenario for lesson in chosen] if for_class else sorted(SCENARIOS.glob("*.toml"))
    )
    files: Site = {
        path.relative_to(PAGE).as_posix(): cache(partial(SLIM[folder], path)) if folder in SLIM else path
        for folder in COPIED
        for path in sorted((PAGE / folder).iterdir())
        if not for_class or path.name not in NOT_FOR_CLASS
    }
    for path in (*PAGE.glob("engine.wasm" if for_class else "engine.wasm*"), PAGE / "sliders.json"):
        files[path.name] = path
    for name, text in offered.items():
        files[f"scenarios/{name}.toml"] = text.encode()
    if not for_class:
        files["keys.json"] = _keys
    listing = [{"name": name, "file": f"scenarios/{name}.toml"} for name in offered]
    files["scenarios/index.json"] = json.dumps(listing).encode()

    page = _template()
    common = {"policy": POLICY, "served": served, "lessons": chosen, "for_class": for_class}

    def put(address: str, title: str, kind: str, body: str, lesson: Lesson | None = None) -> None:
        text = page.render(
            title=title,
            base="../" * address.count("/"),
            kind=kind,
            script=kind not in {"teacher", "lessons"},
            answers=kind == "lesson" and not for_class,
            lesson=lesson,
            body=body,
            **common,
        )
        files[address] = text.encode()

    put("explore.html", "Sojourn: Explore", "explore", LOADING)
    if for_class:
        put("index.html", "Lessons", "lessons", _lessons_body(chosen, "lessons/"))
    else:
        put("index.html", "Sojourn", "start", _start_body(chosen))
        put("senses.html", "Sojourn: Hear and feel", "senses", LOADING)
    if served:
        put("results.html", "Sojourn: Results and studies", "results", "<p>One moment.</p>")
    if chosen and not for_class:
        put("lessons/index.html", "Sojourn: Lessons", "lessons", _lessons_body(chosen, "", "answers.html"))
    if chosen:
        answers = "teacher/index.html" if for_class else "lessons/answers.html"
        put(answers, "For teachers: answers", "teacher", answers_body(chosen))
    for number, lesson in enumerate(chosen, 1):
        place = f"lessons/{lesson.name}"
        heading = f"Lesson {number} of {len(chosen)}"
        following = chosen[number] if number < len(chosen) else None
        put(
            f"{place}/index.html", f"Lesson: {lesson.title}", "lesson", _lesson_body(lesson, heading, following), lesson
        )
        beside = f"teacher/{lesson.name}" if for_class else place
        teacher = teacher_body(
            lesson, home and f"{home}{place}/index.html", f"../../{place}/index.html" if for_class else "index.html"
        )
        files[f"{beside}/picture.svg"] = cache(partial(delay_picture, lesson))
        page_of = f"{beside}/index.html" if for_class else f"{beside}/teacher.html"
        put(page_of, f"For teachers: {lesson.title}", "teacher", teacher)
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


def _offered(more: Iterable[Path], ours: Iterable[Path]) -> dict[str, str]:
    """Return texts of scenarios by name: that of the lessons first, then those that were named, then the other built-in ones."""
    offered: dict[str, str] = {}
    for path in (SCENARIOS / "lesson-buffer.toml", *more, *ours):
        text = load_scenario(path).text
        offered.setdefault(path.stem, text)
    return offered


COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*\*.*?\*/)\n", re.MULTILINE | re.DOTALL)


def slim(script: Path) -> bytes:
    """Return a script without lines of comments and without indentation: a browser reads neither, and a line carries both."""
    text = COMMENT.sub("", script.read_text(encoding="utf-8"))
    return re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE).encode()


def slim_style(sheet: Path) -> bytes:
    """Return a style sheet without comments, and without space that a browser does not need."""
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r" ?([{};,]) ?|(?<=[\w)]:) ", r"\1", re.sub(r"\s+", " ", text)).strip().encode()


SLIM = {"js": slim, "css": slim_style}
"""By folder of own files: the function that leaves out what a browser does not need."""


def _template() -> jinja2.Template:
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.get_template("page.html")


def _prose(lesson: Lesson, part: str, numbers: Numbers) -> str:
    text = lesson.filled(lesson.text[part], numbers)
    return MarkdownIt("js-default", {"html": False}).render(text)


def _start_body(chosen: Sequence[Lesson]) -> str:
    items = "".join(
        f'<li><a href="lessons/{lesson.name}/index.html">{html.escape(lesson.title)}</a></li>' for lesson in chosen
    )
    found = f"<section><h2>Take a lesson</h2><ol>{items}</ol></section>" if chosen else ""
    return (
        "<h1>A call and an upload share a line of 10 Mb/s</h1>"
        f'<div data-part="play">{LOADING}</div>'
        '<div class="doors" data-part="doors"><section><h2>Try a line</h2><p>Choose a scenario, move its sliders, '
        'compare two settings.</p><p><a href="explore.html">Explore</a></p></section><section><h2>Hear and feel</h2>'
        "<p>The sound of a call and the lag of a game beside an upload.</p>"
        '<p><a href="senses.html">Hear the call, feel the lag</a></p></section>'
        f"{found}</div>"
    )


def _lessons_body(chosen: Sequence[Lesson], folder: str, answers: str = "") -> str:
    """Return the list of lessons, which lie below `folder`; with links to the pages for teachers if those are among them."""

    def item(lesson: Lesson) -> str:
        link = f'<a href="{folder}{lesson.name}/index.html">{html.escape(lesson.title)}</a>'
        if answers:
            link += (
                f' <a class="quiet" href="{folder}{lesson.name}/teacher.html">For teachers<span class="unseen">: '
                f"{html.escape(lesson.title)}</span></a>"
            )
        return f"<li>{link}</li>"

    return (
        "<h1>Lessons</h1><p>Each takes ten minutes: guess, run, see why, play. They build on each other.</p>"
        f'<ol class="lessons">{"".join(map(item, chosen))}</ol>'
        + (f'<p><a class="quiet" href="{answers}">For teachers: the answers on one page</a></p>' if answers else "")
    )


AFTER_THE_GUESS = ("saw", "why", "engineers")
"""Parts of a lesson that answer its question: the page shows them once a guess is made."""


def _lesson_body(lesson: Lesson, heading: str, following: Lesson | None) -> str:
    numbers = lesson.numbers()
    about = {
        **lesson.about,
        "question": lesson.filled(str(lesson.about["question"]), numbers),
        "heading": heading,
        "start": lesson.runs["start"],
        "at": lesson.runs["guess"],
        "runs": [{"label": label, "settings": settings} for label, settings in lesson.quoted()],
        "next": following and {"name": following.name, "title": following.title},
    }
    text = json.dumps(about, ensure_ascii=False).replace("<", "\\u003c")
    parts = "".join(
        f'<div data-part="{part}"{" hidden" if part in AFTER_THE_GUESS else ""}>{_prose(lesson, part, numbers)}</div>'
        for part in lesson.text
    )
    return f'<h1>{html.escape(lesson.title)}</h1><div data-part="loading">{LOADING}</div>{parts}<script type="application/json" id="lesson">{text}</script>'
