"""The headline of a single run: from the rows of its metrics and the text of its scenario."""

from __future__ import annotations

from sojourn.headline.applications import application_of
from sojourn.headline.derive import headline_of
from sojourn.headline.said import Claim, Headline, Point
from sojourn.headline.wireless import AIRTIME, narrow_sentence, narrow_station

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Row = tuple[str, str, float, str]


def headline_of_run(rows: Iterable[Row], scenario: str = "") -> Headline | None:
    """Say in one sentence what came of a run; nothing if no application felt and no transfer got anything.

    Parameters
    ----------
    rows
        Subject, metric, value and unit.
    scenario
        Text of its scenario, which tells games from other streams, and its subject.

    Examples
    --------
    >>> headline_of_run([("upload", "goodput", 9.42, "Mb/s")]).sentence
    'The upload gets 9.4 Mb/s.'
    """
    values = {(subject, metric): {0: value} for subject, metric, value, _ in rows if value == value}
    document = _document(values, scenario)
    if not document:
        found = headline_of([Point("", values)])
    else:
        from sojourn.headline.kinds import kinds_in, marked_in

        found = headline_of([Point("", values)], kinds=kinds_in(document), about=marked_in(document))
    if found is None or not any(metric == AIRTIME for _, metric in values):
        return found
    station = narrow_station({key: of_seeds[0] for key, of_seeds in values.items()})
    if not station:
        return found
    claims = (Claim(station, "narrow_hop"), *found.claims)
    return found.but(sentence=f"{narrow_sentence(station)} {found.sentence}", claims=claims)


def _document(values: Iterable[tuple[str, str]], scenario: str) -> dict[str, Any]:
    """Return the scenario, read only if it marks its subject, or something may be a game or another stream."""
    metrics: dict[str, list[str]] = {}
    for subject, metric in values:
        metrics.setdefault(subject, []).append(metric)
    unclear = [
        names
        for names in metrics.values()
        if "goodput" in names and "connections" not in names and application_of(names) in ("", "game")
    ]
    if not scenario or not (unclear or "about" in scenario):
        return {}
    import tomllib

    try:
        return tomllib.loads(scenario)
    except ValueError:  # a damaged copy
        return {}
