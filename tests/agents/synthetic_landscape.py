"""A landscape whose law is known: a tiled product on 132 processors, where the best tile follows from the shape."""

import math
import random
from itertools import product

from agents.warm_start import Record

SHAPES = tuple(
    {"M": m, "N": n, "K": 2048}
    for m, n in ((640, 1024), (640, 6144), (1280, 2048), (2560, 2560), (5120, 1024), (5120, 8192))
)
CHOICES: dict[str, tuple[int, ...]] = {
    "block_m": (64, 128, 256),
    "block_n": (32, 64, 128, 256),
    "block_k": (64, 128),
    "warps": (4, 8),
    "stages": (2, 3, 4, 5),
}


def ms_of(axes: dict[str, int], knobs: dict[str, int]) -> float:
    """Whole waves of programs; each step waits for memory or for arithmetic, and stages hide what waits."""
    block = knobs["block_m"] * knobs["block_n"]
    programs = math.ceil(axes["M"] / knobs["block_m"]) * math.ceil(axes["N"] / knobs["block_n"])
    waves = math.ceil(programs / 132)
    steps = axes["K"] / knobs["block_k"]
    memory = (knobs["block_m"] + knobs["block_n"]) * knobs["block_k"] / 16e3
    arithmetic = block * knobs["block_k"] / 2e6 * (1.3 if block / knobs["warps"] > 4096 else 1.0)
    latency = 0.6 / (knobs["stages"] - 1)
    return 1e-3 * waves * steps * (max(memory, arithmetic) + latency + 0.05 * knobs["stages"])


def records(shuffled: int | None = None) -> tuple[Record, ...]:
    """Every setting on every shape. `shuffled`: the times of each shape change places, by that seed."""
    settings = [dict(zip(CHOICES, values, strict=True)) for values in product(*CHOICES.values())]
    found = []
    for axes in SHAPES:
        times = [ms_of(axes, knobs) for knobs in settings]
        if shuffled is not None:
            random.Random(shuffled).shuffle(times)
        found += [
            Record(family="gemm", axes=axes, knobs=dict(knobs), ms=ms)
            for knobs, ms in zip(settings, times, strict=True)
        ]
    return tuple(found)
