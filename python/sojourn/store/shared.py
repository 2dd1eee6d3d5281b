"""Opens stores that machines share, by path or address, and refuses those that would overwrite what exists."""

from __future__ import annotations

import uuid
from pathlib import Path

from sojourn.base.errors import UsageError
from sojourn.store.buckets import BucketObjects
from sojourn.store.objects import FolderObjects, Objects

SCHEMES = ("s3", "gs", "az")
"""Of addresses; `gs` and `az` are opened by the same library, and never were tried."""


def is_address(store: str) -> bool:
    """Return whether a store is named by the address of a server rather than a path.

    Raises `UsageError` if it is an address of an unknown scheme.

    Examples
    --------
    >>> is_address("s3://bucket/studies"), is_address("/home/me/store")
    (True, False)
    """
    scheme, colon, _ = store.partition("://")
    if not colon:
        return False
    if scheme not in SCHEMES:
        raise UsageError(f'no store is reached by "{scheme}://"', "a path, or s3://BUCKET/PREFIX")
    return True


def open_objects(store: str | Path) -> Objects:
    """Open a shared store, and make sure that it does not overwrite what exists.

    Raises `UsageError` if the address is none, or the server overwrites; `StoreUnreachable` if it does not answer.
    """
    if not is_address(str(store)):
        return FolderObjects(Path(store))
    objects = BucketObjects(str(store))
    _probe(objects)
    return objects


def _probe(objects: Objects) -> None:
    """Make sure that an object is created once.

    Raises `UsageError` if it is created twice.
    """
    name = f"v2/probe/{uuid.uuid4().hex}"
    objects.create(name, b"first")
    is_overwritten = objects.create(name, b"second") or objects.read(name) != b"first"
    objects.delete(name)
    if is_overwritten:
        raise UsageError(
            f"{objects.address}: this server overwrites what exists",
            "use one with conditional writes (If-None-Match), or a path on a shared disk",
        )
