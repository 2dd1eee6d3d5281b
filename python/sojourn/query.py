"""SQL over finished runs, by DuckDB.

A store shows as `runs` (one row per run, from its `run.json`) and one view per record table, whose
column `key` joins them. A result directory shows as `metrics`, `runs`, and the tables that were kept.

A query reads, and reads no other files: it may come from somebody's page. `allow_files` lets it.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar

from sojourn.errors import MissingExtra, UsageError
from sojourn.store import LAYOUT, default_directory

__all__ = ["run_query"]

LOOK_S = 0.05
"""chosen: an interrupt ends a query within a fifth of a second, and looking so often costs nothing."""

_Answer = TypeVar("_Answer")


def run_query(
    sql: str, directory: Path | None = None, *, allow_files: bool = False
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return column names and rows of a query.

    Parameters
    ----------
    sql
        One statement in DuckDB's dialect.
    directory
        A store or a result directory; the default store if left out.
    allow_files
        Whether the statement may do whatever DuckDB can: read and write other files, attach databases, load
        extensions.

    Raises
    ------
    MissingExtra
        If DuckDB is not installed.
    UsageError
        If there is nothing to ask, or the query is not valid.
    """
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtra("`sojourn query`", "duckdb", "sql") from error
    directory = (directory if directory is not None else default_directory()).resolve()
    damaged: list[str] = []
    with duckdb.connect() as connection:
        views = _result_views(directory) or _store_views(directory)
        if not views:
            raise UsageError(
                f"{directory} holds no runs", "`sojourn run` and `sojourn study run` fill the store"
            )
        for name, definition in list(views.items()):
            try:
                connection.execute(f"create view {_identifier(name)} as {definition}")
            except duckdb.Error:  # a damaged file: the others can be asked
                del views[name]
                damaged.append(name)
        tables = f"tables: {', '.join(views)}"
        if damaged:
            tables += f"; damaged: {', '.join(damaged)}"
        try:
            statements = connection.extract_statements(sql)
            if len(statements) != 1:
                raise UsageError(f"{len(statements)} statements instead of one", tables)
            if not allow_files:
                if statements[0].type not in (
                    duckdb.StatementType.SELECT,
                    duckdb.StatementType.EXPLAIN,
                ):
                    raise UsageError(
                        "a query reads: select, describe, summarize or explain",
                        "--allow-files lets it do more",
                    )
                _lock(connection, directory)

            def answer() -> tuple[list[str], list[tuple[Any, ...]]]:
                cursor = connection.execute(statements[0])
                return [str(item[0]) for item in cursor.description or []], cursor.fetchall()

            return _interruptible(connection, answer)
        except duckdb.PermissionException as error:
            raise UsageError(
                "the query names a file outside of what it asks about",
                "--allow-files lets it read and write other files",
            ) from error
        except duckdb.Error as error:
            if "pytz" in str(error):
                raise UsageError(
                    "a time with a zone cannot be shown", "cast it, for example now()::timestamp"
                ) from error
            raise UsageError("\n  ".join(str(error).strip().splitlines()), tables) from error


def _interruptible(connection: Any, ask: Callable[[], _Answer]) -> _Answer:  # noqa: ANN401
    """Ask in another thread, and look up now and then: signals go to threads of DuckDB, which do not tell Python's."""
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(ask)
        try:
            while wait([asked], timeout=LOOK_S).not_done:
                pass
        except KeyboardInterrupt:
            while wait([asked], timeout=LOOK_S).not_done:
                connection.interrupt()
            raise
        return asked.result()


def _lock(connection: Any, directory: Path) -> None:  # noqa: ANN401 - DuckDB's types are incomplete
    """Let statements read files below a directory only, and not change that."""
    connection.execute(f"set allowed_directories = [{_text(directory)}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _text(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _result_views(directory: Path) -> dict[str, str]:
    if not (directory / "metrics.parquet").exists():
        return {}
    files = [directory / "metrics.parquet", directory / "runs.parquet"]
    files += sorted((directory / "records").glob("*.parquet"))
    return {
        file.stem: f"select * from read_parquet({_text(file)})" for file in files if file.exists()
    }


def _store_views(directory: Path) -> dict[str, str]:
    runs = directory / LAYOUT
    tables = sorted({path.stem for path in runs.glob("??/*/*.parquet")})
    if not tables:
        return {}
    views = {
        "runs": (
            "select key, seed, engine_version, statistics.simulated_s, statistics.wall_s, "
            "statistics.packet_hops, statistics.events, "
            'regexp_extract(scenario, \'name = "([^"]*)"\', 1) as scenario '
            f"from read_json({_text(runs / '??' / '*' / 'run.json')}, "
            "columns = {key: 'varchar', seed: 'ubigint', engine_version: 'varchar', "
            "scenario: 'varchar', statistics: 'struct(simulated_s double, wall_s double, "
            "packet_hops ubigint, events ubigint)'})"
        )
    }
    for table in tables:
        pattern = _text(runs / "??" / "*" / f"{table}.parquet")
        views[table] = (
            "select parse_path(filename)[-2] as key, * exclude (filename) "
            f"from read_parquet({pattern}, filename = true, union_by_name = true)"
        )
    return views
