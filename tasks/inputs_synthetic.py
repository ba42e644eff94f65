"""Structurally valid stand-ins for recorded inputs that are missing, drawn from torch's global generator."""

from collections.abc import Callable, Iterable, Mapping

import torch

from tasks.definition import Definition
from tasks.dtypes import torch_dtype
from tasks.inputs_rules import draw
from tasks.synthetic import StandIn, plan_stand_in

_CPU = torch.device("cpu")


def stand_ins(
    definition: Definition, axes: Mapping[str, int], names: Iterable[str]
) -> dict[str, torch.Tensor]:
    """A tensor on the CPU for each of `names`, in definition order; `TaskError` for one not recognised.

    Index pointers start at 0, never decrease and end at their axis; where both queries and keys have one,
    every sequence gets at least as many keys as queries, if there are enough. Page indices are in range, and
    unique if there are enough pages. Sequences differ in length, so that nothing rests on equal ones.
    """
    wanted = set(names)
    plans = [plan_stand_in(definition, axes, name) for name in definition.inputs if name in wanted]
    made = {plan.name: _draw(definition, plan) for plan in plans if plan.role != "index-pointer"}
    page_size = definition.resolve_axes(axes).get("page_size", 1)
    made.update(_index_pointers([plan for plan in plans if plan.role == "index-pointer"], page_size))
    return made


def _draw(definition: Definition, plan: StandIn) -> torch.Tensor:
    if plan.role == "plain":
        return _plain(definition, plan)
    return _BY_ROLE[plan.role](plan).reshape(plan.shape).to(torch_dtype(plan.dtype))


def _plain(definition: Definition, plan: StandIn) -> torch.Tensor:
    value = draw(plan.name, plan.shape, plan.dtype, _CPU, definition.inputs[plan.name].description)
    # a bias of unit variance would outweigh what it is added to: every token would choose the same experts
    return value * 0.1 if plan.name.endswith("_bias") else value


def _distinct(plan: StandIn) -> torch.Tensor:
    """Values in [0, bound): all different where that is possible."""
    count = torch.Size(plan.shape).numel()
    if count <= plan.bound:
        return torch.randperm(plan.bound)[:count]
    return torch.randint(0, plan.bound, (count,))


def _choices(plan: StandIn) -> torch.Tensor:
    """Values in [0, bound), different within each row of the last axis."""
    width = plan.shape[-1] if plan.shape else 1
    rows = torch.Size(plan.shape[:-1]).numel()
    if width > plan.bound:
        return torch.randint(0, plan.bound, plan.shape)
    return torch.rand(rows, plan.bound).argsort(dim=-1)[:, :width]


def _lengths(plan: StandIn) -> torch.Tensor:
    return torch.randint(1, max(plan.bound, 1) + 1, plan.shape)


def _positions(plan: StandIn) -> torch.Tensor:
    return torch.randint(0, max(plan.bound, 1), plan.shape)


_BY_ROLE: dict[str, Callable[[StandIn], torch.Tensor]] = {
    "page-indices": _distinct,
    "choice": _choices,
    "position": _positions,
    "length": _lengths,
    "last-page": _lengths,
}


def _index_pointers(plans: list[StandIn], page_size: int) -> dict[str, torch.Tensor]:
    made: dict[str, torch.Tensor] = {}
    floor: torch.Tensor | None = None
    for plan in sorted(plans, key=lambda plan: plan.name.startswith(("k", "paged"))):
        sequences = max(plan.shape[0] - 1, 0)
        counts = split(
            plan.bound, sequences, floor if floor is not None and len(floor) == sequences else None
        )
        floor = (counts + page_size - 1) // page_size
        ends = torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])[: plan.shape[0]]
        made[plan.name] = ends.to(torch_dtype(plan.dtype))
    return made


def split(total: int, parts: int, floor: torch.Tensor | None = None) -> torch.Tensor:
    """`total` in `parts` random counts (int64), each at least its `floor` (or 1) if the floors fit in."""
    if parts == 0:
        return torch.zeros(0, dtype=torch.int64)
    least = torch.ones(parts, dtype=torch.int64) if floor is None else floor
    if int(least.sum()) > total:
        least = torch.zeros(parts, dtype=torch.int64)
    spare = total - int(least.sum())
    cuts = torch.randint(0, spare + 1, (parts - 1,)).sort().values
    edges = torch.cat([torch.zeros(1, dtype=torch.int64), cuts, torch.tensor([spare])])
    return least + edges.diff()
