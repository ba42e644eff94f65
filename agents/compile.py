"""torch.compile over the reference: what the compiler finds without being told."""

from dataclasses import dataclass
from textwrap import dedent

from agents.listed import ListedAgent
from agents.proposal import Proposal
from agents.reading.reachable import reachable_source
from agents.reading.renamed import rename_function
from guard.verdict import Verdict
from tasks.candidate import Candidate
from tasks.solution import Hardware
from tasks.task import Task


@dataclass(frozen=True)
class Variant:
    strategy: str
    options: str
    """Keyword arguments of `torch.compile`, as text."""
    per_shape: bool
    """One callable for every combination of sizes, or one for all."""
    on_cpu: bool
    """Worth its compile time where nothing is measured on a GPU."""


VARIANTS = (
    Variant("torch.compile, sizes as they come", "dynamic=None", per_shape=False, on_cpu=True),
    Variant("torch.compile, one graph a size", "dynamic=False", per_shape=True, on_cpu=False),
    Variant(
        "torch.compile, one graph a size, kernels autotuned while it builds",
        'dynamic=False, mode="max-autotune-no-cudagraphs"',
        per_shape=True,
        on_cpu=False,
    ),
)
"""On a CPU a compilation takes ten to forty seconds, and sixteen sizes sixteen times as long. The first variant makes
two graphs at most, one for the first size and, where another follows, one for all others: the second costs twice the
first, and where one workload is judged it is never made."""

_ONE_FOR_ALL = """
@torch.no_grad()
def run(*inputs):
    return _call("all sizes", inputs)
"""

_ONE_A_SIZE = """
@torch.no_grad()
def run(*inputs):
    return _call(tuple(_layout(value) for value in inputs), inputs)


def _layout(value):
    if isinstance(value, torch.Tensor):
        return value.shape, value.stride(), value.dtype
    return type(value)
"""

_WRAPPER = '''

import inspect
import types

import torch

_compiled = {{}}
"""Compiled callables by sizes, strides and types of the inputs; no output is ever kept."""


def _call(key, inputs):
    if key not in _compiled:
        _compiled[key] = _compile(fullgraph=True)
        try:
            return _compiled[key](*inputs)
        except torch._dynamo.exc.TorchDynamoException:
            # a graph break, or sizes that depend on values: let the compiler cut the function into pieces
            _compiled[key] = _compile(fullgraph=False)
    return _compiled[key](*inputs)


def _compile(fullgraph):
    plain = inspect.unwrap(reference_run)
    # the compiler counts recompilations by code object; a fresh one a key stays clear of its limit
    fresh = types.FunctionType(
        plain.__code__.replace(), plain.__globals__, plain.__name__, plain.__defaults__, plain.__closure__
    )
    return torch.compile(fresh, fullgraph=fullgraph, {options})

{run}'''


class CompileAgent(ListedAgent):
    """The variant that compiles once comes first; the others follow where a GPU judges."""

    def __init__(self, task: Task, seed: int, *, target: Hardware = Hardware.B200) -> None:
        self._variants = {
            Proposal(variant.strategy, compiled_source(task.definition.reference, variant)): variant
            for variant in VARIANTS
        }
        self._only_for_cpu = False
        super().__init__("compile", task, self._variants, target)

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        self._only_for_cpu = verdict.environment.kind == "cpu"

    def is_worth_asking(self, proposal: Proposal) -> bool:
        return self._variants[proposal].on_cpu or not self._only_for_cpu


def compiled_source(reference: str, variant: Variant) -> str:
    """A module whose `run` calls the compiled reference."""
    body = rename_function(reachable_source(reference, "run"), "run", "reference_run")
    run = dedent(_ONE_A_SIZE if variant.per_shape else _ONE_FOR_ALL)
    return body + _WRAPPER.format(options=variant.options, run=run)
