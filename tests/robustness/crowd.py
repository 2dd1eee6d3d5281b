"""A crowd of strangers before the collector: honest probes beside hostile connections, each upload timed and looked for in the end.

usage: .venv/bin/python -m robustness.crowd [SECONDS [HOSTILE [HONEST [KILLS]]]]    (in tests/)

Hostile connections say nothing, drip headers or bodies, send chunks of a byte, garbage, and requests behind requests, and one stolen
token sends what is dear to read; each comes again when it is ended. Each honest probe sends three measurements and asks for
its plan; what is answered by 503 or not at all it sends again, as probes do. With KILLS, the collector is killed so often and started
again. Prints the longest waits of the honest, and what of theirs is not in the database: that, and nothing else, ends with status 1.
"""

import asyncio
import contextlib
import gzip
import hashlib
import os
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from field.services import Collector, flent_file
from sojourn.field.collector.storage import Storage

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Hostile = Callable[[Streams, random.Random, str], Awaitable[None]]

FILES = 3
"""Measurements that each honest probe sends."""


def head_of(token: str, digest: str, length: int, more: str = "") -> bytes:
    """Return the head of an upload."""
    said = f"Authorization: Bearer {token}\r\n" if token else ""
    return f"PUT /uploads/{digest} HTTP/1.1\r\nHost: c\r\n{said}Content-Length: {length}\r\n{more}\r\n".encode()


async def silent(streams: Streams, dice: random.Random, token: str) -> None:
    """Say nothing."""
    del dice, token
    await streams[0].read(1)


async def half_head(streams: Streams, dice: random.Random, token: str) -> None:
    """Send a header a second, for ever."""
    del token
    streams[1].write(b"GET /health HTTP/1.1\r\nHost: c\r\n")
    while True:
        streams[1].write(b"X-%d: y\r\n" % dice.randrange(10**6))
        await streams[1].drain()
        await asyncio.sleep(1)


async def one_byte_chunks(streams: Streams, dice: random.Random, token: str) -> None:
    """Send a megabyte of chunks of a byte."""
    del dice, token
    streams[1].write(f"PUT /uploads/{'0' * 64} HTTP/1.1\r\nHost: c\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    for _ in range(64):
        streams[1].write(b"1\r\na\r\n" * 2700)
        await streams[1].drain()
    await streams[0].read(1)


async def drip(streams: Streams, dice: random.Random, token: str) -> None:
    """Send a body of a stranger a byte a second."""
    del dice, token
    streams[1].write(head_of("", "0" * 64, 8 << 20))
    while True:
        streams[1].write(b"x")
        await streams[1].drain()
        await asyncio.sleep(1)


async def garbage(streams: Streams, dice: random.Random, token: str) -> None:
    """Send bytes."""
    del token
    streams[1].write(dice.randbytes(20_000))
    await streams[1].drain()
    await streams[0].read(1 << 16)


async def wrong_tokens(streams: Streams, dice: random.Random, token: str) -> None:
    """Guess tokens, request behind request."""
    del token
    for _ in range(50):
        streams[1].write(head_of(dice.randbytes(16).hex(), "0" * 64, 0))
    await streams[1].drain()
    while await streams[0].read(1 << 16):
        await asyncio.sleep(0.2)


async def asks(streams: Streams, dice: random.Random, token: str) -> None:
    """Ask for health, again and again."""
    del dice, token
    for _ in range(20):
        streams[1].write(b"GET /health HTTP/1.1\r\nHost: c\r\n\r\n")
        await streams[1].drain()
        await streams[0].read(1 << 12)
        await asyncio.sleep(0.5)


async def dear(streams: Streams, dice: random.Random, token: str) -> None:
    """Send what is dear to read, with a stolen token: eight megabytes of random numbers as those of Flent."""
    numbers = b",".join(b"%d.%d" % (dice.randrange(100), dice.randrange(10**6)) for _ in range(150_000))
    body = gzip.compress(
        b'{"version": 4, "metadata": {}, "x_values": [' + numbers + b'], "results": {"a": [' + numbers + b"]}}", 1
    )
    streams[1].write(head_of(token, hashlib.sha256(body).hexdigest(), len(body)) + body)
    await streams[1].drain()
    await streams[0].read(1 << 12)
    await asyncio.sleep(1)


KINDS: list[Hostile] = [silent, half_head, one_byte_chunks, drip, garbage, wrong_tokens, asks, silent, half_head, drip]


async def stranger(port: int, kind: Hostile, number: int, token: str) -> None:
    """Come again and again."""
    dice = random.Random(number)
    while True:
        with contextlib.suppress(OSError, EOFError):
            streams = await asyncio.open_connection("127.0.0.1", port)
            try:
                await asyncio.wait_for(kind(streams, dice, token), 30)
            except TimeoutError:
                pass
            finally:
                streams[1].close()
        await asyncio.sleep(0.2 + 0.8 * dice.random())


def crowd(port: int, count: int, token: str) -> None:
    """Be hostile, until this process is ended."""

    async def all_of_them() -> None:
        kinds = [dear if number % 100 == 99 else KINDS[number % len(KINDS)] for number in range(count)]
        await asyncio.gather(*(stranger(port, kind, number, token) for number, kind in enumerate(kinds)))

    asyncio.run(all_of_them())


@dataclass
class Found:
    """What came of it."""

    waits: list[float] = field(default_factory=list[float])
    """Seconds from the first byte of a request to its answer, in order."""
    again: int = 0
    """Requests that were sent again."""
    sent: set[str] = field(default_factory=set[str])
    """Digests that were acknowledged."""
    missing: int = 0
    """Of these, those that the database does not have, and those of the honest that were never acknowledged."""


async def asked(port: int, request: bytes, found: Found, statuses: set[int]) -> None:
    """Send a request until it is answered as it should be."""
    while True:
        began = time.monotonic()
        status = 0
        with contextlib.suppress(OSError, EOFError, ValueError, IndexError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(request)
                await writer.drain()
                status = int((await asyncio.wait_for(reader.readline(), 60)).split()[1])
            except TimeoutError:
                pass
            finally:
                writer.close()
        if status:
            found.waits.append(time.monotonic() - began)
        if status in statuses:
            return
        found.again += 1
        await asyncio.sleep(0.5)


async def honest(port: int, number: int, token: str, seconds: float, found: Found) -> None:
    """Send measurements, and ask for the plan, at random times."""
    dice = random.Random(number)
    for file in range(FILES):
        await asyncio.sleep(dice.random() * seconds / FILES)
        body = flent_file(number * FILES + file)
        digest = hashlib.sha256(body).hexdigest()
        await asked(port, head_of(token, digest, len(body)) + body, found, {200, 201})
        found.sent.add(digest)
        plan = f"GET /plan HTTP/1.1\r\nHost: c\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n".encode()
        await asked(port, plan, found, {200})


async def killer(collector: Collector, kills: int, seconds: float) -> None:
    """Kill the collector and start it again."""
    for _ in range(kills):
        await asyncio.sleep(seconds / (kills + 1))
        collector.kill()
        await asyncio.to_thread(collector.start)


def campaign(folder: Path, seconds: float, hostile: int, probes: int, kills: int = 0) -> Found:
    """Let honest probes and strangers meet at a collector of their own."""
    database = f"sqlite:///{folder}/trial.db"
    storage = Storage(database)
    tokens = [storage.add_probe(f"home-{number:03}") for number in range(probes)]
    stolen = storage.add_probe("stolen")
    storage.close()
    collector = Collector(database, folder)
    collector.start()
    strangers = get_context("spawn").Process(target=crowd, args=(collector.port, hostile, stolen), daemon=True)
    found = Found()

    async def all_of_them() -> None:
        await asyncio.sleep(2 if hostile else 0)  # they are there first
        work = [honest(collector.port, number, token, seconds, found) for number, token in enumerate(tokens)]
        await asyncio.gather(*work, killer(collector, kills, seconds))

    try:
        if hostile:
            strangers.start()
        asyncio.run(asyncio.wait_for(all_of_them(), 20 * seconds + 120))
    finally:
        if strangers.is_alive():
            strangers.kill()
            strangers.join()
        collector.stop()
    storage = Storage(database)
    kept = sum(storage.has(number, digest) for number in range(1, probes + 1) for digest in found.sent)
    storage.close()
    found.waits.sort()
    found.missing = probes * FILES - kept
    return found


def main() -> int:
    """Run the campaign with strangers, and without for comparison."""
    numbers = [int(word) for word in sys.argv[1:]] + [60, 300, 100, 0][len(sys.argv) - 1 :]
    seconds, hostile, probes, kills = numbers
    missing = 0
    for strangers in (0, hostile):
        with tempfile.TemporaryDirectory() as folder:
            found = campaign(Path(folder), seconds, strangers, probes, kills)
        middle, late, worst = (found.waits[int(share * (len(found.waits) - 1))] for share in (0.5, 0.99, 1))
        print(
            f"{strangers} hostile beside {probes} honest for {seconds} s, {kills} kills: {len(found.waits)} answers, half within {middle:.2f} s, "
            f"99 % {late:.2f} s, all {worst:.2f} s; {found.again} sent again; {found.missing} of {probes * FILES} lost; load {os.getloadavg()[0]:.0f}",
            flush=True,
        )
        missing += found.missing
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
