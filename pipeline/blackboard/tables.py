"""The blackboard's tables. Events are only ever added; the others can be made again from them."""

from sqlalchemy import DDL, Column, Float, Integer, MetaData, String, Table, Text, event

METADATA = MetaData()

events = Table(
    "events",
    METADATA,
    Column("run", String, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("hash", String(64), nullable=False),
    Column("kind", String, nullable=False),
    Column("content", Text, nullable=False),
)
conclusions = Table(
    "conclusions",
    METADATA,
    Column("run", String, primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("task", String, nullable=False, index=True),
    Column("kernel_type", String, nullable=False, index=True),
    Column("kind", String, nullable=False),
    Column("replications", Integer, nullable=False),
    Column("value", Float, nullable=False),
    Column("content", Text, nullable=False),
)
best = Table(
    "best",
    METADATA,
    Column("run", String, primary_key=True),
    Column("agent", String, primary_key=True),
    Column("task", String, nullable=False, index=True),
    Column("candidate", String(64), nullable=False),
    Column("latency_ms", Float),
    Column("content", Text, nullable=False),
)

for _verb in ("UPDATE", "DELETE"):
    event.listen(
        events,
        "after_create",
        # the chain shows a change, and on SQLite none can be made in the first place
        DDL(  # type: ignore[no-untyped-call]
            f"CREATE TRIGGER events_never_{_verb.lower()} BEFORE {_verb} ON events "
            "BEGIN SELECT RAISE(ABORT, 'events are only ever added'); END"
        ).execute_if(dialect="sqlite"),
    )
