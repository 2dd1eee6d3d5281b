"""The scenarios of RFC 9743, with numbers where it leaves them open.

Source: RFC 9743 sections 5 to 7; it has no thresholds. Rates, round trips and buffers are chosen: 10 Mb/s, 40 ms and one
bandwidth-delay product, from which one thing at a time is varied. What no run can show stands in `QUESTIONS`.
Deviations: real time is a call at a fixed rate; a path with a changing rate is a rectangle of 5 and 10 Mb/s.
"""

from __future__ import annotations

from sojourn.congestion.general.alone import COLLAPSE, FAIRNESS, LOSS, QUEUE
from sojourn.congestion.general.beside import REAL_TIME, SHARES, SHORT, TUNNEL, WIRELESS
from sojourn.congestion.general.managed import MANAGED
from sojourn.congestion.general.paths import CHANGE, DELAY, EXTREME, ORDER
from sojourn.congestion.general.response import IDLE, RESPONSE, TIMEOUT

__all__ = ["CELLS", "QUESTIONS", "QUICK"]

CELLS = (
    *COLLAPSE,
    *QUEUE,
    *LOSS,
    *FAIRNESS,
    *SHORT,
    *SHARES,
    *REAL_TIME,
    TUNNEL,
    *WIRELESS,
    *MANAGED,
    *DELAY,
    *EXTREME,
    *ORDER,
    *CHANGE,
    *RESPONSE,
    TIMEOUT,
    IDLE,
)
"""All scenarios, in the order of the document."""

QUICK = (
    "G1b",
    "G1c",
    *(f"G2-{rate}-40-1" for rate in (10, 50)),
    "G3a",
    "G4a",
    *(f"G6-{other}-{rate}-40-1" for other in ("reno", "cubic") for rate in (10, 50)),
    "G7a",
    "G10b",
    "G11a",
    "G11f",
    "G15a",
    "G15c",
    "G16a",
    "G16b",
    "G19",
    "G20",
)
"""Those of a first look."""

QUESTIONS = (
    ("3, 4", "scope", "for which networks is it meant, and where has it been tried?"),
    ("5.3.1", "principles", "where does it differ from RFC 2914 and RFC 7141, and why?"),
    ("5.3.2", "deployment", "what happens while one end, or some of the routers, are older?"),
    ("7.2", "circuit breakers", "does one of RFC 8084 trip on it, and what then?"),
    ("7.6", "misbehaving nodes", "what does it do with a receiver that lies?"),
    ("7.10", "multipath", "are its subflows together no more than one flow?"),
    ("7.11", "data centres", "is it meant for them, and what keeps it there?"),
)
"""Questions that no scenario can answer: section, subject, and the question to the author."""
