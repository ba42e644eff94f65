"""The client of an interface that nobody promised: against a server of this test's own."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from click.testing import Result as Ran

from leaderboard.desk import read_ledger
from leaderboard.portal import TOKEN_VARIABLE, Portal
from pipeline.cli import main
from submissions.write import write
from tasks.errors import TaskError
from tests.submissions.builders import draft, ready

TOKEN = "a-secret-token"


def run(*arguments: str | Path, token: str | None = None) -> Ran:
    return CliRunner().invoke(main, [str(a) for a in arguments], env={TOKEN_VARIABLE: token})


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
