"""The independent checker: it refuses each kind of false sentence, and finds nothing in those of random studies."""

import csv
from pathlib import Path

import pytest

import sojourn
from headline.checker import objections
from headline.studies import write_study
from headline.summary import Summary
from sojourn.api.study import Study
from sojourn.report.first import headline_of_result
from sojourn.store import Store
from sojourn.study.write import write_summary

COLUMNS = (
    "point",
    "queue",
    "rtt",
    "subject",
    "metric",
    "unit",
    "n",
    "mean",
    "low",
    "high",
    "median",
    "interval",
    "note",
)

MEANS = {
    ("drop-tail", "15 ms"): (200.0, 10.0, 1.2),
    ("drop-tail", "100 ms"): (300.0, 10.0, 1.2),
    ("PIE", "15 ms"): (10.0, 9.97, 4.3),
    ("PIE", "100 ms"): (20.0, 9.1, 3.4),
}
"""By setting and round trip: a game's delay, the upload's rate, and the score of a call."""

TRUE = (
    "PIE keeps the game at 10 to 20 ms (P99, upstream), 15 to 20 times better than drop-tail's 200 to 300 ms; the upload "
    "loses 0 to 9 % of its rate, most at 100 ms. Best in both conditions."
)


@pytest.fixture
def summary(tmp_path: Path) -> Summary:
    path = tmp_path / "summary.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for (queue, rtt), (delay, rate, score) in MEANS.items():
            for subject, metric, unit, mean in (
                ("game", "delay_up_p99", "ms", delay),
                ("game", "late", "%", 0.0),
                ("upload", "goodput", "Mb/s", rate),
                ("call", "mos", "", score),
            ):
                ends = (0.99 * mean, 1.01 * mean)
                table.writerow((f"{queue}-{rtt}", queue, rtt, subject, metric, unit, 5, mean, *ends, mean, "t", ""))
    return Summary.read(path)


def test_a_true_sentence_meets_no_objection(summary: Summary) -> None:
    assert objections(TRUE, summary) == []


@pytest.mark.parametrize(
    ("true", "false", "why"),
    [
        ("10 to 20 ms", "10 ms", "not the range"),
        ("; the upload loses 0 to 9 % of its rate, most at 100 ms", ", at no cost to the upload", "which loses 9.0 %"),
        ("0 to 9 % of its rate, most at 100 ms", "9 % of its rate", "loses 0.3 to 9.0 %"),
        ("most at 100 ms", "most at 15 ms", "does not lose most"),
        ("15 to 20 times", "30 times", "over all conditions"),
        ("drop-tail's 200 to 300 ms", "drop-tail's 200 ms", "not the range"),
        ("both conditions.", "both conditions. 7.7 of something.", '"7.7" is no cell'),
        ("both conditions.", "both conditions, by 20 %.", "without its whole"),
        (TRUE, "drop-tail keeps the game at 200 to 300 ms (P99, upstream). Best in both conditions.", "clearly better"),
        (TRUE, "Nothing separates drop-tail and PIE for the game: 10 to 300 ms (P99, upstream).", "clearly better"),
        (
            TRUE,
            "The five runs of each do not tell drop-tail and PIE apart for the game: 10 to 300 ms (P99, upstream).",
            "clearly better",
        ),
        (
            TRUE,
            "The two runs of each do not tell drop-tail and PIE apart for the game: 10 to 300 ms (P99, upstream).",
            "no cell has two runs",
        ),
        (TRUE, "PIE keeps the call good (MOS 3.4 to 4.3).", "not the word"),
        (TRUE, "drop-tail gives the upload 10 Mb/s where PIE gives 9.1 to 10.", "a rate comes first"),
        (TRUE, "At 15 ms drop-tail is best for the game (200 ms for PIE's 10).", "clearly better"),
        (TRUE, "All is well.", "no clause was understood"),
    ],
)
def test_each_kind_of_false_sentence_is_refused(summary: Summary, true: str, false: str, why: str) -> None:
    assert true in TRUE
    found = objections(TRUE.replace(true, false), summary)
    assert any(why in one for one in found), found


def said_of(
    study: Path | str, folder: Path, seeds: int | None = None, duration: str | None = None
) -> tuple[str, list[str]]:
    """Run a study; return its sentence with the objections to it."""
    loaded = Study.load(study)
    result = loaded.run(out=folder / "result", store=Store(folder / "store"), jobs=1, seeds=seeds, duration=duration)
    write_summary(result)
    found = headline_of_result(result)
    names = {
        value: words.name for label in result.definition.labels.values() for value, words in label.items() if words.name
    }
    sentence = "" if found is None else found.sentence
    return sentence, objections(sentence, Summary.read(folder / "result/summary.csv", names))


def said_of_run(path: str) -> tuple[str, list[str]]:
    """Run a scenario; return its sentence with the objections to it."""
    run = sojourn.run(path)
    rows = [
        {"point": "", "subject": subject, "metric": metric, "n": "1", "mean": str(value)}
        | {"low": "", "high": "", "interval": "", "note": ""}
        for subject, metric, value, _ in run.metrics.iter_rows()
        if value is not None
    ]
    sentence = "" if run.headline is None else run.headline.sentence
    return sentence, objections(sentence, Summary(rows))


@pytest.mark.whole
@pytest.mark.parametrize("seed", range(30))
def test_no_cell_contradicts_the_sentence_of_a_study_drawn_at_random(seed: int, tmp_path: Path) -> None:
    sentence, found = said_of(write_study(tmp_path / "study", seed), tmp_path)
    assert not found, sentence
