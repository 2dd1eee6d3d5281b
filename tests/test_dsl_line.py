"""The DSL line of Akhtar 2013: when its managers act, and what interleaving and noise do to a call."""

import numpy as np
import polars as pl

from sojourn.api.run import Run, run
from sojourn.scenario.scenario_file import Scenario

LINE = """
schema = 1
name = "line"
duration = "20 s"
[access.upstream]
link = { kind = "serial", rate = "8 Mb/s" LINK }
queue = { kind = "KIND", profile = "akhtar2013" }
[access.downstream]
link = { kind = "serial", rate = "8 Mb/s" }
queue = { kind = "drop-tail", limit = "1 s" }
[[traffic]]
name = "stream"
app = { kind = "constant-rate", packet = "1500 B", interval = "INTERVAL us" }
rtt = "20 ms"
[record]
series = "10 ms"
"""


def simulated(kind: str = "drop-tail", *, interval_us: int = 20_000, link: str = "") -> Run:
    text = LINE.replace("KIND", kind).replace("INTERVAL", str(interval_us)).replace("LINK", link)
    return run(Scenario.parse(text))


def first_loss_ms(kind: str) -> float:
    """Longest wait in the bin of the first loss, while the queue grows by 1 % of the line."""
    rows = simulated(kind, interval_us=1485).tables["series"]
    rows = rows.filter(pl.col("link") == "upstream").sort("start_ns")
    lossy = np.flatnonzero(rows["dropped_packets"].to_numpy() > 0)
    return float(rows["sojourn_max_ns"].to_numpy()[lossy[0]]) / 1e6


def test_codel_acts_on_a_tenth_of_a_second_and_red_on_an_average() -> None:
    # Akhtar 2013, Packet Loss Rate and CODEL: 5 ms kept for 100 ms; an average of 20 packets, 30 ms.
    assert 5 < first_loss_ms("codel") < 10
    assert first_loss_ms("red") > 30


def delay_ms(found: Run, metric: str) -> float:
    (value,) = found.metrics.filter(subject="stream", metric=metric)["value"].to_list()
    return float(value)


def test_interleaving_shows_in_every_delay_and_noise_in_few() -> None:
    plain, interleaved = simulated(), simulated(link=', interleaving = "8 ms"')
    # 1.5 ms for 1500 B; counted delays are right to 0.1 %.
    assert abs(delay_ms(plain, "delay_p50") - 1.5) < 0.01
    assert abs(delay_ms(interleaved, "delay_p50") - 9.5) < 0.01
    noisy = simulated(link=', impulse_gap = "100 ms", impulse_length = "1 ms"')
    assert abs(delay_ms(noisy, "delay_p50") - 1.5) < 0.01
    # A hit packet takes up to 1 ms more and arrives 4 ms later.
    assert 5.5 < delay_ms(noisy, "delay_max") < 6.6
    (lost,) = noisy.metrics.filter(subject="stream", metric="lost")["value"].to_list()
    assert lost == 0.0
