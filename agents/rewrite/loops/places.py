"""Where a step looks: places that move on with the steps, and several dimensions as one."""

from collections.abc import Callable

from agents.rewrite.loops.recurrence import Moving
from agents.rewrite.program import Vector
from agents.rewrite.views import Index, held, reshaped, segments

SizeText = Callable[[Vector], str]


class Joined(str):
    """An index into dimensions that a reshape made one; remembers the index into each of them."""

    parts: tuple[tuple[str, Vector], ...]

    @staticmethod
    def of(text: str, parts: tuple[tuple[str, Vector], ...]) -> "Joined":
        made = Joined(text)
        made.parts = parts
        return made


def moved(at: Moving, size: SizeText) -> str:
    """The place in step `t`."""
    start = size(tuple(int(value) for value in at.values))
    if at.step == -1:
        return f"{held(start)} - t"
    steps = "t" if at.step == 1 else f"{at.step} * t"
    return steps if start == "0" else f"{steps} + {start}"


def refolded(
    index: Index, new: tuple[Vector, ...], old: tuple[Vector, ...], workloads: int, size: SizeText
) -> Index:
    """As `reshaped`, but dimensions that were made one come apart again as they were."""
    found: list[str] = []
    place = 0
    for begin, end, new_end in segments(old, new, workloads):
        wide = [n for n in range(begin, end) if set(old[n]) != {1}]
        atoms = _atoms(index[place:new_end], new[place:new_end])
        if [part_size for _, part_size in atoms] == [old[n] for n in wide]:
            given = iter(part for part, _ in atoms)
            found += [next(given) if n in wide else "0" for n in range(begin, end)]
        else:
            inner = reshaped(index[place:new_end], new[place:new_end], old[begin:end], workloads, size)
            found += [
                Joined.of(part, tuple(atoms)) if wide == [begin + n] and len(atoms) > 1 else part
                for n, part in enumerate(inner)
            ]
        place = new_end
    return tuple(found)


def _atoms(index: Index, sizes: tuple[Vector, ...]) -> list[tuple[str, Vector]]:
    found: list[tuple[str, Vector]] = []
    for part, part_size in zip(index, sizes, strict=True):
        if isinstance(part, Joined):
            found += part.parts
        elif set(part_size) != {1}:
            found.append((part, part_size))
    return found
