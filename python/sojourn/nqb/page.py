"""Results of judged flows: a sentence, a page, an object for programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.base.digits import significant
from sojourn.captures.packets import CaptureFile
from sojourn.nqb.judge import MOST_COPIES, Question, Verdict, mbps
from sojourn.report.checks import SCHEMA, Block, Section, rows_table, write_check_page

LEFT_OUT = (
    "Whether the sender answers to congestion: a capture shows one course of events, and no answer to another.",
    "Marking that is rewritten on the way: that needs captures of both ends.",
    "The path before the place of the capture: it has changed the spacing, and the sender's own is another.",
)
"""Questions that a capture cannot answer."""


def sentence(verdicts: Sequence[Verdict], question: Question, *, addresses: bool) -> str:
    """Return what is said first: whether it may be marked, and whether it would be thrown out."""
    if len(verdicts) > 1:
        may = sum(one.may_be_marked for one in verdicts)
        text = f"{may} of {len(verdicts)} flows may be marked NQB on a path of {mbps(question.capacity_bps)}"
        if question.protection:
            out = sum(bool(one.sanctioned_at(question.capacity_bps)) for one in verdicts)
            text += f", and Queue Protection there would throw packets of {out or 'none'} out"
        return f"{text}."
    (one,) = verdicts
    name = one.flow.words(addresses=addresses)
    capacity = mbps(question.capacity_bps)
    sanctioned = one.sanctioned_at(question.capacity_bps)
    if one.may_be_marked:
        text = f"{name} may be marked NQB on a path of {capacity}: it needs {mbps(one.least_capacity_bps or 0)}"
    elif one.least_capacity_bps is None:
        text = f"{name} may not be marked NQB on any path: more than {question.mtu} B come at once"
    else:
        text = f"{name} may not be marked NQB on a path of {capacity}: it needs {mbps(one.least_capacity_bps)}"
    if sanctioned is None:
        return f"{text}."
    joint = "and" if bool(sanctioned) != one.may_be_marked else "yet"
    if not sanctioned:
        return f"{text}, {joint} Queue Protection throws none of its {one.packets:,} packets out there."
    return f"{text}, {joint} Queue Protection throws {sanctioned:,} of its {one.packets:,} packets out there."


def write_page(
    directory: Path,
    capture: CaptureFile,
    verdicts: Sequence[Verdict],
    question: Question,
    *,
    addresses: bool,
    facts: Sequence[str],
) -> None:
    """Write `report.html` into a new directory."""
    write_check_page(
        directory,
        title="May it be marked NQB?",
        headline=sentence(verdicts, question, addresses=addresses),
        facts=[*facts, *capture.caveats],
        sections=[
            _section(number, one, alone=len(verdicts) == 1, addresses=addresses)
            for number, one in enumerate(verdicts, start=1)
        ],
        left_out=LEFT_OUT,
        command="check-nqb",
    )


def _section(number: int, one: Verdict, *, alone: bool, addresses: bool) -> Section:
    failed = sum(row.verdict == "fail" for row in one.rows)
    rows = rows_table(
        f"rows-{number}",
        "Rows",
        "N: may it be marked, by the rule for senders. Q: what a modem, a short buffer and policers would do with it.",
        one.rows,
    )
    blocks = [Block(rows, "" if alone else f"{failed} of {len(one.rows)} rows fail", failed > 0)]
    if one.at:
        table = _rates(number, one)
        blocks.append(Block(table, "" if alone else table.title))
    return Section(
        f"flow-{number}", blocks, f"Flow {one.flow.number}: {one.flow.words(addresses=addresses)}", one.caveats
    )


def _rates(number: int, one: Verdict) -> PlainTable:
    def copies(count: int | None) -> str:
        return "–" if count is None else f"≥ {MOST_COPIES}" if count >= MOST_COPIES else str(count)

    return PlainTable(
        f"rates-{number}",
        "Through the queue of a modem, by rate of the service",
        "Low Latency DOCSIS with its default values, packets marked DSCP 45: moved to the classic queue by Queue Protection, lost; highest "
        "score and the delay at it; how many such flows have room; the largest burst on an idle line; losses of a buffer of 10 ms.",
        (
            "rate",
            "moved",
            "lost",
            "highest score",
            "delay at it",
            "longest wait",
            "moved beside an upload",
            "such flows",
            "beside an upload",
            "largest burst",
            "lost of 10 ms",
        ),
        tuple(
            tuple(
                PlainCell(text)
                for text in (
                    mbps(at.bps),
                    f"{at.sanctioned:,}",
                    f"{at.dropped:,}",
                    f"{significant(at.score_ms)} ms",
                    f"{significant(at.delay_at_score_ms)} ms",
                    f"{significant(at.longest_ms)} ms",
                    "–" if at.sanctioned_with_upload is None else f"{at.sanctioned_with_upload:,}",
                    copies(at.copies),
                    copies(at.copies_with_upload),
                    f"{at.burst:,} packets",
                    f"{at.overflow:,}",
                )
            )
            for at in one.at
        ),
    )


def as_json(
    capture: CaptureFile, verdicts: Sequence[Verdict], question: Question, *, addresses: bool
) -> dict[str, Any]:
    """Return all of it for programs, by the schema `sojourn-check 1`."""
    return {
        "schema": SCHEMA,
        "headline": sentence(verdicts, question, addresses=addresses),
        "capacity_bps": question.capacity_bps,
        "mtu": question.mtu,
        "caveats": capture.caveats,
        "flows": [
            {
                "number": one.flow.number,
                "flow": one.flow.words(addresses=addresses),
                "packets": one.packets,
                "bytes": one.flow.bytes,
                "may_be_marked": one.may_be_marked,
                "least_capacity_bps": one.least_capacity_bps,
                "caveats": one.caveats,
                "rows": [row.as_json() for row in one.rows],
                "rates": [vars(at) for at in one.at],
            }
            for one in verdicts
        ],
    }
