"""iperf3 and irtt behind the emulated link, and their results read as those of a field trial."""

import subprocess
import sys

import polars as pl
import pytest
import tomli_w

from support.emulation import MISSING_TOOLS, Rootless

UPLOAD = """
irtt client -Q -i 20ms -d 3s -o home/irtt-upload.json $SOJOURN_FAR >/dev/null &
iperf3 -c $SOJOURN_FAR -t 4 -J >home/iperf3-upload.json
wait
"""
"""Round trips beside an upload."""


def measured(rootless: Rootless, kind: str) -> dict[str, pl.DataFrame]:
    """Measure a line with this queue by both tools, import what they wrote, and return it by tool."""
    limit = {"limit": "200 ms"} if kind == "drop-tail" else {}
    side = {"link": {"kind": "serial", "rate": "8 Mb/s"}, "queue": {"kind": kind, **limit}}
    content = {
        "schema": 1,
        "name": "line",
        "duration": "10 s",
        "access": {"upstream": side, "downstream": side},
        "emulate": {"rtt": "20 ms"},
    }
    place = rootless.place
    (place / "line.toml").write_text(tomli_w.dumps(content), encoding="utf-8")
    (place / "upload.sh").write_text(UPLOAD, encoding="utf-8")
    (place / "home").mkdir(exist_ok=True)
    servers = ("--far", "exec iperf3 -s", "--far", "exec irtt server")
    # Reno, because it fills the buffer at once: nothing but a loss ends its slow start.
    options = ("--isolated", "--tcp", "reno", *servers)
    done = rootless("line.toml", *options, "--", "sh", "upload.sh", timeout=120)
    assert done.returncode == 0, done.stderr
    imported = place / f"imported-{kind}"
    subprocess.run(
        [*(sys.executable, "-m", "sojourn", "trial", "import"), "home", "--out", str(imported)],
        cwd=place,
        check=True,
        capture_output=True,
    )
    assert pl.read_csv(imported / "skipped.csv").is_empty()
    tests = pl.read_parquet(imported / "tests.parquet")
    return {tool: tests.filter(pl.col("tool") == tool) for tool in ("iperf3", "irtt")}


@pytest.mark.skipif(bool(MISSING_TOOLS), reason=f"not installed: {MISSING_TOOLS}")
def test_a_trial_reads_what_real_tools_measure_behind_the_link(rootless: Rootless) -> None:
    delays: dict[str, float] = {}
    for kind in ("drop-tail", "fq-codel"):
        found = measured(rootless, kind)
        (throughput,) = found["iperf3"]["throughput_mbps"]
        assert found["iperf3"]["direction"].to_list() == ["up"]
        # Payload of 1448 in packets of 1500 B; the start and the end take some of 4 s.
        assert 3.0 < throughput < 8.0 * 1448 / 1500 * 1.01
        (delays[kind],) = found["irtt"]["latency_median_ms"]
        assert delays[kind] > 20.0
    print(delays)
    assert delays["drop-tail"] > delays["fq-codel"] + 30.0, "the buffer of 200 ms is full"
