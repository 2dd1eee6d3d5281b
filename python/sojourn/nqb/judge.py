"""Rows about a flow of a capture: may it be marked (N), and what would a modem do with it (Q).

Source: RFC 9956, read in its last draft (draft-ietf-tsvwg-nqb-33); RFC 9957 with its default values; RFC 9331 section 4.3.
Deviations: the packets are sent as they were captured, whatever the queue does to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import sojourn._engine as _engine
from sojourn.base.digits import significant
from sojourn.captures.packets import CaptureFile, Flow
from sojourn.report.checks import Judged

CAPACITY_BPS = 50_000_000
"""Capacity of the path. Source: RFC 9956, whose example is 50 Mb/s."""

RATES_BPS = tuple(mbps * 1_000_000 for mbps in (10, 20, 50, 100, 200, 1000))
"""Rates of services that are tried (specification of captures, 6.1)."""

SHARE = 100
"""A sender may use one part in a hundred of the path. Source: RFC 9956, 1 %."""

NQB = 45
"""DSCP. Source: RFC 9956."""

MOST_COPIES, COPIED = 64, 1000
"""Flows beside one another at most, and packets of each. chosen: more than a household has, for 20 s of a call."""

MOST_IN_BURST = 2000
"""Packets of a burst at most. chosen: 3 MB of the largest."""

BUFFER_S = 0.010
"""Shallow buffer. Source: RFC 9956, at most 10 ms."""

VARIES = 4.0
"""A rate that varies by more between seconds is of something that seeks capacity (specification of captures, 6.2)."""

SHORTEST_S = 10.0
"""Seconds below which a capture says little. chosen: some hundred packets of a call."""


LONGEST_S = 3600.0
"""Seconds of a flow that are sent through a modem's queue, a buffer and policers. Source: `LONGEST_REPLAY` of the engine."""


@dataclass(frozen=True)
class Question:
    """Question to every flow."""

    capacity_bps: int = CAPACITY_BPS
    rates_bps: tuple[int, ...] = RATES_BPS
    mtu: int = 1500
    protection: bool = True
    """True if the modem's side is asked, too."""
    uploads: bool = True
    """True if it is asked beside an upload."""


@dataclass(frozen=True)
class At:
    """Outcome of a flow at one rate."""

    bps: int
    sanctioned: int
    dropped: int
    score_ms: float
    delay_at_score_ms: float
    longest_ms: float
    copies: int
    copies_with_upload: int | None
    sanctioned_with_upload: int | None
    burst: int
    overflow: int


@dataclass
class Verdict:
    """All that was found of a flow."""

    flow: Flow
    may_be_marked: bool
    least_capacity_bps: int | None
    """Capacity from which it may be marked; `None` if it never may."""
    packets: int
    """Packets, those of an offload cut."""
    at: list[At] = field(default_factory=list[At])
    rows: list[Judged] = field(default_factory=list[Judged])
    caveats: list[str] = field(default_factory=list[str])

    def sanctioned_at(self, bps: int) -> int | None:
        """Return how many packets a modem would throw out at a rate; `None` if that was not asked."""
        return next((at.sanctioned for at in self.at if at.bps == bps), None)

    @property
    def failed(self) -> bool:
        """True if a row failed."""
        return any(row.verdict == "fail" for row in self.rows)


def judge(capture: CaptureFile, flow: Flow, question: Question, tell: Callable[[str], None]) -> Verdict:
    """Judge a flow; `tell` hears what is being done."""
    content, place, mtu = capture.content, flow.place, question.mtu
    like = content.likeness(place, mtu)
    share_bps = question.capacity_bps // SHARE
    most, begins_s, ends_s, beyond = content.envelope(place, mtu, share_bps)
    least = content.least_rate(place, mtu)
    dscp = dict(like["dscp"])
    packets = flow.packets
    found = Verdict(
        flow, beyond == 0, None if least is None else SHARE * least, packets, caveats=_caveats(capture, flow, like)
    )
    capacity = mbps(question.capacity_bps)
    found.rows.append(
        Judged(
            "N1",
            "No interval T has more bytes than 1 % of the path's capacity sends in T, and one largest packet.",
            "RFC 9956, senders",
            "fail" if beyond else "pass",
            f"at most {mtu} B beyond {significant(share_bps / 1e3)} kb/s, 1 % of {capacity}",
            f"{most:,} B within {1e3 * (ends_s - begins_s):.3f} ms, {begins_s:.3f} s after the first packet; "
            f"{beyond:,} of {packets:,} packets are beyond"
            if beyond
            else f"at most {most:,} B",
        )
    )
    found.rows.append(
        Judged(
            "N2",
            "Capacity that a path needs for that.",
            "RFC 9956, senders",
            "shown",
            "",
            f"never: more than {mtu} B come at once"
            if found.least_capacity_bps is None
            else f"from {mbps(found.least_capacity_bps)} on",
        )
    )
    found.rows.append(_marking(dscp.get(NQB, 0), packets, dscp, may=found.may_be_marked))
    found.rows.append(_ecn(like["ecn"], packets, flow))
    at_line = question.capacity_bps / 8 * 250e-6
    found.rows.append(
        Judged(
            "N5",
            "Packets that come closer than 1 ms are a burst.",
            "RFC 9331 §4.3, RFC 9956",
            "shown",
            f"250 µs at {capacity} are {at_line:,.0f} B",
            f"{like['bursts']:,} bursts; bytes: P50 {like['burst_p50']:,}, P99 {like['burst_p99']:,}, largest {like['burst_largest']:,}",
        )
    )
    if question.protection:
        _protection(capture, found, question, like, tell)
    return found


def _marking(marked: int, packets: int, dscp: dict[int, int], *, may: bool) -> Judged:
    words = "all packets" if marked == packets else f"{marked:,} of {packets:,}" if marked else "no packet"
    others = ", ".join(f"{value}: {count:,}" for value, count in sorted(dscp.items()) if value != NQB)
    return Judged(
        "N3",
        "Only what keeps the sender's rule is marked DSCP 45.",
        "RFC 9956, senders",
        "fail" if marked and not may else "pass",
        "DSCP 45 if N1 holds, and else another",
        f"{words} with DSCP 45" + (f"; others by DSCP: {others}" if others else ""),
    )


def _ecn(ecn: Sequence[int], packets: int, flow: Flow) -> Judged:
    ect1 = int(ecn[1])
    return Judged(
        "N4",
        "What does not answer to marks is not sent as ECT(1).",
        "RFC 9331 §4.3",
        "warning" if ect1 and flow.protocol != "tcp" else "pass",
        "Not-ECT, or a sender that answers to marks",
        f"ECT(1) on {ect1:,} of {packets:,}; CE on {int(ecn[3]):,}",
    )


def _caveats(capture: CaptureFile, flow: Flow, like: dict[str, Any]) -> list[str]:
    found: list[str] = []
    if like["longer_than_mtu"]:
        found.append(
            f"{like['longer_than_mtu']:,} packets are longer than the largest frame, as an offload leaves them: they are cut, with no time "
            "between their pieces, so bursts are upper bounds. Capture with offloads off: ethtool -K DEVICE tso off gso off gro off."
        )
    if like["equal_stamps"] * 20 > flow.packets:
        found.append(f"{like['equal_stamps']:,} packets have the time of the one before: stamps may be of batches.")
    if flow.out_of_order:
        found.append(f"{flow.out_of_order:,} packets have earlier times than those before: sorted.")
    if like["duration_s"] < SHORTEST_S:
        found.append(f"The flow lasts {like['duration_s']:.1f} s: a longer one says more.")
    if like["duration_s"] > LONGEST_S:
        found.append("The flow lasts more than an hour: rows Q1 to Q5 are of its first hour.")
    if _seeks_capacity(flow, like):
        found.append(
            "It seeks capacity, as TCP does: here it sends as it was captured, and would send otherwise behind another queue. Such "
            "traffic is queue-building by its nature."
        )
    if capture.content.is_cut:
        found.append("The file ends within a packet.")
    return found


def _seeks_capacity(flow: Flow, like: dict[str, Any]) -> bool:
    """Tell whether it is TCP, or its rate varies as that of such traffic does."""
    rates = [rate for rate in like["bytes_each_second"] if rate]
    return flow.protocol == "tcp" or (len(rates) > 2 and max(rates) > VARIES * min(rates) and max(rates) * 8 > 1e6)


def _protection(
    capture: CaptureFile, found: Verdict, question: Question, like: dict[str, Any], tell: Callable[[str], None]
) -> None:
    content, place, mtu = capture.content, found.flow.place, question.mtu
    length = min(int(like["median_length"]), mtu)
    spacing = int(like["gap_in_bursts_ns"] or 0)
    rates = sorted({*question.rates_bps, question.capacity_bps})
    for bps in rates:
        tell(f"Queue Protection at {mbps(bps)}")
        alone = content.protected(place, mtu, bps, upload=False)
        beside = content.protected(place, mtu, bps, upload=True) if question.uploads else None
        first = (place, COPIED)
        copies = 0 if alone[1] else content.with_copies(first, mtu, bps, upload=False, most=MOST_COPIES)
        with_upload = None
        if beside is not None:
            with_upload = 0 if beside[1] else content.with_copies(first, mtu, bps, upload=True, most=MOST_COPIES)
        found.at.append(
            At(
                bps,
                alone[1],
                alone[2],
                1e3 * alone[3],
                1e3 * alone[4],
                1e3 * alone[5],
                copies,
                with_upload,
                None if beside is None else beside[1],
                _engine.largest_burst(length, spacing, bps, MOST_IN_BURST),
                content.overflow(place, mtu, bps, BUFFER_S),
            )
        )
        found.packets = alone[0]
    own = next(at for at in found.at if at.bps == question.capacity_bps)
    capacity, packets = mbps(question.capacity_bps), found.packets
    found.rows += [
        Judged(
            "Q1",
            "Queue Protection moves no packet of it, alone.",
            "RFC 9957 §4, default values",
            "fail" if own.sanctioned else "pass",
            f"0 of {packets:,} packets at {capacity}",
            f"{own.sanctioned:,} moved, {own.dropped:,} lost; highest score {own.score_ms:.3f} ms, at a delay of {own.delay_at_score_ms:.3f} ms",
        ),
        Judged(
            "Q2",
            "How many of its like have room, alone and beside an upload.",
            "RFC 9957 §4",
            "shown",
            "",
            f"{_copies(own.copies)} at {capacity}"
            + ("" if own.copies_with_upload is None else f"; beside an upload {_copies(own.copies_with_upload)}"),
        ),
        Judged(
            "Q3",
            f"The largest burst of packets of {length} B, {spacing / 1e3:g} µs apart, on an idle line.",
            "RFC 9957 §4",
            "shown",
            "",
            f"{own.burst:,} packets at {capacity}",
        ),
        Judged(
            "Q4",
            "A buffer of 10 ms at the line's rate does not overflow.",
            "RFC 9956, nodes",
            "shown",
            "",
            f"{own.overflow:,} of {packets:,} packets lost at {capacity}",
        ),
        _policers(capture, found, question),
    ]


def _policers(capture: CaptureFile, found: Verdict, question: Question) -> Judged:
    content, place, mtu = capture.content, found.flow.place, question.mtu
    conventional = content.policed(place, mtu, question.capacity_bps // SHARE, mtu)
    five = question.capacity_bps // 20
    between = content.policed(place, mtu, five, max(five // 80, mtu))
    share = [100 * count / max(found.packets, 1) for count in (conventional, between)]
    return Judged(
        "Q5",
        "What policers would take: 1 % of the capacity with one packet of burst, and 5 % with 100 ms.",
        "RFC 9956, traffic protection and interconnection",
        "shown",
        "",
        f"{share[0]:.2f} % and {share[1]:.2f} % of packets beyond, at {mbps(question.capacity_bps)}",
    )


def _copies(count: int) -> str:
    return f"{MOST_COPIES} or more" if count >= MOST_COPIES else str(count)


def mbps(bps: int) -> str:
    """Return a rate in words."""
    return f"{significant(bps / 1e6)} Mb/s"
