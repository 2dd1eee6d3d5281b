"""Some of the random mutations; `robustness.mutations` makes thousands."""

from robustness.mutations import campaign


def test_mutated_studies_scenarios_and_settings_end_in_words() -> None:
    ends, faults = campaign(300, seed=7)
    assert not faults, faults[0]
    assert min(ends["valid"], ends["refused"]) > 5  # both sides are met
