"""`sojourn trace`: traces of links."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def show_arguments(parser: Parser) -> None:
    parser.add_argument(
        "files", metavar="FILE", type=Path, nargs="+", help="Trace of Mahimahi's form, or table of conditions (.csv)."
    )
    parser.flag("--json", "Print one JSON object.")


def show(options: Namespace) -> None:
    from dataclasses import asdict

    from sojourn.calibration.recording import opportunities_in
    from sojourn.cli.console import print_json, print_table
    from sojourn.traces.link_traces import likeness

    found = [(str(file), likeness(opportunities_in(file))) for file in options.files]
    if options.json:
        print_json({"traces": [{"file": file, **asdict(like)} for file, like in found]})
        return
    headings = (
        "file",
        "s",
        "mean Mb/s",
        "P5",
        "P50",
        "P95",
        "CV 1 s",
        "lag 1",
        "CV 100 ms",
        "gaps/min",
        "gap share",
        "longest s",
    )
    rows = [(file, *(float(f"{value:.3g}") for value in asdict(like).values())) for file, like in found]
    print_table(headings, rows)


def cut_arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import span

    parser.add_argument("file", metavar="FILE", type=Path, help="Trace of Mahimahi's form.")
    parser.option("--from", "SPAN", "Where it begins (0s).", type=span, default=0.0, dest="begin")
    parser.option("--for", "SPAN", "How long it is.", type=span, required=True, dest="length")
    parser.option("--out", "FILE", "New file.", type=Path, required=True)


def cut(options: Namespace) -> None:
    from sojourn.base.files import write_file
    from sojourn.base.output import refuse_used, writing
    from sojourn.cli.console import note
    from sojourn.traces.link_traces import cut_trace, read_trace, trace_text

    refuse_used(options.out)
    times = read_trace(options.file)
    part = cut_trace(times, options.begin, options.length)
    with writing(options.out):
        write_file(options.out, trace_text(part))
    note(f"{len(part)} of {len(times)} opportunities")


def join_arguments(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+", help="Traces of Mahimahi's form, in order.")
    parser.option("--out", "FILE", "New file.", type=Path, required=True)


def join(options: Namespace) -> None:
    from sojourn.base.errors import UsageError
    from sojourn.base.files import write_file
    from sojourn.base.output import refuse_used, writing
    from sojourn.cli.console import note
    from sojourn.traces.link_traces import join_traces, read_trace, trace_text

    refuse_used(options.out)
    if len(options.files) < 2:
        raise UsageError("one trace is joined to nothing", "sojourn trace join A B --out FILE")
    joined = join_traces([read_trace(path) for path in options.files])
    with writing(options.out):
        write_file(options.out, trace_text(joined))
    note(f"{len(joined)} opportunities in {joined[-1] / 1e3:g} s")


def convert_arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import opportunity_option, span

    parser.epilog = (
        "A table that ends in .csv, with the columns time_s and rate_mbps, becomes opportunities; a trace of opportunities becomes "
        "such a table, for --set access.downstream.conditions=@FILE of a line of kind serial."
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="Schedule (.csv) or trace.")
    opportunity_option(parser)
    parser.option("--step", "SPAN", "Steps of a schedule (200ms).", type=span, default=0.2)
    parser.option("--until", "SPAN", "Where a schedule ends: its last row has no end of its own.", type=span)
    parser.option("--out", "FILE", "New file.", type=Path, required=True)


def convert(options: Namespace) -> None:
    from sojourn.base.files import write_file
    from sojourn.base.output import refuse_used, writing
    from sojourn.calibration.recording import converted
    from sojourn.cli.console import note

    refuse_used(options.out)
    text, words = converted(options.file, opportunity=options.opportunity, step_s=options.step, until_s=options.until)
    with writing(options.out):
        write_file(options.out, text)
    note(words)


def record_arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import opportunity_option

    parser.epilog = (
        "A table that ends in .csv, with the columns time_us and bytes, is a receiver's log of packets and becomes opportunities. A "
        "download of Flent becomes a schedule of rates: samples without a backlog are filled from those beside them. Either says what "
        "the line does under a backlog, and nothing of lighter use."
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="Log of packets (.csv) or file of Flent.")
    opportunity_option(parser)
    parser.option("--out", "FILE", "New file.", type=Path, required=True)


def record(options: Namespace) -> None:
    from sojourn.base.files import write_file
    from sojourn.base.output import refuse_used, writing
    from sojourn.calibration.recording import recorded
    from sojourn.cli.console import note

    refuse_used(options.out)
    text, words = recorded(options.file, opportunity=options.opportunity)
    with writing(options.out):
        write_file(options.out, text)
    note(f"{words}; it says what the line does under a backlog, and nothing of lighter use")


LONGEST_S, FASTEST_MBPS = 36_000.0, 1_000.0
"""Longest and fastest trace. chosen: ten hours; a gigabit."""


def make_arguments(parser: Parser) -> None:
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


def make(options: Namespace) -> None:
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
