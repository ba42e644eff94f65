"""Which values are stored, and which of them one kernel works out together."""

import time
from dataclasses import dataclass

from agents.rewrite.cone import cone, depends_on_inputs, is_dear, is_fusible, only_moves
from agents.rewrite.kernel import Kernel, MustBeStored
from agents.rewrite.program import Op, Program, Vector, product
from agents.rewrite.rows import is_rows
from agents.rewrite.views import SPLITS, is_view
from agents.rewrite.writer import Writer

_DENSE = {"mm", "bmm", "matmul", "linear", "addmm", "baddbmm", "_scaled_mm"}
"""Library calls whose results are laid out plainly."""
_ROUNDS = 60
_LIMIT_S = 20.0
"""Of planning: steps that are unrolled may hang together in more ways than can be tried."""


@dataclass(frozen=True)
class Plan:
    """`steps` in the order of execution: kernels, and operations left to torch (views for such among them)."""

    program: Program
    steps: tuple[Kernel | Op, ...]

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return tuple(step for step in self.steps if isinstance(step, Kernel))


def plan(program: Program) -> Plan | None:
    """None when nothing can be fused: no kernel would do more than one operation of torch's."""
    planner = _Planner(program)
    kernels = planner.kernels()
    return Plan(program, planner.ordered(kernels)) if kernels else None


def unfused(program: Program) -> Plan:
    """Every operation left to torch."""
    return Plan(program, tuple(program.ops.values()))


class _Planner:
    def __init__(self, program: Program) -> None:
        self.program = program
        self._until = time.monotonic() + _LIMIT_S
        self.fusible = {op.name for op in program.ops.values() if is_fusible(program, op)}
        self.stored: set[str] = set()
        self.host: set[str] = set(program.ops) - self.fusible
        for op in program.ops.values():
            if op.name not in self.fusible:
                for name in op.reads:
                    self._require(name)
        for name in program.results:
            self._require(name)

    def _require(self, name: str) -> None:
        """Some operation of torch's needs it: in memory, or as a view of what is."""
        op = self.program.ops.get(name)
        if op is None or name not in self.fusible or name in self.stored or name in self.host:
            return
        if is_view(self.program, op) or op.base in SPLITS:
            self.host.add(name)
            self._require(op.reads[0])
        elif depends_on_inputs(self.program, name):
            self.stored.add(name)
        else:
            self.host.add(name)  # a constant: torch makes it
            for read in op.reads:
                self._require(read)

    def kernels(self) -> list[Kernel]:
        """Kernels for everything that has to be stored; more is stored until that works out."""
        for _ in range(_ROUNDS):
            try:
                kernels = self._grouped()
            except MustBeStored as error:
                self._store(error.name)
                continue
            again = self._worked_out_twice(kernels)
            if again is not None:
                self._store(again)
                continue
            pointless = [kernel for kernel in kernels if not self.saves(kernel)]
            if not pointless:
                return kernels
            for kernel in pointless:
                self._leave(kernel)
        raise MustBeStored("too much")

    def _store(self, name: str) -> None:
        before = len(self.stored) + len(self.host)
        self._require(name)
        if name in self.host or len(self.stored) + len(self.host) == before:
            raise MustBeStored(name)

    def _leave(self, kernel: Kernel) -> None:
        """One operation alone is left to torch, which does it as well."""
        for root in kernel.roots:
            for name in self._cone(root):
                self.host.add(name)
                self.fusible.discard(name)
        self.stored -= self.host
        for root in kernel.roots:
            for name in self.program.ops[root].reads:
                self._require(name)

    def _grouped(self) -> list[Kernel]:
        kernels: list[Kernel] = []
        for name in self.program.ops:
            if name not in self.stored:
                continue
            if time.monotonic() > self._until:
                raise MustBeStored("more than the time allows")
            alone = self._kernel([name])
            home = next((k for k in kernels if self._may_join(kernels, k, alone)), None)
            if home is None:
                kernels.append(alone)
            else:
                kernels[kernels.index(home)] = self._kernel([*home.roots, name])
        return kernels

    def _kernel(self, roots: list[str]) -> Kernel:
        """Written, so that what cannot be worked out in it has been found."""
        domain, has_rows = self._domain(roots)
        kernel = Kernel(domain, has_rows, roots)
        Writer(self.program, kernel, self._known, self.dense).write()
        return kernel

    @property
    def dense(self) -> set[str]:
        library = {op.name for op in self.program.ops.values() if op.base in _DENSE}
        return library | self.stored | set(self.program.inputs) | set(self.program.constants)

    def _domain(self, roots: list[str]) -> tuple[tuple[Vector, ...], bool]:
        """The sizes of what rows are taken of, when there is such a thing; else those of the first root."""
        for root in roots:
            for name in self._cone(root):
                op = self.program.ops[name]
                if is_rows(self.program, op):
                    shape = self.program.types[op.reads[0]].shape
                    return self._checked(shape, roots), True
        shape = self.program.types[roots[0]].shape or (self.program.one(),)
        return self._checked(shape, roots), False

    def _checked(self, shape: tuple[Vector, ...], roots: list[str]) -> tuple[Vector, ...]:
        fitting = (shape, (*shape[:-1], self.program.one()), shape[:-1])
        for root in roots:
            if self.program.types[root].shape not in fitting:
                rows = next((n for n in self._cone(root) if is_rows(self.program, self.program.ops[n])), root)
                raise MustBeStored(rows)
        return shape

    @property
    def _known(self) -> set[str]:
        return self.stored | self.host

    def _cone(self, root: str) -> list[str]:
        return cone(self.program, root, self._known)

    def _may_join(self, kernels: list[Kernel], home: Kernel, other: Kernel) -> bool:
        if home.domain != other.domain and not self._same_rows(home, other):
            return False
        shared = (set(home.tensors) | set(home.roots)) & set(other.tensors)
        size = product(home.domain, self.program.workloads)
        if not any(self.program.types[name].elements == size for name in shared):
            return False
        outside = [name for name in other.tensors if name not in home.roots]
        if any(self._depends(name, set(home.roots), kernels) for name in outside):
            return False
        try:
            joined = self._kernel([*home.roots, *other.roots])
        except MustBeStored:
            return False
        return len(joined.tensors) + len(joined.roots) <= 16

    def _same_rows(self, home: Kernel, other: Kernel) -> bool:
        """One of the two has a value a row of the other's tile; joining then needs whole rows."""
        return home.has_rows and other.domain in ((*home.domain[:-1], self.program.one()), home.domain[:-1])

    def _depends(self, name: str, on: set[str], kernels: list[Kernel]) -> bool:
        """Whether `name` can only be had after one of `on`, kernels being done as a whole."""
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            current = waiting.pop()
            if current in on:
                return True
            if current in seen or current not in self.program.ops:
                continue
            seen.add(current)
            waiting += self.program.ops[current].reads
            for kernel in kernels:
                if current in kernel.roots:
                    waiting += [*kernel.tensors, *kernel.roots]
        return False

    def _worked_out_twice(self, kernels: list[Kernel]) -> str | None:
        """A value that several kernels work out at more cost than storing it once and reading it."""
        homes: dict[str, set[int]] = {}
        for number, kernel in enumerate(kernels):
            for root in kernel.roots:
                for name in self._cone(root):
                    if name not in self.stored:
                        homes.setdefault(name, set()).add(number)
        for name in reversed(self.program.ops):
            op = self.program.ops[name]
            is_shared = len(homes.get(name, ())) > 1 and not is_view(self.program, op)
            if is_shared and is_dear(self.program, name, self._known):
                return name
        return None

    def saves(self, kernel: Kernel) -> bool:
        """Whether it does more than one operation of torch's would; moving things about is none."""
        names = {name for root in kernel.roots for name in self._cone(root)}
        return sum(not only_moves(self.program, self.program.ops[name]) for name in names) > 1

    def ordered(self, kernels: list[Kernel]) -> tuple[Kernel | Op, ...]:
        """Kernels and torch's operations, each after all it reads."""
        needed = self._needed(kernels)
        home = {root: kernel for kernel in kernels for root in kernel.roots}
        done: set[str] = set()
        steps: list[Kernel | Op] = []

        def visit(name: str) -> None:
            if name in done or name not in self.program.ops:
                return
            kernel = home.get(name)
            done.update(kernel.roots if kernel else (name,))
            for read in kernel.tensors if kernel else self.program.ops[name].reads:
                visit(read)
            steps.append(kernel or self.program.ops[name])

        for name in self.program.ops:
            if name in home or name in needed:
                visit(name)
        return tuple(steps)

    def _needed(self, kernels: list[Kernel]) -> set[str]:
        """Operations of torch's that a kernel, a result or another of them reads."""
        waiting = [*self.program.results, *(name for kernel in kernels for name in kernel.tensors)]
        found: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in self.host and name not in found:
                found.add(name)
                waiting += self.program.ops[name].reads
        return found
