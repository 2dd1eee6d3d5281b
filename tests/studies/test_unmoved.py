"""What the published studies say of a made-up result, claim by claim and cell by cell, has not moved.

The snapshots were written by the functions that judged each claim before studies became data; what claims ask
for has changed since, with the claims.
"""

from pathlib import Path

import pytest

from sojourn.answers.open_study import OpenStudy
from sojourn.answers.reporting import declared_parts
from sojourn.answers.view import StudyView
from sojourn.report.files import write_claims, write_comparison
from studies import cases_2013, synthetic, synthetic_2013

SNAPSHOTS = Path(__file__).parent / "snapshots"


def made_up(name: str, directory: Path) -> tuple[OpenStudy, StudyView]:
    if name == "white2012":
        return synthetic.STUDY, synthetic.World().view(directory)
    return cases_2013.STUDY, synthetic_2013.World().view()


@pytest.mark.whole
@pytest.mark.parametrize("name", ["white2012", "white2013"])
def test_claims_and_cells_are_what_they_were(name: str, tmp_path: Path) -> None:
    study, view = made_up(name, tmp_path)
    parts = declared_parts(study, view)
    write_claims(tmp_path / "claims.csv", parts.claims)
    write_comparison(tmp_path / "comparison.csv", parts.tables)
    for file in ("claims", "comparison"):
        was = (SNAPSHOTS / f"{name}-{file}.csv").read_text(encoding="utf-8")
        assert (tmp_path / f"{file}.csv").read_text(encoding="utf-8") == was
