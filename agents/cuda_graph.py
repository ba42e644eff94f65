"""Launches recorded once and replayed: for candidates between whose kernels the GPU waits for the host."""

import ast
import math
import statistics

from agents.latency import target_latency_ms
from agents.proposal import ENTRY_FILE, Proposal
from agents.reading.renamed import rename_function
from guard.verdict import Verdict
from tasks.candidate import Candidate
from tasks.sizes import input_bytes, output_bytes
from tasks.solution import Hardware
from tasks.task import Task

_NAME = "cuda_graph"
_PLAIN = "plain_run"
_LEAST_GAIN = 0.15
"""Of the best time so far; a candidate is worth its price when replaying it would save that much."""
_COPIED_BYTES_A_MS = 3e9
"""Read and written; a modest share of what the cards this is for can do."""
_MOST_ASKED = 3

_WRAPPER = '''

import warnings

import torch

_recordings = {}
"""By sizes, strides, types and numbers among the inputs: a graph, the tensors it reads, and those it writes;
None where the plain call is faster or cannot be recorded. Values are copied in and out at every call."""


@torch.no_grad()
def run(*inputs):
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    if not tensors or not all(value.is_cuda for value in tensors):
        return plain_run(*inputs)
    key = tuple(_layout(value) for value in inputs)
    if key not in _recordings:
        _recordings[key] = _recorded(inputs)
    if _recordings[key] is None:
        return plain_run(*inputs)
    graph, read, written = _recordings[key]
    torch._foreach_copy_(read, tensors)
    graph.replay()
    return _copied(written)


def _layout(value):
    if isinstance(value, torch.Tensor):
        return value.shape, value.stride(), value.dtype, value.device
    return type(value), value


def _recorded(inputs):
    """None, too, where the function asks the device for a value on its way."""
    held = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
    try:
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            plain_run(*held)  # what is compiled, tuned or allocated at a first call is not recorded
            _without_questions(held)
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            written = plain_run(*held)
    except RuntimeError:
        return None
    read = [value for value in held if isinstance(value, torch.Tensor)]
    given = [value.clone() for value in read]

    def replay():
        torch._foreach_copy_(read, given)
        graph.replay()
        return _copied(written)

    return (graph, read, written) if _milliseconds(replay) < _milliseconds(lambda: plain_run(*held)) else None


def _without_questions(held):
    """A call that raises where it asks for a value: a recording that fails leaves torch's random numbers unusable."""
    before = torch.cuda.get_sync_debug_mode()
    try:
        with warnings.catch_warnings(action="ignore"):  # it is a prototype, torch says
            torch.cuda.set_sync_debug_mode("error")
        plain_run(*held)
    finally:
        torch.cuda.set_sync_debug_mode(before)


def _milliseconds(call):
    """Of one call among five, the device's clock read before the first and after the last."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    call()
    begin.record()
    for _ in range(5):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 5


def _copied(written):
    if isinstance(written, torch.Tensor):
        return written.clone()
    if isinstance(written, dict):
        return {name: value.clone() for name, value in written.items()}
    return tuple(value.clone() for value in written)
'''


class CudaGraphAgent:
    """Silent until a verdict from a GPU shows a gap; then the candidate whose replay would win most comes first."""

    name = _NAME

    def __init__(self, task: Task, seed: int, *, target: Hardware = Hardware.B200) -> None:
        self._task, self._target = task, target
        self._best_ms = math.inf
        self._waiting: dict[str, tuple[float, Proposal]] = {}
        """By digest, the ms that a replay would take, the geometric mean over the workloads as searches rank; and it."""
        self._asked: set[str] = set()
        axes = [task.definition.resolve_axes(workload.axes) for workload in task.workloads]
        moved = [input_bytes(task.definition, a) + output_bytes(task.definition, a) for a in axes]
        self._copies_ms = [2 * size / _COPIED_BYTES_A_MS for size in moved]

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        took_ms = target_latency_ms(verdict) if verdict.status == "accepted" else None
        if took_ms is None:
            return
        self._best_ms = min(self._best_ms, took_ms)
        source = None if candidate.agent == _NAME else _plain_source(candidate)
        busy = [w.busy_ms for w in verdict.workloads if w.busy_ms is not None and w.busy_ms > 0]
        if source is None or len(busy) != len(self._copies_ms):
            return
        spans = [w.latency_ms or math.inf for w in verdict.workloads]
        replays = [min(s, b + c) for s, b, c in zip(spans, busy, self._copies_ms, strict=True)]
        self._waiting[candidate.digest] = statistics.geometric_mean(replays), _replayed(candidate, source)

    def ask(self) -> Candidate | None:
        left = [(ms, digest) for digest, (ms, _) in self._waiting.items() if digest not in self._asked]
        if not left or len(self._asked) == _MOST_ASKED:
            return None
        expected_ms, digest = min(left)
        if expected_ms > (1 - _LEAST_GAIN) * self._best_ms:
            return None
        self._asked.add(digest)
        return self._waiting[digest][1].candidate(self._task, _NAME, self._target)


def _replayed(candidate: Candidate, source: str) -> Proposal:
    """`source`: the candidate's, its `run` renamed."""
    return Proposal(
        f"its launches recorded once a size and replayed: {candidate.strategy}",
        source + _WRAPPER,
        languages=candidate.solution.spec.languages,
    )


def _plain_source(candidate: Candidate) -> str | None:
    """The one Python file of a candidate that returns its outputs, its `run` renamed; None for all others."""
    spec, sources = candidate.solution.spec, candidate.solution.sources
    if len(sources) != 1 or spec.entry_point != f"{ENTRY_FILE}::run" or spec.destination_passing_style:
        return None
    source = sources[0].content
    names = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    if any(language.is_cpp for language in spec.languages) or _PLAIN in source or "run" not in names:
        return None
    return rename_function(source, "run", _PLAIN)
