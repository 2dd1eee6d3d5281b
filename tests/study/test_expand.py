"""Overlays, settings and points."""

import copy
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn.errors import StudyError, UsageError
from sojourn.study.definition import StudyDefinition
from sojourn.study.expand import apply_settings, expand, merge, select
from support import HOUSEHOLD, STUDY

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


@given(documents())
def test_an_empty_overlay_changes_nothing(document: dict[str, Any]) -> None:
    assert merge(document, {}) == document


@given(documents(), overlays())
def test_merging_twice_is_merging_once(document: dict[str, Any], overlay: dict[str, Any]) -> None:
    once = merge(document, overlay)
    assert merge(once, overlay) == once


@given(documents(), overlays())
def test_merging_touches_neither_argument(
    document: dict[str, Any], overlay: dict[str, Any]
) -> None:
    before = copy.deepcopy((document, overlay))
    result = merge(document, overlay)
    for value in result.values():
        if isinstance(value, dict):
            cast("dict[str, Any]", value)["touched"] = True
        elif isinstance(value, list):
            cast("list[Any]", value).append("touched")
    assert (document, overlay) == before


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
        covered = any(
            path[: len(other)] == other or other[: len(path)] == path for other in leaves(overlay)
        )
        if not covered:
            assert result[path] == value


@given(documents(), overlays())
def test_traffic_keeps_its_order_and_new_traffic_follows(
    document: dict[str, Any], overlay: dict[str, Any]
) -> None:
    before = [entry["name"] for entry in document["traffic"]]
    after = [entry["name"] for entry in merge(document, overlay)["traffic"]]
    assert after[: len(before)] == before
    assert set(after) == set(before) | set(overlay.get("traffic", {}))


def test_both_ways_to_write_traffic_mean_the_same() -> None:
    by_name = {"traffic": {"bulk": {"rtt": "5 ms"}, "more": {"app": {"kind": "voice"}}}}
    listed = {
        "traffic": [
            {"name": "bulk", "rtt": "5 ms"},
            {"name": "more", "app": {"kind": "voice"}},
        ]
    }
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
    with pytest.raises(ValueError, match="cannot remove"):
        merge(HOUSEHOLD, {"remove": [path]})


def test_settings_are_toml_values_or_plain_text() -> None:
    result = apply_settings(
        HOUSEHOLD,
        [
            "duration=10 s",
            "access.upstream.queue.limit = 21 packets",
            "traffic.bulk.app.lanes=5",
            'traffic.bulk.rtt=["20 ms"]',
        ],
    )
    assert result["duration"] == "10 s"
    assert result["access"]["upstream"]["queue"]["limit"] == "21 packets"
    assert result["traffic"][0]["app"] == {"kind": "bulk", "lanes": 5}
    assert result["traffic"][0]["rtt"] == ["20 ms"]
    assert HOUSEHOLD["duration"] == "2 s"


@pytest.mark.parametrize("setting", ["duration", "=5", "a b=5", "a..b=5"])
def test_a_malformed_setting_is_wrong_usage(setting: str) -> None:
    with pytest.raises(UsageError):
        apply_settings(HOUSEHOLD, [setting])


def test_a_setting_for_unknown_traffic_gets_the_nearest_name() -> None:
    with pytest.raises(UsageError) as caught:
        apply_settings(HOUSEHOLD, ["traffic.bluk.rtt=5 ms"])
    assert caught.value.hint == 'did you mean "bulk"?'


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
