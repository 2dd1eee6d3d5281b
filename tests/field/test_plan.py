"""A home's treatment comes from the collector: the probe labels its tests with it and says what the modem needs."""

import stat
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import polars as pl
import pytest

from field.services import Collector
from sojourn.base.errors import StudyError, UsageError
from sojourn.field.assignments import Assignments
from sojourn.field.collector.app import create_app
from sojourn.field.collector.plan import plan_of, set_plan
from sojourn.field.collector.service import export
from sojourn.field.collector.storage import Storage
from sojourn.field.importer import read_imported, read_upload
from sojourn.field.probe import running
from sojourn.field.probe.plan import HomePlan, announce, read_plan, refresh, title_at
from sojourn.field.probe.settings import ProbeSettings, load_settings
from sojourn.field.reading import Unreadable
from sojourn.provisioning import encode

MONDAY = datetime(2026, 11, 23, 8, tzinfo=UTC)

MODEM = """schema = 1
[[tlv]]
network_access = 1
[[tlv]]
[tlv.upstream_service_flow]
service_flow_reference = 1
qos_parameter_set_type = 7
max_sustained_rate = 5000000
buffer_control = {{ target = {target} }}
[[tlv]]
[tlv.downstream_service_flow]
service_flow_reference = 2
qos_parameter_set_type = 7
max_sustained_rate = 25000000
"""


def bootfile(target: int) -> bytes:
    """Return a CM configuration file with an upstream buffer of so many bytes."""
    return encode(MODEM.format(target=target), b"a secret").octets


def assignments(
    first: datetime = MONDAY, step: timedelta = timedelta(days=7), homes: Sequence[str] = ("home-01", "home-02")
) -> Assignments:
    """Return two periods of each home, the second home's the other way round."""
    rows = [
        (home, week + 1, ("8KB", "48KB")[(week + number) % 2], first + week * step + test * step / 4)
        for number, home in enumerate(homes)
        for week in range(2)
        for test in range(3)
    ]
    return Assignments.of(pl.DataFrame(rows, schema=["probe", "week", "treatment", "time"], orient="row"))


@pytest.fixture
def settings(tmp_path: Path) -> ProbeSettings:
    file = tmp_path / "probe.toml"
    file.write_text(
        'collector = "http://c"\ntoken_file = "token"\nserver = "localhost"\ntitle = "zone=UTC"\n'
        'tests = ["rrul_up"]\nlength = 5\nspool = "spool"\n',
        encoding="utf-8",
    )
    (tmp_path / "token").write_text("t\n", encoding="utf-8")
    return load_settings(file)


class Asgi(httpx.BaseTransport):
    """The collector's service, without a network between."""

    def __init__(self, storage: Storage) -> None:
        self._app = create_app(storage, read=read_upload)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Pass a request on."""
        import asyncio

        async def one() -> httpx.Response:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(self._app)) as client:
                answer = await client.request(
                    request.method, request.url, headers=request.headers, content=request.content
                )
                return httpx.Response(answer.status_code, content=answer.content)

        return asyncio.run(one())


def test_a_probe_gets_its_own_periods_and_the_files_of_its_modem(settings: ProbeSettings, tmp_path: Path) -> None:
    storage = Storage(f"sqlite:///{tmp_path}/trial.db")
    set_plan(storage.engine, assignments(), {"48KB": bootfile(48 * 1024)})
    (tmp_path / "token").write_text(storage.add_probe("home-02"), encoding="utf-8")
    said: list[str] = []
    plan = refresh(settings, said.append, transport=Asgi(storage))
    assert said == []
    assert [(one.week, one.treatment) for one in plan.periods] == [(1, "48KB"), (2, "8KB")]
    file = settings.spool / "modem" / "48KB.cm"
    assert file.read_bytes() == bootfile(48 * 1024)
    assert plan.periods[0].words(settings.spool) == (
        f"week 1, 48KB: let the modem load {file} ({plan.periods[0].says}), before 2026-11-23 08:00 UTC"
    )
    assert plan.periods[0].says.startswith("upstream: 1 SF")
    assert plan.periods[1].words(settings.spool) == (
        "week 2, 8KB: give the modem the treatment 8KB, before 2026-11-30 08:00 UTC"
    )
    # The title of a test says what the home has at that moment: half way between the periods it changes.
    last = MONDAY + timedelta(days=3.5)
    half = last + (MONDAY + timedelta(days=7) - last) / 2
    assert title_at(settings, plan, half - timedelta(seconds=1)) == "zone=UTC treatment=48KB week=1"
    assert title_at(settings, plan, half) == "zone=UTC treatment=8KB week=2"
    assert title_at(settings, plan, MONDAY - timedelta(days=9)) == "zone=UTC"
    storage.close()


def test_what_a_period_asks_is_told_once_and_the_plan_holds_while_the_collector_is_away(
    settings: ProbeSettings, tmp_path: Path
) -> None:
    storage = Storage(f"sqlite:///{tmp_path}/trial.db")
    set_plan(storage.engine, assignments(), {})
    (tmp_path / "token").write_text(storage.add_probe("home-01"), encoding="utf-8")
    plan = refresh(settings, lambda _: None, transport=Asgi(storage))
    said: list[str] = []
    for day in (0, 1, 3, 7, 8):
        announce(settings, plan, said.append, MONDAY + timedelta(days=day))
    assert [words.partition(":")[0] for words in said] == ["week 1, 8KB", "week 2, 48KB"]
    away = httpx.MockTransport(lambda _: httpx.Response(503))
    assert refresh(settings, said.append, transport=away) == plan
    assert said[-1] == "no plan: the collector answered 503"
    early = httpx.MockTransport(lambda _: httpx.Response(404))
    assert refresh(settings, said.append, transport=early) == plan
    storage.close()


def test_a_file_other_than_named_and_a_plan_that_is_none_change_nothing(settings: ProbeSettings) -> None:
    period = {
        "week": 1,
        "treatment": "8KB",
        **dict.fromkeys(("first", "last", "begins", "until"), "2026-11-23T08:00:00Z"),
        "configuration": "0" * 64,
    }

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/plan":
            return httpx.Response(200, json={"periods": [period]})
        return httpx.Response(200, content=b"something else")

    said: list[str] = []
    assert refresh(settings, said.append, transport=httpx.MockTransport(answer)) == HomePlan()
    assert said == ["no new plan: Unreadable: has another file for 8KB than it names"]
    assert not (settings.spool / "modem" / "8KB.cm").exists()
    for wrong in ({"treatment": "../../etc"}, {"treatment": "a b"}, {"first": "soon"}, {"week": -1}):
        with pytest.raises(Unreadable, match="is no plan"):
            read_plan(httpx.Response(200, json={"periods": [period | wrong]}).content)


def test_a_plan_is_refused_whole(tmp_path: Path) -> None:
    storage = Storage(f"sqlite:///{tmp_path}/trial.db")
    set_plan(storage.engine, assignments(), {})
    with pytest.raises(UsageError, match="no home gets the treatment 96KB"):
        set_plan(storage.engine, assignments(), {"96KB": bootfile(1000)})
    with pytest.raises(StudyError):
        set_plan(storage.engine, assignments(), {"8KB": bootfile(1000)[:-9] + b"\x00"})
    assert len(plan_of(storage.engine, "home-01")) == 2
    assert plan_of(storage.engine, "stranger") == []
    storage.close()


def test_strangers_see_neither_plan_nor_files(tmp_path: Path) -> None:
    storage = Storage(f"sqlite:///{tmp_path}/trial.db")
    set_plan(storage.engine, assignments(), {"8KB": bootfile(8192)})
    digest = plan_of(storage.engine, "home-01")[0]["configuration"]
    with httpx.Client(transport=Asgi(storage), base_url="http://c") as client:
        for path in ("/plan", f"/configurations/{digest}"):
            assert client.get(path).status_code == 401
        client.headers["Authorization"] = f"Bearer {storage.add_probe('home-01')}"
        assert client.get(f"/configurations/{digest}").content == bootfile(8192)
        assert client.get(f"/configurations/{'0' * 64}").status_code == 404
    storage.close()


FLENT = f"""#!{sys.executable}
import pathlib, sys, time
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
from field.services import flent_file
words = dict(zip(sys.argv[2::2], sys.argv[3::2]))
now = time.time()
began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
body = flent_file(int(now * 1000) % 1000, title=words["-t"], began=began)
pathlib.Path(words["-D"], f"rrul_up-{{now}}.flent.gz").write_bytes(body)
"""


@pytest.mark.whole
def test_treatments_assigned_by_the_collector_are_those_of_its_export(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/trial.db"
    storage = Storage(database)
    hour = timedelta(hours=1)
    plan = assignments(datetime.now(UTC) - hour / 4, hour)
    set_plan(storage.engine, plan, {"8KB": bootfile(8192), "48KB": bootfile(49_152)})
    program = tmp_path / "flent"
    program.write_text(FLENT, encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    collector = Collector(database, tmp_path)
    collector.start()
    said: list[str] = []
    try:
        for home in ("home-01", "home-02"):
            folder = tmp_path / home
            folder.mkdir()
            (folder / "token").write_text(storage.add_probe(home), encoding="utf-8")
            (folder / "probe.toml").write_text(
                f'collector = "{collector.url}"\ntoken_file = "token"\nserver = "localhost"\n'
                f'tests = ["rrul_up"]\nlength = 5\nspool = "spool"\nflent = "{program}"\n',
                encoding="utf-8",
            )
            report = running.once(load_settings(folder / "probe.toml"), said.append)
            assert (report.sent, report.trouble) == (1, "")
        export(storage, tmp_path / "out")
    finally:
        collector.stop()
        storage.close()
    tests = read_imported(tmp_path / "out").sort("probe")
    labels = tests.select("probe", "treatment", "week", "flags").rows()
    assert labels == [("home-01", "8KB", 1, ""), ("home-02", "48KB", 1, "")]
    assert [words.partition(" (")[0].rpartition("/")[2] for words in said] == [
        f"{name}.cm" for name in tests["treatment"]
    ]
