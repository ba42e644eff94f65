"""Inputs as the official generator draws them, and fresh ones of our own."""

import hashlib
import inspect
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tasks.errors import TaskError
from tasks.inputs import InputGenerator, load_reference, seed_all
from tasks.inputs_fp4 import pack_fp4
from tests.fakes.definitions import definition, workload

RECORDED = json.loads((Path(__file__).parent / "recorded" / "random_inputs.json").read_text())
"""Made by the public evaluator's own generator, at the commit and with the torch that stand in it."""


def digested(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    content = value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return [str(value.dtype), list(value.shape), hashlib.sha256(content).hexdigest()[:16]]


@pytest.fixture
def recorded_generator() -> InputGenerator:
    here = (torch.__version__, torch.backends.cpu.get_cpu_capability())
    if here != (RECORDED["torch"], RECORDED["cpu"]):
        pytest.skip(f"recorded with {RECORDED['torch']} on {RECORDED['cpu']}, and this is {here}")
    inputs = {i["name"]: {k: i[k] for k in ("shape", "dtype", "description")} for i in RECORDED["inputs"]}
    made = definition(inputs, {"rows": None, "cols": 8, "twice": "rows * 2"})
    given = {name: {"type": "scalar", "value": value} for name, value in RECORDED["given"].items()}
    return InputGenerator(made, workload(RECORDED["axes"], **given))


@pytest.mark.parametrize(
    "number", range(len(RECORDED["inputs"])), ids=[i["name"] for i in RECORDED["inputs"]]
)
def test_every_rule_gives_the_bits_of_the_public_evaluator(
    recorded_generator: InputGenerator, number: int
) -> None:
    seed_all(RECORDED["seed"])
    for expected in RECORDED["rounds"]:
        assert digested(recorded_generator.make()[number]) == expected[number]


def test_a_seed_decides_all_values_and_leaves_the_official_stream_alone() -> None:
    made = definition({"x": "float32 n", "i": "int32 n", "s": "float32 ()"}, {"n": None})
    generator = InputGenerator(made, workload({"n": 64}))
    seed_all(200)
    undisturbed = [generator.make(), generator.make()]
    seed_all(200)
    first, fresh, again, other = generator.make(), generator.make(7), generator.make(7), generator.make(8)
    second = generator.make()
    assert all(same(a, b) for a, b in zip(undisturbed, [first, second], strict=True))
    assert same(fresh, again)
    assert not same(fresh, other)
    assert not same(fresh, first)


def test_custom_functions_that_draw_from_anywhere_are_seeded_and_isolated() -> None:
    code = (
        "import random, torch, numpy\n"
        "def get_inputs(axes, device):\n"
        "    parts = [random.random(), numpy.random.rand(), torch.rand(()).item()]\n"
        "    return {'x': torch.tensor(parts, device=device) * axes['n']}\n"
        "def run(x):\n    return x\n"
    )
    made = definition({"x": "float32 3"}, {"n": None}, reference=code, custom_inputs_entrypoint="get_inputs")
    generator = InputGenerator(made, workload({"n": 5}, x={"type": "custom"}))
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    assert same(generator.make(3), generator.make(3))
    assert (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()) == states
    assert not same(generator.make(), generator.make())


def test_the_custom_function_is_called_before_random_draws_even_when_nothing_is_custom() -> None:
    code = "import torch\ndef get_inputs(axes, device):\n    torch.rand(1000)\n    return {}\ndef run(x):\n    return x\n"
    plain = definition({"x": "float32 n"}, {"n": None})
    moved = definition({"x": "float32 n"}, {"n": None}, reference=code, custom_inputs_entrypoint="get_inputs")
    seed_all(200)
    without = InputGenerator(plain, workload({"n": 4})).make()
    seed_all(200)
    assert not same(without, InputGenerator(moved, workload({"n": 4})).make())
    seed_all(200)
    torch.rand(1000)
    expected = torch.randn(4)
    seed_all(200)
    assert same([expected], InputGenerator(moved, workload({"n": 4})).make())


def test_the_custom_function_gets_resolved_axes_scalars_and_the_device() -> None:
    code = (
        "def get_inputs(axes, device):\n"
        "    return {'x': axes['twice'] + axes['extra'], 'd': ('cpu', 'cuda').index(device.type)}\n"
        "def run(x, d):\n    return x\n"
    )
    custom = {"x": {"type": "custom"}, "d": {"type": "custom"}}
    made = definition(
        {"x": "int32 ()", "d": "int32 ()"}, {"n": None, "twice": "n * 2"},
        reference=code, custom_inputs_entrypoint="get_inputs",
    )  # fmt: skip
    assert InputGenerator(made, workload({"n": 3, "extra": 10}, **custom)).make() == [16, 0]


def test_a_custom_input_that_is_not_made_is_the_definitions_fault() -> None:
    code = "def get_inputs(axes, device):\n    return {}\ndef run(x):\n    return x\n"
    made = definition({"x": "float32 n"}, {"n": None}, reference=code, custom_inputs_entrypoint="get_inputs")
    generator = InputGenerator(made, workload({"n": 3}, x={"type": "custom"}))
    with pytest.raises(TaskError, match="'x' is not among what 'get_inputs' made"):
        generator.make()


def test_variation_touches_what_is_otherwise_constant_and_only_that() -> None:
    made = definition(
        {
            "q_norm_weight": "bfloat16 n",
            "norm1_bias": "float32 n",
            "attention_mask": "float32 n n",
            "x": "float32 n",
        },
        {"n": None},
    )
    generator = InputGenerator(made, workload({"n": 256}))
    plain, varied = generator.make(5), generator.vary(5)
    weight, bias, mask, _ = (t for t in varied if isinstance(t, torch.Tensor))
    assert weight.dtype is torch.bfloat16
    assert 0.8 < float(weight.float().mean()) < 1.2
    assert 0.05 < float(weight.float().std()) < 0.2
    assert 0.05 < float(bias.std()) < 0.2
    assert same([plain[2]], [mask])
    assert same(generator.vary(5), varied)


def test_a_causal_mask_hides_what_comes_later() -> None:
    made = definition({"attention_mask": "bfloat16 2 n n"}, {"n": None})
    (mask,) = InputGenerator(made, workload({"n": 3})).make()
    assert isinstance(mask, torch.Tensor)
    lowest = torch.finfo(torch.bfloat16).min
    assert mask[1].tolist() == [[0, lowest, lowest], [0, 0, lowest], [0, 0, 0]]


def test_fp4_values_are_rounded_to_even_codes_and_packed_low_nibble_first() -> None:
    ties = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 9.0]
    codes = [0, 2, 2, 4, 4, 6, 6, 7]
    packed = pack_fp4(torch.tensor([ties, [-t for t in ties]])).view(torch.uint8)
    nibbles = torch.stack([packed & 15, packed >> 4], dim=-1).reshape(2, -1).tolist()
    assert nibbles == [codes, [8 + code for code in codes]]
    assert pack_fp4(torch.tensor([math.nan, -0.0])).view(torch.uint8).tolist() == [0]


@pytest.mark.parametrize(
    "said", ["float4_e2m1fn_x2 ()", "float4_e2m1fn_x2", "float4_e2m1fn_x2 3", "float64 3"]
)
def test_what_has_no_official_draw_is_said_to_be_undefined(said: str) -> None:
    with pytest.raises(TaskError, match=r"cannot be packed|not defined"):
        InputGenerator(definition({"x": said}, {"n": None}), workload({"n": 3})).make()


def test_the_references_source_is_found_by_inspect_and_shown_in_tracebacks() -> None:
    made = definition({"x": "float32 n"}, {"n": None}, reference="def run(x):\n    return x / 'seven'\n")
    reference = load_reference(made)
    assert inspect.getsource(reference.run) == made.reference
    with pytest.raises(TypeError) as raised:
        reference.run(1.0)
    assert str(raised.traceback[-1].statement).strip() == "return x / 'seven'"


def test_triton_kernels_in_a_reference_find_their_source() -> None:
    code = (
        "import triton\nimport triton.language as tl\n"
        "@triton.jit\ndef kernel(x):\n    tl.store(x, 1)\n"
        "def run(x):\n    return kernel.src\n"
    )
    made = definition({"x": "float32 n"}, {"n": None}, reference=code)
    assert load_reference(made).run(0) == "def kernel(x):\n    tl.store(x, 1)\n"


def test_run_and_custom_share_one_namespace() -> None:
    code = (
        "kept = []\n"
        "def get_inputs(axes, device):\n    kept.append(1)\n    return {'x': 1}\n"
        "def run(x):\n    return len(kept)\n"
    )
    made = definition({"x": "int32 ()"}, {"n": None}, reference=code, custom_inputs_entrypoint="get_inputs")
    reference = load_reference(made)
    generator = InputGenerator(made, workload({"n": 1}, x={"type": "custom"}), reference=reference)
    generator.make()
    generator.make()
    assert reference.run(1) == 2


def test_a_reference_that_does_not_import_is_the_definitions_fault() -> None:
    made = definition(
        {"x": "float32 n"}, {"n": None}, reference="import no_such_module\ndef run(x):\n    return x\n"
    )
    with pytest.raises(TaskError, match="reference does not run: ModuleNotFoundError"):
        load_reference(made)


def same(ours: list[Any], theirs: list[Any]) -> bool:
    return [digested(value) for value in ours] == [digested(value) for value in theirs]
