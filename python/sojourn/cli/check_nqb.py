"""`sojourn check-nqb`: whether an application may mark its packets NQB, and whether a modem would throw them out."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import bit_rate, whole_number

    parser.epilog = (
        "Exit status 1: a flow breaks the sender's rule at the capacity (N1), or a modem of that rate would move its packets (Q1). "
        "Only headers are read, and addresses are printed as letters. Example: sojourn check-nqb call.pcap --flow 'udp and port 3478'"
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="Capture: pcap or pcapng.")
    parser.option(
        "--flow",
        "FILTER",
        "Only these flows: a number of `sojourn capture show`, or words as in 'udp and port 3478' (default: all of more than 100 packets).",
    )
    parser.option("--capacity", "RATE", "Capacity of the path (50Mb/s).", type=bit_rate)
    parser.option(
        "--rate",
        "RATE",
        "One more rate of a service at which Queue Protection is tried. May be repeated.",
        type=bit_rate,
        action="append",
        default=[],
        dest="rates",
    )
    parser.option("--mtu", "BYTES", "Largest IP packet (1500).", type=whole_number(68, 9000))
    parser.option(
        "--profile",
        "NAME",
        "docsis tries the queue of a modem, none the sender's rule alone (docsis).",
        choices=("docsis", "none"),
        default="docsis",
    )
    parser.option(
        "--load",
        "NAME",
        "quiet: the flow and its like alone; upload: beside an upload, too (upload).",
        choices=("quiet", "upload"),
        default="upload",
    )
    parser.option(
        "--taken-at",
        "END",
        "Where the capture was taken: sender or receiver (sender).",
        choices=("sender", "receiver"),
        default="sender",
    )
    parser.flag("--addresses", "Show addresses.")
    parser.option("--out", "DIR", "New directory for the page (default: below results/).")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> int:
    import json

    from sojourn.base.errors import ExitStatus
    from sojourn.base.files import write_file
    from sojourn.base.output import dated, new_directory, refuse_used, writing
    from sojourn.captures.packets import choose, read_capture, worth_a_look
    from sojourn.cli.console import hand_over, note, print_json
    from sojourn.nqb.judge import CAPACITY_BPS, RATES_BPS, Question, judge
    from sojourn.nqb.page import as_json, sentence, write_page

    is_ours = options.out is None
    out = dated("check-nqb") if is_ours else Path(options.out)
    if not is_ours:
        refuse_used(out)
    question = Question(
        options.capacity or CAPACITY_BPS,
        (*RATES_BPS, *options.rates),
        options.mtu or 1500,
        protection=options.profile == "docsis",
        uploads=options.load == "upload",
    )
    capture = read_capture(options.file)
    flows = worth_a_look(capture) if options.flow is None else choose(capture, options.flow)
    verdicts = [judge(capture, flow, question, lambda _: None) for flow in flows]
    facts = [
        f"Capture taken at the {options.taken_at}; {len(verdicts)} of {len(capture.flows)} flows judged; largest packet {question.mtu} B."
    ]
    if options.taken_at == "receiver":
        facts.append("Taken at the receiver: the path has changed the spacing, and the sender's own is another.")
    answer = as_json(capture, verdicts, question, addresses=options.addresses)
    with new_directory(out, is_ours=is_ours) as directory, writing(out):
        write_page(directory, capture, verdicts, question, addresses=options.addresses, facts=facts)
        write_file(directory / "result.json", json.dumps(answer, indent=1) + "\n")
    if options.json:
        print_json({**answer, "out": str(out)})
    else:
        note(sentence(verdicts, question, addresses=options.addresses))
        for one in verdicts:
            for caveat in one.caveats:
                note(f"flow {one.flow.number}: {caveat}")
        hand_over(out / "report.html")
    return ExitStatus.FAILED if any(one.failed for one in verdicts) else ExitStatus.DONE
