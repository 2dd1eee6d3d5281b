"""The sentences of the headline, word for word: one per kind of result."""

from collections.abc import Callable

import pytest

from headline.points import DOWNLOAD, PAGE, ROUND_TRIP, SCORE, UPLOAD, UPSTREAM, around, one, point
from sojourn.headline.compared import Effect, Moved, headline_of_changes, headline_of_trial
from sojourn.headline.derive import headline_of
from sojourn.headline.said import Headline, Point


def said(points: list[Point], **how: object) -> Headline:
    found = headline_of(points, **how)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    assert found is not None
    return found


SYSTEMS = [
    ("today", 446.0, 9.0, 13.6),
    ("AQM", 149.0, 6.0, 13.0),
    ("LLD", 4.74, 0.02, 13.6),
    ("LLD with PGS", 0.94, 0.01, 13.3),
]


def test_a_winner_is_told_with_its_ratio_to_today_and_its_cost() -> None:
    found = said(
        [
            point(
                name,
                {
                    ROUND_TRIP: around(delay, half, number),
                    UPLOAD: around(rate, 0.05, number + 1),
                    DOWNLOAD: around(100.0),
                },
            )
            for number, (name, delay, half, rate) in enumerate(SYSTEMS)
        ]
    )
    assert found.sentence == (
        "LLD with PGS keeps the game at 0.94 ms (P99, round trip) beside an upload and a download, 470 times "
        "better than today's 446 ms; the upload loses 2 % of its rate."
    )
    assert (found.winner, found.runner_up) == (("LLD with PGS",), "LLD")
    assert found.cost == "the upload loses 2 % of its rate"
    assert dict(found.grades) == {"today": "F", "AQM": "D", "LLD": "A", "LLD with PGS": "A"}
    assert found.big is not None
    assert (found.big.text, found.big.unit) == ("0.94", "ms")


def test_settings_that_tie_for_a_call_are_told_with_what_each_costs() -> None:
    found = said(
        [
            point(name, {SCORE: around(score, 0.01, number), UPLOAD: around(rate, 0.1, number)})
            for number, (name, score, rate) in enumerate(
                [("8 KB", 4.41, 7.8), ("64 KB", 4.39, 8.6), ("1 MB", 1.08, 8.6)]
            )
        ],
        noun="buffer",
    )
    assert found.sentence == (
        "Buffers of 8 and 64 KB keep the call good (MOS 4.4); with 1 MB it is unusable (1.1). 8 KB costs the "
        "upload 9 % of its rate, 64 KB nothing."
    )
    assert found.winner == ("64 KB",)


def test_nothing_separates_settings_whose_difference_is_chance() -> None:
    found = said(
        [
            point("CoDel", {ROUND_TRIP: around(24.0, 3.0, 0)}),
            point("PIE", {ROUND_TRIP: around(26.0, 4.0, 1)}),
            point("FQ-CoDel", {ROUND_TRIP: around(25.0, 2.0, 2)}),
        ]
    )
    assert found.sentence == ("Nothing separates CoDel, PIE and FQ-CoDel for the game: 24 to 26 ms (P99, round trip).")
    assert found.winner == ()


def test_a_difference_that_would_be_felt_and_may_be_chance_is_not_told_as_none() -> None:
    video = ("video", "underflow_max")
    still = dict(enumerate((0.4, 2.0, 8.7, 19.0, 27.5), 1))
    found = said([point("CoDel", {video: dict.fromkeys(still, 0.0)}), point("drop-tail", {video: still})])
    assert found.sentence == (
        "The five runs of each do not tell CoDel and drop-tail apart for the video: it stands still 0 to 12 % of the time."
    )
    assert (found.kind, found.winner) == ("tie", ())


def test_what_is_better_for_one_and_worse_for_another_is_told_with_both() -> None:
    found = said(
        [
            point("FQ-CoDel", {ROUND_TRIP: around(12.0, 1.0), PAGE: around(2.1, 0.1, 1)}),
            point("PIE", {ROUND_TRIP: around(86.0, 2.0, 1), PAGE: around(1.2, 0.1, 2)}),
        ]
    )
    assert found.sentence == (
        "FQ-CoDel keeps the game at 12 ms where PIE needs 86; PIE loads pages faster, 1.2 s for 2.1."
    )


def test_where_no_setting_is_good_enough_the_best_is_told_with_what_is_left() -> None:
    delays = {"PIE": (310.0, 2.4), "CoDel": (420.0, 2.0), "RED": (450.0, 1.8), "none": (600.0, 1.2)}
    found = said(
        [
            point(name, {UPSTREAM: around(delay, 5.0, n), SCORE: around(score, 0.05, n)})
            for n, (name, (delay, score)) in enumerate(delays.items())
        ]
    )
    assert found.sentence == (
        "None of the four keeps the call usable: the best, PIE, still delays it by 310 ms (P99, upstream)."
    )


def test_a_single_run_tells_who_is_worst_off_beside_what() -> None:
    found = said(
        [
            point(
                "",
                {
                    ("game", "delay_up_p99"): one(249.0),
                    ("game", "delay_down_p99"): one(0.2),
                    ("game", "loss_total_up"): one(45.6),
                    ("game", "late_up"): one(45.6),
                    ("bulk", "goodput"): one(9.4),
                },
            )
        ]
    )
    assert found.sentence == (
        "The game waits 249 ms upstream (P99) and 46 % of its packets come too late, while the upload gets "
        "9.4 Mb/s. Grade F."
    )


def test_an_idle_line_disturbs_nobody() -> None:
    found = said([point("", {UPSTREAM: one(6.0), SCORE: one(4.41)})])
    assert found.sentence == "Nothing disturbs the call: 6 ms upstream (P99), MOS 4.4. Grade A."


def test_one_seed_tells_no_winner() -> None:
    found = said([point("FQ-CoDel", {ROUND_TRIP: one(12.0)}), point("drop-tail", {ROUND_TRIP: one(250.0)})])
    assert found.sentence == (
        "In this run FQ-CoDel keeps the game at 12 ms where drop-tail needs 250 (P99, round trip). One seed: "
        "differences may be chance."
    )
    assert found.winner == ()
    assert found.cautions == ("One seed: differences may be chance.",)


def test_conditions_in_which_the_order_turns_are_told_one_by_one() -> None:
    values = {"20 ms": (15.0, 22.0), "100 ms": (31.0, 18.0)}
    found = said(
        [
            point(name, {ROUND_TRIP: around(pair[place], 1.0, place)}, condition)
            for condition, pair in values.items()
            for place, name in enumerate(("PIE", "CoDel"))
        ]
    )
    assert found.sentence == ("At 20 ms PIE is best for the game (15 ms for CoDel's 22), at 100 ms CoDel (18 for 31).")


def test_results_that_agree_say_so() -> None:
    sentence = "Nothing moved: 210 measures agree within their intervals."
    assert headline_of_changes([], 210).sentence == sentence


def test_the_one_measure_that_moved_is_told_with_how_many_did_not() -> None:
    moved = [Moved("game", "loss_total", "%", 5.1, 0.7, "game")]
    assert headline_of_changes(moved, 210).sentence == (
        "The game loses 0.7 % instead of 5.1 % of its packets (lost or late); 209 other measures did not move."
    )


def test_a_trial_tells_what_its_homes_could_show() -> None:
    found = headline_of_trial("8 KB", "96 KB", Effect(-62.0, 9.0, True), Effect(-0.5, 1.2, False), 30)
    assert found.sentence == (
        "8 KB cuts the latency under load by 62 points against 96 KB and costs no throughput that 30 homes could "
        "show (−0.5 ± 1.2 points)."
    )


def test_settings_that_have_not_run_are_counted() -> None:
    found = said([point("PIE", {ROUND_TRIP: around(86.0, 2.0)})], settings=["CoDel", "PIE", "RED", "drop-tail"])
    assert found.sentence == ("Only PIE has run: the game waits 86 ms (P99, round trip). Three settings are missing.")


@pytest.mark.parametrize("make", [one, around])
def test_transfers_that_compete_are_told_by_the_ratio_of_their_rates(make: Callable[[float], dict[int, float]]) -> None:
    found = said([point("", {("Prague", "goodput"): make(29.0), ("CUBIC", "goodput"): make(18.0)})])
    assert found.sentence == "Prague gets 1.6 times CUBIC's rate (29 for 18 Mb/s)."
