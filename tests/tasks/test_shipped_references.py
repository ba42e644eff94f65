"""What the shipped references compute, held against answers written a second time."""

from functools import cache

import pytest
import torch

from scripts.alternatives import CASES
from scripts.shipped import SHIPPED
from scripts.tolerance_table import compare
from tasks.inputs import InputGenerator, load_reference

BY_NAME = {task.name: task for task in SHIPPED}
ALTERNATIVES = [
    pytest.param(task, name, id=f"{task.name}: {name}")
    for task in SHIPPED
    for name in (*CASES[task.name].honest, *CASES[task.name].wrong)
]
BLIND_WHEN_SMALL = {"last 128 keys", "without the 128 oldest keys"}
"""Nothing is left out at sizes this small; `scripts/tolerance_table.py` tries them at larger ones."""


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def asked(task):
    """(definition, axes, inputs, expected outputs) at the small size."""
    return made(task.name)


@cache
def made(name):
    task = BY_NAME[name]
    definition, axes = task.definition(), dict(CASES[task.name].small)
    workload = task.workloads()[0].model_copy(update={"axes": axes})
    reference = load_reference(definition)
    inputs = InputGenerator(definition, workload, reference=reference).make(seed=7)
    found = reference.run(*inputs)
    return definition, axes, inputs, found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("task", SHIPPED, ids=lambda task: task.name)
def test_inputs_and_outputs_have_the_declared_shapes_and_dtypes(task):
    definition, axes, inputs, outputs = asked(task)
    given = [
        *zip(inputs, definition.inputs.values(), definition.input_shapes(axes).values(), strict=True),
        *zip(outputs, definition.outputs.values(), definition.output_shapes(axes).values(), strict=True),
    ]
    for value, spec, shape in given:
        if shape is None:
            assert isinstance(value, int | float)
            continue
        assert tuple(value.shape) == shape
        assert str(value.dtype) == f"torch.{spec.dtype.value}"
        assert value.is_contiguous()
        if value.element_size() > 1:
            assert torch.isfinite(value).all()


@pytest.mark.parametrize("task", SHIPPED, ids=lambda task: task.name)
def test_a_reference_leaves_its_inputs_alone_and_answers_the_same_twice(task):
    definition, _, inputs, outputs = asked(task)
    before = [v.view(torch.uint8).clone() if isinstance(v, torch.Tensor) else v for v in inputs]
    again = load_reference(definition).run(*inputs)
    for value, kept in zip(inputs, before, strict=True):
        assert (
            torch.equal(value.view(torch.uint8), kept) if isinstance(value, torch.Tensor) else value == kept
        )
    for first, second in zip(outputs, again if isinstance(again, tuple) else (again,), strict=True):
        assert torch.equal(first, second)


@pytest.mark.parametrize(("task", "name"), ALTERNATIVES)
def test_honest_arithmetic_passes_with_a_margin_and_wrong_answers_do_not(task, name):
    if name in BLIND_WHEN_SMALL:
        pytest.skip("leaves nothing out at this size")
    case = CASES[task.name]
    _, _, inputs, expected = asked(task)
    alternative = case.honest.get(name) or case.wrong[name]
    outputs = alternative(*inputs)
    assert [o.dtype for o in outputs] == [e.dtype for e in expected]
    matched, _ = compare(outputs, expected, task.tolerance)
    if name in case.honest:
        assert matched >= 0.995  # few elements here; scripts/tolerance_table.py asks for 0.999 of many
    else:
        assert matched < task.tolerance.required_matched_ratio
