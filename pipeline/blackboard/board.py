"""The blackboard open for writing, by the one process that runs the search; agents never hold it."""

import errno
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Engine, create_engine, event, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError
from sqlalchemy.pool import StaticPool
from sqlalchemy.schema import Table

from agents.memory import Remembered, Sibling
from pipeline.blackboard.chain import BEGINNING, link
from pipeline.blackboard.tables import METADATA, best, conclusions, events
from tasks.errors import TaskError
from tasks.value import canonical_json

IN_MEMORY = "sqlite://"


class Board:
    """One run's part of a blackboard. What a resumed run adds again is compared and not added twice."""

    def __init__(self, engine: Engine, run: str, task: str) -> None:
        self._engine, self.run, self._task = engine, run, task
        self._place = engine.url.database or str(engine.url)
        with self._writing() as connection:
            mine = select(func.count(), func.max(events.c.number)).where(events.c.run == run)
            self._kept = int(connection.execute(mine).one()[0])
        self._next, self._last = 0, BEGINNING

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, kind: str, content: Mapping[str, Any]) -> str:
        """The event's link in the chain. Where a resumed run takes another turn, it goes on after the old end."""
        found = link(self._last, content)
        with self._writing() as connection:
            if self._next < self._kept and self._hash(connection, self._next) != found:
                self._last = self._hash(connection, self._kept - 1)
                self._next, found = self._kept, link(self._last, content)
            if self._next >= self._kept:
                row = {"run": self.run, "number": self._next, "hash": found, "kind": kind}
                connection.execute(events.insert(), {**row, "content": canonical_json(content)})
                self._kept += 1
        self._next, self._last = self._next + 1, found
        return found

    def remember(self, remembered: Remembered) -> None:
        conclusion = remembered.conclusion
        self._upsert(
            conclusions,
            {"run": self.run, "key": conclusion.key},
            {
                "task": self._task,
                "kernel_type": conclusion.scope.kernel_type,
                "kind": conclusion.kind,
                "replications": remembered.replications,
                "value": remembered.value,
                "content": conclusion.model_dump_json(),
            },
        )

    def best_of(self, sibling: Sibling) -> None:
        """The best of one agent, in place of its best so far."""
        values = {
            "task": self._task,
            "candidate": sibling.candidate.digest,
            "latency_ms": sibling.latency_ms,
            "content": sibling.model_dump_json(),
        }
        self._upsert(best, {"run": self.run, "agent": sibling.agent}, values)

    def state(self) -> dict[str, list[dict[str, Any]]]:
        """Every row of this run, in order of its keys; equal states are equal."""
        with self._engine.connect() as connection:
            return {
                table.name: [
                    dict(row)
                    for row in connection.execute(
                        select(table).where(table.c.run == self.run).order_by(*table.primary_key.columns)
                    ).mappings()
                ]
                for table in (events, conclusions, best)
            }

    def broken_link(self) -> int | None:
        """The number of the first event that is not what the chain says; None when all hold."""
        last = BEGINNING
        for number, row in enumerate(self.state()["events"]):
            last = link(last, json.loads(row["content"]))
            if (row["number"], row["hash"]) != (number, last):
                return number
        return None

    def close(self) -> None:
        self._engine.dispose()

    def _hash(self, connection: Connection, number: int) -> str:
        one = select(events.c.hash).where(events.c.run == self.run, events.c.number == number)
        return str(connection.execute(one).scalar_one())

    def _upsert(self, table: Table, key: dict[str, Any], values: dict[str, Any]) -> None:
        dialect = postgresql if self._engine.dialect.name == "postgresql" else sqlite
        insert = dialect.insert(table).values({**key, **values})
        with self._writing() as connection:
            connection.execute(insert.on_conflict_do_update(index_elements=list(key), set_=values))

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """One transaction. A database that cannot be written is the machine's fault, and named."""
        try:
            with self._engine.begin() as connection:
                yield connection
        except OperationalError as error:
            said = str(error.orig)
            number = errno.ENOSPC if "full" in said else errno.EIO
            raise OSError(number, said, self._place) from None


def open_board(url: str, run: str, task: str) -> Board:
    """The blackboard at a SQLAlchemy address; made when it is not there. Raises `TaskError`."""
    try:
        address = make_url(url)
        if address.get_backend_name() == "sqlite" and address.database:
            Path(address.database).parent.mkdir(parents=True, exist_ok=True)
        only = {"poolclass": StaticPool} if url == IN_MEMORY else {}
        engine = create_engine(address, **only)
    except (ArgumentError, ImportError) as error:
        raise TaskError(
            str(error).splitlines()[0], field="blackboard", mend="give a SQLAlchemy address with its driver"
        ) from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _write_ahead)
    elif engine.dialect.name != "postgresql":
        raise TaskError(
            f"{engine.dialect.name} is not supported", field="blackboard", mend="use sqlite or postgresql"
        )
    try:
        METADATA.create_all(engine)
    except DatabaseError as error:
        engine.dispose()
        if getattr(error.orig, "sqlite_errorname", "").startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            raise  # the disk is at fault, and no file
        raise TaskError(
            f"is no blackboard that can be written ({error.orig})",
            file=address.database or url,
            mend="set it aside and run again",
        ) from None
    return Board(engine, run, task)


def _write_ahead(connection: sqlite3.Connection, _: object) -> None:
    """WAL: readers never wait. After a crash of the machine the journal makes good what is missing."""
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=10000"):
        connection.execute(f"PRAGMA {pragma}")
