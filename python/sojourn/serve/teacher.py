"""The page of a lesson for teachers: goals, what to say and ask minute by minute, answers, numbers. It has no script, and prints."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable

from markdown_it import MarkdownIt

from sojourn.base.errors import MissingExtra, UsageError
from sojourn.base.metrics import metrics
from sojourn.serve.lessons import SEEDS, Lesson, Numbers, median_and_range
from sojourn.serve.picture import PICTURE_SEED


def checked_base(base: str) -> str:
    """Return the address of a site with one slash at its end.

    Raises `UsageError` if it begins with neither `https://` nor `http://`, or has a space.
    """
    if not base.startswith(("https://", "http://")) or any(part.isspace() for part in base):
        raise UsageError(f"'{base}' is no address of a site", "for instance https://example.org/live/")
    return base.rstrip("/") + "/"


def qr_code(address: str) -> str:
    """Return the QR code of an address, with the address below it.

    Raises `MissingExtra` if the library that draws it is not installed.
    """
    try:
        import segno
    except ImportError as error:
        raise MissingExtra("QR codes", str(error.name), "serve") from error
    picture: str = segno.make(address, error="m", micro=False).svg_data_uri(scale=3, border=4)
    shown = html.escape(address)
    return (
        f'<figure class="code"><img src="{html.escape(picture)}" alt="QR code: {shown}">'
        f"<figcaption>{shown}</figcaption></figure>"
    )


def _line(lesson: Lesson, numbers: Numbers, text: object) -> str:
    """Return a line of Markdown with the numbers that it names, as HTML."""
    return MarkdownIt("js-default", {"html": False}).renderInline(lesson.filled(str(text), numbers))


def answers_body(chosen: Iterable[Lesson]) -> str:
    """Return the answers of lessons: a row each, for one printed page."""
    rows: list[str] = []
    for number, lesson in enumerate(chosen, 1):
        numbers = lesson.numbers()
        about = lesson.about
        median, spread = median_and_range(numbers["guess"][lesson.answer], lesson.answer)
        cells = (
            f"{number}. {html.escape(lesson.title)}",
            f"{_line(lesson, numbers, about['question'])} <b>{html.escape(median)}</b> ({html.escape(spread)})",
            f"{_line(lesson, numbers, about['check'])} <b>{_line(lesson, numbers, about['check_answer'])}</b>. "
            f"{_line(lesson, numbers, about['check_yes'])}",
        )
        row = "".join(f'<td class="text">{cell}</td>' for cell in cells)
        rows.append(f"<tr>{row}</tr>")
    return (
        '<article class="teacher answers"><h1>For teachers: the answers</h1>'
        f"<p>Medians, and ranges over seeds {SEEDS[0]} to {SEEDS[-1]}; a page shows the run of one seed.</p>"
        '<table><thead><tr><th scope="col">lesson</th><th scope="col" class="text">guess</th>'
        f'<th scope="col" class="text">check question</th></tr></thead><tbody>{"".join(rows)}</tbody></table></article>'
    )


def teacher_body(lesson: Lesson, address: str = "", link: str = "index.html") -> str:
    """Return the page.

    Parameters
    ----------
    lesson
        The lesson.
    address
        Where students find it; empty if that is not known.
    link
        The lesson's page from here.
    """
    numbers = lesson.numbers()
    teacher = lesson.teacher

    def line(text: object) -> str:
        return _line(lesson, numbers, text)

    goals = "".join(
        f"<li>{html.escape(goal)}<br><b>Check</b> {line(check['ask'])} <i>{line(check['answer'])}.</i></li>"
        for goal, check in zip(lesson.goals, teacher["check"], strict=True)
    )
    wrong = "".join(f"<li>“{line(one['idea'])}” <b>Ask</b> {line(one['ask'])}</li>" for one in teacher["wrong"])
    about = lesson.about
    answer = median_and_range(numbers["guess"][lesson.answer], lesson.answer)
    first, second = teacher["picture"]
    words = f"Delay of the {lesson.listener} on the line over the run with {lesson.told_apart(first)}, and with {lesson.told_apart(second)}."
    return f"""<article class="prose teacher"><h1>For teachers: {html.escape(lesson.title)}</h1>
{qr_code(address) if address else ""}
<p>{about["minutes"]} minutes, one computer for two students. They know {line(teacher["needs"])}. <a href="{html.escape(link)}">The lesson</a></p>
<h2>After it, a student can</h2><ol>{goals}</ol>
<h2>Minute by minute</h2><table><thead><tr><th scope="col">minutes</th><th scope="col" class="text">do</th>
<th scope="col" class="text">what</th></tr></thead><tbody>{"".join(_steps(teacher["step"], line))}</tbody></table>
<h2>The guess</h2><p>{line(about["question"])} <b>Answer</b> {answer[0]}; over the seeds {answer[1]}.</p>
<figure><img class="wide" src="picture.svg" alt="{html.escape(words)}"><figcaption>{html.escape(words)} Seed {PICTURE_SEED}.</figcaption></figure>
<h2>Wrong ideas, and what to ask then</h2><ul>{wrong}</ul>
<h2>Check question</h2><p>{line(about["check"])} <b>Answer</b> {line(about["check_answer"])}.</p>
<h2>What holds, in runs with seeds {SEEDS[0]} to {SEEDS[-1]}</h2>
<div class="scroll whole" tabindex="0" role="region" aria-label="What holds">{_claims(lesson, numbers)}</div>
<p><b>Further</b> {line(teacher["further"])}.</p></article>"""


def _steps(steps: Iterable[dict[str, object]], line: Callable[[object], str]) -> Iterable[str]:
    """Yield rows of what to do, with the minutes from the start."""
    began = 0
    for step in steps:
        end = began + int(str(step["minutes"]))
        yield (
            f'<tr><th scope="row">{began}–{end}</th><td class="text">{html.escape(str(step["do"]))}</td>'
            f'<td class="text">{line(step["text"])}</td></tr>'
        )
        began = end


def _claims(lesson: Lesson, numbers: Numbers) -> str:
    """Return the table of what the lesson claims."""
    rows: list[str] = []
    for claim in lesson.claims:
        subject, _, metric = claim.of.rpartition("/")
        cells = (
            claim.says,
            lesson.told_apart(claim.run),
            f"{subject}: {metrics()[metric].words}",
            *median_and_range(numbers[claim.run][claim.of], claim.of),
            f"{claim.held(numbers)} of {len(SEEDS)}",
        )
        looks = ['<td class="text">'] * 3 + ["<td>"] * 3
        row = (f"{look}{html.escape(cell)}</td>" for look, cell in zip(looks, cells, strict=True))
        rows.append(f"<tr>{''.join(row)}</tr>")
    return (
        '<table><thead><tr><th scope="col">claim</th><th scope="col" class="text">setting</th>'
        '<th scope="col" class="text">of what</th><th scope="col">median</th><th scope="col">range</th>'
        f'<th scope="col">holds in</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )
