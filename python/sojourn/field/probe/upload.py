"""Sending measurements to the collector, again and again until it says that it has them.

A file is named by the digest of its bytes, so sending it twice does no harm: after a lost answer, that is what
happens.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sojourn.base.errors import MissingExtra, UsageError
from sojourn.field.probe.spool import Spool

FIRST_WAIT_S = 2.0
LONGEST_WAIT_S = 900.0
"""Waits between attempts double from one to the other; chosen: a collector that restarts is back in seconds, one that
is down for a day is not asked more than a hundred times."""

CLOCK_S = 60.0
"""A larger clock error is reported. chosen: a minute is no drift."""

FOREVER = frozenset({413, 422})
"""Answers that will never be others."""


@dataclass
class Report:
    """Outcome of sending."""

    sent: int = 0
    refused: int = 0
    waiting: int = 0
    clock_error_s: float | None = None
    trouble: str = ""


class Uploader:
    """Sends what waits in a spool.

    Parameters
    ----------
    collector
        Its address.
    token
        That of the probe.
    spool
        What to send.
    transport
        For tests: what carries requests instead of the network.
    sleep
        For tests: what waits.
    clock
        For tests: what time it is, UTC.
    dice
        For tests: by how much waits differ.
    """

    def __init__(
        self,
        collector: str,
        token: str,
        spool: Spool,
        *,
        transport: Any = None,  # noqa: ANN401 - httpx may be absent
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        dice: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._spool = spool
        self._sleep = sleep
        self._clock = clock
        self._dice = dice
        self._client, self._failure = client_of(collector, token, transport)

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def send(self, *, attempts: int = 1) -> Report:
        """Send all that waits.

        Raises `UsageError` if the collector does not know the token: trying again will not help.

        Parameters
        ----------
        attempts
            How often to try each round before leaving the rest for later.
        """
        report = Report()
        wait = FIRST_WAIT_S
        for attempt in range(attempts):
            self._round(report)
            report.waiting = len(self._spool.files())
            if not report.waiting or attempt + 1 == attempts:
                break
            # Fifty probes that lost the same collector do not come back together.
            self._sleep(wait * self._dice(0.5, 1.5))
            wait = min(2 * wait, LONGEST_WAIT_S)
        return report

    def _round(self, report: Report) -> None:
        """Send each file once; stop at the first that the collector cannot take now."""
        report.trouble = ""
        for file in self._spool.files():
            content = self._spool.content(file)
            digest = hashlib.sha256(content).hexdigest()
            try:
                answer = self._client.put(
                    f"/uploads/{digest}",
                    content=content,
                    headers={"X-Sojourn-Name": file.name, "X-Sojourn-Time": self._clock().isoformat()},
                )
                status = int(answer.status_code)
                words: Any = answer.json() if status in {200, 201, *FOREVER} else {}
            except (self._failure, ValueError) as error:
                report.trouble = f"{type(error).__name__}: {error}"
                return
            if status == 401:
                raise UsageError(
                    "the collector does not know this probe's token",
                    "`sojourn trial collector renew PROBE` makes another",
                )
            if status in {200, 201} and words.get("stored") == digest:
                self._spool.done(file)
                report.sent += 1
                report.clock_error_s = words.get("clock_error_s")
            elif status in FOREVER:
                self._spool.refuse(file, str(words.get("error", status)))
                report.refused += 1
            else:
                report.trouble = f"the collector answered {status}"
                return


def client_of(
    collector: str,
    token: str,
    transport: Any,  # noqa: ANN401 - httpx may be absent
) -> tuple[Any, type[Exception]]:
    """Return a client of a collector, and the error that it raises if the collector is away.

    Raises `MissingExtra` if httpx is not installed.
    """
    try:
        import httpx
    except ImportError as error:
        raise MissingExtra("the probe", "httpx", "probe") from error
    client = httpx.Client(
        base_url=collector.rstrip("/"),
        headers={"Authorization": f"Bearer {token}"},
        timeout=httpx.Timeout(30.0, connect=10.0),
        transport=transport,
    )
    return client, httpx.HTTPError
