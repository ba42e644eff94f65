"""Language models: a real server with good and hostile replies, tolerant reading, and calls that play again."""

import sys
import time

import pytest

from agents.descriptor import describe
from agents.language_model import LanguageModelAgent, ModelFailed, Request
from agents.language_model.call import Message, Prices
from agents.language_model.command import Command
from agents.language_model.endpoint import Endpoint
from agents.language_model.parse import Unusable, proposal_in
from agents.language_model.recording import Recorded
from agents.memory import Sibling, View
from agents.testing import accepted, rejected
from guard.verdict import ReasonCode
from tasks.errors import TaskError
from tasks.solution import Hardware, Language
from tests.fakes.model_server import model_server, written
from tests.fakes.task import candidate, doubling_task

pytest.importorskip("openai")
SOURCE = "import torch\n\ndef run(x):\n    return x + x\n"
PRICES = Prices(per_million_in=3.0, per_million_out=15.0)
REQUEST = Request(
    model="m", messages=(Message(role="user", content="a kernel, please"),), max_tokens=100, temperature=0.5
)


def ask(script, limit_s: float = 20.0, retries: int = 3):
    with model_server(script) as server:
        reply = Endpoint(server.url, PRICES, limit_s, retries)(REQUEST)
    return reply, server


def test_a_reply_is_streamed_together_and_its_tokens_and_money_counted(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret-key")
    text = written(SOURCE)
    reply, server = ask([text])
    assert (reply.text, reply.finish, reply.counted) == (text, "stop", True)
    assert reply.spent.model_dump() == {
        "tokens_in": 1000, "tokens_out": len(text), "money_micro": 3000 + 15 * len(text)
    }  # fmt: skip
    assert server.keys == ["Bearer a-secret-key"]
    assert server.requests[0]["messages"] == [{"role": "user", "content": "a kernel, please"}]
    assert "secret" not in reply.model_dump_json() + REQUEST.model_dump_json()


def test_an_endpoint_that_is_busy_is_asked_again():
    reply, server = ask([("status", 429), ("status", 503), "done"])
    assert (reply.text, len(server.requests)) == ("done", 3)


@pytest.mark.parametrize("code", [400, 401, 404, 429, 500])
def test_an_endpoint_that_goes_on_refusing_is_named_by_its_status(code):
    with pytest.raises(ModelFailed, match=f"answered {code}"):
        ask([("status", code)], retries=1)


@pytest.mark.parametrize(
    ("script", "finish", "text"),
    [
        (("refusal", "I would rather not"), "refused", ""),
        (("cut", "Strategy: half a th"), "cut", "Strategy: half a th"),
        (("at_the_limit", "too long"), "length", "too long"),
        ("", "stop", ""),
        (("malformed", 'data: {"choices": [{]}\n\n'), "cut", ""),
        (("malformed", "<html>404, but kindly</html>"), "cut", ""),
        (("malformed", "data: null\n\ndata: [1, 2]\n\n"), "cut", ""),
        (("malformed", 'data: {"choices": [{"delta": {"content": 7}}]}\n\n'), "cut", ""),
    ],
)
def test_hostile_replies_are_read_as_far_as_they_go(script, finish, text):
    reply, _ = ask([script])
    assert (reply.finish, reply.text) == (finish, text)


def test_an_endpoint_that_dribbles_is_cut_at_the_limit_and_one_that_is_gone_is_named():
    began = time.monotonic()
    reply, _ = ask([("slow", 0.02)], limit_s=0.5)
    assert reply.finish == "cut" and "one moment" in reply.text and time.monotonic() - began < 10
    with pytest.raises(ModelFailed, match=r"cannot be used|in time"):
        Endpoint("http://127.0.0.1:9/v1", PRICES, 2.0, 0)(REQUEST)


def test_tokens_that_are_not_counted_are_guessed_and_marked():
    reply, _ = ask([("uncounted", "x" * 40)])
    assert not reply.counted and reply.spent.tokens_out == 10


@pytest.mark.parametrize(
    "reply",
    [
        written(SOURCE),
        f"```py\n{SOURCE}```",
        f"no fence, just code:\n```\n{SOURCE}",
        '{"strategy": "json", "source": "def run(x):\\n    return x + x\\n"}',
        "def run(x):\n    return x + x\n",
        f"```python\nprint('an example')\n```\nand then\n```python\n{SOURCE}```",
    ],
)
def test_code_is_found_whatever_it_is_wrapped_in(reply):
    assert "def run(x)" in proposal_in(reply).source


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "holds no code"),
        ("I cannot help with that.", "holds no code"),
        ("```python\ndef run(x:\n```", "not Python"),
        ("```python\ndef kernel(x):\n    return x\n```", "no function `run`"),
        ("```python\ndef run(x):\n    return (x +", "not Python"),
        ("```python\ndef run(x):\n    return x\n" + "# " + "y" * 300_000 + "\n```", "longer than"),
        ("```python\n" + "(" * 5000 + "\n```", "not Python"),
        ("{" * 5000, "holds no code"),
    ],
)
def test_what_cannot_be_used_is_said_in_words_that_its_writer_can_use(reply, why):
    with pytest.raises(Unusable, match=why):
        proposal_in(reply)


def test_a_strategy_is_one_short_line_and_the_language_is_read_from_imports():
    made = proposal_in(written("import triton\n" + SOURCE, "\x1b[31m" + "z" * 500))
    assert made.strategy.isprintable() and len(made.strategy) <= 160
    assert made.languages == (Language.TRITON,)


class Scripted:
    def __init__(self, *texts: str) -> None:
        self.texts, self.requests = list(texts), []

    def __call__(self, request):
        self.requests.append(request)
        return ask_reply(self.texts.pop(0))


def ask_reply(text: str):
    from agents.language_model import Reply

    return Reply(text=text, finish="stop", spent=PRICES.spent(10, len(text)))


def agent(model) -> LanguageModelAgent:
    return LanguageModelAgent(doubling_task(), 0, target=Hardware.B200, model=model, model_name="m")


def test_the_prompt_holds_task_state_and_what_became_of_the_last_proposal():
    model = Scripted(written(SOURCE), written(SOURCE.replace("x + x", "2 * x")), "no code", written(SOURCE))
    asked, task = agent(model), doubling_task()
    first = asked.ask()
    asked.tell(first, rejected(task, first, ReasonCode.NUMERICAL))
    sibling = candidate("accepted 2")
    view = View(
        siblings=(Sibling(agent="a", candidate=sibling, latency_ms=2.0, descriptor=describe(sibling)),),
        differ_from=describe(sibling), skill="reduction",
    )  # fmt: skip
    asked.see(view)
    second = asked.ask()
    assert second.digest != first.digest and second.agent == "model"
    asked.tell(second, accepted(task, second))
    with pytest.raises(Unusable):
        asked.ask()
    asked.ask()
    prompts = [request.messages[1].content for request in model.requests]
    assert "return x * 2" in prompts[0] and '"n": 8' in prompts[0] and "plateau" not in prompts[0]
    for words in (
        "rejected (numerical): by the test",
        "accepted 2",
        "# Reductions",
        "must differ from the best",
    ):
        assert words in prompts[1]
    assert "nothing could be made of it: it holds no code" in prompts[3]
    assert asked.take_spent().tokens_in == 40 and asked.take_spent().tokens_in == 0


def test_recorded_calls_play_again_byte_for_byte_without_a_model(tmp_path):
    live = Recorded(tmp_path, Scripted("one", "two", "three"))
    first = [live(REQUEST).text, live(REQUEST).text, live(REQUEST.model_copy(update={"model": "n"})).text]
    files = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    again = Recorded(tmp_path, None)
    assert [again(REQUEST).text, again(REQUEST).text] == first[:2] == ["one", "two"]
    with pytest.raises(ModelFailed, match="not on record"):
        again(REQUEST)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == files


def test_failures_are_remembered_too_and_a_changed_record_is_named(tmp_path):
    def gone(request):
        raise ModelFailed("the endpoint answered 500")

    with pytest.raises(ModelFailed, match="500"):
        Recorded(tmp_path, gone)(REQUEST)
    with pytest.raises(ModelFailed, match="500"):
        Recorded(tmp_path, None)(REQUEST)
    next(tmp_path.iterdir()).write_text("{}")
    with pytest.raises(TaskError, match="was changed"):
        Recorded(tmp_path, None)(REQUEST)


def command(tmp_path, code: str, limit_s: float = 20.0) -> Command:
    return Command((sys.executable, "-c", code), tmp_path / "scratch", PRICES, limit_s)


def test_a_coding_command_answers_on_stdout_or_by_a_file_and_leaves_nothing(tmp_path):
    said = command(tmp_path, "import sys; print('heard', sys.stdin.read())")(REQUEST)
    assert said.text.strip() == "heard a kernel, please" and not said.counted
    wrote = command(tmp_path, f"open('solution.py', 'w').write({SOURCE!r}); print('see the file')")(REQUEST)
    assert proposal_in(wrote.text).source == SOURCE
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_command_that_never_ends_is_ended_with_its_children(tmp_path):
    child = "import time; time.sleep(60)"
    code = (
        f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); "
        "print('half', flush=True); time.sleep(60)"
    )
    began = time.monotonic()
    reply = command(tmp_path, code, limit_s=1.5)(REQUEST)
    assert reply.finish == "cut" and time.monotonic() - began < 30
    with pytest.raises(ModelFailed, match="cannot be started"):
        Command(("/no/such/command",), tmp_path / "scratch", PRICES)(REQUEST)
