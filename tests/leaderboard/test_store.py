"""The store: filled from files, asked in SQL, and rebuilt when it is damaged."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leaderboard.ingest import gather
from leaderboard.query import ask, export_parquet
from leaderboard.snapshot import take_snapshot
from leaderboard.snapshot_file import write_snapshot
from leaderboard.store import damage_of, open_store
from leaderboard.store_summary import judged_by_task
from pipeline.cli import main
from submissions.write import write
from tasks.errors import TaskError
from tests.submissions.builders import a_candidate, a_task, a_verdict, draft, ready

ROOT = Path(__file__).parents[2]


def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.sqlite'}"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A ready submission, its snapshot, and a verdict in a run's folder."""
    root = tmp_path / "files"
    write(ready(), root / "submissions")
    write_snapshot(take_snapshot(ready()), root / "snapshots")
    task = a_task()
    verdict = a_verdict(task, a_candidate(task), timer="cuda-events")
    (root / "runs").mkdir()
    (root / "runs" / "verdict.json").write_text(json.dumps({"verdict": verdict.model_dump(mode="json")}))
    return root


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_everything_that_was_judged_is_found_and_added_once(tmp_path: Path, files: Path) -> None:
    gathered = gather([files])
    assert gathered.skipped == ()
    with open_store(url(tmp_path)) as store:
        assert store.add(gathered.rows) == 12
        assert store.add(gathered.rows) == 0
        assert store.counts() == {"verdicts": 2, "times": 6, "traces": 3, "snapshots": 1}


def test_it_answers_sql_over_what_was_judged(tmp_path: Path, files: Path) -> None:
    with open_store(url(tmp_path)) as store:
        store.add(gather([files]).rows)
        answer = ask(
            store,
            "SELECT v.task, t.workload, t.latency_ms FROM verdicts v JOIN times t ON t.verdict = v.digest "
            "WHERE t.timer = 'cupti' ORDER BY t.latency_ms",
        )
    assert answer.columns == ("task", "workload", "latency_ms")
    assert [row[1] for row in answer.rows] == ["w1", "w7", "w1024"]
    assert answer.rows[0][2] == ready().verdict.workloads[0].latency_ms


@pytest.mark.parametrize(
    "sql", ["DELETE FROM verdicts", "DROP TABLE times", "SELEC 1", "SELECT * FROM nowhere"]
)
def test_a_question_can_change_nothing_and_a_wrong_one_is_told(tmp_path: Path, files: Path, sql: str) -> None:
    with open_store(url(tmp_path)) as store:
        store.add(gather([files]).rows)
        with pytest.raises(TaskError, match="the tables are verdicts"):
            ask(store, sql)
        assert store.counts()["verdicts"] == 2
        assert store.add(gather([files]).rows) == 0


def test_a_file_that_cannot_be_read_is_skipped_by_name(tmp_path: Path, files: Path) -> None:
    (files / "runs" / "half.json").write_text('{"verdict": {"task": ')
    (files / "runs" / ".being-written.json").write_text("{")
    gathered = gather([files])
    assert len(gathered.skipped) == 1 and "half.json" in gathered.skipped[0]
    assert len(gathered.rows["verdicts"]) == 2
    with pytest.raises(TaskError, match="does not exist"):
        gather([tmp_path / "nowhere"])


@pytest.mark.parametrize("damage", ["overwritten", "cut", "no-database", "other-schema"])
def test_a_damaged_store_is_named_set_aside_and_rebuilt_by_one_command(
    tmp_path: Path, files: Path, damage: str
) -> None:
    assert run("ingest", files, "--store", url(tmp_path)).exit_code == 0
    path = tmp_path / "store.sqlite"
    content = bytearray(path.read_bytes())
    if damage == "overwritten":
        content[4096:12288] = b"\x5a" * 8192
    elif damage == "cut":
        del content[len(content) // 2 :]
    elif damage == "no-database":
        content = bytearray(b"not a database, but a note\n" * 100)
    else:
        content[60:64] = (99).to_bytes(4, "big")
    path.write_bytes(content)
    asked = run("query", "SELECT count(*) FROM verdicts", "--store", url(tmp_path))
    assert asked.exit_code == 2 and "is damaged" in asked.stderr and "ingest --rebuild" in asked.stderr
    rebuilt = json.loads(run("ingest", files, "--rebuild", "--store", url(tmp_path), "--json").stdout)
    assert rebuilt["rows"]["verdicts"] == 2
    assert Path(rebuilt["set_aside"]).read_bytes() == bytes(content)
    assert damage_of(path) == ""


def test_a_fill_that_was_killed_leaves_nothing_of_itself(tmp_path: Path, files: Path) -> None:
    code = """if True:
        import os, sys
        from leaderboard import store
        row = {column.name: "x" for column in store.traces.columns} | {"latency_ms": 1.0, "reference_latency_ms": 1.0}
        with store.open_store(sys.argv[1]) as opened, opened.engine.begin() as connection:
            for n in range(3000):
                connection.execute(store.traces.insert(), row | {"digest": str(n)})
            os.kill(os.getpid(), 9)
    """
    done = subprocess.run([sys.executable, "-c", code, url(tmp_path)], cwd=ROOT, check=False)
    assert done.returncode == -9
    asked = run("query", "SELECT count(*) AS n FROM traces", "--store", url(tmp_path), "--json")
    assert json.loads(asked.stdout) == [{"n": 0}]
    assert json.loads(run("ingest", files, "--store", url(tmp_path), "--json").stdout)["rows"]["traces"] == 3


def test_a_query_prints_rows_or_json_and_asks_for_one_of_both(tmp_path: Path, files: Path) -> None:
    run("ingest", files, "--store", url(tmp_path))
    sql = "SELECT status, count(*) AS n FROM traces GROUP BY status"
    assert run("query", sql, "--store", url(tmp_path)).stdout.split() == ["status", "n", "PASSED", "3"]
    said = json.loads(run("query", sql, "--store", url(tmp_path), "--json").stdout)
    assert said == [{"status": "PASSED", "n": 3}]
    assert run("query", "--store", url(tmp_path)).exit_code == 2


def test_the_tables_are_exported_with_their_types(tmp_path: Path, files: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with open_store(url(tmp_path)) as store:
        store.add(gather([files, write(draft(), tmp_path / "more")]).rows)
        written = export_parquet(store, tmp_path / "out")
    assert [path.stem for path in written] == ["verdicts", "times", "traces", "snapshots"]
    times = parquet.read_table(written[1])
    assert times.num_rows == 9 and str(times.schema.field("latency_ms").type) == "double"


def test_duckdb_answers_over_the_export_and_reads_nothing_else(tmp_path: Path, files: Path) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed (extra web)")
    run("ingest", files, "--store", url(tmp_path))
    out = tmp_path / "out"
    assert run("query", "--parquet", out, "--store", url(tmp_path)).exit_code == 0

    def asked(sql: str, *more: str) -> Result:
        return run("query", sql, "--from-parquet", out, *more)

    said = json.loads(asked("SELECT status, count(*) AS n FROM traces GROUP BY ALL", "--json").stdout)
    assert said == [{"status": "PASSED", "n": 3}]
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    for sql in (
        f"SELECT * FROM read_csv('{secret}')",
        f"COPY traces TO '{tmp_path}/x.csv'",
        "SELECT 1 FROM nothing",
    ):
        done = asked(sql)
        assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before and not (
        tmp_path / "x.csv"
    ).exists()
    assert "none of the store's tables" in run("query", "SELECT 1", "--from-parquet", tmp_path).stderr


def test_the_summary_counts_what_the_files_hold(tmp_path: Path, files: Path) -> None:
    run("ingest", files, "--store", url(tmp_path))
    with open_store(url(tmp_path)) as store:
        found = judged_by_task(store)
        rows = ask(store, "SELECT task, count(*), sum(status = 'accepted') FROM verdicts GROUP BY task").rows
        traces = ask(store, "SELECT definition, count(*), min(latency_ms) FROM traces GROUP BY 1").rows
    assert {task: (one.verdicts, one.accepted) for task, one in found.items() if one.verdicts} == {
        task: (count, accepted) for task, count, accepted in rows
    }
    for definition, count, best in traces:
        assert (found[definition].traces, found[definition].best_trace_ms) == (count, best)


def test_a_wrong_address_is_bad_input() -> None:
    done = run("query", "SELECT 1", "--store", "store.sqlite")
    assert done.exit_code == 2 and "SQLAlchemy address" in done.stderr


@pytest.mark.bench
def test_a_hundred_thousand_traces_are_asked_within_two_seconds(tmp_path: Path) -> None:
    rows = [
        {
            "digest": f"{n:064x}", "definition": f"p{n % 235}", "workload": f"w{n % 16}", "solution": f"s{n % 20}",
            "status": "PASSED" if n % 7 else "TIMEOUT", "hardware": "NVIDIA B200", "latency_ms": 0.01 + n % 97,
            "reference_latency_ms": 1.0, "judged_at": "2026-01-01T00:00:00+00:00", "source": "traces.jsonl",
        }
        for n in range(100_000)
    ]  # fmt: skip
    with open_store(url(tmp_path)) as store:
        assert store.add({"traces": rows}) == 100_000
    began = time.perf_counter()
    with open_store(url(tmp_path)) as store:
        best = ask(
            store,
            "SELECT definition, workload, min(latency_ms) FROM traces WHERE status = 'PASSED' GROUP BY 1, 2",
        )
    assert len(best.rows) == 235 * 16
    assert time.perf_counter() - began < 2.0
    began = time.perf_counter()
    with open_store(url(tmp_path)) as store:
        summary = judged_by_task(store)  # what the page asks
    assert len(summary) == 235
    assert time.perf_counter() - began < 2.0
