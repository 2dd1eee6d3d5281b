"""The short form of `robustness.crowd`: strangers of all kinds, a stolen token and a kill, and no measurement is lost."""

from pathlib import Path

import pytest

from robustness.crowd import FILES, KINDS, campaign

pytestmark = pytest.mark.whole


def test_honest_probes_beside_strangers_lose_nothing_and_wait_little(tmp_path: Path) -> None:
    found = campaign(tmp_path, 4, 4 * len(KINDS), 10, kills=1)
    assert found.missing == 0
    assert len(found.sent) == 10 * FILES
    # Two seconds on a machine of its own, by the whole form; tests share theirs.
    assert found.waits[-1] < 30
