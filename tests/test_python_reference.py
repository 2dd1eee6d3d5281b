"""The package as a notebook user meets it: what the reference says, run."""

import doctest
import html
import importlib
import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import sojourn
from support import CommandLine, write_scenario

DOCS = Path(__file__).parents[1] / "docs"
REFERENCE = DOCS / "reference" / "python.md"
EXECUTED = [REFERENCE, *(DOCS / "guides").glob("*-in-python.md")]
"""Pages whose examples run in order, beside a scenario file `household.toml`."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty directory with a scenario and a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOJOURN_STORE", str(tmp_path / "store"))
    write_scenario(tmp_path)
    return tmp_path


@pytest.fixture
def command(tmp_path: Path) -> CommandLine:
    """Return the command line in the same directory."""
    return CommandLine(tmp_path)


def shown(thing: object) -> str:
    """Return what a notebook shows."""
    return str(getattr(thing, "_repr_html_")())  # noqa: B009 - as notebooks ask for it


@pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_as_they_stand(page: Path) -> None:
    done = doctest.testfile(str(page), module_relative=False)
    assert done.attempted > 7
    assert done.failed == 0


def modules() -> list[str]:
    """Return the names of all modules of the package that can be imported by themselves."""
    found = pkgutil.walk_packages(sojourn.__path__, "sojourn.")
    return [module.name for module in found if not module.name.endswith(("__main__", "_engine"))]


def examples_of(name: str) -> doctest.TestResults:
    """Run the examples of a module, unless it needs an extra that is not installed."""
    try:
        return doctest.testmod(importlib.import_module(name))
    except ModuleNotFoundError as error:
        if str(error.name).startswith("sojourn"):
            raise
        return doctest.TestResults(failed=0, attempted=0)


def test_the_examples_in_docstrings_run_as_they_stand() -> None:
    tried = [examples_of(name) for name in modules()]
    assert sum(result.attempted for result in tried) > 80
    assert sum(result.failed for result in tried) == 0


@pytest.mark.parametrize("tool", ["describe-records.py", "describe-commands.py"])
def test_the_pages_of_records_and_commands_are_up_to_date(tool: str) -> None:
    done = subprocess.run([sys.executable, DOCS.parent / "tools" / tool, "--check"], check=False)
    assert done.returncode == 0, f"run .venv/bin/python tools/{tool}"


def test_every_public_name_exists_and_stands_in_the_reference() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    for name in sojourn.__all__:
        assert getattr(sojourn, name) is not None
        assert name in text or name == "__version__"


def test_importing_the_package_loads_neither_frames_nor_the_engine() -> None:
    code = "import sys, sojourn; print({'polars', 'pydantic', 'sojourn._engine'} & set(sys.modules))"
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
    assert "one: 1 points, 1 seed each" in shown(study)
    home = shown(sojourn.load_scenario("household.toml"))
    assert "<td>serial, rate 5 Mb/s, delay 1 ms</td><td>drop-tail, limit 50 packets</td>" in home
    assert "<td>bulk</td><td>bulk</td><td>linux-cubic</td><td>20 ms</td>" in home


def test_a_notebook_shows_what_is_wrong_with_a_study_instead_of_failing() -> None:
    axis = {"key": "access.upstream.queue.limmit", "values": ["10 packets"]}
    page = shown(sojourn.Study("household.toml", axes={"buffer": axis}))
    assert "study is not valid" in page
    assert "axes.buffer" in page


def test_a_single_run_is_loaded_with_what_it_had(command: CommandLine) -> None:
    done = command("run", "household.toml", "--seed", "4", "--out", "one")
    assert done.status == 0, done.stderr
    loaded = sojourn.load_result("one")
    assert isinstance(loaded, sojourn.Run)
    fresh = sojourn.run("household.toml", seed=4)
    assert (loaded.seed, loaded.key) == (4, fresh.key)
    assert loaded.metrics.equals(fresh.metrics)
    assert set(loaded.tables) == set(fresh.tables)
    Path("one", "metrics.parquet").unlink()
    with pytest.raises(sojourn.RecordError, match="complete run"):
        sojourn.load_result("one")


def test_plots_show_themselves_and_are_saved_as_their_names_say(place: Path) -> None:
    plots = sojourn.run("household.toml").plots()
    plot = next(iter(plots.values()))
    assert plot.name in repr(plot)
    assert "<svg" in str(getattr(plot, "_repr_svg_")())  # noqa: B009 - as notebooks ask for it
    drawn = str(getattr(plot, "_repr_svg_")())  # noqa: B009
    words = re.search(r'<svg role="img" aria-label="([^"]+)"', drawn)
    assert words is not None
    assert words[1].startswith(html.escape(plot.title))
    assert html.escape(plot.description) in words[1]
    beginnings = {".svg": b"<?xml", ".pdf": b"%PDF", ".png": b"\x89PNG"}
    for suffix, beginning in beginnings.items():
        assert plot.save(f"plot{suffix}").read_bytes().startswith(beginning)
    with pytest.raises(sojourn.SojournError, match=r"not written as \.docx"):
        plot.save(place / "plot.docx")


class FakeDisplay(ModuleType):
    """What notebooks display, as text."""

    def __init__(self) -> None:
        super().__init__("IPython.display")
        self.shown: list[str] = []

    def HTML(self, page: str) -> str:
        """Return a page as one."""
        return page

    def display(self, page: str, *, display_id: bool) -> "FakeDisplay":
        """Show a page and return what may change it."""
        assert display_id
        self.update(page)
        return self

    def update(self, page: str) -> None:
        """Show another in its place."""
        self.shown.append(page)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> FakeDisplay:
    """Pretend that IPython runs with a kernel."""
    library, shown_there = ModuleType("IPython"), FakeDisplay()
    setattr(library, "get_ipython", lambda: SimpleNamespace(kernel=object()))  # noqa: B010
    setattr(library, "display", shown_there)  # noqa: B010 - modules take any attribute
    monkeypatch.setitem(sys.modules, "IPython", library)
    monkeypatch.setitem(sys.modules, "IPython.display", shown_there)
    return shown_there


def test_a_notebook_has_a_bar_for_a_study(notebook: FakeDisplay, capsys: pytest.CaptureFixture[str]) -> None:
    axis = {"key": "duration", "values": ["500 ms", "1 s"]}
    sojourn.Study("household.toml", axes={"length": axis}, name="bar").run(out="out", jobs=1)
    assert notebook.shown[0].endswith("bar: 2 runs on 1 thread")
    assert notebook.shown[2].startswith('<progress value="1.0000" max="1">')
    assert notebook.shown[-1].startswith("bar: 2 runs in ")
    assert capsys.readouterr().err == ""


def test_a_notebook_has_a_bar_for_a_run_of_more_than_a_second(
    notebook: FakeDisplay, monkeypatch: pytest.MonkeyPatch
) -> None:
    sojourn.run("household.toml")
    assert notebook.shown == []
    monkeypatch.setattr("sojourn.process.progress.SILENT_S", 0.0)
    long = sojourn.load_scenario("household.toml").with_settings({"duration": "600 s"})
    sojourn.run(long)
    assert notebook.shown[0].startswith("<progress")
    assert notebook.shown[-1].startswith("household: done after ")


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


def test_dir_names_the_whole_package_before_anything_is_loaded() -> None:
    code = "import sojourn; print(*(set(sojourn.__all__) - set(dir(sojourn)) or ['none']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert done.stdout.split() == ["none"]
    assert {"run", "Study", "load_result"} <= set(dir(sojourn))


WRONG = {
    'sojourn.run("nothing.toml")': "UsageError: nothing.toml: no such file or directory",
    'sojourn.run("household.toml", seed=-1)': "UsageError: seed is -1\nhint: a whole number from 0 to 18446744073709551615",
    'sojourn.run("household.toml", seed=1.5)': "UsageError: seed is 1.5\nhint: a whole number",
    'sojourn.run("household.toml", seed="two")': "UsageError: seed is 'two'\nhint: a whole number",
    'sojourn.live("household.toml", seed=-1)': "UsageError: seed is -1\nhint: a whole number from 1 to",
    'sojourn.load_scenario("household.toml").with_settings({"durration": "3 s"})': (
        "ScenarioError: durration: unknown key\nhint: did you mean duration?"
    ),
    'sojourn.load_result("nothing")': "RecordError: nothing is not a directory\nhint: give a directory",
    'sojourn.Study.load("buffer-lesson").run(seeds=-1)': "UsageError: seeds is -1\nhint: a whole number from 1 on",
    'sojourn.Study.load("nothing")': 'UsageError: no study "nothing"\nhint: ',
}


def interactive_shell() -> Any:  # noqa: ANN401 - of IPython
    """Return what runs the cells of a notebook."""
    return importlib.import_module("IPython.core.interactiveshell").InteractiveShell()


@pytest.mark.parametrize("code", WRONG)
def test_a_mistake_in_a_notebook_is_a_sentence_with_its_hint(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    shell = interactive_shell()
    shell.run_cell(f"import sojourn\n{code}")
    said = "".join(capsys.readouterr())
    assert WRONG[code] in re.sub(r"\x1b\[[\d;]*m", "", said)
    assert len(said.strip().splitlines()) <= 2
    assert "Traceback" not in said


def test_a_notebook_shows_where_a_queue_manager_of_its_own_failed(capsys: pytest.CaptureFixture[str]) -> None:
    shell = interactive_shell()
    shell.run_cell(
        "import sojourn\n"
        "class Bad:\n    def __init__(self, random): pass\n    def enqueue(self, packet, now): return 1 / 0\n"
        "    def dequeue(self, now): return None\n"
        "sojourn.add_manager('bad', Bad)\n"
        "home = sojourn.load_scenario('household.toml')\n"
        "sojourn.run(home.with_settings({'access.upstream.queue': {'kind': 'python', 'class': 'bad'}}))"
    )
    said = "".join(capsys.readouterr())
    assert "in enqueue" in said
    assert "ZeroDivisionError: division by zero" in said
    assert "RunError: " in said
    assert "/sojourn/" not in said
