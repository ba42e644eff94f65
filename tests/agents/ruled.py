"""Small problems for the rules over traced programs, and what a rule makes of them without any kernel."""

from collections.abc import Mapping
from typing import Any

import torch

from agents.rewrite.cleanup import cleaned
from agents.rewrite.emit import module
from agents.rewrite.plan import unfused
from agents.rewrite.program import Program
from agents.rewrite.rules import RULES
from agents.rewrite.trace import trace
from tasks.task import Task
from tests.agents.small import as_list, make_task

Specs = Mapping[str, tuple[list[str] | None, str]]


def task_of(body: str, inputs: Specs, outputs: Any, axes: dict[str, int], consts: dict[str, int]) -> Task:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    reference = f"import torch\nimport torch.nn.functional as F\n\ndef run({', '.join(inputs)}):\n{lines}\n"
    return make_task(reference, inputs, outputs, axes, consts)


def traced(task: Task) -> Program:
    return cleaned(trace(task.definition, task.workloads))


def ruled(task: Task, rule: str) -> str | None:
    """The source that the rule alone leaves; None where it does not match."""
    after = RULES[rule].apply(traced(task))
    return None if after is None else module(unfused(after), task.definition, "By a rule.", 1024)


def outputs_of(source: str, inputs: Mapping[str, Any]) -> list[torch.Tensor]:
    namespace: dict[str, Any] = {}
    exec(compile(source, "candidate", "exec"), namespace)
    return as_list(namespace["run"](*inputs.values()))


def elsewhere(task: Task, more: Mapping[str, int]) -> Task:
    """The task at other sizes than those that are traced."""
    workload = task.workloads[0]
    axes = {**workload.axes, **more}
    return task.model_copy(update={"workloads": (workload.model_copy(update={"axes": axes}),)})
