"""The first section of a report says where the values behind it come from."""

from pathlib import Path

from sojourn.answers.report_content import Assumption
from sojourn.report.origins import origins, told
from studies.small_study import result_of, write

SCENARIO = """
schema = 1
name = "line"
duration = "10 s"

[access.upstream]
link = { kind = "serial", rate = "5 Mb/s" }
queue = { kind = "codel", limit = "417 packets", target = "10 ms" }

[access.downstream]
link = { kind = "serial", rate = "100 Mb/s" }
queue = { kind = "codel" }

[[traffic]]
name = "call"
app = "voice"
"""


def test_what_the_file_says_is_the_study_s_and_defaults_have_their_origin(tmp_path: Path) -> None:
    result = result_of(write(tmp_path, ""))
    folder = result.directory / "scenarios"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("**/*.toml"):
        old.unlink()
    assert told(result) == ""
    (folder / "line.toml").write_text(SCENARIO, encoding="utf-8")
    counts = origins(result)
    # Rates, limit and target; the second queue's target and limit are defaults of documents.
    assert counts["study"] == 4
    assert counts["chosen"] >= 1
    assert counts["documented"] >= 5
    guess = Assumption("the distance", "20 ms", "fitted", "the text says near")
    assert told(result, [guess]).startswith(f"Of {counts.total() + 1} values and assumptions")
    assert "1 fitted" in told(result, [guess])
