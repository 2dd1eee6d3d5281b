"""Single runs from Python."""

import threading
import time
from pathlib import Path

import polars as pl
import pytest

import sojourn
from sojourn import _engine
from sojourn.base.errors import InterruptedRun, UsageError
from sojourn.base.metrics import delay_causes
from sojourn.scenario.scenario_file import Scenario, check_scenario, load_scenario
from sojourn.simulation.engine import simulate
from sojourn.store import Store
from support import write_scenario

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    return load_scenario(write_scenario(tmp_path))


def test_a_run_has_its_tables_and_its_cost(scenario: Scenario) -> None:
    finished = sojourn.run(scenario)
    assert finished.seed == 1
    assert finished.key == scenario.key(1)
    assert finished.statistics["simulated_s"] == 2.0
    assert finished.metrics.columns == ["subject", "metric", "value", "unit"]
    names = {table["name"] for table in _engine.table_schemas()}
    assert set(finished.tables) <= names


def test_the_store_gives_the_same_tables_as_the_engine(scenario: Scenario, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    fresh = sojourn.run(scenario)
    first = sojourn.run(scenario, store=store)
    second = sojourn.run(scenario, store=store)
    assert (first.from_store, second.from_store) == (False, True)
    for name, table in fresh.tables.items():
        assert table.equals(first.tables[name])
        assert table.equals(second.tables[name])


def test_the_same_seed_gives_the_same_bits_and_another_seed_other_bits(tmp_path: Path) -> None:
    call = {"name": "call", "app": {"kind": "voice", "start_jitter": "1 s"}}
    scenario = load_scenario(write_scenario(tmp_path, traffic=[call], record={"datagrams": True}))
    one, again, other = (sojourn.run(scenario, seed=seed) for seed in (5, 5, 6))
    assert all(table.equals(again.tables[name]) for name, table in one.tables.items())
    assert not one.tables["datagrams"].equals(other.tables["datagrams"])
    assert one.key == again.key != other.key


CAUSES = [cause for cause in delay_causes() if cause not in ("sender", "recovery")]
"""A datagram waits for neither its sender nor a repair."""


def test_the_parts_of_each_delay_sum_to_the_whole_and_to_the_table_of_delays(tmp_path: Path) -> None:
    finished = sojourn.run(load_scenario(write_scenario(tmp_path, record={"datagrams": True})))
    arrived = finished.tables["datagrams"].filter(pl.col("arrived_ns").is_not_null())
    assert arrived.height > 90
    whole = arrived["arrived_ns"] - arrived["sent_ns"]
    parts = arrived.select(pl.sum_horizontal(f"{cause}_ns" for cause in CAUSES)).to_series()
    assert whole.to_list() == parts.to_list()
    delays = finished.tables["delays"].filter(pl.col("traffic") == "call")
    totals = dict(delays.select(pl.col("cause").cast(pl.String), "total_ns").iter_rows())
    for cause in CAUSES:
        assert totals.get(cause, 0) == arrived[f"{cause}_ns"].sum()
    assert (totals["sender"], totals["recovery"]) == (0, 0)


def test_who_watches_sees_a_run_go_on_and_may_stop_it(scenario: Scenario) -> None:
    endless = scenario.with_settings("duration=100000 s", "access.upstream.link.rate=500 Mb/s")
    shares: list[float] = []

    def watch(share: float) -> None:
        shares.append(share)
        if len(shares) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        _engine.run(endless.compiled, 1, None, watch)
    assert 0 < shares[0] < shares[1] < shares[2] < 0.01


def test_cancelling_stops_the_engine_within_its_budget(scenario: Scenario) -> None:
    endless = scenario.with_settings("duration=100000 s", "access.upstream.link.rate=500 Mb/s")
    token = _engine.CancelToken()
    ended: list[BaseException] = []

    def work() -> None:
        try:
            simulate(endless.compiled, 1, token)
        except InterruptedRun as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    began = time.monotonic()
    token.cancel()
    thread.join()
    assert time.monotonic() - began < 0.2
    assert token.cancelled
    assert len(ended) == 1


def test_settings_on_a_scenario_give_a_new_one(scenario: Scenario) -> None:
    changed = scenario.with_settings("duration=1 s", "traffic.bulk.rtt=40 ms")
    assert (scenario.duration_s, changed.duration_s) == (2.0, 1.0)
    assert changed.key(1) != scenario.key(1)
    with pytest.raises(UsageError):
        scenario.with_settings("traffic.nobody.rtt=40 ms")


def test_the_canonical_form_of_a_scenario_is_the_same_scenario(scenario: Scenario) -> None:
    again = Scenario.parse(scenario.canonical())
    assert again.canonical() == scenario.canonical()
    assert again.key(3) == scenario.key(3)


def test_problems_carry_their_file(tmp_path: Path) -> None:
    (problem, *_) = check_scenario("= = =", "my.toml")
    assert problem.file == "my.toml"
    assert check_scenario(write_scenario(tmp_path).read_text()) == []


def test_public_names_stay_what_they_are_whatever_has_been_imported() -> None:
    assert all(callable(getattr(sojourn, name)) for name in ("run", "load_scenario"))
    assert sojourn.run is sojourn.api.run.run


@pytest.mark.parametrize(
    ("closing", "upstream", "downstream"),
    [
        # SYN, ACK, request, FIN that acknowledges the object, ACK of the server's FIN; for two objects.
        ("browser", 2 * 5, 2 * 4),
        # SYN, ACK, request, ACK of the object and of the FIN with it.
        ("server", 2 * 4, 2 * 3),
    ],
)
def test_the_fin_of_a_browser_acknowledges_the_last_byte(closing: str, upstream: int, downstream: int) -> None:
    link = 'link = { kind = "serial", rate = "100 Mb/s" }\nqueue = { kind = "drop-tail", limit = "100 packets" }\n'
    scenario = Scenario.parse(
        'schema = 1\nname = "page"\nduration = "4 s"\n'
        f"[access.upstream]\n{link}[access.downstream]\n{link}"
        '[[traffic]]\nname = "page"\nstack = "ns2-bsd-sack"\nrtt = "20 ms"\n'
        f'app = {{ kind = "web", index = "1000 B", closing = "{closing}", think = "1 h", '
        'page = { kind = "generated", servers = 1, objects_per_server = 1, total = "1000 B" } }\n'
    )
    sent = sojourn.run(scenario).tables["traffic"].sort("direction")["sent_packets"].to_list()
    assert sorted(sent) == sorted([upstream, downstream])


HOSTS = """
schema = 1
name = "hosts"
duration = "10 s"
[access.upstream]
link = { kind = "shaped", rate = "10 Mb/s", rule = "deficit", delay = "1 ms" }
queue = { kind = "cake" }
[access.downstream]
link = { kind = "serial", rate = "100 Mb/s" }
queue = { kind = "drop-tail", limit = "1000 packets" }
[[traffic]]
name = "many"
host = "pc"
app = { kind = "bulk", lanes = 4 }
stack = "linux-cubic"
rtt = "20 ms"
[[traffic]]
name = "one"
host = "tv"
app = "bulk"
stack = "linux-cubic"
rtt = "20 ms"
"""


def test_hosts_share_a_line_behind_cake_however_many_uploads_they_have() -> None:
    def share_of_one(setting: str) -> float:
        rows = sojourn.run(Scenario.parse(HOSTS).with_settings(setting)).metrics.rows()
        rates = {subject: value for subject, metric, value, _ in rows if metric == "goodput"}
        return rates["one"] / (rates["one"] + rates["many"])

    assert share_of_one("access.upstream.queue.hosts=triple") > 0.4
    assert share_of_one("access.upstream.queue.hosts=flows") < 0.25
    assert share_of_one("traffic.one.host=pc") < 0.25


def test_lost_packets_say_which_of_their_flow_they_are() -> None:
    settings = ["duration=20s", "record.losses=true", "record.flows=true", "record.connections=100 ms"]
    scenario = load_scenario(SCENARIOS / "lesson-buffer.toml").with_settings(*settings)
    finished = sojourn.run(scenario)
    losses, signals = finished.tables["losses"], finished.tables["signals"]
    drops = signals.filter(pl.col("signal") != "mark")
    assert len(losses) == drops["packets"].sum() > 0
    segments = losses.filter(pl.col("data_bytes") > 0).drop_nulls("connection")
    of_flows = finished.tables["flows"].filter(pl.col("retransmissions") > 0)
    assert set(segments["connection"].unique()) == set(of_flows["connection"].unique())
    assert segments["sequence"].n_unique() <= of_flows["retransmissions"].sum()
    # A sender with one full packet after the other: between two looks at it, what is lost lies between what is acknowledged
    # and what is outstanding.
    looks = finished.tables["connection_series"].filter(pl.col("direction") == "upstream").sort("at_ns")
    looks = looks.select(
        "at_ns",
        pl.col("connection").cast(pl.UInt64),
        first=pl.col("acknowledged_bytes") // 1448,
        flight="flight_segments",
    )
    lost = segments.filter(pl.col("direction") == "upstream").sort("at_ns").cast({"connection": pl.UInt64})
    before = lost.join_asof(looks, on="at_ns", by="connection", strategy="backward")
    after = lost.join_asof(looks, on="at_ns", by="connection", strategy="forward").drop_nulls("first")
    assert (before["sequence"] >= before["first"]).all()
    assert (after["sequence"] < after["first"] + after["flight"]).all()
    assert lost["sequence"].n_unique() > 0.9 * len(lost)


RULED = """
schema = 1
name = "ruled"
duration = "2 s"

[access.upstream]
link = { kind = "docsis31-upstream", profile = "white2019-lld" }
queue = { kind = "docsis-dual-queue", profile = "docsis31-upstream" }

[[access.upstream.classifier]]
to = "low-latency"
protocol = "tcp"
destination_port = 443
destination = "203.0.0.0/24"

[access.downstream]
link = { kind = "docsis31-downstream", profile = "white2019" }
queue = { kind = "docsis-dual-queue" }

[[access.downstream.classifier]]
to = "low-latency"
protocol = "udp"
source = "203.0.2.0"
source_port = 6000

[[access.downstream.marking]]
set_dscp = 45
protocol = "udp"
source = "203.0.3.0"
"""


def test_rules_see_ports_and_addresses_of_connections_and_of_datagrams() -> None:
    text = RULED
    for name in ("ruled-upload", "upload"):
        text += f'[[traffic]]\nname = "{name}"\napp = "bulk"\nstack = "linux-cubic"\nrtt = "20 ms"\n'
    for name in ("ruled", "marked", "game"):
        app = '{ kind = "game", direction = "downstream", packet = "432 B", interval = "33 ms" }'
        text += f'[[traffic]]\nname = "{name}"\napp = {app}\nrtt = "4 ms"\n'
    finished = sojourn.run(Scenario.parse(text + "[record]\nflows = true\n"))
    # Queue Protection judges what arrives at the low-latency queue.
    flows = finished.tables["flows"].filter(pl.col("judged_packets") > 0)
    judged = flows.select(pl.col("traffic").cast(pl.String), pl.col("direction").cast(pl.String))
    assert set(judged.iter_rows()) == {("ruled-upload", "upstream"), ("ruled", "downstream"), ("marked", "downstream")}


@pytest.mark.parametrize(("stack", "in_order"), [("linux-6", True), ("quic-cubic", False)])
def test_an_object_waits_for_bytes_of_others_over_tcp_and_for_its_own_alone_over_quic(
    stack: str, in_order: bool
) -> None:
    lossy = 'access.downstream.conditions=[{ at = "0 s", loss = 0.01 }]'
    settings = ["duration=15s", f"traffic.page.stack={stack}", "record.objects=true", lossy]
    scenario = load_scenario(SCENARIOS / "web-protocols.toml").with_settings(*settings)
    finished = sojourn.run(scenario)
    objects = finished.tables["objects"].drop_nulls("ended_ns").sort("page", "index")
    waits = objects.select(pl.col("ended_ns").diff().over("page").alias("wait")).drop_nulls()
    overtaking = waits.filter(pl.col("wait") < 0)
    assert overtaking.is_empty() == in_order
    # What came early counts once.
    ended = finished.tables["pages"].drop_nulls("ended_ns")
    assert ended["objects"].unique().to_list() == [61]
    assert ended.filter(pl.col("bytes").is_between(2_000_000, 2_100_000)).height == ended.height
