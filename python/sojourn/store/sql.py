"""SQL over finished runs, by DuckDB.

A store shows as `runs` (one row per run) and one view per record table, whose column `key` joins them. Single runs
have all their tables there, those of a study what the study keeps. A result directory shows as `metrics`, `runs`, and the tables that were kept; one of a study of more than
100,000 points as `metrics`, `runs`, `measures` and `sums`.

A query reads, and reads no other files: it may come from a page. Its tables are opened here, and
DuckDB is given the open files and no directory, so that there is none into which it could write. `allow_files` lets it
do whatever DuckDB can.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from sojourn.base.errors import EnvironmentFailure, MissingExtra, UsageError, plain, why
from sojourn.base.files import allow_many, folder_names, open_file, place_of
from sojourn.base.memory import budget
from sojourn.store import LAYOUT, SEGMENTS_LAYOUT, default_directory

LOOK_S = 0.05
"""chosen: an interrupt ends a query within a fifth of a second, and looking so often costs nothing."""

PATIENCE_S = 2.0
"""How long an interrupted query may take to end. chosen: DuckDB takes milliseconds, where it can be interrupted."""

BATCH = 1000
"""Rows that are fetched at a time. chosen: takes less than a tenth of a second, and little memory."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Answer:
    """Result of a query."""

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]
    """Made while they are read; all of them need not fit into memory."""
    left_out: list[str]
    """Files that could not be read, with the reason."""


@dataclass
class _Part:
    """Files that are read in one way."""

    source: str
    """How DuckDB reads them: `{files}`, `{stems}` and `{folders}` stand for their list, their names without suffix and those of their
    folders, the names of `beside` for those of the files beside them, and `{also}` for the file of that name."""
    files: list[Path] = field(default_factory=list[Path])
    beside: tuple[str, ...] = ()
    """Names of files in each folder that are needed, too."""
    also: Path | None = None
    """One more file."""


_Table = list[_Part]
"""Content of one view."""


@contextlib.contextmanager
def asked(sql: str, directory: Path | None = None, *, allow_files: bool = False) -> Generator[Answer]:
    """Ask, and give the answer for as long as the block lasts.

    Raises `MissingExtra` if DuckDB is not installed; `UsageError` if there is nothing to ask, or the query is not
    valid.

    Parameters
    ----------
    sql
        One statement in DuckDB's dialect.
    directory
        A store or a result directory; the default store if left out.
    allow_files
        Whether the statement may do whatever DuckDB can: read and write other files, attach databases, load
        extensions.
    """
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtra("`sojourn query`", "duckdb", "sql") from error
    directory = (directory if directory is not None else default_directory()).resolve()
    tables = _result_tables(directory) or _store_tables(directory)
    if not tables:
        raise UsageError(f"{directory} holds no runs", "`sojourn run` and `sojourn study run` fill the store")
    known = f"tables: {', '.join(map(plain, tables))}"
    allow_many()
    with contextlib.ExitStack() as opened:
        connection = opened.enter_context(duckdb.connect())
        connection.execute("set enable_progress_bar = false")  # it would stand among the data
        views = _Views(connection, directory, opened)
        try:
            wanted = _named(connection, sql) & tables.keys() or tables.keys()
            for name in tables:
                if name in wanted:
                    views.add(name, tables[name])
            if views.damaged:
                known += f"; damaged: {', '.join(map(plain, views.damaged))}"
            statements = connection.extract_statements(sql)
            if len(statements) != 1:
                raise UsageError(f"{len(statements)} statements instead of one", known)
            if not allow_files:
                _refuse_writing(connection, sql, statements[0], duckdb)
                views.lock()
            yield _answer(connection, statements[0], views)
        except duckdb.PermissionException as error:
            raise UsageError(
                "the query names a file outside of its result", "--allow-files lets it read and write other files"
            ) from error
        except duckdb.OutOfMemoryException as error:
            raise EnvironmentFailure(
                "the query needs more memory than there is", "ask for fewer rows, or group them"
            ) from error
        except duckdb.Error as error:
            if "pytz" in str(error):
                raise UsageError(
                    "a time with a zone cannot be shown", "cast it, for example now()::timestamp"
                ) from error
            lines = map(plain, views.named(str(error)).strip().splitlines())
            raise UsageError("\n  ".join(lines), known) from error


def _answer(connection: Any, statement: Any, views: _Views) -> Answer:  # noqa: ANN401
    thread = ThreadPoolExecutor(1)

    def ask() -> list[str]:
        cursor = connection.execute(statement)
        return [str(item[0]) for item in cast("list[Any]", cursor.description or [])]

    def rows() -> Iterator[tuple[Any, ...]]:
        while batch := _interruptible(thread, connection, lambda: connection.fetchmany(BATCH)):
            yield from batch

    return Answer(_interruptible(thread, connection, ask), rows(), views.left_out)


def _interruptible(
    thread: ThreadPoolExecutor,
    connection: Any,  # noqa: ANN401
    ask: Callable[[], _Answer],
) -> _Answer:
    """Ask in another thread, and look up now and then: signals go to threads of DuckDB, which do not tell Python's."""
    asked = thread.submit(ask)
    try:
        while wait([asked], timeout=LOOK_S).not_done:
            pass
    except KeyboardInterrupt:
        for _ in range(int(PATIENCE_S / LOOK_S)):  # what reads a file of its own may never end
            connection.interrupt()
            if not wait([asked], timeout=LOOK_S).not_done:
                break
        raise
    return asked.result()


def _named(connection: Any, sql: str) -> set[str]:  # noqa: ANN401
    """Return the tables that a query names; none if it cannot be parsed."""
    import duckdb

    if "query" in sql.lower():  # a function of DuckDB, which asks what a text says
        return set()
    with contextlib.suppress(duckdb.Error):
        return set(connection.get_table_names(sql))
    return set()


def _refuse_writing(connection: Any, sql: str, statement: Any, duckdb: Any) -> None:  # noqa: ANN401
    """Make sure that a statement only reads, also the one that is explained.

    Raises `UsageError` if it does not.
    """
    kinds = duckdb.StatementType
    if statement.type == kinds.EXPLAIN:
        explained = connection.extract_statements(_explained(sql, duckdb))
        statement = explained[0] if len(explained) == 1 else statement
    if statement.type != kinds.SELECT:
        raise UsageError("a query reads: select, describe, summarize or explain", "--allow-files lets it do more")


def _explained(sql: str, duckdb: Any) -> str:  # noqa: ANN401 - DuckDB's types are incomplete
    """Return what stands behind `explain`, `analyze` and options in brackets."""
    text = sql.encode()
    found = duckdb.tokenize(sql)
    starts = [start for start, kind in found if kind != duckdb.token_type.comment]
    words = [re.match(rb"\w+|.", text[start:]) for start in starts]
    names = [word[0].lower() if word else b"" for word in words]
    place = 0
    while place < len(names):
        if names[place] in (b"explain", b"analyze", b"analyse"):
            place += 1
        elif names[place : place + 1] == [b"("] and set(names[place + 1 : place + 2]) <= _OPTIONS:
            while place < len(names) and names[place] != b")":
                place += 1
            place += 1
        else:
            return text[starts[place] :].decode()
    return ""


_OPTIONS = {b"analyze", b"analyse", b"format"}
"""Words that `explain` takes in brackets."""


class _Views:
    """The views of a query: each over files that were opened for it."""

    def __init__(self, connection: Any, directory: Path, opened: contextlib.ExitStack) -> None:  # noqa: ANN401
        self.damaged: list[str] = []
        self.left_out: list[str] = []
        self._connection = connection
        self._directory = directory
        self._opened = opened
        self._names: dict[str, str] = {}
        self._places: dict[Path, str] = {}

    def add(self, name: str, table: _Table) -> None:
        """Make the view of a table; if none of its files can be read, it is damaged."""
        import duckdb

        sources: list[str] = []
        for part in table:
            places: dict[str, list[str]] = {"files": [], "stems": [], "folders": []}
            if part.also is not None:
                places["also"] = [place] if (place := self._place(part.also)) else []
            for path in part.files:
                found = [self._place(path), *(self._place(path.with_name(n)) for n in part.beside)]
                if all(found):
                    for role, place in zip(("files", *part.beside), found, strict=True):
                        places.setdefault(role, []).append(str(place))
                    places["folders"].append(path.parent.name)
                    places["stems"].append(path.stem)
            if places["files"] and places.get("also", True):
                source = part.source
                for role, values in places.items():
                    source = source.replace(f"{{{role}}}", f"[{', '.join(map(_text, values))}]")
                sources.append(source)
        try:
            if not sources:
                raise duckdb.IOException(name)
            view = " union all by name ".join(sources)
            self._connection.execute(f"create view {_identifier(name)} as {view}")
        except duckdb.Error:  # a damaged file: the others can be asked
            self.damaged.append(name)

    def _place(self, path: Path) -> str:
        """Open a file, once, and return its place; nothing if it cannot be opened."""
        if path in self._places:
            return self._places[path]
        own = plain(path.relative_to(self._directory))
        place = ""
        try:
            file = self._opened.enter_context(open_file(path, root=self._directory))
        except OSError as error:
            _refuse_too_many(error)
            self.left_out.append(f"{own}: {why(error)}; left out")
        else:
            place = place_of(file)
            self._names[place] = own
        self._places[path] = place
        return place

    def lock(self) -> None:
        """Let statements read what was opened, and nothing else; there is no directory to write into."""
        places = ", ".join(map(_text, self._names))
        self._connection.execute(f"set allowed_paths = [{places}]")
        self._connection.execute("set temp_directory = ''")
        self._connection.execute(f"set memory_limit = '{budget()} B'")
        self._connection.execute("set enable_external_access = false")
        self._connection.execute("set lock_configuration = true")

    def named(self, message: str) -> str:
        """Return a message of DuckDB with the names of files."""
        return _PLACE.sub(lambda found: self._names.get(found[0], found[0]), message)


_PLACE = re.compile("/dev/fd/[0-9]+")


def _refuse_too_many(error: OSError) -> None:
    """Say what to do if the system opens no more files.

    Raises `EnvironmentFailure` if that is what is wrong.
    """
    if error.errno in (errno.EMFILE, errno.ENFILE):
        raise EnvironmentFailure(
            "the store has more runs than files may be open at a time", "a larger limit: ulimit -n, or limits.conf"
        ) from error


def _text(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _result_tables(directory: Path) -> dict[str, _Table]:
    there = folder_names(directory)
    names = ["metrics.parquet", "runs.parquet"]
    found: dict[str, _Table] = {}
    if "sums.parquet" in there:  # a result in columns
        runs, metrics = directory / "runs.parquet", directory / "metrics"
        files = [metrics / name for name in folder_names(metrics, root=directory)]
        found["metrics"] = [_Part(_COLUMNS_METRICS, files, also=runs)]
        names += ["measures.parquet", "sums.parquet"]
    elif names[0] not in there:
        return {}
    names += [f"records/{name}" for name in folder_names(directory / "records", root=directory)]
    source = "select * from read_parquet({files})"
    return found | {
        Path(name).stem: [_Part(source, [directory / name])]
        for name in names
        if name.endswith(".parquet") and os.path.lexists(directory / name)
    }


def _store_tables(directory: Path) -> dict[str, _Table]:
    single, together = dict[str, _Part](), dict[str, _Part]()
    for folder, names in _folders(directory / LAYOUT, directory, is_shelf=lambda s: len(s) == 2):
        for name in names:
            table, _, suffix = name.rpartition(".")
            if name == "run.json":
                single.setdefault("runs", _Part(_RUNS)).files.append(folder / name)
            elif suffix == "parquet":
                single.setdefault(table, _Part(_RECORDS)).files.append(folder / name)
    for folder, names in _folders(directory / SEGMENTS_LAYOUT / "runs", directory):
        for name in names:
            table, _, suffix = name.rpartition(".")
            if suffix == "parquet":
                is_runs = table == "runs"
                part = (
                    _Part(_SEGMENT_RUNS, beside=("segment.json",))
                    if is_runs
                    else _Part(_SEGMENT_RECORDS, beside=("runs.parquet",))
                )
                together.setdefault(table, part).files.append(folder / name)
    names = sorted({*single, *together} - {"runs"})
    if not names:
        return {}
    return {name: [part[name] for part in (single, together) if name in part] for name in ("runs", *names)}


def _folders(place: Path, root: Path, is_shelf: Callable[[str], bool] = bool) -> Iterator[tuple[Path, list[str]]]:
    """Give the folders two steps below a place of the store, with the names in them."""
    for shelf in filter(is_shelf, folder_names(place, root=root)):
        for name in folder_names(place / shelf, root=root):
            folder = place / shelf / name
            yield folder, folder_names(folder, root=root)


_RUNS = (
    "select key, seed, engine_version, statistics.simulated_s, statistics.wall_s, "
    "statistics.packet_hops, statistics.events, "
    'regexp_extract(scenario, \'name = "([^"]*)"\', 1) as scenario '
    "from read_json({files}, "
    "columns = {key: 'varchar', seed: 'ubigint', engine_version: 'varchar', "
    "scenario: 'varchar', statistics: 'struct(simulated_s double, wall_s double, "
    "packet_hops ubigint, events ubigint)'})"
)

_RECORDS = (
    "select map({files}, {folders})[filename] as key, * exclude (filename) "
    "from read_parquet({files}, filename = true, union_by_name = true)"
)

_COLUMNS_METRICS = (
    "select r.point, r.seed, t.* exclude (filename, run) "
    "from read_parquet({files}, filename = true) t "
    "join (select point, seed, file, run from read_parquet({also})) r "
    "on try_cast(map({files}, {stems})[t.filename] as uinteger) = r.file and t.run = r.run"
)

_SCENARIO_NAME = 'regexp_extract(scenario, \'name = "([^"]*)"\', 1)'

_SEGMENT_RUNS = (
    "select r.key, seed, engine_version, simulated_s, "
    "try_cast(string_split(wall_s, ' ')[file_row_number + 1] as double) as wall_s, "
    f"packet_hops, events, {_SCENARIO_NAME} as scenario "
    "from read_parquet({files}, filename = true, file_row_number = true) r "
    "join read_json({segment.json}, "
    "columns = {key: 'varchar', engine_version: 'varchar', wall_s: 'varchar'}) l "
    "on map({files}, {folders})[r.filename] = l.key"
)

_SEGMENT_RECORDS = (
    "select r.key, t.* exclude (filename, run) "
    "from read_parquet({files}, filename = true, union_by_name = true) t "
    "join read_parquet({runs.parquet}, filename = true, file_row_number = true) r "
    "on map({files}, {folders})[t.filename] = map({runs.parquet}, {folders})[r.filename] "
    "and t.run = r.file_row_number"
)
