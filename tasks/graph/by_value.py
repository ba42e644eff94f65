"""Calls whose results' shapes, or the very course of the reference, depend on values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from tasks.graph.kinds import name_of
from tasks.graph.work import work_of
from tasks.tensors import tensors_in

if TYPE_CHECKING:
    from tasks.graph.recorder import Recorder


class NeedsValues(Exception):
    """The reference looks at a value that was not followed, and could be if `wanted` were."""

    def __init__(self, wanted: set[str]) -> None:
        super().__init__("a value decides what is done next")
        self.wanted = wanted


def invented(recorder: Recorder, tensor: torch.Tensor) -> torch.Tensor:
    """Values for a tensor of which none are known: even chances for booleans, ones for numbers.

    `NeedsValues` where following floating-point values might still tell them.
    """
    _ask_for(recorder, tensor)
    if tensor.dtype == torch.bool:
        return torch.rand(tensor.shape) < 0.5
    return torch.ones(tensor.shape).to(tensor.dtype)


def _ask_for(recorder: Recorder, tensor: torch.Tensor) -> None:
    """`NeedsValues` unless everything it comes from is followed already, in vain."""
    wanted = recorder.trace.ancestors(tensor) if recorder.asks else set()
    if not wanted <= recorder.values.wanted:
        raise NeedsValues(wanted)
    recorder.trace.notes["values that cannot be known were assumed"] = None


def _item(recorder: Recorder, func: Any, args: Any, kwargs: Any, operands: list[torch.Tensor]) -> Any:
    recorder.trace.looked_at_values += 1
    real = recorder.values.get(args[0])
    if real is not None:
        return real.item()
    _ask_for(recorder, args[0])
    return _likely(recorder, args[0])


def _likely(recorder: Recorder, tensor: torch.Tensor) -> Any:
    """A number nobody knows: nothing is exactly equal or infinite, masks are not empty, the rest is one."""
    maker = recorder.trace.name_of(tensor).removeprefix("made_").rpartition("_")[0]
    if tensor.dtype == torch.bool:
        return maker not in ("eq", "isnan", "isinf", "logical_not", "equal", "allclose")
    return torch.ones((), dtype=torch.float64).to(tensor.dtype).item()


def _with_values(recorder: Recorder, func: Any, args: Any, kwargs: Any, operands: list[torch.Tensor]) -> Any:
    """Ask the real call, and take the shapes of what it returns."""
    recorder.trace.looked_at_values += 1
    real_args, real_kwargs = _real(recorder, args), _real(recorder, kwargs)
    real = func(*real_args, **real_kwargs)
    if not isinstance(real, torch.Tensor | tuple | list):
        return real
    made = [torch.empty_strided(t.size(), t.stride(), dtype=t.dtype, device="meta") for t in tensors_in(real)]
    out = made[0] if isinstance(real, torch.Tensor) else tuple(made)
    work = work_of(func, args, kwargs, out, None)
    recorder.note(func, args, kwargs, operands, out, None, work)
    for tensor, value in zip(made, tensors_in(real), strict=True):
        recorder.values.put(tensor, value)
    return out


def _real(recorder: Recorder, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        found = recorder.values.get(value)
        return found if found is not None else invented(recorder, value)
    if isinstance(value, dict):
        return {key: _real(recorder, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_real(recorder, item) for item in value]
    return value


def _index(recorder: Recorder, func: Any, args: Any, kwargs: Any, operands: list[torch.Tensor]) -> Any:
    """A mask among the indices becomes the numbers of the elements that it lets through."""
    indices: list[Any] = []
    for index in args[1]:
        if index is not None and index.dtype in (torch.bool, torch.uint8):
            found = torch.ops.aten.nonzero.default
            picked = _with_values(recorder, found, (index,), {}, [index])
            indices.extend(_columns(recorder, picked))
        else:
            indices.append(index)
    args = (args[0], indices, *args[2:])
    return recorder.call(func, args, kwargs, list(tensors_in((args, kwargs))))


def choose(recorder: Recorder, func: Any, args: Any, kwargs: Any, results: list[torch.Tensor]) -> None:
    """What an unknown tensor is largest at, or sorts to: told of a random one of the same shape.

    Routing depends on this, and random scores route as evenly as a trained router is meant to.
    """
    operand = args[0] if args else None
    if name_of(func) not in _CHOICES or not isinstance(operand, torch.Tensor) or not operand.dim():
        return
    if operand.numel() > MOST_DRAWN or all(tensor.is_floating_point() for tensor in results):
        return
    recorder.trace.notes["choices among values that cannot be known were drawn"] = None
    drawn = func(torch.rand(operand.shape), *args[1:], **kwargs)
    for tensor, value in zip(results, tensors_in(drawn), strict=True):
        if not tensor.is_floating_point():
            recorder.values.put(tensor, value)


def _columns(recorder: Recorder, found: torch.Tensor) -> list[torch.Tensor]:
    call = torch.ops.aten.select.int
    return [recorder.call(call, (found, 1, axis), {}, [found]) for axis in range(found.shape[1])]


MOST_DRAWN = 2**25
_CHOICES = {"topk", "sort", "argsort", "argmax", "argmin", "multinomial", "max", "min"}
Handler = Callable[["Recorder", Any, Any, Any, list[torch.Tensor]], Any]
DATA_DEPENDENT: dict[str, Handler] = {
    "_local_scalar_dense": _item, "nonzero": _with_values, "_unique2": _with_values, "_unique": _with_values,
    "unique_dim": _with_values, "unique_consecutive": _with_values, "bincount": _with_values,
    "masked_select": _with_values, "repeat_interleave": _with_values,
    "equal": _with_values, "histc": _with_values, "index": _index,
    "is_nonzero": _item, "_assert_async": lambda *_: None,
}  # fmt: skip
"""By name. Boolean masks that are written through need no values: nothing's shape depends on them."""
