"""What a call returns, as tensors without memory; worked out once for each combination of shapes."""

from __future__ import annotations

from typing import Any

import torch

from tasks.graph.kinds import name_of

_Made = tuple[torch.Size, tuple[int, ...], torch.dtype]


class Shapes:
    """torch's own shape rules, many of which are Python and take up to a millisecond, remembered."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[type | None, list[_Made | None]]] = {}

    def __call__(self, func: Any, args: Any, kwargs: Any, key: Any, mutated: torch.Tensor | None) -> Any:
        found = self._known.get(key)
        if found is not None:
            return mutated if mutated is not None else _remade(*found)
        rule = _OWN_RULES.get(name_of(func))
        out = rule(*args, **kwargs) if rule is not None else func(*args, **kwargs)
        if mutated is not None:
            if out is mutated:
                self._known[key] = (None, [])
            return out if out is not None else mutated
        described = _described(out)
        if described is not None:
            self._known[key] = described
        return out


def signature(func: Any, args: Any, kwargs: Any) -> Any:
    """What the shapes of the result depend on: the call without the values in its tensors."""
    return func, _signed(args), tuple((name, _signed(value)) for name, value in kwargs.items())


def _signed(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.size(), value.stride(), value.dtype
    if isinstance(value, list | tuple):
        return tuple([_signed(item) for item in value])
    if isinstance(value, float):
        return float
    if isinstance(value, bool | int):
        return type(value), value
    return value


def mutated_argument(func: Any, args: Any, kwargs: Any) -> torch.Tensor | None:
    """The first argument that the call writes to."""
    schema = getattr(func, "_schema", None)
    if schema is None or not schema.is_mutable:
        return None
    for place, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[place] if place < len(args) else kwargs.get(argument.name)
            if isinstance(value, torch.Tensor):
                return value
    return None


def _described(out: Any) -> tuple[type | None, list[_Made | None]] | None:
    """How to make it again; `None` where it holds something else than tensors."""
    if isinstance(out, torch.Tensor):
        return None, [(out.size(), out.stride(), out.dtype)]
    if isinstance(out, list | tuple) and all(t is None or isinstance(t, torch.Tensor) for t in out):
        return type(out), [None if t is None else (t.size(), t.stride(), t.dtype) for t in out]
    return None


def _remade(container: type | None, made: list[_Made | None]) -> Any:
    tensors = [
        None if one is None else torch.empty_strided(one[0], one[1], dtype=one[2], device="meta")
        for one in made
    ]
    return tensors[0] if container is None else container(tensors)


def _scaled_mm(left: torch.Tensor, right: torch.Tensor, *scales: Any, out_dtype: Any = None, **_: Any) -> Any:
    """Shapes alone: torch's own rule asks for the hardware that the format needs."""
    dtypes = [scale for scale in scales if isinstance(scale, torch.dtype)]
    dtype = out_dtype or (dtypes[0] if dtypes else left.dtype)
    return torch.empty((left.shape[0], right.shape[1]), dtype=dtype, device="meta")


_OWN_RULES = {"_scaled_mm": _scaled_mm, "_scaled_mm_v2": _scaled_mm}
