"""`kernelarc ingest` and `kernelarc query`."""

from pathlib import Path

import click

from pipeline.commands.options import emit, options, table

_STORE = "sqlite:///.kernelarc/store.sqlite"
_SOURCES = ("runs", "submissions", "leaderboard/snapshots")
store_option = click.option(
    "--store", "url", metavar="URL", envvar="KERNELARC_STORE", default=_STORE, show_default=True,
    help="A SQLAlchemy address.",
)  # fmt: skip


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH...]")
@options(
    store_option,
    click.option("--rebuild", is_flag=True, help="Set the store's file aside and fill a new one."),
)
def ingest(paths: tuple[Path, ...], url: str, rebuild: bool, as_json: bool) -> None:
    """Put verdicts, traces and snapshots below PATH into the store (default: runs, submissions and snapshots).

    What is there already stays as it is. The store is a copy: a damaged one is set aside and filled again.

    \b
    Examples:
      kernelarc ingest
      kernelarc ingest --rebuild
      kernelarc ingest old-traces.jsonl --store postgresql+psycopg://me@host/kernels
    """
    from leaderboard.ingest import gather
    from leaderboard.store import file_of, open_store, set_aside

    chosen = paths or tuple(path for path in map(Path, _SOURCES) if path.exists())
    gathered = gather(chosen)
    path = file_of(url)
    aside = set_aside(path) if rebuild and path is not None else None
    with open_store(url) as store:
        added = store.add(gathered.rows)
        counts = store.counts()
    for skipped in gathered.skipped:
        click.echo(f"skipped {skipped}", err=True)
    content = {
        "added": added,
        "skipped": list(gathered.skipped),
        "rows": counts,
        "set_aside": str(aside) if aside else None,
    }
    held = ", ".join(f"{count} {name}" for name, count in counts.items())
    lines = [f"set aside: {aside}"] if aside else []
    emit(as_json, content, "\n".join([*lines, f"{added} rows added; the store holds {held}"]))


@click.command()
@click.argument("sql", required=False)
@options(
    store_option,
    click.option(
        "--parquet", type=click.Path(path_type=Path), metavar="DIR", help="Write every table there, too."
    ),
    click.option(
        "--from-parquet", type=click.Path(path_type=Path), metavar="DIR",
        help="Ask the tables written there, in DuckDB's SQL, and not the store.",
    ),
)  # fmt: skip
def query(sql: str | None, url: str, parquet: Path | None, from_parquet: Path | None, as_json: bool) -> None:
    """Ask the store in SQL, of its tables verdicts, times, traces and snapshots; nothing can be changed.

    \b
    Examples:
      kernelarc query "SELECT task, count(*) FROM verdicts GROUP BY task"
      kernelarc query "SELECT reason, count(*) n FROM verdicts GROUP BY reason ORDER BY n DESC" --json
      kernelarc query --parquet notebook/
      kernelarc query "SELECT task, median(latency_ms) FROM verdicts JOIN times ON digest = verdict GROUP BY ALL" \
        --from-parquet notebook/
    """
    from leaderboard.query import ask, ask_parquet, export_parquet
    from leaderboard.store import open_store
    from tasks.errors import TaskError

    if sql is None and parquet is None:
        raise TaskError("asks nothing", field="SQL", mend='say "SELECT ..." or --parquet DIR')
    written: tuple[Path, ...] = ()
    answer = None
    if from_parquet is not None:
        if sql is None or parquet is not None:
            raise TaskError("comes with a question and without --parquet", field="--from-parquet")
        answer = ask_parquet(from_parquet, sql)
    else:
        with open_store(url) as store:
            written = export_parquet(store, parquet) if parquet else ()
            answer = ask(store, sql) if sql else None
    rows = [] if answer is None else [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    lines = [str(path) for path in written]
    if answer is not None:
        cells = [tuple("-" if cell is None else str(cell) for cell in row) for row in answer.rows]
        lines.append(table([answer.columns, *cells]))
    emit(as_json, rows if answer is not None else [str(path) for path in written], "\n".join(lines))
