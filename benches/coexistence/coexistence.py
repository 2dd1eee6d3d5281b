"""Measure how L4S and classic flows share a dual queue, and write docs/results/coexistence.md.

usage: python benches/coexistence/coexistence.py [--seconds S] [--out FILE]

One flow of each kind over a plain line, for rates of 2 to 100 Mb/s per flow and round trips of 5 to 50 ms, behind the
dual queue of DOCSIS and behind DualPI2; then one to five flows of each kind, and the weights of the scheduler. Beside
each ratio stands that of the laws of both controls at the marks and drops that the run had. Two processors need some three
minutes.
"""

import argparse
import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from sojourn import _engine

ROOT = Path(__file__).resolve().parents[2]
NS = 1e9
"""Nanoseconds in a second."""
WARM_UP_S = 20
"""Left out of rates, marks and drops. chosen: a hundred round trips of 50 ms and the end of each slow start."""
PACKET_BITS = 12_000
"""A full packet, 1500 B."""
REFERENCE_S = 0.025
"""Round trip below which Prague behaves as with this one."""
WITHIN = 0.2
"""How far a ratio may be from that of the laws."""
LEAST_WINDOW = 4.0
"""Below this window the least window of two segments and whole packets rule. chosen: twice the least."""

L4S = {"Prague": '"prague"', "DCTCP": '{ kind = "dctcp", ecn = "dctcp-l4s" }'}
CLASSIC = {"CUBIC": '"linux-cubic"', "Reno": '"linux-reno"'}
MANAGERS = {"docsis-dual-queue": '{ kind = "docsis-dual-queue" }', "dualpi2": '{ kind = "dualpi2", target = "10 ms" }'}
RATES = (2, 5, 10, 20, 50, 100)
ROUND_TRIPS = (5, 10, 25, 50)


class Cell(NamedTuple):
    """Flows of a cell, and their share."""

    l4s: str = "Prague"
    classic: str = "CUBIC"
    rate: float = 20
    """Mb/s per flow."""
    rtt: int = 20
    """Milliseconds without queues."""
    l4s_flows: int = 1
    classic_flows: int = 1
    queue: str = MANAGERS["docsis-dual-queue"]


@dataclass(frozen=True)
class Side:
    """Results of the flows of one kind; rates per flow."""

    rate: float
    signals: float
    """Marks and drops per packet."""
    rtt: float
    """Seconds, with the queue."""

    @property
    def window(self) -> float:
        """Segments."""
        return self.rate * self.rtt / PACKET_BITS


@dataclass(frozen=True)
class Shared:
    """Results of a run."""

    cell: Cell
    l4s: Side
    classic: Side

    @property
    def ratio(self) -> float:
        """Rate of an L4S flow to that of a classic one."""
        return self.l4s.rate / self.classic.rate

    @property
    def laws(self) -> tuple[float, float]:
        """The same by the laws: least and most, between regular and random signals."""
        low, high = law_of_l4s(self.cell.l4s, self.l4s)
        classic = law_of_classic(self.cell.classic, self.classic)
        return low / classic[1], high / classic[0]

    @property
    def holds(self) -> bool:
        """True if the ratio is that of the laws."""
        low, high = self.laws
        return low * (1 - WITHIN) <= self.ratio <= high * (1 + WITHIN)

    @property
    def is_uncoupled(self) -> bool:
        """True if half as many marks again came as the drops of the classic queue account for."""
        return self.l4s.signals > 1.5 * 2 * self.classic.signals**0.5

    @property
    def is_least(self) -> bool:
        """True if the least window rules."""
        return min(self.l4s.window, self.classic.window) < LEAST_WINDOW

    @property
    def is_cubic(self) -> bool:
        """True if CUBIC is in its cubic branch by its law."""
        side = self.classic
        return self.cell.classic == "CUBIC" and cubic(side) > friendly(side)


def law_of_l4s(name: str, side: Side) -> tuple[float, float]:
    """Bits per second of a scalable control with regular and with random marks.

    Prague: 2 (1/p - 1) segments in each 25 ms, above 25 ms in each round trip, 1.37 times that with random marks. DCTCP
    that does not grow while reduced: 0.74/p segments in each round trip, and the square root of two over p.
    """
    p = side.signals
    if name == "Prague":
        regular = 2 * (1 / p - 1) * PACKET_BITS / max(side.rtt, REFERENCE_S)
        return regular, 1.37 * regular
    return 0.74 / p * PACKET_BITS / side.rtt, 1.41 / p * PACKET_BITS / side.rtt


def friendly(side: Side, constant: float = 1.22) -> float:
    """Bits per second of Reno, and of CUBIC where it is not cubic; windows count acknowledged segments."""
    return constant / side.signals**0.5 * PACKET_BITS / side.rtt


def cubic(side: Side) -> float:
    """Bits per second of CUBIC's cubic branch (RFC 9438 section 5.1)."""
    return 1.054 * (side.rtt / side.signals) ** 0.75 * PACKET_BITS / side.rtt


def law_of_classic(name: str, side: Side) -> tuple[float, float]:
    """Bits per second of a classic control with regular and with random drops."""
    branch = cubic(side) if name == "CUBIC" else 0.0
    return max(friendly(side), branch), max(friendly(side, 1.27), branch)


def scenario(cell: Cell, seconds: int) -> str:
    """One line, all flows upstream."""
    line = cell.rate * (cell.l4s_flows + cell.classic_flows)
    return f"""schema = 1
name = "coexistence"
duration = "{seconds} s"
[access.upstream]
link = {{ kind = "serial", rate = "{line * 1000:.0f} kb/s" }}
queue = {cell.queue}
[access.downstream]
link = {{ kind = "serial", rate = "{line * 10_000:.0f} kb/s" }}
queue = {{ kind = "drop-tail", limit = "1000 packets" }}
[[traffic]]
name = "l4s"
app = {{ kind = "bulk", lanes = {cell.l4s_flows} }}
stack = {L4S[cell.l4s]}
rtt = "{cell.rtt} ms"
[[traffic]]
name = "classic"
app = {{ kind = "bulk", lanes = {cell.classic_flows} }}
stack = {CLASSIC[cell.classic]}
rtt = "{cell.rtt} ms"
"""


def run(cell: Cell, seconds: int, seed: int = 1) -> Shared:
    """Simulate, and take what follows the warm-up."""
    records = _engine.run(_engine.Scenario.parse(scenario(cell, seconds)), seed)
    passed = pl.DataFrame(records.table("traffic_series")).filter(
        (pl.col("link") == "upstream") & (pl.col("start_ns") >= WARM_UP_S * NS)
    )
    delays = pl.DataFrame(records.table("delays")).filter(
        (pl.col("direction") == "upstream") & pl.col("cause").is_in(["queue", "serialisation"])
    )

    def side(name: str, flows: int) -> Side:
        own = passed.filter(pl.col("traffic") == name)
        waits = delays.filter(pl.col("traffic") == name)
        packets = max(1, int(own["forwarded_packets"].sum()))
        signals = int(own["marked_packets"].sum()) + int(own["dropped_packets"].sum())
        wait = sum(waits["total_ns"] / waits["packets"]) / NS
        return Side(
            rate=max(1.0, 8.0 * int(own["forwarded_bytes"].sum())) / (seconds - WARM_UP_S) / flows,
            signals=max(signals, 1) / packets,
            rtt=cell.rtt * 1e-3 + wait,
        )

    return Shared(cell, side("l4s", cell.l4s_flows), side("classic", cell.classic_flows))


def run_all(cells: Iterable[Cell], seconds: int) -> list[Shared]:
    """Run cells, as many at a time as there are processors."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        waiting = [pool.submit(run, cell, seconds) for cell in cells]
        return [future.result() for future in waiting]


def entry(shared: Shared) -> str:
    """Return ratio, ratio of the laws, and what rules besides."""
    marks = "w" * shared.is_least + "c" * shared.is_cubic + "n" * shared.is_uncoupled
    low, high = shared.laws
    return f"{shared.ratio:.2f} ({low:.2f} to {high:.2f}){' ' + marks if marks else ''}"


def grid(pair: tuple[str, str], cells: list[Shared]) -> list[str]:
    """Return the table of a pair behind one manager."""
    lines = [
        f"| {pair[0]} : {pair[1]}, Mb/s per flow | " + " | ".join(f"{rtt} ms" for rtt in ROUND_TRIPS) + " |",
        "|--:|" + "---|" * len(ROUND_TRIPS),
    ]
    by_place = {(shared.cell.rate, shared.cell.rtt): shared for shared in cells}
    lines += [f"| {rate} | " + " | ".join(entry(by_place[rate, rtt]) for rtt in ROUND_TRIPS) + " |" for rate in RATES]
    return [*lines, ""]


def counted(cells: list[Shared]) -> str:
    """Return how many cells are as the laws say, of all and of those without a mark."""
    free = [shared for shared in cells if not (shared.is_least or shared.is_cubic or shared.is_uncoupled)]
    within = sum(0.5 <= shared.ratio <= 2 for shared in cells)
    return (
        f"{sum(shared.holds for shared in cells)} of {len(cells)} | "
        f"{sum(shared.holds for shared in free)} of {len(free)} | {within} of {len(cells)}"
    )


def table_of_managers(seconds: int) -> list[str]:
    """Return ratios over rates and round trips behind each manager."""
    lines: list[str] = []
    for name, queue in MANAGERS.items():
        lines += [f"### `{name}`", ""]
        summary = ["| pair | as the laws say | of those without a letter | ratio of 0.5 to 2 |", "|---|--:|--:|--:|"]
        grids: list[str] = []
        for pair in ((l4s, classic) for l4s in L4S for classic in CLASSIC):
            cells = run_all((Cell(*pair, rate, rtt, queue=queue) for rate in RATES for rtt in ROUND_TRIPS), seconds)
            summary.append(f"| {pair[0]} : {pair[1]} | {counted(cells)} |")
            grids += grid(pair, cells)
        lines += [*summary, "", *grids]
    return lines


def answer(managers: str) -> str:
    """Return the first sentence, from the tables of managers: how Prague and CUBIC share a line behind each."""
    rows = re.findall(r"^### `(.+)`|^\| Prague : CUBIC \| (.+?) \| .+? \| (.+?) \|$", managers, re.MULTILINE)
    names, counts = [name for name, _, _ in rows if name], [(laws, within) for _, laws, within in rows if laws]
    found = [
        f"behind `{name}` in {within} cells of rate and round trip, as the laws of both say in {laws}"
        for name, (laws, within) in zip(names, counts, strict=True)
    ]
    return f"Prague and CUBIC share a line to within a factor of two {'; '.join(found)}."


def table_of_numbers(seconds: int) -> list[str]:
    """Return claims W19-16 and W19-17: numbers of flows, the scheduler's weight, and other managers beside them."""
    queues = {
        "weight 230": '{ kind = "docsis-dual-queue" }',
        "weight 128": '{ kind = "docsis-dual-queue", weight = 128 }',
        "buffer 250 ms": '{ kind = "docsis-dual-queue", limit = "250 ms" }',
        "`dualpi2`": MANAGERS["dualpi2"],
    }
    lines = [
        "| pair | flows | " + " | ".join(f"{name}: ratio, wait" for name in queues) + " | 128 to 230 |",
        "|---|---|" + "---|" * len(queues) + "--:|",
    ]
    for pair in ((l4s, classic) for l4s in L4S for classic in CLASSIC):
        for flows in ((1, 1), (2, 2), (3, 3), (5, 5), (1, 5), (5, 1)):
            # White 2019's upstream of 50 Mb/s.
            rate = 50 / sum(flows)
            cells = run_all((Cell(*pair, rate, 20, *flows, queue=queue) for queue in queues.values()), seconds)
            columns = " | ".join(f"{shared.ratio:.2f}, {(shared.classic.rtt - 0.02) * 1e3:.1f} ms" for shared in cells)
            change = cells[1].ratio / cells[0].ratio - 1
            lines.append(f"| {pair[0]} : {pair[1]} | {flows[0]} : {flows[1]} | {columns} | {change:+.0%} |")
    return [*lines, ""]


def page(seconds: int) -> str:
    """Return the whole page."""
    text = (Path(__file__).parent / "page.md").read_text(encoding="utf-8")
    managers = "\n".join(table_of_managers(seconds)).strip()
    return (
        text.replace("@SECONDS@", str(seconds))
        .replace("@ANSWER@", answer(managers))
        .replace("@MANAGERS@", managers)
        .replace("@NUMBERS@", "\n".join(table_of_numbers(seconds)).strip())
    )


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=int, default=160, help="simulated, 20 s of warm-up included")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results" / "coexistence.md")
    options = parser.parse_args()
    options.out.write_text(page(options.seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
