"""The rules of the headline, one by one."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from headline.points import DOWNLOAD, PAGE, ROUND_TRIP, SCORE, UPLOAD, around, one, point
from sojourn.headline.applications import APPLICATIONS, GAME, GRADES, application_of
from sojourn.headline.derive import headline_of
from sojourn.headline.runs import headline_of_run
from sojourn.headline.said import Headline, Point, number
from sojourn.headline.wording import sentence

Values = Mapping[tuple[str, str], Mapping[int, float]]


def said(points: list[Point], **how: object) -> Headline:
    found = headline_of(points, **how)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    assert found is not None
    return found


def games(*delays: float, half: float = 0.1) -> list[Point]:
    names = ("drop-tail", "PIE", "RED", "FQ-CoDel")
    return [
        point(name, {ROUND_TRIP: around(delay, half, place)})
        for place, (name, delay) in enumerate(zip(names, delays, strict=False))
    ]


def test_ratios_are_said_as_people_say_them() -> None:
    assert ", hardly better than drop-tail's 26 ms." in said(games(26.0, 24.0)).sentence
    assert "keeps the game at 20 ms where drop-tail needs 30 (P99" in said(games(30.0, 20.0)).sentence
    assert ", twice as good as drop-tail's 40 ms." in said(games(40.0, 20.0)).sentence
    assert ", 8 times better than drop-tail's 80 ms." in said(games(80.0, 10.0)).sentence


def test_no_change_of_a_delay_is_said_in_percent() -> None:
    for worse in (23.0, 30.0, 41.0, 400.0):
        assert "%" not in said(games(worse, 20.0)).sentence


def test_a_third_digit_is_told_where_it_is_known() -> None:
    assert (number(446.0, 9.0), number(446.0, 15.0), number(249.3)) == ("446", "450", "249")
    assert (number(45.6), number(0.944), number(1.999)) == ("46", "0.94", "2")


def test_a_delay_is_told_in_the_direction_in_which_it_is_worst() -> None:
    rows = [("game", "delay_up_p99", 12.0, "ms"), ("game", "delay_down_p99", 80.0, "ms")]
    rows.append(("game", "late", 0.0, "%"))
    found = headline_of_run(rows)
    assert found is not None
    assert found.sentence == "The game waits 80 ms downstream (P99). Grade C."
    turned = [
        point("today", {("game", "delay_up_p99"): around(250.0, 1.0), ("game", "loss_total"): around(0.0)}),
        point("FQ upstream", {("game", "delay_up_p99"): around(5.0), ("game", "delay_down_p99"): around(90.0, 1.0)}),
    ]
    assert "at 90 ms (P99, downstream)" in said(turned).sentence
    assert "today's 250 ms upstream" in said(turned).sentence


@pytest.mark.parametrize(("line_ms", "is_wifi"), [(1.0, True), (90.0, False)])
def test_a_run_names_the_wifi_where_packets_wait_longer_there_than_on_the_line(line_ms: float, is_wifi: bool) -> None:
    rows = [("game", "delay_up_p99", 12.0, "ms"), ("game", "delay_down_p99", 80.0, "ms")]
    rows.append(("game", "late", 0.0, "%"))
    usual = headline_of_run(rows)
    rows += [(f"wifi.home.{name}/downstream", "wifi_airtime", air, "%") for name, air in (("tv", 8.0), ("attic", 80.0))]
    rows += [
        ("wifi.home.tv/downstream", "wifi_firmware", 40.0, "ms"),
        ("downstream", "queue_delay_mean", line_ms, "ms"),
    ]
    found = headline_of_run(rows)
    assert usual is not None
    assert found is not None
    narrow = "The Wi-Fi to the attic is the narrow place, not the line. "
    assert found.sentence == (narrow if is_wifi else "") + usual.sentence
    relations = [claim.relation for claim in found.claims]
    assert relations == ["narrow_hop"] * is_wifi + [claim.relation for claim in usual.claims]
    if is_wifi:
        assert sentence(found.claims[:1]) == narrow.strip()
    assert found.big is not None


@pytest.mark.parametrize(("share", "is_told"), [(0.9, False), (1.0, True)])
def test_losses_are_told_from_one_percent_on(share: float, is_told: bool) -> None:
    rows = [("game", "delay_up_p99", 80.0, "ms"), ("game", "loss_total_up", share, "%")]
    found = headline_of_run(rows)
    assert found is not None
    assert ("packets" in found.sentence) == is_told


def test_losses_set_the_best_grade() -> None:
    rows = [("game", "delay_up_p99", 5.0, "ms"), ("game", "loss_total_up", 12.0, "%")]
    found = headline_of_run(rows)
    assert found is not None
    assert found.sentence.endswith("Grade D.")


def with_rates(*rates: float, half: float = 0.02) -> list[Point]:
    return [
        point(name, {ROUND_TRIP: around(delay, 0.1, n), UPLOAD: around(rate, half, n)})
        for n, (name, delay, rate) in enumerate(zip(("drop-tail", "PIE"), (200.0, 10.0), rates, strict=True))
    ]


def test_a_cost_is_told_from_two_percent_on_and_only_if_it_is_clear() -> None:
    assert "the upload loses 5 % of its rate" in said(with_rates(10.0, 9.5)).sentence
    assert "upload loses" not in said(with_rates(10.0, 9.9)).sentence
    assert "upload loses" not in said(with_rates(10.0, 9.5, half=3.0)).sentence
    assert "at no cost" not in said(with_rates(10.0, 9.5, half=3.0)).sentence
    assert said(with_rates(10.0, 9.95)).sentence.endswith(", at no cost to the upload.")


def test_who_counts_may_be_declared() -> None:
    values: Values = {ROUND_TRIP: around(12.0, 0.5), PAGE: around(9.0, 0.1)}
    other: Values = {ROUND_TRIP: around(300.0, 0.5, 1), PAGE: around(1.5, 0.1, 1)}
    points = [point("A", values), point("B", other)]
    assert said(points).about == "the game"
    assert said(points, feels=["page"]).about == "pages"


def test_what_others_are_measured_by_may_be_declared() -> None:
    assert "drop-tail's 80 ms" in said(games(80.0, 10.0, 40.0)).sentence
    assert "RED's 40 ms" in said(games(80.0, 10.0, 40.0), baseline="RED").sentence


def test_with_a_setting_of_one_s_own_all_that_the_best_beats_is_told() -> None:
    own = ["PIE"]
    found = said(games(150.0, 4.0, 8.0), own=own)
    assert found.sentence == ("PIE keeps the game at 4 ms where RED needs 8 and drop-tail 150 (P99, round trip).")
    assert {cell.text for cell in found.cells} == {"4", "8", "150"}
    loses = said(games(150.0, 8.0, 4.0), own=own).sentence
    assert loses.startswith("PIE keeps the game at 8 ms where RED needs 4 and drop-tail 150")
    tie = said(games(150.0, 4.0, 8.0, 4.0), own=own).sentence
    assert tie.startswith("PIE keeps the game at 4 ms where FQ-CoDel needs 4, RED 8 and drop-tail 150")
    two = games(150.0, 4.0)
    assert said(two, own=own).sentence == said(two).sentence
    assert said(two, own=["drop-tail"]).sentence.startswith("drop-tail keeps the game at 150 ms where PIE needs 4")


def test_a_setting_of_one_s_own_is_the_subject_over_all_conditions() -> None:
    delays = {"20 ms": (134.0, 9.0, 10.0), "100 ms": (140.0, 13.0, 12.0)}
    points = [
        point(name, {ROUND_TRIP: around(delay, 0.1, n)}, condition)
        for condition, row in delays.items()
        for n, (name, delay) in enumerate(zip(("PIE", "FQ-CoDel", "yours"), row, strict=True))
    ]
    assert said(points, own=["yours"]).sentence == (
        "yours keeps the game at 10 to 12 ms where FQ-CoDel needs 9 to 13 and PIE 134 to 140 (P99, round trip)."
    )


def test_one_order_in_all_conditions_is_told_once() -> None:
    points = [
        point(name, {ROUND_TRIP: around(delay, 0.1, n)}, condition)
        for condition, delays in (("20 ms", (60.0, 10.0)), ("100 ms", (300.0, 20.0)))
        for n, (name, delay) in enumerate(zip(("today", "PIE"), delays, strict=True))
    ]
    assert said(points).sentence == (
        "PIE keeps the game at 10 to 20 ms (P99, round trip), 6 to 15 times better than today's 60 to 300 ms. Best in "
        "both conditions."
    )


def test_an_order_that_turns_in_many_conditions_is_counted() -> None:
    points = [
        point(name, {ROUND_TRIP: around(delay, 0.1, n)}, f"{load} Mb/s")
        for load, delays in enumerate([(10.0, 40.0)] * 3 + [(40.0, 10.0)])
        for n, (name, delay) in enumerate(zip(("CoDel", "PIE"), delays, strict=True))
    ]
    assert said(points).sentence == (
        "No setting is best for the game everywhere: of 4 conditions CoDel in 3 and PIE in 1."
    )


def test_a_missing_setting_is_told_beside_those_that_ran() -> None:
    found = said(games(80.0, 10.0), settings=["drop-tail", "PIE", "CoDel"])
    assert found.sentence.endswith(" One setting is missing.")
    assert found.cautions == ("One setting is missing.",)


def test_pages_that_never_come_are_the_worst() -> None:
    values = {("page", "pages_unfinished"): around(1.0), ("page", "pages_completed"): around(0.0)}
    found = said([point("today", values), point("PIE", {PAGE: around(1.5, 0.1)})])
    assert found.winner == ("PIE",)
    assert found.sentence == "PIE loads pages in 1.5 s where today loads none (median)."
    assert found.grades["today"] == "F"


def test_grades_of_seeds_that_differ_are_told_both() -> None:
    found = said([point("A", {ROUND_TRIP: around(60.0, 4.0)}), point("B", {ROUND_TRIP: around(500.0, 4.0)})])
    assert found.grades["A"] == "B to C"


def test_a_grade_says_which_criterion_gives_it_and_where() -> None:
    def points(condition: str, delay: float) -> list[Point]:
        return [
            point("today", {ROUND_TRIP: around(delay, 4.0), SCORE: around(4.4)}, condition),
            point("PIE", {ROUND_TRIP: around(60.0, 4.0), SCORE: around(4.4)}, condition),
            point("LLD", {ROUND_TRIP: around(5.0, 0.1), SCORE: around(4.4)}, condition),
        ]

    found = said([*points("15 ms", 150.0), *points("100 ms", 320.0)])
    assert found.grades == {"today": "F", "PIE": "B to C", "LLD": "A"}
    assert found.reasons["today"] == "the game waits 320 ms (P99, round trip), above 200 ms at 100 ms"
    assert found.reasons["PIE"].startswith("the game waits 62 ms (P99, round trip) in its worst run, above 60 ms")
    assert found.as_json()["reasons"] == found.reasons
    assert found.failing("F") == [("today", found.reasons["today"])]
    assert found.failing("B to C") == []
    assert not found.but(grades={}).reasons
    lossy = said(
        [point("A", {("call", "loss_total"): around(40.0)}), point("B", {("call", "loss_total"): around(0.1)})]
    )
    slow = said([point("A", {PAGE: around(1.02)}), point("B", {PAGE: around(0.5)})])
    assert slow.reasons["A"] == "a page takes 1.02 s (median), above 1 s"
    assert lossy.reasons["A"] == "the game loses 40 % of its packets (lost or late), 25 % or more"


def test_a_grade_below_the_best_needs_an_interval_below_it() -> None:
    wide = {1: 31.0, 2: 45.0}
    found = said([point("A", {ROUND_TRIP: wide}), point("B", {ROUND_TRIP: {1: 500.0, 2: 510.0}})])
    assert found.grades["A"] == "A to B"
    assert GRADES[GAME.grade(38.0)] == "B"


def test_of_two_like_grades_the_game_speaks() -> None:
    assert next(iter(APPLICATIONS)) == "game"
    rows = [("page", "page_load_time_median", 0.5, "s"), ("game", "delay_up_p99", 5.0, "ms")]
    rows.append(("game", "late", 0.0, "%"))
    found = headline_of_run(rows)
    assert found is not None
    assert found.sentence == "Nothing disturbs the game: 5 ms upstream (P99). Grade A."


def test_streams_of_constant_rate_are_nobodys() -> None:
    rows = [("meter", "delay_up_p99", 500.0, "ms"), ("meter", "goodput", 1.0, "Mb/s")]
    rows += [("meter", "late", 90.0, "%")]
    scenario = '[[traffic]]\nname = "meter"\napp = { kind = "constant-rate" }\n'
    assert headline_of_run(rows, scenario) is None
    found = headline_of_run(rows, scenario.replace("constant-rate", "game"))
    assert found is not None
    assert found.about == "the game"


def test_nothing_felt_and_nothing_carried_is_nothing_said() -> None:
    assert headline_of([]) is None
    assert headline_of([point("", {("link", "utilisation"): one(0.5)})]) is None


def test_settings_are_compared_by_what_transfers_get_if_nobody_waits() -> None:
    points = [point("PIE", {DOWNLOAD: around(90.0, 0.5)}), point("drop-tail", {DOWNLOAD: around(45.0, 0.5, 1)})]
    assert said(points).sentence == ("PIE gives the download twice drop-tail's rate (90 for 45 Mb/s).")
    same = [point(name, {DOWNLOAD: around(90.0, 2.0, n)}) for n, name in enumerate(("A", "B"))]
    assert said(same).sentence == "Nothing separates A and B for the download: 90 Mb/s."


def test_a_call_is_told_by_its_delay_where_its_score_is_the_same() -> None:
    points = [
        point("A", {SCORE: around(4.4), ("call", "delay_up_p99"): around(20.0, 0.1)}),
        point("B", {SCORE: around(4.39), ("call", "delay_up_p99"): around(90.0, 0.1, 1)}),
    ]
    assert "keeps the call at 20 ms (P99, upstream), 4.5 times better" in said(points).sentence


def test_a_transfer_that_is_answered_is_no_game() -> None:
    assert application_of(["delay_round_trip_p99", "goodput"]) == ""
    assert application_of(["delay_round_trip_p99", "rtt_mean"]) == ""
    assert application_of(["delay_round_trip_p99"]) == "game"


def test_a_stream_of_a_kind_that_is_no_game_is_not_called_one() -> None:
    assert application_of(["late", "lost", "delay_up_p99"], "capture") == ""
    assert application_of(["mos", "lost"], "an-own-kind") == "call"


LIVE = ("live", "live_latency")
STILL = ("live", "underflow_max")


def test_a_live_video_is_told_by_how_far_it_is_behind() -> None:
    rows = [("live", "live_latency", 3.2, "s"), ("live", "underflow_max", 0.0, "%")]
    found = headline_of_run(rows)
    assert found is not None
    assert found.sentence == "Nothing disturbs the live video: 3.2 s behind. Grade A."
    assert found.big is not None
    assert (found.big.text, found.big.unit, found.big.what) == ("3.2", "s", "live video, behind")
    late = headline_of_run([("live", "live_latency", 6.0, "s"), ("live", "underflow_max", 0.0, "%")])
    assert late is not None
    assert late.sentence == "The live video is 6 s behind. Grade D."
    points = [
        point("PIE", {LIVE: around(6.0, 0.1), STILL: around(0.0, 0.0)}),
        point("FQ-CoDel", {LIVE: around(3.2, 0.1), STILL: around(0.0, 0.0)}),
    ]
    assert said(points).sentence == "FQ-CoDel keeps the live video 3.2 s behind where PIE needs 6."
    assert said(points).grades == {"PIE": "D", "FQ-CoDel": "A"}
    same = [point(name, {LIVE: around(3.2, 0.1)}) for name in ("PIE", "FQ-CoDel")]
    assert said(same).sentence == "Nothing separates PIE and FQ-CoDel for the live video: 3.2 s behind."


def under_conditions(*rates: float) -> list[Point]:
    """Two managers at three round trips; `rates` are those of the upload behind the one that helps the game."""
    return [
        point(name, {ROUND_TRIP: around(delay, 0.1, n), UPLOAD: around(rate, 0.001, n)}, condition)
        for condition, with_manager in zip(("15 ms", "30 ms", "100 ms"), rates, strict=True)
        for n, (name, delay, rate) in enumerate((("drop-tail", 200.0, 10.0), ("PIE", 10.0, with_manager)))
    ]


def test_a_cost_is_told_over_all_conditions_with_the_end_where_it_is_largest() -> None:
    found = said(under_conditions(9.97, 9.65, 9.1))
    assert "; the upload loses 0 to 9 % of its rate, most at 100 ms. Best in all three conditions." in found.sentence
    assert found.cost == "the upload loses 0 to 9 % of its rate, most at 100 ms"
    assert said(under_conditions(9.97, 9.95, 9.97)).sentence.endswith(
        ", at no cost to the upload. Best in all three conditions."
    )
    assert "at no cost" not in said(under_conditions(9.97, 9.97, 9.7)).sentence


def test_a_word_for_a_score_is_said_only_where_it_holds_in_each_condition() -> None:
    def calls(low: float) -> str:
        return said(
            [
                point(name, {SCORE: around(score, 0.01, n)}, condition)
                for condition, better in (("15 ms", 4.4), ("100 ms", low))
                for n, (name, score) in enumerate((("drop-tail", 1.2), ("PIE", better)))
            ]
        ).sentence

    assert calls(4.2).startswith("PIE keeps the call good (MOS 4.2 to 4.4); with drop-tail it is unusable (1.2)")
    assert calls(3.3).startswith("PIE keeps the call at MOS 3.3 to 4.4 where drop-tail gives 1.2")


def test_claims_carry_the_cells_of_all_conditions() -> None:
    found = said(under_conditions(9.97, 9.65, 9.1)).as_json()["claims"]
    assert [one["relation"] for one in found] == ["keeps_at", "better_by", "loses", "best"]
    cost = next(one for one in found if one["relation"] == "loses")
    assert {cell["condition"] for cell in cost["over"]} == {"15 ms", "30 ms", "100 ms"}
    assert (round(cost["value"]["low"], 1), round(cost["value"]["high"], 1)) == (0.3, 9.0)


def test_applications_that_do_better_otherwise_and_are_not_named_are_counted() -> None:
    others = {(name, "page_load_time_median"): (0.5, 0.9) for name in ("news", "mail", "shop")}
    points = [
        point(
            name, {ROUND_TRIP: around(delay, 0.1, n)} | {key: around(pair[n], 0.01, n) for key, pair in others.items()}
        )
        for n, (name, delay) in enumerate((("drop-tail", 300.0), ("PIE", 10.0)))
    ]
    assert "; three of four applications do better with another setting: see the table." in said(points).sentence


def test_what_a_scenario_marks_is_its_subject_and_a_rate_never_goes_before_it() -> None:
    rows = [("upload", "goodput", 4.8, "Mb/s"), ("probe", "delay_up_p99", 155.0, "ms"), ("probe", "lost", 0.0, "%")]
    scenario = '[[traffic]]\nname = "probe"\napp = "constant-rate"\nabout = true\n'
    found = headline_of_run(rows, scenario)
    assert found is not None
    assert found.sentence == "The probe waits 155 ms upstream (P99), while the upload gets 4.8 Mb/s."
    assert not found.grades
    echo = [
        ("upload", "goodput", 4.8, "Mb/s"),
        ("ping", "delay_round_trip_p99", 86.0, "ms"),
        ("ping", "rtt_mean", 60.0, "ms"),
    ]
    probed = headline_of_run(echo)
    assert probed is not None
    assert probed.sentence == "The ping waits 86 ms (P99, round trip), while the upload gets 4.8 Mb/s."


def test_of_several_that_a_scenario_marks_the_ends_are_told() -> None:
    rows = [
        ("marked-up", "delay_up_p99", 0.71, "ms"),
        ("marked-down", "delay_down_p99", 0.24, "ms"),
        ("unmarked-up", "delay_up_p99", 64.3, "ms"),
        ("unmarked-down", "delay_down_p99", 60.0, "ms"),
    ]
    entries = "".join(f'[[traffic]]\nname = "{name}"\napp = "constant-rate"\nabout = true\n' for name, *_ in rows)
    found = headline_of_run(rows, entries)
    assert found is not None
    assert found.sentence == "unmarked-up waits 64 ms upstream (P99), marked-up 0.71."


def test_where_nothing_competes_the_range_over_conditions_is_told() -> None:
    found = said(
        [point("", {ROUND_TRIP: around(delay, 1.0)}, where) for where, delay in (("20 ms", 24.0), ("100 ms", 250.0))]
    )
    assert found.sentence == "The game waits 24 to 250 ms (P99, round trip), most at 100 ms. Grade F."


def test_an_application_beside_the_marked_one_that_is_worse_is_told() -> None:
    rows = [("video", "underflow_max", 0.0, "%"), ("pages", "page_load_time_median", 3.8, "s")]
    scenario = '[[traffic]]\nname = "video"\napp = "has"\nabout = true\n'
    found = headline_of_run(rows, scenario)
    assert found is not None
    assert found.sentence == "The video never stands still; a page takes 3.8 s (median). Grade C."


def test_conditions_in_which_an_application_never_began_are_counted() -> None:
    values = {("video", "underflow_max"): around(0.0), DOWNLOAD: around(6.0)}
    found = said([point("", values, "8 Mb/s"), point("", {DOWNLOAD: around(1.0)}, "2 Mb/s")])
    assert found.sentence == (
        "The video never stands still in one of two conditions, while the download gets 1 to 6 Mb/s. Grade A."
    )


def test_an_application_that_every_setting_leaves_useless_is_named_beside_the_one_that_speaks() -> None:
    def setting(name: str, score: float, rate: float, game: float = 262.0) -> Point:
        return point(name, {SCORE: around(score), ROUND_TRIP: around(game, 1.0), UPLOAD: around(rate)})

    found = said([setting("today", 1.2, 10.0, 290.0), setting("a short buffer", 4.4, 4.6), setting("PIE", 4.4, 4.6)])
    assert found.sentence == (
        "A short buffer and PIE keep the call at MOS 4.4 where today gives 1.2. A short buffer costs the upload 54 % of its "
        "rate, PIE 54 %; none keeps the game usable."
    )
    useful = [setting("today", 1.2, 10.0), setting("PIE", 4.4, 4.6, 150.0)]
    assert "none keeps" not in said(useful).sentence


def test_the_page_of_headlines_states_every_relation_that_sentences_have() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs/concepts/headline.md").read_text(encoding="utf-8")
    words = (root / "python/sojourn/headline/wording.py").read_text(encoding="utf-8")
    said = re.findall(r'^    "(\w+)": _\w+,$', words, re.MULTILINE)
    assert len(said) > 10
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(said)
