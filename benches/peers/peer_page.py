"""The page of results: what agrees, what does not and why, and what a run costs."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from peer_agreement import DECIDES, METRICS, Comparison, Estimate, compare_all
from peer_drivers import Measured, Peer
from peer_worlds import EQUAL_GROWTH, World

__all__ = ["Cost", "page"]

Runs = Mapping[World, tuple[list[dict[str, float]], list[dict[str, float]]]]

INTRODUCTION = """\
# Side by side with ns-2 and ns-3

With an equal configuration, {answer}. Each cell that is apart names its mechanism.

Command: `make bench-peers`. It runs the drivers of `benches/peers` and writes this page; simulators that are not
installed are skipped.

One or five CUBIC uploads and a stream of 218 B every 20 ms share a line of 5 Mb/s. The round trip is 20 ms, the way
back is 100 Mb/s fast. *Throughput* is what the line carries, headers included; *delay* is the time of the stream's
packets from their arrival at the queue to their first bit on the wire; both from {warm_up:g} s on. Each number is the mean
of {repetitions} repetitions with other times of start (uploads within a second, the stream within 20 ms) with its 95 %
interval.

| verdict | Welch's 95 % interval of the difference |
|---|---|
| agree | holds zero, and reaches no further than 5 % of the peer's mean |
| apart | does not hold zero: by how much says the column before, why the paragraph of that name below |
| undecided | holds zero, but is too wide to say more; a mechanism is named if the means are more than 5 % apart |

One cell in twenty is apart by chance. Cells that hardly vary are apart by differences too small to matter.
"""

EQUAL = """\
## What is equal

1500 B and 218 B on the wire, link header included; SACK; an acknowledgement for each segment; no limit by the
receiver; no HyStart; the least retransmission timeout (200 ms; 2 s behind the drop-tail queue); 417 packets of
queue beside the one on the wire (RED: 120); RED of Akhtar 2013; CoDel 5 ms in 100 ms; PIE of RFC 8033; FQ-CoDel
with 1024 queues and a quantum of 1500 B; first window of 10 (ns-3) or 4 (ns-2).

| | ns-2 | ns-3 |
|---|---|---|
| stack here | `ns2-linux-cubic`, window of 667 | `linux-cubic` with windows in bytes, reductions of the window, no tail-loss probe, CUBIC without the region of Reno |
| stack there | `TCP/Linux` with `cubic`, `TCPSink/Sack1` | `TcpSocketBase`, PRR; CUBIC in real numbers (in the driver), or its own |
| queue there | `DropTail` of 417, one place of which is never used | queue disc; the device is stopped while a packet is on the wire, so that none waits beneath the disc |
"""

NOTES = """\
## Why they differ where they do

Found with the drivers; a verdict names the mechanism that is known for such a world.

*CUBIC of ns-3* counts its curve in whole segments, rounded down, on both sides of the plateau. Below the plateau W it
aims one segment too high, so it is back at W as soon as 0.4 (K − t)³ < 1, which for windows of ten to twenty segments
is half of K. Short epochs mean more losses and a longer queue. With the same curve in real numbers (`CubicInReals` in
the driver, everything else as it is in ns-3) the difference goes; the rows *own CUBIC* have ns-3's.

*Repair of timeouts.* In ns-3 a window grows with every acknowledgement while a timeout is repaired, and losses have no
effect before the next timeout, because RFC 6675 does not see that a repetition was lost. Five uploads that start
together without HyStart overshoot together; in some repetitions their storm lasts half a minute, with windows of a
hundred segments. Here RACK sees it. `compare.py --warmup 50` leaves the start out.

*RED beside five uploads.* The senders do it, not the law. With marks in place of losses nothing has to be repaired, and the queues agree:
98.8 ms in the mean here and 99.9 ms in ns-3, from 50 s on (three repetitions, `red-ecn` in the drivers). With losses ns-3's uploads lose 1.6
times as many packets and keep a longer queue all the same: with 1 % of losses repetitions are lost as well, after which windows grow as above.
Both laws lose the same: 0.84 of the likelihood at the mean queue here, 0.85 there (losses over packets, from 50 s on).

*Lost repetitions.* For the same reason the full drop-tail queue of ns-3 dips deeper after some overflows.

*Two cycles.* One CUBIC upload over CoDel falls into a cycle. Most starts lead to reductions at 12.4 and 12.1 segments
in turn; some starts of ns-3 lead to one at exactly 12 segments every 2.1 s, which keeps more in the queue. Here that
cycle did not appear from twenty times of start and forty first windows. What keeps ns-3 in it is not known.

*The device queue.* Most scripts of ns-3 leave one packet in the device beneath the queue disc. The disc does not see it:
the delay of the stream grows by up to one transmission (2.4 ms), throughput a little. The row *device queue* has it.

*PIE of ns-3* leaves arrivals alone while at most two packets wait, whatever their length; here while at most 2048 B
wait. *CoDel of ns-3* follows Linux: a clock of 1.024 µs and 1/√count by one Newton step in 16 bits; here both are
exact. Neither was seen to matter.

*Storms of ns-2.* `TCP/Linux` repeats into a full queue for tens of seconds now and then
([why](../models/tcp.md#habits-of-ns-2)); how often within ten minutes is chance, and most of the spread.

*The first second of ns-2.* Its CUBIC discards samples of delay until a second after time zero; a flow that starts
earlier takes a standing queue for the shortest delay and grows faster ever after. The driver starts at two seconds.

*One place of queue.* The acknowledgement clock brings a packet at the very instant at which the one before it has left. Which of both events
comes first decides. The rule is that of ns-2: events of one time are dispatched in the order in which they were scheduled ("first scheduled - first
dispatched", its manual, chapter 4), so the end of a transmission comes before an arrival that an acknowledgement brings later. Here times are exact and it
always holds; in ns-2 times are rounded, and the last digit of a floating-point number decides in its place. Where times of ns-2 are exact, too (each
transmission and the round trip a whole number of 2⁻³⁰ s), both carry the same:

| Mb/s of 2 of `ns2-packets` in 60 s | round trip | ns-2 | Sojourn |
|---|--:|--:|--:|
| times exact in both: 3.072 Mb/s | 15.625 ms | 2.760 | 2.758 |
| 6.144 Mb/s | 20.508 ms | 2.400 | 2.398 |
| 12.288 Mb/s | 15.625 ms | 3.247 | 3.244 |
| 12.288 Mb/s | 156.25 ms | 0.342 | 0.342 |
| 24.576 Mb/s | 31.25 ms | 1.699 | 1.698 |
| times rounded in ns-2: 10 Mb/s | 20 ms | 2.54 | 2.54 |
| 5 Mb/s | 20 ms | 4.31 | 2.41 |
| 20 Mb/s | 20 ms | 17.73 | 2.62 |
| up to 0.1 µs of chance per packet in both: 10 Mb/s | 20 ms | 6.26 | 7.1 |
| 10 Mb/s | 100 ms | 1.43 | 1.4 |

(Of sixteen pairs of 3 to 25 Mb/s and 16 to 31 ms with exact times the rates are within 0.2 % and the drops within one.) With one place, packets stay in one train
while times are exact, and a second step of growth in one round trip is lost. Chance of a microsecond is in every real line: say so where a queue has one place,
or a flow queue has more sub-flows than places (`overhead_` in ns-2, `jitter` of a condition here; `pair.tcl`, `tests/peers/test_ns2_pairs.py`).
"""

COST = """\
## What a run costs

Processor time (user and system) of 600 simulated seconds with nothing written down, on
{machine}. Simulators ran in turns, one at a time; ns-3 with its own CUBIC and one
packet in the device. *Process* is everything from the start of the program to its end, for Sojourn the start of Python
included; *simulation* is without start and set-up; *as typed* is `sojourn run` of the same scenario in a file, which
also prints what the run means, beside the same process of the peer. *Tuned* ns-2 has a heap of events instead of its
calendar, and packets with the needed headers only; it prints the same. Minimum, and median in parentheses. Ratio: theirs over ours, of the
minima.

"""

LOGGING = """\
This ns-3 has its logging compiled in, as the package of Debian has; a build without it is faster. Compared to that one,
the ratio would be smaller: point `PKG_CONFIG_PATH` to its installation and run the command again.
"""


@dataclass(frozen=True)
class Cost:
    """Processor time of one world in both simulators."""

    world: World
    ours: Sequence[Measured]
    theirs: Sequence[Measured]
    theirs_start_s: float
    """Time of the peer's process for almost no simulated time."""
    typed_s: Sequence[float] = ()
    """Processor seconds of `sojourn run` of the same scenario in a file."""

    def simulation(self) -> tuple[list[float], list[float]]:
        """Return processor seconds without start and set-up, ours and theirs."""
        ours = [run.values["run_cpu_s"] for run in self.ours]
        theirs = [run.values.get("run_cpu_s", run.cpu_s - self.theirs_start_s) for run in self.theirs]
        return ours, theirs

    def process(self) -> tuple[list[float], list[float]]:
        """Return processor seconds of the whole process, ours and theirs."""
        return [run.cpu_s for run in self.ours], [run.cpu_s for run in self.theirs]


def page(peers: Mapping[str, Peer], runs: Runs, costs: Sequence[Cost], *, duration_s: float, warm_up_s: float) -> str:
    """Return the page as Markdown."""
    repetitions = max(len(ours) for ours, _ in runs.values())
    parts: list[str] = []
    answers: list[str] = []
    for name, peer in peers.items():
        parts.append(f"## {name} {peer.version}\n")
        if peer.skipped:
            parts.append(f"Skipped: {peer.skipped}.\n")
            continue
        mine = {world: both for world, both in runs.items() if world.peer == name}
        seconds = 600.0 if name == "ns-2" else duration_s
        parts.append(f"{seconds:g} s each.\n")
        parts.append(agreement_table(mine))
        answers.append(f"{name} {peer.version}: {summary(mine)}")
        parts.append(f"With an equal configuration {summary(mine)}.\n")
    answer = ". ".join(answers) or "nothing was compared"
    parts.insert(0, INTRODUCTION.format(answer=answer, repetitions=repetitions, warm_up=warm_up_s))
    parts += [EQUAL, NOTES, COST.format(machine=machine()) + cost_table(costs)]
    if any(run.values.get("logging") for cost in costs for run in cost.theirs):
        parts.append(LOGGING)
    return "\n".join(parts)


def agreement_table(runs: Runs) -> str:
    """Return one row for each world and quantity."""
    lines = ["| queue, uploads | quantity | Sojourn | peer | difference | verdict |", "|---|---|---|---|---|---|"]
    for world, (ours, theirs) in runs.items():
        for metric, comparison in compare_all(ours, theirs).items():
            cells = [
                title(world) if metric == next(iter(METRICS)) else "",
                METRICS[metric],
                number(comparison.ours),
                number(comparison.theirs),
                f"{comparison.relative:+.1%}".replace("%", " %"),
                verdict(comparison, world),
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def title(world: World) -> str:
    """Return what a row calls a world."""
    extras: list[str] = []
    if world.peer == "ns-3" and world.growth != EQUAL_GROWTH:
        extras.append("*own CUBIC*")
    if world.device_queue:
        extras.append("*device queue*")
    return ", ".join([world.name, *extras])


def number(value: Estimate) -> str:
    """Return a mean with its interval, with as many digits as the interval bears."""
    digits = 4 if value.half_width < 0.001 else 3 if value.mean < 10 else 2 if value.mean < 100 else 1
    return f"{value.mean:.{digits}f} ± {value.half_width:.{digits}f}"


def verdict(comparison: Comparison, world: World) -> str:
    """Return whether both agree, or which mechanism is known to keep such worlds apart."""
    if comparison.agrees:
        return "agree"
    if comparison.differs:
        return f"apart: {mechanism(world)}"
    return f"undecided: {mechanism(world)}" if abs(comparison.relative) > DECIDES else "undecided"


def mechanism(world: World) -> str:
    """Return the paragraph of the page that tells what is known for a world."""
    if world.peer == "ns-2":
        return "storms of ns-2"
    if world.device_queue:
        return "the device queue"
    if world.growth != EQUAL_GROWTH:
        return "CUBIC of ns-3"
    if world.queue == "drop-tail":
        return "lost repetitions"
    if world.flows > 1:
        return "RED beside five uploads" if world.queue == "red" else "repair of timeouts"
    return "PIE of ns-3" if world.queue == "pie" else "two cycles"


def summary(runs: Runs) -> str:
    """Count verdicts among the worlds with an equal configuration."""
    cells = [
        comparison
        for world, (ours, theirs) in runs.items()
        if world.growth == EQUAL_GROWTH and not world.device_queue
        for comparison in compare_all(ours, theirs).values()
    ]
    agreeing = sum(cell.agrees for cell in cells)
    apart = [abs(cell.relative) for cell in cells if cell.differs]
    undecided = len(cells) - agreeing - len(apart)
    largest = f" (at most {max(apart):.1%})".replace("%", " %") if apart else ""
    return f"{agreeing} of {len(cells)} cells agree; apart: {len(apart)}{largest}; undecided: {undecided}"


def cost_table(costs: Sequence[Cost]) -> str:
    """Return one row for each world of which processor time was taken."""
    lines = ["| world | | Sojourn, s | peer, s | ratio |", "|---|---|---|---|---|"]
    for cost in costs:
        rows = {"simulation": cost.simulation(), "process": cost.process()}
        if cost.typed_s:
            rows["as typed"] = (list(cost.typed_s), cost.process()[1])
        tuned = ", tuned" if cost.world.tuned else ""
        for what, (ours, theirs) in rows.items():
            first = f"{cost.world.peer}{tuned}: {cost.world.name}" if what == "simulation" else ""
            ratio = min(theirs) / min(ours)
            lines.append(f"| {first} | {what} | {seconds(ours)} | {seconds(theirs)} | {ratio:.3g} |")
    return "\n".join(lines) + "\n"


def seconds(values: Sequence[float]) -> str:
    """Return the minimum, and the median in parentheses."""
    return f"{min(values):.3f} ({statistics.median(values):.3f})"


def machine() -> str:
    """Return the number of processors and what the kernel calls them."""
    import os
    from pathlib import Path

    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} × {models[0] if models else 'unknown processor'}"
