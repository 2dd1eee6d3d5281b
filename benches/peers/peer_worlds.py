"""The worlds in which Sojourn stands beside ns-2 and ns-3, and the configuration that is equal in both.

One or five uploads and a stream of 218 B every 20 ms share a line of 5 Mb/s; the round trip is 20 ms.
"""

from dataclasses import dataclass

__all__ = ["EQUAL_GROWTH", "OWN_GROWTH", "WORLDS", "World", "scenario"]

EQUAL_GROWTH = "CubicInReals"
"""Growth of the window in ns-3 that is the same as in Sojourn; it stands in the driver."""
OWN_GROWTH = "Cubic"
"""The CUBIC that ns-3 has."""


@dataclass(frozen=True)
class World:
    """One configuration, simulated by Sojourn and by one peer."""

    peer: str
    """`ns-2` or `ns-3`."""
    queue: str
    flows: int
    growth: str = EQUAL_GROWTH
    """ns-3 only: how the window grows in ns-3; Sojourn's growth is the same in all worlds."""
    device_queue: bool = False
    """ns-3 only: one packet waits in the device beneath the queue disc, as in most scripts of ns-3."""
    tuned: bool = False
    """ns-2 only: with a heap of events and the needed headers, which gives the same in less time."""

    @property
    def name(self) -> str:
        """Return what tables call it."""
        uploads = "1 upload" if self.flows == 1 else f"{self.flows} uploads"
        return f"{self.queue}, {uploads}"

    @property
    def minimum_timeout(self) -> str:
        """Return the least retransmission timeout.

        200 ms are those of Linux. Behind a second of buffer they would make ns-3's timer (RFC 6298) expire
        before the acknowledgement of the first repetition; 2 s rule that out in both simulators.
        """
        return "2 s" if self.queue == "drop-tail" else "200 ms"


WORLDS = [
    *(World("ns-2", "drop-tail", flows) for flows in (1, 5)),
    *(
        World("ns-3", queue, flows)
        for queue in ("drop-tail", "codel", "pie", "fq-codel", "red", "red-ecn")
        for flows in (1, 5)
    ),
    *(World("ns-3", queue, flows, OWN_GROWTH) for queue in ("codel", "pie") for flows in (1, 5)),
    World("ns-3", "codel", 1, device_queue=True),
]
"""All worlds: first those with an equal configuration, then those that show what a difference does."""

_QUEUES = {
    "drop-tail": '{ kind = "drop-tail", limit = "417 packets" }',
    "codel": '{ kind = "codel", profile = "rfc8289", limit = "417 packets" }',
    # ns-3 grants a burst again only after 1.5 s of quiet.
    "pie": '{ kind = "pie", profile = "rfc8033", limit = "417 packets", burst_rule = "after-quiet" }',
    # The quantum is one full packet in both simulators.
    "fq-codel": '{ kind = "fq-codel", profile = "rfc8290", limit = "417 packets", quantum = "1500 B" }',
    # 120 packets at 5 Mb/s: thresholds of 20 and 120, 4 %, a weight of 0.0096.
    "red": '{ kind = "red", profile = "akhtar2013" }',
    "red-ecn": '{ kind = "red", profile = "akhtar2013", ecn = true }',
}
_QUEUE_OF_NS2 = '{ kind = "drop-tail", limit = "417 packets", admission = "ns2-packets" }'

_STACK_OF_NS2 = '{ kind = "ns2-linux-cubic", receive_window = 667 }'
_STACK_OF_NS3 = """{ kind = "linux-cubic", maximum_segment_size = "1446 B", window_unit = "bytes", \
reduction_base = "window", tail_loss_probe = false, acknowledge = { every = 1 }, \
slow_start_exit = "none", ecn = "ECN", controller = { kind = "cubic", reno_friendly = false }, \
timeout = { formula = "rfc6298", minimum = "MINIMUM" }, \
wire = { data_header = "54 B", acknowledgement = "54 B", sack_base = "0 B", syn = "62 B" } }"""


def scenario(world: World, duration_s: float, *, measure: bool = True) -> str:
    """Return the world as the text of a scenario.

    Parameters
    ----------
    world
        Which one; what concerns only the peer does not matter.
    duration_s
        Simulated time.
    measure
        Whether anything is written down.
    """
    of_ns2 = world.peer == "ns-2"
    queue = _QUEUE_OF_NS2 if of_ns2 else _QUEUES[world.queue]
    ecn = "classic" if world.queue == "red-ecn" else "off"
    of_ns3 = _STACK_OF_NS3.replace("MINIMUM", world.minimum_timeout).replace("ECN", ecn)
    stack = _STACK_OF_NS2 if of_ns2 else of_ns3
    flag = "true" if measure else "false"
    return f"""
schema = 1
name = "dumbbell"
duration = "{duration_s:g} s"

[access.upstream]
link = {{ kind = "serial", rate = "5 Mb/s" }}
queue = {queue}

[access.downstream]
link = {{ kind = "serial", rate = "100 Mb/s" }}
queue = {{ kind = "drop-tail", limit = "1000 packets" }}

[[traffic]]
name = "bulk"
app = {{ kind = "bulk", lanes = {world.flows}, start_jitter = "1 s" }}
stack = {stack}
rtt = "20 ms"

[[traffic]]
name = "call"
app = {{ kind = "constant-rate", packet = "218 B", interval = "20 ms", start_jitter = "20 ms" }}
rtt = "20 ms"

[record]
datagrams = {flag}
histograms = {flag}
series = {'"1 s"' if measure else '"off"'}
objects = false
transfers = false
occupancy = false
delays = false
"""
