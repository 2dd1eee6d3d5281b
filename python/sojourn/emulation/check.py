"""`sojourn emulate --check`: whether this machine can emulate, and how well, measured on an emulation of its own.

Probes cross the idle link with the kernel's time of arrival; then both directions are flooded with 1.2 times their rate. What
the loop itself counts (how late it wrote, what was lost outside the model, its share of a core) comes from the same
emulation.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.base.errors import EnvironmentFailure
from sojourn.emulation.sentences import duration, rates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import sojourn._engine as _engine

LINE = """
schema = 1
name = "line"
duration = "10 s"
[access.upstream]
link = { kind = "serial", rate = "10 Mb/s" }
queue = { kind = "drop-tail", limit = "100 ms" }
[access.downstream]
link = { kind = "serial", rate = "50 Mb/s" }
queue = { kind = "drop-tail", limit = "100 ms" }
[emulate]
rtt = "20 ms"
"""
"""Scenario of a check without a file. chosen: a service that many have, and a round trip of a town."""

IDLE_S, FLOOD_S = 2.0, 3.0
"""How long each part takes."""

GOOD_SHARE = 0.8
"""Share of a core up to which the loop keeps its grade: above, writes are joined and priority is given up."""

PROBE_BYTES = 128
"""A probe with its headers."""


@dataclass(frozen=True)
class Found:
    """Abilities of this machine."""

    service: str
    grade: str
    priority: str
    offload: str
    late_p50_us: float
    late_p99_us: float
    late_max_us: float
    probe_error_p50_us: float
    probe_error_p99_us: float
    rate_error: float
    """Largest deviation of a flooded direction from its rate, as a share of it."""
    hidden_losses: int
    stalls: int
    busy: float
    """Share of a core that the loop took under the flood."""
    good_up_to_mbps: float
    """Sum of both rates at which it would take so much of a core that the grade falls."""
    load: float
    advice: str

    def as_json(self) -> dict[str, Any]:
        """Return it as an object."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return it in words: the sentence first."""
        can = "can" if self.grade != "poor" else "cannot now"
        said = [
            f"this machine {can} emulate {self.service} with the grade {self.grade}: late P99 {duration(self.late_p99_us * 1e3)}, "
            f"rate within {self.rate_error:.2%}",
            f"  namespaces and /dev/net/tun: allowed; offload: {self.offload}; priority: {self.priority}",
            f"  late under a flood of 1.2 times the rate: P50 {duration(self.late_p50_us * 1e3)}, P99 "
            f"{duration(self.late_p99_us * 1e3)}, max {duration(self.late_max_us * 1e3)}",
            f"  delay of probes beyond the model's on the idle link: P50 {duration(self.probe_error_p50_us * 1e3)}, P99 "
            f"{duration(self.probe_error_p99_us * 1e3)}",
            f"  lost outside the model: {self.hidden_losses}; stalls: {self.stalls}",
            f"  the loop took {self.busy:.0%} of a core; good up to some {self.good_up_to_mbps:.0f} Mb/s in sum; load average "
            f"{self.load:.1f}",
        ]
        if self.advice:
            said.append(f"  what would help most: {self.advice}")
        return said


def probe_far() -> str:
    """Return what plays the far end, for a shell."""
    import shlex
    import sys

    return f"exec {shlex.quote(sys.executable)} -m sojourn.emulation.probe answer"


def probe_command(view: Mapping[str, Any], out: Path) -> list[str]:
    """Return the command for the inside; it writes its measurements into a file."""
    import shlex
    import sys

    words = [sys.executable, "-m", "sojourn.emulation.probe", "ask", "100.64.0.1"]
    words += [str(view[name]["rate_mbps"]) for name in ("upstream", "downstream")]
    words += [str(IDLE_S), str(FLOOD_S)]
    return ["sh", "-c", f"exec {shlex.join(words)} >{shlex.quote(str(out))}"]


def measure(begin: Callable[[list[str]], _engine.Emulation], view: Mapping[str, Any], advice: str) -> Found:
    """Run the probes in an emulation and return what they found.

    Parameters
    ----------
    begin
        Sets an emulation up around a command.
    view
        The configured rates, as a view has them.
    advice
        The command that grants real-time priority.
    """
    with tempfile.TemporaryDirectory(prefix="sojourn-check-") as place:
        out = Path(place) / "probes.json"
        # The user inside is the same, under another number.
        Path(place).chmod(0o777)
        out.touch()
        out.chmod(0o666)
        emulation = begin(probe_command(view, out))
        emulation.go()
        seen: list[dict[str, Any]] = []
        until = time.monotonic() + 6 * (IDLE_S + FLOOD_S)
        while not emulation.wait(0.05):
            seen.append(emulation.view())
            if time.monotonic() > until:
                emulation.end()
        rtt_s = emulation.far[0][1]
        done = emulation.finish()
        text = out.read_text(encoding="utf-8")
    if not text:
        raise EnvironmentFailure(
            "the probes of the check did not come through the link",
            "a queue that passes nothing, or a machine that is busy",
        )
    summary = done["summary"]
    late = [summary["lateness"][name] for name in ("upstream", "downstream")]
    errors = _errors(json.loads(text), view, rtt_s)
    flood = [one for one in seen if (one["busy"] or 0) > 0][-int(1 / 0.05) :]
    busy = max((one["busy"] for one in flood), default=0.0)
    rate = sum(view[name]["rate_mbps"] for name in ("upstream", "downstream"))
    is_normal = emulation.priority != "real-time"
    return Found(
        service=rates(view),
        grade=summary["grade"],
        priority=emulation.priority,
        offload=emulation.offload,
        late_p50_us=max(one["p50_ns"] for one in late) / 1e3,
        late_p99_us=max(one["p99_ns"] for one in late) / 1e3,
        late_max_us=max(one["max_ns"] for one in late) / 1e3,
        probe_error_p50_us=_quantile(errors, 0.5),
        probe_error_p99_us=_quantile(errors, 0.99),
        rate_error=_rate_error(seen, view),
        hidden_losses=summary["hidden_losses"],
        stalls=len(summary["stalls"]),
        busy=busy,
        good_up_to_mbps=min(2_000.0, rate * GOOD_SHARE / busy) if busy else 0.0,
        load=os.getloadavg()[0],
        advice=f"real-time priority: {advice}, then again" if is_normal else "",
    )


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _errors(probes: Mapping[str, list[int]], view: Mapping[str, Any], rtt_s: float) -> list[float]:
    """Return by how many µs probes came later than half the round trip and their time on the link, of both directions."""
    errors: list[float] = []
    for name, key in (("upstream", "up_ns"), ("downstream", "down_ns")):
        on_link_us = PROBE_BYTES * 8 / view[name]["rate_mbps"]
        errors += [ns / 1e3 - rtt_s * 5e5 - on_link_us for ns in probes[key]]
    return errors


def _rate_error(seen: list[dict[str, Any]], view: Mapping[str, Any]) -> float:
    """Return the largest deviation from the rate within the flood, after its first and before its last half second."""
    worst = 0.0
    for name in ("upstream", "downstream"):
        full = [one for one in seen if one[name]["backlog_packets"] > 0]
        if len(full) < 2:
            return 1.0
        first = next(one for one in full if one["at_ns"] >= full[0]["at_ns"] + 5e8)
        last = next(one for one in reversed(full) if one["at_ns"] <= full[-1]["at_ns"] - 2e8)
        bytes_ = last[name]["delivered_bytes"] - first[name]["delivered_bytes"]
        passed_ns = last["at_ns"] - first["at_ns"]
        if passed_ns <= 0:
            return 1.0
        worst = max(worst, abs(bytes_ * 8e3 / passed_ns / view[name]["rate_mbps"] - 1))
    return worst
