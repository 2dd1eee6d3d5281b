"""What probes send arrives exactly once, whoever dies in between, and strangers learn nothing."""

import asyncio
import hashlib
import random
import shutil
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest

from field.services import Collector, flent_file, postgresql
from sojourn.base.errors import UsageError
from sojourn.field.collector.app import create_app
from sojourn.field.collector.page import page
from sojourn.field.collector.service import export
from sojourn.field.collector.storage import Storage, token_hash
from sojourn.field.importer import import_files, read_imported, read_upload
from sojourn.field.probe.spool import Spool
from sojourn.field.probe.upload import Uploader


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    with postgresql() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    url = f"sqlite:///{tmp_path}/trial.db" if request.param == "sqlite" else request.getfixturevalue("postgresql_url")
    one = Storage(url)
    if request.param == "postgresql":
        import sqlalchemy as sql

        with one.engine.begin() as connection:
            for table in ("tests", "uploads", "probes", "viewers"):
                connection.execute(sql.text(f"DELETE FROM {table}"))
    yield one
    one.close()


class Client:
    """Requests to the service, without a network between."""

    def __init__(self, storage: Storage) -> None:
        self._app = create_app(storage, largest=100_000, read=read_upload)

    def put(self, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401 - as httpx takes them
        """Send something."""
        return asyncio.run(self._request("PUT", path, **options))

    def get(self, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401
        """Ask for something."""
        return asyncio.run(self._request("GET", path, **options))

    async def _request(self, method: str, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://collector") as client:
            return await client.request(method, path, **options)


@pytest.fixture
def client(storage: Storage) -> Client:
    return Client(storage)


def put(client: Client, token: str, body: bytes, **headers: str) -> httpx.Response:
    digest = hashlib.sha256(body).hexdigest()
    authorisation = {"Authorization": f"Bearer {token}"} if token else {}
    return client.put(f"/uploads/{digest}", content=body, headers={**authorisation, **headers})


def test_an_upload_is_there_once_however_often_it_is_sent(client: Client, storage: Storage) -> None:
    token = storage.add_probe("home-01")
    body = flent_file(1, title="buffer=48KB")
    first, again = put(client, token, body), put(client, token, body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["new"]
    assert not again.json()["new"]
    other = put(client, storage.add_probe("home-02"), body)
    assert other.status_code == 201
    tests = storage.tests()
    assert tests["probe"].to_list() == ["home-01", "home-02"]
    assert tests["treatment"].to_list() == ["48KB", "48KB"]
    assert storage.count() == 2


def test_uploads_at_the_same_moment_are_one(storage: Storage) -> None:
    number, _ = storage.probe_of(storage.add_probe("home-01")) or (0, "")
    barrier = threading.Barrier(4)

    def add(_: int) -> bool:
        barrier.wait()
        return storage.add(number, "d" * 64, "a.flent.gz", b"bytes", [], None)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(add, range(4))) == [False, False, False, True]
    assert storage.count() == 1


def test_strangers_and_the_revoked_get_the_same_answer_and_learn_nothing(client: Client, storage: Storage) -> None:
    good = storage.add_probe("home-01")
    assert put(client, good, flent_file(1)).status_code == 201
    storage.revoke_probe("home-01")
    answers = [
        put(client, token, body)
        for token in ("", "x", "x y", good, "y" * 10_000)
        for body in (flent_file(1), b"", b"x" * 200_000)
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert client.put("/uploads/no-digest", headers={"Authorization": "Bearer x"}).status_code == 401
    assert client.get("/").status_code == 401
    assert storage.count() == 1


def test_a_renewed_token_replaces_the_old_one(client: Client, storage: Storage) -> None:
    old = storage.add_probe("home-01")
    new = storage.renew_probe("home-01")
    assert put(client, old, flent_file(1)).status_code == 401
    assert put(client, new, flent_file(1)).status_code == 201
    with pytest.raises(UsageError, match="already"):
        storage.add_probe("home-01")
    with pytest.raises(UsageError, match="no probe"):
        storage.revoke_probe("home-02")


def test_tokens_are_kept_as_their_hashes_only(tmp_path: Path) -> None:
    storage = Storage(f"sqlite:///{tmp_path}/trial.db")
    tokens = [storage.add_probe("home-01"), storage.add_viewer()]
    storage.close()
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for token in tokens:
        assert token.encode() not in content
        assert token_hash(token).encode() in content


def test_what_can_never_be_right_is_told_apart_from_what_was_cut_off(client: Client, storage: Storage) -> None:
    token = storage.add_probe("home-01")
    body = flent_file(1)
    digest = hashlib.sha256(body).hexdigest()
    headers = {"Authorization": f"Bearer {token}"}
    cut = client.put(f"/uploads/{digest}", content=body[:-10], headers=headers)
    assert cut.status_code == 400
    assert put(client, token, b"no measurement").status_code == 422
    assert put(client, token, random.Random(1).randbytes(100_001)).status_code == 413
    chunks = in_pieces(b"x" * 50_000, 3)
    assert client.put(f"/uploads/{digest}", content=chunks, headers=headers).status_code == 413
    assert storage.count() == 0
    assert put(client, token, body).status_code == 201


def test_a_wrong_clock_is_noticed(client: Client, storage: Storage) -> None:
    token = storage.add_probe("home-01")
    fast = (datetime.now(UTC) + timedelta(seconds=400)).isoformat()
    answer = put(client, token, flent_file(1), **{"X-Sojourn-Time": fast})
    assert answer.json()["clock_error_s"] == pytest.approx(400, abs=30)
    (probe,) = storage.probes()
    assert probe.clock_error_s == pytest.approx(400, abs=30)
    assert "s fast" in page(storage)


def test_the_page_shows_who_reports_and_what_they_measured(client: Client, storage: Storage) -> None:
    token, viewer = storage.add_probe("home-01"), storage.add_viewer()
    storage.add_probe("home-<b>02")
    for number, treatment in enumerate(("8KB", "96KB") * 3):
        put(client, token, flent_file(number, title=f"buffer={treatment}"))
    answer = client.get("/", auth=("", viewer))
    assert answer.status_code == 200
    assert "1 of 2 probes report; 6 uploads, 6 tests" in answer.text
    assert "home-&lt;b&gt;02" in answer.text
    assert "96KB" in answer.text
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    later = page(storage, datetime.now(UTC) + timedelta(days=3))
    assert "0 of 2 probes report" in later
    assert "silent for 3 days" in later


def test_an_export_is_what_an_import_of_the_files_would_be(client: Client, storage: Storage, tmp_path: Path) -> None:
    for home in ("home-01", "home-02"):
        token = storage.add_probe(home)
        for number in range(3):
            began = f"2016-05-0{number + 2}T08:00:00Z"
            put(client, token, flent_file(number, title=f"probe={home}", began=began))
    out = tmp_path / "out"
    assert export(storage, out) == 6
    again = import_files(out / "files").tests
    assert read_imported(out).drop("file").equals(again.drop("file"))


async def in_pieces(piece: bytes, count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield piece


# ---- faults ------------------------------------------------------------------------------------------


class Faults(httpx.BaseTransport):
    """A network that cuts requests off, loses answers, and sometimes is not there."""

    def __init__(self, seed: int, share: float) -> None:
        self._inner = httpx.HTTPTransport()
        self._random = random.Random(seed)
        self._share = share

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Carry a request, or do not."""
        fate = self._random.random() / self._share
        if fate < 0.25:
            raise httpx.ConnectError("no route", request=request)
        if fate < 0.5:
            body = request.read()[: self._random.randrange(200)]
            headers = {**request.headers, "content-length": str(len(body))}
            self._inner.handle_request(httpx.Request(request.method, request.url, headers=headers, content=body)).read()
            raise httpx.WriteError("cut off", request=request)
        response = self._inner.handle_request(request)
        if fate < 1.0:
            response.read()
            raise httpx.ReadError("the answer is lost", request=request)
        return response

    def close(self) -> None:
        """Let go of connections."""
        self._inner.close()


def soak(database: str, tmp_path: Path, probes: int, uploads: int, kills: int) -> Storage:
    """Send everything through faults while the collector is killed and started again."""
    storage = Storage(database)
    tokens = {f"home-{n:02d}": storage.add_probe(f"home-{n:02d}") for n in range(1, probes + 1)}
    spools: dict[str, Spool] = {}
    source = tmp_path / "source"
    source.mkdir()
    for number, home in enumerate(tokens):
        spool = spools[home] = Spool(tmp_path / "spools" / home)
        for upload in range(uploads):
            name = f"rrul_up-{upload:03d}.flent.gz"
            # As the spool does, without waiting for the disk five hundred times.
            (spool.waiting / name).write_bytes(flent_file(uploads * number + upload))
    collector = Collector(database, tmp_path)
    collector.start()
    left = set(tokens)

    def nap(_: float) -> None:
        done.wait(0.05)

    def send(home: str) -> int:
        random.seed(home)
        uploader = Uploader(collector.url, tokens[home], spools[home], transport=Faults(hash_of(home), 0.15), sleep=nap)
        sent = 0
        try:
            while spools[home].files():
                sent += uploader.send(attempts=50).sent
        finally:
            uploader.close()
            left.discard(home)
        return sent

    done = threading.Event()
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(send, home) for home in tokens]
        for kill in range(1, kills + 1):
            # At so many uploads it dies, whatever it is doing, and comes back.
            while left and storage.count() < kill * probes * uploads // (kills + 1):
                done.wait(0.1)
            collector.kill()
            collector.start()
        try:
            assert sum(future.result(timeout=600) for future in futures) == probes * uploads
        finally:
            done.set()
    collector.stop()
    return storage


def hash_of(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def assert_all_once(storage: Storage, probes: int, uploads: int) -> None:
    assert storage.count() == probes * uploads
    tests = storage.tests()
    assert tests.height == probes * uploads
    assert tests.group_by("probe").len()["len"].to_list() == [uploads] * probes
    # Each test has a latency of its own: none is there twice, none is missing.
    wanted = sorted(20.0 + number / 10 for number in range(probes * uploads))
    assert sorted(tests["latency_ms"].to_list()) == pytest.approx(wanted)


@pytest.mark.slow
def test_uploads_of_50_probes_arrive_exactly_once_through_faults(tmp_path: Path) -> None:
    storage = soak(f"sqlite:///{tmp_path}/trial.db", tmp_path, 50, 10, kills=2)
    assert_all_once(storage, 50, 10)
    storage.close()


@pytest.mark.slow
def test_the_same_with_postgresql(tmp_path: Path) -> None:
    with postgresql() as url:
        storage = soak(url, tmp_path, 10, 12, kills=2)
        assert_all_once(storage, 10, 12)
        storage.close()


# ---- a real browser ------------------------------------------------------------------------------------


def test_a_browser_shows_the_page_and_has_nothing_to_object(tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("no Chromium: apt install chromium")
    database = f"sqlite:///{tmp_path}/trial.db"
    storage = Storage(database)
    number, _ = storage.probe_of(storage.add_probe("home-01")) or (0, "")
    for upload, treatment in enumerate(("8KB", "48KB", "96KB")):
        body = flent_file(upload, title=f"buffer={treatment}")
        digest = hashlib.sha256(body).hexdigest()
        storage.add(number, digest, "a.flent.gz", body, read_upload(body, "a.flent.gz", "home-01"), 300.0)
    viewer = storage.add_viewer()
    collector = Collector(database, tmp_path)
    collector.start()
    try:
        address = collector.url.replace("://", f"://viewer:{viewer}@")
        common = [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-background-networking", f"--user-data-dir={tmp_path}/profile"),
            *("--enable-logging=stderr", "--v=0", "--virtual-time-budget=5000"),
        ]
        shown = subprocess.run(
            [*common, "--dump-dom", f"{address}/"], capture_output=True, text=True, timeout=120, check=True
        )
        picture = tmp_path / "page.png"
        subprocess.run(
            [*common, f"--screenshot={picture}", "--window-size=900,700", f"{address}/"],
            capture_output=True,
            timeout=120,
            check=True,
        )
    finally:
        collector.stop()
    assert '<th scope="row">home-01</th>' in shown.stdout
    assert "its clock is 300 s fast" in shown.stdout
    for treatment in ("8KB", "48KB", "96KB"):
        assert f'<th scope="row">{treatment}</th>' in shown.stdout
    # The style sheet was let in by its digest: what the policy refuses is told in the browser's log.
    assert "Content Security Policy" not in shown.stderr
    assert picture.stat().st_size > 10_000


def test_the_collectors_tables_are_tests_of_the_importer(storage: Storage) -> None:
    assert storage.tests().schema == pl.Schema(import_files(Path(__file__).parent / "files").tests.schema)


def test_a_database_of_an_earlier_version_has_its_uploads_read_again(tmp_path: Path) -> None:
    import sqlalchemy as sql

    url = f"sqlite:///{tmp_path}/trial.db"
    storage = Storage(url)
    token = storage.add_probe("home-01")
    assert put(Client(storage), token, flent_file(1)).status_code == 201
    before = storage.tests()
    with storage.engine.begin() as connection:
        connection.execute(sql.text("ALTER TABLE tests DROP COLUMN throughput_grid_mbps"))
        connection.execute(sql.text("UPDATE tests SET throughput_mbps = 99.0"))
    storage.close()
    storage = Storage(url)
    assert storage.tests().equals(before)
    storage.close()
    assert before["throughput_grid_mbps"].null_count() == 0
