"""What was mended for the museum's sake, each part by itself."""

import json
import socket
import statistics
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from guard import channel
from guard.host_time import hidden_host_time
from guard.judge import _nothing_hidden
from guard.rearranged import rearranged
from guard.tamper import TamperWatch
from guard.timers.activities import compact, spans_and_busy_ns
from guard.verdict import Measurement, ReasonCode

Patch = pytest.MonkeyPatch


@pytest.fixture(autouse=True)
def _exact_products() -> Iterator[None]:
    """Whatever a test lowers is put back."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.get_default_device()
    yield
    torch.backends.cuda.matmul.allow_tf32 = before[0]
    torch.set_default_device(None)


def _swap_code(patch: Patch) -> None:
    patch.setattr(statistics.median, "__code__", (lambda data: 0.0).__code__)


PATCHES: dict[str, tuple[Callable[[Patch], None], str]] = {
    "a function": (
        lambda patch: patch.setattr(torch, "allclose", lambda *a: True),
        "torch.allclose was replaced",
    ),
    "a method that was inherited": (
        lambda patch: patch.setattr(torch.Tensor, "abs", torch.Tensor.neg),
        "torch.Tensor.abs was replaced",
    ),
    "a builtin": (lambda patch: patch.setattr("builtins.all", any), "builtins.all was replaced"),
    "a function's code": (_swap_code, "the code of statistics.median was replaced"),
    "a module": (
        lambda patch: patch.setitem(sys.modules, "json", statistics),
        "another module stands under the name json",
    ),
    "the guard's own": (
        lambda patch: patch.setattr(channel, "send", print),
        "guard.channel.send was replaced",
    ),
}


@pytest.mark.parametrize("name", PATCHES)
def test_the_watch_names_what_was_patched(name: str, monkeypatch: Patch) -> None:
    patch, said = PATCHES[name]
    watch = TamperWatch((channel,))
    assert watch.changes() == []
    with monkeypatch.context() as patched:
        patch(patched)
        found = watch.changes()
    assert ("changed", said) in found
    assert watch.changes() == []


def test_a_function_mode_counts_only_when_it_is_left_on() -> None:
    from torch.overrides import BaseTorchFunctionMode

    watch = TamperWatch()
    mode = BaseTorchFunctionMode()
    mode.__enter__()
    found = watch.changes()
    mode.__exit__(None, None, None)
    assert found == [("changed", "the function mode BaseTorchFunctionMode was left on")]
    assert watch.changes() == []


def test_a_default_device_is_no_tampering() -> None:
    watch = TamperWatch()
    torch.set_default_device("cpu")
    assert watch.changes() == []


def test_only_less_exact_flags_are_named_and_as_such() -> None:
    torch.backends.cuda.matmul.allow_tf32 = False
    watch = TamperWatch()
    torch.backends.cuda.matmul.allow_tf32 = True
    kinds = {kind for kind, _ in watch.changes()}
    assert kinds == {"precision"}
    exact = TamperWatch()
    torch.backends.cuda.matmul.allow_tf32 = False
    assert exact.changes() == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn])
def test_rearranged_values_have_the_same_elements_at_nearly_the_same_places(dtype: torch.dtype) -> None:
    value = torch.randn(48, 64, generator=torch.Generator().manual_seed(3)).to(dtype)
    (near,) = rearranged([value], [True], 5)
    before, after = value.float().view(-1), near.float().view(-1)
    assert torch.equal(before.sort().values, after.sort().values)
    assert 0 < int((before != after).sum()) <= 48
    assert near.shape == value.shape and near.dtype == dtype


def test_what_means_something_by_its_order_stays() -> None:
    indices, mask = torch.arange(512), torch.zeros(512)
    mask[100:] = float("-inf")
    values = torch.randn(512)
    kept = rearranged([indices, mask, values, 3], [True, True, False, True], 1)
    assert all(now is then for now, then in zip(kept, [indices, mask, values, 3], strict=True))


@pytest.mark.parametrize("body", [b"[" * 100_000, b"nothing", b"[1, 2]", b'"text"'])
def test_what_is_no_message_is_said_to_be_none(body: bytes) -> None:
    ours, theirs = channel.pair()
    with ours, theirs:
        theirs.send(body)
        with pytest.raises(channel.NotAMessage):
            channel.receive(ours, 5.0)


def test_a_message_passes_whole() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        theirs.send(json.dumps({"i": 1}).encode())
        assert channel.receive(ours, 5.0) == ({"i": 1}, [])


def test_host_work_that_no_kernel_shows_is_held_against_a_candidate() -> None:
    reason = hidden_host_time("m1", [21.0, 20.0, 22.0], [0.3, 0.31, 0.3])
    assert reason is not None
    assert (reason.code, reason.workload) == (ReasonCode.TIMING, "m1")


@pytest.mark.parametrize(("whole", "kernels"), [(0.9, 0.005), (4.1, 0.05), (60.0, 15.0), (3.9, 0.0)])
def test_launching_from_python_is_no_hidden_work(whole: float, kernels: float) -> None:
    assert hidden_host_time("m1", [whole] * 4, [kernels] * 50) is None


def test_nothing_is_held_against_what_was_not_timed() -> None:
    assert hidden_host_time("m1", [], []) is None


def test_one_call_that_waited_for_a_busy_host_hides_nothing() -> None:
    """Two calls of a duel, as measured of an eager projection on an H200: their median was 4.49 ms."""
    assert hidden_host_time("m1", [1.2, 7.8], [0.0454] * 50) is None


@pytest.mark.parametrize(
    ("called_ms", "held"), [([7.8, 7.1, 1.2, 5.0, 8.0], 0), ([7.8, 7.1, 6.2, 5.0, 8.0], 1)]
)
def test_calls_on_any_values_speak_for_a_candidate(called_ms: list[float], held: int) -> None:
    """A duel makes two calls on fresh values; the three on varied and exchanged ones have to do the work as well."""
    official = Measurement(workload="w", process=0, timer="cupti", kind="official", times_ms=(0.05,) * 50)
    reasons: list[object] = []
    trial: Any = SimpleNamespace(
        task=SimpleNamespace(workloads=[SimpleNamespace(uuid="w")]), measurements=[official], worked_ms={},
        called_ms={"w": called_ms}, hold_against=reasons.append,
    )  # fmt: skip
    _nothing_hidden(trial, 0)
    assert len(reasons) == held


def test_work_under_a_name_that_discovery_did_not_show_counts() -> None:
    seen = [("flush", 0, 40), ("tiny", 60, 62), ("flush", 100, 140), ("tiny", 142, 144), ("hidden", 144, 190)]
    records = compact(seen, [(50, 70), (95, 200)])
    assert spans_and_busy_ns(records) == [(48, 48)]


def test_the_flush_before_a_call_never_counts() -> None:
    seen = [("flush", 0, 40), ("own", 60, 70), ("flush", 100, 140), ("own", 142, 152)]
    assert spans_and_busy_ns(compact(seen, [(50, 75), (95, 160)])) == [(10, 10)]
