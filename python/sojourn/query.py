"""SQL over finished runs, by DuckDB.

A store shows as `runs` (one row per run, from its `run.json`) and one view per record table, whose
column `key` joins them. A result directory shows as `metrics`, `runs`, and the tables that were kept.
"""

from pathlib import Path
from typing import Any

from sojourn.errors import MissingExtra, UsageError
from sojourn.store import LAYOUT, default_directory

__all__ = ["run_query"]


def run_query(sql: str, directory: Path | None = None) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return column names and rows of a query.

    Parameters
    ----------
    sql
        One statement in DuckDB's dialect.
    directory
        A store or a result directory; the default store if left out.

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
    directory = directory if directory is not None else default_directory()
    with duckdb.connect() as connection:
        views = _result_views(directory) or _store_views(directory)
        if not views:
            raise UsageError(
                f"{directory} holds no runs", "`sojourn run` and `sojourn study run` fill the store"
            )
        for name, definition in views.items():
            connection.execute(f'create view "{name}" as {definition}')
        try:
            cursor = connection.execute(sql)
        except duckdb.Error as error:
            raise UsageError(
                "\n  ".join(str(error).strip().splitlines()), f"tables: {', '.join(views)}"
            ) from error
        columns = [str(item[0]) for item in cursor.description or []]
        return columns, cursor.fetchall()


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _result_views(directory: Path) -> dict[str, str]:
    if not (directory / "metrics.parquet").exists():
        return {}
    files = [directory / "metrics.parquet", directory / "runs.parquet"]
    files += sorted((directory / "records").glob("*.parquet"))
    return {
        file.stem: f"select * from read_parquet({_quoted(file)})" for file in files if file.exists()
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
            f"from read_json({_quoted(runs / '??' / '*' / 'run.json')}, "
            "columns = {key: 'varchar', seed: 'ubigint', engine_version: 'varchar', "
            "scenario: 'varchar', statistics: 'struct(simulated_s double, wall_s double, "
            "packet_hops ubigint, events ubigint)'})"
        )
    }
    for table in tables:
        pattern = _quoted(runs / "??" / "*" / f"{table}.parquet")
        views[table] = (
            "select parse_path(filename)[-2] as key, * exclude (filename) "
            f"from read_parquet({pattern}, filename = true, union_by_name = true)"
        )
    return views
