"""`sojourn histogram`: quantiles of delay from the bins that a modem or a CMTS has counted."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser
    from sojourn.field.histogram import LatencyHistogram, Quantile

SHARES = "50,90,95,99,99.9"


def arguments(parser: Parser) -> None:
    parser.epilog = (
        "CSV, a row for each bin: from_ms, to_ms (empty of the last), packets; or a row for each report: edges_ms and "
        "counts, numbers between blanks. longest_ms ends the last bin. Other columns say whose it is."
    )
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+", help="Reports of devices.")
    parser.option("--percentiles", "LIST", f"Which ones ({SHARES}).", default=SHARES)
    parser.flag("--log", "Place them by the logarithm of the delay within a bin.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    from sojourn.cli.console import print_json, print_table, say
    from sojourn.field.histogram import read_histograms

    shares = _shares(options.percentiles)
    found = [
        (histogram, histogram.quantiles(shares, logarithmic=options.log))
        for path in options.files
        for histogram in read_histograms(path)
    ]
    if options.json:
        print_json(
            {
                "histograms": [
                    {
                        "name": histogram.name,
                        "packets": histogram.packets,
                        "longest_ms": histogram.longest_ms,
                        "quantiles": [vars(one) for one in quantiles],
                    }
                    for histogram, quantiles in found
                ]
            }
        )
        return
    say(_sentence(found))
    print()
    rows = [
        (histogram.name, f"P{100 * one.share:g}", _estimate(one), _between(one))
        for histogram, quantiles in found
        for one in quantiles
    ]
    print_table(("of", "quantile", "estimate, ms", "between, ms"), rows)


def _shares(said: str) -> list[float]:
    from sojourn.base.errors import UsageError

    try:
        shares = [float(word) / 100 for word in said.split(",")]
    except ValueError:
        shares = [-1.0]
    if not all(0 <= share <= 1 for share in shares):
        raise UsageError(f'--percentiles "{said}" are none', "numbers from 0 to 100, such as 50,99")
    return shares


def _sentence(found: list[tuple[LatencyHistogram, list[Quantile]]]) -> str:
    """Say the 99th percentile of the worst, and how far it may be off."""
    from sojourn.field.histogram import LONGEST_MS

    worst = [
        (one.low_ms if one.estimate_ms is None else one.estimate_ms, histogram, one)
        for histogram, _ in found
        if (one := histogram.quantile(0.99)) is not None
    ]
    if not worst:
        return "No packets were counted."
    _, histogram, one = max(worst, key=lambda item: min(item[0], LONGEST_MS))
    subject = histogram.name or "the device"
    who = f"{subject}, the worst of {len(worst)}," if len(worst) > 1 else subject
    if one.high_ms is None:
        return f"99 % of the packets of {who} wait less than some time above {one.low_ms:g} ms: it lies in the last bin, which has no upper bound."
    return f"99 % of the packets of {who} wait at most about {_estimate(one)} ms, and surely no more than {one.high_ms:.4g}."


def _estimate(one: Quantile) -> str:
    return "" if one.estimate_ms is None else f"{one.estimate_ms:.4g}"


def _between(one: Quantile) -> str:
    return f"{one.low_ms:.4g} to {'?' if one.high_ms is None else f'{one.high_ms:.4g}'}"
