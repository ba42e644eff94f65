"""References with a loop over a length, as programs in which the loop is one launch."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from agents.rewrite.cleanup import Impure, cleaned
from agents.rewrite.emit import module
from agents.rewrite.kernel import MustBeStored
from agents.rewrite.loops.lengths import recurrence
from agents.rewrite.loops.recurrence import NoLoop, Recurrence, State
from agents.rewrite.loops.source import Walk
from agents.rewrite.plan import Plan, plan, unfused
from agents.rewrite.program import Number, Op, Program, Ref
from agents.rewrite.sizes import NotExpressible, Sizes
from tasks.definition import Definition
from tasks.task import Task

_FORMS = ((512, 8), (512, 4), (256, 8), (1024, 8), (2048, 8), (256, 4))
"""Values a program holds, and how many steps ahead loads are asked for; the likeliest first."""
_NAME = "_walk"


def loop_sources(task: Task) -> Iterator[tuple[str, str]]:
    """(Strategy, source), the likeliest first; `NoLoop` when the reference has no loop that one kernel could walk."""
    largest = max(
        prod(shape)
        for workload in task.workloads
        for shapes in (
            task.definition.input_shapes(workload.axes),
            task.definition.output_shapes(workload.axes),
        )
        for shape in shapes.values()
        if shape is not None
    )
    if largest >= 2**31:
        raise NoLoop("places of a tensor are too many for 32 bits")
    loop = with_finals_kept(recurrence(task.definition, task.workloads))
    for width, stages in _FORMS:
        whole = f"one kernel walks the loop's steps, {width} values a program, {stages} steps ahead"
        yield whole, source(loop, task.definition, f"{whole[0].upper()}{whole[1:]}.", width, stages)


def source(loop: Recurrence, definition: Definition, opening: str, width: int, stages: int) -> str:
    taken = {*loop.types, *loop.before, *loop.body, *loop.after, *loop.inputs, _NAME}
    try:
        walk = Walk(loop, Sizes(definition, loop.followed, taken), _NAME, width, stages)
        return module(_planned(_program(loop, walk)), definition, opening, 4096)
    except NotExpressible as error:
        raise NoLoop(str(error)) from error


def with_finals_kept(loop: Recurrence) -> Recurrence:
    """Every value of the last step that is read after the loop is one that a step leaves for the next."""
    before, states, types = dict(loop.before), dict(loop.states), dict(loop.types)
    always = any(
        all(count == workload.axes[axis] for count, workload in zip(loop.count, loop.followed, strict=True))
        for axis in loop.followed[0].axes
    )
    for source_name in loop.finals.values():
        if any(state.next == source_name for state in states.values()):
            continue
        if not always:
            raise NoLoop("what the last step made is read, and there may be no step")
        empty = f"{source_name}_none"
        types[empty] = types[f"{source_name}_before"] = types[source_name]
        sizes = tuple(Number(size) for size in types[source_name].shape)
        before[empty] = Op(empty, "zeros.default", (sizes,))
        states[f"{source_name}_before"] = State(empty, source_name)
    return replace(loop, before=before, states=states, types=types)


def _program(loop: Recurrence, walk: Walk) -> Program:
    """The reference with one call in the place of the loop."""
    arguments = (*(Ref(name) for name in walk.tensors), *walk.numbers)
    ops = {**loop.before, "walked": Op("walked", f"helper.{_NAME}", arguments)}
    for place, name in enumerate(walk.outputs):
        ops[name] = Op(name, "getitem", (Ref("walked"), Number((place,) * len(loop.count))))
    ops |= loop.after
    types = {
        name: typed for name, typed in loop.types.items() if name not in loop.body and name not in loop.states
    }
    program = Program(
        loop.followed, loop.inputs, types, ops, loop.results, loop.constants, {_NAME: walk.source}
    )
    try:
        return cleaned(program)
    except Impure as error:
        raise NoLoop(str(error)) from error


def _planned(program: Program) -> Plan:
    try:
        return plan(program) or unfused(program)
    except MustBeStored:
        return unfused(program)
