"""What a candidate launched, in order, and what torch.compile would have made of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby

from guard.prediction import Kind, Launch

Storage = int
"""The address of a storage object; the recorder keeps what it names alive."""


@dataclass(frozen=True)
class Step:
    """One launch with what it reads and writes, in bytes by storage."""

    launch: Launch
    reads: dict[Storage, int] = field(default_factory=dict)
    writes: dict[Storage, int] = field(default_factory=dict)
    fusable: bool = False
    region: int = 0
    """Which call of a compiled function it belongs to; 0 for eager code."""


class Recorder:
    """Collects steps while `recording` is open; outside, and inside `paused`, nothing is noted."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.alive: list[object] = []
        self.on = False
        self._regions = 0
        self._region = 0

    def add(self, step: Step) -> None:
        if self.on:
            self.steps.append(step)

    @property
    def region(self) -> int:
        return self._region

    @contextmanager
    def recording(self) -> Iterator[None]:
        self.on = True
        try:
            yield
        finally:
            self.on = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        before, self.on = self.on, False
        try:
            yield
        finally:
            self.on = before

    @contextmanager
    def compiled_region(self) -> Iterator[None]:
        """Inside, element-wise work and reductions may fuse; the outermost region counts."""
        if self._region:
            yield
            return
        self._regions += 1
        self._region = self._regions
        try:
            yield
        finally:
            self._region = 0


def launches_of(steps: list[Step], results: set[Storage]) -> tuple[Launch, ...]:
    """The launches of `steps`, compiled regions fused; `results` are storages that outlive the call.

    The rule is simple: between two steps that cannot fuse (matrix products, attention, sorts, kernels written
    by hand) everything becomes one kernel, which reads what came from outside and writes what is used later.
    """
    launches: list[Launch] = []
    at = 0
    for (region, fusable), members in groupby(steps, key=lambda s: (s.region, s.fusable and s.region > 0)):
        group = list(members)
        following = steps[at + len(group) :]
        at += len(group)
        if region and fusable:
            launches.append(_fused(group, following, results))
        else:
            launches.extend(step.launch for step in group)
    return tuple(launches)


def _fused(group: list[Step], following: list[Step], results: set[Storage]) -> Launch:
    used_later = results.union(*(step.reads for step in following))
    made: set[Storage] = set()
    read: dict[Storage, int] = {}
    written: dict[Storage, int] = {}
    for step in group:
        for storage, amount in step.reads.items():
            if storage not in made:
                read[storage] = max(read.get(storage, 0), amount)
        for storage, amount in step.writes.items():
            made.add(storage)
            if storage in used_later:
                written[storage] = max(written.get(storage, 0), amount)
    kinds = {step.launch.kind for step in group}
    kind: Kind = "gather" if "gather" in kinds else "fused" if "rows" in kinds else "copy"
    name = "+".join(step.launch.name for step in group[:4]) + ("+..." if len(group) > 4 else "")
    return Launch(name=name, kind=kind, bytes=sum(read.values()) + sum(written.values()))
