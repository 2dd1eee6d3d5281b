"""From points to the sentence: who speaks, who wins, what it costs.

Source: the rules stand in the documentation, "How the headline is made".
Deviations: none known.
"""

from __future__ import annotations

from sojourn.headline.alone import gone, only, rates, run
from sojourn.headline.board import Board
from sojourn.headline.said import Headline, Point

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["headline_of"]


def headline_of(
    points: Sequence[Point],
    *,
    settings: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    noun: str = "",
    baseline: str = "",
    feels: Sequence[str] = (),
    own: Sequence[str] = (),
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
        Settings of the reader's own; if one competes, the best is compared with each of the others.

    Returns
    -------
    Headline or None
        Nothing if nobody feels or gets anything.

    Examples
    --------
    >>> run = Point("", {("call", "mos"): {1: 4.41}, ("call", "delay_up_p99"): {1: 6.0}})
    >>> headline_of([run]).sentence
    'Nothing disturbs the call: 6 ms upstream (P99), MOS 4.4. Grade A.'
    """
    if not points:
        return None
    board = Board(points, settings, dict(kinds or {}), feels)
    many_settings = len(board.settings) > 1
    if not board.listeners:
        found = rates(board)
    elif not many_settings:
        found = only(board) if board.missing else run(board)
    elif board.bouts:
        from sojourn.headline.contest import Contest

        found = Contest(board, noun, baseline, own).headline()
    else:
        found = run(board)
    if found is None:
        return None
    if board.missing and many_settings:
        left = gone(len(board.missing))
        found = found.but(sentence=f"{found.sentence} {left}", cautions=(*found.cautions, left))
    if found.sentence.startswith(("a ", "an ", "the ")):
        found = found.but(sentence=f"{found.sentence[0].upper()}{found.sentence[1:]}")
    return found.but(grades=board.grades)
