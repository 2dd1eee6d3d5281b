"""What Heist and Morton 2021 needs beyond its data: what two flows got, spikes after a step, harm to short flows.

Source: heistp/l4s-tests, README of August 2021; heistp/ccafct, July 2021 (harm: 1 less alone over beside).
Deviations: rates are acknowledged bytes over the last 60 s that end 2 s before the end (of a short run over its second
half); the print takes the mean of `tcp_delivery_rate`. Round trips are smoothed ones, as `ss` prints them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl

from sojourn.answers.asking import Ask
from sojourn.answers.claims import Outcome
from sojourn.answers.printed_tables import printed_row
from sojourn.answers.view import NotRecorded, StudyView
from sojourn.plots.dots import beside_print, dot_panel
from sojourn.plots.spec import Axis, Dots, Line, Mark, Panel, PlotSpec, Rule

PRINTED = Path(__file__).parent / "printed"

#: "mean of tcp_delivery_rate over 60 s that end 2 s before the end" (steady_state.go).
WINDOW_S, MARGIN_S = 60.0, 2.0

#: When the rate falls in scenario 2.
STEP_S = 30.0

ROUND_TRIPS = ("10-10", "20-10", "20-20", "80-20", "80-80", "160-10")
PAIRS = ("prague-prague", "prague-cubic", "cubic-prague", "cubic-cubic")
SINGLE = {
    "codel-1q": "fq_codel(1q)",
    "codel-1q-fast": "fq_codel(1q,1ms/20ms)",
    "pie": "pie",
    "pie-100p": "pie(100p/5ms)",
    "red-150": "red(150000b)",
    "red-400": "red(400000b)",
}
OTHERS = ("cubic-ecn", "cubic-not", "reno-ecn", "reno-not")
BURSTS = {"none": 0.0, "1ms": 1.0, "2ms": 2.0, "3ms": 3.0, "4ms": 4.0, "6ms": 6.0}
FAR = (10, 20, 40, 80, 160)


# ---- what a run says ------------------------------------------------------------------------------------------


def delivered(view: StudyView, point: str, subject: str) -> np.ndarray:
    """Acknowledged data of a flow in the window of the print, by seed, Mb/s."""
    end = view.duration_s(point) - MARGIN_S
    begin = max(end - WINDOW_S, view.duration_s(point) / 2)
    return view.acknowledged_rate(point, subject, begin, end)


def shares(view: StudyView, point: str, what: str) -> np.ndarray:
    """Ratio of the first flow's rate to the second's, or Jain's index of both, by seed."""
    first, second = (delivered(view, point, name) for name in ("first", "second"))
    if what == "ratio":
        with np.errstate(divide="ignore"):
            return first / second
    return (first + second) ** 2 / (2 * (first**2 + second**2))


def spread_of_four(view: StudyView, point: str) -> np.ndarray:
    """Largest over smallest rate of four flows, by seed."""
    names = ("first", "second", "third", "fourth")
    rates = np.array([delivered(view, point, name) for name in names])
    return rates.max(axis=0) / rates.min(axis=0)


def utilisation(view: StudyView, point: str) -> np.ndarray:
    """Return what a lone flow got of what full packets can carry at the last rate, by seed."""
    rate = 25.0 if "to25" in point else 50.0
    return delivered(view, point, "first") / (rate * 1448 / 1514)


def spike(view: StudyView, point: str, what: str) -> np.ndarray:
    """Largest round trip after the step in ms, or for how long it is above the path's and 10 or 50 ms, by seed, s."""
    path = 80.0 if "near-80" in point else 20.0
    found: list[float] = []
    for at, ms in view.round_trips(point, "first"):
        after = at >= STEP_S
        if not after.any():
            message = f"{point} ends before its step"
            raise NotRecorded(message)
        at, ms = at[after], ms[after]
        if what == "peak":
            found.append(float(ms.max()))
            continue
        high = ms > path + (10.0 if what == "above_10" else 50.0)
        width = float(np.median(np.diff(at))) if len(at) > 1 else 0.0
        found.append(float(high.sum()) * width)
    return np.array(found)


def geometric_mean(view: StudyView, point: str) -> np.ndarray:
    """Geometric mean of the completion times of short flows, by seed, ms."""
    rows = view.table("transfers", point).filter(pl.col("traffic") == "short")
    times = rows.drop_nulls("ended_ns").select(
        "seed", log=(pl.col("ended_ns") - pl.col("started_ns")).cast(pl.Float64).log()
    )
    means = dict(times.group_by("seed").agg(pl.col("log").mean()).iter_rows())
    return np.array([math.exp(means[seed]) / 1e6 for seed in view.seeds(point)])


# ---- what is printed ------------------------------------------------------------------------------------------


_QUEUES = {
    "dualpi2": "dualpi2",
    "dualpi2-today": "dualpi2",
    "pfifo": "pfifo(1000)",
    "pfifo-short": "pfifo(200)",
    "fq": "fq_codel",
}


def _of_both(name: str, **columns: str) -> float:
    row = printed_row(PRINTED / f"{name}.csv", **columns)
    return float(row["delivered_1_mbps"]) / float(row["delivered_2_mbps"])


def printed_pair(rate: int, queue: str, rtts: str, pair: str) -> float:
    """Return the printed ratio of scenario 1."""
    first, second = pair.replace("today", "prague").split("-")
    return _of_both(
        "scenario1", rate_mbps=str(rate), queue=_QUEUES[queue], round_trips=rtts, control_1=first, control_2=second
    )


def printed_single(queue: str, other: str) -> float:
    """Return the printed ratio of scenario 6."""
    control, ecn = other.split("-")
    ecn = {"ecn": "ecn", "not": "noecn"}[ecn]
    return _of_both("scenario6", queue=SINGLE[queue], control_2=control, ecn_2=ecn)


def printed_completion(far: int, beside: str) -> float:
    """Return the printed geometric mean in ms."""
    row = printed_row(PRINTED / "completion.csv", rtt_ms=str(far), competitor=beside)
    return float(row["geometric_mean_ms"])


# ---- claims -----------------------------------------------------------------------------------------------------


def _ratio(ask: Ask, rate: int, queue: str, rtts: str, pair: str) -> float:
    return ask.at("ratio", f"s1/{rate}-{queue}-{rtts}-{pair}")


def _singles(ask: Ask, others: Sequence[str] = OTHERS) -> dict[str, float]:
    return {f"{q} {o}": ask.at("ratio", f"s6/{q}-{o}") for q in SINGLE for o in others}


def _range(values: dict[str, float]) -> str:
    return f"{min(values.values()):.3g} to {max(values.values()):.3g}"


def dominance(ask: Ask) -> Outcome:
    """H21-01."""
    found = _singles(ask)
    return Outcome.of(min(found.values()) >= 8, f"{_range(found)} in 24 cells")


def dominance_without_ecn(ask: Ask) -> Outcome:
    """H21-02."""
    found = {
        f"{q} {c}": ask.at("ratio", f"s6/{q}-{c}-not") / ask.at("ratio", f"s6/{q}-{c}-ecn")
        for q in SINGLE
        for c in ("cubic", "reno")
    }
    return Outcome.of(all(0.5 <= v <= 2 for v in found.values()), f"ratios of {_range(found)}")


def reno_is_worse(ask: Ask) -> Outcome:
    """H21-03."""
    more = sum(
        ask.at("ratio", f"s6/{q}-reno-{e}") > ask.at("ratio", f"s6/{q}-cubic-{e}")
        for q in SINGLE
        for e in ("ecn", "not")
    )
    return Outcome.of(more >= 8, f"in {more} of 12 pairs")


def share_of_cubic(ask: Ask) -> Outcome:
    """H21-04."""
    found = {f"{q}-{e}": ask.at("second", f"s6/{q}-cubic-{e}") for q in SINGLE for e in ("ecn", "not")}
    return Outcome.of(all(1 <= v <= 4 for v in found.values()), f"{_range(found)} Mb/s")


def _harm(ask: Ask, far: int, beside: str) -> float:
    alone = ask.at("geometric_mean", f"f/none-far-{far}")
    return 1 - alone / ask.at("geometric_mean", f"f/{beside}-far-{far}-{beside}")


def harm_to_short_flows(ask: Ask) -> Outcome:
    """H21-07."""
    prague, cubic = ({far: _harm(ask, far, who) for far in FAR} for who in ("prague", "cubic"))
    holds = all(prague[far] > cubic[far] and 0.5 <= prague[far] <= 0.95 for far in FAR)
    ours = "; ".join(f"{far} ms: {prague[far]:.2f} and {cubic[far]:.2f}" for far in FAR)
    return Outcome.of(holds, f"harm by Prague and by CUBIC: {ours}")


def harm_shrinks(ask: Ask) -> Outcome:
    """H21-08."""
    near, middle, long = (_harm(ask, far, "prague") for far in (10, 40, 160))
    return Outcome.of(near > middle > long, f"{near:.2f}, {middle:.2f}, {long:.2f}")


def completion_times(ask: Ask) -> Outcome:
    """H21-09."""
    factors: list[float] = []
    for far in FAR:
        for beside in ("none", "cubic", "prague"):
            end = "" if beside == "none" else f"-{beside}"
            ours = ask.at("geometric_mean", f"f/{beside}-far-{far}{end}")
            factors.append(ours / printed_completion(far, beside))
    near = sum(1 / 1.5 <= factor <= 1.5 for factor in factors)
    return Outcome.of(near >= 12, f"{near} of 15 within 1.5 of print; factors {min(factors):.2f} to {max(factors):.2f}")


def _fifos() -> Iterator[tuple[int, str]]:
    yield 50, "pfifo"
    yield 10, "pfifo-short"


def cubic_wins_in_a_fifo(ask: Ask) -> Outcome:
    """H21-12."""
    found: dict[str, float] = {}
    for rate, queue in _fifos():
        for rtts in ("10-10", "20-20", "80-80"):
            key = f"{rate} {rtts}"
            found[f"{key} a"] = 1 / _ratio(ask, rate, queue, rtts, "prague-cubic")
            found[f"{key} b"] = _ratio(ask, rate, queue, rtts, "cubic-prague")
    return Outcome.of(min(found.values()) > 1, f"CUBIC over Prague {_range(found)}")


def flow_queues_are_equal(ask: Ask) -> Outcome:
    """H21-13."""
    found = {
        f"{rate} {rtts} {pair}": ask.at("jain", f"s1/{rate}-fq-{rtts}-{pair}")
        for rate in (50, 10)
        for rtts in ROUND_TRIPS
        for pair in PAIRS
    }
    return Outcome.of(min(found.values()) >= 0.95, f"Jain {_range(found)} in {len(found)} rows")


def alike_are_equal(ask: Ask) -> Outcome:
    """H21-14."""
    found = {
        f"{rate} {rtts} {pair}": ask.at("jain", f"s1/{rate}-dualpi2-{rtts}-{pair}")
        for rate in (50, 10)
        for rtts in ("10-10", "20-20", "80-80")
        for pair in ("prague-prague", "cubic-cubic")
    }
    return Outcome.of(min(found.values()) >= 0.98, f"Jain {_range(found)}")


def more_unfair_than_cubic(ask: Ask) -> Outcome:
    """H21-15."""
    found = {
        str(rate): _ratio(ask, rate, queue, "160-10", "cubic-cubic")
        / _ratio(ask, rate, "dualpi2", "160-10", "prague-prague")
        for rate, queue in _fifos()
    }
    return Outcome.of(min(found.values()) > 3, f"{_range(found)} times")


def beyond_the_round_trips(ask: Ask) -> Outcome:
    """H21-16."""
    found = {str(rate): 1 / _ratio(ask, rate, "dualpi2", "160-10", "prague-prague") for rate in (50, 10)}
    return Outcome.of(min(found.values()) > 16, f"{found['50']:.3g} at 50 Mb/s, {found['10']:.3g} at 10")


def the_near_one_wins(ask: Ask) -> Outcome:
    """H21-17."""
    found = {f"{rate} {pair}": 1 / _ratio(ask, rate, "dualpi2", "160-10", pair) for rate in (50, 10) for pair in PAIRS}
    return Outcome.of(min(found.values()) >= 2, f"{_range(found)} in 8 rows")


def _bias(value: float) -> float:
    return max(value, 1 / value)


def less_biased_in_one_case(ask: Ask) -> Outcome:
    """H21-18."""
    less = [
        pair
        for pair in PAIRS
        if _bias(_ratio(ask, 50, "dualpi2", "160-10", pair)) < _bias(_ratio(ask, 50, "pfifo", "160-10", pair))
    ]
    return Outcome.of(less == ["prague-cubic"], f"less biased: {', '.join(less) or 'none'}")


def independence_helps(ask: Ask) -> Outcome:
    """H21-19."""
    told: list[str] = []
    nearer = 0
    cases = (("20-10", "prague-prague"), ("10-10", "prague-cubic"))
    for rate in (50, 10):
        for rtts, pair in cases:
            then = _ratio(ask, rate, "dualpi2", rtts, pair)
            now = _ratio(ask, rate, "dualpi2-today", rtts, pair.replace("prague", "today"))
            nearer += abs(math.log(now)) < abs(math.log(then))
            told.append(f"{then:.2f} to {now:.2f}")
    return Outcome.of(nearer == len(told), f"2020 to today: {'; '.join(told)}")


def _used(ask: Ask, flow: str, queue: str, burst: str, way: str = "alone") -> float:
    return ask.at("utilisation", f"bursts/flow-{flow}-{queue}-20-{way}-{burst}")


def relabelled_cubic(ask: Ask) -> Outcome:
    """H21-39."""
    found = {far: 1 / ask.at("ratio", f"relabelled/{far}") for far in ("20", "80")}
    return Outcome.of(max(found.values()) < 0.5, f"{found['20']:.2f} of the other at 20 ms, {found['80']:.2f} at 80")


def near_print(ask: Ask) -> Outcome:
    """H21-41: the ratios of DualPI2 at 50 Mb/s."""
    factors = {
        f"{rtts} {pair}": _bias(_ratio(ask, 50, "dualpi2", rtts, pair) / printed_pair(50, "dualpi2", rtts, pair))
        for rtts in ROUND_TRIPS
        for pair in PAIRS
    }
    near = sum(factor <= 1.5 for factor in factors.values())
    worst = max(factors, key=lambda name: factors[name])
    return Outcome.of(near >= 22, f"{near} of 24 within 1.5 of print; farthest {worst}, {factors[worst]:.2g} times")


# ---- headline ---------------------------------------------------------------------------------------------------


def headline(ask: Ask) -> str:
    """Say what one engine gives of both findings, as far as they were run."""

    def on_a_clean_path() -> str:
        clean = _ratio(ask, 50, "dualpi2", "20-20", "prague-cubic")
        return (
            f"on a clean path of 20 ms Prague takes {clean:.2f} times what CUBIC gets (Heist and Morton measured 2.05 in "
            "2020)"
        )

    def behind_bursts() -> str:
        two, four = (ask.at("ratio", f"bursts/today-dualpi2-today-20-pair-{burst}") for burst in ("2ms", "4ms"))
        return f"behind bursts of 2 and 4 ms it gets {two:.2f} and {four:.2f} times as much, as Comcast's trials hinted"

    def by_round_trip() -> str:
        now, then = (ask.at("spread_of_four", f"iccrg/{who}") for who in ("today", "2020"))
        return (
            f"RTT unfairness and RTT fairness are one switch of the same code: four flows of 0.5 to 30 ms are {then:.2g} times "
            f"apart with it off, as in the one camp's kernel, and {now:.2g} times with it on, as in the other's"
        )

    told: list[str] = []
    for say in (on_a_clean_path, behind_bursts, by_round_trip):
        with suppress(NotRecorded):
            told.append(say())
    if not told:
        raise NotRecorded("needs points that were not run")
    last = f"; and {told[-1]}" if len(told) > 1 else ""
    both = "Two camps published opposite findings on L4S. One engine gives both: "
    return f"{both if len(told) == 3 else 'Of two opposite findings on L4S: '}{'; '.join(told[:-1] or told)}{last}."


# ---- figures ----------------------------------------------------------------------------------------------------


def _found(values: Iterator[tuple[float, Callable[[], float]]]) -> tuple[np.ndarray, np.ndarray]:
    """Return what the runs know of a curve."""
    known: list[tuple[float, float]] = []
    for x, ask in values:
        try:
            known.append((x, ask()))
        except NotRecorded:
            continue
    if not known:
        raise NotRecorded("needs points that were not run")
    x, y = np.array(known).T
    return x, y


_TICKS = tuple((v, f"{v:g}") for v in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0))


def _ratios(low: float, high: float, words: str = "ratio of rates") -> Axis:
    ticks = tuple(t for t in _TICKS if low <= t[0] <= high)
    return Axis(words, "", scale="log", low=low, high=high, ticks=ticks)


def _or_none(ask: Callable[[], float]) -> float | None:
    try:
        return ask()
    except NotRecorded:
        return None


def _beside_print(
    rows: Sequence[str],
    ours: Sequence[float | None],
    printed: Sequence[float],
    axis: Axis,
    rule: Rule,
    title: str = "",
    *,
    with_labels: bool = True,
) -> Panel:
    return dot_panel(
        rows,
        beside_print(ours, printed),
        lanes=1,
        quantity=axis.quantity,
        unit=axis.unit,
        scale=axis.scale,
        low=axis.low,
        high=axis.high,
        title=title,
        with_labels=with_labels,
        labels={"blue circle": "ours"},
        ticks=axis.ticks,
        extras=(rule,),
    )


def figure_ratio(ask: Ask) -> PlotSpec:
    """Figure 1: Prague over CUBIC over the round trip."""
    panels: list[Panel] = []
    for rate in (50, 10):
        marks: list[Mark] = [Rule(1.0, "y")]
        for queue, pair, look, label in (
            ("dualpi2", "prague-cubic", "blue circle", "2020"),
            ("dualpi2-today", "today-cubic", "orange dashed square", "today"),
        ):
            x, y = _found(
                (float(ms), lambda ms=ms: _ratio(ask, rate, queue, f"{ms}-{ms}", pair))  # noqa: B023
                for ms in (10, 20, 80)
            )
            marks += [Line(x, y, look, label), Dots(x, y, look)]
        printed = np.array([printed_pair(rate, "dualpi2", f"{m}-{m}", "prague-cubic") for m in (10, 20, 80)])
        marks.append(Dots(np.array([10.0, 20.0, 80.0]), printed, "ink diamond", "print"))
        x_axis = Axis(
            "round trip", "ms", scale="log", low=8.0, high=100.0, ticks=((10.0, "10"), (20.0, "20"), (80.0, "80"))
        )
        panels.append(Panel(x_axis, _ratios(0.5, 5.0), tuple(marks), f"{rate} Mb/s"))
    return PlotSpec(
        "ratio-over-round-trip",
        "1. Prague over CUBIC in DualPI2",
        tuple(panels),
        columns=2,
        height=80,
        legend="below",
        description="Ratio of Prague's rate to CUBIC's in DualPI2 over the round trip, print, 2020 and today.",
    )


def _words(pair: str) -> str:
    names = {"prague": "Prague", "cubic": "CUBIC"}
    return " : ".join(names[name] for name in pair.split("-"))


def figure_bias(ask: Ask) -> PlotSpec:
    """Figure 2: network bias, four pairs in three queues."""
    rows = [(r, p) for r in ("20-20", "80-80", "160-10") for p in PAIRS]
    names = [f"{rtts.replace('-', ':')} {_words(pair)}" for rtts, pair in rows]
    panels = [
        _beside_print(
            names,
            [_or_none(lambda row=row: _ratio(ask, 50, queue, *row)) for row in rows],  # noqa: B023
            [printed_pair(50, queue, *row) for row in rows],
            _ratios(0.01, 20.0, "first over second"),
            Rule(1.0, "x"),
            title,
            with_labels=queue == "dualpi2",
        )
        for queue, title in (("dualpi2", "DualPI2"), ("pfifo", "FIFO"), ("fq", "FQ-CoDel"))
    ]
    return PlotSpec(
        "network-bias",
        "2. Who gets more, at 50 Mb/s",
        tuple(panels),
        columns=3,
        height=110,
        legend="below",
        column_widths=(1.6, 1.0, 1.0),
        description="Ratio of the first flow's rate to the second's for four pairs, three round trips and three queues; ours beside the printed values.",
    )


def figure_step(ask: Ask) -> PlotSpec:
    """Figure 3: round trips after a step of the rate."""
    panels: list[Panel] = []
    for queue, name in (("fq", "FQ-CoDel"), ("dualpi2", "DualPI2")):
        for rate, high in ((25, 200.0), (1, 5000.0)):
            marks: list[Mark] = [Rule(STEP_S, "x", f"to {rate} Mb/s")]
            for flow, look in (("prague", "blue"), ("cubic", "vermillion dashed")):
                point = f"s2/flow-{flow}-{queue}-near-80-to-{rate}"
                if point not in ask.view.points:
                    continue
                at, ms = ask.view.round_trips(point, "first")[0]
                marks.append(Line(at, ms, look, {"prague": "Prague 2020", "cubic": "CUBIC"}[flow]))
            if queue == "fq":
                top = 180.0 if rate == 25 else 4346.0
                marks.append(Rule(top, "y", "print"))
            panels.append(
                Panel(
                    Axis("time", "s", low=25.0, high=60.0),
                    Axis("round trip", "ms", low=0.0, high=high),
                    tuple(marks),
                    f"{name}, 50 to {rate} Mb/s",
                )
            )
    return PlotSpec(
        "rate-step",
        "3. What a fall of the rate does to the round trip, 80 ms",
        tuple(panels),
        columns=2,
        height=130,
        legend="below",
        description="Round trip over time of one flow of Prague or CUBIC whose line falls from 50 to 25 or 1 Mb/s, behind FQ-CoDel and DualPI2, with the printed peaks.",
    )


def figure_single(ask: Ask) -> PlotSpec:
    """Figure 4: scenario 6 as dots."""
    rows = [(queue, other) for queue in SINGLE for other in OTHERS]
    words = {"cubic": "CUBIC", "reno": "Reno", "ecn": "with ECN", "not": "without"}
    panel = _beside_print(
        [f"{SINGLE[q]}, {' '.join(words[part] for part in o.split('-'))}" for q, o in rows],
        [_or_none(lambda q=q, o=o: ask.at("ratio", f"s6/{q}-{o}")) for q, o in rows],
        [printed_single(*row) for row in rows],
        _ratios(5.0, 100.0, "Prague over the other"),
        Rule(8.0, "x", "claim"),
    )
    return PlotSpec(
        "single-queues",
        "4. Prague in single queues of RFC 3168",
        (panel,),
        width=170,
        height=150,
        legend="below",
        description="Ratio of Prague's rate to that of CUBIC or Reno in six single queues, with and without ECN; ours beside the printed values.",
    )


def figure_burst_ratio(ask: Ask) -> PlotSpec:
    """Figure 5: ratio over the length of bursts."""
    marks: list[Mark] = [Rule(1.0, "y"), Rule(2.9, "x", "study's slots"), Rule(4.0, "x", "Wi-Fi")]
    for queue, look, label in (
        ("dualpi2-today", "blue circle", "DualPI2, step at 1 ms"),
        ("dualpi2-5ms", "orange dashed square", "DualPI2, step at 5 ms"),
        ("lld", "purple dotted triangle", "DOCSIS dual queue"),
    ):
        x, y = _found(
            (ms, lambda burst=burst: ask.at("ratio", f"bursts/today-{queue}-20-pair-{burst}"))  # noqa: B023
            for burst, ms in BURSTS.items()
        )
        marks += [Line(x, y, look, label), Dots(x, y, look)]
    panel = Panel(
        Axis("slots before the bottleneck", "ms", low=0.0, high=6.0),
        _ratios(0.1, 5.0, "Prague of today over CUBIC"),
        tuple(marks),
    )
    return PlotSpec(
        "ratio-over-bursts",
        "5. Bursts turn who gets more",
        (panel,),
        width=150,
        height=95,
        legend="below",
        description="Ratio of Prague's rate to CUBIC's, both behind bursts of 0 to 6 ms, in DualPI2 with two steps and in the DOCSIS dual queue.",
    )


def figure_burst_use(ask: Ask) -> PlotSpec:
    """Figure 6: utilisation over the length of bursts."""
    marks: list[Mark] = [Rule(0.5, "y", "print: about half"), Rule(2.9, "x", "study's slots")]
    for flow, queue, look, label in (
        ("prague", "dualpi2", "blue circle", "Prague 2020, DualPI2"),
        ("prague", "dualpi2-5ms", "orange dashed square", "Prague 2020, step at 5 ms"),
        ("cubic", "fq", "vermillion dotted triangle", "CUBIC, FQ-CoDel"),
        ("bbr2", "dualpi2", "purple dashed diamond", "BBR of version 2, DualPI2"),
    ):
        x, y = _found(
            (ms, lambda burst=burst, flow=flow, queue=queue: _used(ask, flow, queue, burst))
            for burst, ms in BURSTS.items()
        )
        marks += [Line(x, y, look, label), Dots(x, y, look)]
    panel = Panel(
        Axis("slots before the bottleneck", "ms", low=0.0, high=6.0),
        Axis("utilisation", "", low=0.0, high=1.1),
        tuple(marks),
    )
    return PlotSpec(
        "use-over-bursts",
        "6. What bursts cost a flow alone, 50 Mb/s, 20 ms",
        (panel,),
        width=150,
        height=90,
        legend="below",
        description="Utilisation of one flow behind bursts of 0 to 6 ms: Prague in DualPI2 with two steps, CUBIC in FQ-CoDel, BBR of version 2 in DualPI2.",
    )


def figure_harm(ask: Ask) -> PlotSpec:
    """Figure 7: harm to short flows over the round trip."""
    marks: list[Mark] = []
    for who, look, label in (
        ("prague", "blue circle", "beside Prague"),
        ("cubic", "vermillion dashed square", "beside CUBIC"),
    ):
        x, y = _found((float(far), lambda far=far: _harm(ask, far, who)) for far in FAR)  # noqa: B023
        marks += [Line(x, y, look, label), Dots(x, y, look)]
        printed = np.array([1 - printed_completion(far, "none") / printed_completion(far, who) for far in FAR])
        marks.append(
            Dots(np.array(FAR, dtype=float), printed, "ink diamond", "print" if who == "prague" else "", filled=False)
        )
    ticks = tuple((float(far), str(far)) for far in FAR)
    panel = Panel(
        Axis("round trip", "ms", scale="log", low=8.0, high=200.0, ticks=ticks),
        Axis("harm", "", low=0.0, high=1.0),
        tuple(marks),
    )
    return PlotSpec(
        "harm",
        "7. Harm to short flows of CUBIC in one queue",
        (panel,),
        width=150,
        height=90,
        legend="below",
        description="Harm to the completion time of short flows beside one long flow of Prague or CUBIC over the round trip, ours and printed.",
    )
