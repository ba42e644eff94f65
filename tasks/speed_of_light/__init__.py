"""The least time a workload can take on a card, without a GPU: by the board's rules, or by physics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tasks.speed_of_light.bound import Bound, Pricing

if TYPE_CHECKING:
    from tasks.gpu import Gpu
    from tasks.task import Task

__all__ = ["Bound", "Pricing", "speed_of_light"]


def speed_of_light(task: Task, gpu: Gpu, pricing: Pricing) -> tuple[Bound, ...]:
    """The bound of each workload of `task`, in their order; see `tasks.speed_of_light.bounds`."""
    from tasks.speed_of_light.bounds import bounds  # late: torch is slow to import

    return bounds(task, gpu, pricing)
