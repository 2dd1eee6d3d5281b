"""`sojourn study list` and `show`, and the words around `run`."""

from pathlib import Path

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


def test_stdout_is_the_report_and_stderr_tells_what_was_done(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    write_study(tmp_path)
    done = sojourn("study", "run", "study.toml", "--quick", "--jobs", "1", "--out", "out")
    assert done.status == 0, done.stderr
    assert done.stdout == "out/report.html\n"
    assert done.stderr.startswith("small: 4 runs on 1 thread\n")
    assert "4 runs computed, 0 from the store; 2 s simulated" in done.stderr


def test_a_cluster_that_does_not_answer_is_told(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    done = sojourn(
        *("study", "run", "study.toml", "--quick", "--out", "out"),
        *("--cluster", "tcp://127.0.0.1:9"),
    )
    assert done.status == 1
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in done.stderr
    assert words_only(done)


def test_a_result_that_is_none_is_told(sojourn: CommandLine, tmp_path: Path) -> None:
    for directory in ("absent", str(tmp_path)):
        done = sojourn("report", directory)
        assert done.status == 1
        assert words_only(done)
