"""One node of a cluster: a Dask worker that offers its device once, under the device's own name."""

import asyncio
from typing import Literal

from guard.errors import GuardBroken
from pipeline.cluster.node import PREFIX, device_name
from pipeline.device import choose_device


def run_node(scheduler: str, device: Literal["auto", "cpu", "cuda"] = "auto", connect_s: float = 60.0) -> str:
    """Serve the scheduler at an address until it ends; the name of the device. `GuardBroken` when it is not there.

    One thread and one of the device: a node never judges two candidates at a time.
    """
    name = device_name(choose_device(device))
    try:
        asyncio.run(_serve(scheduler, {PREFIX + name: 1}, connect_s))
    except (OSError, TimeoutError) as error:
        raise GuardBroken(f"no scheduler answers at {scheduler}") from error
    return name


async def _serve(scheduler: str, resources: dict[str, int], connect_s: float) -> None:
    from distributed import Nanny

    nanny = Nanny(scheduler, nthreads=1, resources=resources, memory_limit=None, death_timeout=connect_s)
    async with nanny:
        await nanny.finished()
