"""The compiled part of Sojourn: scenarios, runs and metric definitions. Private; see `sojourn`."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypedDict, final

class ArrowStream(Protocol):
    """A table in the Arrow C stream interface; `polars.DataFrame(table)` reads it without a copy."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Problem(TypedDict):
    """One thing wrong with a scenario."""

    path: str
    """Key path such as `access.upstream.queue.target`; empty if the file as a whole is meant."""
    message: str
    hint: str
    """The remedy; may be empty."""
    line: int
    """1-based; 0 if unknown."""
    column: int

class RunStatistics(TypedDict):
    simulated_s: float
    wall_s: float
    cpu_s: float
    packet_hops: int
    events: int

class BenchWorld(TypedDict):
    name: str
    cpu_s: float
    wall_s: float
    simulated_s: float
    packet_hops: int
    ns_per_packet_hop: float
    allocations_per_packet_hop: float | None
    """`None` if this build does not count them."""
    peak_rss_bytes: int

class ScenarioProblems(ValueError):
    """The text is not a valid scenario; `problems` lists everything that is wrong with it."""

    problems: list[Problem]

class ProvisioningProblems(ValueError):
    """The text is no configuration file or no table; the message is a JSON list of issues."""

class Interrupted(RuntimeError):
    """The run was cancelled."""

class EmulationRefused(RuntimeError):
    """An emulation is impossible; the arguments are the error, the remedy, and true for wrong usage."""

class MemoryExceeded(RuntimeError):
    """The run needs more memory than it may take; the arguments are the need and the remedy."""

class ManagerFailed(RuntimeError):
    """A queue manager or congestion controller written in Python raised an exception, its cause, or broke the rules."""

@final
class Packet:
    """A packet in a queue, as a manager written in Python sees it."""

    @property
    def length(self) -> int:
        """Bytes that the queue is charged."""

    @property
    def flow(self) -> int:
        """Hash of the flow's addresses and ports."""

    @property
    def dscp(self) -> int:
        """DSCP, 0 to 63."""

    @property
    def ecn(self) -> str:
        """ECN field as it arrived: `not-ect`, `ect0`, `ect1` or `ce`."""

    @property
    def pure_ack(self) -> bool:
        """True for a TCP segment that only acknowledges."""

    @property
    def arrived(self) -> float:
        """Time of its arrival, in seconds of simulated time."""

    def drop(self, reason: str = "early") -> None:
        """Drop it, for a reason of the records."""

    def mark(self, reason: str = "early") -> bool:
        """Mark it if it is ECN-capable, and say whether it is."""

@final
class Acknowledgement:
    """Arguments of an acknowledgement for a congestion controller in Python; seconds and segments."""

    @property
    def now(self) -> float: ...
    @property
    def acked(self) -> int:
        """Segments that it acknowledges for the first time."""

    @property
    def marks(self) -> int:
        """Those of them that were marked, if the peer counts marks."""

    @property
    def marked(self) -> bool:
        """True if it echoes a mark."""

    @property
    def round_trip(self) -> float | None:
        """Its round trip, if it gives one."""

    @property
    def smoothed(self) -> float:
        """The smoothed round trip."""

    @property
    def flight(self) -> int:
        """Segments outstanding before it."""

    @property
    def first(self) -> int:
        """Lowest unacknowledged segment."""

    @property
    def next(self) -> int:
        """Next new segment."""

    @property
    def window(self) -> float: ...
    @property
    def threshold(self) -> float: ...
    @property
    def may_change(self) -> bool:
        """True if new data are acknowledged, and the sender does not repair losses."""

    @property
    def may_grow(self) -> bool:
        """True if the window was fully used, too."""

    @property
    def rate(self) -> float | None:
        """How fast the network delivered, b/s of data, if the class asks for it (`rate_samples = True`) and there is a sample."""

    @property
    def application_limited(self) -> bool:
        """True if the application had nothing to send then."""

    @property
    def newly_lost(self) -> int:
        """Segments found lost since the sample before."""

    @property
    def in_flight(self) -> int:
        """Segments in the network now."""

    @property
    def delivered(self) -> int:
        """Bytes delivered in total."""

    @property
    def delivered_before(self) -> int:
        """The same when the newest segment of the acknowledgement was sent: a round ends when this passes what that was."""

@final
class CancelToken:
    """Stops runs that were given it, from any thread, within a few milliseconds."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

@final
class ScenarioFile:
    """The text of a scenario, spelt as TOML, with what was laid over it; never changes."""

    @staticmethod
    def parse(text: str) -> ScenarioFile:
        """Read as TOML; raises `ScenarioProblems` if it is none. What the keys mean is not looked at."""

    def laid(self, overlay: str) -> tuple[ScenarioFile, list[Problem]]:
        """The file with an overlay, a text, laid over it, and what has no place in it."""

    def with_setting(self, path: str, value: str) -> tuple[ScenarioFile, list[Problem]]:
        """The file with a value put at a key path, and why that is not possible, if it is not."""

    def warnings(self) -> list[Problem]:
        """Contradictions in a valid file, each with its place."""

    def text(self) -> str:
        """The file as TOML, with what was laid over it."""

@final
class Scenario:
    """A validated scenario with every default filled in."""

    @staticmethod
    def parse(text: str) -> Scenario:
        """Validate; raises `ScenarioProblems` with all problems at once."""

    @staticmethod
    def parse_for_emulation(text: str) -> Scenario:
        """Validate for an emulation: traffic may be missing; raises `ScenarioProblems` with all problems at once."""

    @property
    def name(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def seed(self) -> int:
        """The first seed that the file asks for."""

    @property
    def seed_count(self) -> int:
        """How many seeds it asks for."""

    @property
    def full_packets(self) -> float:
        """Packets of full size that fill both access links at their sustained rates for the run."""

    def canonical(self) -> str:
        """The complete scenario as TOML; two scenarios are equal if and only if this is."""

    @property
    def warnings(self) -> list[Problem]:
        """Contradictions of the scenario, whose run differs from its keys."""

    @property
    def is_prototype(self) -> bool:
        """True if classes of this Python process decide in its queues."""

    @property
    def has_plugin(self) -> bool:
        """True if a plugin decides in its queues."""

    @property
    def kernel(self) -> str:
        """Digest of the kernel that carries connections, in whose guest it runs; empty without."""

    def key(self, seed: int) -> str:
        """Content hash (64 hexadecimal digits) of scenario, seed and engine version.

        Raises `ValueError` if they do not tell all that decides results: a prototype has no key.
        """

    def keys(self, first: int, count: int) -> list[str]:
        """Content hashes of the runs with `count` seeds from `first` on; see `key`."""

@final
class Records:
    """Records of one run: named column tables and statistics of the run itself."""

    @property
    def statistics(self) -> RunStatistics: ...
    @property
    def written(self) -> tuple[int, int, int]:
        """Packets of captures, events of qlog and its files that were written while it ran."""

    def metrics(self) -> list[tuple[str, str, float, str]]:
        """The rows of the table `metrics`: subject, metric, value, unit."""

    def table_names(self) -> list[str]: ...
    def table(self, name: str) -> ArrowStream: ...

@final
class Emulation:
    """An emulation that runs: namespaces, devices and the loop between them. On Linux only."""

    @property
    def told(self) -> list[str]:
        """Warnings about it, a sentence each."""

    @property
    def priority(self) -> str:
        """Scheduling of the loop at its last check: `real-time` or `normal`."""

    @property
    def loop_thread(self) -> int:
        """Number of the thread that moves packets."""

    def look_at_priority(self) -> str:
        """Look how the loop is scheduled now."""

    @property
    def offload(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def command(self) -> list[str]: ...
    @property
    def far(self) -> list[tuple[str, float]]:
        """Far addresses with their round trips in s."""

    def __init__(self, scenario: Scenario, wanted: dict[str, Any], command: list[str], environment: list[str]) -> None:
        """Make namespaces and devices, or take the interfaces, and start the loop; the command waits. Raises `EmulationRefused`."""

    def go(self) -> None:
        """Start the command; raises `EmulationRefused` if there is none of this name."""

    def wait(self, seconds: float) -> bool:
        """Wait for the end, and no longer than this; whether it is over."""

    def view(self) -> dict[str, Any]:
        """Return its present state."""

    def namespaces(self) -> list[int]:
        """Descriptors of its namespaces; they stay the emulation's."""

    def end(self) -> None:
        """End it."""

    def finish(self) -> dict[str, Any]:
        """Wait until all has ended; why it did, status of the command, why it failed if so, summary and records."""

def emulation_rates(scenario: Scenario) -> dict[str, Any]:
    """Rates of a scenario's access link, as a view has them."""

def emulation_join(namespaces: list[int], command: list[str], environment: list[str], is_far: bool) -> int:
    """Run a command in the namespaces of an emulation and return its status."""

def engine_version() -> str:
    """Version that enters content hashes; changes whenever results may change."""

def check(text: str) -> list[Problem]:
    """All problems of a scenario text; empty if it is valid."""

def units() -> list[tuple[str, str, int]]:
    """Return the units of quantities: spelling, quantity, and the number of its smallest steps."""

def quantity(what: Literal["rate", "size", "time"], text: str, unit: str) -> int:
    """A quantity in b/s, bytes or ps, read as in scenario files; a number alone is in `unit`. `ValueError` with message and hint."""

def scenario_schema() -> str:
    """JSON Schema of the scenario file."""

def scenario_keys() -> list[list[str]]:
    """All keys of the scenario file: path, kinds, value, default, bounds, meaning, origin."""

def synonyms() -> list[tuple[str, list[str]]]:
    """Return words of users, and the words that files have for them."""

def nearest(word: str, known: Sequence[str]) -> str | None:
    """The word of `known` that is nearest to `word`, by spelling or by meaning."""

def add_manager(name: str, factory: Callable[..., object]) -> None:
    """Make a class of queue managers known to scenarios: `queue = { kind = "python", class = name }`."""

def plugin_calls() -> tuple[int, bool]:
    """How often plugins have returned to the engine, over all runs of this process, and whether a call is under way."""

class CaptureProblem(ValueError):
    """The file is no capture; the arguments are the error and the remedy."""

class CaptureReader:
    """Reads a capture that comes in pieces."""

    def __init__(self) -> None: ...
    def feed(self, piece: bytes) -> None:
        """Read a piece; what is wrong with it is a `CaptureProblem`."""

    def finish(self) -> PacketCapture:
        """Return what is in the file, which has ended."""

class PacketCapture:
    """A capture that was read. Flows are named by number; `mtu` is where packets of an offload are cut."""

    @property
    def is_cut(self) -> bool:
        """True if the file ends within a packet."""

    @property
    def others(self) -> int:
        """Frames that carry no IP packet, or one that cannot be read."""

    @property
    def steps_back(self) -> tuple[int, int]:
        """How often times jump back by more than a step of the clock, and by how many ns at most."""

    @property
    def unknown_link_types(self) -> list[tuple[int, int]]:
        """Numbers of link layers that are not known, each with its frames."""

    def interfaces(self) -> list[tuple[str, bool, int]]:
        """Name, whether times are coarse, and packets that were missed, of each place."""

    def flows(self) -> list[dict[str, Any]]:
        """Return what is known of each flow, in the order in which they begin."""

    def round_trips(self, flow: int) -> list[tuple[int, int]]:
        """Return when segments of a flow were captured, and the times to their acknowledgements, in ns."""

    def likeness(self, flow: int, mtu: int) -> dict[str, Any]:
        """Return what packets of a flow are like: their marks, lengths and times."""

    def extract(self, flow: int, both: bool, separator: str) -> str:
        """Return the list of a flow's packets, and with `both` of its answer's."""

    def envelope(self, flow: int, mtu: int, bps: int) -> tuple[int, float, float, int]:
        """Most bytes of any interval beyond a rate, when that begins and ends, packets beyond."""

    def least_rate(self, flow: int, mtu: int) -> int | None:
        """Return the least rate at which the sender's rule holds, in b/s."""

    def protected(
        self, flow: int, mtu: int, bps: int, upload: bool
    ) -> tuple[int, int, int, float, float, float, float | None]:
        """Packets, sanctioned, dropped, highest score, delay at it, longest wait, when the first was sanctioned; in s."""

    def with_copies(self, first_packets: tuple[int, int], mtu: int, bps: int, upload: bool, most: int) -> int:
        """Return how many flows like the first packets of one fit into the low-latency queue."""

    def overflow(self, flow: int, mtu: int, bps: int, buffer_s: float) -> int:
        """Return packets that overflow a buffer."""

    def policed(self, flow: int, mtu: int, bps: int, bucket: int) -> int:
        """Return packets beyond a policer."""

def largest_burst(length: int, spacing_ns: int, bps: int, most: int) -> int:
    """Return the most packets of which none is sanctioned on an idle line."""

def packet_list(text: str) -> str:
    """Return the list of a text, as a scenario has it: checked, on one line."""

def check_rows(like: str) -> list[tuple[str, str, str]]:
    """Identifier, statement and source of each row that a manager of kind `like` must keep."""

def manager_kinds() -> list[str]:
    """Kinds of queue managers, in the order of the reference page."""

def check_row(scenario: Scenario, like: str, id: str) -> tuple[str, str, str]:  # noqa: A002 - as the engine calls it
    """Judge the queue of a scenario's upstream by one row: verdict, what was expected, what was found."""

def golden_course(line: str, rfc: str, made_by: str) -> str:
    """Lead the manager of a line through the course of golden traces, and return the trace."""

class QueueArrivals:
    """The arrivals of a queue, once the scenario that came with it has run."""

    def trace(self, rfc: str, made_by: str) -> str:
        """Return the golden trace of these arrivals at the same manager, before a line of the link's rate."""

def observe_queue(scenario: Scenario, direction: str) -> tuple[Scenario, QueueArrivals]:
    """Return the scenario with a queue whose arrivals are written down, and where that is."""

def replay_trace(text: str, line: str | None, how: str, slack_ns: int) -> tuple[str, int, tuple[int, str] | None]:
    """Replay a golden trace into the manager of a line, or its own: manager, calls, and where it differs.

    `how` is `exact`, `law` or `slack`. Timers of the trace are for an exact replay; draws of a plugin come by `next_draw`.
    """

def packets_kept(scenario: Scenario) -> int | None:
    """Packets that wait at once in the queue of the upstream before one is dropped for want of room.

    None if it is not packets that it counts, or if they are very many. The interpreter lock is released.
    """

def chosen_draw() -> float | None:
    """The number that a law hands to plugins of this thread in place of a random one, if it does."""

def next_draw() -> float:
    """Return the next number of the trace that this thread replays into a plugin."""

def add_plugin(name: str, digest: str, factory: Callable[..., object] | None = None) -> None:
    """Make a plugin known to scenarios: `queue = { kind = "plugin", name = name }`.

    Without a factory they are valid and have a key, and cannot run here. The same name is known to
    `stack = { kind = "library", name = name }`.
    """

def add_kernel(name: str, digest: str, controllers: Sequence[str]) -> None:
    """Make a kernel known to scenarios: `stack = { kind = "linux", kernel = name }`.

    Parameters
    ----------
    name
        Its name in scenarios.
    digest
        Digest of its source and configuration.
    controllers
        Its words for congestion controllers.
    """

def enter_kernel(name: str, digest: str, controllers: Sequence[str]) -> None:
    """As `add_kernel`, of the kernel that this process runs on, under a clock of its own: scenarios run here.

    Called once, and before there is a second thread. Raises `OSError` if the kernel lacks something.
    """

def add_stack(name: str, digest: str, table: int) -> None:
    """Make a loaded library known to scenarios: `stack = { kind = "library", name = name }`.

    Parameters
    ----------
    name, digest
        Its name in scenarios, and what stands for it in keys of runs.
    table
        The address that its function `sje_stack_v1` returned. The library stays loaded.
    """

def run(
    scenario: Scenario,
    seed: int,
    cancel: CancelToken | None = None,
    watch: Callable[[float], None] | None = None,
    memory: int | None = None,
    pcap: str | None = None,
    apart: bool = False,
    qlog: str | None = None,
) -> Records:
    """Run one scenario on a thread of its own, with the interpreter lock released.

    Raises `Interrupted` if cancelled, and `MemoryExceeded` if it needs more than `memory` bytes.

    `watch` is called some twenty times a second with the share of the run that is done, on the thread that
    called; its exception ends the run and is raised here.

    With `pcap` and `qlog`, directories that are there, packets and connections are written while it runs; `apart` gives each
    place a file of classic form.
    """

def table_schemas() -> list[dict[str, Any]]:
    """Tables of `Records`: name, meaning, and per column name, type, unit, meaning."""

def bench_worlds() -> list[str]: ...
def bench(world: str, duration_s: float | None = None) -> BenchWorld: ...
def voice_rating(delay_ms: float, loss: float) -> float:
    """R of White 2012 section 3.2.2; `loss` is a fraction."""

def mean_opinion_score(rating: float) -> float:
    """MOS of an R value, ITU-T G.107 Annex B, never below 1."""

DEFAULT_TELR: float
"""Talker echo loudness rating of a telephone in dB. Source: ITU-T G.107, default."""

def rating_g107(delay_ms: float, loss: float, conceals: bool, telr: float | None) -> float:
    """R of ITU-T G.107 for G.711; `loss` is a fraction of packets, lost or late, `telr` the talker echo loudness rating in dB."""

def quality_of_outcome(
    latency: Sequence[tuple[float, float, float]],
    loss: tuple[float, float, float] | None,
    rates: Sequence[tuple[float, float]],
) -> tuple[float, float | None, float | None, float]:
    """Quality of Outcome by latency, loss and throughput, and the least of them.

    Of latency and loss: measured, up to where it is perfect, from where on it is useless; of rates: measured, required.
    What was not measured is nothing.
    """

def requirements() -> list[tuple[str, list[tuple[float, float, float]], tuple[float, float], tuple[float, float], str]]:
    """Return the requirements of the built-in uses: name, percentiles with their bounds in ms, bounds of loss, Mb/s up and down, origin."""

def apdex(samples: Sequence[float], satisfied: float) -> float | None:
    """Apdex of samples for what satisfies; samples that never came are infinite."""

def round_trips_per_minute(
    handshakes: Sequence[float], tls: Sequence[float], requests: Sequence[float], own: Sequence[float]
) -> tuple[float, float, float] | None:
    """Round trips per minute of new connections, of kept ones, and together; samples in ms, TLS may have none."""

def is_stable(averages: Sequence[float]) -> bool:
    """Return True if the last four moving averages differ by little (draft-ietf-ippm-responsiveness)."""

def is_supported(count: int, share: float) -> bool:
    """Return True if ten of `count` samples lie beyond a quantile."""

def histogram_quantiles(
    edges_ns: Sequence[int], counts: Sequence[int], longest_ns: int | None, shares: Sequence[float], logarithmic: bool
) -> list[tuple[float | None, float, float | None]]:
    """Quantiles of a latency histogram in ms: the estimate and the ends of its bin; none without packets.

    Raises `ValueError` if edges do not rise, or counts or the longest delay do not fit them.
    """

def jain_index(values: Sequence[float]) -> float | None:
    """Jain's fairness index; nothing without values."""

def metric_schemas() -> list[dict[str, Any]]:
    """Metrics of a run: name, words, unit, bounds `low` and `high`, `better`, meaning, source."""

def delay_causes() -> list[tuple[str, str, str]]:
    """Causes of delay in the order in which a packet meets them: name, words, meaning."""

def provisioning_examine(
    octets: bytes, secret: bytes | None = None, strict: bool = False, docsis40: bool = False
) -> str:
    """All TLVs of a configuration file, its issues and what its digests are, as JSON."""

def provisioning_decode(octets: bytes, docsis40: bool = False) -> str:
    """The text form of a configuration file."""

def provisioning_encode(text: str, secret: bytes | None = None, seal: bool = False) -> bytes:
    """The octets of a text. With `seal` the MICs are made anew, the CMTS MIC if there is a secret.

    Raises `ProvisioningProblems`.
    """

def provisioning_diff(before: bytes, after: bytes) -> str:
    """Return the differences between two configuration files, as JSON."""

class ExpansionChoices(TypedDict):
    """Choices of an expansion beside the file and the tables."""

    docsis: str | None
    """Generation of the modem, in place of what the tables say."""
    lld: bool | None
    """True if the modem supports low-latency DOCSIS, in place of the tables."""
    profiles: bool
    """True if the tables' Aggregate QoS Profiles count."""
    allow_bad_mic: bool
    downstream_without_modem: bool
    strict: bool

def provisioning_expand(octets: bytes, tables: str, secret: bytes | None, asked: ExpansionChoices) -> str:
    """The service of a configuration file and all issues, as JSON.

    Raises `ProvisioningProblems` about the tables.
    """

def provisioning_restate(
    octets: bytes, tables: str, secret: bytes | None, asked: ExpansionChoices, style: str
) -> list[int]:
    """The octets of a sealed file that stands for the service of another, in a style.

    Raises `ProvisioningProblems` about the tables, the file, and what the style cannot say.
    """
