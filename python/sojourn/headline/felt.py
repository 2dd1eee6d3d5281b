"""What people feel of each application, and the grades of it.

Source: a game at 100 and 200 ms, White 2013 section 1.1 (noticeable, annoying); scores of a call, ITU-T G.107 Annex B;
its delay one way, ITU-T G.114 (150 and 400 ms); a cloud game, White 2013; stalls of videos, Akhtar 2013. All other limits
are chosen, and said so in the documentation of the headline.
Deviations: packets are late as the engine has it, for all streams more than 60 ms after the shortest delay of their flow;
a live video is graded by how far it is behind what happens, not behind the target of its player, which a file may change.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; the modules typing and dataclasses would take their time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    Way = Literal["delay", "score", "load", "stall", "behind", "loss"]

__all__ = ["APPLICATIONS", "GRADES", "LATE", "LOSS_LIMITS", "Application", "Measure", "application_of", "told_metrics"]

GRADES = "ABCDF"
"""Best first; no E, as in schools that know the letters."""

LOSS_LIMITS = (1.0, 3.0, 10.0, 25.0)
"""Shares of packets, in percent, from which on a grade is at best B, C, D and F, and the first is told. chosen: one packet in
a hundred is heard."""

LATE = {
    "loss_total": "late",
    "loss_total_up": "late_up",
    "loss_total_down": "late_down",
    "frames_late": "frames_lost",
    "frames_late_downstream": "frames_lost_downstream",
}
"""Of packets that are lost or late, the metric of those late; of frames, where `late` counts both, of those lost."""


class Measure:
    """Something that people feel, in each direction in which they may.

    Attributes
    ----------
    names
        Metrics with the words of their directions, the one that holds both first.
    unit
        Of all of them.
    limits
        Worst value of the grades A, B, C and D.
    tag
        What the number is, for parentheses: `P99`.
    way
        How sentences speak of it: `delay`, `score`, `load`, `stall`, `behind` or `loss`.
    """

    __slots__ = ("limits", "names", "tag", "unit", "way")

    def __init__(
        self,
        names: tuple[tuple[str, str], ...],
        unit: str,
        limits: tuple[float, float, float, float],
        tag: str,
        way: Way = "delay",
    ) -> None:
        self.names, self.unit, self.limits, self.tag, self.way = names, unit, limits, tag, way

    @property
    def more_is_better(self) -> bool:
        """Whether larger values are better."""
        return self.way == "score"

    def grade(self, value: float) -> int:
        """Return the place of the grade of a value in `GRADES`.

        Examples
        --------
        >>> [GRADES[GAME.grade(ms)] for ms in (30.0, 30.1, 200.0, 201.0)]
        ['A', 'B', 'D', 'F']
        """
        if self.more_is_better:
            return sum(not value >= limit for limit in self.limits)
        if self.way == "loss":
            return sum(value >= limit for limit in self.limits)
        return sum(not value <= limit for limit in self.limits)


class Application:
    """What people feel of a kind of application, most telling first.

    Attributes
    ----------
    noun
        What sentences call it.
    measures
        The first that tells settings apart speaks.
    loss
        Packets or frames that are lost or too late.
    """

    __slots__ = ("loss", "measures", "noun")

    def __init__(self, noun: str, measures: tuple[Measure, ...], loss: Measure | None = None) -> None:
        self.noun, self.measures, self.loss = noun, measures, loss

    @property
    def all_measures(self) -> tuple[Measure, ...]:
        """Measures with the share of packets that come not at all or too late, which speaks last."""
        return self.measures if self.loss is None else (*self.measures, self.loss)

    @property
    def definite(self) -> str:
        """What sentences call it within: `the game`, `pages`."""
        return "pages" if self.noun == "page" else f"the {self.noun}"


_BOTH_WAYS = (("delay_round_trip_p99", "round trip"), ("delay_up_p99", "upstream"), ("delay_down_p99", "downstream"))
_ONE_WAY = _BOTH_WAYS[1:]
_FRAMES = (("frame_delay_p99", "upstream"), ("frame_delay_p99_downstream", "downstream"))
_LOSSES = (("loss_total_up", "upstream"), ("loss_total_down", "downstream"), ("loss_total", ""))
_FRAMES_LATE = (("frames_late", "upstream"), ("frames_late_downstream", "downstream"))

GAME = Measure(_BOTH_WAYS, "ms", (30.0, 60.0, 100.0, 200.0), "P99")
_SCORE = Measure((("mos", ""),), "", (4.3, 4.0, 3.6, 3.1), "MOS", "score")
_CALL_DELAY = Measure((*_FRAMES, *_ONE_WAY), "ms", (100.0, 150.0, 250.0, 400.0), "P99")
_CLOUD = Measure((_BOTH_WAYS[0], *_FRAMES, *_ONE_WAY), "ms", (40.0, 60.0, 80.0, 120.0), "P99")
_STALLS = Measure((("underflow_max", ""),), "%", (0.0, 0.1, 0.5, 2.0), "", "stall")
_BEHIND = Measure((("live_latency", ""),), "s", (3.5, 4.0, 5.0, 10.0), "behind", "behind")
"""chosen: players aim at 3 s unless their file says otherwise; half a second more is the way of a part, 10 s are a broadcast's."""
_LOADING = Measure((("page_load_time_median", ""),), "s", (1.0, 2.0, 4.0, 10.0), "median", "load")
_LOST = Measure(_LOSSES, "%", LOSS_LIMITS, "lost or late", "loss")
_LOST_FRAMES = Measure((*_FRAMES_LATE, *_LOSSES), "%", LOSS_LIMITS, "lost or late", "loss")

APPLICATIONS: Mapping[str, Application] = {
    one.noun: one
    for one in (
        Application("game", (GAME,), _LOST),
        Application("call", (_SCORE, _CALL_DELAY), _LOST_FRAMES),
        Application("cloud game", (_CLOUD,), _LOST_FRAMES),
        Application("live video", (_BEHIND, _STALLS)),
        Application("video", (_STALLS,)),
        Application("page", (_LOADING,)),
    )
}
"""By noun; where two are felt alike, the first speaks."""

_BY_KIND = {
    "game": "game",
    "online-game": "game",
    "voice": "call",
    "video-call": "call",
    "cloud-game": "cloud game",
    "has-ll": "live video",
    "has": "video",
    "constant-rate": "",
}
"""Applications by their kind in a scenario; nobody feels a stream of constant rate."""


def application_of(metrics: Sequence[str], kind: str = "") -> str:
    """Return what a traffic entry is to those who feel it, by what was measured; empty if nobody sits behind it.

    Parameters
    ----------
    metrics
        Names of the metrics of the entry.
    kind
        Its kind in the scenario, if it is known.

    Examples
    --------
    >>> (application_of(["goodput", "mos"]), application_of(["late", "lost"]), application_of(["goodput"]))
    ('call', 'game', '')
    """
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    known = set(metrics)
    for metric, noun in (
        ("mos", "call"),
        ("frames", "call"),
        ("frames_downstream", "cloud game"),
        ("live_latency", "live video"),
        ("underflow", "video"),
        ("underflow_max", "video"),
        ("pages_completed", "page"),
        ("page_load_time_median", "page"),
        ("late", "game"),
        *((name, "game") for name, _ in _LOSSES),
    ):
        if metric in known:
            return noun
    # Everything that answers has a round trip; who has nothing else to be felt by is no transfer and no probe.
    is_answered = GAME.names[0][0] in known and known.isdisjoint(("goodput", "rtt_mean"))
    return "game" if is_answered else ""


def told_metrics() -> list[str]:
    """Return all metrics that a headline may need."""
    felt = {
        name
        for application in APPLICATIONS.values()
        for measure in application.all_measures
        for name, _ in measure.names
    }
    telling = {"frames", "frames_downstream", "live_latency", "underflow", "pages_completed", "pages_unfinished"}
    rates = {"goodput", "goodput_downstream", "late", "rtt_mean"}
    return sorted(felt | set(LATE.values()) | telling | rates)
