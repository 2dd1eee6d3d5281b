"""The conditions of White 2013, as Table 2 and section 3 print them: what tests hold the study against."""

from dataclasses import dataclass

from sojourn.answers.claims import JudgedClaim, Outcome
from sojourn.answers.judging import judge, judge_claim
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.view import StudyView
from sojourn.study.library import load_study

STUDY = OpenStudy.of(load_study("white2013"))
"""The study as it is published."""

CLAIMS = {claim.identifier: claim for claim in STUDY.definition.claim if claim.holds or claim.function}
"""Claims that runs decide, by identifier."""


def outcome(claim: str, view: StudyView) -> Outcome:
    """Judge one claim."""
    return judge_claim(STUDY, STUDY.ask(view), CLAIMS[claim]).outcome


def judge_all(view: StudyView) -> list[JudgedClaim]:
    """Judge all claims."""
    return judge(STUDY, STUDY.ask(view))


RF_LEVELS = ("none", "light", "moderate")
"""Congestion of the channel by other modems (section 3.3)."""

RF_TITLES = {"none": "no RF congestion", "light": "light RF congestion", "moderate": "moderate RF congestion"}

BUFFERBLOAT = "bufferbloat"
"""The five managers of section 3.2, in the document's order."""

BUFFER_CONTROL = "buffer-control"
CODEL = "codel"
SFQ_CODEL = "sfq-codel"
PIE = "pie"
MANAGERS = (BUFFERBLOAT, BUFFER_CONTROL, CODEL, SFQ_CODEL, PIE)
DROP_TAIL = (BUFFERBLOAT, BUFFER_CONTROL)
AQM = (CODEL, SFQ_CODEL, PIE)

SFQ = "sfq"
"""Flow queueing that the document asks for and does not show (sections 5 and 5.1)."""

SFQ_PIE = "sfq-pie"

MANAGER_LABELS = {
    BUFFERBLOAT: "BufferBloat",
    BUFFER_CONTROL: "Buffer Control",
    CODEL: "CoDel",
    SFQ_CODEL: "SFQ-CoDel",
    PIE: "PIE",
    SFQ: "SFQ",
    SFQ_PIE: "SFQ-PIE",
}
"""How each manager is called in legends."""


@dataclass(frozen=True)
class Load:
    """A household of Table 2."""

    group: str
    streams: int
    """Games, each also read as a call."""
    browsers: int
    uploads: int = 0
    rtt_ms: int | None = None
    kind: str = ""
    constant_rate: bool = False


LOADS = {
    "x01": Load("light", 1, 1),
    "x02": Load("light", 1, 1, 1, 20, "upload"),
    "x03": Load("light", 1, 1, 1, 100, "upload"),
    "x04": Load("moderate", 1, 1, 5, 20, "x 5 MB"),
    "x05": Load("moderate", 1, 1, 5, 100, "x 5 MB"),
    "x06": Load("moderate", 1, 1, 5, 20, "x 5 MB", constant_rate=True),
    "x07": Load("moderate", 1, 1, 5, 100, "x 5 MB", constant_rate=True),
    "x08": Load("light", 1, 1, 1, 20, "bursty upload"),
    "x09": Load("light", 1, 1, 1, 100, "bursty upload"),
    "x10": Load("light", 4, 4, 1, 20, "upload"),
    "x11": Load("light", 4, 4, 1, 100, "upload"),
    "x12": Load("heavy", 4, 4, 5, 20, "x 5 MB"),
    "x13": Load("heavy", 4, 4, 5, 100, "x 5 MB"),
    "x14": Load("heavy", 4, 4, 10, 20, "x 256 kB"),
    "x15": Load("heavy", 4, 4, 10, 100, "x 256 kB"),
    "x16": Load("heavy", 4, 1, 32, 20, "BitTorrent uploads"),
    "x17": Load("heavy", 4, 1, 32, 100, "BitTorrent uploads"),
}
"""Table 2."""

LOADED = tuple(name for name, load in LOADS.items() if load.uploads)
"""Households with an upload."""

BITTORRENT = ("x16", "x17")
"""Households that send BitTorrent."""

GROUPS = ("light", "moderate", "heavy")
"""Groups of traffic load (section 3.7)."""

GROUP_LOADS = {group: tuple(name for name, load in LOADS.items() if load.group == group) for group in GROUPS}


def point_of(load: str, rf: str, manager: str) -> str:
    """Return the point of the study that a condition is.

    Examples
    --------
    >>> point_of("x06", "light", SFQ_CODEL)
    'x06-light-sfq-codel'
    """
    return f"{load}-{rf}-{manager}"
