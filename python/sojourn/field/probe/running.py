"""The probe's own scheduler process, and units for systemd instead of it."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from sojourn.base.errors import EnvironmentFailure, UsageError, plain
from sojourn.field.probe.own_tests import file_of
from sojourn.field.probe.plan import HomePlan, announce, refresh, title_at
from sojourn.field.probe.schedule import next_slot
from sojourn.field.probe.settings import ProbeSettings
from sojourn.field.probe.spool import Spool
from sojourn.field.probe.upload import CLOCK_S, Report, Uploader

MARGIN_S = 120
"""Seconds that Flent may take beyond its load; chosen: it waits for its programs, not for ever."""

LOOK_S = 30.0
"""How long the scheduler sleeps at most before it looks at the clock again; chosen: a clock that is set right after
start, as on computers without a battery, moves the next slot."""

RETRY_S = 600.0
"""Between attempts to send what is left over, beside those after each test; chosen."""


def flent_command(settings: ProbeSettings, test: str, folder: Path, title: str) -> list[str]:
    """Return the words of a run of Flent."""
    return [settings.flent, test, "-H", settings.server, "-l", str(settings.length), "-t", title, "-D", str(folder)]


def measure(settings: ProbeSettings, spool: Spool, say: Callable[[str], None], plan: HomePlan | None = None) -> int:
    """Run all tests once, one after the other, and spool their files.

    Each test's title says the treatment that the plan gives the home at that moment.

    Raises `EnvironmentFailure` if there is no Flent.

    Returns
    -------
    int
        How many files came of it.
    """
    if shutil.which(settings.flent) is None:
        raise EnvironmentFailure(f"there is no program {settings.flent}", "apt install flent netperf")
    found = 0
    for number, test in enumerate(settings.tests):
        if number:
            time.sleep(settings.pause_s)
        with tempfile.TemporaryDirectory(dir=spool.unfinished) as folder:
            title = title_at(settings, plan or HomePlan(), datetime.now(UTC))
            command = flent_command(settings, file_of(test, Path(folder)), Path(folder), title)
            said = ""
            try:
                ended = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=settings.length + MARGIN_S,
                    check=False,
                )
                failure = f"ended with {ended.returncode}" if ended.returncode else ""
                said = _last_words(ended.stderr) or _last_words(ended.stdout)
            except subprocess.TimeoutExpired:
                failure = "did not end"
            files = sorted(Path(folder).rglob("*.flent*"))
            if failure or not files:
                say(f"{test}: flent {failure or 'wrote no file'}{said and f': {said}'}")
            for file in files:
                spool.add(file)
                found += 1
    return found


def _last_words(output: bytes) -> str:
    """Return the last line that a program wrote, if it wrote any."""
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines()]
    return plain(next((line for line in reversed(lines) if line), ""))[:MOST_WORDS]


MOST_WORDS = 300
"""Characters of a program's output that a message quotes. chosen: a line or two."""


def once(settings: ProbeSettings, say: Callable[[str], None]) -> Report:
    """Measure now and send all that waits: what a timer calls."""
    spool = Spool(settings.spool, settings.keep)
    measure(settings, spool, say, _current(settings, say))
    return _send(settings, spool, say, attempts=4)


def send_waiting(settings: ProbeSettings, say: Callable[[str], None], attempts: int = 1) -> Report:
    """Send all that waits, without measuring."""
    return _send(settings, Spool(settings.spool, settings.keep), say, attempts=attempts)


def _send(settings: ProbeSettings, spool: Spool, say: Callable[[str], None], *, attempts: int) -> Report:
    uploader = Uploader(settings.collector, settings.token(), spool)
    try:
        report = uploader.send(attempts=attempts)
    finally:
        uploader.close()
    if report.trouble:
        say(f"{report.waiting} measurements wait: {report.trouble}")
    if report.refused:
        say(f"{report.refused} measurements were refused, see {spool.refused}")
    clock = report.clock_error_s
    if clock is not None and abs(clock) >= CLOCK_S:
        say(f"this clock is {abs(clock):.0f} s {'fast' if clock > 0 else 'slow'}")
    return report


def run_forever(settings: ProbeSettings, say: Callable[[str], None]) -> None:
    """Measure in each slot and send, until a signal comes; a test under way is finished first."""
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda _number, _frame: stop.set())
    spool = Spool(settings.spool, settings.keep)
    last_try = -RETRY_S
    plan = _current(settings, say)
    slot = _drawn(settings)
    say(f"next test at {slot:%Y-%m-%d %H:%M:%S} UTC")
    while not stop.is_set():
        now = datetime.now(UTC)
        if now >= slot:
            try:
                plan = _current(settings, say)
                measure(settings, spool, say, plan)
            except EnvironmentFailure as error:
                say(str(error))
            last_try = -RETRY_S
            slot = _drawn(settings)
            say(f"next test at {slot:%Y-%m-%d %H:%M:%S} UTC")
        announce(settings, plan, say)
        if (slot - now).total_seconds() > 86_400 + settings.jitter_s:
            slot = _drawn(settings)  # the clock was set back
        if spool.files() and time.monotonic() - last_try >= RETRY_S:
            try:
                _send(settings, spool, say, attempts=1)
            except (EnvironmentFailure, UsageError) as error:
                say(str(error))
            last_try = time.monotonic()
        stop.wait(min(LOOK_S, max(0.0, (slot - datetime.now(UTC)).total_seconds())))


def _current(settings: ProbeSettings, say: Callable[[str], None]) -> HomePlan:
    plan = refresh(settings, say)
    announce(settings, plan, say)
    return plan


def _drawn(settings: ProbeSettings) -> datetime:
    """Return when the next slot's test begins."""
    from datetime import timedelta

    later = random.uniform(0.0, settings.jitter_s)
    return next_slot(datetime.now(UTC), settings.slots) + timedelta(seconds=later)


def systemd_units(settings: ProbeSettings, file: Path) -> str:
    """Return a service and a timer for systemd, as one text."""
    times = "\n".join(f"OnCalendar=*-*-* {slot:%H:%M:%S} UTC" for slot in settings.slots)
    program = Path(sys.argv[0]).resolve() if Path(sys.argv[0]).name == "sojourn" else "sojourn"
    return f"""# /etc/systemd/system/sojourn-probe.service
[Unit]
Description=Sojourn field probe: one round of tests
Wants=network-online.target
After=network-online.target time-sync.target

[Service]
Type=oneshot
ExecStart={program} trial probe once {file.resolve()}
ProtectSystem=strict
ReadWritePaths={settings.spool}
NoNewPrivileges=yes
PrivateTmp=yes

# /etc/systemd/system/sojourn-probe.timer
[Unit]
Description=Sojourn field probe: when to test

[Timer]
{times}
RandomizedDelaySec={settings.jitter_s:.0f}
AccuracySec=1

[Install]
WantedBy=timers.target
"""
