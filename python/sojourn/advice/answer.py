"""Advice on a line: the question, the search, and the answer as an object, as text and as JSON.

Source: open point 8 of the specification of advice: MULPI counts Ethernet frames against a service flow's rate; whether a
CMTS counts the modem's header, too, is not known, so a cable line is searched as if it did, which is the harder case.
Deviations: none known.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn.advice.arms import AS_IS, Arm, Line, modem_arms, operator_arms
from sojourn.advice.bench import SCREEN_S, Bench, Clock
from sojourn.advice.blocks import blocks_of
from sojourn.advice.lines import HOUSEHOLDS, LINES, line_scenario
from sojourn.advice.measured import MeasuredLine, measured_line
from sojourn.advice.modem_file import better_file, is_modem_file, line_of_file
from sojourn.advice.race import TOLERANCE
from sojourn.advice.said import (
    cliff_sentences,
    felt_rows,
    group_sentence,
    is_cured,
    rate_words,
    second_sentence,
    sentence,
    setting_words,
)
from sojourn.advice.search import Found, search_arms, search_router
from sojourn.advice.uses import User, read_uses, users_of
from sojourn.base.errors import UsageError, nearest, plain
from sojourn.base.quantities import mbps_of
from sojourn.headline.wireless import narrow_sentence, narrow_station
from sojourn.provisioning import Configuration
from sojourn.scenario.scenario_file import Scenario, load_scenario
from sojourn.scenario.settings import apply_settings
from sojourn.stats.estimate import NOTHING
from sojourn.stats.level import at_level
from sojourn.store import Store
from sojourn.study.runner import available_cores

CAN = ("router", "modem", "operator")
"""Whose knobs may be turned."""

LEVEL = 0.9
"""Level of the printed intervals. chosen: as `sojourn calibrate` has it."""

CHARGED = "if the CMTS counts the modem's header"
FRAMES = "if the CMTS counts Ethernet frames alone"


@dataclass(frozen=True, repr=False)
class Advice:
    """Advice for a line.

    Attributes
    ----------
    line
        The line that was searched.
    users
        Who counts.
    found
        What the search came to.
    assumed
        What was taken for granted, a sentence each.
    blocks
        Lines to paste, by target.
    runs, processor_s
        Number of runs, and their processor time.
    configuration
        The better configuration file, if one was asked about.
    """

    line: Line
    users: Sequence[User]
    found: Found
    assumed: Sequence[str]
    blocks: Mapping[str, str]
    runs: int
    processor_s: float
    configuration: Configuration | None = None
    wireless: str = ""
    """Which of a Wi-Fi and the line is the narrow place, in a sentence; empty without a Wi-Fi."""

    @property
    def setting(self) -> Arm:
        """The advised setting."""
        return self.found.taken

    @cached_property
    def sentence(self) -> str:
        """The answer."""
        return sentence(self.found, self.line, self.users)

    @cached_property
    def sentences(self) -> list[str]:
        """Sentences after the first: the second best, equal settings, the cliffs."""
        told = [second_sentence(self.found, self.line, self.users), group_sentence(self.found)]
        told += cliff_sentences(self.found, self.line)
        told.append(self.wireless)
        less = self.found.less
        if less is not None:
            told.append(f"Where the router cannot count that: {setting_words(self.line, less)}.")
        return [text for text in told if text]

    def rows(self) -> list[tuple[str, ...]]:
        """Return what was confirmed as rows: measure, unit, and of each setting the value with its 90 % interval."""
        from sojourn.base.digits import significant

        with at_level(LEVEL):
            rows = felt_rows(self.found, self.users)
        shown: list[tuple[str, ...]] = []
        # No line carries more than its rate; that of a trace is a mean.
        most = {
            f"goodput {way}": self.line.rates_mbps[way]
            for way in ("upstream", "downstream")
            if not self.line.is_varying(way)
        }
        for words, unit, estimates in rows:
            cells: list[str] = []
            for arm in self.found.confirmed:
                one = estimates.get(arm, NOTHING).within(0.0, most.get(words, math.inf))
                if one.value is None:
                    cells.append("–")
                elif one.low is None or one.high is None:
                    cells.append(significant(one.value, 3))
                else:
                    cells.append(
                        f"{significant(one.value, 3)} ({significant(one.low, 3)} to {significant(one.high, 3)})"
                    )
            shown.append((words, unit, *cells))
        return shown

    def headings(self) -> tuple[str, ...]:
        """Return the headings of `rows`."""
        return ("", "", *(arm.name for arm in self.found.confirmed))

    def as_json(self) -> dict[str, Any]:
        """Return the answer as one object."""
        found, line = self.found, self.line

        def told(arm: Arm) -> dict[str, Any]:
            content: dict[str, Any] = {"name": arm.name, "who": arm.who, "kind": arm.kind}
            if arm.who == "router":
                content["up_mbps"] = line.router_mbps(arm, "upstream")
                content["down_mbps"] = line.router_mbps(arm, "downstream")
                content["up_share"], content["down_share"] = arm.up, arm.down
                content["counted"] = line.counted(arm, "upstream").words
            return content

        with at_level(LEVEL):
            rows = felt_rows(found, self.users)
        return {
            "sentence": self.sentence,
            "set": told(found.taken),
            "second": None
            if found.second is None
            else {
                **told(found.second.arm),
                "ratio": found.second.ratio,
                "felt": found.second.felt,
                "verdict": found.second.verdict,
            },
            "equal": [told(one.arm) for one in found.standings if one.verdict == "equal"],
            "undecided": [told(one.arm) for one in found.standings if one.verdict == "undecided"],
            "worse": [{"name": one.arm.name, "ratio": one.ratio} for one in found.standings if one.verdict == "worse"],
            "stopped": found.stop,
            "cliffs": [
                {
                    "way": cliff.way,
                    "counted": cliff.counted,
                    "supposed": cliff.supposed,
                    "share": cliff.edge,
                    "most": cliff.most,
                    "plateau_ms": cliff.plateau_ms,
                    "delays_ms": {f"{share:g}": ms for share, ms in cliff.delays_ms.items()},
                }
                for cliff in found.cliffs
            ],
            "less": None if found.less is None else told(found.less),
            "confirmed": [
                {
                    "measure": words,
                    "unit": unit,
                    "values": {
                        arm.name: {"value": one.value, "low": one.low, "high": one.high}
                        for arm, one in estimates.items()
                    },
                }
                for words, unit, estimates in rows
            ],
            "confirm_s": found.confirm_s,
            "assumed": list(self.assumed),
            "blocks": dict(self.blocks),
            "runs": self.runs,
            "processor_s": round(self.processor_s, 2),
        }

    def __repr__(self) -> str:
        """Say the answer."""
        return f"<Advice: {self.sentence}>"

    def _repr_html_(self) -> str:
        """Show the answer with its numbers."""
        from sojourn.base.notebook import table_html

        return table_html(self.sentence, self.headings(), self.rows())


def advise(
    scenario: Scenario | str | Path | None = None,
    *,
    line: str | None = None,
    up: str | None = None,
    down: str | None = None,
    rtt: str | None = None,
    measured: Sequence[str | Path] | str | Path | None = None,
    uses: str | None = None,
    can: str = "router",
    household: str = "worst",
    tolerance: float = TOLERANCE,
    budget_s: float = 60.0,
    screen_s: float = SCREEN_S,
    store: Store | None = None,
    jobs: int | None = None,
    secret: bytes | None = None,
    command: str = "sojourn.advise(…)",
    tell: Callable[[str, int], None] = lambda _stage, _runs: None,
) -> Advice:
    """Say what to set on a line, so that those who count feel it least.

    Parameters
    ----------
    scenario
        A scenario, or the path of its file or of a modem's configuration file (`.cm`); or else `line`.
    line, up, down, rtt
        A kind of line (docsis31, docsis30, dsl, pon, lte), its rates such as `20M`, and the round trip to servers (25 ms, or what was
        measured).
    measured
        Instead of rates: the directory that `calibrate` wrote, or measurements, which are fitted first as a line of this kind.
    uses
        Who counts, such as `game,web:0.5`; of a scenario all who would feel it if left out, of a line a game.
    can
        Whose knobs may be turned: router, modem or operator; of a configuration file always the operator's.
    household
        Load on a `line`: quiet, family or worst.
    tolerance
        What makes no difference, as a share.
    budget_s
        How long it may take, seconds on the clock.
    screen_s
        Simulated seconds of a run of the race.
    store
        Where runs are kept; the default one if left out.
    jobs
        Runs at the same time; as many as there are cores if left out.
    secret
        That CMTS and provisioning system share, for the digests of a configuration file.
    command
        What the lines to paste say that they come from.
    tell
        Called with what is looked for and the number of runs that have ended.

    Raises
    ------
    UsageError
        If the question makes no sense.
    ScenarioError
        If the scenario is not valid.

    Examples
    --------
    >>> found = advise(line="docsis31", up="20M", down="200M", uses="game")  # doctest: +SKIP
    >>> print(found.sentence, found.blocks["tc"])  # doctest: +SKIP
    """
    weights = None if uses is None else read_uses(uses)
    if can not in CAN:
        raise UsageError(f'--can: "{plain(can)}" is not known', nearest(can, CAN) or ", ".join(CAN))
    if household not in HOUSEHOLDS:
        raise UsageError(
            f'--household: "{plain(household)}" is not known',
            nearest(household, list(HOUSEHOLDS)) or ", ".join(HOUSEHOLDS),
        )
    before: Configuration | None = None
    several: MeasuredLine | None = None
    cores = jobs if jobs is not None else available_cores()
    if measured is not None:
        if scenario is not None or up or down:
            raise UsageError("a measurement says its own rates", "either --measured, or a file, or --up and --down")
        paths = [measured] if isinstance(measured, str | Path) else measured
        several = measured_line(
            [Path(path) for path in paths],
            line,
            rtt=rtt,
            uses=weights or {"game": 1.0},
            household=household,
            jobs=cores,
            tell=tell,
        )
        asked, assumed = several.centre, [*several.told, _load(household, rtt)]
    elif isinstance(scenario, str | Path) and is_modem_file(Path(scenario)):
        before, asked = line_of_file(
            Path(scenario), secret, rtt=rtt or NEAR, uses=weights or {"game": 1.0}, household=household
        )
        can, assumed = ("operator", [_load(household, rtt or NEAR), "A modem of DOCSIS 3.1 on a channel of its own."])
    else:
        asked, assumed = _asked(scenario, line, up, down, rtt or NEAR, household, weights)
    users = users_of(asked.scenario.document, weights)
    asked.refuse_unfit()
    stage = ["begin"]
    kept = store if store is not None else Store(None)
    members = [asked] if several is None else several.members

    def bench_of(*lines: Line) -> Bench:
        return Bench(lines, users, kept, cores, lambda runs: tell(stage[0], runs), screen_s)

    def next_stage(words: str) -> None:
        stage[0] = words
        tell(words, 0)

    clock = Clock(budget_s)
    searched, supposed, others = asked, "", dict[str, Bench]()
    if can == "router" and asked.kind == "docsis31-upstream":
        searched = _charged(asked)
        members = [_charged(one) for one in members]
        supposed, others = CHARGED, {FRAMES: bench_of(asked)}
        assumed.append(
            "Open: whether the CMTS counts the modem's header of 10 B against the rate. DOCSIS says Ethernet frames; the "
            "answer holds if it does count it, too."
        )
    bench = bench_of(*members)
    centre = bench if several is None else bench_of(searched)
    if can == "router":
        found = search_router(
            bench,
            searched,
            tolerance=tolerance,
            clock=clock,
            stage=next_stage,
            supposed=supposed,
            otherwise=others,
            centre=centre,
            slower={} if several is None else several.slower,
        )
    else:
        if can == "operator" and not asked.is_docsis:
            raise UsageError(
                "an operator's settings are those of DOCSIS, and the line is none", "--can router, or --line docsis31"
            )
        has_two_queues = asked.kind == "docsis31-upstream" and before is None
        arms = modem_arms(asked) if can == "modem" else operator_arms(asked, has_two_queues=has_two_queues)
        found = search_arms(bench, arms, tolerance=tolerance, clock=clock, stage=next_stage)
    assumed += _assumptions(bench, searched, found, can)
    day = dt.datetime.now(tz=dt.UTC).date().isoformat()
    every = [*dict.fromkeys((bench, centre)), *others.values()]
    blocks = blocks_of(searched, found.taken, command, day)
    if found.taken != AS_IS and not is_cured(found, users):
        # What cures nothing is not sold; cake-autorate follows a line that varies.
        blocks = {name: text for name, text in blocks.items() if name == "autorate"}
    after = None
    if before is not None:
        after = better_file(before, searched, found.taken)
        blocks = {"docsis": after.text}
    return Advice(
        searched,
        users,
        found,
        assumed,
        blocks,
        sum(one.runs for one in every),
        sum(one.processor_s for one in every),
        after,
        _wireless(centre, found, users) if searched.document.get("wifi") else "",
    )


def _wireless(bench: Bench, found: Found, users: Sequence[User]) -> str:
    """Say whether the Wi-Fi is the narrow place of a scenario, and what a shaper on the line is good for then."""
    station = narrow_station(bench.of_links(AS_IS))
    told = narrow_sentence(station)
    if station and (found.taken == AS_IS or not is_cured(found, users)):
        return (
            f"{told} A shaper on the line does not help behind a slow Wi-Fi; queues by station in the access point do."
        )
    return told


def _asked(
    scenario: Scenario | str | Path | None,
    line: str | None,
    up: str | None,
    down: str | None,
    rtt: str,
    household: str,
    weights: Mapping[str, float] | None,
) -> tuple[Line, list[str]]:
    """Return the line that was asked about, and what was assumed of it."""
    if scenario is not None:
        if line or up or down:
            raise UsageError("a scenario says its own line", "either a file, or --line with --up and --down")
        if not isinstance(scenario, Scenario):
            scenario = load_scenario(scenario)
        return Line(scenario), []
    if line is None or up is None or down is None:
        raise UsageError("advice needs a line", "a scenario file, or --line docsis31 --up 20M --down 200M")
    if line not in LINES:
        raise UsageError(f'--line: "{plain(line)}" is not known', nearest(line, list(LINES)) or ", ".join(LINES))
    asked = (("--up: ", up), ("--down: ", down))
    rates = [f"{mbps_of(rate, place=option):.6g} Mb/s" for option, rate in asked]
    text = line_scenario(line, *rates, rtt=rtt, uses=weights or {"game": 1.0}, household=household)
    return Line(Scenario.parse(text)), [
        _load(household, rtt),
        "The modem has a plain buffer of 250 ms upstream, the access node one of 100 ms downstream.",
    ]


NEAR = "25 ms"
"""Default round trip to servers. chosen: a server of the same country."""


def _load(household: str, rtt: str | None) -> str:
    uploads, downloads, watches = HOUSEHOLDS[household]
    load = f"{_count(uploads, 'upload')} and {_count(downloads, 'download')}"
    return f"Load: {load}{' and a video' if watches else ''} beside those who count, servers {rtt or 'as far as the measured one'}{' away' * bool(rtt)}."


def _count(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'s' * (number != 1)}"


def _charged(line: Line) -> Line:
    """Return a cable line whose CMTS counts the modem's header against the rate upstream."""
    header = int(line.side("upstream")["link"].get("mac_header", 10))
    framing = f'access.upstream.framing={{ kind = "docsis", mac_header = {header} }}'
    return replace(line, scenario=Scenario.parse(apply_settings(line.text, [framing])))


def _assumptions(bench: Bench, line: Line, found: Found, can: str) -> list[str]:
    told: list[str] = []
    if can == "router":
        up, down = (rate_words(line.rates_mbps[way]) for way in ("upstream", "downstream"))
        if any(line.is_varying(way) for way in ("upstream", "downstream")):
            told.append(
                "The line follows a trace, and no single rate is right for it: the rates are shares of the mean. cake-autorate "
                "follows the line; its lines are shares of the rates of minutes, and it is not simulated."
            )
        told.append(
            f"The line really has {up} up and {down} down, at all times; measure before you set. "
            "CAKE shapes without saving up, the others behind a bucket of 1 ms. CAKE's word `ingress` was not simulated, so no line has it."
        )
    told.append(
        f"Race: runs of {bench.screen_s:g} s; confirmed by {len(next(iter(found.confirmed.values())))} runs of "
        f"{found.confirm_s:g} s with other seeds. Intervals: {100 * LEVEL:.0f} %."
    )
    return told
