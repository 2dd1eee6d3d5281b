"""Common parts of the scenarios of RFC 9743: the grid, the competing stacks, and numbers of a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from string import ascii_lowercase

from sojourn.congestion.scenario import Cell, Number, Stacks, flow

OTHERS = {"reno": '"linux-reno"', "cubic": '"linux-cubic"', "bbr3": '"bbr3"', "prague": '"prague"'}
"""Stacks that a controller is put beside; the last two are reported and not judged."""

RATES, ROUND_TRIPS, BUFFERS = (2, 10, 50, 200), (10, 40, 100, 300), (0.25, 1.0, 4.0)
"""The grid: Mb/s, ms, bandwidth-delay products. chosen: from a slow DSL line to a fast cable one, from a near server to a satellite's."""

GRID = tuple(product(RATES, ROUND_TRIPS, BUFFERS))

FASTEST_OF_TWO = 50
"""Mb/s up to which two controllers are put beside each other on the grid. chosen: 200 Mb/s would cost more than all others."""

Traffic = Callable[[Stacks], str]


def one(rtt_ms: float = 40.0, *, lanes: int = 1, more: str = "") -> Traffic:
    """Return the traffic of the controller alone."""
    return lambda stacks: flow("own", stacks.own, rtt_ms=rtt_ms, lanes=lanes, more=more)


def marked(rtt_ms: float = 20.0, *, more: str = "", beside: str = "") -> Traffic:
    """Return the traffic of the controller with ECN, and what stands beside it."""
    return lambda stacks: flow("own", stacks.marked, rtt_ms=rtt_ms, more=more) + beside


def used() -> Number:
    """Return how much of the line is used, headers included."""
    return Number("used", "of the line used", "%", lambda run: 100 * run.metric("upstream", "utilisation"))


def goodput() -> Number:
    """Return what arrives in order, as a part of the line's rate."""
    return Number(
        "goodput", "goodput of the line", "%", lambda run: 100 * run.metric("own", "goodput") / run.cell.rate_mbps
    )


def wait(metric: str = "sojourn_mean", title: str = "mean wait in the queue") -> Number:
    """Return a wait in round trips, which is the length of the queue in bandwidth-delay products while the line is busy."""
    return Number(metric, title, "of a round trip", lambda run: run.metric("upstream", metric) / run.cell.rtt_ms)


def lost() -> Number:
    """Return which part of the packets is lost."""
    return Number("lost", "lost", "%", lambda run: run.metric("upstream", "loss_rate"))


def lettered(*cells: Cell) -> tuple[Cell, ...]:
    """Return cells of one criterion, told apart by letters."""
    return tuple(
        cell if len(cells) == 1 else replace(cell, item=f"{cell.item}{letter}")
        for cell, letter in zip(cells, ascii_lowercase, strict=False)
    )


def path(rate: float, rtt: float, buffer: float) -> str:
    """Return a path in words."""
    return f"{rate:g} Mb/s, {rtt:g} ms, {buffer:g} BDP"
