"""`sojourn trial`: from files of probes to a report, and what is said about the rest."""

import csv
import io
from pathlib import Path

from field.trials import FILES, flent_document, write_packed
from support import CommandLine


def test_real_files_become_a_report(sojourn: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "trial"
    imported = sojourn("trial", "import", str(FILES), "--out", str(out))
    assert imported.status == 0
    assert imported.stdout.strip() == str(out)
    assert "5 tests of 1 homes from 5 files, 0 skipped" in imported.stderr
    done = sojourn("trial", "analyse", str(out))
    assert done.status == 0, done.stderr
    assert done.stdout.strip() == str(out / "report.html")
    assert "Upload latency (ICMP ping), against treatment 8KB: 48KB +" in done.stderr
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "day is left out: it has one level" in page
    assert "Not judged: download latency: all 1 tests are of one week." in page
    rows = list(csv.DictReader(io.StringIO((out / "effects.csv").read_text(encoding="utf-8"))))
    assert {row["target"] for row in rows} == {"upload_throughput", "upload_latency"}
    assert (out / "figures" / "percent-deltas.svg").is_file()


def test_what_is_skipped_is_named_and_the_rest_imported(
    sojourn: CommandLine, tmp_path: Path
) -> None:
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
    assert "<script" not in page
    assert "h<b>" not in page
    assert "<img>" not in page


def test_nothing_imported_and_nothing_to_analyse_are_errors_of_input(
    sojourn: CommandLine, tmp_path: Path
) -> None:
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
