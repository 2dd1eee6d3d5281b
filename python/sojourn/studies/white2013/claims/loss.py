"""Claims about lost game packets.

Source: White 2013, sections 4.1.1 to 4.1.3, Figures 15 to 18, Table 3.
Deviations: none known; late packets do not count, as the document says of games.
"""

from __future__ import annotations

from collections.abc import Iterable

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.numbers import by_group as by_case
from sojourn.studies.numbers import number
from sojourn.studies.view import StudyView
from sojourn.studies.white2013.cases import (
    BITTORRENT,
    BUFFER_CONTROL,
    BUFFERBLOAT,
    CODEL,
    GAME_LIMIT_MS,
    GROUPS,
    LOADS,
    MANAGER_LABELS,
    MANAGERS,
    PIE,
    RF_LEVELS,
    SFQ_CODEL,
)
from sojourn.studies.white2013.claims.measures import (
    EASY_GROUPS,
    EASY_LOADS,
    column,
    conditions,
    delay,
    games,
    group_mean,
    mean,
    median_over_seeds,
)

claim = ClaimBook()

#: Loss in % that already hurts a cloud game (section 4.1.3).
CLOUD_GAME_LOSS = 0.3

#: Households without BitTorrent.
WITHOUT_BITTORRENT = tuple(load for load in LOADS if load not in BITTORRENT)


def losses(view: StudyView, manager: str, loads: Iterable[str] = LOADS) -> dict[str, float]:
    """Lost game packets in % by household and level of congestion."""
    return conditions(view, manager, "lost", loads)


def worst(values: dict[str, float]) -> str:
    """Name the condition that loses most."""
    name = max(values, key=lambda key: values[key])
    return f"{number(values[name])} % ({name})"


def listed(values: dict[str, dict[str, float]]) -> str:
    """Name the condition that loses most, by manager."""
    return "; ".join(f"{MANAGER_LABELS[manager]} {worst(v)}" for manager, v in values.items())


def bittorrent(view: StudyView, manager: str) -> float:
    """Mean loss in % of the BitTorrent households."""
    return mean(list(losses(view, manager, BITTORRENT).values()))


@claim("W13-67")
def _few(view: StudyView) -> Outcome:
    chosen = {
        BUFFERBLOAT: losses(view, BUFFERBLOAT),
        BUFFER_CONTROL: losses(view, BUFFER_CONTROL),
        PIE: losses(view, PIE, WITHOUT_BITTORRENT),
    }
    held = all(max(by_condition.values()) <= 3 for by_condition in chosen.values())
    note = f"PIE in BitTorrent: {worst(losses(view, PIE, BITTORRENT))}"
    return Outcome.of(held, f"at most {listed(chosen)}", note)


@claim("W13-68")
def _moderate_behind_codel(view: StudyView) -> Outcome:
    loss = {
        manager: group_mean(view, manager, "lost", column(*EASY_GROUPS))
        for manager in (BUFFERBLOAT, BUFFER_CONTROL, CODEL, PIE)
    }
    rivals = max(value for manager, value in loss.items() if manager != CODEL)
    return Outcome.of(loss[CODEL] > rivals and 0.3 <= loss[CODEL] <= 12, by_case(loss, 2, "%"))


@claim("W13-70")
def _beside_110_flows(view: StudyView) -> Outcome:
    loss = {load: mean(list(losses(view, SFQ_CODEL, (load,)).values())) for load in ("x14", "x15")}
    return Outcome.of(all(2 <= v <= 10 for v in loss.values()), by_case(loss, 3, "%"))


@claim("W13-71")
def _in_bittorrent(view: StudyView) -> Outcome:
    loss = losses(view, SFQ_CODEL, BITTORRENT)
    least, largest = min(loss.values()), max(loss.values())
    held = 4 <= least <= 15 and 20 <= largest <= 45
    return Outcome.of(held, f"{number(least)} to {number(largest)} %: {by_case(loss, 3)}")


@claim("W13-73")
def _almost_none(view: StudyView) -> Outcome:
    loss = losses(view, SFQ_CODEL, EASY_LOADS)
    return Outcome.of(max(loss.values()) <= 0.02, f"at most {worst(loss)}")


@claim("W13-75")
def _ranking(view: StudyView) -> Outcome:
    easy = {
        manager: group_mean(view, manager, "lost", column(*EASY_GROUPS)) for manager in MANAGERS
    }
    torrent = {manager: bittorrent(view, manager) for manager in MANAGERS}
    held = easy[SFQ_CODEL] <= min(easy.values())
    held = held and torrent[SFQ_CODEL] >= max(v for m, v in torrent.items() if m != PIE)
    return Outcome.of(
        held, f"light and moderate {by_case(easy, 2, '%')}; BitTorrent {by_case(torrent, 3, '%')}"
    )


@claim("W13-76")
def _below_a_fifth(view: StudyView) -> Outcome:
    chosen = {m: losses(view, m) for m in (BUFFERBLOAT, BUFFER_CONTROL, CODEL)}
    held = all(max(by_condition.values()) < 20 for by_condition in chosen.values())
    return Outcome.of(held, f"at most {listed(chosen)}")


@claim("W13-77")
def _one_household_above_a_fifth(view: StudyView) -> Outcome:
    loss = losses(view, SFQ_CODEL, BITTORRENT)
    above = {load: sum(loss[f"{load} {rf}"] > 20 for rf in RF_LEVELS) for load in BITTORRENT}
    held = sorted(above.values()) == [0, len(RF_LEVELS)]
    note = f"PIE: {by_case(losses(view, PIE, BITTORRENT), 3, '%')}"
    return Outcome.of(held, by_case(loss, 3, "%"), note)


@claim("W13-78")
def _below_half(view: StudyView) -> Outcome:
    chosen = {manager: losses(view, manager) for manager in MANAGERS}
    held = all(max(by_condition.values()) < 50 for by_condition in chosen.values())
    return Outcome.of(held, f"at most {listed(chosen)}")


@claim("W13-79")
def _cloud_games(view: StudyView) -> Outcome:
    good: set[tuple[str, str]] = set()
    near: list[str] = []
    for manager in MANAGERS:
        for group in GROUPS:
            p95 = delay(view, manager, 0.95, column(group))
            lost = group_mean(view, manager, "lost", column(group))
            if p95 < GAME_LIMIT_MS and lost < CLOUD_GAME_LOSS:
                good.add((manager, group))
            if manager == SFQ_CODEL:
                near.append(f"{group} {number(p95)} ms, {number(lost)} %")
    found = ", ".join(f"{MANAGER_LABELS[m]} {group}" for m, group in sorted(good)) or "none"
    held = good == {(SFQ_CODEL, group) for group in EASY_GROUPS}
    return Outcome.of(held, f"meets both: {found}; SFQ-CoDel {'; '.join(near)}")


@claim("W13-64")
def _thirty_two_sub_flows(view: StudyView) -> Outcome:
    parts: list[str] = []
    held = True
    for load in ("x14", "x16"):
        for metric, unit in (("lost", "%"), ("delay_p95", "ms")):
            value = {
                f"{bins}": median_over_seeds(view.values(f"{load}-bins-{bins}", "game", metric))
                for bins in (8, 16, 32, 64, 128)
            }
            held = held and value["32"] <= 1.1 * min(value.values())
            parts.append(f"{load} {by_case(value, 3, unit)}")
    return Outcome.of(held, "; ".join(parts))


@claim("W13-105")
def _pie_in_sub_flows(view: StudyView) -> Outcome:
    both = {
        name: games(view, manager, "none", metric, (load,))[load]
        for name, manager, metric, load in (
            ("SFQ-PIE delay", "sfq-pie", "delay_p95", "x02"),
            ("PIE delay", PIE, "delay_p95", "x02"),
            ("SFQ-PIE loss", "sfq-pie", "lost", "x16"),
            ("PIE loss", PIE, "lost", "x16"),
        )
    }
    held = both["SFQ-PIE delay"] < both["PIE delay"] and both["SFQ-PIE loss"] > both["PIE loss"]
    return Outcome.of(
        held,
        f"x02 {number(both['SFQ-PIE delay'])} against {number(both['PIE delay'])} ms; "
        f"x16 {number(both['SFQ-PIE loss'])} against {number(both['PIE loss'])} %",
    )
