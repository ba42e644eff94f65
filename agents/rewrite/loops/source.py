"""A loop as source: the kernel that walks it, and the function that launches it."""

from math import prod
from typing import Any

from agents.rewrite.loops.recurrence import Recurrence
from agents.rewrite.loops.tile import Tile, tiled
from agents.rewrite.program import Number, Vector
from agents.rewrite.sizes import Sizes
from agents.rewrite.views import held

_RESERVED = {"t", "lane", "tl", "triton", "torch", "g"}

_SAYS = '"""Walks the loop in one launch: a program keeps its part of what a step leaves for the next in registers."""'


class Walk:
    """`name`: of the launching function; its arguments are `tensors`, by name, and then `numbers`."""

    def __init__(self, loop: Recurrence, sizes: Sizes, name: str, width: int, stages: int) -> None:
        self.loop, self.sizes, self.name, self.width, self.stages = loop, sizes, name, width, stages
        self._parameters: dict[tuple[Any, ...], str] = {}
        self.tile: Tile = tiled(loop, self._size)
        self.outputs = (*loop.collected, *loop.finals)
        self._kernel = self._kernel_source()
        self._inside = list(self._parameters.values())
        self._launch = self._launch_source()

    @property
    def source(self) -> str:
        return f"{self._kernel}\n\n{self._launch}"

    @property
    def tensors(self) -> tuple[str, ...]:
        into = [one.into for one in self.loop.collected.values() if one.into is not None]
        return tuple(dict.fromkeys([*self.tile.lines.tensors, *into]))

    @property
    def numbers(self) -> tuple[Number, ...]:
        return tuple(Number(values) for values in self._parameters)

    def _size(self, values: tuple[Any, ...]) -> str:
        """A number as it is, or the name of the parameter that holds it where it differs from workload to workload."""
        if len(set(values)) == 1:
            return repr(values[0])
        if values not in self._parameters:
            text = self.sizes.text(values)
            free = text.isidentifier() and text not in _RESERVED and text not in self._parameters.values()
            self._parameters[values] = text if free else f"n{len(self._parameters)}"
        return self._parameters[values]

    def _times(self, sizes: tuple[Vector, ...]) -> str:
        """The product of several sizes."""
        known = prod(size[0] for size in sizes if len(set(size)) == 1)
        others = [self._size(size) for size in sizes if len(set(size)) > 1]
        return " * ".join([*others, *([str(known)] if known > 1 or not others else [])])

    def _kernel_source(self) -> str:
        tile, loop = self.tile, self.loop
        count = self._size(loop.count)
        opening = self._opening()
        once, step, last = (
            [tile.filled(line) for line in lines]
            for lines in (tile.lines.once, tile.lines.step, tile.lines.last)
        )
        parameters = [
            *tile.lines.tensors.values(), *(f"out_{name}" for name in self.outputs), *self._parameters.values(),
            *(f"{block}: tl.constexpr" for block in self._blocks), "STAGES: tl.constexpr",
        ]  # fmt: skip
        body = [
            *opening,
            *once,
            f"for t in tl.range(0, {count}, num_stages=STAGES):",
            *(f"    {line}" for line in step),
            *last,
        ]
        text = "\n".join(f"    {line}" for line in body)
        return f"@triton.jit\ndef {self.name}_kernel({', '.join(parameters)}):\n{text}\n"

    @property
    def _blocks(self) -> dict[str, str]:
        """The constants of the tile, each with the dimension that it covers."""
        named = (*self.tile.inner, *((self.tile.lane,) if self.tile.lane else ()))
        return {self.tile.block(name): name for name in named}

    def _opening(self) -> list[str]:
        """Where the program stands in the grid's dimensions, and the places of its tile."""
        tile, lines = self.tile, []
        if tile.grid:
            lines.append("g = tl.program_id(0).to(tl.int64)")
        for place, name in enumerate(tile.grid):
            after = self._times(tuple(tile.sizes[n] for n in tile.grid[place + 1 :]))
            whole = "g" if after == "1" else f"g // {held(after)}"
            divided = whole if place == 0 else f"{held(whole)} % {self._size(tile.sizes[name])}"
            lines.append(f"{tile.names[name]} = {divided}")
        for block, name in self._blocks.items():
            places = f"tl.arange(0, {block})"
            if name == tile.lane:
                places = f"tl.program_id(1) * {block} + {places}"
            spread = ", ".join(":" if axis == tile.axes[name] else "None" for axis in range(tile.rank))
            lines.append(f"{tile.names[name]} = " + (f"({places})[{spread}]" if tile.rank > 1 else places))
            if tile.masked([name]):
                lines.append(f"{tile.names[name]}_in = {tile.names[name]} < {self._size(tile.sizes[name])}")
        return lines

    def _launch_source(self) -> str:
        tile = self.tile
        lane = tile.sizes[tile.lane] if tile.lane else (1,)
        grid = self._times(tuple(tile.sizes[name] for name in tile.grid))
        held, first = self._held(), next(iter(tile.lines.tensors))
        # narrow where a step holds few values: many programs hide each other's waiting
        limit = max(1, min(self.width // held, max(32, self.width // 16)))
        constants = [
            "LANES=lanes" if name == tile.lane else f"{block}={self._power(tile.sizes[name])}"
            for block, name in self._blocks.items()
        ]
        arguments = [*tile.lines.tensors, *self.outputs, *self._inside, *constants, f"STAGES={self.stages}"]
        lines = [
            _SAYS,
            *(f"{name} = {name}.contiguous()" for name in tile.lines.tensors),
            *(f"{name} = {self._made(name)}" for name in self.outputs),
            f"lanes = min({self._power(lane)}, {limit})",
            f'if {first}.device.type == "cpu":  # an interpreter wants few wide programs',
            f"    lanes = {self._power(lane)}",
            f"warps = max(1, min(8, lanes * {held} // 2048))",
            f"{self.name}_kernel[({grid}, triton.cdiv({self._size(lane)}, lanes))](",
            f"    {', '.join(arguments)}, num_warps=warps",
            ")",
            f"return ({', '.join(self.outputs)},)",
        ]
        body = "\n".join(f"    {line}" for line in lines)
        return f"def {self.name}({', '.join([*self.tensors, *self._parameters.values()])}):\n{body}\n"

    def _power(self, size: Vector) -> str:
        """The next power of two."""
        if len(set(size)) == 1:
            return str(1 << (size[0] - 1).bit_length())
        return f"triton.next_power_of_2({self._size(size)})"

    def _held(self) -> int:
        """Values of the largest tile for one place of its last axis, padding included."""
        largest = 1
        for values in self.tile.lines.tiles:
            found = 1
            for name in values & set(self.tile.inner):
                found *= 1 << (max(self.tile.sizes[name]) - 1).bit_length()
            largest = max(largest, found)
        return largest

    def _made(self, name: str) -> str:
        one = self.loop.collected.get(name)
        if one is not None and one.into is not None:
            return f"{one.into}.clone(memory_format=torch.contiguous_format)"
        typed = self.loop.types[name]
        sizes = ", ".join(self._size(size) for size in typed.shape)
        shape = f"({sizes},)" if len(typed.shape) == 1 else f"({sizes})"
        device = next(iter(self.tile.lines.tensors))
        return f"torch.empty({shape}, dtype=torch.{typed.dtype}, device={device}.device)"
