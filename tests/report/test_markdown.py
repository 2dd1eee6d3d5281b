from sojourn.report.drawing import inline as inline_drawing
from sojourn.report.markdown import inline, render


def test_blocks_become_elements() -> None:
    text = "# One\n\nSome words\non two lines.\n\n- first\n  still first\n- second\n\n1. a\n2. b\n"
    assert render(text, level=2) == (
        "<h2>One</h2>\n<p>Some words on two lines.</p>\n"
        "<ul><li>first still first</li><li>second</li></ul>\n<ol><li>a</li><li>b</li></ol>"
    )


def test_headings_count_from_the_given_level() -> None:
    assert render("## Two", level=3) == "<h4>Two</h4>"


def test_a_table_keeps_its_head() -> None:
    html = render("| a | b |\n|---|---|\n| 1 | *2* |\n")
    assert '<th scope="col">a</th>' in html
    assert "<td>1</td><td><em>2</em></td>" in html


def test_code_is_shown_as_it_is() -> None:
    assert render("```\na < b\n```") == "<pre><code>a &lt; b</code></pre>"
    assert inline("`**x**`") == "<code>**x**</code>"


def test_markup_is_escaped() -> None:
    assert render("<b>no</b>") == "<p>&lt;b&gt;no&lt;/b&gt;</p>"


def test_a_product_is_not_emphasis() -> None:
    assert inline("2*3*4 and *this*") == "2*3*4 and <em>this</em>"


def test_two_drawings_on_a_page_share_no_names() -> None:
    svg = (
        '<?xml version="1.0"?><svg width="10pt" height="5pt" viewBox="0 0 10 5">'
        '<g id="a"><use xlink:href="#a" style="fill: #1C2430; clip-path: url(#a)"/></g></svg>'
    )
    first = inline_drawing(svg, "one", "words & more")
    assert 'id="one-a"' in first
    assert 'xlink:href="#one-a"' in first
    assert "url(#one-a)" in first
    assert "fill: var(--ink)" in first
    assert 'aria-label="words &amp; more"' in first
    assert "width=" not in first
