"""Operands with labelled dimensions brought into the four that the library's attention wants."""

from agents.rewrite.program import Vector, product
from agents.rewrite.rules.contraction import Label, Operand
from agents.rewrite.rules.draft import Draft, Shape

Groups = tuple[tuple[Label, ...], ...]
"""For each dimension wanted the labels that are laid together in it, the slowest first."""


def arranged(draft: Draft, given: Operand, groups: Groups, sizes: dict[Label, Vector], spread: Groups) -> str:
    """One dimension for each of `groups`; labels in `spread` that the operand lacks are spread to their sizes.

    A group of which the operand has nothing becomes one of size 1.
    """
    one = draft.program.one()
    order = [label for group in groups for label in group if label in given.labels]
    name = draft.reshape(given.name, given.shape)
    if order != [label for label in given.labels if label is not None]:
        gone = [place for place, label in enumerate(given.labels) if label is None]
        name = draft.permute(name, (*gone, *(given.labels.index(label) for label in order)))
    own = dict(zip(given.labels, given.shape, strict=True))
    wide: list[Vector] = []
    thin: list[Vector] = []
    for group in groups:
        must = group in spread or (len(group) > 1 and any(label in given.labels for label in group))
        must = must and not _is_short(group, given, spread)
        for label in group:
            size = own.get(label, one)
            thin.append(size)
            wide.append(sizes[label] if must and label not in given.labels else size)
    if wide != thin:
        name = draft.expand(draft.reshape(name, tuple(thin)), tuple(wide))
    return draft.reshape(name, _merged(draft, groups, tuple(wide)))


def _is_short(group: tuple[Label, ...], given: Operand, spread: Groups) -> bool:
    """Heads without their group: the library repeats them itself."""
    return group not in spread and group[0] in given.labels


def _merged(draft: Draft, groups: Groups, sizes: Shape) -> Shape:
    found, place = [], 0
    for group in groups:
        found.append(product(sizes[place : place + len(group)], draft.program.workloads))
        place += len(group)
    return tuple(found)
