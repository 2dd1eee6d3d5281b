"""`sojourn score`: Quality of Outcome, Apdex, round trips per minute and ratings of calls, of results and of files."""

from __future__ import annotations

import math
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from sojourn.cli.arguments import Parser

MOST_TELR = 200.0
"""chosen: an inaudible echo; G.107 allows 5 to 65 dB."""


def arguments(parser: Parser) -> None:
    from sojourn.scores.requirement import USES

    parser.epilog = (
        "Reads what `sojourn run --out` and `sojourn study run` wrote, files of Flent and irtt, and CSV with the columns "
        "time_s and rtt_ms (empty where nothing came back), and perhaps kind (ping, tcp, tls, http, self) and load."
    )
    parser.add_argument("paths", metavar="PATH", type=Path, nargs="+", help="Result directory or file.")
    parser.option("--for", "USES", f"Who counts, of {', '.join(USES)} (game,call).", default="", dest="uses")
    parser.option(
        "--requirements", "FILE", "A requirement of your own. May be repeated.", type=Path, action="append", default=[]
    )
    parser.option(
        "--telr",
        "DB",
        "Echo that callers hear of themselves, for R: talker echo loudness rating in dB, or `none` (65).",
        default="65",
    )
    parser.flag("--strict", "Count what is lost as an endless delay as well.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    from sojourn.cli.console import note, print_json, print_table
    from sojourn.scores.rows import score

    rows = score(
        options.paths,
        options.uses,
        requirements=options.requirements,
        loss_as_delay=options.strict,
        telr=_telr(options.telr),
    )
    if options.json:
        print_json({"scores": rows})
        return
    for row in rows[:1]:
        note(row["sentence"])
    print_table(
        ("of", "score", "value", "95 %", "decided by", "idle"),
        [(row["of"], row["score"], row["value"], _interval(row), row["decided_by"], row["idle"]) for row in rows],
    )
    for of in dict.fromkeys(row["of"] for row in rows):
        flags = dict.fromkeys(flag for row in rows if row["of"] == of for flag in row["flags"])
        if flags:
            note(f"{of}: {'; '.join(flags)}")


def _telr(word: str) -> float | None:
    """Return a talker echo loudness rating in dB, `None` for `none`."""
    from sojourn.base.errors import UsageError

    if word == "none":
        return None
    try:
        telr = float(word)
    except ValueError:
        telr = math.nan
    if not 0 <= telr <= MOST_TELR:
        message = f"--telr {word} is no talker echo loudness rating"
        raise UsageError(message, hint=f"a number of dB from 0 to {MOST_TELR:g}, or none")
    return telr


def _interval(row: dict[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return ""
    return f"{row['low']:.3g} to {row['high']:.3g}"
