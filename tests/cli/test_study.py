"""`sojourn study list` and `show`, and the words around `run`."""

import csv
from pathlib import Path
from typing import Any

import pytest

from sojourn.api.result import StudyResult
from support import CommandLine, words_only, write_study


def test_list_names_the_studies_of_the_package(sojourn: CommandLine) -> None:
    done = sojourn("study", "list")
    assert done.status == 0
    assert done.stderr == ""
    assert any(line.startswith("white2012 ") for line in done.stdout.splitlines())


def test_show_tells_points_and_cost(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    done = sojourn("study", "show", "study.toml")
    assert done.status == 0
    assert done.stdout == (
        "A small study\n"
        "\n"
        "4 points, seeds 1 to 2: 8 runs, 16 simulated seconds\n"
        "\n"
        "point       rtt   buffer  duration  overlays\n"
        "near-short  near  short   2 s       near + short\n"
        "near-long   near  long    2 s       near + long\n"
        "far-short   far   short   2 s       far + short\n"
        "far-long    far   long    2 s       far + long\n"
    )


def test_an_unknown_study_is_wrong_usage_with_a_hint(sojourn: CommandLine) -> None:
    done = sojourn("study", "run", "wite2012")
    assert done.status == 2
    assert done.stderr == 'error: no study "wite2012"\n  hint: did you mean "white2012"?\n'


def test_an_unknown_point_is_wrong_usage_with_a_hint(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    done = sojourn("study", "run", "study.toml", "--points", "near-shrt")
    assert done.status == 2
    assert done.stderr == 'error: no point fits "near-shrt"\n  hint: did you mean "near-short"?\n'


def test_stdout_is_the_report_and_stderr_tells_what_was_done(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    done = sojourn("study", "run", "study.toml", "--quick", "--jobs", "1", "--out", "out")
    assert done.status == 0, done.stderr
    assert done.stdout == "out/report.html\n"
    assert done.stderr.startswith("small: 4 runs on 1 thread\n")
    assert "4 runs computed, 0 from the store; 2 s simulated" in done.stderr


JUDGED: dict[str, Any] = {
    "measures": {"speed": {"subject": "bulk", "metric": "goodput", "unit": "Mb/s"}},
    "claim": [
        {
            "identifier": "one",
            "use": "gate",
            "statement": "The upload moves.",
            "values": {"speed": {"measure": "speed", "points": {"": "near-short"}}},
            "holds": [{"value": "speed", "above": 0}],
            "seconds": 0.5,
        }
    ],
}
"""What makes a study judge a claim, in a quick run, too."""

JUDGED_CLAIM = "The upload moves"


@pytest.mark.parametrize(
    ("options", "label"),
    [
        (("--duration", "1 s"), "shortened"),
        (("--points", "near-*"), "partial"),
        (("--seeds", "1"), "partial"),
        (("--duration", "1 s", "--seeds", "1"), "shortened, partial"),
        (("--quick",), "quick"),
        (("--set", "traffic.bulk.dscp=10"), "changed"),
    ],
)
def test_verdicts_of_less_than_the_study_say_so_everywhere(
    sojourn: CommandLine, tmp_path: Path, options: tuple[str, ...], label: str
) -> None:
    write_study(tmp_path, **JUDGED)
    done = sojourn("study", "run", "study.toml", *options, "--no-figures", "--out", "out")
    assert done.status == 0, done.stderr
    assert f"claim ({label} run, not the study's verdict): {JUDGED_CLAIM}: holds (" in done.stderr
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f'<span class="badge">{label} run</span>' in page
    assert f"small, {label} run" in page  # provenance
    assert ("Shortened: claims and cells" in page) == (label not in ("partial", "changed"))
    assert ("<code>traffic.bulk.dscp=10</code>" in page) == (label == "changed")
    with (tmp_path / "out" / "claims.csv").open(encoding="utf-8") as file:
        (claim,) = csv.DictReader(file)
    assert (claim["verdict"], claim["note"]) == ("holds", label)
    for compared in (("out", "--by", "buffer"), ("out", "out")):
        told = sojourn("compare", *compared, "--html", "page.html")
        assert f"out is a {label} run: less than the study asks for" in told.stderr
        shown = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert f"({label} run, not the study" in shown


def test_a_quick_run_leaves_what_its_length_does_not_decide_to_the_whole_study(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    (claim,) = JUDGED["claim"]
    undecided = {name: value for name, value in claim.items() if name != "seconds"}
    changes: dict[str, Any] = {**JUDGED, "claim": [undecided]}
    write_study(tmp_path, **changes)
    done = sojourn("study", "run", "study.toml", "--quick", "--no-figures", "--out", "out")
    assert done.status == 0, done.stderr
    assert f"{JUDGED_CLAIM}: not judged (needs the whole study)" in done.stderr
    with (tmp_path / "out" / "claims.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["verdict"], row["note"]) == ("not-run", "needs the whole study")


def test_verdicts_of_the_whole_study_have_no_label(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path, **JUDGED)
    options = ("--duration", "2 s", "--points", "*", "--seeds", "2")
    done = sojourn("study", "run", "study.toml", *options, "--no-figures", "--out", "out")
    assert done.status == 0, done.stderr
    assert f"claim: {JUDGED_CLAIM}: holds (" in done.stderr
    told = next(line for line in done.stderr.splitlines() if line.startswith(JUDGED_CLAIM))
    assert ": holds (" in told, "its words open the page"
    assert " run.</strong>" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    with (tmp_path / "out" / "claims.csv").open(encoding="utf-8") as file:
        assert [row["note"] for row in csv.DictReader(file)] == [""]
    assert "verdict" not in sojourn("compare", "out", "--by", "buffer").stderr


def test_figures_may_be_left_out_and_are_drawn_later(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    done = sojourn("study", "run", "study.toml", "--quick", "--no-figures", "--out", "out")
    assert done.status == 0, done.stderr
    out = tmp_path / "out"
    assert list((out / "figures").iterdir()) == []
    page = (out / "report.html").read_text(encoding="utf-8")
    assert '<span class="badge">without figures</span>' in page
    assert "<figure" not in page
    assert list((out / "tables").iterdir())
    assert sojourn("report", "out").status == 0
    assert list((out / "figures").glob("*.svg"))
    drawn = (out / "report.html").read_text(encoding="utf-8")
    assert "<figure" in drawn
    assert "without figures" not in drawn


@pytest.mark.slow
def test_a_cluster_that_does_not_answer_is_told(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    done = sojourn(*("study", "run", "study.toml", "--quick", "--out", "out"), *("--cluster", "tcp://127.0.0.1:9"))
    assert done.status == 1
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in done.stderr
    assert words_only(done)


def test_a_result_that_is_none_is_told(sojourn: CommandLine, tmp_path: Path) -> None:
    for directory in ("absent", str(tmp_path)):
        done = sojourn("report", directory)
        assert done.status == 1
        assert words_only(done)


def test_show_tells_what_is_wrong_with_the_answers_of_a_study(sojourn: CommandLine, tmp_path: Path) -> None:
    study = write_study(tmp_path)
    study = study / "study.toml" if study.is_dir() else study
    content = study.read_text(encoding="utf-8")
    study.write_text(content + '\n[measures.delay]\nsubject = "call"\nmetric = "dely_p95"\n')
    done = sojourn("study", "show", "study.toml")
    assert (done.status, done.stdout) == (2, "")
    assert 'measures.delay.metric: no run has a metric "dely_p95"' in done.stderr


def test_what_a_study_cannot_make_of_its_result_fails_the_command(sojourn: CommandLine, tmp_path: Path) -> None:
    study = write_study(tmp_path, "200 ms", matrix=[{"axes": {"rtt": ["near"]}}], seeds={"count": 1})
    top, tables = study.read_text(encoding="utf-8").split("\n[", 1)
    answers = """
[measures.own]
function = "own"
[[numbers]]
name = "own"
title = "A number of its own"
rows = ["rtt"]
columns = [{ measure = "own", title = "rows" }]
[[figure]]
kind = "function"
item = "drawn"
title = "Drawn"
function = "draw"
"""
    study.write_text(f'{top}\nmodule = "study.py"\n[{tables}\n{answers}', encoding="utf-8")
    module = tmp_path / "study.py"
    # What the guide for notebooks says of a result holds of what a module is given, too.
    module.write_text(
        """
def own(result, point):
    return result.metrics.filter(point=point).height + len(result.runs)
def draw(ask):
    ask.metrics.no_such_thing()
""",
        encoding="utf-8",
    )
    done = sojourn("study", "run", study, "--out", tmp_path / "out")
    assert done.status == 1
    assert "error: figure drawn: study.py, line 5: AttributeError" in done.stderr
    assert "A number of its own" not in done.stderr  # it could be made
    assert done.stdout.strip().endswith("report.html")
    assert not (tmp_path / "out" / "figures" / "drawn.svg").exists()
    assert "figures/drawn.svg" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    drawn = sojourn("figure", tmp_path / "out", "drawn", "--out", tmp_path / "paper")
    assert drawn.status == 1
    assert "could not be drawn: study.py, line 5" in drawn.stderr
    assert not (tmp_path / "paper").exists() or not list((tmp_path / "paper").iterdir())
    assert sojourn("report", tmp_path / "out").status == 1
    # A module that was run here before is tried by `check`; one that never was is read.
    checked = sojourn("check", study)
    assert checked.status == 2
    assert "figure drawn: study.py, line 5" in checked.stderr
    module.write_text("def own(result, point):\n    return result.values_of(point)\ndef draw(ask):\n    return None\n")
    read = sojourn("check", study)
    assert read.status == 0
    assert "was read and not run: it was never run here" in read.stderr
    failed = sojourn("study", "run", study, "--out", tmp_path / "again")
    assert failed.status == 1
    assert "error: A number of its own: study.py, line 2: AttributeError" in failed.stderr
    loaded = StudyResult.load(tmp_path / "out")
    (point,) = loaded.points["point"].to_list()
    assert loaded.values(point, *loaded.metrics.select("subject", "metric").row(0)).shape == (1,)
    assert "drawn" not in loaded.plots()
