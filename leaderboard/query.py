"""Questions to the store in SQL, and its tables as Parquet files; neither can change it."""

from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, ResourceClosedError

from leaderboard.store import TABLES, Store
from tasks.errors import TaskError


class Answer(NamedTuple):
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def ask(store: Store, sql: str) -> Answer:
    """The rows of one SELECT; `TaskError` in the database's words when it cannot be answered.

    SQLite refuses every change by itself here; elsewhere the transaction is read-only and undone.
    """
    with store.engine.connect() as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        connection.execute(text("PRAGMA query_only = ON" if is_sqlite else "SET TRANSACTION READ ONLY"))
        try:
            result = connection.execute(text(sql))
            return Answer(tuple(result.keys()), [tuple(row) for row in result])
        except ResourceClosedError as error:
            raise TaskError("is no question", field="SQL", mend="begin it with SELECT") from error
        except DBAPIError as error:
            mend = f"the tables are {', '.join(TABLES)}"
            raise TaskError(str(error.orig), field="SQL", mend=mend) from error
        finally:
            connection.rollback()
            if is_sqlite:
                connection.execute(text("PRAGMA query_only = OFF"))


def ask_parquet(folder: Path, sql: str) -> Answer:
    """The rows of one statement over the tables that `export_parquet` wrote, answered by DuckDB in memory.

    It can read nothing but them: files, networks and extensions are closed to it, and what it changes is its own
    copy. `TaskError` in DuckDB's words, or when the folder holds none of the tables.
    """
    import duckdb
    import pyarrow.parquet as parquet

    files = {name: folder / f"{name}.parquet" for name in TABLES}
    present = {name: path for name, path in files.items() if path.is_file()}
    if not present:
        mend = "write them with `kernelarc query --parquet DIR`"
        raise TaskError("holds none of the store's tables", file=folder, mend=mend)
    with duckdb.connect(":memory:") as database:
        for name, path in present.items():
            database.register(name, parquet.read_table(path))
        database.execute("SET enable_external_access = false")
        database.execute("SET lock_configuration = true")
        try:
            found = database.execute(sql)
            columns = tuple(column[0] for column in found.description or ())
            return Answer(columns, [tuple(row) for row in found.fetchall()])
        except duckdb.Error as error:
            said = str(error).splitlines()[0]
            raise TaskError(said, field="SQL", mend=f"the tables are {', '.join(present)}") from error


def export_parquet(store: Store, folder: Path) -> tuple[Path, ...]:
    """One file a table, for notebooks."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with store.engine.connect() as connection:
        for name, table in TABLES.items():
            columns: dict[str, list[Any]] = {column.name: [] for column in table.columns}
            for row in connection.execute(table.select()):
                for column, value in row._mapping.items():
                    columns[str(column)].append(value)
            types = {"FLOAT": arrow.float64(), "INTEGER": arrow.int64()}
            schema = arrow.schema([(c.name, types.get(str(c.type), arrow.string())) for c in table.columns])
            path = folder / f"{name}.parquet"
            parquet.write_table(arrow.table(columns, schema=schema), path)
            written.append(path)
    return tuple(written)
