"""`sojourn trial`: from files of probes to a report, and what is said about the rest."""

import csv
import io
import os
from pathlib import Path

from field.trials import FILES, flent_document, write_packed
from sojourn.report.page import script
from support import CommandLine


def test_real_files_become_a_report(sojourn: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "trial"
    imported = sojourn("trial", "import", str(FILES), "--out", str(out))
    assert imported.status == 0
    assert imported.stdout.strip() == str(out)
    assert "18 tests of 1 home from 18 files, 0 skipped" in imported.stderr
    done = sojourn("trial", "analyse", str(out))
    assert done.status == 0, done.stderr
    assert done.stdout.strip() == str(out / "report.html")
    assert "Upload latency (ICMP ping), against treatment 8KB: 48KB +" in done.stderr
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "day is left out: it has one level" in page
    rows = list(csv.DictReader(io.StringIO((out / "effects.csv").read_text(encoding="utf-8"))))
    assert len({row["target"] for row in rows}) == 4
    # One home is measured: nothing is clear, and no interval is called one over homes.
    assert {(row["verdict"], row["interval"]) for row in rows} == {("one home", "tests of one home")}
    assert "clustered by home" not in page
    assert "96KB −0.1 points" in done.stderr
    assert (out / "figures" / "percent-deltas.svg").is_file()


def test_flents_own_numbers_stand_beside_ours_and_differences_are_counted(sojourn: CommandLine, tmp_path: Path) -> None:
    source = next(FILES.glob("tcp_upload*96KB_rep_1*"))
    program = tmp_path / "bin" / "flent"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho ' TCP upload     :   9.99   4.81   12.29 Mbits/s   100'\n")
    program.chmod(0o755)
    sojourn.environment["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    done = sojourn("trial", "import", str(source), "--out", "trial", "--check-flent")
    assert done.status == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if "TCP upload" in line]
    assert len(rows) == 1
    assert "4.77 | 9.99" in rows[0]
    assert rows[0].endswith("differs")
    assert "2 series, 2 differ from what Flent prints" in done.stderr
    shown = sojourn("trial", "import", str(source), "--out", "again", "--check-flent", "--json")
    assert {row["series"] for row in shown.json()["checks"]} == {"TCP upload", "Ping (ms) ICMP"}
    sojourn.environment["PATH"] = str(tmp_path)
    absent = sojourn("trial", "import", str(source), "--out", "third", "--check-flent")
    assert absent.status == 1
    assert "there is no program flent" in absent.stderr
    assert not (tmp_path / "third").exists()


def test_what_is_skipped_is_named_and_the_rest_imported(sojourn: CommandLine, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    write_packed(source / "good.flent.gz", flent_document())
    (source / "<script>.flent.gz").write_bytes(b"\x1f\x8b cut")
    done = sojourn("trial", "import", str(source), "--out", "trial", "--json")
    assert done.status == 0
    content = done.json()
    assert content["tests"] == 1
    assert [one["file"] for one in content["skipped"]] == ["<script>.flent.gz"]
    assert "skipped: <script>.flent.gz: cannot be read" in done.stderr


def test_a_page_escapes_what_files_say(sojourn: CommandLine, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for number, label in enumerate(("8KB", "<script>alert(1)</script>") * 2):
        document = flent_document()
        document["metadata"]["TITLE"] = f"probe=h<b> buffer={label}"
        document["metadata"]["TIME"] = f"2016-03-15T12:0{number}:10Z"
        write_packed(source / f"{number}<i>.flent.gz", document)
    (source / "<img>.json").write_text("{}")
    assert sojourn("trial", "import", str(source), "--out", "trial").status == 0
    done = sojourn("trial", "analyse", "trial")
    assert done.status == 0, done.stderr
    page = next(tmp_path.rglob("report.html")).read_text(encoding="utf-8")
    assert page.count("<script") == 1  # the page's own
    assert f"<script>{script()}</script>" in page
    assert "h<b>" not in page
    assert "<img>" not in page


def test_a_schedule_labels_tests_by_time_on_import_or_when_analysed(sojourn: CommandLine, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for number in range(6):
        document = flent_document()
        document["metadata"]["TITLE"] = "probe=home-1"
        document["metadata"]["TIME"] = f"2016-03-{15 + number}T12:00:10Z"
        document["results"]["Ping (ms) UDP BE"][7] += number
        write_packed(source / f"{number}.flent.gz", document)
    rows = "".join(
        f"home-1,{week},{name},2016-03-{day}T12:00:00Z,up\n"
        for week, name, days in ((1, "small", (15, 16)), (2, "large", (17, 18, 19)))
        for day in days
    )
    (tmp_path / "plan.csv").write_text(f"probe,week,treatment,time,direction\n{rows}")
    assert sojourn("trial", "import", str(source), "--out", "a", "--labels", "plan.csv").status == 0
    assert sojourn("trial", "import", str(source), "--out", "b").status == 0
    by_import = sojourn("trial", "analyse", "a", "--json")
    assert by_import.status == 0, by_import.stderr
    later = sojourn("trial", "analyse", "b", "--labels", "plan.csv", "--json")
    assert later.json()["effects"] == by_import.json()["effects"]
    effects = [one for one in later.json()["effects"] if one["target"] == "upload_latency"]
    assert [(one["level"], one["reference"]) for one in effects] == [("small", "large")]
    # The test of the 20th is of no period: it has no treatment, and is left out.
    assert later.json()["tests"] == 5
    page = (tmp_path / "b" / "report.html").read_text(encoding="utf-8")
    assert "1 without a treatment left out" in page
    assert "outside the schedule" in page


def test_nothing_imported_and_nothing_to_analyse_are_errors_of_input(sojourn: CommandLine, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.json").write_text("{}")
    assert sojourn("trial", "import", str(source), "--out", "trial").status == 2
    done = sojourn("trial", "analyse", "trial")
    assert done.status == 2
    assert "nothing to compare" in done.stderr
    absent = sojourn("trial", "analyse", "nowhere")
    assert absent.status == 2
    assert "sojourn trial import PATH --out DIR" in absent.stderr


def test_a_schedule_is_a_table_on_stdout(sojourn: CommandLine) -> None:
    arguments = ("8KB", "48KB", "96KB", "--first-day", "2026-11-23", "--homes", "6")
    done = sojourn("trial", "design", *arguments)
    assert done.status == 0
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 6 * 21 * 3 * 2
    assert rows[0]["time"].startswith("2026-11-23T08:00:00")
    talk = sojourn("trial", "design", *arguments, "--order", "talk")
    assert "cannot tell them apart" in talk.stderr
    assert sojourn("trial", "design", "8KB", "48KB", "--first-day", "monday").status == 2
    blank = sojourn("trial", "design", "8 KB", "48KB", "--first-day", "2026-11-23")
    assert blank.status == 2
    assert '"8 KB" cannot stand in a label' in blank.stderr
