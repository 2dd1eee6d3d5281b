"""A probe measures on time, keeps what it measured, and says what is wrong."""

import gzip
import stat
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from field.services import flent_file
from sojourn.base.errors import StudyError, UsageError
from sojourn.field.probe import running
from sojourn.field.probe.own_tests import file_of, problems_of
from sojourn.field.probe.schedule import next_slot
from sojourn.field.probe.settings import ProbeSettings, load_settings
from sojourn.field.probe.spool import Spool
from sojourn.field.probe.upload import Uploader

FLENT = """#!/bin/sh
# A Flent that measures nothing: it writes the file that it was given into the folder after -D.
while [ $# -gt 0 ]; do [ "$1" = -D ] && folder="$2"; shift; done
cp "$(dirname "$0")/result" "$folder/rrul_up-$$.flent.gz"
"""


@pytest.fixture
def settings(tmp_path: Path) -> ProbeSettings:
    program = tmp_path / "flent"
    program.write_text(FLENT, encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "result").write_bytes(flent_file(1))
    (tmp_path / "token").write_text("a-token\n", encoding="utf-8")
    file = tmp_path / "probe.toml"
    file.write_text(
        f"""collector = "http://127.0.0.1:1"
token_file = "token"
server = "netperf.example.net"
title = "buffer=48KB"
tests = ["rrul_up", "tcp_download"]
pause_s = 0
length = 5
spool = "spool"
flent = "{program}"
""",
        encoding="utf-8",
    )
    return load_settings(file)


class Answers(httpx.BaseTransport):
    """A collector that answers as it was told, and keeps what it was sent."""

    def __init__(self, *answers: tuple[int, dict[str, Any]] | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer with the next one; the last one stays."""
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        status, words = answer
        digest = request.url.path.rpartition("/")[2]
        return httpx.Response(status, json={"stored": digest, **words})


def spool_with(tmp_path: Path, count: int) -> Spool:
    spool = Spool(tmp_path / "spool")
    for number in range(count):
        file = tmp_path / f"{number}.flent.gz"
        file.write_bytes(flent_file(number))
        spool.add(file)
    return spool


@given(
    st.datetimes(datetime(2016, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
    st.lists(st.times(), min_size=1, max_size=5),
)
def test_the_next_slot_is_the_first_one_ahead(now: datetime, slots: list[time]) -> None:
    found = next_slot(now, slots)
    assert timedelta() < found - now <= timedelta(days=1)
    assert found.time() in slots
    for slot in slots:
        other = found.replace(hour=slot.hour, minute=slot.minute, second=slot.second, microsecond=slot.microsecond)
        assert not now < other < found


def test_a_round_of_tests_leaves_a_complete_file_for_each(settings: ProbeSettings) -> None:
    said: list[str] = []
    spool = Spool(settings.spool)
    assert running.measure(settings, spool, said.append) == 2
    assert said == []
    assert [gzip.decompress(file.read_bytes())[:1] for file in spool.files()] == [b"{", b"{"]
    assert list(spool.unfinished.iterdir()) == []


def test_flent_gets_test_server_length_title_and_folder(settings: ProbeSettings) -> None:
    words = running.flent_command(settings, "rrul_up", Path("/tmp/x"), "buffer=48KB")
    assert words[1:] == [
        "rrul_up", "-H", "netperf.example.net", "-l", "5", "-t", "buffer=48KB", "-D", "/tmp/x"
    ]  # fmt: skip


def test_a_collector_that_is_away_costs_nothing(settings: ProbeSettings) -> None:
    said: list[str] = []
    spool = Spool(settings.spool)
    running.measure(settings, spool, said.append)
    report = running.send_waiting(settings, said.append)
    assert (report.sent, report.waiting) == (0, 2)
    assert said == [said[0]]
    assert said[0].startswith("2 measurements wait: ConnectError")


def test_only_what_the_collector_says_it_has_leaves_the_spool(tmp_path: Path) -> None:
    spool = spool_with(tmp_path, 3)
    fine = (201, {"clock_error_s": 0.2})
    transport = Answers(fine, (503, {}), fine, (200, {"stored": "something else"}), fine)
    waits: list[float] = []
    uploader = Uploader("http://c", "t", spool, transport=transport, sleep=waits.append)
    report = uploader.send(attempts=9)
    assert (report.sent, report.waiting, report.trouble) == (3, 0, "")
    assert len(list(spool.sent.iterdir())) == 3
    assert len(waits) == 2
    assert 1.0 <= waits[0] <= 3.0
    assert 2.0 <= waits[1] <= 6.0
    assert {request.headers["authorization"] for request in transport.requests} == {"Bearer t"}


def test_what_is_refused_for_ever_does_not_hold_up_the_rest(tmp_path: Path) -> None:
    spool = spool_with(tmp_path, 2)
    transport = Answers((422, {"error": "it is no measurement"}), (201, {}))
    report = Uploader("http://c", "t", spool, transport=transport).send()
    assert (report.sent, report.refused, report.waiting) == (1, 1, 0)
    reason = (spool.refused / "0.flent.gz.txt").read_text(encoding="utf-8")
    assert reason == "it is no measurement\n"


def test_an_unknown_token_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    spool = spool_with(tmp_path, 2)
    with pytest.raises(UsageError, match="does not know this probe"):
        Uploader("http://c", "t", spool, transport=Answers((401, {}))).send(attempts=5)
    assert len(spool.files()) == 2


def test_sent_files_are_kept_up_to_a_number(tmp_path: Path) -> None:
    spool = spool_with(tmp_path, 5)
    kept = Spool(tmp_path / "spool", keep=2)
    for file in spool.files():
        kept.done(file)
    assert len(list(kept.sent.iterdir())) == 2


def test_units_for_systemd_test_at_the_slots_and_write_nowhere_else(settings: ProbeSettings, tmp_path: Path) -> None:
    units = running.systemd_units(settings, tmp_path / "probe.toml")
    for slot in ("08:00:00", "12:00:00", "17:00:00"):
        assert f"OnCalendar=*-*-* {slot} UTC" in units
    assert f"trial probe once {tmp_path}/probe.toml" in units
    assert f"ReadWritePaths={settings.spool}" in units


def test_everything_wrong_with_the_settings_is_told(tmp_path: Path) -> None:
    file = tmp_path / "probe.toml"
    file.write_text('collector = "ftp://x"\nserver = "-rf"\nlength = 1\n', encoding="utf-8")
    with pytest.raises(StudyError) as error:
        load_settings(file)
    places = {problem.path for problem in error.value.problems}
    assert places == {"collector", "token_file", "server", "length"}
    file.write_text("x = [", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot read"):
        load_settings(file)


def test_downloads_are_measured_with_udp_pings_by_a_test_of_our_own(
    settings: ProbeSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.conf"
    mine.write_text('include("rrul_down.conf")\n', encoding="utf-8")
    assert ProbeSettings.model_fields["tests"].default == ["rrul_up", "rrul_down"]
    assert file_of("rrul_up", tmp_path / "x") == "rrul_up"
    folder = tmp_path / "run"
    folder.mkdir()
    # Flent reads a test whose name is a path from there, without its suffix, and writes beside it.
    assert file_of("rrul_down", folder) == str(folder / "rrul_down")
    # It takes a relative path for the name of a host.
    monkeypatch.chdir(tmp_path)
    assert file_of("rrul_down", Path("run")) == str(folder / "rrul_down")
    assert list(problems_of(folder / "rrul_down.conf")) == []
    assert file_of(str(mine), folder) == str(folder / "mine")
    words = running.flent_command(settings, file_of("rrul_down", folder), folder, "")
    assert words[1] == str(folder / "rrul_down")
    # A probe leaves the files of tests where they were, and sends none of them.
    assert running.measure(settings.model_copy(update={"tests": [str(mine)]}), Spool(tmp_path / "s"), print) == 1
    assert mine.is_file()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("DATA_SETS = (", "no Python"),
        ("PLOTS = {}\n", "sets no DATA_SETS"),
        ("DATA_SETS = o([('Jitter', {'runner': 'ping'})])\n", "no series that is read here"),
        ("x = 1\n" * 100_000, "has more than 262144 bytes"),
        (None, "cannot read"),
    ],
)
def test_a_test_file_is_looked_at_before_it_is_run(
    settings: ProbeSettings, tmp_path: Path, text: str | None, words: str
) -> None:
    if text is not None:
        (tmp_path / "own.conf").write_text(text, encoding="utf-8")
    file = tmp_path / "probe.toml"
    changed = file.read_text().replace('"tcp_download"', '"own.conf"')
    file.write_text(changed, encoding="utf-8")
    with pytest.raises(StudyError) as error:
        load_settings(file)
    (problem,) = error.value.problems
    assert words in str(problem)
    assert settings.tests == ["rrul_up", "tcp_download"]
    (tmp_path / "own.conf").write_text("DATA_SETS = o([('Ping (ms) ICMP', {'runner': 'ping'})])\n", encoding="utf-8")
    assert load_settings(file).tests == ["rrul_up", str(tmp_path / "own.conf")]


def test_what_flent_said_last_is_told_when_it_wrote_no_file(settings: ProbeSettings) -> None:
    script = "#!/bin/sh\necho starting\necho 'ERROR: no netperf found\033[2J' >&2\n"
    Path(settings.flent).write_text(script, encoding="utf-8")
    said: list[str] = []
    running.measure(settings, Spool(settings.spool, settings.keep), said.append)
    assert said == [f"{test}: flent wrote no file: ERROR: no netperf found\\x1b[2J" for test in settings.tests]
