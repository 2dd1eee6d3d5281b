"""Who may ask the page's server: every threat that SECURITY.md names for it, against a running server."""

from __future__ import annotations

import contextlib
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.serve.conftest import Server

ORDER = json.dumps({"study": "buffer-lesson", "quick": True}).encode()


def test_other_machines_cannot_connect(server: Server) -> None:
    found = socket.getaddrinfo(socket.gethostname(), server.port, socket.AF_INET)
    own = {str(one[4][0]) for one in found} - {"127.0.0.1", "127.0.1.1"}
    for address in [*own, "127.0.0.2"]:
        with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
            socket.create_connection((address, server.port), timeout=5).close()


HOSTS = {
    "another name": "evil.example:{port}",
    "no port": "127.0.0.1",
    "another port": "127.0.0.1:1",
    "port 80": "localhost:80",
    "a trailing dot": "localhost.:{port}",
    "upper case": "LOCALHOST:{port}",
    "an address within another": "[::ffff:127.0.0.1]:{port}",
    "an address of the network": "192.168.1.5:{port}",
    "all addresses": "0.0.0.0:{port}",
    "a name that ends as ours": "evil.localhost:{port}",
    "a user's name": "me@127.0.0.1:{port}",
    "nothing": "",
}


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
@pytest.mark.parametrize("path", ["/", "/engine.wasm", "/api/hello", "/api/jobs", "/nowhere"])
def test_a_name_that_was_rebound_to_this_machine_gets_nothing(server: Server, host: str, path: str) -> None:
    status, _, body = server.ask(path, Host=host.format(port=server.port))
    assert status in {400, 421}
    assert len(body) < 200


def test_a_request_has_one_name(server: Server) -> None:
    good = f"Host: 127.0.0.1:{server.port}\r\n"
    assert server.raw(f"GET / HTTP/1.1\r\n{good}{good}\r\n".encode())[0] == 400
    assert server.raw(b"GET / HTTP/1.1\r\n\r\n")[0] == 400
    assert server.raw(b"GET / HTTP/1.0\r\n\r\n")[0] == 421


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_the_names_of_this_machine_are_served(server: Server, name: str) -> None:
    assert server.ask("/", Host=f"{name}:{server.port}")[0] == 200


@pytest.mark.parametrize(
    "said", [None, "", "Bearer", "Bearer ", "Bearer x", "Basic {token}", "bearer {token}", "Bearer {token}x"]
)
def test_the_api_needs_the_token(server: Server, said: str | None) -> None:
    if said is None:
        status = server.ask("/api/hello", drop=("Authorization",))[0]
    else:
        status = server.ask("/api/hello", Authorization=said.format(token=server.token))[0]
    assert status == 401
    assert server.ask("/api/hello")[0] == 200


def test_the_token_has_128_bits_and_stands_behind_the_hash(server: Server) -> None:
    assert len(server.token) == 22
    assert server.link.startswith(f"http://127.0.0.1:{server.port}/#k=")


def test_no_argument_of_a_process_has_the_token(server: Server) -> None:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert server.token.encode() not in path.read_bytes()
        except OSError:
            continue


def test_the_browser_is_opened_by_a_file_of_the_user_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from sojourn.serve import service

    seen: list[tuple[int, str]] = []

    def look(url: str) -> bool:
        path = Path(url.removeprefix("file://"))
        seen.append((path.stat().st_mode & 0o777, path.read_text()))
        return True

    monkeypatch.setattr(service.webbrowser, "open", look)
    with service.opened("http://127.0.0.1:1/#k=secret"):
        pass
    assert [mode for mode, _ in seen] == [0o600]
    assert "#k=secret" in seen[0][1]


FOREIGN: dict[str, dict[str, str]] = {
    "a form": {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"},
    "a fetch without CORS": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    "a page of another port": {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"},
    "a page without origin": {"Origin": "null"},
    "a page over TLS": {"Origin": "https://127.0.0.1:{port}"},
    "another name": {"Origin": "http://localhost:{port}"},
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
def test_another_page_begins_nothing_even_with_the_token(server: Server, headers: dict[str, str]) -> None:
    said = {name.replace("-", "_"): one.format(port=server.port) for name, one in headers.items()}
    assert server.ask("/api/jobs", "POST", ORDER, (), **said)[0] == 403
    assert server.json("jobs") == {"jobs": []}


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_body_that_a_form_can_send_is_refused(server: Server, kind: str) -> None:
    assert server.ask("/api/jobs", "POST", ORDER, Content_Type=kind)[0] == 415
    assert server.json("jobs") == {"jobs": []}


def test_no_question_before_a_request_is_answered_with_leave(server: Server) -> None:
    status, headers, _ = server.ask(
        "/api/jobs",
        "OPTIONS",
        drop=("Authorization",),
        Origin="http://evil.example",
        Access_Control_Request_Method="POST",
    )
    assert status >= 400
    assert not [name for name in headers if name.startswith("access-control")]


@pytest.mark.parametrize("kind", ["script", "image", "style", "iframe", "embed"])
def test_another_page_loads_no_part_of_this_one(server: Server, kind: str) -> None:
    status, _, _ = server.ask(
        "/js/main.js",
        Sec_Fetch_Site="cross-site",
        Sec_Fetch_Mode="navigate" if kind in {"iframe", "embed"} else "no-cors",
        Sec_Fetch_Dest=kind,
    )
    assert status == 403


def test_a_link_elsewhere_may_be_followed_to_a_page(server: Server) -> None:
    status, headers, _ = server.ask(
        "/explore.html", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document"
    )
    assert status == 200
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/", "/js/main.js", "/engine.wasm", "/api/hello", "/nowhere"])
def test_each_answer_carries_the_policy(server: Server, path: str) -> None:
    _, headers, _ = server.ask(path)
    assert "require-trusted-types-for 'script'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "set-cookie" not in headers
    assert "server" not in headers


def test_bodies_and_headers_are_bounded(server: Server) -> None:
    # Refused by what it says, before it is read.
    assert server.ask("/api/jobs", "POST", b"", Content_Length=str((1 << 20) + 1))[0] == 413
    assert server.ask("/api/jobs", "POST", ORDER, drop=("Content-Length",))[0] == 411
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(ORDER), ORDER)
    assert server.ask("/api/jobs", "POST", chunks, drop=("Content-Length",), Transfer_Encoding="chunked")[0] == 411
    assert server.ask("/", X_Long="x" * 20_000)[0] in {400, 431}


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/js/../../service.py",
        "/js/%2e%2e/%2e%2e/service.py",
        "/scenarios/..%2f..%2fx",
        "//etc/passwd",
        "/lessons/aqm/lesson.toml",
    ],
)
def test_nothing_but_the_listed_files_is_served(server: Server, path: str) -> None:
    assert server.ask(path)[0] == 404


WRONG: dict[str, Any] = {
    "no object": [],
    "no study": {},
    "a path": {"study": "/etc/passwd"},
    "a path below": {"study": "../buffer-lesson"},
    "an option": {"study": "--help"},
    "an unknown key": {"study": "buffer-lesson", "module": "os"},
    "seeds of text": {"study": "buffer-lesson", "seeds": "1; rm"},
    "seeds that are true": {"study": "buffer-lesson", "seeds": True},
    "no list": {"study": "buffer-lesson", "set": "a=b"},
    "a NUL": {"study": "buffer-lesson", "set": ["a=\0"]},
    "many": {"study": "buffer-lesson", "points": ["x"] * 101},
}


@pytest.mark.parametrize("said", WRONG.values(), ids=WRONG)
def test_a_study_goes_by_its_listed_name(server: Server, said: object) -> None:
    status, _, body = server.ask("/api/jobs", "POST", json.dumps(said).encode())
    assert status == 422
    assert json.loads(body)["error"]
    assert server.json("jobs") == {"jobs": []}


def test_what_a_study_is_told_becomes_no_option_of_its_own() -> None:
    from sojourn.serve.jobs import Order

    words = Order("x", "x", points=("--out=/etc",), settings=("--plugin=x.py",)).arguments()
    assert words == ["--points=--out=/etc", "--set=--plugin=x.py"]


def test_bodies_that_are_no_json_are_refused(server: Server) -> None:
    for body in (b"{", b"[" * 100_000, b"\xff"):
        assert server.ask("/api/jobs", "POST", body)[0] in {400, 422}


def test_silent_connections_do_not_keep_others_out(server: Server) -> None:
    """Each new connection ends the one that has been silent longest."""
    with contextlib.ExitStack() as stack:
        for _ in range(150):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
        status, _, _ = server.ask("/")
        assert status == 200
        assert server.json("results") == {"results": []}


def test_a_server_that_only_shows_runs_nothing(tmp_path: Path) -> None:
    one = Server(tmp_path / "results", tmp_path / "store", "--read-only")
    try:
        assert one.json("hello")["jobs"] is False
        assert one.ask("/api/jobs", "POST", ORDER)[0] == 403
    finally:
        assert one.stop() == 0


def test_other_machines_are_served_only_under_a_name_that_was_given(tmp_path: Path) -> None:
    from tests.support import CommandLine

    told = CommandLine(tmp_path)("serve", "--host", "0.0.0.0")
    assert told.status == 2
    assert "--allow-host" in told.stderr
    one = Server(tmp_path / "results", tmp_path / "store", "--host", "0.0.0.0", "--allow-host", "lab.example")
    try:
        assert one.ask("/", Host=f"lab.example:{one.port}")[0] == 200
        assert one.ask("/", Host=f"0.0.0.0:{one.port}")[0] == 421
    finally:
        one.stop()
