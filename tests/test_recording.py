"""Traces from what was measured, joined and converted."""

from pathlib import Path

import numpy as np
import pytest

from sojourn.base.errors import UsageError
from sojourn.calibration.recording import (
    Row,
    filled,
    opportunities_of_packets,
    opportunities_of_rows,
    read_packets,
    read_rows,
    rows_of_measurement,
    rows_of_opportunities,
)
from sojourn.traces.schedule import opportunities_of
from support import CommandLine

FILES = Path(__file__).parent / "field" / "files"


def test_packets_become_the_milliseconds_at_which_they_were_there() -> None:
    # Vector A11.
    times = np.array([200.0, 400.0, 3100.0, 3900.0, 9900.0])
    assert opportunities_of_packets(times, np.full(5, 1500.0), 1500).tolist() == [1, 1, 4, 4, 10]
    # Two packets of 750 B are one chance, when the second is there.
    assert opportunities_of_packets(np.array([100.0, 2100.0]), np.full(2, 750.0), 1500).tolist() == [3]


def test_a_sample_without_a_backlog_is_a_bound_and_filled_from_those_beside_it() -> None:
    # Vector A12: 1514 B take 3.03 ms at 4 Mb/s, and 0.3 < 6.06.
    rates, share = filled(np.array([10.0, 4.0, 12.0]), np.array([30.0, 0.3, 25.0]))
    assert rates.tolist() == [10.0, 11.0, 12.0]
    assert share == pytest.approx(2 / 3)
    assert filled(np.array([4.0]), np.array([0.1]))[1] == 0.0


def test_a_schedule_has_as_many_opportunities_as_it_carries_bytes() -> None:
    # 12 Mb/s are one packet of 1500 B each ms, 6 Mb/s one each 2 ms, 0 none.
    rows = [Row(5.0, 12.0), Row(5.01, 0.0), Row(5.02, 6.0)]
    times = opportunities_of_rows(rows, 5.03, 1500)
    assert times.tolist() == [*range(1, 11), 22, 24, 26, 28, 30]
    back = rows_of_opportunities(times, 0.01, 1500)
    assert [row.rate_mbps for row in back] == pytest.approx([12.0, 0.0, 6.0])


def test_real_downloads_become_schedules_and_uploads_are_refused() -> None:
    download = next(FILES.glob("tcp_download*48KB_rep_1*"))
    rows = rows_of_measurement([download])
    assert len(rows) >= 45
    # 20 Mb/s of frames of 1514 B are 19.8 Mb/s of IP packets.
    assert float(np.median([row.rate_mbps for row in rows])) == pytest.approx(19.8, rel=0.01)
    with pytest.raises(UsageError, match="its sender counted"):
        rows_of_measurement([next(FILES.glob("tcp_upload*48KB_rep_1*"))])


def test_traces_are_joined_converted_and_recorded(tmp_path: Path) -> None:
    command = CommandLine(tmp_path)
    (tmp_path / "a").write_text("3\n7\n", encoding="utf-8")
    (tmp_path / "b").write_text("1\n1\n", encoding="utf-8")
    assert command("trace", "join", "a", "b", "--out", "ab").status == 0
    assert opportunities_of((tmp_path / "ab").read_text(encoding="utf-8"), "ab") == [3, 7, 8, 8]
    (tmp_path / "rates.csv").write_text("time_s,rate_mbps\n0,12\n1,6\n", encoding="utf-8")
    done = command("trace", "convert", "rates.csv", "--opportunity", "1500", "--out", "up")
    assert done.status == 0, done.stderr
    assert "1500 opportunities of 1500 B in 2 s" in done.stderr
    assert command("trace", "convert", "up", "--step", "1s", "--opportunity", "1500", "--out", "again.csv").status == 0
    assert [row.rate_mbps for row in read_rows(tmp_path / "again.csv")] == [12.0, 6.0]
    download = next(FILES.glob("tcp_download*96KB_rep_2*"))
    recorded = command("trace", "record", download, "--out", "line.csv")
    assert recorded.status == 0, recorded.stderr
    assert "nothing of lighter use" in recorded.stderr
    assert len(read_rows(tmp_path / "line.csv")) >= 45


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("time_s,rate_mbps\n0,0\n1,0\n", "all its rates are 0"),
        ("time_s,rate_mbps\n1,5\n0,5\n", "time runs back"),
        ("time_s,rate_bps\n0,5\n", "no column rate_mbps"),
        ("time_s,rate_mbps\n0,-1\n", "no number from 0"),
        ("time_s,rate_mbps\n0,20000000\n", "are its rates in Mb/s"),
        ("time_s,rate_mbps\n", "no rows"),
        ("time_s,rate_mbps\n0,5,6\n", "3 cells"),
    ],
)
def test_tables_that_are_no_schedule_are_refused_in_a_sentence(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=why):
        read_rows(path)


def test_a_log_of_packets_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("time_us,bytes\n0,1500\n900,1500\n", encoding="utf-8")
    assert read_packets(path)[1].tolist() == [1500.0, 1500.0]
    path.write_text("time_us,bytes\n0,0\n", encoding="utf-8")
    with pytest.raises(UsageError, match="0 bytes"):
        read_packets(path)
