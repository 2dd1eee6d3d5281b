"""Notes as HTML: the small part of Markdown that study notes use.

Headings, paragraphs, bulleted and numbered lists, tables, emphasis, strong, code, and fenced code.
Text is escaped first, so notes cannot bring markup of their own.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator


def render(text: str, *, level: int = 3) -> str:
    """Render notes; their `#` becomes a heading of the given level, `##` one below it."""
    return "\n".join(_blocks(text.splitlines(), level))


def _blocks(lines: list[str], level: int) -> Iterator[str]:
    number = 0
    while number < len(lines):
        line = lines[number]
        if not line.strip():
            number += 1
        elif line.startswith("```"):
            end = next(
                (n for n in range(number + 1, len(lines)) if lines[n].startswith("```")), len(lines)
            )
            yield f"<pre><code>{html.escape(chr(10).join(lines[number + 1 : end]))}</code></pre>"
            number = end + 1
        elif found := re.match(r"(#{1,4}) +(.*)", line):
            rank = min(6, level + len(found[1]) - 1)
            yield f"<h{rank}>{inline(found[2])}</h{rank}>"
            number += 1
        elif line.lstrip().startswith("|"):
            end = _until(lines, number, lambda text: text.lstrip().startswith("|"))
            yield _table(lines[number:end])
            number = end
        elif _item(line):
            end = _until(lines, number, lambda text: bool(_item(text) or text.startswith("  ")))
            yield _list(lines[number:end])
            number = end
        else:
            end = _until(
                lines,
                number,
                lambda text: (
                    bool(text.strip())
                    and not text.startswith(("#", "```", "|"))
                    and not _item(text)
                ),
            )
            yield f"<p>{inline(' '.join(part.strip() for part in lines[number:end]))}</p>"
            number = end


def _until(lines: list[str], start: int, belongs: Callable[[str], bool]) -> int:
    end = start + 1
    while end < len(lines) and belongs(lines[end]):
        end += 1
    return end


def _item(line: str) -> re.Match[str] | None:
    return re.match(r"(?:[-*]|\d+\.) +", line)


def _list(lines: list[str]) -> str:
    items: list[str] = []
    for line in lines:
        start = _item(line)
        if start:
            items.append(line[start.end() :])
        else:
            items[-1] += " " + line.strip()
    tag = "ol" if lines[0][0].isdigit() else "ul"
    return f"<{tag}>" + "".join(f"<li>{inline(item)}</li>" for item in items) + f"</{tag}>"


def _table(lines: list[str]) -> str:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    has_head = len(rows) > 1 and all(re.fullmatch(r":?-+:?", cell) for cell in rows[1])
    body = rows[2:] if has_head else rows
    head = ""
    if has_head:
        cells = "".join(f'<th scope="col">{inline(cell)}</th>' for cell in rows[0])
        head = f"<thead><tr>{cells}</tr></thead>"
    text = "".join(
        "<tr>" + "".join(f"<td>{inline(cell)}</td>" for cell in row) + "</tr>" for row in body
    )
    return f'<div class="scroll"><table class="plain">{head}<tbody>{text}</tbody></table></div>'


def inline(text: str) -> str:
    """Render emphasis, strong and code within a line.

    Examples
    --------
    >>> inline("a *b* **c** `d<e`")
    'a <em>b</em> <strong>c</strong> <code>d&lt;e</code>'
    """
    parts = re.split(r"(`[^`]+`)", text)
    rendered: list[str] = []
    for part in parts:
        if part.startswith("`") and part.endswith("`") and len(part) > 1:
            rendered.append(f"<code>{html.escape(part[1:-1])}</code>")
            continue
        safe = html.escape(part, quote=False)
        safe = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", safe)
        rendered.append(re.sub(r"(?<!\w)\*(.+?)\*(?!\w)", r"<em>\1</em>", safe))
    return "".join(rendered)
