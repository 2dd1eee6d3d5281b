"""Applications: the measures by which each is felt, the grades of those, and the words for each way of feeling.

Source: a game at 100 and 200 ms, White 2013 section 1.1 (noticeable, annoying); scores of a call, ITU-T G.107 Annex B;
its delay one way, ITU-T G.114 (150 and 400 ms); a cloud game, White 2013; stalls of videos, Akhtar 2013. All other limits
are chosen, as the documentation of the headline says.
Deviations: packets are late as the engine has it, more than 60 ms after the shortest delay of their flow; a live video is
graded by how far it is behind what happens, not behind the target of its player, which a file may change.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; the modules typing and dataclasses would take their time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

GRADES = "ABCDF"
"""Best first; no E, as in schools that know the letters."""

LOSS_LIMITS = (1.0, 3.0, 10.0, 25.0)
"""Shares of packets, in percent, from which on a grade is at best B, C, D and F; the first is named from there on. chosen: one packet in
a hundred is heard."""

LATE = {
    "loss_total": "late",
    "loss_total_up": "late_up",
    "loss_total_down": "late_down",
    "frames_late": "frames_lost",
    "frames_late_downstream": "frames_lost_downstream",
}
"""Of packets that are lost or late, the metric of those late; of frames, where `late` counts both, of those lost."""


class Way:
    """The words for one way of feeling: a template for each place in a sentence.

    Templates have `{who}` (the application), `{x}` and `{y}` (numbers), `{s}` (the ending of the verb), `{told}` (the number
    with unit, direction and kind), `{tag}` (kind and direction in parentheses), `{things}` and `{whose}` (its packets).

    Attributes
    ----------
    alone, idle, told
        A clause on the application of a run, the same where nothing is wrong, and the number within one.
    keeps, needs
        A setting with its number, and the verb of those that it is compared with.
    burden
        The best of useless settings.
    gains
        A setting that is better for the application, with both numbers.
    moved
        Before and after, of two results.
    than
        Words of a ratio: `better than` and `as good as`; empty where both numbers say more.
    never
        The setting with which it never came.
    """

    __slots__ = (
        "alone",
        "burden",
        "gains",
        "idle",
        "keeps",
        "more_is_better",
        "moved",
        "needs",
        "never",
        "than",
        "told",
    )

    def __init__(
        self,
        alone: str,
        told: str,
        keeps: str,
        needs: str,
        burden: str,
        gains: str,
        moved: str,
        than: tuple[str, str] | None = None,
        never: str = "",
        idle: str = "nothing disturbs {who}: {told}",
        *,
        more_is_better: bool = False,
    ) -> None:
        self.alone, self.told, self.keeps, self.needs, self.burden = alone, told, keeps, needs, burden
        self.gains, self.moved, self.than, self.never, self.idle = gains, moved, than, never, idle
        self.more_is_better = more_is_better


WAYS: Mapping[str, Way] = {
    "delay": Way(
        "{who} waits {told}",
        "{x} ms{tag}",
        "keep{s} {who} at {x} ms",
        "needs",
        "delays it by {x} ms{tag}",
        "keeps {who} quicker, {x} ms for {y}",
        "{who} waits {x} ms instead of {y}{tag}",
        ("better than", "as good as"),
    ),
    "score": Way(
        "{who} scores MOS {x}",
        "MOS {x}",
        "keep{s} {who} at MOS {x}",
        "gives",
        "leaves it at MOS {x}",
        "keeps {who} better, MOS {x} for {y}",
        "{who} scores MOS {x} instead of {y}",
        more_is_better=True,
    ),
    "load": Way(
        "a page takes {x} s (median)",
        "{x} s{tag}",
        "load{s} {who} in {x} s",
        "needs",
        "needs {x} s for one{tag}",
        "loads {who} faster, {x} s for {y}",
        "a page takes {x} s instead of {y} (median)",
        ("faster than", "as fast as"),
        "loads none",
    ),
    "stall": Way(
        "{who} stands still {x} % of the time",
        "it stands still {x} % of the time",
        "stop{s} {who} {x} % of the time",
        "does",
        "stops it {x} % of the time",
        "stops {who} less, {x} % of the time for {y}",
        "{who} stands still {x} % of the time instead of {y}",
        idle="{who} never stands still",
    ),
    "behind": Way(
        "{who} is {x} s behind",
        "{x} s behind",
        "keep{s} {who} {x} s behind",
        "needs",
        "leaves it {x} s behind",
        "keeps {who} nearer, {x} s behind for {y}",
        "{who} is {x} s behind instead of {y}",
    ),
    "loss": Way(
        "{who} loses {x} % of its {things}{tag}",
        "{x} % of its {things}{tag}",
        "lose{s} {x} % of {whose}",
        "loses",
        "loses {x} % of its {things}{tag}",
        "loses less of {whose}, {x} % for {y}",
        "{who} loses {x} % instead of {y} % of its packets (lost or late)",
    ),
    "rate": Way(
        "{who} gets {x} Mb/s",
        "{x} Mb/s",
        "give{s} {who} {x} Mb/s",
        "gives",
        "gives it {x} Mb/s",
        "gives {who} more, {x} Mb/s for {y}",
        "{who} gets {x} instead of {y} Mb/s",
        more_is_better=True,
    ),
}


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
        Its row in `WAYS`.
    """

    __slots__ = ("limits", "names", "tag", "unit", "way")

    def __init__(
        self,
        names: tuple[tuple[str, str], ...],
        unit: str,
        limits: tuple[float, float, float, float],
        tag: str,
        way: str = "delay",
    ) -> None:
        self.names, self.unit, self.limits, self.tag, self.way = names, unit, limits, tag, way

    @property
    def more_is_better(self) -> bool:
        """True if larger values are better."""
        return WAYS[self.way].more_is_better

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
    """Measures of a kind of application that people feel, most telling first.

    Attributes
    ----------
    noun
        What sentences call it; empty for what has no kind, and goes by its name.
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
    def is_graded(self) -> bool:
        """True if its measures have limits that people feel."""
        return bool(self.noun)

    @property
    def definite(self) -> str:
        """Its name within sentences: `the game`, `pages`."""
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

STREAM = Application("", (GAME,))
"""A stream or a probe without a person behind it: its delay has no grade."""


def transfer(metric: str) -> Application:
    """Return a transfer as an application, felt by its rate."""
    return Application("", (Measure(((metric, ""),), "Mb/s", (0.0, 0.0, 0.0, 0.0), "", "rate"),))


_BY_KIND = {
    "game": "game",
    "online-game": "game",
    "voice": "call",
    "video-call": "call",
    "cloud-game": "cloud game",
    "has-ll": "live video",
    "has": "video",
    "constant-rate": "",
    "probe": "",
}
"""Applications by their kind in a scenario; a stream of constant rate or a probe is felt by no person."""


def application_of(metrics: Sequence[str], kind: str = "") -> str:
    """Return the application noun of a traffic entry, inferred from its metrics; empty if it has none.

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
    >>> application_of(["late", "lost"], "sensor")  # all games are known by their kind
    ''
    """
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    inferred = _inferred(set(metrics))
    return "" if kind and inferred == "game" else inferred


def _inferred(known: AbstractSet[str]) -> str:
    """Return the application noun that metrics tell; a stream of packets alone counts as a game."""
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
    # All that answers has a round trip; an entry with nothing else to be felt by is no transfer and no probe.
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
    rates = {"goodput", "goodput_downstream", "late", "lost", "rtt_mean"}
    return sorted(felt | set(LATE.values()) | telling | rates)
