"""The package as a notebook user meets it: what the reference says, run."""

import doctest
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import sojourn
from support import write_scenario

REFERENCE = Path(__file__).parents[1] / "docs" / "reference" / "python.md"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty directory with a scenario and a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOJOURN_STORE", str(tmp_path / "store"))
    write_scenario(tmp_path)
    return tmp_path


def shown(thing: object) -> str:
    """Return what a notebook shows."""
    return str(getattr(thing, "_repr_html_")())  # noqa: B009 - as notebooks ask for it


def test_the_examples_of_the_reference_run_as_they_stand() -> None:
    done = doctest.testfile(str(REFERENCE), module_relative=False)
    assert done.attempted > 10
    assert done.failed == 0


def test_every_public_name_exists_and_stands_in_the_reference() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    for name in sojourn.__all__:
        assert getattr(sojourn, name) is not None
        assert name in text or name == "__version__"


def test_importing_the_package_loads_neither_frames_nor_the_engine() -> None:
    code = (
        "import sys, sojourn; print({'polars', 'pydantic', 'sojourn._engine'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_notebooks_show_an_overview_without_letting_names_become_markup() -> None:
    run = sojourn.run("household.toml")
    assert "<td>bulk</td>" in shown(run)
    axis = {"key": "duration", "values": ["500 ms"]}
    study = sojourn.Study("household.toml", axes={"length": axis}, name="one")
    result = study.run(out="a<b", jobs=1)
    page = shown(result)
    assert "one: 1 points, 1 runs, in a&lt;b" in page
    assert "<th>length</th>" in page


def test_a_study_that_is_wrong_says_where_and_runs_nothing(place: Path) -> None:
    axis = {"key": "access.upstream.queue.limmit", "values": ["10 packets"]}
    with pytest.raises(sojourn.StudyError) as caught:
        sojourn.Study("household.toml", axes={"buffer": axis}).run(out="out")
    assert "axes.buffer" in caught.value.problems[0].path
    assert caught.value.problems[0].file == ""
    assert not (place / "out").exists()


def test_pandas_is_used_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    run = sojourn.run("household.toml")
    if importlib.util.find_spec("pandas") is not None:
        assert list(run.to_pandas().columns) == run.metrics.columns
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(sojourn.SojournError, match="pandas is not installed"):
        run.to_pandas()
