"""Sentences about an emulation: its expected quality, and how far it can be trusted."""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

BROWSERS = {
    "firefox": "firefox --no-remote --profile DIR",
    "chromium": "chromium --user-data-dir=DIR",
    "chromium-browser": "chromium-browser --user-data-dir=DIR",
    "google-chrome": "google-chrome --user-data-dir=DIR",
}
"""Browsers, and how they are started beside one that runs already."""


def duration(ns: float) -> str:
    """Return a time with the unit in which it reads best.

    Examples
    --------
    >>> duration(43_210), duration(2_100_000), duration(1_200_000_000)
    ('43 µs', '2.1 ms', '1.2 s')
    """
    if ns < 1e6:
        return f"{ns / 1e3:.0f} µs"
    return f"{ns / 1e6:.1f} ms" if ns < 1e9 else f"{ns / 1e9:.1f} s"


def rates(view: Mapping[str, Any]) -> str:
    """Return the configured rates, as a service is called: `50/10 Mb/s`."""
    down, up = view["downstream"]["rate_mbps"], view["upstream"]["rate_mbps"]
    return f"{down:g}/{up:g} Mb/s"


def expectation(priority: str, offload: str) -> str:
    """Return what may be expected before the first packet."""
    if priority == "real-time":
        return f"priority: real-time; offload: {offload}; the lateness of packets follows at the end"
    return (
        f"priority: normal; offload: {offload}; expect delays of several ms when other programs run; see sojourn emulate "
        "--check"
    )


def trust(summary: Mapping[str, Any]) -> str:
    """Return how far the numbers of an emulation can be trusted, in a line."""
    late = summary["lateness"]
    if not any(late[direction]["packets"] for direction in late):
        return f"trust: {summary['grade']} (no packet came through)"
    median, p99, most = (
        max(late[direction][which] for direction in ("upstream", "downstream"))
        for which in ("p50_ns", "p99_ns", "max_ns")
    )
    lost = summary["hidden_losses"]
    outside = "nothing lost" if lost == 0 else f"{lost} packets lost"
    tagged = summary["tagged_frames"]
    untold = f", {tagged} of them with VLAN tags, which are not carried" if tagged else ""
    stalls = summary["stalls"]
    stood = "no stalls" if not stalls else f"{len(stalls)} stalls"
    if stalls:
        stood += f", the longest {duration(max(gap for _, gap in stalls))}"
    joined = "; segments joined" if summary["joined"] else ""
    if summary["gave_priority_up"]:
        joined += "; real-time priority given up, because the loop needed more than 80 % of a core"
    return (
        f"trust: {summary['grade']} (late P50 {duration(median)}, P99 {duration(p99)}, max {duration(most)}; {outside} "
        f"outside the model{untold}; {stood}{joined})"
    )


def matters(summary: Mapping[str, Any], metrics: Iterable[tuple[str, str, float, str]]) -> list[str]:
    """Return where the lateness of an emulation is a part of the delays that it reports, a sentence each.

    It is where its P99 is above 5 % of a direction's median delay or 10 % of its P99 (specification of the emulator, section 10). The
    delay is that of the narrowest link: the access line, or a station's Wi-Fi.
    """
    delays: dict[tuple[str, str], tuple[float, str]] = {}
    for subject, metric, value, _ in metrics:
        link, _, direction = subject.rpartition("/")
        delays[direction, metric] = max((value or 0.0, link), delays.get((direction, metric), (0.0, "")))
    said: list[str] = []
    for direction, late in summary["lateness"].items():
        late_ms = late["p99_ns"] / 1e6
        for metric, words, share in (("sojourn_p50", "the median", 0.05), ("sojourn_p99", "the P99", 0.10)):
            delay_ms, link = delays.get((direction, metric), (0.0, ""))
            where = f" of {link}" if link else ""
            if delay_ms > 0 and late_ms > share * delay_ms:
                said.append(
                    f"lateness matters {direction}: its P99 of {duration(late_ms * 1e6)} is {late_ms / delay_ms:.0%} of {words} of the "
                    f"delay{where}, {delay_ms:.2f} ms"
                )
                break
    return said


def browser_hint(command: str) -> str:
    """Return what users of a browser should know; nothing if the command is none."""
    name = command.rpartition("/")[2]
    if name not in BROWSERS:
        return ""
    return f"hint: a browser that is already running opens the page outside; use a fresh profile ({BROWSERS[name]})"
