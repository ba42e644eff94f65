"""Results that are turned views of what a kernel works out: worked out in the order in which they are returned."""

from agents.rewrite.cone import is_fusible
from agents.rewrite.program import Program, Ref
from agents.rewrite.rules.draft import Draft
from agents.rewrite.rules.views import order_of
from agents.rewrite.views import is_view


def laid_as_returned(program: Program) -> Program:
    """A kernel then writes along the rows of the result, as the reference does that makes it contiguous."""
    for name in program.results:
        op = program.ops.get(name)
        if op is None or order_of(program, op) is None:
            continue
        source = program.ops.get(op.reads[0])
        if source is not None and is_fusible(program, source) and not is_view(program, source):
            draft = Draft(program)
            laid = draft.op(f"{name}_laid", "laid_out.default", (Ref(name),), program.types[name])
            after = draft.done({name: laid})
            program = after
    return program
