"""What strangers hand over neither writes, runs, hangs nor fills the memory."""

import contextlib
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest

from robustness.damage import make_results
from robustness.strangers import COMMANDS, World, bytecode, campaign, digest_of, make_home
from sojourn.base.files import fresh_folder, make_folder, new_file, open_file, write_file
from sojourn.base.files import read_file as read
from sojourn.base.formulas import no_formula
from sojourn.base.messages import visible
from sojourn.base.toml_text import DEEPEST, LONGEST, parse_toml
from sojourn.cli import run_command
from sojourn.field.flent import read_flent
from sojourn.field.importer import measurement_files, read_file
from sojourn.field.reading import Unreadable, read_document
from sojourn.study.result import StudyResult
from support import CommandLine, Finished, words_only, write_study


def command(*arguments: str | Path) -> Finished:
    """Run a command in this process, which is quicker; what it raises is a traceback of the program."""
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        status = run_command(list(map(str, arguments)))
    return Finished(status, said.getvalue(), told.getvalue())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make_results(folder)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    make_home(tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def given(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "given"))


def kinds_of_things(folder: Path) -> dict[str, Path]:
    """Make one of each that is no file."""
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "directory").mkdir()
    (folder / "link").symlink_to("nowhere")
    (folder / "device").symlink_to("/dev/zero")
    here = Path.cwd()
    os.chdir(folder)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as end:
        end.bind("socket")
    os.chdir(here)
    return {path.name: path for path in folder.iterdir()}


# ---- files ----------------------------------------------------------------------------------------


def test_only_a_regular_file_is_opened_and_nothing_waits(tmp_path: Path) -> None:
    things = kinds_of_things(tmp_path / "things")
    for name, path in things.items():
        with pytest.raises(OSError, match="No such file" if name == "link" else "is "):
            open_file(path)
        with pytest.raises(OSError, match="is ") as told:
            open_file(path, root=tmp_path)
        expected = "link" if name == "device" else name
        assert expected in str(told.value), name


def test_below_a_root_no_link_is_followed(tmp_path: Path, home: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "inner").symlink_to(home)
    (root / "file").symlink_to(home / ".bashrc")
    before = digest_of(home)
    for name in ("file", "inner/.bashrc", "inner/../../home/.bashrc"):
        with pytest.raises(OSError, match="is "):
            read(root / name, root=root)
    for name in ("inner/new", "inner/.bashrc"):
        with pytest.raises(OSError, match="is "):
            write_file(root / name, "x", root=root)
    with pytest.raises(OSError, match="is "):
        make_folder(root / "inner" / "new", root=root)
    write_file(root / "file", "x", root=root)  # the link goes, and what it named stays
    assert (root / "file").read_text() == "x"
    assert fresh_folder(root / "inner", root=root).is_dir()
    assert not (root / "inner").is_symlink()
    assert digest_of(home) == before


def test_a_file_has_its_name_when_it_is_whole_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.write_text("old")
    with contextlib.suppress(KeyboardInterrupt), new_file(path) as file:
        file.write(b"half")
        (other,) = [one for one in tmp_path.iterdir() if one != path]
        assert other.name.startswith(".")
        raise KeyboardInterrupt
    assert [one.name for one in tmp_path.iterdir()] == ["page"]
    assert path.read_text() == "old"


def test_a_hard_link_to_a_file_of_the_house_is_replaced_and_not_written(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "summary.csv"
    path.hardlink_to(home / ".bashrc")
    write_file(path, "new", root=tmp_path)
    assert (home / ".bashrc").read_text() != "new"


def test_a_file_larger_than_its_bound_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(OSError, match="more than 100 bytes"):
        read(path, most=100)


def test_a_user_may_name_an_open_pipe_and_others_are_replaced(tmp_path: Path) -> None:
    heard, said = os.pipe()
    write_file(Path(f"/dev/fd/{said}"), "words")
    assert os.read(heard, 99) == b"words"
    os.close(heard)
    os.close(said)
    os.mkfifo(tmp_path / "page.html")  # nobody reads it: opening it would wait
    write_file(tmp_path / "page.html", "words")
    assert (tmp_path / "page.html").read_text() == "words"


# ---- results and stores ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [".summary.csv.partial", "summary.csv", "summary.parquet", "report.html", "claims.csv"]
)
def test_a_report_writes_through_no_link(given: Path, home: Path, name: str) -> None:
    (given / "study" / name).unlink(missing_ok=True)
    (given / "study" / name).symlink_to(home / ".bashrc")
    before = digest_of(home)
    done = command("report", given / "study")
    assert done.status == 0, done.stderr
    assert digest_of(home) == before
    assert (given / "study" / "summary.csv").is_file()


@pytest.mark.parametrize("name", ["figures", "tables"])
def test_figures_and_tables_go_into_no_linked_folder(given: Path, home: Path, name: str) -> None:
    before = digest_of(home)
    for result in (given / "study", given / "run"):
        shutil.rmtree(result / name, ignore_errors=True)
        (result / name).symlink_to(home / "Documents")
        done = command("report", result)
        assert done.status == 0, done.stderr
    assert digest_of(home) == before
    assert (given / "run" / "figures" / "delay.svg").is_file()


def test_a_report_tells_nothing_that_a_link_names(given: Path, home: Path) -> None:
    (given / "run" / "scenario.toml").unlink()
    (given / "run" / "scenario.toml").symlink_to(home / ".bashrc")
    command("report", given / "run")
    (given / "study" / "manifest.json").unlink()
    (given / "study" / "manifest.json").symlink_to(home / "Documents" / "manifest.json")
    refused = command("report", given / "study")
    assert refused.status == 1
    assert "manifest.json cannot be read: is a link" in refused.stderr
    for page in given.rglob("*.html"):
        assert "SECRET" not in page.read_text()


@pytest.mark.parametrize("name", ["metrics.parquet", "manifest.json", "runs.parquet", "study.toml"])
def test_a_pipe_in_place_of_a_file_hangs_nothing(made: Path, given: Path, name: str) -> None:
    path = given / "study" / name
    path.unlink()
    os.mkfifo(path)
    for arguments in (
        ["report", given / "study"],
        ["compare", given / "study", made / "study"],
        ["compare", made / "study", given / "study"],
    ):
        done = command(*arguments)
        assert done.status in (1, 2)
        assert words_only(done)
        assert "is a pipe and no file" in done.stderr


@pytest.mark.parametrize("what", ["file", "link", "pipe", "link in it"])
def test_whatever_lies_in_place_of_runs_of_a_study_is_made_anew(given: Path, home: Path, what: str) -> None:
    store = given / "store"
    segments = list(store.glob("v2/runs/*/*"))
    for segment in segments:
        place = segment / "metrics.parquet" if what == "link in it" else segment
        if what == "link in it":
            place.unlink()
        else:
            shutil.rmtree(place)
        if what == "file":
            place.write_text("x")
        elif what == "pipe":
            os.mkfifo(place)
        else:
            place.symlink_to(home / "Documents")
    before = digest_of(home)
    out = given / "out"
    study = ["study", "run", given / "study.toml", "--store", store, "--no-figures", "--out", out]
    done = command(*study)
    assert done.status == 0, done.stderr
    assert "is damaged and its runs will be repeated" in done.stderr
    assert digest_of(home) == before
    made = list(store.glob("v2/runs/*/*"))
    assert sum((segment / "metrics.parquet").is_file() for segment in made) >= 1
    result = StudyResult.load(out)
    assert result.metrics.equals(StudyResult.load(given / "study").metrics)


@pytest.mark.parametrize("what", ["file", "link", "pipe"])
def test_whatever_lies_in_place_of_a_single_run_is_made_anew(given: Path, home: Path, what: str) -> None:
    ask = ["run", given / "base.toml", "--store", given / "singles", "--json"]
    first = command(*ask)
    assert first.status == 0, first.stderr
    (run,) = (given / "singles").glob("v1/??/*")
    shutil.rmtree(run)
    if what == "file":
        run.write_text("x")
    elif what == "pipe":
        os.mkfifo(run)
    else:
        run.symlink_to(home / "Documents")
    before = digest_of(home)
    done = command(*ask)
    assert done.status == 0, done.stderr
    assert "is damaged and will be repeated" in done.stderr
    assert digest_of(home) == before
    assert run.is_dir()
    assert not run.is_symlink()


def test_a_table_of_too_many_rows_is_refused_before_it_is_unpacked(
    given: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = pl.select(pl.repeat(0, 1_000_000).alias("start_ns"))
    many.write_parquet(given / "run" / "many.parquet")
    assert (given / "run" / "many.parquet").stat().st_size < 10_000
    monkeypatch.setattr("sojourn.base.on_disk.budget", lambda: 4_000_000)
    done = command("report", given / "run")
    assert "many.parquet has 1,000,000 rows, more than there is memory for" in done.stderr


# ---- modules --------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the folder of a study with a module, and a place where trust is kept."""
    monkeypatch.setenv("SOJOURN_STORE", str(tmp_path / "cache" / "store"))
    folder = tmp_path / "own"
    folder.mkdir()
    path = write_study(folder, "200 ms", matrix=[{"axes": {"rtt": ["near"]}}], seeds={"count": 1})
    top, tables = path.read_text().split("\n[", 1)
    path.write_text(f'{top}\nmodule = "study.py"\n[{tables}\n[[headline]]\nfunction = "say"\n')
    return folder


def run_own(own: Path, out: Path) -> Finished:
    return command("study", "run", own / "study.toml", "--no-figures", "--out", out)


def test_a_module_runs_as_it_was_hashed_and_bytecode_beside_it_does_not(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (own / "study.py").write_text('def say(ask):\n    return "as it was"\n')
    assert run_own(own, tmp_path / "out").status == 0
    module = tmp_path / "out" / "study" / "study.py"
    cache = module.parent / "__pycache__" / "study.cpython-311.pyc"
    for tag in (sys.implementation.cache_tag or "", "cpython-311"):
        cache = module.parent / "__pycache__" / f"study.{tag}.pyc"
        cache.parent.mkdir(exist_ok=True)
        cache.write_bytes(bytecode())
    done = command("report", tmp_path / "out")
    assert done.status == 0
    assert "as it was" in (tmp_path / "out" / "report.html").read_text()
    assert not (tmp_path / "EVIL").exists()


def test_check_reads_a_module_and_does_not_run_it(own: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    (own / "study.py").write_text(f'open({str(trace)!r}, "w")\ndef say(ask):\n    return ""\n')
    done = command("check", own / "study.toml")
    assert done.status == 0, done.stderr
    assert "its module study.py was read and not run" in done.stderr
    assert not trace.exists()
    assert not (tmp_path / "cache" / "modules").exists()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def other(ask): ...", 'study.py has no function "say"'),
        ("def say(ask) return 1", "study.py, line 1"),
        ("from sojourn.base.digits import *", ""),
        ("if True:\n    from sojourn.base.digits import significant as say", ""),
        ("class Box:\n    def say(self): ...", 'study.py has no function "say"'),
        ("say = print", ""),
    ],
)
def test_check_knows_the_functions_of_a_module_from_its_text(own: Path, text: str, found: str) -> None:
    (own / "study.py").write_text(text + "\n")
    done = command("check", own / "study.toml")
    assert done.status == (2 if found else 0), done.stderr
    assert found in done.stderr


@pytest.mark.parametrize(
    "text", ["import sys\nsys.exit(0)", "raise SystemExit", "class E(BaseException): ...\nraise E"]
)
def test_a_module_that_leaves_the_program_is_an_error(own: Path, tmp_path: Path, text: str) -> None:
    (own / "study.py").write_text(text + "\n")
    done = run_own(own, tmp_path / "out")
    assert done.status == 2
    assert "module: study.py, line" in done.stderr
    assert words_only(done)


@pytest.mark.parametrize("text", ["import sys; sys.exit(0)", "raise GeneratorExit", "yield exit(0)"])
def test_a_function_that_leaves_the_program_costs_its_own_part_alone(own: Path, tmp_path: Path, text: str) -> None:
    (own / "study.py").write_text(f"def say(ask):\n    {text}\n")
    done = run_own(own, tmp_path / "out")
    assert done.status == 1, done.stderr
    assert "error: Headline: study.py, line 2: " in done.stderr
    assert "Headline" in (tmp_path / "out" / "report.html").read_text()
    assert (tmp_path / "out" / "summary.csv").exists()


# ---- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        ".".join("a" * (DEEPEST + 1)),
        "x" + ".a" * 25_000,
        " . ".join(['"a.b"'] * (DEEPEST + 1)),
        "\t.".join(["'#'"] * (DEEPEST + 1)),
    ],
)
@pytest.mark.parametrize("before", ["", 'a = """x""""\n', "b = '''#'''''\n", "# '\n", 'c = "\\""\n'])
def test_a_key_of_many_parts_is_refused_before_it_is_taken_apart(key: str, before: str) -> None:
    for line in (f"{key} = 1", f"[{key}]", f"[[{key}]]", f"t = {{ {key} = 1 }}"):
        with pytest.raises(tomllib.TOMLDecodeError, match=f"a key of more than {DEEPEST} parts"):
            parse_toml(before + line)


def test_dots_in_strings_comments_and_numbers_are_no_parts_of_a_key() -> None:
    dots = ".".join("a" * 99)
    text = f'# {dots}\na = "{dots}"\nb = \'{dots}\'\nc = """\n{dots}""""\nd = [{"1.5, " * 99}]\n'
    assert parse_toml(text)["a"] == dots
    assert len(parse_toml(".".join("a" * DEEPEST) + " = 1")) == 1


def test_the_longest_text_takes_little_memory() -> None:
    line = "x" + ".a" * (DEEPEST - 2)
    text = "\n".join(f"{line}.k{number} = 1" for number in range(LONGEST // 70))
    program = "import sys; from sojourn.base.toml_text import parse_toml; parse_toml(sys.stdin.read())"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (500_000_000,) * 2); "
    done = subprocess.run([sys.executable, "-c", limit + program], input=text, text=True, check=False)
    assert done.returncode == 0
    with pytest.raises(tomllib.TOMLDecodeError, match="longer than"):
        parse_toml(" " * (LONGEST + 1))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+cmd|' /C calc'!A0", "'=1+cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+1+2", "'+1+2"),
        ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
        ("\t=1", "'\t=1"),
        ("-3.5", "-3.5"),
        ("+12 %", "+12 %"),
        ("-1e-3 ms", "-1e-3 ms"),
        ("pie", "pie"),
        ("", ""),
    ],
)
def test_a_cell_is_no_formula(text: str, cell: str) -> None:
    assert no_formula(text) == cell


def test_formulas_of_a_study_reach_no_csv_file(tmp_path: Path) -> None:
    name = "=1+cmd|' /C calc'!A0"
    changes: dict[str, Any] = {"overlays": {name: {}, "b": {}}, "matrix": [{"axes": {name: [name, "b"]}}]}
    study = write_study(tmp_path, "200 ms", seeds={"first": 1, "count": 1}, **changes)
    out = tmp_path / "out"
    done = command("study", "run", study, "--store", tmp_path / "s", "--no-figures", "--out", out)
    if done.status == 2:  # refused as a name: then it reaches nothing
        assert words_only(done)
        return
    for path in out.rglob("*.csv"):
        for cell in path.read_text().replace("\n", ",").split(","):
            assert not cell.strip('"').startswith("="), (path.name, cell)


def test_signs_that_a_terminal_obeys_are_spelt_out_wherever_words_are_printed(given: Path) -> None:
    bad = "\x1b]0;title\x07\x1b[31mred\u202e\x9b1m"
    metrics = pl.read_parquet(given / "study" / "metrics.parquet")
    metrics = metrics.with_columns(pl.lit(bad).alias("subject"), value=pl.col("value") + pl.col("seed"))
    metrics.write_parquet(given / "study" / "metrics.parquet")
    (given / "study" / "manifest.json").write_text(
        f'{{"reduced": "{bad.encode("unicode_escape").decode().replace(chr(92) + "x", chr(92) + "u00")}"}}'
    )
    pl.DataFrame({"x": [1]}).write_parquet(given / "study" / "records" / f"a{bad}.parquet")
    seen = 0
    for arguments in (
        ["report", given / "study"],
        ["compare", given / "study", given / "study", "--all"],
        ["compare", given / "study", "--by", "rtt", "--all"],
        ["compare", given / "study", "--by", "rtt", "--json"],
        ["query", "--store", given / "study", "select subject from metrics"],
        ["query", "--store", given / "study", f"select '{bad}'"],
        ["query", "--store", given / "study", f"selec '{bad}'"],
        ["check", bad],
        ["study", "run", bad],
        ["run", bad],
        [bad],
    ):
        done = command(*arguments)
        for sign in "\x1b\x07\u202e\x9b":
            assert sign not in done.stdout + done.stderr, arguments
        seen += "red" in done.stdout + done.stderr
    assert seen >= 7
    assert visible("a\nb\x1b") == "a\nb\\x1b"


# ---- queries --------------------------------------------------------------------------------------

WRITES = [
    "copy (select 1) to '{0}/evil'",
    "explain analyze copy (select 1) to '{0}/evil'",
    "explain (analyze) copy (select 1) to '{0}/evil'",
    "explain (analyze, format json) copy (select 1) to '{0}/v1/evil'",
    "/* é😀 select 1 */ explain /* x */ analyze -- y\n copy (select 1) to '{0}/evil'",
    "explain analyze create table x as select 1",
    "explain analyze insert into runs select 1",
    "explain analyze explain analyze copy (select 1) to '{0}/evil'",
    "export database '{0}/evil'",
    "attach '{0}/evil' as evil",
    "install httpfs",
    "pragma database_list",
    "set temp_directory = '{0}/evil'",
    "create table x as select 1",
    "checkpoint",
    "select * from read_text('/etc/passwd')",
    "select * from read_csv('{0}/../home/.bashrc')",
    "select * from glob('/*')",
    "select * from query('copy (select 1) to ''{0}/evil''')",
    "select getenv('HOME')",
]


@pytest.mark.parametrize("sql", WRITES)
def test_no_query_writes_or_reads_anything_else(given: Path, sql: str) -> None:
    pytest.importorskip("duckdb")
    before = digest_of(given)
    for store in (given / "store", given / "study"):
        done = command("query", "--store", store, sql.format(store))
        assert done.status == 2, done.stdout
        assert words_only(done)
    assert digest_of(given) == before


def test_a_query_over_places_with_signs_of_patterns_reads_them(given: Path) -> None:
    pytest.importorskip("duckdb")
    for name in ("st[1]", "st*", "st?", "it's"):
        shutil.copytree(given / "store", given / name)
        done = command("query", "--store", given / name, "select count(distinct key) as n from series")
        assert (done.status, done.stdout.split()) == (0, ["n", "5"]), done.stderr


def test_a_query_names_files_that_are_none_and_answers_about_the_others(given: Path) -> None:
    pytest.importorskip("duckdb")
    path = sorted((given / "store" / "v1").glob("??/*/series.parquet"))[0]
    path.unlink()
    os.mkfifo(path)
    done = command("query", "--store", given / "store", "select count(distinct key) as n from series")
    assert (done.status, done.stdout.split()) == (0, ["n", "4"]), done.stderr
    assert "series.parquet: is a pipe and no file; left out" in done.stderr


def test_a_long_answer_is_printed_while_it_comes(given: Path) -> None:
    pytest.importorskip("duckdb")
    sql = "select * from range(400000) as t(n), range(2)"
    for form in ([], ["--csv"]):
        program = (
            "import sys; from sojourn.cli import run_command; "
            f"status = run_command(['query', '--store', {str(given / 'study')!r}, {sql!r}, *{form!r}]); "
            # Not `ru_maxrss`, which has the process that started this one in it.
            "lines = open('/proc/self/status'); print(*[line.split()[1] for line in lines if line.startswith('VmHWM')], file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.count("\n") == 800_001
        assert int(done.stderr.split()[-1]) < 800_000  # kilobytes; all rows at once took 130 bytes each and more


# ---- settings of libraries ------------------------------------------------------------------------


def test_settings_of_matplotlib_beside_a_result_are_not_read(given: Path, tmp_path: Path) -> None:
    first = CommandLine(tmp_path)("report", given / "run")
    assert first.status == 0, first.stderr
    drawn = (given / "run" / "figures" / "delay.svg").read_bytes()
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "matplotlibrc").write_text("text.usetex: True\nlines.linewidth: 40\n")
    done = CommandLine(beside)("report", given / "run")
    assert (done.status, done.stderr) == (0, "")
    assert (given / "run" / "figures" / "delay.svg").read_bytes() == drawn
    (beside / "matplotlibrc").unlink()
    os.mkfifo(beside / "matplotlibrc")
    assert CommandLine(beside)("report", given / "run").status == 0


# ---- measurements ---------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-1, -1e308, 1e308, float("inf"), float("-inf"), float("nan"), 10**400])
def test_values_that_no_tool_measures_become_no_metrics(value: float) -> None:
    folder = Path(__file__).parents[1] / "field" / "files"
    path, _ = next(one for one in measurement_files(folder) if ".flent" in one[1])
    document = read_document(path)

    def put(part: Any) -> Any:  # noqa: ANN401 - any JSON
        """Put the value in place of each tenth number."""
        if isinstance(part, dict):
            return {key: put(item) for key, item in cast("dict[str, Any]", part).items()}
        if isinstance(part, list):
            return [
                value if isinstance(x, float) and n % 10 == 3 else put(x) for n, x in enumerate(cast("list[Any]", part))
            ]
        return part

    for key in ("results", "raw_values", "x_values", "metadata"):
        with contextlib.suppress(Unreadable):
            for test in read_flent({**document, key: put(document[key])}, "x.flent"):
                for name in ("throughput_mbps", "throughput_grid_mbps", "latency_ms", "latency_p99_ms"):
                    found = getattr(test, name)
                    assert found is None or 0 <= found < 1e9, (key, name)


def test_a_pipe_among_measurements_is_named_and_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.flent")
    with pytest.raises(Unreadable, match="is a pipe"):
        read_file(tmp_path / "a.flent", "a.flent")


# ---- interrupts -----------------------------------------------------------------------------------

AT_IMPORT = """
import os, sys
seen = 0
def watch(event, arguments):
    global seen
    if event == "import" and "sojourn.cli.app" in sys.modules:
        seen += 1
        if seen == {number}:
            os.kill(os.getpid(), {signal})
sys.argv = ["sojourn", *{command}]
sys.addaudithook(watch)
from sojourn.cli import main
main()
"""

AT_THE_END = """
import atexit, os, sys
import sojourn.cli as cli
flush = cli._flush
def late():
    status = flush()
    if {place} == 0: os.kill(os.getpid(), {signal})
    return status
cli._flush = late
if {place} == 1: atexit.register(os.kill, os.getpid(), {signal})
sys.argv = ["sojourn", *{command}]
cli.main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_command_loads_ends_it_in_words(number: int, made: Path) -> None:
    what = ["compare", str(made / "study"), str(made / "study")]
    for place in (1, 4, 60, 400):
        program = AT_IMPORT.format(number=place, signal=int(number), command=what)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert done.returncode == 3, (place, done.stderr)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("place", [0, 1])
def test_a_signal_after_the_last_word_undoes_nothing(number: int, place: int) -> None:
    program = AT_THE_END.format(place=place, signal=int(number), command=["--version"])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("sojourn ")
    assert done.returncode == (3 if place == 0 else 0)
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr


# ---- whatever is put there ------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_whatever_a_stranger_puts_there_nothing_outside_changes(name: str, tmp_path: Path) -> None:
    ends, faults = campaign(name, range(6), 11, World(tmp_path))
    assert not faults, faults[0]
    assert sum(ends.values()) == 6
