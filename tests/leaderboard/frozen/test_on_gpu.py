"""The frozen cubins on the GPU that they were built for: right, and as much longer as they are told to wait."""

from typing import Any

import pytest
import torch

from leaderboard.frozen.kernel import sentinel_names
from pipeline.sentinels import sentinel_here
from tasks.inputs import InputGenerator

pytestmark = pytest.mark.gpu


def loaded(name: str, cycles: int = 0) -> tuple[Any, list[Any], list[Any]]:
    """The entry, a call's inputs and outputs, and the reference's own answers."""
    candidate, task = sentinel_here(name, cycles)
    names: dict[str, Any] = {}
    exec(compile(candidate.solution.sources[0].content, "main.py", "exec"), names)
    reference: dict[str, Any] = {}
    exec(compile(task.definition.reference, "reference.py", "exec"), reference)
    inputs = InputGenerator(task.definition, task.workloads[0], torch.device("cuda")).make(7)
    return names["run"], inputs, [reference["run"](*inputs)]


@pytest.mark.parametrize("name", sentinel_names())
def test_a_cubin_gives_what_the_reference_gives(name: str) -> None:
    run, inputs, (wanted,) = loaded(name)
    found = torch.full_like(wanted, 7)
    run(*inputs, found)
    torch.testing.assert_close(found.float(), wanted.float(), rtol=0.01, atol=0.05)


def shortest_ms(run: Any, arguments: list[Any]) -> float:
    times = []
    for _ in range(20):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run(*arguments)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return min(times)


@pytest.mark.parametrize("name", ["sentinel_arithmetic", "sentinel_launch"])
def test_cycles_lengthen_it_by_as_much(name: str) -> None:
    """200,000 cycles at something between 1 and 2 GHz: 0.1 to 0.2 ms, many times what an event is off by."""
    run, inputs, wanted = loaded(name)
    arguments = [*inputs, torch.empty_like(wanted[0])]
    slow = loaded(name, cycles=200_000)[0]
    assert 0.08 < shortest_ms(slow, arguments) - shortest_ms(run, arguments) < 0.25
