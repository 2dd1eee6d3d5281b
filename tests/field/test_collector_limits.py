"""Whatever strangers send, the collector keeps answering, says the truth, and takes no more than its share."""

import asyncio
import contextlib
import dataclasses
import gzip
import hashlib
import json
import logging
import os
import shutil
import socket
import sqlite3
import ssl
import stat
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Generator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
import uvicorn
from sqlalchemy.event import listens_for

from field.services import Collector, flent_file, free_port
from sojourn.base.errors import UsageError
from sojourn.field import importer
from sojourn.field.collector import app, reader
from sojourn.field.collector.app import create_app
from sojourn.field.collector.log import LimitedHandler
from sojourn.field.collector.reader import Reader, ReaderFailed
from sojourn.field.collector.service import export, serve
from sojourn.field.collector.storage import Storage
from sojourn.field.importer import read_upload
from sojourn.field.reading import Unreadable
from sojourn.process import connections
from sojourn.process.connections import Listener, connection_class
from support import CommandLine

ROOT = Path(__file__).parents[2]


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    one = Storage(f"sqlite:///{tmp_path}/trial.db")
    yield one
    one.close()


def upload(url: str, token: str, body: bytes, name: str = "a.flent.gz") -> httpx.Response:
    digest = hashlib.sha256(body).hexdigest()
    headers = {"Authorization": f"Bearer {token}", "X-Sojourn-Name": name}
    return httpx.put(f"{url}/uploads/{digest}", content=body, headers=headers, timeout=60)


@contextlib.contextmanager
def served(storage: Storage, most: int) -> Generator[str]:
    """Serve in a thread of this process, with so many connections at most; give the address."""
    listener = Listener(most)
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(storage, read=read_upload),
            http=connection_class([listener]),
            loop="asyncio",
            log_config=None,
            access_log=False,
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def connected(url: str, text: bytes) -> socket.socket:
    """Return a connection on which something was said."""
    port = int(url.rpartition(":")[2])
    one = socket.create_connection(("127.0.0.1", port), timeout=30)
    one.sendall(text)
    return one


def is_ended(one: socket.socket) -> bool:
    """Return whether the other side has ended a connection that was told nothing."""
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True


# ---- connections ---------------------------------------------------------------------------------------


def test_those_who_open_connections_and_say_nothing_give_way(storage: Storage) -> None:
    token = storage.add_probe("home-01")
    with served(storage, 20) as url, contextlib.ExitStack() as stack:
        half = [stack.enter_context(connected(url, b"GET /health HTTP/1.1\r\nHost: x\r\n")) for _ in range(60)]
        assert httpx.get(f"{url}/health", timeout=10).text == "ok\n"
        assert upload(url, token, flent_file(1)).status_code == 201
        for one in half[:40]:
            assert is_ended(one)


def test_a_request_under_way_does_not_give_way(storage: Storage) -> None:
    token = storage.add_probe("home-01")
    body = flent_file(1)
    head = (
        f"PUT /uploads/{hashlib.sha256(body).hexdigest()} HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with served(storage, 10) as url, contextlib.ExitStack() as stack:
        slow = stack.enter_context(connected(url, head.encode() + body[:50]))
        time.sleep(0.2)
        for _ in range(40):
            stack.enter_context(connected(url, b"GET"))
        assert httpx.get(f"{url}/health", timeout=10).status_code == 200
        slow.sendall(body[50:])
        assert slow.recv(100).startswith(b"HTTP/1.1 201")


def test_a_body_in_chunks_is_refused_before_it_is_read(storage: Storage) -> None:
    token = storage.add_probe("home")
    with served(storage, 8) as url:
        head = f"PUT /uploads/{'0' * 64} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nTransfer-Encoding: chunked\r\n\r\n"
        one = connected(url, head.encode() + b"1\r\na\r\n" * 100)
        answer = b""
        with one:
            while part := one.recv(65536):
                answer += part
        assert answer.startswith(b"HTTP/1.1 411 ")
        assert b"does not come in chunks" in answer
        assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("authorization", ["", "Authorization: Bearer unknown\r\n"])
@pytest.mark.parametrize("chunked", [True, False])
def test_a_stranger_who_sends_on_behind_the_answer_costs_nothing(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, authorization: str, chunked: bool
) -> None:
    """Eight megabytes of body in chunks of one byte, and as one body: thrown away unread, and others are answered meanwhile."""
    monkeypatch.setattr(connections, "LINGER_S", 20.0)
    body = b"1\r\na\r\n" * (8 * 2**20 // 6)
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(body)}"
    head = f"PUT /uploads/{'0' * 64} HTTP/1.1\r\nHost: a\r\n{authorization}{length}\r\n\r\n"
    with served(storage, 8) as url:
        one = connected(url, head.encode())
        began = sum(os.times()[:2])

        def send() -> None:
            with contextlib.suppress(OSError):
                one.sendall(body)

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        for _ in range(10):
            assert httpx.get(f"{url}/health", timeout=10).status_code == 200
        sender.join(30)
        assert one.recv(12) == (b"HTTP/1.1 411" if chunked else b"HTTP/1.1 401")
        assert sum(os.times()[:2]) - began < 2.5  # 11 to 13 s where the parser read all of it
        one.close()


def test_an_answer_is_read_by_a_client_whose_body_is_too_long(storage: Storage) -> None:
    token = storage.add_probe("home")
    with served(storage, 8) as url:
        body = bytes(app.LARGEST_UPLOAD + 1)
        assert upload(url, token, body).status_code == 413
        # The next one of the same probe is answered as ever.
        assert upload(url, token, flent_file(1)).status_code == 201


@pytest.mark.parametrize("said", [b"Basic \xff\xfe", b"Basic /w==", b"Basic =", b"Basic", b"Bearer \xc3\xa4"])
def test_a_password_that_is_no_text_is_a_wrong_one(storage: Storage, said: bytes) -> None:
    with served(storage, 8) as url:
        one = connected(url, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: " + said + b"\r\n\r\n")
        with one:
            assert one.recv(12) == b"HTTP/1.1 401"


@pytest.mark.parametrize("cut", [0, 1, 2, 3])
@pytest.mark.parametrize("before", [b"", b"GET /health HTTP/1.1\r\nHost: c\r\n\r\n"])
def test_no_chunk_of_a_byte_reaches_the_parser(storage: Storage, cut: int, before: bytes) -> None:
    """Thirty connections with such bodies, and honest probes waited 6 s: the parser read a slice before the head was looked at."""
    head = before + b"PUT /uploads/x HTTP/1.1\r\nHost: c\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"1\r\na\r\n" * 2500
    with served(storage, 64) as url:
        began = sum(os.times()[:2])
        for _ in range(20):
            with connected(url, head[: len(head) - cut]) as one:
                time.sleep(0.01 if cut else 0)
                one.sendall(head[len(head) - cut :] + chunks)
                answer = b""
                with contextlib.suppress(ConnectionError):
                    while part := one.recv(65536):
                        answer += part
                assert answer.startswith(b"HTTP/1.1 200" if before else b"HTTP/1.1 411")
                assert answer.count(b"HTTP/1.1 ") == 1
        assert sum(os.times()[:2]) - began < 1.0


def test_guesses_that_are_sent_one_behind_the_other_are_answered_once(storage: Storage) -> None:
    guess = f"PUT /uploads/{'0' * 64} HTTP/1.1\r\nHost: c\r\nAuthorization: Bearer x\r\nContent-Length: 0\r\n\r\n"
    with served(storage, 8) as url, connected(url, guess.encode() * 50) as one:
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while part := one.recv(65536):
                answer += part
    assert answer.count(b"HTTP/1.1 401") == 1


def test_headers_that_do_not_come_end_the_connection(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_S", 0.3)
    with served(storage, 20) as url, contextlib.ExitStack() as stack:
        silent = stack.enter_context(connected(url, b""))
        half = stack.enter_context(connected(url, b"GET / HTTP/1.1\r\n"))
        began = time.monotonic()
        assert is_ended(silent)
        assert is_ended(half)
        assert time.monotonic() - began < 5


def test_a_body_that_does_not_come_is_given_up_and_holds_up_no_other_probe(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "BODY_S", 1.0)
    tokens = [storage.add_probe("home-01"), storage.add_probe("home-02")]

    async def never() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.sleep(2)
        yield b"x"

    async def all_of_it(url: str) -> list[int]:
        headers = [{"Authorization": f"Bearer {token}"} for token in tokens]
        body = flent_file(1)
        async with httpx.AsyncClient(base_url=url, timeout=20) as client:
            first = asyncio.create_task(
                client.put(f"/uploads/{'0' * 64}", content=never(), headers={**headers[0], "Content-Length": "2"})
            )
            await asyncio.sleep(0.3)
            path = f"/uploads/{hashlib.sha256(body).hexdigest()}"
            second = await client.put(path, content=body, headers=headers[0])
            other = await client.put(path, content=body, headers=headers[1])
            return [answer.status_code for answer in (await first, second, other)]

    with served(storage, 20) as url:
        assert asyncio.run(all_of_it(url)) == [408, 503, 201]


def test_six_hundred_half_open_connections_leave_a_collector_answering(tmp_path: Path) -> None:
    collector = Collector(f"sqlite:///{tmp_path}/trial.db", tmp_path)
    collector.start()
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(600):
                stack.enter_context(connected(collector.url, b"GET / HTTP/1.1\r\nHost: x\r\n"))
            assert httpx.get(f"{collector.url}/health", timeout=10).text == "ok\n"
    finally:
        collector.stop()


# ---- uploads -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bounded() -> Iterator[Reader]:
    one = Reader()
    yield one
    one.close()


def test_the_process_that_reads_uploads_finds_what_reading_finds(bounded: Reader) -> None:
    body = flent_file(7, title="buffer=48KB week=2")
    assert bounded(body, "home-01/a", "home-01") == read_upload(body, "home-01/a", "home-01")
    with pytest.raises(Unreadable, match="not JSON"):
        bounded(b"{", "home-01/a", "home-01")


def test_a_small_file_does_not_unpack_to_a_large_one(bounded: Reader) -> None:
    bomb = gzip.compress(b'{"a":[' + b"[]," * 22_000_000 + b"[]]}")
    assert len(bomb) < 70_000
    with pytest.raises(Unreadable, match="unpacks to more than 6"):
        bounded(bomb, "home-01/a", "home-01")


def texts_of(body: bytes) -> list[str]:
    found = read_upload(body, "a.flent.gz", "home")
    return [text for test in found for text in (test.treatment, test.test, test.flags, test.zone, test.latency_kind)]


def test_a_text_without_end_does_not_fill_the_database() -> None:
    document = json.loads(gzip.decompress(flent_file(1)))
    document["metadata"]["TITLE"] = "x" * 200_000  # read for the treatment that it may name, and kept in the file alone
    assert max(map(len, texts_of(gzip.compress(json.dumps(document).encode())))) <= importer.LONGEST_TEXT
    document["metadata"]["NAME"] = "x" * 200_000
    with pytest.raises(Unreadable, match="has 200,000 characters as its test; 300 are the most"):
        texts_of(gzip.compress(json.dumps(document).encode()))


@pytest.mark.parametrize("began", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_a_year_of_no_measurement_is_refused(began: str) -> None:
    with pytest.raises(Unreadable, match=r"is of the year|as its time"):
        read_upload(flent_file(1, began=began), "a.flent.gz", "home")


@pytest.mark.parametrize("rate", [1e8, 1e302])
def test_a_rate_of_no_line_is_refused(rate: float) -> None:
    test = read_upload(flent_file(1), "a.flent.gz", "home")[0]
    with pytest.raises(Unreadable, match=r"Mb/s as its throughput; 1e\+07 is the most"):
        importer.within_bounds(dataclasses.replace(test, throughput_mbps=rate))


def much_memory() -> bytes:
    """Return a text that takes much memory and time to read."""
    # What does not pack stands before what does, so that the whole is no bomb by its ratio.
    filler = "".join(hashlib.sha256(b"%d" % n).hexdigest() for n in range(20_000))
    text = json.dumps({"filler": filler})[:-1].encode() + b',"a":[' + b"[]," * 18_000_000 + b"[]]}"
    body = gzip.compress(text, 1)
    assert len(text) / len(body) < 100
    return body


def test_one_probe_whose_uploads_are_dear_takes_no_turn_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stolen token had all of the reader's time; now it has a thirtieth."""
    statements = (
        "import time, sojourn.field.collector.reader as reader\n"
        "def read(body, *_):\n"
        "    end = time.process_time() + (0.6 if body == b'dear' else 0.0)\n"
        "    while time.process_time() < end: pass\n"
        "    return []\n"
        "reader.read_upload = read\n"
        "reader.main()"
    )

    def command(_: str) -> list[str]:
        return [sys.executable, "-c", statements]

    clock, later = time.monotonic, [0.0]

    def now() -> float:
        return clock() + later[0]

    monkeypatch.setattr(reader, "python_command", command)
    monkeypatch.setattr(time, "monotonic", now)
    one = Reader()
    try:
        assert one(b"dear", "stolen/a", "stolen") == []
        for body in (b"dear", b"x"):
            with pytest.raises(ReaderFailed, match="took long to read"):
                one(body, "stolen/b", "stolen")
        assert one(b"x", "home-01/a", "home-01") == []
        later[0] = 60.0
        assert one(b"x", "stolen/b", "stolen") == []
    finally:
        one.close()


def test_a_text_that_takes_much_memory_is_refused_and_the_next_is_read(bounded: Reader) -> None:
    with pytest.raises(Unreadable, match=r"more memory or time|more than"):
        bounded(much_memory(), "home-02/a", "home-02")
    assert len(bounded(flent_file(1), "home-01/a", "home-01")) == 1


@pytest.mark.parametrize(
    ("work", "patience", "error"),
    [
        ("while True: pass", 60.0, Unreadable),
        ("import time; time.sleep(99)", 1.5, ReaderFailed),
        ("import os; os.abort()", 60.0, Unreadable),
    ],
    ids=["computes", "sleeps", "dies"],
)
def test_reading_that_does_not_end_is_ended(
    monkeypatch: pytest.MonkeyPatch, work: str, patience: float, error: type[Exception]
) -> None:
    statements = (
        "import sojourn.field.collector.reader as reader\n"
        f"def read(*_):\n    {work}\n"
        "reader.read_upload, reader.CPU_S = read, 1\n"
        "reader.main()"
    )
    command = [sys.executable, "-c", statements]

    def other(_: str) -> list[str]:
        return command

    monkeypatch.setattr(reader, "python_command", other)
    monkeypatch.setattr(reader, "PATIENCE_S", patience)
    one = Reader()
    with pytest.raises(error):
        one(b"x", "home-01/a", "home-01")
    one.close()


def test_no_name_of_a_file_or_a_probe_leaves_its_folder(storage: Storage, tmp_path: Path) -> None:
    homes = ["..", ".", "a/b", "a_b", "家" * 100, "home-01"]
    names = ["..", ".", "-rf", ".bashrc", "x" * 200, "a/../../b", "a.flent.gz"]
    with served(storage, 20) as url:
        for number, home in enumerate(homes):
            token = storage.add_probe(home)
            for other, name in enumerate(names):
                body = flent_file(len(names) * number + other)
                assert upload(url, token, body, name).status_code == 201
    kept = {name for _, _, name, _ in storage.files()}
    assert "a.flent.gz" in kept
    assert all(name[0].isalnum() and len(name) <= 150 for name in kept)
    # Earlier versions took other names.
    number, _ = storage.probe_of(storage.renew_probe("home-01")) or (0, "")
    storage.add(number, "d" * 64, "../" * 60, b"bytes", [], None)
    out = tmp_path / "a" / "b" / "out"
    before = {path for path in tmp_path.rglob("*") if out not in path.parents}
    assert export(storage, out) == len(homes) * len(names)
    files = [path for path in (out / "files").rglob("*") if path.is_file()]
    assert len(files) == len(homes) * len(names) + 1
    assert {len(path.relative_to(out).parts) for path in files} == {3}
    assert len({path.parent for path in files}) == len(homes)
    after = {path for path in tmp_path.rglob("*") if out not in path.parents}
    assert after - before <= {tmp_path / "a", tmp_path / "a" / "b", out}


# ---- the truth -----------------------------------------------------------------------------------------


def test_a_full_disk_is_said_to_probes_and_to_those_who_ask_for_health(tmp_path: Path) -> None:
    now = datetime(2026, 11, 23, tzinfo=UTC)
    storage = Storage(f"sqlite:///{tmp_path}/trial.db", clock=lambda: now)
    token = storage.add_probe("home-01")
    with storage.engine.connect() as connection:
        pages = [connection.exec_driver_sql("PRAGMA page_count").scalar_one() + 6]

    @listens_for(storage.engine, "checkout")
    def bound(connection: sqlite3.Connection, *_: object) -> None:  # pyright: ignore[reportUnusedFunction]
        connection.execute(f"PRAGMA max_page_count={pages[0]}")

    async def asked(method: str, path: str, **options: bytes | dict[str, str]) -> tuple[int, str]:
        transport = httpx.ASGITransport(create)
        async with httpx.AsyncClient(transport=transport, base_url="http://c") as client:
            answer = await client.request(method, path, **options)  # type: ignore[arg-type]
            return answer.status_code, answer.text

    create = create_app(storage, read=read_upload)
    answers: list[int] = []
    words = ""
    for number in range(60):
        body = flent_file(number)
        path = f"/uploads/{hashlib.sha256(body).hexdigest()}"
        headers = {"Authorization": f"Bearer {token}"}
        status, words = asyncio.run(asked("PUT", path, content=body, headers=headers))
        answers.append(status)
    assert set(answers) == {201, 503}
    assert "cannot store" in words
    assert storage.count() == answers.count(201)
    assert asyncio.run(asked("GET", "/health")) == (503, "uploads cannot be stored\n")
    now += timedelta(minutes=1)
    assert asyncio.run(asked("GET", "/health")) == (503, "uploads cannot be stored\n")
    pages[0] = 10_000
    now += timedelta(minutes=1)
    assert asyncio.run(asked("GET", "/health")) == (200, "ok\n")
    storage.close()


def test_the_log_grows_by_little_whatever_is_sent(tmp_path: Path) -> None:
    collector = Collector(f"sqlite:///{tmp_path}/trial.db", tmp_path)
    collector.start()
    try:
        for _ in range(300):
            with connected(collector.url, b"\x00 garbage\r\n\r\n") as one:
                one.recv(1000)
    finally:
        collector.stop()
    text = (tmp_path / "collector.log").read_text(encoding="utf-8")
    assert "Invalid HTTP request" in text
    assert len(text) < 2000


def test_messages_are_counted_that_are_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    logger = logging.Logger("somebody")
    logger.addHandler(LimitedHandler(lambda: now[0]))
    for _ in range(1000):
        logger.error("x" * 100_000)
    now[0] = 601.0
    logger.error("again")
    said = capsys.readouterr().err
    assert len(said) < 25_000
    assert said.endswith("990 more messages of somebody were left out\nagain\n")


# ---- who may read it -----------------------------------------------------------------------------------


def test_only_its_owner_reads_the_database(tmp_path: Path) -> None:
    path = tmp_path / "trial.db"
    for _ in range(2):
        storage = Storage(str(path))
        storage.add_viewer()
        modes = {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
        assert modes == {0o600}
        assert len(list(tmp_path.iterdir())) > 1  # SQLite has files beside it
        storage.close()
        path.chmod(0o644)  # as earlier versions made it


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_plain_http_does_not_leave_the_machine_unasked(storage: Storage, host: str) -> None:
    with pytest.raises(UsageError, match="plain HTTP exposes tokens"):
        serve(storage, host, 0)


def test_what_keeps_a_collector_from_serving_is_said(sojourn: CommandLine, tmp_path: Path) -> None:
    words = ("trial", "collector", "serve", "--database", "sqlite:///trial.db")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        used = sojourn(*words, "--port", str(port))
    assert (used.status, used.stderr.partition("\n")[0]) == (
        1,
        f"error: cannot listen at 127.0.0.1, port {port}: address already in use",
    )
    (tmp_path / "key.pem").write_text("no key", encoding="utf-8")
    for options in (
        ("--key", "key.pem"),
        ("--certificate", "key.pem"),
        ("--certificate", "key.pem", "--key", "key.pem"),
        ("--host", "0.0.0.0"),
    ):
        refused = sojourn(*words, "--port", str(free_port()), *options)
        assert (refused.status, refused.stdout) == (2, "")
        assert refused.stderr.startswith("error: ")
        assert "Traceback" not in refused.stderr


# ---- HTTPS in front ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_nginx_in_front_speaks_https_as_the_guide_sets_it_up(tmp_path: Path) -> None:
    nginx, openssl = shutil.which("nginx"), shutil.which("openssl")
    if nginx is None or openssl is None:
        pytest.skip("no nginx or no openssl: apt install nginx-light openssl")
    name = "trial.example.net"
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    database = f"sqlite:///{tmp_path}/trial.db"
    storage = Storage(database)
    token = storage.add_probe("home-01")
    collector = Collector(database, tmp_path)
    port = free_port()
    text = (ROOT / "docs/guides/collector.nginx.conf").read_text(encoding="utf-8")
    for there, here in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        (f"/etc/ssl/certs/{name}.pem", str(certificate)),
        (f"/etc/ssl/private/{name}.key", str(key)),
        ("/var/log/nginx/", f"{tmp_path}/"),
        ("127.0.0.1:8440", f"127.0.0.1:{collector.port}"),
    ):
        assert there in text
        text = text.replace(there, here)
    places = "\n".join(
        f"{what}_temp_path {tmp_path}/{what};" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = tmp_path / "nginx.conf"
    main.write_text(
        f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/nginx.log; events {{}}\nhttp {{ {places}\n{text} }}\n",
        encoding="utf-8",
    )
    collector.start()
    server = subprocess.Popen([nginx, "-p", tmp_path, "-c", main], stderr=subprocess.DEVNULL)
    try:
        context = ssl.create_default_context(cafile=certificate)
        with httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=context) as client:
            for _ in range(100):
                with contextlib.suppress(httpx.ConnectError):
                    if client.get("/health").text == "ok\n":
                        break
                time.sleep(0.05)
            body = flent_file(1)
            path = f"/uploads/{hashlib.sha256(body).hexdigest()}"
            headers = {"Authorization": f"Bearer {token}"}
            assert client.put(path, content=body, headers=headers).status_code == 201
            assert client.put(path, content=body).status_code == 401
            large = client.put(path, content=bytes(9 * 2**20), headers=headers)
            assert large.status_code == 413
            answer = client.get("/")
            assert answer.status_code == 401
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")
            assert answer.headers["strict-transport-security"]
        # Whoever comes without HTTPS is told nothing of the collector.
        assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 400
    finally:
        server.terminate()
        server.wait(30)
        collector.stop()
    assert storage.count() == 1
    storage.close()
    log = (tmp_path / "sojourn-collector.log").read_text(encoding="utf-8")
    assert "PUT /uploads/" in log
    assert token not in log
