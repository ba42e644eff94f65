"""The store: what was judged, traced and frozen, in tables that can be asked. It is a copy, never the source.

Everything in it comes from files that are kept elsewhere (journals, submissions, snapshots), so a damaged
store is set aside and filled again, and loses nothing.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Engine,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from tasks.errors import TaskError

SCHEMA = 1
_BATCH = 5000
_KNOWN = MetaData()


def _table(name: str, *columns: Column[Any]) -> Table:
    return Table(name, _KNOWN, *columns)


verdicts = _table(
    "verdicts",
    Column("digest", String(64), primary_key=True),
    Column("task", String, nullable=False, index=True),
    Column("task_digest", String(64), nullable=False),
    Column("candidate", String(64), nullable=False, index=True),
    Column("status", String, nullable=False),
    Column("reason", String),
    Column("protocol", String, nullable=False),
    Column("device", String, nullable=False),
    Column("card", String),
    Column("driver", String),
    Column("source", String, nullable=False),
)
times = _table(
    "times",
    Column("verdict", String(64), primary_key=True),
    Column("workload", String, primary_key=True),
    Column("status", String, nullable=False),
    Column("timer", String),
    Column("latency_ms", Float),
    Column("processes", Integer, nullable=False),
)
traces = _table(
    "traces",
    Column("digest", String(64), primary_key=True),
    Column("definition", String, nullable=False),
    Column("workload", String, nullable=False),
    Column("solution", String),
    Column("status", String),
    Column("hardware", String),
    Column("latency_ms", Float),
    Column("reference_latency_ms", Float),
    Column("judged_at", String),
    Column("source", String, nullable=False),
)
snapshots = _table(
    "snapshots",
    Column("digest", String(64), primary_key=True),
    Column("task", String, nullable=False, index=True),
    Column("candidate", String(64), nullable=False),
    Column("taken_on", String, nullable=False),
    Column("device", String, nullable=False),
    Column("driver", String),
    Column("score", Float),
    Column("source", String, nullable=False),
)
Index("best_traces", traces.c.definition, traces.c.status, traces.c.latency_ms)
TABLES = {table.name: table for table in (verdicts, times, traces, snapshots)}
Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""By the name of a table."""


class Store:
    """An open store. Adding the same rows again changes nothing: they are named by digests."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add(self, rows: Rows) -> int:
        """Add what is new, all of it or nothing; how many rows that was."""
        with self.engine.begin() as connection:
            return sum(_insert(connection, TABLES[name], some) for name, some in rows.items() if some)

    def counts(self) -> dict[str, int]:
        with self.engine.connect() as connection:
            return {
                name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
                for name, table in TABLES.items()
            }

    def close(self) -> None:
        self.engine.dispose()


@contextmanager
def open_store(url: str) -> Iterator[Store]:
    """The store at a SQLAlchemy address such as `sqlite:///.kernelarc/store.sqlite`, made when it is not there.

    `TaskError` when its file is damaged, cut short, or of another schema.
    """
    path = file_of(url)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        damage = damage_of(path)
        if damage:
            raise TaskError(
                f"is damaged ({damage})", file=path, mend=f"run `kernelarc ingest --rebuild --store {url}`"
            )
    try:
        engine = create_engine(url)
    except (ArgumentError, ImportError) as error:
        raise TaskError(
            f"cannot be opened: {error}", field="--store", mend="give a SQLAlchemy address"
        ) from error
    if path is not None:
        event.listen(engine, "connect", _prepare_sqlite)
    store = Store(engine)
    try:
        _KNOWN.create_all(engine)
        yield store
    except OperationalError as error:
        raise TaskError(
            f"cannot be used: {error.orig}", field="--store", mend="check its address and rights"
        ) from error
    finally:
        store.close()


def file_of(url: str) -> Path | None:
    """The file of a SQLite address; None for any other."""
    try:
        address = make_url(url)
    except ArgumentError as error:
        raise TaskError(
            "is no SQLAlchemy address", field="--store", mend="such as sqlite:///store.sqlite"
        ) from error
    if address.get_backend_name() != "sqlite" or address.database in (None, "", ":memory:"):
        return None
    return Path(str(address.database))


def damage_of(path: Path) -> str:
    """What is wrong with a SQLite file, in its own words; empty when it is sound, empty or not there."""
    if not path.exists() or path.stat().st_size == 0:
        return ""
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            said = connection.execute("PRAGMA quick_check").fetchone()[0]
            schema = connection.execute("PRAGMA user_version").fetchone()[0]
            missing = set(TABLES) - {r[0] for r in connection.execute("SELECT name FROM sqlite_master")}
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        return str(error)
    if said != "ok":
        return str(said).splitlines()[0]
    if schema != SCHEMA:
        return f"its schema is {schema}, not {SCHEMA}"
    return f"it has no table {min(missing)}" if missing else ""


def set_aside(path: Path) -> Path | None:
    """Move the file out of the way under a new name, with what SQLite keeps beside it; None when there is none."""
    if not path.exists():
        return None
    number = 1
    while (aside := path.with_name(f"{path.name}.aside-{number}")).exists():
        number += 1
    path.rename(aside)
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return aside


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
    connection.execute("PRAGMA synchronous = FULL")


def _insert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """Counted by what the table holds, since not every driver says how many rows it took."""
    before = connection.execute(select(func.count()).select_from(table)).scalar_one()
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table).on_conflict_do_nothing()
    for first in range(0, len(rows), _BATCH):
        connection.execute(statement, [dict(row) for row in rows[first : first + _BATCH]])
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one() - before)
