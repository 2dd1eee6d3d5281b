"""`sojourn trace make`: a trace like one of LTE, of a satellite, of Wi-Fi."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser

LONGEST_S, FASTEST_MBPS = 36_000.0, 1_000.0
"""Longest and fastest trace. chosen: ten hours; a gigabit."""


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import bit_rate, span, whole_number

    parser.epilog = (
        "lte and wifi are opportunities, for --set access.downstream.link.opportunities=@FILE of a link of kind trace; starlink is a "
        "table of conditions, for --set access.downstream.conditions=@FILE of a line of kind serial."
    )
    parser.add_argument("kind", metavar="KIND", choices=("lte", "starlink", "wifi"), help="lte, starlink or wifi.")
    parser.option("--preset", "NAME", "Of lte: att or tmobile (att).", choices=("att", "tmobile"))
    parser.option("--direction", "WAY", "Of starlink: up or down (down).", choices=("up", "down"))
    parser.option("--seed", "N", "What decides it (1).", type=whole_number(0, 2**63 - 1), default=1)
    parser.option("--for", "SPAN", "How long it is.", type=span, required=True, dest="length")
    parser.option("--mean", "RATE", "Mean rate instead of the usual one, such as 20M.", type=bit_rate)
    parser.option("--out", "FILE", "New file.", type=Path, required=True)


def execute(options: Namespace) -> None:
    """Write a trace whose first lines say what made it."""
    from sojourn.base.errors import UsageError
    from sojourn.base.files import write_file
    from sojourn.base.output import refuse_used, writing
    from sojourn.cli.console import note
    from sojourn.traces.link_traces import LTE, make_lte, make_starlink, make_wifi, trace_text
    from sojourn.version import VERSION

    refuse_used(options.out)
    mean = None if options.mean is None else options.mean / 1e6
    if not 1 <= options.length <= LONGEST_S:
        raise UsageError(f"--for {options.length:g} s is out of range: 1 s to {LONGEST_S:g} s")
    if mean is not None and not 0.05 <= mean <= FASTEST_MBPS:
        raise UsageError(f"--mean is out of range: 0.05 to {FASTEST_MBPS:g} Mb/s")
    for option, kind in (("preset", "lte"), ("direction", "starlink")):
        if getattr(options, option) is not None and options.kind != kind:
            raise UsageError(f"--{option} is of {kind} only")
    what = f"sojourn {VERSION}: trace make {options.kind} --seed {options.seed} --for {options.length:g}s"
    if mean is not None:
        what += f" --mean {mean:g}"
    if options.kind == "starlink":
        direction = options.direction or "down"
        rows = make_starlink(options.length, options.seed, direction, mean)
        text = "time_s,rate_mbps,delay_ms,loss\n" + "".join(
            f"{at:.6f},{rate:.4f},{delay:.3f},{loss:.4f}\n" for at, rate, delay, loss in rows
        )
        note(f"{what} --direction {direction}: {len(rows)} conditions; shapes chosen, see the page")
    elif options.kind == "wifi":
        text = trace_text(make_wifi(options.length, options.seed, mean), f"{what} (chosen)")
    else:
        preset = options.preset or "att"
        text = trace_text(make_lte(LTE[preset], options.length, options.seed, mean), f"{what} --preset {preset}")
    with writing(options.out):
        write_file(options.out, text)
