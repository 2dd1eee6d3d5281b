"""Choosing points by label: as reading all of them would, in less time."""

from hypothesis import given
from hypothesis import strategies as st

from sojourn.answers.selection import LabelledPoint, Points
from sojourn.declarations.answers import LabelValue

values: st.SearchStrategy[LabelValue] = st.sampled_from(["a", "b", 1, 2])
labels = st.dictionaries(st.sampled_from("xyz"), values, max_size=3)
wishes = st.dictionaries(st.sampled_from("xyzw"), values | st.lists(values, max_size=3), max_size=3)


@given(st.lists(labels, max_size=12), wishes)
def test_points_that_carry_all_wanted_labels_are_chosen_in_their_order(
    carried: list[dict[str, LabelValue]], where: dict[str, LabelValue | list[LabelValue]]
) -> None:
    points = [LabelledPoint(f"p{number}", one) for number, one in enumerate(carried)]
    expected = list(points)
    for label, wanted in where.items():
        texts = [str(value) for value in (wanted if isinstance(wanted, list) else [wanted])]
        expected = [p for p in expected if label in p.labels and str(p.labels[label]) in texts]
    assert Points(points).select(where) == expected
