"""What a page makes to be heard and felt is what the model says of packets: in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.serve.browsing import opened, run, wait


@pytest.fixture(scope="module")
def senses(browser: Any, address: str) -> Iterator[Any]:
    opened(browser, f"{address}/senses.html")
    wait(browser, "globalThis.sojourn.b?.run.value && document.querySelector('.field canvas')")
    yield browser
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def test_lost_and_late_packets_are_heard_as_the_rule_says_to_the_bit(senses: Any) -> None:
    found = run(
        senses,
        """
        const { heard, phrase, RATE } = await import(new URL("js/sound.js", location.href));
        // 30 packets, one each 20 ms from 40 ms on; those of number 10, 11, 12, 13 are lost and that of number 20 is late.
        const rows = 30, lost = new Set([10, 11, 12, 13]);
        const column = (value) => Float32Array.from({ length: rows }, (_, at) => value(at));
        const packets = { rows, columns: [
          column((at) => 40 + 20 * at), column((at) => (lost.has(at) ? Infinity : 7)), column((at) => (at === 20 ? 1 : 0))] };
        const speech = phrase();
        const samples = heard(packets, speech);
        const context = new OfflineAudioContext(1, samples.length, RATE);
        const buffer = context.createBuffer(1, samples.length, RATE);
        buffer.copyToChannel(samples, 0);
        const source = context.createBufferSource();
        source.buffer = buffer;
        source.connect(context.destination);
        source.start();
        const played = (await context.startRendering()).getChannelData(0);
        // By hand: packet n is samples 640 + 320 n and on. In place of 10, 11, 12 sounds 9 at 1/2, 1/4, 1/8, then nothing.
        const is = (at, from, gain) => {
          for (let sample = 0; sample < 320; sample++) {
            const now = played[640 + 320 * at + sample], want = from === null ? 0 : Math.fround(gain * speech[(640 + 320 * from + sample) % speech.length]);
            if (now !== want) return false;
          }
          return true;
        };
        return [samples.length, is(9, 9, 1), is(10, 9, 0.5), is(11, 9, 0.25), is(12, 9, 0.125), is(13, null, 0), is(14, 14, 1), is(20, 19, 0.5),
          is(21, 21, 1), played.every((value) => Math.abs(value) <= 0.25), speech.some((value) => Math.abs(value) > 0.2)];
        """,
    )
    assert found == [640 + 30 * 320, *[True] * 10]


def test_the_answer_of_the_drum_takes_the_way_up_and_down(senses: Any) -> None:
    found = run(
        senses,
        """
        const { answerAfter } = await import(new URL("js/hear.js", location.href));
        const packets = (...rows) => ({ rows: rows.length, columns: [0, 1].map((column) => Float32Array.from(rows, (row) => row[column])) });
        const made = {
          flows: [{ traffic: "call", direction: "upstream" }, { traffic: "call", direction: "downstream" }],
          packets: [packets([0, 100], [20, Infinity], [40, 300], [60, NaN]), packets([0, 1], [110, 5], [350, 9])],
          metrics: [["call", "mos", 3, ""]],
        };
        // Said at 0 it is there at 100; the next packet back leaves at 110. At 15 its packet is lost; at 55 none comes any more.
        return [answerAfter(made, "call", 0), answerAfter(made, "call", 15) === Infinity, answerAfter(made, "call", 40), answerAfter(made, "call", 55)];
        """,
    )
    assert found == [105, True, 309, None]


def test_the_spot_is_where_the_hand_was_whose_packets_have_come(senses: Any) -> None:
    found = run(
        senses,
        """
        const { echoes, Hand, lastBefore } = await import(new URL("js/lag.js", location.href));
        const packets = (...rows) => ({ rows: rows.length, columns: [0, 1].map((column) => Float32Array.from(rows, (row) => row[column])) });
        // Up: sent at 0, 10, 20 (lost), 30. Down: sent at 5, 15 (lost), 25, 60.
        const rows = echoes(packets([0, 4], [10, 10], [20, Infinity], [30, 5]), packets([5, 2], [15, Infinity], [25, 3], [60, 1]));
        const hand = new Hand(1000);
        for (let at = 0; at < 100; at += 10) hand.move(at, at / 100, 0);
        return [rows.map(({ at, sent }) => [at, sent]), [6, 7, 27, 28, 60, 61].map((at) => lastBefore(rows, "at", at)?.sent ?? null),
          hand.was(45).x, hand.was(-1).x];
        """,
    )
    # 0 is there at 4 and comes back with 5 at 7; 10 is there at 20 and comes back with 25 at 28; 30, at 35, with 60 at 61.
    assert found == [[[7, 0], [28, 10], [61, 30]], [None, 0, 0, 10, 10, 30], 0.4, 0]


def test_a_hand_that_stays_forgets_what_is_long_ago(senses: Any) -> None:
    kept = run(
        senses,
        """
        const { Hand } = await import(new URL("js/lag.js", location.href));
        const hand = new Hand(1000);
        for (let at = 0; at < 100000; at += 5) hand.move(at, 0, 0);
        return [hand.been.length, hand.been[0].at];
        """,
    )
    assert kept[0] < 1000
    assert 97_000 < kept[1] < 99_000


def test_tones_rise_with_the_queue_and_click_at_drops(senses: Any) -> None:
    found = run(
        senses,
        """
        const { tones, RATE } = await import(new URL("js/sound.js", location.href));
        const made = tones({ at: [0, 1], bytes: [0, 1000], most: 1000, seconds: 2, ticks: [{ s: 0.5, marked: false }] });
        const crossings = (from, until) => {
          let count = 0;
          for (let at = from * RATE + 1; at < until * RATE; at++) if (made[at - 1] < 0 && made[at] >= 0) count++;
          return count;
        };
        const loudest = (from, until) => made.slice(from * RATE, until * RATE).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        return [crossings(0, 0.4) / 0.4, crossings(1, 2), loudest(0, 0.4) < 0.08, loudest(0.5, 0.502) > 0.1, loudest(0, 2) <= 0.25];
        """,
    )
    assert found[0] == pytest.approx(220, rel=0.02)
    assert found[1] == pytest.approx(880, rel=0.01)
    assert found[2:] == [True, True, True]


def test_a_call_is_heard_after_a_press_and_escape_ends_it(senses: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    button = senses.find_element("css selector", ".hear button")
    assert button.text == "Hear the call of A"
    assert run(senses, "return m.cursor.value") is None
    button.click()
    wait(senses, "sojourn.cursor.value > 0.1")
    assert senses.find_element("css selector", ".hear button").text == "Stop A"
    button.send_keys(Keys.ESCAPE)
    wait(senses, "document.querySelector('.hear button').textContent === 'Hear the call of A'")


def test_the_strip_tells_what_became_of_packets(senses: Any) -> None:
    run(senses, "m.cursor.value = 45")
    told = [one.get_attribute("aria-label") for one in senses.find_elements("css selector", ".strip")]
    assert told[0].startswith("Of the last 30 packets 0 in time, 30 late")
    assert told[1].startswith("Of the last 30 packets 30 in time")
    assert "MOS 1.1" in senses.find_element("css selector", ".frames").text
    # Each packet is seen: a bar of its own, beside the others.
    boxes = run(
        senses,
        "return [...document.querySelectorAll('.frames .strip span')].map((one) => one.getBoundingClientRect())"
        ".map(({ left, bottom, height }) => [Math.round(left), Math.round(bottom), height])",
    )
    assert len({(left, row) for left, row, _ in boxes}) == len(boxes) == 60
    assert min(height for *_, height in boxes) > 5


def test_behind_a_long_buffer_a_ring_is_reached_late(senses: Any) -> None:
    senses.find_element("css selector", ".feel button").click()
    wait(senses, "document.querySelector('.feel [role=status]').textContent.includes('ring in A')")
    # The first ring is at (0.2, 0.3) of the field; arrow keys go there from the middle.
    from selenium.webdriver.common.keys import Keys

    field = senses.find_element("css selector", ".field canvas")
    field.send_keys(*[Keys.SHIFT, Keys.ARROW_LEFT * 3, Keys.ARROW_UP * 2, Keys.SHIFT])
    wait(senses, "document.querySelector('.feel [role=status]').textContent.includes('1 of 20')")
    told = run(
        senses,
        "return [...document.querySelectorAll('.feel .readings tr:nth-child(2) td')].map((cell) => parseFloat(cell.textContent))",
    )
    # 0.25 s on the ring after at least 0.55 s of queue.
    assert told[0] >= 0.8
    senses.find_element("css selector", ".feel button").click()
