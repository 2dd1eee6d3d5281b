"""The page of speed: what a packet-hop costs, and how that changes as a world grows."""

import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from speed_measure import INSTRUCTION_DURATIONS_S, Cost, least
from speed_worlds import RATES

MEBIBYTE = 2**20

INTRODUCTION = """\
# Speed

{answer}

Command: `make bench`, which writes this page and its picture. Measured on
{machine}, one run at a time; each world in a process of its own,
{repetitions} times (generated worlds {few} times, short ones up to a hundred times), of which the one with the least
processor time counts; a median tells how much other work on the machine disturbs.
*Packet-hop*: one packet over one link or one wire, from its arrival to its delivery; the wires between the access link
and the servers count. Times are processor time of the run alone, without the start of Python (0.05 s)
and the reading of the scenario. A comparison with other simulators is on the [page of agreement](agreement.md).

## Fixed worlds

Those of `sojourn bench`, 600 simulated seconds each: a dumbbell with one upload and with five over 5 Mb/s behind CoDel,
and two households of White 2013. The dumbbells write nothing down, the households their histograms of delay.

"""

INSTRUCTIONS = """
Instructions: counted with {counter} over {long:g} s minus {short:g} s of each world, so that the start of the process
does not count; they do not depend on other work of the machine.
"""

STUDY = """
Points of White 2013 as the study runs them, with their records, for 600 s:

"""

PAIRS = """
## Beside a kept build

Processor time of this build and of {kept}, in turns, {rounds} times, of which the second begins every other time; the
median of the pairs' ratios, with the least and the largest, and the least nanoseconds a packet-hop of both. Below one, this build is faster. Instructions hide what waits for memory.

"""

FLOOR = """
## Beside the floor

The floor is a program written by hand for the first dumbbell alone, which handles the same events with nothing general in
it: no records, no choice of queue or stack. It says what the hour's processor would need at least. In turns, {rounds} times
(medians): the floor takes {floor:.1f} ns a packet-hop, the dumbbell {ours:.1f}, which is {times:.2f} times as long ({low:.2f} to
{high:.2f} by pair).
"""

NO_FLOOR = """
## Beside the floor

Nanoseconds hang on the machine and its hour. `make bench FLOOR="PROGRAM ARGUMENTS"` measures a hand-written program for the
first dumbbell in turns with ours, if you have one that prints `N ns/hop`; none was given.
"""

NO_PAIRS = """
## Beside a kept build

None was kept: `make bench-keep` keeps the present build, and the next `make bench` measures both in turns.
"""

GROWTH = """
## As a world grows

Dumbbells like the first one above, generated: CoDel, a round trip of 20 ms, the stack `linux-cubic`, a stream of 218 B
every 20 ms. Memory is the largest of the process; Python and the engine's code are {start:.0f} MiB of it.

![Time per packet-hop by number of uploads, rate and duration](speed.svg)
"""

CROWDED = """
Both have as many packet-hops and were measured in turn, {rounds} times. A packet-hop of the crowd costs {times:.2f} times
one of the dumbbell (median of the pairs; {low:.2f} to {high:.2f}): 17,000 packets are under way in a round trip of 20 ms,
and most are in no near cache when they arrive.
"""

QUIET = """
## A quiet day

One game and one person who opens a page every three minutes, behind the cable modem of White 2013
(`scenarios/quiet-household-day.toml`): a day should take less than 10 s and no more memory than an hour.
The usual tables have a row for each of the game's packets, and grow.
"""

JOBS = """
## Two jobs

{runs} runs of the first dumbbell in one process, as `sojourn study run --jobs` makes them, on one thread and on two:

"""


@dataclass(frozen=True)
class Results:
    """Everything that was measured."""

    fixed: Mapping[str, Sequence[Cost]]
    """All repetitions by world."""
    flows: Mapping[float, Cost]
    rates: Mapping[float, Cost]
    crowded: Mapping[str, Sequence[Cost]]
    """Many uploads over a fast line and one over a slow one, measured in turn."""
    durations: Mapping[float, Cost]
    durations_written: Mapping[float, Cost]
    quiet: Mapping[str, Cost]
    """The quiet household, by duration and tables in words."""
    study: Mapping[str, Cost]
    """Points of White 2013."""
    kept: str
    """Name of the kept build; empty if there is none."""
    pairs: Mapping[str, Sequence[tuple[Cost, Cost]]]
    """This build and the kept one in turns, by world; empty for a world that the kept one does not know."""
    floor: Sequence[tuple[float, float]]
    """Nanoseconds per packet-hop of the dumbbell and of a hand-written floor, in turns; empty without one."""
    runs: int
    wall_by_jobs: Mapping[int, float]
    counter: str
    """How instructions were counted, or why they were not."""
    instructions: Mapping[str, float]
    """Per packet-hop, by fixed world; empty if they were not counted."""

    def curves(self) -> dict[str, dict[str, Mapping[float, Cost]]]:
        """Return what the picture shows."""
        return {
            "uploads over 1 Gb/s": {"": self.flows},
            "rate in Mb/s, ten uploads": {"": {rate / 1e6: cost for rate, cost in self.rates.items()}},
            "simulated minutes": {
                "nothing written": {at / 60: cost for at, cost in self.durations.items()},
                "usual tables": {at / 60: cost for at, cost in self.durations_written.items()},
            },
        }


def page(results: Results, repetitions: int) -> str:
    """Return the page as Markdown."""
    start = min(cost.start_bytes for cost in results.durations.values()) / MEBIBYTE
    few = max(2, repetitions // 2)
    parts = [
        INTRODUCTION.format(answer=answer(results), machine=machine(), repetitions=repetitions, few=few),
        fixed_table(results),
        instructions_text(results),
        STUDY,
        study_table(results),
        pairs_text(results.kept, results.pairs),
        floor_text(results.floor),
        GROWTH.format(start=start),
        growth_table("uploads over 1 Gb/s, 10 s", {f"{n:g}": c for n, c in results.flows.items()}),
        growth_table("rate, ten uploads", {f"{rate_text(r)}, {RATES[r]:g} s": c for r, c in results.rates.items()}),
        growth_table("in turn", {size: least(costs) for size, costs in results.crowded.items()}),
        crowded_text(results),
        growth_table(
            "duration, one upload over 5 Mb/s",
            {
                **{f"{at / 60:g} min": c for at, c in results.durations.items()},
                **{f"{at / 60:g} min, usual tables": c for at, c in results.durations_written.items()},
            },
        ),
        QUIET,
        growth_table("duration", results.quiet),
        JOBS.format(runs=results.runs),
        jobs_table(results),
    ]
    return "".join(parts)


def answer(results: Results) -> str:
    """Return the first sentence: what a packet costs and how fast time passes, over the fixed worlds."""
    costs = [least(costs) for costs in results.fixed.values()]
    each, speeds = [cost.ns_per_hop for cost in costs], [cost.speed for cost in costs]
    return (
        f"A packet takes {min(each):.0f} to {max(each):.0f} ns of processor time for each link or wire, "
        f"and a second of it simulates {min(speeds):,.0f} to {max(speeds):,.0f} s of a line."
    )


def fixed_table(results: Results) -> str:
    """Return one row for each fixed world."""
    lines = [
        "| world | packet-hops | million/s | ns each | median | instructions each | simulated/processor s | peak MiB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, costs in results.fixed.items():
        cost = least(costs)
        instructions = results.instructions.get(name)
        cells = [
            f"`{name}`",
            f"{cost.packet_hops:,}",
            f"{1e3 / cost.ns_per_hop:.2f}",
            f"{cost.ns_per_hop:.0f}",
            f"{statistics.median(cost.ns_per_hop for cost in costs):.0f}",
            "–" if instructions is None else f"{instructions:.0f}",
            f"{cost.speed:,.0f}",
            f"{cost.peak_bytes / MEBIBYTE:.1f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def study_table(results: Results) -> str:
    """Return one row for each point of a study."""
    lines = ["| point | packet-hops | ns each | simulated/processor s | peak MiB |", "|---|---|---|---|---|"]
    lines += [
        f"| `{name}` | {cost.packet_hops:,} | {cost.ns_per_hop:.0f} | {cost.speed:,.0f} "
        f"| {cost.peak_bytes / MEBIBYTE:.1f} |"
        for name, cost in results.study.items()
    ]
    return "\n".join(lines) + "\n"


def pairs_text(kept: str, pairs: Mapping[str, Sequence[tuple[Cost, Cost]]]) -> str:
    """Say how this build stands beside the kept one."""
    if not kept:
        return NO_PAIRS
    rounds = max(len(both) for both in pairs.values())
    lines = [
        "| world | ratio of processor time | least | largest | ns each | ns each, kept |",
        "|---|---|---|---|---|---|",
    ]
    for name, both in pairs.items():
        if not both:
            lines.append(f"| `{name}` | the kept build does not know a key of it | | | | |")
            continue
        ratios = [ours.cpu_s / earlier.cpu_s for ours, earlier in both]
        ours, earlier = (least(costs).ns_per_hop for costs in zip(*both, strict=True))
        lines.append(
            f"| `{name}` | {statistics.median(ratios):.3f} | {min(ratios):.3f} | {max(ratios):.3f} "
            f"| {ours:.0f} | {earlier:.0f} |"
        )
    return PAIRS.format(kept=kept, rounds=rounds) + "\n".join(lines) + "\n"


def floor_text(turns: Sequence[tuple[float, float]]) -> str:
    """Say how the dumbbell stands beside what is needed at least."""
    if not turns:
        return NO_FLOOR
    ratios = [ours / floor for ours, floor in turns]
    ours, floor = (statistics.median(side) for side in zip(*turns, strict=True))
    return FLOOR.format(
        rounds=len(turns), floor=floor, ours=ours, times=statistics.median(ratios), low=min(ratios), high=max(ratios)
    )


def instructions_text(results: Results) -> str:
    """Say how instructions were counted, or why not."""
    if not results.instructions:
        return f"\nInstructions: {results.counter}.\n"
    long, short = INSTRUCTION_DURATIONS_S
    return INSTRUCTIONS.format(counter=results.counter, long=long, short=short)


def growth_table(what: str, costs: Mapping[str, Cost]) -> str:
    """Return one row for each size of a generated world."""
    lines = [
        f"\n| {what} | packet-hops | processor s | ns each | simulated/processor s | peak MiB |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {size} | {cost.packet_hops:,} | {cost.cpu_s:.2f} | {cost.ns_per_hop:.0f} "
        f"| {cost.speed:,.3g} | {cost.peak_bytes / MEBIBYTE:.1f} |"
        for size, cost in costs.items()
    ]
    return "\n".join(lines) + "\n"


def crowded_text(results: Results) -> str:
    """Say how many times the dumbbell's packet-hop one of a crowded fast line costs."""
    many, one = results.crowded.values()
    ratios = [a.ns_per_hop / b.ns_per_hop for a, b in zip(many, one, strict=True)]
    return CROWDED.format(times=statistics.median(ratios), low=min(ratios), high=max(ratios), rounds=len(ratios))


def jobs_table(results: Results) -> str:
    """Return wall times by number of jobs."""
    one = results.wall_by_jobs[1]
    lines = ["| jobs | wall s | times as fast |", "|---|---|---|"]
    lines += [f"| {jobs} | {wall:.2f} | {one / wall:.2f} |" for jobs, wall in results.wall_by_jobs.items()]
    return "\n".join(lines) + "\n"


def rate_text(rate: float) -> str:
    """Return a rate with its unit."""
    return f"{rate / 1e9:g} Gb/s" if rate >= 1e9 else f"{rate / 1e6:g} Mb/s"


def machine() -> str:
    """Return the number of processors and what the kernel calls them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} × {models[0] if models else 'unknown processor'}"
