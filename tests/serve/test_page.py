"""The page in a real browser: runs, sliders, two runs, links, keys, small and dark screens."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from tests.serve.browsing import BUFFER, LESSONS, choose, lesson, native, opened, readings, run, wait
from tests.serve.test_web_engine import GOLDEN, world

from sojourn.scenario.scenario_file import load_scenario
from sojourn.serve.lessons import ORDER
from sojourn.simulation.engine import simulate


def test_chromium_gives_the_golden_results(page: Any) -> None:
    golden = GOLDEN.read_text(encoding="utf-8").splitlines()
    for name in dict.fromkeys(line.split()[2] for line in golden):
        lines = run(
            page,
            """
            const { Engine } = await import(new URL("js/engine.js", location.href));
            globalThis.engine ??= await Engine.load(await fetch("engine.wasm"));
            const session = globalThis.engine.open(given[0].scenario, { settings: given[0].settings, records: true });
            while (!session.advance(Infinity, 20000));
            return session.close(true);
            """,
            world(name),
        )
        found = {f"{digest} {rows:>5} {name} {column}" for digest, rows, column in (line.split() for line in lines)}
        assert found == {line for line in golden if line.split()[2] == name}


def test_the_first_picture_is_the_run_of_the_scenario(page: Any) -> None:
    shown = readings(page)
    # As `sojourn run scenarios/lesson-buffer.toml` prints them: 4.3932, 55.837 ms, 8.6419 Mb/s.
    assert shown["call: MOS"] == ["4.39"]
    assert shown["call: delay on the line, P99"] == ["56 ms"]
    assert shown["upload: mean goodput up"] == ["8.64 Mb/s"]
    assert len(page.find_elements("css selector", ".panel canvas")) == 4


@pytest.mark.parametrize(
    "name", ["scenarios/lesson-buffer.toml", "scenarios/lesson-grants.toml", "scenarios/lesson-lag.toml"]
)
def test_the_picture_and_the_packets_have_the_delay_of_the_table(page: Any, name: str) -> None:
    wait(page, "globalThis.sojourn")
    drawn, most, metrics, faster = run(
        page,
        """
        await m.open((await (await fetch(given[0])).text()).replace(/^duration = .*$/m, 'duration = "12 s"'));
        const { PANELS, curvesOf, listener, packetsSeen, total } = await import(new URL("js/picture.js", location.href));
        const of = (key) => PANELS.find((panel) => panel.key === key);
        const shown = m.a.run.value, who = listener(shown);
        const [, sums] = total(curvesOf(of("delay"), shown));
        const flow = shown.flows.findIndex(({ traffic, direction }) => traffic === who && direction === "upstream");
        const delays = shown.packets[flow].columns[1].filter(Number.isFinite);
        const rates = curvesOf(of("received"), shown)[1].map(([, values]) => Math.max(...values));
        return [Math.max(...sums.filter((one) => one !== null)), Math.max(...delays), Object.fromEntries(
          shown.metrics.filter(([subject]) => subject === who).map(([, metric, value]) => [metric, value])), Math.max(...rates)];
        """,
        name,
    )
    # A picture has means of bins, which are not above the longest packet; a histogram knows that one to 1 %.
    longest = metrics["delay_up_max"]
    assert most == pytest.approx(longest, rel=0.012, abs=0.02)
    assert 0.5 * longest < drawn <= 1.012 * longest + 0.02
    assert faster <= (10 if "grants" not in name else 40)


def test_the_delay_of_a_game_with_few_packets_is_a_line(browser: Any, address: str) -> None:
    opened(browser, f"{address}/lessons/grants/index.html")
    share = run(
        browser,
        """
        const { PANELS, held } = await import(new URL("../../js/picture.js", location.href));
        if (held([null, 1, null, null, 2], 0.1).join() !== ",1,1,1,2") throw new Error("held");
        if (held([1, null, null, null], 0.1).join() !== "1,1,1,") throw new Error("held for ever");
        const [, [[, values]]] = PANELS.find(({ key }) => key === "delay").curves(m.a.run.value);
        return values.filter((value) => value !== null).length / values.length;
        """,
    )
    assert share > 0.99


def test_a_slider_is_moved_by_keys_and_the_whole_run_follows(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    slider = page.find_element("css selector", f'input[data-path="{BUFFER}"]')
    before = run(page, f"return m.a.controls.value.find(one => one.path === '{BUFFER}').number")
    slider.send_keys(Keys.ARROW_RIGHT)
    # The engine's print of the new scenario, and its run, have come.
    settled = f"parseFloat(sojourn.a.run.value.settings['{BUFFER}']) > {{least}} && !sojourn.a.dragging"
    wait(page, settled.format(least=before))
    slider.send_keys(Keys.END)
    wait(page, settled.format(least=4000))
    wait(page, r"/MOS1\.\d/.test(document.querySelector('.readings').textContent)")
    assert slider.get_attribute("aria-valuetext") == "4096 KB"
    # The picture before the move stays in grey.
    assert run(page, "return m.a.ghost.value !== null") is True
    assert float(readings(page)["call: MOS"][0]) < 2


def test_a_sentence_says_how_the_run_went_and_follows_the_slider(page: Any) -> None:
    def said() -> str:
        return page.find_element("css selector", ".headline").text

    assert said() == "The call waits up to 56 ms (P99), MOS 4.4, while upload gets 8.6 Mb/s."
    run(page, f"await m.change(m.a, '{BUFFER}', '1 MB')")
    wait(page, "document.querySelector('.headline').textContent.includes('MOS 1.1')")
    metrics = {(of, name): value for of, name, value, _ in run(page, "return m.a.run.value.metrics")}
    assert f"up to {metrics['call', 'delay_up_p99']:.0f} ms" in said()
    assert f"{metrics['call', 'loss_total']:.1f} % of its packets are lost or late" in said()
    run(page, f"await m.showB(); await m.change(m.b, '{BUFFER}', '64 KB')")
    wait(page, "document.querySelector('.headline').textContent.startsWith('A: ')")
    wait(page, "document.querySelector('.headline').textContent.includes('B: The call waits up to 56 ms')")


@pytest.mark.parametrize("width", [1300, 1900])
def test_explore_uses_the_width_of_the_window(browser: Any, address: str, width: int) -> None:
    opened(browser, f"{address}/explore.html")
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    right = browser.execute_script("return document.querySelector('.panels').getBoundingClientRect().right")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert width - 60 <= right <= width


def test_the_same_settings_side_by_side_differ_in_nothing(page: Any) -> None:
    run(page, "await m.showB()")
    wait(page, "sojourn.b.run.value")
    same = run(
        page,
        """
        const plain = ({ took, memory, bytes, ...rest }) => JSON.stringify(rest, (key, value) =>
          value instanceof Float32Array ? Array.from(value) : value);
        return plain(m.a.run.value) === plain(m.b.run.value);
        """,
    )
    assert same is True
    assert {cells[2] for cells in readings(page).values()} == {"the same"}
    run(page, "await m.change(m.b, 'access.upstream.queue', 'fq-codel')")
    wait(page, "[...document.querySelectorAll('.readings td')].some(cell => cell.textContent.includes('better'))")
    assert readings(page)["call: delay on the line, P99"][2].endswith("better")


def test_a_link_brings_back_scenario_settings_and_seed(page: Any, address: str) -> None:
    fragment = run(
        page,
        f"""
        m.seed.value = 7;
        await m.change(m.a, "{BUFFER}", "16 KB");
        const link = await import(new URL("js/link.js", location.href));
        return link.write({{ scenario: m.scenario.value, a: m.a.settings.value, b: null, seed: 7, version: m.version.value }});
        """,
    )
    assert len(fragment) < 2000
    before = run(page, "return m.a.run.value.metrics")
    opened(page, f"{address}/index.html{fragment}")
    assert run(page, "return m.seed.value") == 7
    assert run(page, "return m.a.run.value.metrics") == before


@pytest.mark.parametrize("seeds", ["", "seed = 3", "seeds = { first = 3, count = 2 }"])
def test_the_file_that_is_taken_away_gives_the_run_that_was_seen(page: Any, tmp_path: Path, seeds: str) -> None:
    text, shown = run(
        page,
        f"""
        await m.open(m.scenario.value.replace('duration = "60 s"', 'duration = "6 s"\\n{seeds}'));
        if (m.seed.value !== {3 if seeds else 1}) throw new Error(`seed ${{m.seed.value}}`);
        m.seed.value = 9;
        await m.change(m.a, "{BUFFER}", "32 KB");
        return [await m.text(m.a), m.a.run.value.metrics];
        """,
    )
    found = native(text, None, tmp_path)
    assert len(shown) > 50
    for of, name, value, _ in shown:
        if value is not None:
            # Without rows of series a page reckons the mean backlog otherwise.
            assert found[of, name] == pytest.approx(value, rel=0.02 if name == "backlog_mean" else 1e-5), (of, name)


def test_the_address_stays_that_of_what_is_shown(page: Any) -> None:
    page.find_element("xpath", "//button[text()='Link']").click()
    wait(page, "location.hash.includes('s=')")
    run(page, f"await m.change(m.a, '{BUFFER}', '24 KB')")
    wait(
        page,
        "decodeURIComponent(decodeURIComponent(location.hash)).includes('24 KB') || location.hash.includes('24+KB') || location.hash.includes('24%2BKB')",
    )
    state = run(
        page, "const link = await import(new URL('js/link.js', location.href)); return link.read(location.hash)"
    )
    assert state["a"] == {BUFFER: "24 KB"}


GOOD = "s={s}&a=&seed=2&v=x"


WRONG_LINKS = [
    "s=%%%&a=&seed=1",
    "s=AAAA&a=&seed=1",
    "s=&a=&seed=1",
    "s={half}&a=&seed=2",
    "s={s}!!&a=&seed=2",
    "s={s}&a=&seed=0",
    "s={s}&a=&seed=-1",
    "s={s}&a=&seed=1.5",
    "s={s}&a=&seed=12345678901234567890",
    "s={s}&a=&seed=4294967296",
    "s={s}&a=&seed=two",
    "s={s}&a=&seed=",
    "s={s}&a=&seed=2&c=3",
    "s={s}&a=&seed=2&__proto__=1",
    "s={s}&a=acess.upstream.queue%3Dpie&seed=2",
    "s={s}&a=access.upstream.queue%3Dpye&seed=2",
    "s={s}&a=access.upstream.queue.limit%3D-1&seed=2",
    "s={s}&a=duration%3Dlong&seed=2",
    "s={broken}&a=&seed=2",
    "s={empty}&a=&seed=2",
]


@pytest.mark.parametrize("link", WRONG_LINKS)
def test_a_link_that_cannot_be_read_is_said_and_nothing_is_drawn_in_its_place(
    browser: Any, address: str, link: str
) -> None:
    texts = {"s": "schema = 1", "broken": "schema = [", "empty": ""}
    lesson = (Path(__file__).parents[2] / "python/sojourn/recipes/scenarios/lesson-buffer.toml").read_text(
        encoding="utf-8"
    )
    texts["s"] = lesson.replace("60 s", "3 s")
    packed: dict[str, str] = {}
    for name, text in texts.items():
        squeezed = zlib.compressobj(wbits=-15)
        data = squeezed.compress(text.encode()) + squeezed.flush()
        packed[name] = base64.urlsafe_b64encode(data).decode().rstrip("=")
    packed["half"] = packed["s"][: len(packed["s"]) // 2]
    browser.get("about:blank")
    browser.get(f"{address}/explore.html#{link.format(**packed)}")
    wait(browser, "document.querySelector('.problems')")
    browser.execute_script("return globalThis.sojourn.a.engine.check('', {}).catch(() => 0)")
    assert browser.find_elements("css selector", ".panel canvas") == []
    assert "being loaded" not in browser.find_element("css selector", "main").text
    assert len(browser.find_elements("css selector", ".problems li")) >= 1
    assert browser.execute_script("return Boolean(globalThis.sojourn.a.run.value)") is False


def test_another_link_in_an_open_page_is_followed(page: Any, address: str) -> None:
    fragment = run(
        page,
        """
        const link = await import(new URL("js/link.js", location.href));
        return link.write({ scenario: m.scenario.value, a: { duration: "4 s" }, b: null, seed: 5, version: m.version.value });
        """,
    )
    page.get(f"{address}/explore.html{fragment}")
    wait(page, "globalThis.sojourn?.a.run.value?.seconds === 4")
    assert run(page, "return m.seed.value") == 5


def test_a_long_run_says_how_far_it_is_and_can_be_stopped(page: Any) -> None:
    before = run(page, "return m.a.run.value.metrics")
    page.execute_script("globalThis.sojourn.change(globalThis.sojourn.a, 'duration', '10000 s')")
    wait(page, "document.querySelector('progress')?.value > 0")
    page.find_element("xpath", "//button[text()='Stop']").click()
    wait(page, "!document.querySelector('progress')")
    assert run(page, "return m.a.run.value.metrics") == before
    assert "Stopped" in page.find_element("css selector", ".status").text


def test_answers_of_a_lesson_stay_when_it_is_loaded_again(browser: Any, address: str) -> None:
    lesson(browser, address, "bbr")
    browser.execute_script("sessionStorage.clear()")
    lesson(browser, address, "bbr")
    assert browser.find_elements("css selector", ".lesson input[type=range]") == []
    choose(browser, "guess", 1)
    browser.find_element("css selector", "button.first").click()
    wait(browser, "document.querySelectorAll('input[name=check]').length === 3")
    assert browser.execute_script("return document.activeElement.textContent") == "The run"
    choose(browser, "check", 1)
    wait(browser, "globalThis.sojourn.a.run.value.settings['traffic.upload.stack'] === 'bbr1'")
    before = run(browser, "return m.a.run.value.metrics")
    lesson(browser, address, "bbr")
    wait(browser, "document.querySelectorAll('input[name=check]:checked').length === 1")
    assert browser.find_elements("css selector", "input[name=guess]")[1].is_selected()
    wait(browser, "globalThis.sojourn.a.run.value.settings['traffic.upload.stack'] === 'bbr1'")
    assert run(browser, "return m.a.run.value.metrics") == before
    browser.execute_script("sessionStorage.clear()")


def test_answers_are_shown_for_copying_where_a_page_may_not_copy(browser: Any, address: str) -> None:
    lesson(browser, address, "fq")
    browser.find_element("xpath", "//button[text()='Skip the guess']").click()
    wait(browser, "document.querySelector('input[name=check]')")
    # As on a server without TLS, which is not on this machine.
    browser.execute_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    browser.find_element("xpath", "//button[text()='Copy my answers']").click()
    wait(browser, "document.querySelector('textarea[readonly]')")
    assert "guess: none" in browser.find_element("css selector", "textarea[readonly]").get_attribute("value")
    following = browser.find_element("xpath", "//p[starts-with(., 'Next lesson')]/a")
    assert following.get_attribute("href").endswith("/lessons/l4s/index.html")
    browser.execute_script("sessionStorage.clear()")


def test_answers_are_hidden_where_no_script_runs_and_the_page_says_why(browser: Any, site: Path) -> None:
    browser.get("about:blank")
    browser.get((site / "lessons" / "aqm" / "index.html").as_uri())
    text = browser.find_element("css selector", "main").text
    assert "A browser loads none from a file" in text
    assert LESSONS["aqm"].text["hook"].split(".")[0] in text.replace("\n", " ")
    for part in ("saw", "why", "engineers"):
        assert not browser.find_element("css selector", f'[data-part="{part}"]').is_displayed()


@pytest.mark.parametrize("name", ORDER)
def test_each_claim_of_a_lesson_is_a_row_of_the_page_and_holds_in_the_tab(
    browser: Any, address: str, name: str
) -> None:
    """Settings of each run are those of a button; a claim's number stands in the table with the name of its application."""
    lesson(browser, address, name)
    browser.find_element("xpath", "//button[text()='Skip the guess']").click()
    wait(browser, "document.querySelector('input[name=check]')")
    buttons = [one.text for one in browser.find_elements("css selector", "[aria-label='Runs of this lesson'] button")]
    this = LESSONS[name]
    assert buttons == [label for label, _ in this.quoted()]
    found: dict[str, dict[str, list[float]]] = {}
    for run_name, settings in this.runs.items():
        metrics = run(
            browser,
            "m.a.settings.value = given[0]; await m.again(); return m.a.run.value.metrics.filter((row) => row[2] !== null)",
            dict(settings),
        )
        found[run_name] = {f"{of}/{metric}": [value] for of, metric, value, *_ in metrics}
        rows = readings(browser)
        for claim in (claim for claim in this.claims if claim.run == run_name):
            subject, _, metric = claim.of.rpartition("/")
            words = SHOWN[metric].format(subject=subject)
            assert words in rows, claim.says
            number = float(rows[words][0].split()[0])
            value = found[run_name][claim.of][0]
            assert number == pytest.approx(
                value, abs=0.51 if words.endswith(("P99", "dropped", "upstream", "flow")) else 0.06
            ), claim.says
    assert [claim.says for claim in this.claims if not claim.held(found)] == []
    browser.execute_script("sessionStorage.clear()")


SHOWN = {
    "delay_up_p99": "{subject}: delay on the line, P99",
    "delay_down_p99": "{subject}: delay on the line, P99",
    "delay_up_p50": "{subject}: delay up on the line, median",
    "loss_total": "{subject}: lost or late",
    "mos": "{subject}: MOS",
    "goodput": "{subject}: mean goodput up",
    "goodput_downstream": "{subject}: mean goodput down",
    "dropped_packets": "packets dropped",
    "marked_packets": "packets marked, upstream",
    "unused_grants": "unused grants, low-latency flow",
    "sojourn_mean": "mean queuing delay, upstream",
}
"""The words of a row for each metric that a lesson claims something of."""


def test_single_packets_are_seen_from_close_by(page: Any) -> None:
    assert (
        run(
            page,
            """const { packetsSeen } = await import(new URL("js/picture.js", location.href));
        return packetsSeen(m.a.run.value, 600).length""",
        )
        == 0
    )
    run(page, f"await m.change(m.a, '{BUFFER}', '1 MB'); await m.zoom(30, 31)")
    wait(page, "document.querySelector('.panels').textContent.includes('single packets')")
    seen, expected = run(
        page,
        """const { packetsSeen } = await import(new URL("js/picture.js", location.href));
        const [sent, delays] = m.a.run.value.packets[m.a.run.value.flows.findIndex((one) => one.traffic === "call")].columns;
        const way = Array.from(sent, (at, row) => [at, at + delays[row]]);
        return [packetsSeen(m.a.run.value, 600), way.filter(([from, until]) => from <= 31000 && until >= 30000 && until < Infinity).length]""",
    )
    # All that are on their way at some time of this second, of one each 20 ms; behind a full buffer none is in time.
    assert {one["fate"] for one in seen} == {"late"}
    assert len(seen) == expected > 70
    table = page.find_element("css selector", '[aria-label="Single packets"]')
    assert len(table.find_elements("css selector", "tbody tr")) == len(seen)


def test_a_link_that_inflates_to_more_than_a_mebibyte_is_refused(page: Any) -> None:
    said = run(
        page,
        """
        const link = await import(new URL("js/link.js", location.href));
        const bomb = await link.pack("#".repeat(20_000_000));
        return [bomb.length, await link.unpack(bomb).catch((error) => error.message)];
        """,
    )
    assert said[0] < 60_000
    assert "larger than 1 MiB" in said[1]


def test_what_is_wrong_is_said_with_its_place_and_the_picture_stays(page: Any) -> None:
    run(page, f"await m.change(m.a, '{BUFFER}', '-3 KB')")
    told = page.find_element("css selector", ".problems").text
    assert BUFFER in told
    assert len(page.find_elements("css selector", ".panel canvas")) == 4
    run(page, "await m.undo()")
    assert page.find_elements("css selector", ".problems") == []


def test_a_scenario_that_needs_too_much_is_refused(page: Any) -> None:
    run(page, "await m.change(m.a, 'duration', '100 h')")
    told = page.find_element("css selector", ".problems").text
    assert "GiB, and a tab has one" in told
    assert len(page.find_elements("css selector", ".panel canvas")) == 4


def test_markup_in_a_scenario_is_text(page: Any) -> None:
    run(
        page,
        """
        const name = '<img src=x onerror="globalThis.hurt=1">';
        await m.open(m.scenario.value.replace('name = "call"', `name = '${name}'`));
        """,
    )
    assert run(page, "return globalThis.hurt ?? 0") == 0
    assert page.find_elements("css selector", "main img") == []


def test_many_moves_take_no_more_memory_and_the_last_one_is_shown(page: Any) -> None:
    moved = run(
        page,
        f"""
        await m.change(m.a, "duration", "3 s");
        const sizes = ["8 KB", "64 KB", "1 MB", "16 KB"];
        for (let move = 0; move < 12; move++) await m.change(m.a, "{BUFFER}", sizes[move % 4]);
        const before = m.a.run.value.memory;
        for (let move = 0; move < 60; move++) await m.change(m.a, "{BUFFER}", sizes[move % 4], true);
        const all = Array.from({{ length: 20 }}, (_, move) => m.change(m.a, "{BUFFER}", `${{move + 8}} KB`, true));
        await Promise.all(all);
        const shown = JSON.stringify(m.a.run.value.metrics);
        await m.again();
        return [before, m.a.run.value.memory, shown === JSON.stringify(m.a.run.value.metrics), m.a.settings.value["{BUFFER}"]];
        """,
    )
    assert moved[1] <= 1.05 * moved[0]
    assert moved[2] is True
    assert moved[3] == "27 KB"


def test_a_control_acts_from_the_cursor_on_and_the_file_says_so(page: Any, tmp_path: Path) -> None:
    run(
        page,
        """
        const title = "Change it while it runs";
        [...document.querySelectorAll("details.later")].find((one) => one.textContent.startsWith(title)).open = true;
        """,
    )
    wait(page, "document.querySelectorAll('input[name=live]').length === 2")
    page.find_elements("css selector", "input[name=live]")[1].click()
    text, told, fixed, left = run(
        page,
        """
        const before = m.a.run.value, rate = "access.upstream.link.rate";
        m.cursor.value = 20;
        await m.change(m.a, rate, "4 Mb/s", true);
        await m.change(m.a, rate, "5 Mb/s");
        m.cursor.value = 40;
        await m.change(m.a, "traffic.upload.app.lanes", "2");
        const { PANELS } = await import(new URL("js/picture.js", location.href));
        const received = (run) => PANELS.find(({ key }) => key === "received").curves(run)[1][0][1];
        const [was, is] = [received(before), received(m.a.run.value)];
        const share = is.length / 60;
        if (was.slice(0, 20 * share).join() !== is.slice(0, 20 * share).join()) throw new Error("the past has changed");
        if (is[Math.floor(38 * share)] > 5) throw new Error(`still ${is[Math.floor(38 * share)]} Mb/s`);
        const [text, metrics] = [await m.text(m.a), m.a.run.value.metrics];
        await m.change(m.a, "access.upstream.link.delay", "9 ms");
        const fixed = m.problems.value.map(({ path, message }) => `${path} ${message}`);
        await new Promise(requestAnimationFrame);
        const items = [...document.querySelectorAll(".changes li")], told = items.map((one) => one.textContent);
        items[0].querySelector("button").click();
        for (let tries = 0; tries < 100 && document.querySelectorAll(".changes li").length > 1; tries++)
          await new Promise((resolve) => setTimeout(resolve, 100));
        return [text, [told, metrics], fixed, document.querySelectorAll(".changes li").length];
        """,
    )
    assert told[0] == [
        "20 s: access.upstream.link.rate = 5 Mb/s Take back",
        "40 s: traffic.upload.app.lanes = 2 Take back",
    ]
    assert fixed == ["access.upstream.link.delay is fixed during a run; from the start it can be changed"]
    assert left == 1
    # The run that was seen is that of the file; without rows of series a page reckons the mean backlog otherwise.
    file = tmp_path / "changed.toml"
    file.write_text(text)
    native = {(subject, name): value for subject, name, value, _ in simulate(load_scenario(file).compiled, 1).metrics()}
    for subject, name, value, _ in told[1]:
        if value is not None:
            assert native[subject, name] == pytest.approx(value, rel=1e-5), (subject, name)


def test_each_of_twenty_seeds_is_a_dot(page: Any) -> None:
    run(page, 'await m.change(m.a, "duration", "3 s");')
    # By its script: the sentence of the run moves what stands below while a pointer is on its way.
    page.execute_script(
        "arguments[0].click()", page.find_element("xpath", "//summary[text()='The same with other seeds']")
    )
    wait(page, "/^Seeds 1 to 20/.test(document.querySelector('.seeds p')?.textContent ?? '')")
    strips = page.find_elements("css selector", ".strip")
    assert len(strips) == len(readings(page))
    assert {len(strip.find_elements("css selector", "circle")) for strip in strips} == {20}
    # The run in front is one of them.
    shown = float(readings(page)["call: MOS"][0])
    words = strips[list(readings(page)).index("call: MOS")]
    least, most = re.findall(r"([\d.]+) to ([\d.]+)", words.get_attribute("aria-label"))[0]
    assert float(least) <= shown <= float(most)


def test_the_lesson_wants_a_guess_before_it_runs(browser: Any, address: str) -> None:
    opened(browser, f"{address}/lessons/bufferbloat/index.html")
    decide = browser.find_element("css selector", "button.first")
    assert not decide.is_enabled()
    assert browser.find_elements("css selector", "input[type=range]") == []
    browser.find_elements("css selector", ".choices input")[1].click()
    decide.click()
    wait(browser, "document.querySelector('[role=status]').textContent.startsWith('You said 50 ms')")
    told = browser.find_element("css selector", "[role=status]").text
    assert re.search(r"it is (7|8)\d\d ms: \d+ times as long", told), told
    assert len(browser.find_elements("css selector", "input[type=range]")) == 2
    browser.find_elements("css selector", ".choices")[1].find_elements("css selector", "input")[1].click()
    assert "Yes." in browser.find_element("css selector", "article").text


def test_a_page_from_a_file_says_what_is_needed(browser: Any, site: Path) -> None:
    browser.get("about:blank")
    browser.get((site / "explore.html").as_uri())
    text = browser.find_element("css selector", "main").text
    assert "serve this directory" in text


def test_exports_have_what_is_seen(page: Any) -> None:
    table, notebook = run(
        page,
        """
        const take = await import(new URL("js/export.js", location.href));
        return [take.csv([["A", m.a.run.value]]), take.notebook(m.scenario.value, 1, "x")];
        """,
    )
    lines = table.splitlines()
    assert lines[0] == "side,panel,curve,unit,time_s,value"
    assert {line.split(",")[1] for line in lines[1:]} == {"queue", "delay", "window", "received"}
    cells = json.loads(notebook)["cells"]
    code = "".join(cells[1]["source"])
    compile(code, "notebook", "exec")
    assert cells[1]["outputs"] == []
