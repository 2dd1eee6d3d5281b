"""What the Wi-Fi study measures beside the words of a study file: pings to both stations, sums of throughput, shares of the air.

Source: the window of a run is that of the reduction of the measurements: of a load of L seconds that begins at 5 s, from 5 + 0.3 L on;
of the runs with ath10k the middle 80 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from sojourn.answers.asking import Ask
from sojourn.answers.claims import Holds, Outcome
from sojourn.answers.printed_tables import printed_row, printed_rows
from sojourn.answers.view import NotRecorded, StudyView
from sojourn.plots.spec import Axis, Dots, Line, Mark, Panel, PlotSpec

PRINTED = Path(__file__).parent / "printed"

QUEUES = ("fq-codel", "stock", "fifo-1000", "fifo-20")
RATES = tuple(range(16))

LOAD_FROM_S = 5.0


# ---- measures --------------------------------------------------------------------------------------------------


def ping(view: StudyView, point: str, what: str) -> np.ndarray:
    """Return a quantile (`p50`, `p99`) or the mean of the round trips to both stations, by seed, ms."""
    end = view.duration_s(point)
    load = end + 1 - LOAD_FROM_S
    begin = LOAD_FROM_S + (0.1 if point.startswith("ath10k/") else 0.3) * load
    last = end - 0.1 * load if point.startswith("ath10k/") else end
    both = [view.probe(point, name) for name in ("ping-one", "ping-two")]
    found: list[float] = []
    for seed in both[0]:
        trips = np.concatenate(
            [ms[(at >= begin) & (at < last) & np.isfinite(ms)] for at, ms in (one[seed] for one in both)]
        )
        found.append(float(trips.mean() if what == "mean" else np.quantile(trips, float(what[1:]) / 100)))
    return np.array(found)


def throughput(view: StudyView, point: str, *names: str) -> np.ndarray:
    """Return what traffic entries got together, by seed, Mb/s; those that a point lacks got nothing."""
    total = np.zeros(len(view.seeds(point)))
    for name in names:
        for metric in ("goodput", "goodput_downstream"):
            if view.has(point, name, metric):
                total += view.values(point, name, metric)
    return total


def air_of_slow(view: StudyView, point: str) -> np.ndarray:
    """Return the slow station's share of the air that all three have, by seed, %."""

    def air(station: str) -> np.ndarray:
        links = (f"wifi.home.{station}/{way}" for way in ("upstream", "downstream"))
        return sum((view.values(point, link, "wifi_airtime") for link in links), np.zeros(len(view.seeds(point))))

    slow = air("attic")
    return 100 * slow / (slow + air("one") + air("two"))


# ---- the measured access point ------------------------------------------------------------------------------------


def measured(queue: str, mcs: int, column: str, seconds: int = 30) -> float:
    """Return what was measured of the ath9k access point."""
    return float(
        printed_row(PRINTED / "access_point.csv", queue=queue, rate=f"mcs{mcs}", seconds=str(seconds), repetition="1")[
            column
        ]
    )


_COLUMNS = {"tcp": "tcp_mbps", "ping_p50": "ping_p50_ms", "ping_p99": "ping_p99_ms"}


def _ours(ask: Ask, measure: str, queue: str, mcs: int) -> float:
    return ask.at(measure, f"ap/{queue}-mcs{mcs}")


def _ratios(ask: Ask, measure: str, queue: str) -> dict[int, float]:
    return {mcs: _ours(ask, measure, queue, mcs) / measured(queue, mcs, _COLUMNS[measure]) for mcs in _rates(ask)}


def _rates(ask: Ask) -> list[int]:
    """Return the rates at which all four structures were run: a quick look has some.

    Raises `NotRecorded` if there is none.
    """
    found = [mcs for mcs in RATES if all(f"ap/{queue}-mcs{mcs}" in ask.view.points for queue in QUEUES)]
    if not found:
        message = "needs points of all four structures at one rate"
        raise NotRecorded(message)
    return found


def _within(ask: Ask, measure: str, queues: Sequence[str], share: float) -> Outcome:
    """Judge whether ours are within a share of what was measured, at each rate."""
    outcomes = [_told(_ratios(ask, measure, queue), share, _NAMES[queue]) for queue in queues]
    return Outcome.of(
        all(outcome.verdict is Holds.HOLDS for outcome in outcomes), "; ".join(outcome.ours for outcome in outcomes)
    )


def _told(ratios: Mapping[int, float], share: float, name: str) -> Outcome:
    """Judge ratios to what was measured, by rate."""
    far = [f"MCS {mcs} {ratio:.2f}" for mcs, ratio in ratios.items() if abs(ratio - 1) > share]
    told = f"{name}: {len(ratios) - len(far)} of {len(ratios)}, {min(ratios.values()):.2f} to {max(ratios.values()):.2f} of the measured"
    return Outcome.of(not far, told + (f" (outside: {', '.join(far)})" if far else ""))


_NAMES = {"fq-codel": "FQ-CoDel", "stock": "stock", "fifo-1000": "FIFO of 1000", "fifo-20": "FIFO of 20"}


def ping_of_fq_codel(ask: Ask) -> Outcome:
    """Judge pings above FQ-CoDel in mac80211."""
    return _within(ask, "ping_p50", ["fq-codel"], 0.25)


def ping_of_fifos(ask: Ask) -> Outcome:
    """Judge pings above both FIFOs."""
    return _within(ask, "ping_p50", ["fifo-1000", "fifo-20"], 0.25)


def ping_of_stock(ask: Ask) -> Outcome:
    """Judge pings above FQ-CoDel over the driver's queue."""
    return _within(ask, "ping_p50", ["stock"], 0.25)


def ping_after_minutes(ask: Ask) -> Outcome:
    """Judge pings above the FIFO of 1000 packets after five minutes."""
    ratios = {
        mcs: ask.at("ping_p50", f"long/fifo-1000-mcs{mcs}") / measured("fifo-1000", mcs, "ping_p50_ms", 300)
        for mcs in RATES
    }
    return _told(ratios, 0.25, "FIFO of 1000")


def tcp_of_all(ask: Ask) -> Outcome:
    """Judge sums of throughput."""
    return _within(ask, "tcp", QUEUES, 0.10)


def order_of_queues(ask: Ask) -> Outcome:
    """Judge the order of the four structures at each rate, of pairs whose measured medians differ by more than a tenth."""
    wrong: list[str] = []
    pairs = 0
    for mcs in _rates(ask):
        ours = {queue: _ours(ask, "ping_p50", queue, mcs) for queue in QUEUES}
        theirs = {queue: measured(queue, mcs, "ping_p50_ms") for queue in QUEUES}
        for place, one in enumerate(QUEUES):
            for other in QUEUES[place + 1 :]:
                if abs(math.log(theirs[one] / theirs[other])) <= math.log(1.1):
                    continue
                pairs += 1
                if (theirs[one] < theirs[other]) != (ours[one] < ours[other]):
                    wrong.append(f"MCS {mcs} {_NAMES[one]} and {_NAMES[other]}")
    told = f"{pairs - len(wrong)} of {pairs} pairs"
    return Outcome.of(not wrong, told + (f"; not {', '.join(wrong)}" if wrong else ""))


# ---- ath10k ----------------------------------------------------------------------------------------------------------

_FIRMWARES = {
    "deep-fifo": ("deep", "taildrop"),
    "deep-fq-codel": ("deep", "fqcodel"),
    "limited-fifo": ("limited", "taildrop"),
    "limited-fq-codel": ("limited", "fqcodel"),
}


def measured_firmware(queue: str) -> float:
    """Return the mean ping that was measured with ath10k, ms."""
    firmware, manager = _FIRMWARES[queue]
    return float(printed_row(PRINTED / "ath10k.csv", firmware=firmware, queue=manager)["ping_mean_ms"])


def firmwares(ask: Ask) -> Outcome:
    """Judge the four access points with ath10k."""
    ours = {queue: ask.at("ping_mean", f"ath10k/{queue}") for queue in _FIRMWARES}
    ratios = {queue: ours[queue] / measured_firmware(queue) for queue in ours}
    told = ", ".join(f"{queue} {ours[queue]:.4g} of {measured_firmware(queue):.4g} ms" for queue in ours)
    return Outcome.of(all(0.75 <= ratio <= 1.25 for ratio in ratios.values()), told)


def answer(ask: Ask) -> str:
    """Say what FQ-CoDel does above a deep firmware queue, and above a limited one."""
    deep_fifo, deep, limited = (
        ask.at("ping_mean", f"ath10k/{one}") for one in ("deep-fifo", "deep-fq-codel", "limited-fq-codel")
    )
    return (
        f"FQ-CoDel above a deep firmware queue helps {'nothing' if deep >= 0.9 * deep_fifo else 'little'} ({deep / 1e3:.2g} s, "
        f"{deep_fifo / 1e3:.2g} s with a FIFO); with a limit of 5 ms of airtime below it, {limited:.0f} ms."
    )


# ---- bounds ------------------------------------------------------------------------------------------------------------

_BOUNDS = {
    "ht5": "N-HT5-MAX",
    "ht5-rts": "N-HT5R-MAX",
    "ht24": "N-HT24-MAX",
    "vht": "N-VHT-MAX",
    "vht-rts": "N-VHTR-MAX",
    "he5": "N-HE5-MAX",
    "he5-extended": "N-HE5X-MAX",
    "he5-rts": "N-HE5R-MAX",
    "he24": "N-HE24-MAX",
    "he24-rts": "N-HE24R-MAX",
}


def bound(identifier: str) -> float:
    """Return a bound by its identifier."""
    return float(printed_row(PRINTED / "bounds.csv", identifier=identifier)["value"])


def _beside_bounds(ask: Ask) -> dict[str, tuple[float, float]]:
    return {link: (ask.at("udp", f"ns-3/{link}"), bound(name)) for link, name in _BOUNDS.items()}


def below_bounds(ask: Ask) -> Outcome:
    """Judge whether no link carries more than the largest that ns-3's own tests allow."""
    found = _beside_bounds(ask)
    above = [link for link, (ours, most) in found.items() if ours > most]
    told = ", ".join(f"{link} {ours:.4g} of {most:.4g}" for link, (ours, most) in found.items())
    return Outcome.of(not above, f"{told} Mb/s")


def near_bounds(ask: Ask) -> Outcome:
    """Judge whether links carry nine tenths of it, too."""
    found = _beside_bounds(ask)
    below = [f"{link} {ours / most:.2f}" for link, (ours, most) in found.items() if ours < 0.9 * most]
    return Outcome.of(
        not below, f"{len(found) - len(below)} of {len(found)}" + (f"; not {', '.join(below)}" if below else "")
    )


def beside_ns3(ask: Ask) -> Outcome:
    """Judge whether links carry what ns-3.37 carries over them, within 3 %."""
    theirs = {row["link"]: float(row["throughput_mbps"]) for row in printed_rows(PRINTED / "ns3_links.csv")}
    ours = {link: ask.at("udp", f"ns-3/{link}") for link in theirs}
    far = [link for link, value in theirs.items() if abs(ours[link] / value - 1) > 0.03]
    told = ", ".join(f"{link} {ours[link]:.4g} of {value:.4g}" for link, value in theirs.items())
    return Outcome.of(not far, f"{told} Mb/s" + (f" (outside: {', '.join(far)})" if far else ""))


# ---- TR-398 ------------------------------------------------------------------------------------------------------------

_RADIOS = {"n24": ".11n24", "ac5": ".11ac5", "ax24": ".11ax24", "ax5": ".11ax5"}
_PLACES = {"near": 1, "middle": 2, "older": 3}


def fairness_near(ask: Ask) -> Outcome:
    """Judge two near stations."""
    return _fairness(ask, "near")


def fairness_middle(ask: Ask) -> Outcome:
    """Judge a near station and one at middle distance."""
    return _fairness(ask, "middle")


def fairness_older(ask: Ask) -> Outcome:
    """Judge a near station and one of an older standard."""
    return _fairness(ask, "older")


def _fairness(ask: Ask, place: str) -> Outcome:
    """Judge the sums of both stations against the limits."""
    found = {
        radio: (ask.at("udp", f"tr-398/{radio}-{place}-datagrams"), bound(f"TR-{name}-{_PLACES[place]}"))
        for radio, name in _RADIOS.items()
    }
    kept = sum(ours >= least for ours, least in found.values())
    told = ", ".join(f"{radio} {ours:.3g} of {least:.3g}" for radio, (ours, least) in found.items())
    return Outcome.of(kept == len(found), f"{told} Mb/s: {kept} of {len(found)}")


def airtime_share(ask: Ask) -> Outcome:
    """Judge whether each station gets 45 % of what TCP reaches to it alone."""
    shares: dict[str, float] = {}
    for radio in _RADIOS:
        for place in _PLACES:
            point = f"tr-398/{radio}-{place}"
            for measure, alone in (("first", f"tr-398/{radio}-near-tcp"), ("second", f"{point}-tcp")):
                shares[f"{radio} {place} {measure}"] = ask.at(measure, f"{point}-datagrams") / ask.at(
                    "tcp_alone", alone
                )
    below = [f"{name} {share:.2f}" for name, share in shares.items() if share < 0.45]
    told = f"{len(shares) - len(below)} of {len(shares)}, {min(shares.values()):.2f} to {max(shares.values()):.2f}"
    return Outcome.of(not below, told + (f" (below: {', '.join(below)})" if below else ""))


def patch_of_airtime(ask: Ask) -> Outcome:
    """Judge what the airtime scheduler changes against the table of its patch."""
    theirs = {row["identifier"]: float(row["value"]) for row in printed_rows(PRINTED / "airtime_patch.csv")}
    ours = {
        (turns, measure): ask.at(measure, f"anomaly/{turns}-turns")
        for turns in ("aggregate", "airtime")
        for measure in ("downloads", "slow_download")
    }
    total = ours["airtime", "downloads"] / ours["aggregate", "downloads"]
    slow = ours["airtime", "slow_download"] / ours["aggregate", "slow_download"]
    before, after = (sum(theirs[f"AP-{when}-{who}"] for who in ("F1", "F2", "S")) for when in "BA")
    holds = abs(total / (after / before) - 1) <= 0.1 and abs(slow / (theirs["AP-A-S"] / theirs["AP-B-S"]) - 1) <= 0.1
    told = (
        f"{ours['aggregate', 'downloads']:.3g} to {ours['airtime', 'downloads']:.3g} Mb/s, {total:.2f} times; "
        f"the slow one {ours['aggregate', 'slow_download']:.3g} to {ours['airtime', 'slow_download']:.3g}, {slow:.2f} times"
    )
    return Outcome.of(holds, told)


# ---- figures -------------------------------------------------------------------------------------------------------------

_LOOKS = {
    "fq-codel": "blue circle",
    "stock": "orange square",
    "fifo-20": "green triangle",
    "fifo-1000": "vermillion diamond",
}


def figure_access_point(ask: Ask) -> PlotSpec:
    """Draw pings and throughput over the rate: lines are ours, hollow marks were measured."""
    panels: list[Panel] = []
    for measure, quantity, unit, low, high in (
        ("ping_p50", "ping, median", "ms", 5.0, 2000.0),
        ("tcp", "TCP to both stations", "Mb/s", 3.0, 200.0),
    ):
        marks: list[Mark] = []
        for queue, look in _LOOKS.items():
            x, y = _curve(ask, measure, queue)
            theirs = np.array([measured(queue, mcs, _COLUMNS[measure]) for mcs in RATES])
            marks += [Line(x, y, look.split()[0], _NAMES[queue] if measure == "ping_p50" else "")]
            marks += [Dots(np.array(RATES, dtype=float), theirs, look)]
        panels.append(
            Panel(
                Axis("MCS of 802.11n, two streams from 8 on", "", low=-0.5, high=15.5),
                Axis(quantity, unit, scale="log", low=low, high=high),
                tuple(marks),
            )
        )
    return PlotSpec(
        "access-point",
        "One ath9k access point, four structures of queues",
        tuple(panels),
        columns=2,
        height=110,
        legend="below",
        description="Median ping and sum of TCP throughput over sixteen rates with four structures of queues; lines are ours, marks were measured.",
    )


def _curve(ask: Ask, measure: str, queue: str) -> tuple[np.ndarray, np.ndarray]:
    found: list[tuple[float, float]] = []
    for mcs in RATES:
        try:
            found.append((float(mcs), _ours(ask, measure, queue, mcs)))
        except NotRecorded:
            continue
    return np.array([x for x, _ in found]), np.array([y for _, y in found])
