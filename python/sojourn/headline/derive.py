"""From points to the sentence: claims first, then their words.

Source: the rules stand in the documentation, "How the headline is made".
Deviations: none known.
"""

from __future__ import annotations

from sojourn.headline.board import Board
from sojourn.headline.said import Headline, Point

TYPE_CHECKING = False  # as type checkers read it; the modules typing and dataclasses would take their time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def headline_of(
    points: Sequence[Point],
    *,
    settings: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    noun: str = "",
    baseline: str = "",
    feels: Sequence[str] = (),
    own: Sequence[str] = (),
    about: Sequence[str] = (),
) -> Headline | None:
    """Say in one sentence what came of runs.

    Parameters
    ----------
    points
        What has run.
    settings
        All settings that were to compete, in order, as readers call them; those of the points if empty.
    kinds
        Kinds of applications in the scenario, by traffic entry; guessed by what was measured where it is not said.
    noun
        What settings that are amounts are amounts of: `buffer`.
    baseline
        The setting that others are measured by.
    feels
        Applications (`call`) or traffic entries that count alone.
    own
        Settings of the reader's own; if one competes, it is the subject.
    about
        Traffic entries that the scenario marks with `about = true`; one of them is the first subject.

    Returns
    -------
    Headline or None
        `None` if there is no application and no transfer.

    Examples
    --------
    >>> run = Point("", {("call", "mos"): {1: 4.41}, ("call", "delay_up_p99"): {1: 6.0}})
    >>> headline_of([run]).sentence
    'Nothing disturbs the call: 6 ms upstream (P99), MOS 4.4. Grade A.'
    """
    if not points:
        return None
    board = Board(points, settings, dict(kinds or {}), feels, about)
    if not board.listeners:
        return None
    if len(board.settings) > 1 and board.bouts:
        return _contest(board, noun, baseline, own)
    from sojourn.headline.alone import alone

    return alone(board)


def _contest(board: Board, noun: str, baseline: str, own: Sequence[str]) -> Headline:
    from sojourn.headline.contest import Contest
    from sojourn.headline.ranges import big_number
    from sojourn.headline.said import Claim
    from sojourn.headline.wording import ONE_SEED, gone, reason, sentence

    contest = Contest(board, noun, baseline, own)
    claims = contest.claims()
    cost = sentence([one for one in claims if one.relation in ("loses", "costs_nothing")]).rstrip(".")
    cautions = (ONE_SEED,) if contest.chance else ()
    if board.missing:
        cautions = (*cautions, gone(len(board.missing)))
        claims.append(Claim("", "missing", count=len(board.missing)))
    assert contest.first is not None
    return Headline(
        sentence(claims),
        contest.kind,
        about="" if board.is_of_rates else contest.listener.words,
        grades=board.grades,
        felt=board.felt,
        reasons={name: reason(listener.words, value) for name, (listener, value) in board.worst.items()},
        big=big_number(contest.listener.words, contest.first),
        winner=contest.winner,
        runner_up=contest.runner_up,
        cost=f"{cost[:1].lower()}{cost[1:]}" if cost.startswith("The ") else cost,
        cautions=cautions,
        claims=tuple(claims),
    )
