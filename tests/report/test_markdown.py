"""Notes and drawings as parts of a page."""

import re

from sojourn.plots.spec import PlotSpec
from sojourn.report.drawing import inline as inline_drawing
from sojourn.report.markdown import render


def test_blocks_become_elements() -> None:
    text = "# One\n\nSome words\non two lines.\n\n- first\n  still first\n- second\n\n1. a\n2. b\n"
    assert render(text, level=2).split("\n") == [
        "<h2>One</h2>",
        "<p>Some words",
        "on two lines.</p>",
        "<ul>",
        "<li>first",
        "still first</li>",
        "<li>second</li>",
        "</ul>",
        "<ol>",
        "<li>a</li>",
        "<li>b</li>",
        "</ol>",
        "",
    ]


def test_headings_count_from_the_given_level() -> None:
    assert render("## Two", level=3) == "<h4>Two</h4>\n"
    assert render("###### Six", level=3) == "<h6>Six</h6>\n"


def test_a_table_keeps_its_head_and_scrolls() -> None:
    html = render("| a | b |\n|---|---|\n| 1 | *2* |\n")
    assert html.startswith('<div class="scroll"><table class="plain">')
    assert '<th scope="col">a</th>' in html
    assert "<td>1</td>\n<td><em>2</em></td>" in html


def test_code_is_shown_as_it_is() -> None:
    assert render("```\na < b\n```") == "<pre><code>a &lt; b\n</code></pre>\n"
    assert render("`**x**`") == "<p><code>**x**</code></p>\n"


def test_markup_is_escaped() -> None:
    assert render("<b>no</b>") == "<p>&lt;b&gt;no&lt;/b&gt;</p>\n"
    assert "<script" not in render("<script>alert(1)</script>")
    assert "javascript:" not in render("[x](javascript:alert(1))").partition("href")[2]


def test_two_drawings_on_a_page_share_no_names() -> None:
    svg = (
        '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" width="10pt" height="5pt" viewBox="0 0 10 5">'
        '<g id="a"><use xlink:href="#a" style="fill: #1C2430; clip-path: url(#a)"/></g></svg>'
    )
    plot = PlotSpec("p", "", (), description="words & more")
    first = inline_drawing(svg, "one", plot)
    (name,) = re.findall(r'id="([^"]+)"', first)
    assert name not in inline_drawing(svg, "two", plot)
    assert f'href="#{name}"' in first
    assert "xmlns" not in first
    assert f"url(#{name})" in first
    assert "fill: var(--ink)" in first
    assert 'aria-label="words &amp; more"' in first
    assert "width=" not in first
