"""Worlds that grow: a dumbbell by its uploads, rate or duration, and a quiet household by its duration."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"

FLOWS = [1, 10, 100, 1000]
RATES = {1e6: 1000.0, 1e7: 300.0, 1e8: 60.0, 1e9: 10.0, 1e10: 2.0}
"""Bits per second, and how long each is simulated: shorter where there is more to do."""
DURATIONS_S = [60.0, 600.0, 3600.0]


class World(Protocol):
    """Something that can be simulated."""

    def scenario(self) -> str:
        """Return it as the text of a scenario."""
        ...


@dataclass(frozen=True)
class Sized:
    """A dumbbell of one size: uploads and a stream over a plain line behind CoDel."""

    flows: int = 1
    rate: float = 5e6
    """Of the line, in bits per second; the way back has the same or, below it, 100 Mb/s."""
    duration_s: float = 600.0
    written: bool = False
    """True if the tables are written that a scenario without a table `record` has."""

    def scenario(self) -> str:
        """Return it as the text of a scenario."""
        record = "" if self.written else NOTHING_WRITTEN
        back = max(self.rate, 1e8)
        return f"""
schema = 1
name = "dumbbell"
duration = "{self.duration_s:g} s"

[access.upstream]
link = {{ kind = "serial", rate = "{self.rate:.0f} b/s" }}
queue = {{ kind = "codel", profile = "rfc8289", limit = "{self.limit_packets} packets" }}

[access.downstream]
link = {{ kind = "serial", rate = "{back:.0f} b/s" }}
queue = {{ kind = "drop-tail", limit = "100000 packets" }}

[[traffic]]
name = "bulk"
app = {{ kind = "bulk", lanes = {self.flows}, start_jitter = "100 ms" }}
stack = "linux-cubic"
rtt = "20 ms"
line_rate = "{10 * back:.0f} b/s"

[[traffic]]
name = "call"
app = {{ kind = "constant-rate", packet = "218 B", interval = "20 ms" }}
rtt = "20 ms"
{record}"""

    @property
    def limit_packets(self) -> int:
        """Return a second of full packets: CoDel decides, not the limit."""
        return max(417, int(self.rate / 12_000))


@dataclass(frozen=True)
class Quiet:
    """The quiet household of the examples, for a number of hours."""

    hours: int
    written: bool = False
    """True if the tables are written that a scenario without a table `record` has."""

    def scenario(self) -> str:
        """Return it as the text of a scenario."""
        text = (SCENARIOS / "quiet-household-day.toml").read_text(encoding="utf-8")
        text = text.replace('duration = "24 h"', f'duration = "{self.hours} h"')
        return text.partition("[record]")[0] if self.written else text


NOTHING_WRITTEN = """
[record]
datagrams = false
objects = false
transfers = false
series = "off"
occupancy = false
delays = false
histograms = false
"""


def by_flows() -> dict[float, Sized]:
    """Return worlds of 1 to 1000 uploads over 1 Gb/s, so that a thousand have two packets each in a round trip."""
    return {float(flows): Sized(flows, 1e9, 10.0) for flows in FLOWS}


def by_rate() -> dict[float, Sized]:
    """Return worlds of ten uploads over 1 Mb/s to 10 Gb/s."""
    return {rate: Sized(10, rate, duration) for rate, duration in RATES.items()}


def crowded() -> dict[str, Sized]:
    """Return a thousand uploads over the fastest line, and a dumbbell of as many packet-hops."""
    return {
        "1000 uploads over 10 Gb/s, 2 s": Sized(1000, 1e10, 2.0),
        "1 upload over 5 Mb/s, 1 h": Sized(duration_s=3600.0),
    }


def by_duration(*, written: bool) -> dict[float, Sized]:
    """Return the dumbbell of `sojourn bench` for a minute to an hour."""
    return {seconds: Sized(duration_s=seconds, written=written) for seconds in DURATIONS_S}


def quiet_days() -> dict[str, Quiet]:
    """Return the quiet household for an hour and for a day, and what an hour of the usual tables adds."""
    return {"1 h": Quiet(1), "24 h": Quiet(24), "1 h, usual tables": Quiet(1, written=True)}


STUDY_WORLDS = ("x13-light-sfq-codel", "x15-moderate-sfq-codel")
"""Points of White 2013: half of a study's runs are like these, with few packets and many connections."""
STUDY_DURATION = "600 s"
"""chosen: as long as the fixed worlds; the study's own runs take twelve times as long."""


@dataclass(frozen=True)
class OfStudy:
    """A point of a published study as it is run there, with its records."""

    text: str

    def scenario(self) -> str:
        """Return it as the text of a scenario."""
        return self.text


def of_study() -> dict[str, OfStudy]:
    """Return points of White 2013 by name."""
    from sojourn.study.library import load_study
    from sojourn.study.plan import RunOptions, make_plan, only_runs

    plan = make_plan(load_study("white2013"), RunOptions(STUDY_WORLDS, seeds=1, duration=STUDY_DURATION), only_runs)
    return {item.point.name: OfStudy(item.scenario.canonical()) for item in plan.points}
