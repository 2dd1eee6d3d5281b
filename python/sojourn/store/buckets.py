"""Objects in a bucket of an S3-compatible server.

Credentials come from the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_ENDPOINT_URL`, `AWS_REGION`) or from
the machine's role, and go nowhere else.

Source: Amazon S3 user guide, "Conditional writes": `PUT` with `If-None-Match: *` in one part is refused with 412 if the object is
there, and with 409 if another is being written.
Deviations: a create that broke is looked up before it is tried again: the server may have done it and lost the answer.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from sojourn.base.errors import MissingExtra, StoreUnreachable, UsageError
from sojourn.store.objects import LARGEST_OBJECT

T = TypeVar("T")

TRIES = 8
FIRST_WAIT_S = 0.1
"""chosen: with doubling, a server may be away for 25 s, which is a restart."""

LISTED_AT_ONCE = 1000
"""Names that a server lists in one answer."""

MOST_LISTED = 4_000_000
"""Names below one folder. chosen: two for each unit of the largest round; half a gigabyte."""


class BucketObjects:
    """Objects in a bucket.

    Raises `MissingExtra` if the package `obstore` is not installed; `UsageError` if the address is none.

    Parameters
    ----------
    address
        `s3://BUCKET/PREFIX`.
    first_wait_s
        How long to wait before the first of eight further tries; each next wait is twice as long.
    """

    def __init__(self, address: str, first_wait_s: float = FIRST_WAIT_S) -> None:
        try:
            import obstore
            from obstore import exceptions
            from obstore.store import from_url
        except ImportError as error:
            raise MissingExtra("a store on a server", "obstore", "cluster") from error
        self.address = address
        self._library: Any = obstore
        self._errors: Any = exceptions
        self._first_wait_s = first_wait_s
        is_local = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")
        try:
            self._store: Any = from_url(
                address,
                client_options={
                    "timeout": timedelta(seconds=60),
                    "connect_timeout": timedelta(seconds=5),
                    "allow_http": is_local,
                },
                retry_config={
                    "max_retries": 0,  # of a create the library would not know which try came through
                    "retry_timeout": timedelta(seconds=10),
                    "backoff": {
                        "init_backoff": timedelta(seconds=first_wait_s),
                        "max_backoff": timedelta(seconds=1),
                        "base": 2,
                    },
                },
            )
        except (ValueError, exceptions.BaseError) as error:
            raise UsageError(
                f"{address} is no address of a store: {_first_line(error)}", "s3://BUCKET/PREFIX"
            ) from error

    def create(self, name: str, content: bytes) -> bool:
        """Keep an object unless there is one of that name; return whether there was none."""
        is_first = True

        def put() -> bool:
            nonlocal is_first
            was_first, is_first = is_first, False
            try:
                self._library.put(self._store, name, content, mode="create", use_multipart=False)
            except self._errors.AlreadyExistsError:
                # Unless an earlier try has come through after all.
                return not was_first and self._read(name) == content
            except self._errors.BaseError:
                found = self._read(name)
                if found is None:
                    raise
                return found == content
            return True

        return self._try("write to", put)

    def read(self, name: str) -> bytes | None:
        """Return an object; nothing if there is none."""
        return self._try("read", lambda: self._read(name))

    def _read(self, name: str) -> bytes | None:
        try:
            found = self._library.get(self._store, name)
            if found.meta["size"] > LARGEST_OBJECT:
                return None  # no store has put it there
            return bytes(found.bytes())
        except FileNotFoundError:
            return None

    def names(self, folder: str) -> list[str]:
        """Return the names of all objects below a folder, without it, in their order."""
        start = len(folder) + 1

        def listed() -> list[str]:
            found: list[str] = []
            for pages, chunk in enumerate(self._library.list(self._store, folder, chunk_size=LISTED_AT_ONCE)):
                paths = [str(one["path"]) for one in chunk]
                found += [path[start:] for path in paths if path.startswith(f"{folder}/")]
                if max(len(found), pages) > MOST_LISTED:
                    raise StoreUnreachable(
                        f"{self.address} lists no end of objects below {folder}", "is it the server that was meant?"
                    )
            return sorted(found)

        return self._try("list", listed)

    def delete(self, name: str) -> None:
        """Remove an object, if it is there."""

        def removed() -> None:
            try:
                self._library.delete(self._store, name)
            except FileNotFoundError:
                return

        self._try("delete from", removed)

    def _try(self, verb: str, action: Callable[[], T]) -> T:
        """Do something, again and again while the server fails.

        Raises `StoreUnreachable` if it fails to the end, or refuses.
        """
        wait = self._first_wait_s
        for tried in range(TRIES + 1):
            try:
                return action()
            except (self._errors.PermissionDeniedError, self._errors.UnauthenticatedError) as error:
                raise StoreUnreachable(
                    f"{self.address} refuses these credentials",
                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the machine's role, have to be allowed to",
                ) from error
            except (OSError, self._errors.BaseError) as error:
                if tried == TRIES:
                    raise self._unreachable(verb, error) from error
                time.sleep(wait * random.uniform(0.5, 1.5))
                wait *= 2
        raise AssertionError  # the last try returns or raises

    def _unreachable(self, verb: str, error: Exception) -> StoreUnreachable:
        has_key = "AWS_ACCESS_KEY_ID" in os.environ
        if not has_key and "169.254" in str(error):  # where machines of clouds ask for their role
            return StoreUnreachable(
                f"there are no credentials for {self.address}", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
        return StoreUnreachable(
            f"cannot {verb} {self.address}: {_first_line(error)}", "the same command goes on when the server is back"
        )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
