"""Any endpoint that speaks the OpenAI protocol, through its official library: streamed, retried, bounded in time."""

import os
import time
from collections.abc import Iterator
from typing import Any

from agents.language_model.call import ModelFailed, Prices, Reply, Request, guessed_tokens

KEY_VARIABLE = "OPENAI_API_KEY"
LONGEST_REPLY = 400_000
"""Characters; what writes on is cut."""
_RETRIES = 3
_PART_LIMIT_S = 60.0
"""Between two pieces of a stream."""


class Endpoint:
    """The key is read from the environment when it is needed, and kept in no value, log or journal."""

    def __init__(
        self, base_url: str | None, prices: Prices, limit_s: float = 300.0, retries: int = _RETRIES
    ) -> None:
        self._base_url, self._prices = base_url, prices
        self._limit_s, self._retries = limit_s, retries

    def __call__(self, request: Request) -> Reply:
        try:
            import openai
        except ImportError:
            raise ModelFailed("the library `openai` is missing; install kernelarc[llm]") from None
        deadline = time.monotonic() + self._limit_s
        client = openai.OpenAI(
            base_url=self._base_url,
            api_key=os.environ.get(KEY_VARIABLE, "none"),
            max_retries=self._retries,
            timeout=min(_PART_LIMIT_S, self._limit_s),
        )
        try:
            with client:
                return self._streamed(client, request, deadline)
        except openai.APIStatusError as error:
            raise ModelFailed(f"the endpoint answered {error.status_code}") from None
        except openai.APITimeoutError:
            raise ModelFailed("the endpoint did not answer in time") from None
        except (openai.OpenAIError, ValueError) as error:
            raise ModelFailed(f"the endpoint cannot be used ({type(error).__name__})") from None

    def _streamed(self, client: Any, request: Request, deadline: float) -> Reply:
        reading = _Reading()
        options = {"model": request.model, "messages": [m.model_dump() for m in request.messages],
                   "max_tokens": request.max_tokens, "temperature": request.temperature}  # fmt: skip
        stream = client.chat.completions.create(
            **options, stream=True, stream_options={"include_usage": True}
        )
        with stream:
            for part in _until_it_breaks(stream):
                reading.take(part)
                if time.monotonic() > deadline or reading.length > LONGEST_REPLY:
                    reading.finish = "cut"
                    break
        return reading.reply(request, self._prices)


def _until_it_breaks(stream: Any) -> Iterator[Any]:
    """A connection that ends in the middle leaves what came before it."""
    try:
        yield from stream
    except Exception:  # noqa: BLE001 - the library passes on whatever its transport and parsers raise
        return


class _Reading:
    """Reads pieces that may lack anything."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self.length = 0
        self.finish: str | None = None
        self._refused = False
        self._usage: Any = None

    def take(self, part: Any) -> None:
        self._usage = getattr(part, "usage", None) or self._usage
        for choice in getattr(part, "choices", None) or ():
            delta = getattr(choice, "delta", None)
            text = getattr(delta, "content", None)
            if isinstance(text, str):
                self._texts.append(text)
                self.length += len(text)
            self._refused = self._refused or bool(getattr(delta, "refusal", None))
            self.finish = getattr(choice, "finish_reason", None) or self.finish

    def reply(self, request: Request, prices: Prices) -> Reply:
        text = "".join(self._texts)
        read, wrote = (getattr(self._usage, name, None) for name in ("prompt_tokens", "completion_tokens"))
        is_counted = isinstance(read, int) and isinstance(wrote, int) and read >= 0 and wrote >= 0
        if not isinstance(read, int) or not isinstance(wrote, int) or not is_counted:
            read = guessed_tokens("".join(message.content for message in request.messages))
            wrote = guessed_tokens(text)
        finish = {"stop": "stop", "length": "length", "content_filter": "refused"}.get(
            self.finish or "", "cut"
        )
        return Reply.model_validate(
            {
                "text": text,
                "finish": "refused" if self._refused else finish,
                "spent": prices.spent(read, wrote),
                "counted": is_counted,
            }
        )
