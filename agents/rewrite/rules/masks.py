"""Masks of an attention as the library takes them: none, the causal one, booleans, or numbers that are added."""

from dataclasses import dataclass
from typing import Any

from agents.rewrite.program import Number, Program, Ref, Typed, Vector
from agents.rewrite.rules.draft import Draft, Shape
from agents.rewrite.rules.fixed import is_fixed, worked_out
from agents.rewrite.rules.scores import Mask

_HIDING = -1e9


@dataclass(frozen=True)
class Masking:
    is_causal: bool
    rest: tuple[Mask, ...]
    """Those that have to be handed over; empty when `is_causal`."""


def masking(program: Program, masks: tuple[Mask, ...], queries: Vector, keys: Vector) -> Masking:
    """Which of `masks` there is need of, those that depend on sizes alone being worked out.

    Together causal: at every size that was traced they hide exactly what is above the diagonal of a square.
    """
    fixed = tuple(mask for mask in masks if is_fixed(program, mask.name))
    rest = tuple(mask for mask in masks if mask not in fixed)
    found = _together(program, fixed, queries, keys)
    if found == "nothing":
        return Masking(False, rest)
    if found == "causal" and not rest:
        return Masking(True, ())
    return Masking(False, masks)


def _together(program: Program, masks: tuple[Mask, ...], queries: Vector, keys: Vector) -> str:
    kinds = set()
    places = {(queries[place], keys[place]): place for place in range(program.workloads)}
    for (rows, columns), place in places.items():
        kinds.add(_kind(program, masks, place, rows, columns))
    return kinds.pop() if len(kinds) == 1 else "other"


def _kind(program: Program, masks: tuple[Mask, ...], place: int, rows: int, columns: int) -> str:
    import torch

    seen = torch.ones(rows, columns, dtype=torch.bool)
    for mask in masks:
        value = worked_out(program, mask.name, place)
        value = None if value is None else _visible(value, mask)
        if value is None or any(size != 1 for size in value.shape[:-2]):
            return "other"
        seen = seen & value.reshape(value.shape[-2:])
    if bool(seen.all()):
        return "nothing"
    is_causal = rows == columns and torch.equal(seen, torch.ones_like(seen).tril())
    return "causal" if is_causal else "other"


def _visible(value: Any, mask: Mask) -> Any:
    import torch

    if not isinstance(value, torch.Tensor) or value.dim() < 2:
        return None
    if mask.kind != "bias":
        return value if mask.kind == "seen" else ~value
    seen = value == 0
    return seen if bool((seen | (value <= _HIDING)).all()) else None


def mask_value(draft: Draft, masks: tuple[Mask, ...], dtype: str) -> str | None:
    """One value for all of them: booleans where True is seen, or numbers of type `dtype`."""
    booleans = [mask for mask in masks if mask.kind != "bias"]
    biases = [_bias(draft, mask) for mask in masks if mask.kind == "bias"]
    if not biases:
        return _joined(draft, [_seen(draft, mask) for mask in booleans], "bitwise_and.Tensor", "bool")
    total = _joined(draft, biases, "add.Tensor", "")
    assert total is not None
    for mask in booleans:
        total = _filled(draft, total, mask)
    return draft.cast(total, dtype)


def _bias(draft: Draft, mask: Mask) -> str:
    if set(mask.factor) == {1.0}:
        return mask.name
    typed = draft.types[mask.name]
    return draft.op("bias", "mul.Tensor", (Ref(mask.name), Number(mask.factor)), typed)


def _seen(draft: Draft, mask: Mask) -> str:
    if mask.kind == "seen":
        return mask.name
    return draft.op("seen", "logical_not.default", (Ref(mask.name),), draft.types[mask.name])


def _filled(draft: Draft, total: str, mask: Mask) -> str:
    typed = Typed(draft.broadcast(total, mask.name), draft.types[total].dtype)
    low = draft.number(float("-inf"))
    if mask.kind == "seen":
        return draft.op("bias", "where.ScalarOther", (Ref(mask.name), Ref(total), low), typed)
    return draft.op("bias", "masked_fill.Scalar", (Ref(total), Ref(mask.name), low), typed)


def _joined(draft: Draft, names: list[str], target: str, dtype: str) -> str | None:
    found: str | None = None
    for name in names:
        if found is None:
            found = name
            continue
        kinds = {draft.types[n].dtype for n in (found, name)}
        wide = dtype or (kinds.pop() if len(kinds) == 1 else "float32")
        found = draft.op("mask", target, (Ref(found), Ref(name)), Typed(draft.broadcast(found, name), wide))
    return found


def spread_to(draft: Draft, name: str, shape: Shape) -> str:
    """`name` with ones before its dimensions, as many as `shape` has."""
    typed = draft.types[name]
    missing = len(shape) - len(typed.shape)
    return draft.reshape(name, (draft.program.one(),) * missing + typed.shape) if missing else name
