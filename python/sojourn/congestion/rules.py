"""Limits of a controller's numbers, each with the document that asks for it.

RFC 9743 has no thresholds, so those of its rows are chosen: they tell collapse, starvation and a flow that does not come back from
what is better or worse.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sojourn.base.digits import significant
from sojourn.congestion import bbr, general, l4s, states
from sojourn.congestion.general.alone import LOSS
from sojourn.congestion.general.beside import SHARES
from sojourn.congestion.general.managed import ANSWERED, MANAGED
from sojourn.congestion.general.paths import CHANGE, LATEST_S
from sojourn.congestion.general.response import FREQUENT, RARE, cubic_window, reno_window
from sojourn.congestion.scenario import Cell
from sojourn.judging.bands import Band
from sojourn.report.checks import Judged
from sojourn.stats.estimate import Estimate

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


GIVEN = 13.0
"""Least part of the window that is given back at a mark, in %. chosen: RFC 3168 asks for what a loss would take, and RFC 8511 lets it be
15 %; the window, which is looked at each 5 ms, may have grown meanwhile."""

MOST_MARKED = 50.0
"""Most packets in % that a controller whose answer is in proportion may have marked. chosen: DCTCP's window has two marks in each round
trip, 6 % of 33 packets; one that gives a hundredth of that back has nearly all marked."""


@dataclass(frozen=True)
class Law:
    """How much a controller may keep at a loss, and how large its window is, by its document."""

    source: str
    kept: tuple[float, float]
    """Of the window after a loss, in %."""
    frequent: tuple[float, float]
    """Mean window with one loss in 200 packets."""
    rare: tuple[float, float]
    """The same with one in 10,000."""


def _between(low: float, high: float) -> tuple[float, float]:
    """Return the band around a window. chosen: recovery, delayed acknowledgements and growth by whole segments move it so far."""
    return 0.8 * low, 1.2 * high


RENO = Law(
    "RFC 5681 3.1",
    (40.0, 56.0),
    # With delayed acknowledgements a window may grow by a segment in two round trips.
    _between(reno_window(FREQUENT, 2), reno_window(FREQUENT)),
    _between(reno_window(RARE, 2), reno_window(RARE)),
)

CUBIC = Law(
    "RFC 9438 4.6, 5.1",
    (60.0, 77.0),
    _between(cubic_window(FREQUENT), cubic_window(FREQUENT)),
    _between(cubic_window(RARE), cubic_window(RARE)),
)

EITHER = Law(
    "RFC 5681 3.1; RFC 9438 4.6, 5.1",
    (RENO.kept[0], CUBIC.kept[1]),
    (RENO.frequent[0], CUBIC.frequent[1]),
    (RENO.rare[0], CUBIC.rare[1]),
)

LAWS = {
    "cubic": CUBIC,
    "cubic-linux": CUBIC,
    "cubic-v21": CUBIC,
    "reno": RENO,
    "dctcp": RENO,
    "prague": RENO,
    "ledbat": RENO,
    "ledbat-ns2": RENO,
}
"""Laws by the kind of controller; those of RFC 8257, 9330 and 6817 answer losses as Reno does. Others may do as either."""

BBR = "draft-ietf-ccwg-bbr"

RFC9002 = "RFC 9002"

LETS: Mapping[tuple[str, str], str] = {
    **{
        (kind, row): f"{BBR} lets it: what is sent follows a model of the path, and no window that each loss shrinks"
        for kind in ("bbr1", "bbr2", "bbr3")
        for row in ("G16", "G17", "G18", "G19", "G20")
    },
    **{
        (kind, f"B{number}"): f"{kind} is older than this draft, which is about version 3"
        for kind in ("bbr1", "bbr2")
        for number in range(1, 23)
    },
    (
        "bbr3",
        "B4",
    ): "Google's version 3 lets it: Drain lasts until the queue is empty unless `controller.drain_rounds = 3` says so",
    **{
        (kind, "G11"): f"{BBR} lets it: its packets are not ECN-capable unless `ecn` says so, as for this row"
        for kind in ("bbr1", "bbr3")
    },
    **{
        (stack, row): why
        for stack in ("quinn:reno", "quinn:cubic", "s2n-quic:cubic")
        for row, why in (
            (
                "G1",
                "RFC 9000 lets it: a connection without an answer ends after its idle timeout, 30 s here (10.1), and the next "
                f"one begins anew; {RFC9002} lets two packets leave at each timeout (6.2.4)",
            ),
            ("G19", f"{RFC9002} lets it: a timeout alone takes nothing back (6.2)"),
        )
    },
    **{
        (stack, row): f"{RFC9002} lets it: {why}"
        for stack in ("quic", "quic-cubic")
        for row, why in (
            ("G1", "two packets at each timeout (6.2.4), and a window of two at least (7.2)"),
            (
                "G19",
                "a timeout alone takes nothing back (6.2); persistent congestion, known by an acknowledgement, does (7.6)",
            ),
            ("G20", "the window stays, and what is sent after a rest is paced (7.7)"),
        )
    },
    **{
        (stack, "G20"): "ns-3 of that year lets it: it knows no rest, for which RFC 5681 4.1 says SHOULD"
        for stack in ("ns3-2019", "docsis-ns3-1.2")
    },
    ("ns2-reno", "G20"): "ns-2's TCP/Reno lets it: its timer runs on in a rest and closes the window",
    **{
        ("ns2-linux-cubic", row): "Linux 2.6 as in ns-2.35 lets it: β is 819/1024 there, for which RFC 9438 has 0.7"
        for row in ("G16", "G17")
    },
    **{
        (stack, "G16"): "the LEDBAT module for ns-2 lets it: the window becomes half of a threshold that was halved"
        for stack in ("ns2-ledbat", "ns2-ledbat-25ms")
    },
    (
        "ns2-ledbat-25ms",
        "G15",
    ): "RFC 6817 lets it: a path that becomes longer by more than the target is a queue until the base history (2.4.2) forgets the shorter one",
    (
        "ns2-linux-reno",
        "G16",
    ): "Linux 2.6.22 as in ns-2.35 lets it: `tcp_reno_min_cwnd` leaves half of a threshold that was halved",
}
"""Rows that a stack, or a kind of controller, breaks as its document or its model wants it, and why."""


class Judges(Protocol):
    """Judgement of a controller by a row."""

    @functools.cached_property
    def law(self) -> str:
        """The kind of controller whose document it follows; empty if it may follow either."""
        ...

    @property
    def stack_name(self) -> str:
        """The stack that it is, or whose document it follows."""
        ...

    @property
    def is_proportional(self) -> bool:
        """True if its answer to marks is in proportion to them."""
        ...

    @property
    def sets_ecn(self) -> bool:
        """True if a setting has turned ECN on."""
        ...


def _answers(*, is_proportional: bool) -> Rule:
    items = [cell.item for cell in MANAGED]
    answered = Limit(items, "answered", least=50.0)
    if is_proportional:
        expected = f"the window falls within three round trips of at least half of the marks; at most {MOST_MARKED:g} % are marked"
        limits = (answered, Limit(items, "marked", most=MOST_MARKED))
    else:
        expected = f"the window falls within three round trips of at least half of the marks, by at least {GIVEN:g} %"
        limits = (answered, Limit(ANSWERED, "given", least=GIVEN))
    return Rule(
        "G11", "With ECN turned on, it answers marks.", "RFC 9743 7.1; RFC 3168 6.1.2; RFC 8511", expected, limits
    )


def _responses(law: Law) -> Sequence[Rule]:
    kept, frequent, rare = law.kept, law.frequent, law.rare
    return (
        Rule(
            "G16",
            "At a loss it gives back what its document says.",
            law.source,
            f"{kept[0]:g} to {kept[1]:g} % of the window are left",
            (Limit(("G16b",), "kept", *kept),),
        ),
        Rule(
            "G17",
            "Its window follows the rate of losses as its document says.",
            f"{law.source}; Mathis and others 1997",
            f"{frequent[0]:.0f} to {frequent[1]:.0f} segments with one loss in {FREQUENT}, {rare[0]:.0f} to {rare[1]:.0f} with one in {RARE:,}",
            (Limit(("G16a",), "window", *frequent), Limit(("G16b",), "window", *rare)),
        ),
        Rule(
            "G18",
            "In congestion avoidance it grows by a segment in a round trip at most.",
            "RFC 5681 3.1; RFC 9438 4.3",
            f"at most {MOST_GROWTH:g}, with one loss in {FREQUENT} packets",
            (Limit(("G16a",), "growth", most=MOST_GROWTH),),
        ),
        Rule(
            "G19",
            "After a timeout it begins anew, up to a threshold below the window before.",
            "RFC 5681 3.1; RFC 9438 4.8",
            "at most a tenth of the window is left, and the threshold is at most 77 % of it",
            (Limit(("G19",), "left", most=10.0), Limit(("G19",), "threshold", most=77.0)),
        ),
        Rule(
            "G20",
            "After a minute of rest it begins as at its beginning.",
            "RFC 5681 4.1",
            "no more than the initial window, and half of it at least",
            (Limit(("G20",), "restart", least=50.0, most=110.0),),
        ),
    )


MOST_GROWTH = 1.3
"""Segments in a round trip. chosen: a tenth of one for the round trip that is cut off at either end, and as much again."""


def judged(suite: str, values: Values, band: Band, controller: Judges | None = None) -> list[Judged]:
    """Return the rows of a suite, judged by what was measured; without a controller as of one that may follow either law."""
    rules = list(RULES[suite])
    if suite == "general":
        place = next(n for n, rule in enumerate(rules) if rule.item == "G15")
        rules.insert(place, _answers(is_proportional=controller is not None and controller.is_proportional))
        rules += _responses(EITHER if controller is None else LAWS.get(controller.law, EITHER))
    rows = [_row(rule, values) for rule in rules]
    if controller is not None:
        rows = [_let(row, controller) for row in rows]
    if suite == "general":
        rows.insert(1, _losses(values, band))
    if suite == "l4s":
        rows.insert(0, _invariance(values))
    return rows


def _let(row: Judged, controller: Judges) -> Judged:
    """Return a row that failed as a warning if a document lets it."""
    if row.verdict != "fail" or (row.item == "G11" and controller.sets_ecn):
        return row
    why = LETS.get((controller.law, row.item)) or LETS.get((controller.stack_name, row.item))
    return replace(row, verdict="warning", found=f"{row.found}; {why}") if why else row


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
