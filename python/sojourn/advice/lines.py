"""Lines without a file: kinds of access with their rates, and households of different size on them.

Source: DOCSIS 3.1 as in `docs/models/docsis31.md`, with the plain buffers of 250 and 100 ms that White 2019 Table 3 has for
today's modem and CMTS.
Deviations: delays of DSL, fibre and LTE are chosen, the first as for `sojourn home`: interleaving, some 20 km with an aggregation network,
and the way through a radio network. LTE is a trace that was made like one of AT&T (see `sojourn.traces.link_traces`), at the given mean rates.
"""

from __future__ import annotations

from collections.abc import Mapping

LINES: Mapping[str, tuple[str, str, str]] = {
    "docsis31": ('kind = "docsis31-upstream", rate = "{rate}"', 'kind = "docsis31-downstream", rate = "{rate}"', ""),
    "docsis30": (
        'kind = "docsis30-single", rate = "{rate}"',
        'kind = "shaped", rate = "{rate}", burst = "3044 B"',
        'framing = "ethernet"\n',
    ),
    "dsl": (
        'kind = "serial", rate = "{rate}", delay = "5 ms"',
        'kind = "serial", rate = "{rate}", delay = "5 ms"',
        'framing = { kind = "ptm", profile = "pppoe-ptm" }\n',
    ),
    "pon": (
        'kind = "serial", rate = "{rate}", delay = "1 ms"',
        'kind = "serial", rate = "{rate}", delay = "1 ms"',
        'framing = "ethernet"\n',
    ),
    "lte": (
        'kind = "trace", start = "random", delay = "5 ms", {trace}',
        'kind = "trace", start = "random", delay = "5 ms", {trace}',
        "",
    ),
}
"""Links upstream and downstream, and further keys of both, by the word of `--line`."""

PEOPLE: Mapping[str, str] = {
    "call": """
[[traffic]]                             # 218 B every 20 ms, upstream
name = "call"
app = {{ kind = "voice", start_jitter = "20 ms" }}
rtt = "{rtt}"
""",
    "game": """
[[traffic]]                             # small packets both ways
name = "game"
app = {{ kind = "online-game", start_jitter = "33 ms" }}
rtt = "{rtt}"
""",
    "web": """
[[traffic]]                             # a person reads pages
name = "pages"
app = {{ kind = "web", profile = "white2013", users = 2, think = "1 s", start_jitter = "1 s" }}
stack = "linux-cubic"
rtt = ["12 ms", "18 ms", "35 ms", "90 ms"]
""",
}
"""Traffic of those who feel the line."""

HOUSEHOLDS: Mapping[str, tuple[int, int, bool]] = {
    "quiet": (1, 0, False),
    "family": (1, 1, True),
    "worst": (2, 2, False),
}
"""Uploads, downloads, and whether there is a video, too. chosen: `worst` is the load under which a setting has to hold."""


TRACE_S = 60.0
"""Length of a trace that is made, which begins again. chosen: six correlation times of the rates of LTE."""


def _trace(rate: str, seed: int) -> str:
    """Return the keys of opportunities like those of LTE, whose mean is a rate."""
    from sojourn.traces.link_traces import LTE, OPPORTUNITY, make_lte, trace_text
    from sojourn.traces.schedule import opportunities_from_text

    mbps = float(rate.partition(" ")[0])
    times = make_lte(LTE["att"], TRACE_S, seed, mbps)
    # A minute is never quite as fast as the mean of hours.
    scale = mbps / (8e-3 * OPPORTUNITY * len(times) / float(times[-1]))
    return f"scale = {scale:.12g}, opportunities = {opportunities_from_text(trace_text(times), 'lte')}"


def line_scenario(line: str, up: str, down: str, *, rtt: str, uses: Mapping[str, float], household: str) -> str:
    """Return a household on a line as the text of a scenario.

    Parameters
    ----------
    line
        One of `LINES`.
    up, down
        Rates, such as `20 Mb/s`.
    rtt
        Round trip to the servers.
    uses
        Who counts.
    household
        One of `HOUSEHOLDS`.
    """
    upstream, downstream, extra = LINES[line]
    uploads, downloads, watches = HOUSEHOLDS[household]
    parts = [
        f'# A household on a line ({line}); all other values are defaults of `sojourn keys`.\nschema = 1\nname = "{line}-{household}"\nduration = "150 s"\n'
    ]
    for seed, (way, link, rate, limit) in enumerate(
        (("upstream", upstream, up, "250 ms"), ("downstream", downstream, down, "100 ms")), start=1
    ):
        filled = link.replace("{rate}", rate)
        if "{trace}" in link:
            filled = link.replace("{trace}", _trace(rate, seed))
        parts.append(
            f'\n[access.{way}]\nlink = {{ {filled} }}\nqueue = {{ kind = "drop-tail", limit = "{limit}" }}\n{extra}'
        )
    parts += [PEOPLE[word].format(rtt=rtt) for word in uses if word in PEOPLE]
    if watches:
        parts.append(
            f'\n[[traffic]]                             # a person watches\nname = "video"\n'
            f'app = {{ kind = "has", sessions = 1, start_jitter = "1 s" }}\nstack = "linux-cubic"\nrtt = "{rtt}"\n'
        )
    for name, direction, lanes in (("upload", "upstream", uploads), ("download", "downstream", downloads)):
        if lanes:
            parts.append(
                f'\n[[traffic]]\nname = "{name}"\n'
                f'app = {{ kind = "bulk", direction = "{direction}", lanes = {lanes}, start_jitter = "1 s" }}\n'
                f'stack = "linux-cubic"\nrtt = "{rtt}"\n'
            )
    return "".join(parts)
