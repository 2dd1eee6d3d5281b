"""Stores that machines share: an object is created once, whole, and stays."""

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from sojourn.base.errors import MissingExtra, StoreUnreachable, UsageError
from sojourn.store import Store
from sojourn.store.objects import FolderObjects, Objects
from sojourn.store.shared import open_objects
from support.servers import credentials, find_versitygw, free_port, small_s3, versitygw


def use(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    for name, value in credentials(port).items():
        monkeypatch.setenv(name, value)


@pytest.fixture(params=["folder", "small S3", "versitygw"])
def objects(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Objects]:
    if request.param == "folder":
        yield open_objects(tmp_path / "store")
        return
    pytest.importorskip("obstore")
    if request.param == "small S3":
        with small_s3() as server:
            use(monkeypatch, server.server_port)
            yield open_objects("s3://studies/night")
        return
    if find_versitygw() is None:
        pytest.skip("no versitygw: tools/install-s3-server builds it, with Go")
    port = free_port()
    with versitygw(tmp_path, port):
        use(monkeypatch, port)
        yield open_objects("s3://studies/night")


def test_an_object_is_created_once_and_listed_by_folder(objects: Objects) -> None:
    assert objects.read("v2/plans/a/plan.json") is None
    assert objects.create("v2/plans/a/plan.json", b"first")
    assert not objects.create("v2/plans/a/plan.json", b"second")
    assert objects.read("v2/plans/a/plan.json") == b"first"
    assert objects.create("v2/plans/a/claims/000-0000001/0", b"")
    assert objects.create("v2/plans/ab/plan.json", b"another")
    assert objects.names("v2/plans/a") == ["claims/000-0000001/0", "plan.json"]
    objects.delete("v2/plans/a/plan.json")
    objects.delete("v2/plans/a/plan.json")
    assert objects.names("v2/plans/a") == ["claims/000-0000001/0"]
    assert objects.names("v2/nothing") == []


def test_of_sixteen_that_create_the_same_object_one_wins(objects: Objects) -> None:
    start = threading.Barrier(16)
    won: list[int] = []

    def create(number: int) -> None:
        start.wait()
        if objects.create("v2/unit", b"%d" % number * 50_000):
            won.append(number)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert objects.read("v2/unit") == b"%d" % won[0] * 50_000


def test_a_folder_keeps_nothing_of_who_was_killed_amid_a_write(tmp_path: Path) -> None:
    writer = (
        "import sys, os; from pathlib import Path; from sojourn.store.objects import FolderObjects\n"
        "objects = FolderObjects(Path(sys.argv[1]))\n"
        "real, os.fsync = os.fsync, lambda _: os.kill(os.getpid(), 9)\n"
        "objects.create('v2/unit', b'x' * 100_000)\n"
    )
    done = subprocess.run([sys.executable, "-c", writer, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    objects = FolderObjects(tmp_path)
    assert objects.read("v2/unit") is None
    assert len(list((tmp_path / "v2" / "tmp").iterdir())) == 1
    assert Store(tmp_path).sweep() == 1
    assert objects.create("v2/unit", b"whole")


def test_a_disk_without_links_takes_objects_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    objects = FolderObjects(tmp_path)
    assert objects.create("v2/unit", b"first")
    assert not objects.create("v2/unit", b"second")
    assert objects.read("v2/unit") == b"first"
    assert list((tmp_path / "v2" / "tmp").iterdir()) == []


def test_a_link_whose_answer_was_lost_counts_as_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def lose(*arguments: Any, **more: Any) -> None:  # noqa: ANN401 - as the function
        link(*arguments, **more)
        raise FileExistsError

    monkeypatch.setattr(os, "link", lose)
    assert FolderObjects(tmp_path).create("v2/unit", b"first")


def test_a_link_in_a_store_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "v2").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreUnreachable, match="cannot write to the store"):
        FolderObjects(tmp_path / "store").create("v2/unit", b"")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_server_that_overwrites_is_refused_when_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore")
    with small_s3(is_conditional=False) as server:
        use(monkeypatch, server.server_port)
        with pytest.raises(UsageError, match="this server overwrites what exists"):
            open_objects("s3://studies/night")


def test_a_write_whose_answer_was_lost_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore")
    from sojourn.store.buckets import BucketObjects

    with small_s3() as server:
        use(monkeypatch, server.server_port)
        objects = BucketObjects("s3://studies/night", first_wait_s=0.001)
        server.fails = 3
        assert objects.create("v2/unit", b"ours")
        assert not objects.create("v2/unit", b"ours again")
        assert objects.read("v2/unit") == b"ours"


def test_a_server_that_is_away_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore")
    from sojourn.store.buckets import BucketObjects

    use(monkeypatch, free_port())
    with pytest.raises(StoreUnreachable, match="cannot read s3://studies/night") as told:
        BucketObjects("s3://studies/night", first_wait_s=0.001).read("v2/unit")
    assert told.value.exit_status == 5


@pytest.mark.parametrize("address", ["ftp://host/place", "http://host/bucket"])
def test_an_address_that_nobody_serves_is_told(address: str) -> None:
    with pytest.raises(UsageError, match="no store is reached by"):
        open_objects(address)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(MissingExtra, match="needs the package obstore"):
        open_objects("s3://studies/night")


@pytest.mark.parametrize("page", [[{"path": "v2/plans/a/done/0"}] * 1000, []])
def test_a_server_that_lists_without_end_is_told_and_fills_no_memory(
    monkeypatch: pytest.MonkeyPatch, page: list[dict[str, str]]
) -> None:
    pytest.importorskip("obstore")
    from sojourn.store import buckets

    use(monkeypatch, free_port())
    objects = buckets.BucketObjects("s3://studies/night", first_wait_s=0.001)
    monkeypatch.setattr(buckets, "MOST_LISTED", 5000)

    def listed(*_: object, **__: object) -> Iterator[list[dict[str, str]]]:
        return itertools.repeat(page)

    monkeypatch.setattr("obstore.list", listed)
    with pytest.raises(StoreUnreachable, match="lists no end of objects below v2/plans/a"):
        objects.names("v2/plans/a")


def test_names_that_a_server_lists_beside_the_folder_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore")
    from sojourn.store import buckets

    use(monkeypatch, free_port())
    objects = buckets.BucketObjects("s3://studies/night", first_wait_s=0.001)
    page = [{"path": path} for path in ("v2/plans/a/done/0", "v2/plans/abc/done/1", "../../etc/passwd", "v2/plans/a")]

    def listed(*_: object, **__: object) -> Iterator[list[dict[str, str]]]:
        return iter([page])

    monkeypatch.setattr("obstore.list", listed)
    assert objects.names("v2/plans/a") == ["done/0"]
