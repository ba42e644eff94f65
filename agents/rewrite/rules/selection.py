"""Top-k, sorts of short rows, arg-max, and what routes by them: one kernel that does a row's selection in registers.

The reference's calls launch a kernel each, most of which move a few bytes a row. Values are chosen exactly, equal ones
in the order in which they stand; sums run in another order. What the library need not sort is left in the order in
which its CUDA kernel leaves it: as it stands, values equal to the last one after the others.
"""

from agents.rewrite.program import Number, Program, Ref
from agents.rewrite.rules.base import Rule, at_every
from agents.rewrite.rules.draft import Draft
from agents.rewrite.selection.region import region
from agents.rewrite.selection.source import plain_numbers, selection_source


def apply(program: Program) -> Program | None:
    return at_every(program, _at)


def _at(program: Program, name: str) -> Program | None:
    found = region(program, name)
    if found is None or not any(found.body.flat(tensor).lead for tensor in found.body.tensors):
        return None
    draft = Draft(program)
    taken = [helper for helper in program.helpers if helper.startswith("_selected")]
    helper = "_selected" if not taken else f"_selected_{len(taken) + 1}"
    source = selection_source(program, found, helper)
    shapes = tuple(tuple(map(Number, program.types[output].shape)) for output in found.outputs)
    numbers = (*map(Number, found.body.numbers.values()), *plain_numbers(program, found))
    args = (*map(Ref, found.inputs), *shapes, *numbers)
    only = program.types[found.outputs[0]] if len(found.outputs) == 1 else None
    call = draft.helper(helper, source, args, only)
    if only is not None:
        return draft.done({found.outputs[0]: call})
    parts = {
        output: draft.part(call, place, program.types[output], f"{output}_chosen")
        for place, output in enumerate(found.outputs)
    }
    return draft.done(parts)


RULE = Rule("selection_in_registers", "reassociated", apply)
