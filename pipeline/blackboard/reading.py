"""Reading blackboards without being able to write them: for people, and for anybody who asks."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError

from agents.memory import Conclusion
from pipeline.blackboard.tables import conclusions
from tasks.errors import TaskError
from tasks.value import Value


class Found(Value):
    """A conclusion over all runs that drew it."""

    conclusion: Conclusion
    runs: int
    replications: int
    value: float
    """Mean over the runs, weighted by their replications."""


def conclusions_of(urls: Iterable[str], task: str | None = None) -> list[Found]:
    """Of `task` (or of all), wins before traps, the most valuable first."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for url in urls:
        for row in _rows(url, task):
            rows.setdefault(row["key"], []).append(row)
    found = [_joined(some) for some in rows.values()]
    return sorted(found, key=lambda f: (f.conclusion.kind != "win", -f.value, f.conclusion.key))


def _joined(rows: list[dict[str, Any]]) -> Found:
    replications = sum(row["replications"] for row in rows)
    parts = [Conclusion.model_validate_json(row["content"]) for row in rows]
    evidence = tuple(dict.fromkeys(digest for part in parts for digest in part.evidence))
    return Found(
        conclusion=parts[0].model_copy(update={"evidence": evidence}),
        runs=len(rows),
        replications=replications,
        value=sum(row["value"] * row["replications"] for row in rows) / replications,
    )


def _rows(url: str, task: str | None) -> Iterator[dict[str, Any]]:
    try:
        engine = create_engine(_only_to_read(url))
    except (ArgumentError, ImportError) as error:
        raise TaskError(
            str(error).splitlines()[0], field="--blackboard", mend="give a SQLAlchemy address with its driver"
        ) from None
    query = select(conclusions).order_by(conclusions.c.run, conclusions.c.key)
    if task is not None:
        query = query.where(conclusions.c.task == task)
    try:
        with engine.connect() as connection:
            for row in connection.execute(query).mappings():
                yield dict(row)
    except DatabaseError as error:
        raise TaskError(
            f"is no blackboard ({error.orig})",
            file=url.removeprefix("sqlite:///"),
            mend="give the folder of a run",
        ) from None
    finally:
        engine.dispose()


def _only_to_read(url: str) -> str:
    """A SQLite file is opened so that no statement can change it; PostgreSQL has roles for that."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite" and address.database:
        return f"sqlite:///file:{Path(address.database).resolve()}?mode=ro&uri=true"
    return url
