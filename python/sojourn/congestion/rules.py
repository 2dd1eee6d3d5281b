"""What a controller must not do: limits of numbers of scenarios, each with the document that asks for it.

RFC 9743 has no thresholds, so those of its rows are chosen: they tell collapse, starvation and a flow that does not come back from
what is better or worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn.base.digits import significant
from sojourn.congestion import bbr, general, l4s, states
from sojourn.congestion.general.alone import LOSS
from sojourn.congestion.general.beside import SHARES
from sojourn.congestion.general.managed import MANAGED
from sojourn.congestion.general.paths import CHANGE, LATEST_S
from sojourn.congestion.scenario import Cell
from sojourn.judging.bands import Band
from sojourn.report.checks import Judged
from sojourn.stats.estimate import Estimate

__all__ = ["RULES", "Rule", "judged"]

Values = Mapping[str, Mapping[str, Estimate]]
"""Estimates by scenario and number."""


@dataclass(frozen=True)
class Limit:
    """Between what a number of some scenarios has to be."""

    items: Sequence[str]
    number: str
    least: float = -math.inf
    most: float = math.inf


@dataclass(frozen=True)
class Rule:
    """A row that can fail."""

    item: str
    statement: str
    source: str
    expected: str
    limits: Sequence[Limit]
    broken: str = "fail"


STARVED = 5.0
"""Share in % below which others starve. chosen: a tenth of a fair share of two."""

JUDGED_G6 = [cell.item for cell in SHARES if cell.buffer >= 1.0 and cell.word == "must"]

RULES: Mapping[str, Sequence[Rule]] = {
    "general": (
        Rule(
            "G1",
            "Under persistent congestion it sends a packet in each round trip at most, and ever more rarely.",
            "RFC 9743 5.1.1 (full backoff); RFC 2914",
            "all or half of the packets lost: at most 1 packet in each round trip; all lost: intervals grow by at least 1.5",
            (
                Limit(("G1b", "G1c"), "packets", most=1.0),
                Limit(("G1b",), "growth", least=1.5),
            ),
        ),
        Rule(
            "G6",
            "Flows of Reno and CUBIC do not starve beside it.",
            "RFC 9743 5.2.1",
            f"at least {STARVED:g} % of their share over 60 s, buffer of 1 and 4 BDP",
            (Limit(JUDGED_G6, "share", least=STARVED),),
        ),
        Rule(
            "G11",
            "With ECN turned on, it answers marks.",
            "RFC 9743 7.1; RFC 3168 6.1.2",
            "the window falls within three round trips of at least half of the marks",
            (Limit([cell.item for cell in MANAGED], "answered", least=50.0),),
        ),
        Rule(
            "G15",
            "It comes back after the path has changed.",
            "RFC 9743 7.8, 7.9",
            f"90 % of the new rate within {LATEST_S:g} s",
            tuple(
                Limit((cell.item,), number.name, most=LATEST_S)
                for cell in CHANGE
                for number in cell.numbers
            ),
        ),
    ),
    "bbr": tuple(
        Rule(f"B{number}", statement, f"{bbr.SOURCE}, {number}", expected, limits)
        for number, statement, expected, limits in (
            (
                1,
                "STARTUP finds the rate.",
                "at least 98 % of the line, and an estimate within 2 % of it",
                (Limit(("B1",), "plateau", least=98.0), Limit(("B1",), "estimate", least=98.0, most=102.0)),
            ),
            (2, "Losses end STARTUP while the application is the limit.", "within 0.3 s of the first loss", (Limit(("B2",), "left", most=0.3),)),
            (3, "DRAIN empties the queue.", "at most a tenth of a round trip of wait", (Limit(("B3",), "emptied", most=0.1),)),
            (
                4,
                "DRAIN ends after three round trips, whatever is under way.",
                "within 1.5 s, with more than a product under way",
                (Limit(("B4",), "lasts", most=1.5), Limit(("B4",), "flight", least=120.0)),
            ),
            (
                5,
                "PROBE_UP ends when the rate has not grown in three round trips.",
                "3 to 8 round trips, and always PROBE_DOWN then",
                (Limit(("B5",), "rounds", least=3.0, most=8.0), Limit(("B5",), "down", least=100.0)),
            ),
            (6, "Losses end PROBE_UP while the application is the limit.", "within 0.2 s of the first loss", (Limit(("B6",), "left", most=0.2),)),
            (
                7,
                "Where the application is the limit, its rate goes through without a queue.",
                "at least 98 % of it, and a wait of at most a tenth of a round trip",
                (Limit(("B7",), "goodput", least=98.0), Limit(("B7",), "sojourn_mean", most=0.1)),
            ),
            (8, "PROBE_DOWN ends with a product under way.", "always CRUISE then", (Limit(("B8",), "cruise", least=100.0),)),
            (
                9,
                "PROBE_DOWN ends when it is time to probe, whatever is under way.",
                "REFILL without CRUISE, after 3.1 s at most",
                (Limit(("B9",), "skipped", least=100.0), Limit(("B9",), "lasts", most=3.1)),
            ),
            (10, "Flight halves each 5 s for a probe of the round trip.", "9 to 13 times a minute", (Limit(("B10",), "probes", least=9.0, most=13.0),)),
            (11, "After a pause there is no probe of the round trip.", "at least 90 % of the line", (Limit(("B11",), "after", least=90.0),)),
            (12, "Acknowledgements in bursts do not end STARTUP early.", "at least 95 % of the line from 1 s to 3 s", (Limit(("B12",), "early", least=95.0),)),
            (13, "Acknowledgements in bursts do not make it stall.", "at least 95 % of the line", (Limit(("B13",), "used", least=95.0),)),
            (
                14,
                "With a product of less than a packet four packets are under way.",
                "a wait of 0.71 s, 17.75 round trips, to a tenth",
                (Limit(("B14",), "sojourn_mean", least=0.9 * 17.75, most=1.1 * 17.75),),
            ),
            (15, "Ten times the rate is found by doubling probes.", "90 % of it within 15 s", (Limit(("B15",), "up", most=15.0),)),
            (
                16,
                "A tenth of the rate is found.",
                "a queue below a product within 10 s, and an estimate within 2 % at the end",
                (Limit(("B16",), "shrunk", most=10.0), Limit(("B16",), "estimate", least=98.0, most=102.0)),
            ),
            (17, "A policer does not make it lose for ever.", "at most 2 % lost from second 10 on", (Limit(("B17",), "policed", most=2.0),)),
            (18, "Packets out of order do not cost its rate.", "goodput of at least 90 % of the line", (Limit(("B18",), "goodput", least=90.0),)),
            (19, "A timeout that was none does not cost its rate.", "at least 90 % of the line from 10 s after it on", (Limit(("B19",), "after", least=90.0),)),
            (20, "After a probe of the round trip in STARTUP, STARTUP goes on.", "always", (Limit(("B20",), "back", least=100.0),)),
            (
                21,
                "Losses in PROBE_UP end it and lower the bound.",
                "PROBE_DOWN within 0.1 s of the first loss, before the plateau ends it; a bound no higher than before, and at least 0.7 of a product",
                (Limit(("B21",), "left", most=0.1), Limit(("B21",), "bound", most=100.0), Limit(("B21",), "left_of_product", least=70.0)),
            ),
            (
                22,
                "Where the application pauses in REFILL, the estimate stays and PROBE_UP follows.",
                "at least 98 % of the estimate, always PROBE_UP",
                (Limit(("B22",), "kept", least=98.0), Limit(("B22",), "up", least=100.0)),
            ),
        )
    ),
    "l4s": (
        Rule(
            "L2",
            "In its classic mode it sends no ECT(1).",
            "RFC 9331 4.3, item 1",
            "nothing of it in the low-latency queue",
            (Limit(("L2",), "low_latency", most=0.0),),
        ),
        Rule(
            "L3",
            "Where nothing marks, Reno does not starve beside it.",
            "RFC 9331 4.3, item 2",
            f"at least {STARVED:g} % of its share",
            (Limit(("L3a", "L3b"), "share", least=STARVED),),
        ),
    ),
}  # fmt: skip
"""Rows by suite."""

INVARIANT = 1.5
"""Ratio of marks in a round trip at different rates. chosen: half more than none."""


def judged(suite: str, values: Values, band: Band) -> list[Judged]:
    """Return the rows of a suite, judged by what was measured."""
    rows = [_row(rule, values) for rule in RULES[suite]]
    if suite == "general":
        rows.insert(1, _losses(values, band))
    if suite == "l4s":
        rows.insert(0, _invariance(values))
    return rows


def _row(rule: Rule, values: Values) -> Judged:
    seen: list[tuple[float, str]] = []
    titles = {(cell.item, number.name): number for cell in _all() for number in cell.numbers}
    for limit in rule.limits:
        for item in limit.items:
            value = values.get(item, {}).get(limit.number, Estimate(None)).value
            if value is None:
                continue
            number = titles[item, limit.number]
            beyond = max(limit.least - value, value - limit.most) / max(
                abs(limit.least if math.isfinite(limit.least) else limit.most), 1e-9
            )
            said = f"{item}, {number.title}: {significant(value, 3)} {number.unit}".strip()
            seen.append((beyond, said))
    if not seen:
        return Judged(rule.item, rule.statement, rule.source, "not judged", rule.expected, "not measured here")
    worst, said = max(seen)
    verdict = rule.broken if worst > 0 else "pass"
    count = sum(beyond > 0 for beyond, _ in seen)
    more = f", and {count - 1} more" if count > 1 else ""
    return Judged(rule.item, rule.statement, rule.source, verdict, rule.expected, said + more)


def _all() -> Sequence[Cell]:
    return (*general.CELLS, *bbr.CELLS, *states.CELLS, *l4s.CELLS)


def _losses(values: Values, band: Band) -> Judged:
    """Set losses of eight flows beside those of Reno and CUBIC."""
    statement, source = "It loses no more than Reno and CUBIC by far.", "RFC 9743 5.1.3"
    expected = "at most twice the higher of both"
    worst = (-math.inf, "")
    for cell in LOSS:
        value = values.get(cell.item, {}).get("lost", Estimate(None)).value
        known = band.values.get((cell.item, "lost"), {})
        if value is None or not {"linux-reno", "linux-cubic"} <= set(known):
            continue
        limit = 2 * max(known["linux-reno"], known["linux-cubic"])
        worst = max(
            worst,
            (
                value / limit,
                f"{cell.item}: {significant(value, 3)} % lost, Reno {significant(known['linux-reno'], 3)}, "
                f"CUBIC {significant(known['linux-cubic'], 3)}",
            ),
        )
    if not worst[1]:
        return Judged("G3", statement, source, "not judged", expected, "not measured here")
    return Judged("G3", statement, source, "warning" if worst[0] > 1 else "pass", expected, worst[1])


def _invariance(values: Values) -> Judged:
    statement = "Marks in a round trip do not depend on the rate."
    expected = f"the most is at most {INVARIANT:g} times the fewest; a window like DCTCP's has 2"
    found = [
        (value, cell.item)
        for cell in l4s.MARKS
        if (value := values.get(cell.item, {}).get("marks", Estimate(None)).value) is not None
    ]
    if len(found) < 2 or min(found)[0] <= 0:
        said = "no marks" if found else "not measured here"
        return Judged("L1", statement, "RFC 9331 4.3", "not judged", expected, said)
    ratio = max(found)[0] / min(found)[0]
    said = ", ".join(f"{item}: {significant(value, 3)}" for value, item in found)
    verdict = "fail" if ratio > INVARIANT else "pass"
    return Judged("L1", statement, "RFC 9331 4.3", verdict, expected, f"{significant(ratio, 3)} times; {said}")
