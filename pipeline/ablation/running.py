"""Runs a plan: every strategy on every shape with every seed, and what its contrasts say."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from agents.warm_start import read_records
from pipeline.ablation.contrasts import Floats, adjusted, p_of, ratio_of
from pipeline.ablation.ground import Ground, grounds
from pipeline.ablation.plan import Contrast, Plan
from pipeline.ablation.replaying import evaluations_to
from pipeline.ablation.result import Compared, Needed, Result
from pipeline.ablation.strategies import STRATEGIES
from tasks.errors import TaskError

Note = Callable[[str], None]


def run(plan: Plan, note: Note, jobs: int = 1) -> Result:
    """Raises `TaskError` when no recorded shape is what the plan asks for."""
    every = grounds(read_records(plan.landscapes), fewest=2)
    judged = [place for place, ground in enumerate(every) if _is_judged(plan, ground)]
    if not judged:
        raise TaskError(
            "no recorded shape is what the plan asks for", file=plan.landscapes[0], field="families, fewest, rarer_than",
            mend="record more with scripts.landscape, or ask for less",
        )  # fmt: skip
    asked = [(place, name) for place in judged for name in plan.strategies]
    needed = []
    for (place, name), found in zip(asked, _searched(plan, every, asked, jobs), strict=True):
        ground = every[place]
        needed.append(
            Needed(
                shape=ground.name, settings=len(ground.records), near=ground.near(0.95), strategy=name,
                evaluations=tuple(found),
            )
        )  # fmt: skip
        note(f"{ground.name}: {name}")
    return Result(plan=plan, needed=tuple(needed), compared=_compared(plan, needed))


def _is_judged(plan: Plan, ground: Ground) -> bool:
    timed = [record for record in ground.records if record.ms is not None]
    wanted = not plan.families or ground.family in plan.families
    return wanted and len(timed) >= plan.fewest and ground.near(0.95) / len(timed) < plan.rarer_than


Searched = list[tuple[int | None, ...]]
"""A seed each: after how many evaluations each share was reached."""


def _searched(
    plan: Plan, every: Sequence[Ground], asked: Sequence[tuple[int, str]], jobs: int
) -> Iterator[Searched]:
    if jobs <= 1:
        yield from (_one(plan, every, *each) for each in asked)
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_settle, initargs=(plan.model_dump_json(),)
    ) as pool:
        yield from pool.map(_ask, asked)


def _one(plan: Plan, every: Sequence[Ground], place: int, name: str) -> Searched:
    ground = every[place]
    others = [other for other in every if other is not ground]
    return [
        tuple(evaluations_to(ground, others, STRATEGIES[name], seed, plan.evaluations, plan.shares))
        for seed in range(plan.seeds)
    ]


_held: list[tuple[Plan, list[Ground]]] = []


def _settle(plan: str) -> None:
    held = Plan.model_validate_json(plan)
    _held.append((held, grounds(read_records(held.landscapes), fewest=2)))


def _ask(asked: tuple[int, str]) -> Searched:
    return _one(*_held[0], *asked)


def _compared(plan: Plan, needed: Sequence[Needed]) -> tuple[Compared, ...]:
    pairs = [(_table(plan, needed, c.better, c), _table(plan, needed, c.worse, c)) for c in plan.contrasts]
    p_values = [p_of(*pair, c.unit) for pair, c in zip(pairs, plan.contrasts, strict=True)]
    found = []
    for contrast, pair, p in zip(plan.contrasts, pairs, adjusted(p_values), strict=True):
        ratio, low, high = ratio_of(*pair)
        holds = p < plan.alpha and ratio <= contrast.at_most
        found.append(
            Compared(
                contrast=contrast, shapes=len(pair[0]), ratio=ratio, low=low, high=high, p=p, holds=holds
            )
        )
    return tuple(found)


def _table(plan: Plan, needed: Sequence[Needed], strategy: str, contrast: Contrast) -> Floats:
    """`[shapes, seeds]`; what was not reached counts as one more than was allowed."""
    place = plan.shares.index(contrast.share)
    rows = [
        [one[place] or plan.evaluations + 1 for one in each.evaluations]
        for each in needed
        if each.strategy == strategy
    ]
    return np.array(rows, dtype=np.float64)
