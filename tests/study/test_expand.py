"""Overlays, settings and points."""

import tomllib
from pathlib import Path
from typing import Any, cast

import pytest
import tomli_w
from hypothesis import example, given
from hypothesis import strategies as st

from sojourn import _engine
from sojourn.base.errors import Problem, StudyError, UsageError
from sojourn.scenario.settings import apply_settings
from sojourn.study.axes import Combinations
from sojourn.study.definition import StudyDefinition
from sojourn.study.expand import NumberedPoints, Point, select
from sojourn.study.expand import expand as expand_text
from sojourn.study.library import load_study
from study.overlay_oracle import merge as literally
from support import HOUSEHOLD, STUDY, write_study


def lay(base: dict[str, Any], overlay: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Return what the compiled part makes of an overlay, and its problems."""
    file = _engine.ScenarioFile.parse(tomli_w.dumps(base))
    laid, problems = file.laid(tomli_w.dumps(overlay))
    told = [Problem(item["path"], item["message"], item["hint"]) for item in problems]
    return tomllib.loads(laid.text()), told


def merge(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """Return an overlay over a base; new traffic may lack its application here."""
    document, problems = lay(base, overlay)
    assert all("needs an `app`" in problem.message for problem in problems), problems
    return document


def expand(definition: StudyDefinition, base: dict[str, Any]) -> list[Point]:
    return expand_text(definition, tomli_w.dumps(base))


NAMES = st.sampled_from(["a", "b", "c"])
LEAVES = st.integers() | st.booleans() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)
TABLES = st.recursive(
    st.dictionaries(NAMES, LEAVES, max_size=3),
    lambda inner: st.dictionaries(NAMES, LEAVES | inner, max_size=3),
    max_leaves=8,
)
TRAFFIC = st.dictionaries(NAMES, TABLES, max_size=3)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    document = dict(draw(TABLES))
    document["traffic"] = [{"name": name, **entry} for name, entry in draw(TRAFFIC).items()]
    return document


@st.composite
def overlays(draw: st.DrawFn) -> dict[str, Any]:
    overlay = dict(draw(TABLES))
    if draw(st.booleans()):
        overlay["traffic"] = dict(draw(TRAFFIC))
    return overlay


@pytest.mark.whole
@given(documents())
def test_an_empty_overlay_changes_nothing(document: dict[str, Any]) -> None:
    assert merge(document, {}) == document


@given(documents(), overlays())
def test_merging_twice_is_merging_once(document: dict[str, Any], overlay: dict[str, Any]) -> None:
    once = merge(document, overlay)
    assert merge(once, overlay) == once


@given(documents(), overlays())
def test_the_compiled_merge_is_the_literal_one(document: dict[str, Any], overlay: dict[str, Any]) -> None:
    assert merge(document, overlay) == literally(document, overlay)


LISTS = st.sampled_from(["link", "home", "load", "traffic"])
ENTRIES = TRAFFIC | st.dictionaries(
    NAMES, st.fixed_dictionaries({"traffic": TRAFFIC | LEAVES, "a": LEAVES}), max_size=2
)


@given(documents(), LISTS, ENTRIES, ENTRIES | LEAVES)
@example(
    document={"traffic": []},
    key="home",
    entries={"a": {"traffic": {"b": {}, "a": {}}, "a": 0}, "b": {"traffic": {}, "a": 0}},
    change={"a": {"traffic": {}, "a": 0}},
)
def test_over_a_list_of_entries_go_entries_and_nothing_else(
    document: dict[str, Any], key: str, entries: dict[str, Any], change: object
) -> None:
    document[key] = [{"name": name, **entry} for name, entry in entries.items()]
    try:
        expected = literally(document, {key: change})
    except ValueError:
        expected = None
    found, problems = lay(document, {key: change})
    others = [problem for problem in problems if "needs an `app`" not in problem.message]
    if expected is None:
        assert others, "the oracle refuses"
    else:
        assert (found, others) == (expected, [])


def test_a_word_over_named_loads_is_refused() -> None:
    base = {"load": [{"name": "near", "test": "rrul"}]}
    found, problems = lay(base, {"load": "near"})
    assert found == base
    assert [problem.path for problem in problems] == ["load"]
    assert lay({}, {"load": "near"})[1] != []


@pytest.mark.whole
@given(documents(), overlays(), st.data())
def test_removing_first_is_the_literal_removal(
    document: dict[str, Any], overlay: dict[str, Any], data: st.DataObject
) -> None:
    there = [".".join(path) for path in leaves(document) if path and path[0] != "traffic"]
    there += [f"traffic.{entry['name']}" for entry in document["traffic"]]
    paths = data.draw(st.lists(st.sampled_from([*there, "a.nothing", "traffic.nobody"]), max_size=3))
    overlay = {**overlay, "remove": paths}
    found, problems = lay(document, overlay)
    told = [problem.message for problem in problems]
    expected, reason = None, ""
    try:
        expected = literally(document, overlay)
    except ValueError as error:
        reason = str(error)
    assert found == expected if expected is not None else reason in told


def leaves(value: object, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], object]:
    """Return the values of nested tables by path, empty tables included."""
    if not isinstance(value, dict) or not value:
        return {path: value}
    found: dict[tuple[str, ...], object] = {}
    for key, item in cast("dict[str, object]", value).items():
        found |= leaves(item, (*path, key))
    return found


@given(TABLES, TABLES)
def test_what_an_overlay_says_holds_and_what_it_leaves_out_stays(
    document: dict[str, Any], overlay: dict[str, Any]
) -> None:
    result = leaves(merge(document, overlay))
    said = {path: value for path, value in leaves(overlay).items() if value != {}}
    assert said.items() <= result.items()
    for path, value in leaves(document).items():
        covered = any(path[: len(other)] == other or other[: len(path)] == path for other in leaves(overlay))
        if not covered:
            assert result[path] == value


@given(documents(), overlays())
def test_traffic_keeps_its_order_and_new_traffic_follows(document: dict[str, Any], overlay: dict[str, Any]) -> None:
    before = [entry["name"] for entry in document["traffic"]]
    after = [entry["name"] for entry in merge(document, overlay)["traffic"]]
    assert after[: len(before)] == before
    assert set(after) == set(before) | set(overlay.get("traffic", {}))


def test_both_ways_to_write_traffic_mean_the_same() -> None:
    by_name = {"traffic": {"bulk": {"rtt": "5 ms"}, "more": {"app": {"kind": "voice"}}}}
    listed = {"traffic": [{"name": "bulk", "rtt": "5 ms"}, {"name": "more", "app": {"kind": "voice"}}]}
    assert merge(HOUSEHOLD, by_name) == merge(HOUSEHOLD, listed)


def test_a_table_whose_kind_changes_is_replaced() -> None:
    base = {"queue": {"kind": "codel", "target": "5 ms", "limit": "1 s"}}
    assert merge(base, {"queue": {"kind": "drop-tail", "limit": "50 ms"}}) == {
        "queue": {"kind": "drop-tail", "limit": "50 ms"}
    }
    assert merge(base, {"queue": {"kind": "codel", "limit": "50 ms"}}) == {
        "queue": {"kind": "codel", "target": "5 ms", "limit": "50 ms"}
    }


def test_remove_takes_out_keys_and_traffic_first() -> None:
    overlay = {"remove": ["traffic.call", "access.upstream.link.delay"]}
    result = merge(HOUSEHOLD, overlay)
    assert [entry["name"] for entry in result["traffic"]] == ["bulk"]
    assert "delay" not in result["access"]["upstream"]["link"]


@pytest.mark.parametrize("path", ["traffic.nobody", "access.upstream.colour", "a.b.c"])
def test_removing_what_is_not_there_is_an_error(path: str) -> None:
    document, problems = lay(HOUSEHOLD, {"remove": [path]})
    assert document == HOUSEHOLD
    assert problems[0].path == "remove"
    assert problems[0].message.startswith(f'cannot remove "{path}"')


def test_settings_are_toml_values_or_plain_text() -> None:
    text = apply_settings(
        tomli_w.dumps(HOUSEHOLD),
        [
            "duration=10 s",
            "access.upstream.queue.limit = 21 packets",
            "traffic.bulk.app.lanes=5",
            'traffic.bulk.rtt=["20 ms"]',
        ],
    )
    result = tomllib.loads(text)
    assert result["duration"] == "10 s"
    assert result["access"]["upstream"]["queue"]["limit"] == "21 packets"
    assert result["traffic"][0]["app"] == {"kind": "bulk", "lanes": 5}
    assert result["traffic"][0]["rtt"] == ["20 ms"]


@pytest.mark.parametrize("setting", ["duration", "=5", "a b=5", "a..b=5"])
def test_a_malformed_setting_is_wrong_usage(setting: str) -> None:
    with pytest.raises(UsageError):
        apply_settings(tomli_w.dumps(HOUSEHOLD), [setting])


def test_a_setting_for_unknown_traffic_gets_the_nearest_name() -> None:
    with pytest.raises(UsageError) as caught:
        apply_settings(tomli_w.dumps(HOUSEHOLD), ["traffic.bluk.rtt=5 ms"])
    assert caught.value.hint == 'did you mean "bulk"?'


def test_a_setting_reaches_below_a_word() -> None:
    text = apply_settings(tomli_w.dumps(HOUSEHOLD), ["traffic.bulk.stack.initial_window=3"])
    stack = tomllib.loads(text)["traffic"][0]["stack"]
    assert stack == {"kind": "linux-cubic", "initial_window": 3}


def definition(**changes: object) -> StudyDefinition:
    return StudyDefinition.model_validate({**STUDY, **changes})


def test_a_matrix_is_the_product_of_its_axes_in_order() -> None:
    points = expand(definition(), HOUSEHOLD)
    assert [point.name for point in points] == ["near-short", "near-long", "far-short", "far-long"]
    last = points[-1]
    assert last.labels == {"rtt": "far", "buffer": "long"}
    assert last.overlays == ("far", "long")
    assert last.document["access"]["upstream"]["queue"]["limit"] == "200 packets"
    assert last.document["traffic"][0]["rtt"] == "100 ms"
    assert last.document["name"] == "small/far-long"


def test_a_matrix_can_name_exclude_and_label_its_points() -> None:
    matrix = {
        "axes": {"rtt": ["near", "far"]},
        "name": "{rtt}er",
        "overlays": ["short"],
        "labels": {"part": "extra"},
        "exclude": ["near*"],
    }
    (point,) = expand(definition(matrix=[matrix]), HOUSEHOLD)
    assert point.name == "farer"
    assert point.overlays == ("short", "far")
    assert point.labels == {"rtt": "far", "part": "extra"}


def test_listed_points_come_before_those_of_matrices() -> None:
    points = expand(definition(points={"alone": {"overlays": ["long", "short"]}}), HOUSEHOLD)
    assert points[0].name == "alone"
    assert points[0].document["access"]["upstream"]["queue"]["limit"] == "10 packets"


@pytest.mark.parametrize("name", ["{colour}", "{", "{0}", "{rtt.x}"])
def test_a_name_template_with_an_unknown_axis_is_a_problem(name: str) -> None:
    with pytest.raises(StudyError) as caught:
        expand(definition(matrix=[{"axes": {"rtt": ["near"]}, "name": name}]), HOUSEHOLD)
    assert caught.value.problems[0].hint == "axes: rtt"


def test_two_points_of_one_name_are_a_problem() -> None:
    with pytest.raises(StudyError, match="defined twice"):
        expand(definition(points={"near-short": {}}), HOUSEHOLD)


def test_an_overlay_for_traffic_that_nobody_knows_is_a_problem() -> None:
    overlays = {**STUDY["overlays"], "near": {"traffic": {"bulc": {"rtt": "10 ms"}}}}
    with pytest.raises(StudyError) as caught:
        expand(definition(overlays=overlays), HOUSEHOLD)
    (problem,) = caught.value.problems
    assert problem.path == "overlays.near.traffic.bulc"
    assert problem.hint == 'did you mean "bulk"?'


def test_patterns_select_points_in_the_order_of_the_study() -> None:
    points = expand(definition(), HOUSEHOLD)
    chosen = select(points, ["*-long", "near-*"])
    assert [point.name for point in chosen] == ["near-short", "near-long", "far-long"]


def test_a_pattern_that_fits_nothing_is_wrong_usage() -> None:
    with pytest.raises(UsageError) as caught:
        select(expand(definition(), HOUSEHOLD), ["neer-short"])
    assert caught.value.hint == 'did you mean "near-short"?'


def swept(**axes: object) -> list[Point]:
    return expand(definition(matrix=[], axes=axes), HOUSEHOLD)


LIMIT = "access.upstream.queue.limit"


def test_an_axis_of_a_key_needs_no_overlays_and_its_label_is_a_number() -> None:
    points = swept(
        buffer={"key": LIMIT, "values": ["10 packets", "200 packets"]},
        rtt={"key": "traffic.bulk.rtt", "values": ["20 ms", "0.1 s"]},
    )
    assert [point.name for point in points] == [
        "10packets-20ms",
        "10packets-0.1s",
        "200packets-20ms",
        "200packets-0.1s",
    ]
    last = points[-1]
    assert last.labels == {"buffer": 200, "rtt": 100}
    assert last.document["access"]["upstream"]["queue"]["limit"] == "200 packets"
    assert last.document["traffic"][0]["rtt"] == "0.1 s"
    units = definition(matrix=[], axes={"rtt": {"key": "traffic.bulk.rtt", "values": ["20 ms", "0.1 s"]}}).label_units()
    assert units == {"rtt": "ms"}


def test_axes_of_keys_and_of_overlays_make_one_product() -> None:
    matrix = {
        "axes": {
            "buffer": ["short", "long"],
            "rate": {"key": "access.upstream.link.rate", "values": ["5 Mb/s", "10 Mb/s"]},
        },
        "name": "{buffer}/{rate}",
        "exclude": ["long/10*"],
    }
    points = expand(definition(matrix=[matrix]), HOUSEHOLD)
    assert [point.name for point in points] == ["short/5Mbps", "short/10Mbps", "long/5Mbps"]
    assert points[1].document["access"]["upstream"]["link"]["rate"] == "10 Mb/s"
    assert points[1].overlays == ("short",)


def test_keys_of_a_linked_axis_vary_together() -> None:
    keys = ["access.upstream.link.rate", "access.downstream.link.rate"]
    points = swept(rate={"keys": keys, "values": [["5 Mb/s", "50 Mb/s"], "1 Gb/s"]})
    access = [point.document["access"] for point in points]
    rates = [(a["upstream"]["link"]["rate"], a["downstream"]["link"]["rate"]) for a in access]
    assert rates == [("5 Mb/s", "50 Mb/s"), ("1 Gb/s", "1 Gb/s")]
    assert [point.labels for point in points] == [{"rate": 5}, {"rate": 1000}]


def test_conditions_that_vary_are_labels_that_can_be_read() -> None:
    slots = [[], [{"at": "0 s", "hold": "2 ms"}], [{"from": "1 s", "for": "2 s", "loss": 0.01}]]
    axes = {"axes": {"slots": {"key": "access.upstream.conditions", "values": slots}}}
    points = list(expand(definition(matrix=[axes]), HOUSEHOLD))
    assert [point.labels["slots"] for point in points] == ["none", "at 0 s, hold 2 ms", "from 1 s, for 2 s, loss 0.01"]
    assert points[0].name == "none"


def test_values_that_are_words_or_tables_are_labels_as_they_are() -> None:
    points = swept(
        queue={
            "key": "access.upstream.queue",
            "values": [{"kind": "codel", "limit": "1 s"}, {"kind": "drop-tail", "limit": "1 s"}],
        },
        stack={"key": "traffic.bulk.stack", "values": ["linux-cubic", "linux-reno"]},
    )
    assert [point.name for point in points][:2] == ["codel-linux-cubic", "codel-linux-reno"]
    assert points[0].labels == {"queue": "codel, limit 1 s", "stack": "linux-cubic"}
    assert points[2].document["access"]["upstream"]["queue"] == {"kind": "drop-tail", "limit": "1 s"}


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ({"from": "0 ms", "to": "100 ms", "steps": 3}, ["0 ms", "50 ms", "100 ms"]),
        ({"from": "1 ms", "to": "0.1 s", "steps": 3, "scale": "log"}, ["1 ms", "10 ms", "100 ms"]),
        ({"from": "1 ms", "to": "10 ms", "steps": 3, "scale": "log"}, ["1 ms", "3.162 ms", "10 ms"]),
        ({"from": 1, "to": 10, "steps": 4}, [1, 4, 7, 10]),
        ({"from": 0.5, "to": 2.0, "steps": 2}, [0.5, 2]),
        (
            {"from": "8 packets", "to": "100 packets", "steps": 3, "scale": "log"},
            ["8 packets", "28 packets", "100 packets"],
        ),
        ({"from": "100 ms", "to": "0 ms", "steps": 2}, ["100 ms", "0 ms"]),
    ],
)
def test_a_range_has_equal_differences_or_equal_ratios(ends: dict[str, object], expected: list[object]) -> None:
    points = swept(x={"key": "traffic.bulk.value", **ends})
    assert [point.document["traffic"][0]["value"] for point in points] == expected


@pytest.mark.parametrize("method", ["sobol", "random"])
def test_a_sample_has_as_many_points_as_it_says_within_all_ranges(method: str) -> None:
    changes: dict[str, object] = {
        "matrix": [],
        "axes": {
            "rate": {"key": "access.upstream.link.rate", "from": "1 Mb/s", "to": "100 Mb/s", "scale": "log"},
            "buffer": ["short", "long"],
        },
        "sample": {"points": 12, "method": method},
    }
    points = expand(definition(**changes), HOUSEHOLD)
    assert [point.name for point in points][::11] == ["sample-01", "sample-12"]
    rates = [point.labels["rate"] for point in points]
    assert all(isinstance(rate, int | float) and 1 <= rate <= 100 for rate in rates)
    assert len(set(rates)) == 12
    assert {point.labels["buffer"] for point in points} == {"short", "long"}
    assert [p.labels for p in expand(definition(**changes), HOUSEHOLD)] == [p.labels for p in points]


def test_a_sobol_sample_halves_each_range_evenly() -> None:
    changes: dict[str, object] = {
        "matrix": [],
        "axes": {name: {"key": f"traffic.bulk.{name}", "from": 0.0, "to": 1.0} for name in ("x", "y", "z")},
        "sample": {"points": 16},
    }
    points = expand(definition(**changes), HOUSEHOLD)
    for name in ("x", "y", "z"):
        below = [point for point in points if float(point.labels[name]) < 0.5]
        assert len(below) == 8


def test_all_overlays_and_axes_that_do_not_fit_are_told_at_once() -> None:
    changes = {
        "overlays": {
            **STUDY["overlays"],
            "near": {"traffic": {"bulc": {"rtt": "10 ms"}}},
            "far": {"remove": ["traffic.nobody"]},
        },
        "axes": {"lanes": {"key": "traffic.bluk.app.lanes", "values": [1, 2]}},
    }
    with pytest.raises(StudyError) as caught:
        expand(definition(**changes), HOUSEHOLD)
    told = [(problem.path, problem.message) for problem in caught.value.problems]
    assert told == [
        ("axes.lanes", 'traffic.bluk.app.lanes: cannot be set: traffic has no entry "bluk"'),
        ("overlays.near.traffic.bulc", "the base has no traffic of this name, and new traffic needs an `app`"),
        ("overlays.far.remove", 'cannot remove "traffic.nobody": the base has no such entry'),
    ]


def test_points_by_number_are_those_of_the_whole_list(tmp_path: Path) -> None:
    matrix = {
        "axes": {
            "rtt": ["near", "far"],
            "buffer": ["short", "long"],
            "rate": {"key": "access.upstream.link.rate", "values": ["1 Mb/s", "5 Mb/s", "9 Mb/s"]},
        },
        "exclude": ["far-short-*"],
    }
    drawn = {
        "axes": {"rate": {"key": "access.downstream.link.rate", "from": "1 Mb/s", "to": "9 Mb/s"}},
        "sample": {"points": 5},
        "name": "drawn-{number}",
    }
    study = load_study(str(write_study(tmp_path, points={"own": {}}, matrix=[matrix, drawn])))
    numbered = NumberedPoints(study.definition, study.base)
    assert len(numbered) == 1 + 12 + 5
    made = [numbered.point(number) for number in range(len(numbered))]
    assert [number for number, point in enumerate(made) if point is None] == [7, 8, 9]
    whole = study.points()
    there = [point for point in made if point is not None]
    assert [(p.name, p.labels, p.text, p.number) for p in there] == [
        (p.name, p.labels, p.text, p.number) for p in whole
    ]
    assert [numbered.name(p.number) for p in whole] == [p.name for p in whole]


@pytest.mark.parametrize(
    ("sizes", "number", "places"), [((20, 25, 20), 7341, (14, 17, 1)), ((40, 50, 50), 99_999, (39, 49, 49))]
)
def test_a_number_is_decoded_with_the_last_axis_fastest(
    sizes: tuple[int, ...], number: int, places: tuple[int, ...]
) -> None:
    axes = {f"axis{one}": [str(value) for value in range(size)] for one, size in enumerate(sizes)}
    found = Combinations(axes, None)[number]
    assert tuple(int(level.text) for level in found.values()) == places
