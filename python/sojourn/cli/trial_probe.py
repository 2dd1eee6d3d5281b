"""`sojourn trial probe`: measure in a home and send it to the collector."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "action",
        metavar="ACTION",
        choices=("run", "once", "send", "plan", "timer"),
        help="run: measure in each slot until stopped; once: measure now; send: only send what waits; "
        "plan: what the modem has to be given when; "
        "timer: print units for systemd.",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="Settings of the probe, in TOML.")


def execute(options: Namespace) -> int:
    """Run Flent's tests on a schedule, keep their files, and send them until the collector has them."""
    from sojourn.base.errors import ExitStatus
    from sojourn.cli.console import note, say
    from sojourn.field.probe import running
    from sojourn.field.probe.plan import refresh
    from sojourn.field.probe.settings import load_settings

    settings = load_settings(options.file)
    if options.action == "timer":
        print(running.systemd_units(settings, options.file), end="")
        return ExitStatus.DONE
    if options.action == "plan":
        for period in refresh(settings, note).periods:
            say(period.words(settings.spool))
        return ExitStatus.DONE
    if options.action == "run":
        running.run_forever(settings, note)
        return ExitStatus.DONE
    report = (
        running.once(settings, note) if options.action == "once" else running.send_waiting(settings, note, attempts=4)
    )
    note(f"{report.sent} sent, {report.waiting} wait")
    return ExitStatus.FAILED if report.waiting else ExitStatus.DONE
