"""Real-time priority for who may not take it: RealtimeKit gives it to a thread of a desktop's user.

It is asked by `busctl`, which stands wherever systemd does. RealtimeKit gives only to who bounds the time that a real-time
thread may run without sleep.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sojourn._engine as _engine

LOOP_PRIORITY = 10
"""Priority of the loop among real-time threads, as where it is allowed without asking; RealtimeKit gives at most 20."""

LONGEST_RUN_US = 200_000
"""Longest time without sleep: what RealtimeKit demands by default (rtkit-daemon, `--rttime-usec-max`)."""

GRANT = "sudo prlimit --pid $$ --rtprio=20"
"""The command that lets programs of this shell take real-time priority."""


def ask(emulation: _engine.Emulation) -> str:
    """Ask RealtimeKit to schedule the loop before all normal threads, and return how it is scheduled then."""
    import resource

    call = [
        *("busctl", "--system", "--timeout=1", "call", "org.freedesktop.RealtimeKit1"),
        *("/org/freedesktop/RealtimeKit1", "org.freedesktop.RealtimeKit1"),
        *("MakeThreadRealtimeWithPID", "ttu"),
        *(str(os.getpid()), str(emulation.loop_thread), str(LOOP_PRIORITY)),
    ]
    try:
        resource.setrlimit(resource.RLIMIT_RTTIME, (LONGEST_RUN_US, LONGEST_RUN_US))
        subprocess.run(call, capture_output=True, check=False, timeout=5)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        pass  # no RealtimeKit, or none that answers: what the kernel says next is what counts
    return emulation.look_at_priority()
