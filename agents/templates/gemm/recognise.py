"""From a task to a `Gemm`: one output, each element of it made from one or two products and their neighbours."""

import math

from agents.reading.kinds import Kind, kind_of_spec
from agents.reading.reading import Reading
from agents.reading.straighten import NotStraight
from agents.templates.gemm.epilogue import Epilogue, NotPointwise
from agents.templates.gemm.form import Gemm, Product, Shape
from tasks.task import Task


def recognise(task: Task) -> Gemm | None:
    """None unless the one output is pointwise in one or two products of the same rows."""
    try:
        reading = Reading(task.definition)
    except NotStraight:
        return None
    if len(task.definition.outputs) != 1 or len(reading.results) != 1:
        return None
    (output,) = task.definition.outputs
    shape = _output_shape(task, output, reading)
    if len(shape) < 2 or not isinstance(shape[-1], int | str):
        return None
    epilogue = Epilogue(reading, shape[-1], shape)
    try:
        result = epilogue.write(reading.results[0])
    except NotPointwise:
        return None
    return _completed(task, epilogue, output, result)


def _completed(task: Task, epilogue: Epilogue, output: str, result: str) -> Gemm | None:
    products, names = tuple(epilogue.products), [*epilogue.tiles, *epilogue.vectors]
    if len(products) not in (1, 2) or len(epilogue.rows) != 1 or len({p.transposed for p in products}) != 1:
        return None
    (rows,) = epilogue.rows
    if len({rows, *(p.weight for p in products), *names}) != 1 + len(products) + len(names):
        return None
    return Gemm(
        inputs=tuple(task.definition.inputs),
        rows=rows,
        products=products,
        element=task.definition.inputs[rows].dtype.value,
        steps=tuple(epilogue.steps),
        result=result,
        tiles=tuple(epilogue.tiles),
        vectors=tuple(epilogue.vectors),
        scalars=tuple(epilogue.scalars),
        output=output,
        shapes=_shapes(task, rows, products[0]),
    )


def _output_shape(task: Task, output: str, reading: Reading) -> tuple[int | str | None, ...]:
    kind = kind_of_spec(task.definition, task.definition.outputs[output])
    return (kind.shape or ()) if isinstance(kind, Kind) else ()


def _shapes(task: Task, rows: str, product: Product) -> tuple[Shape, ...]:
    found: dict[Shape, None] = {}
    for workload in task.workloads:
        shapes = task.definition.input_shapes(workload.axes)
        many, weight = shapes[rows], shapes[product.weight]
        assert many is not None and weight is not None
        columns = weight[0] if product.transposed else weight[1]
        found[math.prod(many[:-1]), columns, many[-1]] = None
    return tuple(found)
