"""Time at which the next test is due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta


def next_slot(now: datetime, slots: Sequence[time]) -> datetime:
    """Return the first slot after a moment.

    Parameters
    ----------
    now
        With a zone.
    slots
        Times of day, UTC.

    Examples
    --------
    >>> next_slot(datetime(2016, 5, 2, 8, 0, tzinfo=UTC), [time(8), time(12)]).isoformat()
    '2016-05-02T12:00:00+00:00'
    """
    now = now.astimezone(UTC)
    days = (now.date(), now.date() + timedelta(days=1))
    return min(moment for day in days for slot in slots if (moment := datetime.combine(day, slot, UTC)) > now)
