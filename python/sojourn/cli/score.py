"""`sojourn score`: Quality of Outcome, Apdex, round trips per minute and ratings of calls, of results and of files."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from sojourn.cli.arguments import Parser
    from sojourn.scores.judge import Outcome
    from sojourn.scores.observed import Subject
    from sojourn.scores.requirement import Requirement

__all__ = ["arguments", "execute"]


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.scores.requirement import USES

    parser.epilog = (
        "Reads what `sojourn run --out` and `sojourn study run` wrote, files of Flent and irtt, and CSV with the columns "
        "time_s and rtt_ms (empty where nothing came back), and perhaps kind (ping, tcp, tls, http, self) and load."
    )
    parser.add_argument(
        "paths", metavar="PATH", type=Path, nargs="+", help="Result directory or file."
    )
    parser.option(
        "--for", "USES", f"Who counts, of {', '.join(USES)} (game,call).", default="", dest="uses"
    )
    parser.option(
        "--requirements",
        "FILE",
        "A requirement of your own. May be repeated.",
        type=Path,
        action="append",
        default=[],
    )
    parser.flag("--strict", "Count what is lost as an endless delay as well.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """Print the scores, those that decide first in a sentence."""
    from sojourn.cli.console import note, print_json, print_table
    from sojourn.scores.observed import subjects_of

    needs = _needs(options)
    directions = [one.direction for one in needs]
    rows: list[dict[str, Any]] = []
    for path in options.paths:
        for subject in subjects_of(path, directions):
            found = _rows(subject, needs, strict=options.strict)
            rows += [{"path": str(path), "of": subject.name, **row} for row in found]
    if options.json:
        print_json({"scores": rows})
        return
    for row in rows[:1]:
        note(row["sentence"])
    print_table(
        ("of", "score", "value", "95 %", "decided by", "idle"),
        [
            (row["of"], row["score"], row["value"], _interval(row), row["decided_by"], row["idle"])
            for row in rows
        ],
    )
    for of in dict.fromkeys(row["of"] for row in rows):
        flags = dict.fromkeys(flag for row in rows if row["of"] == of for flag in row["flags"])
        if flags:
            note(f"{of}: {'; '.join(flags)}")


def _needs(options: Namespace) -> list[Requirement]:
    from sojourn.scores.requirement import read_requirement, requirement_of

    own = [read_requirement(path) for path in options.requirements]
    words = options.uses or ("" if own else "game,call")
    uses = dict.fromkeys(word.strip() for word in words.split(",") if word.strip())
    return [*(requirement_of(use) for use in uses), *own]


def _rows(subject: Subject, needs: list[Requirement], *, strict: bool) -> list[dict[str, Any]]:
    """Return the scores of a subject, one by one."""
    from sojourn.scores.judge import apdex_of, judge, rating_of

    rows: list[dict[str, Any]] = []
    for need in needs:
        outcomes = [
            (one, found)
            for one in subject.observed
            if one.direction == need.direction
            and (found := judge(one, need, loss_as_delay=strict, interval=_is_alone(subject)))
        ]
        if not outcomes:
            continue
        first = outcomes[0]
        idle = first[0].idle and judge(first[0].idle, need, loss_as_delay=strict, interval=False)
        value, low, high = _over_runs([found for _, found in outcomes])
        flags = dict.fromkeys((*first[0].flags, *first[1].flags))
        decided = first[1].decides if _is_alone(subject) else f"{first[1].decides} (first run)"
        rows.append(
            {
                "score": f"{'strict ' * strict}QoO {need.name}",
                "value": value,
                "low": low,
                "high": high,
                "latency": first[1].latency,
                "loss": first[1].loss,
                "throughput": first[1].throughput,
                "decided_by": decided,
                "idle": None if not idle else idle.value,
                "flags": list(flags),
                "method": first[0].method,
                "direction": need.direction,
                "samples": sum(len(one.delay_ms) for one, _ in outcomes),
                "seconds": _seconds(first[0].sent_s),
                "origin": need.origin,
                "sentence": f"{subject.name}: {value:.0f} of 100 for {_article(need.name)}, decided by {decided}.",
            }
        )
    for one in subject.observed[:1] if _is_alone(subject) else []:
        count = len(one.delay_ms)
        uses = {need.name for need in needs}
        if one.direction == "two-way" and uses & {"game", "cloud-game"}:
            rows.append(
                _plain(f"Apdex {SATISFIED_MS:g} ms", apdex_of(one, SATISFIED_MS), one.method, count)
            )
        if uses & {"call", "video-call"}:
            rows.append(_plain("R (G.107)", rating_of(one), one.method, count))
    if subject.responsiveness is not None:
        found = subject.responsiveness
        row = _plain("RPM", found.value, "draft-ietf-ippm-responsiveness-09", None)
        row["decided_by"] = f"foreign {found.foreign:.0f}, loaded {found.loaded:.0f}"
        rows.append({**row, "flags": [found.confidence]})
    return rows


SATISFIED_MS = 50.0
"""Round trips that satisfy a player. chosen: up to which a game is perfect in its requirement; four times that annoys."""


def _plain(score: str, value: float | None, method: str, samples: int | None) -> dict[str, Any]:
    """Return a score without parts."""
    return {
        "score": score,
        "value": value,
        "low": None,
        "high": None,
        "decided_by": "",
        "idle": None,
        "flags": [],
        "method": method,
        "samples": samples,
        "sentence": f"{score}: {value if value is None else round(value, 3)}.",
    }


def _is_alone(subject: Subject) -> bool:
    return len(subject.observed) <= 1


def _over_runs(found: list[Outcome]) -> tuple[float, float | None, float | None]:
    """Return the mean over runs and its interval; of one run its own."""
    if len(found) == 1:
        return found[0].value, found[0].low, found[0].high
    from sojourn.stats.estimate import bounded_mean_of
    from sojourn.stats.quantity import Quantity

    mean = bounded_mean_of([one.value for one in found], Quantity(0.0, 100.0))
    return mean.value or 0.0, mean.low, mean.high


def _interval(row: dict[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return ""
    return f"{row['low']:.3g} to {row['high']:.3g}"


def _article(name: str) -> str:
    return name if name == "web" else f"a {name.replace('-', ' ')}"


def _seconds(sent: Any) -> float:  # noqa: ANN401 - an array; NumPy is loaded where it is used
    return float(sent.max() - sent.min()) if len(sent) else 0.0
