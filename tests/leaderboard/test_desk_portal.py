"""Results out of saved files, drift alarms, and the client of an interface that nobody promised: against a server here."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from click.testing import Result as Ran

from leaderboard.desk import Ledger, Result, Sent, add_entry, read_ledger
from leaderboard.drift import alarms
from leaderboard.portal import TOKEN_VARIABLE, Portal
from leaderboard.portal_results import import_results
from pipeline.cli import main
from submissions.write import write
from tasks.errors import TaskError
from tests.submissions.builders import draft, ready

NOON = "2026-08-01T12:00:00+00:00"
TOKEN = "a-secret-token"


def sent(letter: str, task: str, **more: Any) -> Sent:
    return Sent(file_digest=letter * 64, submission="0" * 64, task=task, mode="private", at=NOON, **more)


def a_ledger() -> Ledger:
    numbered = sent("a", "L1/001_rmsnorm", portal_id="77")
    return Ledger((numbered, sent("b", "L2/002_decoder"), sent("c", "L2/003_moe"), sent("d", "L2/003_moe")))


def run(*arguments: str | Path, token: str | None = None) -> Ran:
    return CliRunner().invoke(main, [str(a) for a in arguments], env={TOKEN_VARIABLE: token})


def test_json_results_find_their_uploads_by_number_and_by_problem(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(
        json.dumps(
            {"data": {"submissions": [
                {"id": 77, "status": "PASSED", "score": 0.61, "latency_ms": 0.05, "evaluation_stack_version": "v1.1"},
                {"id": 78, "kernel_name": "002_decoder", "status": "failed"},
                {"id": 79, "kernel_name": "003_moe", "status": "passed", "score": 0.5},
                {"id": 80, "kernel_name": "002_decoder", "status": "running"},
            ]}}
        )
    )  # fmt: skip
    found = import_results(path, a_ledger(), NOON)
    assert [(r.file_digest[0], r.status, r.score, r.stack) for r in found.results] == [
        ("a", "passed", 0.61, "v1.1"), ("b", "failed", None, ""),
    ]  # fmt: skip
    assert len(found.not_taken) == 2
    assert "2 uploads could be meant" in found.not_taken[0] and "not finished" in found.not_taken[1]


@pytest.mark.parametrize(
    "page",
    [
        "<html><table><thead><tr><th>Kernel</th><th>Name</th><th>Status</th><th>Score</th><th>Latency (ms)</th></tr></thead>"
        "<tbody><tr><td>2</td><td>002_decoder</td><td> Passed </td><td>0.7</td><td>0.25 ms</td></tr></tbody></table></html>",
        '<html><script type="application/json">{"props":{"s":[{"kernel_name":"002_decoder","status":"passed",'
        '"score":0.7,"latency_ms":0.25}]}}</script><script>var x = {status: 1};</script></html>',
    ],
)  # fmt: skip
def test_a_saved_page_is_read_from_its_tables_and_scripts(tmp_path: Path, page: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(page)
    (found,) = import_results(path, a_ledger(), NOON).results
    assert (found.file_digest[0], found.status, found.score, found.latency_ms, found.at) == (
        "b",
        "passed",
        0.7,
        0.25,
        NOON,
    )


@pytest.mark.parametrize("text", ["", "{}", "<html>Please log in</html>", "[1", '{"a":' * 5000])
def test_a_file_without_results_is_bad_input(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(TaskError):
        import_results(tmp_path / "x", a_ledger(), NOON)


def test_the_same_page_imported_twice_adds_nothing(tmp_path: Path) -> None:
    ledger = tmp_path / "desk.jsonl"
    add_entry(ledger, sent("b", "L2/002_decoder"))
    page = tmp_path / "r.json"
    page.write_text(json.dumps([{"kernel_name": "002_decoder", "status": "passed", "score": 0.4}]))
    assert run("desk", "import", page, "--ledger", ledger).exit_code == 0
    before = ledger.read_bytes()
    again = run("desk", "import", page, "--ledger", ledger)
    assert again.exit_code == 1 and "0 uploads could be meant" in again.stdout
    assert ledger.read_bytes() == before and read_ledger(ledger).best("L2/002_decoder") == 0.4


def test_drift_names_what_changed_and_nothing_else() -> None:
    then = {"evaluator": "v1.1", "data": "1" * 64, "t_sol": "2" * 64}
    ledger = Ledger(
        (
            sent("a", "L1/a", stated=then),
            Result(file_digest="a" * 64, status="passed", score=0.5, stack="v1.0", at=NOON),
            sent("b", "L1/b", stated=then),
            Result(
                file_digest="b" * 64, status="passed", score=0.5, stack="v1.1", at="2026-08-02T12:00:00+00:00"
            ),
            sent("c", "L1/c"),
        )
    )
    found = alarms(ledger, {"L1/a": then, "L1/b": then | {"t_sol": "3" * 64}, "L1/c": then})
    assert [(alarm.task, alarm.what) for alarm in found] == [("L1/b", "t_sol"), ("L1/a", "stack")]
    assert "was 222222222222 and is 333333333333" in str(found[0])


def test_the_newest_upload_of_a_task_is_what_drifts() -> None:
    old, new = {"evaluator": "v1.0"}, {"evaluator": "v1.1"}
    ledger = Ledger((sent("a", "L1/a", stated=old), sent("b", "L1/a", stated=new)))
    assert alarms(ledger, {"L1/a": new}) == ()
    assert [a.what for a in alarms(ledger, {"L1/a": {"evaluator": "v1.2"}})] == ["evaluator"]


def test_an_upload_notes_what_it_was_made_with(tmp_path: Path) -> None:
    folder = write(ready(), tmp_path)
    ledger = tmp_path / "desk.jsonl"
    assert run("desk", "sent", folder, "--mode", "private", "--ledger", ledger).exit_code == 0
    stated = read_ledger(ledger).sent[0].stated
    assert stated["evaluator"].startswith("SOL-ExecBench v1.1") and len(stated["data"]) == 64
    drift = run("desk", "drift", "--ledger", ledger)
    assert drift.exit_code == 0 and "nothing changed for 1 tasks" in drift.stdout


class Replies:
    """What the server says next, and what it was asked."""

    def __init__(self) -> None:
        self.next: list[tuple[int, str, dict[str, str]]] = []
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.url = ""


@pytest.fixture
def portal() -> Iterator[Replies]:
    replies = Replies()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            replies.asked.append((self.command, self.path, dict(self.headers), body))
            code, text, headers = replies.next.pop(0)
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST = _answer

        def log_message(self, format: str, *args: Any) -> None:
            """Keeps the test's output clean."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    replies.url = f"http://127.0.0.1:{server.server_port}"
    yield replies
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_upload_is_warned_of_sent_once_and_fetched(tmp_path: Path, portal: Replies) -> None:
    folder = write(ready(), tmp_path / "submissions")
    ledger = tmp_path / "desk.jsonl"
    upload = (
        "desk",
        "upload",
        folder,
        "--kernel-id",
        "27",
        "--mode",
        "private",
        "--url",
        portal.url,
        "--ledger",
        ledger,
    )
    portal.next = [(200, '{"id": 123}', {}), (200, '{"status": "passed", "score": 0.7}', {})]
    done = run(*upload, "--use-undocumented-http", token=TOKEN)
    assert done.exit_code == 0 and "does not document" in done.stderr
    method, path, headers, body = portal.asked[0]
    assert (method, path, headers["Authorization"]) == ("POST", "/api/submissions/upload", f"Bearer {TOKEN}")
    assert b'name="kernel_id"' in body and (folder / "solution.json").read_bytes() in body
    assert run(*upload, "--use-undocumented-http", token=TOKEN).exit_code == 2  # sent already
    fetched = run(
        "desk", "fetch", "--url", portal.url, "--ledger", ledger, "--use-undocumented-http", token=TOKEN
    )
    assert fetched.exit_code == 0 and "passed" in fetched.stdout
    assert portal.asked[1][:2] == ("GET", "/api/submissions/123")
    assert read_ledger(ledger).best("L1/001_double_rows") == 0.7
    assert TOKEN not in done.output + fetched.output + ledger.read_text()


def test_nothing_is_sent_without_the_opt_in_a_token_or_a_ready_submission(
    tmp_path: Path, portal: Replies
) -> None:
    def upload(folder: Path, *more: str, token: str | None = TOKEN, url: str = "") -> Ran:
        ledger = tmp_path / "desk.jsonl"
        where = ("--url", url or portal.url, "--ledger", ledger)
        return run(
            "desk", "upload", folder, "--kernel-id", "27", "--mode", "private", *where, *more, token=token
        )

    made, unfinished = write(ready(), tmp_path / "s"), write(draft(), tmp_path / "s")
    opt_in = "--use-undocumented-http"
    assert "is off" in upload(made).stderr
    assert TOKEN_VARIABLE in upload(made, opt_in, token=None).stderr
    assert "is a draft" in upload(unfinished, opt_in).stderr
    assert "no https address" in upload(made, opt_in, url="http://portal.example").stderr
    assert portal.asked == []


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((401, "{}", {}), "refuses the token"),
        ((429, "{}", {}), "quota is used up"),
        ((500, "oops " + TOKEN, {}), "answered 500"),
        ((302, "", {"Location": "http://127.0.0.1:9/elsewhere"}), "answered 302"),
        ((200, "<html>", {}), "no JSON object"),
        ((200, "{}", {}), "without a number"),
    ],
)
def test_what_the_portal_answers_badly_is_one_sentence_without_the_token(
    tmp_path: Path, portal: Replies, reply: tuple[int, str, dict[str, str]], said: str
) -> None:
    portal.next = [reply]
    file = tmp_path / "solution.json"
    file.write_text("{}")
    with pytest.raises(TaskError, match=said) as error:
        Portal(portal.url, TOKEN).upload(file, "1", "B200", "private")
    assert TOKEN not in str(error.value) and len(portal.asked) == 1


def test_a_portal_that_is_not_there_is_named(tmp_path: Path) -> None:
    file = tmp_path / "solution.json"
    file.write_text("{}")
    with pytest.raises(TaskError, match="no answer from the portal"):
        Portal("http://127.0.0.1:9", TOKEN).upload(file, "1", "B200", "private")
