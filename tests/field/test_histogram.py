"""Latency histograms of devices: what they say about quantiles, and what is none."""

import json
import re
from pathlib import Path

import pytest

from sojourn.base.errors import UsageError
from sojourn.field.histogram import LatencyHistogram, read_histograms
from support import CommandLine

EDGES = "0.5 1 2 4 8 16 32"
COUNTS = "120 300 340 160 50 22 6 2"
REPORT = f"modem,edges_ms,counts,longest_ms\na,{EDGES},{COUNTS},40\n"
BINS = "flow,from_ms,to_ms,packets\nfirst,0,1,500\nother,0,4,1\nfirst,1,2,300\nfirst,2,,200\nother,4,,1\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "bins.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_quantiles_are_those_of_the_worked_example(tmp_path: Path) -> None:
    (report,) = read_histograms(written(tmp_path, REPORT))
    assert (report.name, report.packets, report.longest_ms) == ("a", 1000, 40.0)
    shares = [0.5, 0.9, 0.95, 0.99, 0.999]
    linear = [one.estimate_ms for one in report.quantiles(shares)]
    assert linear == pytest.approx([1.2353, 3.75, 6.4, 15.2727, 36.0], abs=5e-5)
    by_logarithm = [one.estimate_ms for one in report.quantiles(shares, logarithmic=True)]
    assert by_logarithm == pytest.approx([1.1771, 3.668, 6.0629, 15.0229, 35.7771], abs=5e-5)
    assert [(one.low_ms, one.high_ms) for one in report.quantiles(shares)] == [
        (1, 2),
        (2, 4),
        (4, 8),
        (8, 16),
        (32, 40),
    ]


def test_a_row_for_each_bin_is_read_by_whose_it_is(tmp_path: Path) -> None:
    first, other = read_histograms(written(tmp_path, BINS))
    assert first == LatencyHistogram("first", (1.0, 2.0), (500, 300, 200))
    assert (other.name, other.edges_ms, other.counts) == ("other", (4.0,), (1, 1))


def test_a_last_bin_without_an_end_has_no_estimate(tmp_path: Path) -> None:
    first, _ = read_histograms(written(tmp_path, BINS))
    high = first.quantile(0.99)
    assert high is not None
    assert (high.estimate_ms, high.low_ms, high.high_ms) == (None, 2.0, None)
    middle = first.quantile(0.5)
    assert middle is not None
    assert middle.estimate_ms == pytest.approx(1.0)
    assert LatencyHistogram("none", (1.0,), (0, 0)).quantile(0.5) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no latency histogram"),
        ("time_s,rtt_ms\n0,1\n", "no latency histogram"),
        ("edges_ms,counts\n", "holds no bins"),
        ("edges_ms,counts\n2 1,1 2 3\n", "edges do not rise"),
        ("edges_ms,counts\n1 2,1 2\n", "2 counts for 3 bins"),
        ("edges_ms,counts\n1 2,1 -2 4\n", 'bins.csv:2: "-2" is no number of packets'),
        ("edges_ms,counts\n1 2 inf,1 2 3 4\n", 'bins.csv:2: "inf" is no delay'),
        ("edges_ms,counts,longest_ms\n1 2,1 2 3,1.5\n", "the longest delay does not lie"),
        (f"edges_ms,counts\n{EDGES} {' '.join(map(str, range(40, 50)))},1\n", "17 edges"),
        ("from_ms,to_ms,packets\n0,1,4\n2,,4\n", "do not follow each other"),
        ("from_ms,to_ms,packets\n0,1,4\n", "do not follow each other"),
        (f"edges_ms,counts\n1,{2**63} {2**63}\n", "more packets than can be counted"),
    ],
)
def test_what_is_none_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)) as refused:
        read_histograms(written(tmp_path, text))
    assert "\n" not in str(refused.value)


def test_the_command_says_the_worst_and_between_what_it_lies(sojourn: CommandLine, tmp_path: Path) -> None:
    two = REPORT + f"b,{EDGES},1000 0 0 0 0 0 0 0,0.4\n"
    written(tmp_path, two)
    done = sojourn("histogram", "bins.csv", "--percentiles", "50,99")
    assert done.status == 0, done.stderr
    assert done.stdout.splitlines()[0] == (
        "99 % of the packets of a, the worst of 2, wait at most about 15.27 ms, and surely no more than 16."
    )
    assert "a   P99       15.27         8 to 16" in done.stdout
    told = json.loads(sojourn("histogram", "bins.csv", "--json").stdout)
    assert [one["name"] for one in told["histograms"]] == ["a", "b"]
    assert told["histograms"][0]["quantiles"][3]["low_ms"] == 8
    assert sojourn("histogram", "bins.csv", "--percentiles", "101").status == 2
