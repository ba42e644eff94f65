"""References followed on tensors without memory, one record for each workload, and those made one program."""

import operator
import time
from typing import Any

from agents.rewrite.histograms import counted, is_count
from agents.rewrite.program import Number, Op, Program, Ref, Typed
from agents.rewrite.sizes import scalars
from tasks.definition import Definition
from tasks.dtypes import torch_dtype
from tasks.inputs import load_reference
from tasks.workload import ScalarInput, Workload

_LONGEST = 1500
"""Operations; a reference that does more is a loop that no rewriting here would help."""
_LIMIT_S = 20.0
_DROPPED = {"_set_grad_enabled", "_exit_autocast", "_enter_autocast"}


class NotTraceable(Exception):
    """The reference's steps depend on values, or differ from workload to workload."""


def trace(definition: Definition, workloads: tuple[Workload, ...]) -> Program:
    """The definition's reference at a few of these workloads, and at neighbours of one that tell its axes apart.

    `NotTraceable` with the reason when there is no one program for them.
    """
    own = _unlike(workloads)
    others = [
        _with_axis(own[0], axis, factor)
        for axis, factor in zip(definition.var_axes, (2, 3, 5, 7, 4), strict=False)
    ]
    numbers = scalars(definition, (*own, *others))
    deadline = time.monotonic() + _LIMIT_S
    followed: list[Workload] = []
    records: list[_Record] = []
    for place, workload in enumerate((*own, *others)):
        if time.monotonic() > deadline:
            raise NotTraceable(f"following the reference takes more than {_LIMIT_S:.0f} s")
        values = {name: drawn[place] for name, drawn in numbers.items()}
        try:
            record = _Record(_graph(definition, workload, values))
        except NotTraceable:
            if workload in own:
                raise
            continue  # sizes that the definition does not allow
        if workload in own or record.steps == records[0].steps:
            records.append(record)
            followed.append(workload.model_copy(update={"inputs": _with_numbers(workload, values)}))
    return _united(definition, tuple(followed), records)


def _unlike(workloads: tuple[Workload, ...]) -> tuple[Workload, ...]:
    """The smallest, the largest and one between them."""
    ordered = sorted(workloads, key=lambda workload: sum(workload.axes.values()))
    places = {0, len(ordered) // 2, len(ordered) - 1}
    return tuple(ordered[place] for place in sorted(places))


def _with_axis(workload: Workload, axis: str, factor: int) -> Workload:
    return workload.model_copy(update={"axes": {**workload.axes, axis: workload.axes[axis] * factor}})


def _with_numbers(workload: Workload, values: dict[str, int | float]) -> dict[str, Any]:
    """Inputs in which every number stands with the value it was followed with."""
    return {
        **workload.inputs,
        **{name: ScalarInput(type="scalar", value=value) for name, value in values.items()},
    }


class _Record:
    """One workload's graph without what says nothing, and what must be the same in all."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.nodes = [node for node in graph.graph.nodes if not _says_nothing(node)]
        self.steps = tuple((node.op, str(node.target), node.name) for node in self.nodes)


def follow_as_is(
    definition: Definition, workload: Workload, numbers: dict[str, int | float], longest: int
) -> Program:
    """One workload alone, in which what is written in place still is; `numbers` are those among the inputs."""
    record = _Record(_graph(definition, workload, numbers, longest, functional=False))
    followed = workload.model_copy(update={"inputs": _with_numbers(workload, numbers)})
    return _united(definition, (followed,), [record])


def _graph(
    definition: Definition, workload: Workload, numbers: dict[str, int | float], longest: int = _LONGEST,
    *, functional: bool = True,
) -> Any:  # fmt: skip
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    try:
        run = load_reference(definition).run
        inputs = _inputs(definition, workload, mode, numbers)
        # before autograd the calls are still the reference's own; what differentiates itself is seen only after it
        early = not any(word in definition.reference for word in ("autograd", "backward(", "requires_grad"))
        with mode, _stopping_after(longest):
            graph = make_fx(run, pre_dispatch=early)(*inputs)
            if functional and any(_writes(node) for node in graph.graph.nodes):
                graph = make_fx(torch.func.functionalize(run))(*inputs)
    except Exception as error:  # foreign code on tensors of a kind it was not written for
        raise NotTraceable(f"{type(error).__name__}: {error}") from error
    if len(graph.graph.nodes) > longest:
        raise NotTraceable(f"more than {longest} operations")
    return graph


def _stopping_after(longest: int) -> Any:
    """A mode that ends a long loop long before it is through: following a call takes about a millisecond.

    Counts with a given number of bins are made calls whose sizes do not depend on values.
    """
    from torch.overrides import TorchFunctionMode

    class Stopping(TorchFunctionMode):
        calls = 0

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.calls += getattr(func, "__name__", "") not in ("__get__", "size", "dim", "numel", "stride")
            if self.calls > longest:
                raise NotTraceable(f"more than {longest} operations")
            if is_count(func, kwargs):
                return counted(*args, **kwargs)
            return func(*args, **(kwargs or {}))

    return Stopping()


def _inputs(
    definition: Definition, workload: Workload, mode: Any, numbers: dict[str, int | float]
) -> list[Any]:
    import torch

    shapes = definition.input_shapes(workload.axes)
    made: list[Any] = []
    with mode:
        for name, spec in definition.inputs.items():
            shape = shapes[name]
            if name in numbers or shape is None:
                made.append(numbers[name])
            else:
                made.append(torch.empty(shape, dtype=torch_dtype(spec.dtype)))
    return made


def _united(definition: Definition, followed: tuple[Workload, ...], records: list[_Record]) -> Program:
    if len({record.steps for record in records}) != 1:
        raise NotTraceable("the steps differ from workload to workload")
    program = Program(followed, tuple(definition.inputs), {}, {}, (), {})
    names = _input_names(definition, records[0].nodes)
    for nodes in zip(*(record.nodes for record in records), strict=True):
        _add(program, records[0].graph, nodes, names, tuple(definition.outputs))
    return program


def _input_names(definition: Definition, nodes: list[Any]) -> dict[str, str]:
    """Names of the record's placeholders by the definition's; one for each input, in order."""
    held = [node.name for node in nodes if node.op == "placeholder"]
    return dict(zip(held, definition.inputs, strict=True))


def _add(
    program: Program, graph: Any, nodes: tuple[Any, ...], names: dict[str, str], outputs: tuple[str, ...]
) -> None:
    node = nodes[0]
    if node.op == "output":
        returned = node.args[0]
        if isinstance(returned, dict):
            returned = [returned[output] for output in outputs]
        flat = returned if isinstance(returned, list | tuple) else (returned,)
        program.results = tuple(names[result.name] for result in flat)
        return
    name = names.setdefault(node.name, _clear_of(node.name, names))
    values = [n.meta.get("val") for n in nodes]
    if all(hasattr(value, "shape") for value in values):
        program.types[name] = _typed(values)
    if node.op == "get_attr":
        program.constants[name] = getattr(graph, node.target).tolist()
        program.types[name] = _typed([getattr(graph, node.target)] * len(nodes))
    elif node.op == "call_function":
        args = _argument(tuple(n.args for n in nodes), names)
        kwargs = _argument(tuple(dict(n.kwargs) for n in nodes), names)
        program.ops[name] = Op(name, _target(node), args, kwargs)


def _clear_of(name: str, names: dict[str, str]) -> str:
    taken = set(names.values())
    return name if name not in taken else next(n for i in range(2, 99) if (n := f"{name}_{i}") not in taken)


def _target(node: Any) -> str:
    if node.target is operator.getitem:
        return "getitem"
    namespace = getattr(node.target, "namespace", None)
    if namespace != "aten":
        raise NotTraceable(f"it calls {node.target}")
    return str(node.target).removeprefix("aten.")


def _typed(values: list[Any]) -> Typed:
    if len({(value.dim(), value.dtype) for value in values}) != 1:
        raise NotTraceable("element types or dimensions differ from workload to workload")
    shape = tuple(zip(*(tuple(int(n) for n in value.shape) for value in values), strict=True))
    return Typed(shape, str(values[0].dtype).removeprefix("torch."))


def _argument(values: tuple[Any, ...], names: dict[str, str]) -> Any:
    """One argument in all workloads: the same reference or word, or a number each."""
    import torch

    first = values[0]
    if isinstance(first, torch.fx.Node):
        return Ref(names[first.name])
    if isinstance(first, list | tuple):
        if len({len(value) for value in values}) != 1:
            raise NotTraceable("lists of different lengths from workload to workload")
        return tuple(_argument(items, names) for items in zip(*values, strict=True))
    if isinstance(first, dict):
        return {key: _argument(tuple(value[key] for value in values), names) for key in first}
    if isinstance(first, int | float) and not isinstance(first, bool):
        return Number(values)
    if any(value != first for value in values):
        raise NotTraceable("an argument differs from workload to workload")
    if isinstance(first, torch.dtype | torch.device | torch.layout | torch.memory_format):
        return str(first)
    return first


def _writes(node: Any) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable and schema.name != "aten::detach_"


def _says_nothing(node: Any) -> bool:
    return node.op == "call_function" and getattr(node.target, "__name__", "") in _DROPPED
