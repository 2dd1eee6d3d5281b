"""`sojourn bench`: what a packet costs."""

import pytest

from support import CommandLine

KEYS = {
    "name",
    "cpu_s",
    "wall_s",
    "simulated_s",
    "packet_hops",
    "ns_per_packet_hop",
    "allocations_per_packet_hop",
    "peak_rss_bytes",
}


WORLDS = ["dumbbell", "dumbbell-5", "white2013-x06-sfq-codel-moderate", "white2013-x13-pie"]


@pytest.mark.slow
def test_the_dumbbell_is_measured_in_full_and_allocates_nothing(sojourn: CommandLine) -> None:
    done = sojourn("bench", "--json")
    assert done.status == 0, done.stderr
    worlds = {world["name"]: world for world in done.json()["worlds"]}
    assert list(worlds) == WORLDS
    for world in worlds.values():
        assert set(world) >= KEYS
        assert world["simulated_s"] == 600.0
        assert world["packet_hops"] > 300_000
    dumbbell = worlds["dumbbell"]
    # 600 s at 5 Mb/s are 250,000 packets of 1500 B upstream, 30,000 datagrams, and their ACKs.
    assert 300_000 < dumbbell["packet_hops"] < 3_000_000
    assert dumbbell["allocations_per_packet_hop"] < 0.001
    assert dumbbell["peak_rss_bytes"] < 64 * 2**20
