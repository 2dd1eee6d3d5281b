"""The study that `sojourn study new` writes: small, it runs, and its comments say what may be changed."""

import re

from sojourn.base.errors import UsageError


def check_name(name: str) -> None:
    """Make sure that a study may have this name.

    Raises `UsageError` if it may not.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise UsageError(f'"{name}" is not a name', "use letters, digits, dots, dashes and underscores")


STUDY = """\
# A study: which runs to make of a scenario. `sojourn study show .` lists them, `sojourn study run . --quick` tries
# them, `sojourn study run .` runs them and writes a report. All keys: `sojourn keys`, or the reference of the study file.
schema = 1
name = "NAME"
title = "Which queue keeps a call and a game well beside an upload?"
summary = "One household, three queues in front of its upstream line, two distances to the server of the upload."
scenario = "scenario.toml"              # relative to this file
seeds = { first = 1, count = 5 }        # runs of each point; more give narrower intervals
quick = { duration = "10 s" }           # what --quick runs
keep = ["delay_histogram", "series"]    # records for the figures of the report

# What varies: the points are the product of all axes. An axis is a key of the scenario with its values (traffic goes
# by its name), or a list of overlays: [overlays.NAME] holds a piece of scenario, only what differs. Each is a label, by
# which the report and `sojourn compare RESULT --by queue` set points beside each other.
[axes]
rtt = { key = "traffic.upload.rtt", values = ["20 ms", "100 ms"] }

# `sojourn keys queue` lists the kinds and what may stand in their tables. A queue manager of your own joins this axis:
# `sojourn study run . --plugin my_manager.py --quick` (Python, or a shared library).
[axes.queue]
key = "access.upstream.queue"
values = [
    { kind = "drop-tail", limit = "256 KB" },
    { kind = "codel", profile = "rfc8289", limit = "256 KB" },
    "fq-codel",
]
"""

SCENARIO = """\
# One household on one line. Everything with a dimension is a text with a unit. `sojourn run scenario.toml --report`
# simulates it once and draws it; `sojourn keys` lists what may be said here.
schema = 1
name = "household"
duration = "60 s"

[access.upstream]                       # from the subscriber: the link, and the queue in front of it
link = { kind = "serial", rate = "10 Mb/s", delay = "5 ms" }
queue = { kind = "drop-tail", limit = "256 KB" }

[access.downstream]                     # to the subscriber
link = { kind = "serial", rate = "100 Mb/s", delay = "5 ms" }
queue = { kind = "drop-tail", limit = "1 MB" }

[[traffic]]                             # who makes the queue
name = "upload"
app = { kind = "bulk", start_jitter = "1 s" }
stack = "linux-cubic"                   # whose TCP it is
rtt = "30 ms"                           # to its server and back, on an empty line

[[traffic]]                             # who suffers
name = "call"
app = "voice"                           # 218 B every 20 ms, upstream
rtt = "30 ms"

[[traffic]]
name = "game"
app = "online-game"                     # small packets both ways
rtt = "30 ms"

[record]
datagrams = false                       # a row for each datagram is needed for traces only
"""
