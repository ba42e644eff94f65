"""Expert layers and decoder layers: what is recognised, and that the kernels are right on small layers."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from agents.templates import FAMILIES
from agents.templates.moe_backward.recognise import gradients
from agents.templates.moe_fp8.recognise import layer
from guard.cross_compile import examine
from guard.programs import Programs
from tasks.loading import load
from tasks.solution import Hardware
from tests.agents.interpreted import Call, run_interpreted
from tests.agents.small import draw, expected, shipped, worst_error

BELONG = {
    "l2_moe_backward": "moe_backward",
    "fi_moe_fp8": "moe_fp8",
    "l2_decoder": "decoder",
    "l2_mlp_block": "decoder",
}
OFFICIAL = {
    "L2/025_moe_expert_parallel_execution_backward": "moe_backward",
    "FlashInfer-Bench/020_moe_fp8_block_scale_ds_routing_topk8_ng8_kg4_e32_h7168_i2048": "moe_fp8",
    "L2/059_decoder_layer_full_block": "decoder",
    "L1/088_rotary_position_embedding_application": "rope",
}
OURS = ("swiglu", "rope", "rows_backward", "moe_backward", "moe_fp8", "decoder")


@pytest.mark.parametrize("name", BELONG)
def test_shipped_layers_are_recognised_by_their_family(name: str) -> None:
    task = load(name)
    assert [family for family in OURS if FAMILIES[family].matches(task) is not None] == [BELONG[name]]


@pytest.mark.skipif("SOL_EXECBENCH_DATA" not in os.environ, reason="needs SOL_EXECBENCH_DATA")
@pytest.mark.parametrize("name", OFFICIAL)
def test_official_layers_are_recognised_by_their_family(name: str) -> None:
    task = load(name)
    assert [family for family in OURS if FAMILIES[family].matches(task) is not None] == [OFFICIAL[name]]


def test_roles_that_shapes_cannot_tell_are_told_by_numbers() -> None:
    """The reference with its two gradients given in another order, and then with a product left out."""
    task = load("l2_moe_backward")
    reference = task.definition.reference
    swapped = reference.replace("return grad_tokens.to(tokens.dtype), grad_slot_weight, grad_gate, grad_up,",
                                "return grad_tokens.to(tokens.dtype), grad_slot_weight, grad_up, grad_gate,")  # fmt: skip
    wrong = reference.replace("slope = sigmoid * (1.0 + before_gate * (1.0 - sigmoid))", "slope = sigmoid")
    assert reference not in (swapped, wrong)

    def with_text(text: str) -> Any:
        definition = task.definition.model_copy(update={"reference": text})
        return FAMILIES["moe_backward"].matches(task.model_copy(update={"definition": definition}))

    assert (with_text(reference).to_gate, with_text(swapped).to_gate) == ("grad_gate", "grad_up")
    assert with_text(wrong) is None


def expert_inputs(
    form: Any, tokens: int, experts: int, hidden: int, inner: int, strays: bool
) -> dict[str, Any]:
    """The last expert gets no slot; `strays` are slots of no expert."""

    def normal(*shape: int, std: float = 1.0) -> torch.Tensor:
        return (torch.randn(shape, generator=generator) * std).bfloat16()

    generator = torch.Generator().manual_seed(tokens)
    chosen = torch.randint(
        -1 if strays else 0, max(1, experts - 1), (tokens, form.slots), generator=generator
    )
    made = {
        form.upstream: normal(tokens, hidden), form.tokens: normal(tokens, hidden), form.chosen: chosen.int(),
        form.share: torch.rand(tokens, form.slots, generator=generator),
        form.gate: normal(experts, inner, hidden, std=hidden**-0.5),
        form.up: normal(experts, inner, hidden, std=hidden**-0.5),
        form.down: normal(experts, hidden, inner, std=inner**-0.5),
    }  # fmt: skip
    return {name: made[name] for name in form.inputs}


def test_gradients_of_experts_are_right_for_odd_sizes_and_idle_experts(tmp_path: Path) -> None:
    family = FAMILIES["moe_backward"]
    form = family.matches(load("l2_moe_backward"))
    sizes = ((1, 1, 16, 8, False), (13, 3, 70, 37, False), (5, 3, 32, 16, True))
    jobs, wanted = [], []
    for number, (size, knobs) in enumerate(zip(sizes, family.knobs(form).start, strict=False)):
        inputs = expert_inputs(form, *size)
        wide = {n: t.double() if t.is_floating_point() else t.long() for n, t in inputs.items()}
        if size[-1]:  # a slot of no expert weighs nothing, and nor does its routing weight
            stray = wide[form.chosen] < 0
            wide[form.chosen], wide[form.share] = (
                wide[form.chosen].clamp(min=0),
                wide[form.share].masked_fill(stray, 0),
            )
        truths = gradients(form, wide)
        if size[-1]:
            truths[form.outputs.index(form.to_share)][stray] = 0
        outputs = [torch.full(t.shape, float("nan"), dtype=torch.bfloat16) for t in truths]
        outputs[form.outputs.index(form.to_share)] = torch.full(truths[1].shape, float("nan"))
        path = tmp_path / f"experts_{number}.py"
        path.write_text(family.render(form, knobs).source)
        jobs.append((path, [(list(inputs.values()), outputs)]))
        wanted.append(truths)
    for (outputs,), truths in zip(run_interpreted(jobs, tmp_path), wanted, strict=True):
        for output, truth in zip(outputs, truths, strict=True):
            assert (output.double() - truth).abs().max() <= 0.01 * truth.abs().max()


@pytest.mark.parametrize("official", [False, True])
def test_an_fp8_expert_layer_is_right(official: bool, tmp_path: Path) -> None:
    if official and "SOL_EXECBENCH_DATA" not in os.environ:
        pytest.skip("needs SOL_EXECBENCH_DATA")
    family = FAMILIES["moe_fp8"]
    name = next(n for n in OFFICIAL if "moe_fp8" in n) if official else "fi_moe_fp8"
    form = family.matches(load(name))
    path = tmp_path / "experts.py"
    path.write_text(family.render(form, family.knobs(form).start[2]).source)
    calls: list[Call] = []
    truths = []
    for tokens, local, experts in ((5, 3, 24), (1, 2, 16)):
        generator = torch.Generator().manual_seed(tokens)

        def normal(*shape: int, of: torch.Generator = generator) -> torch.Tensor:
            return torch.randn(shape, generator=of)

        scale = normal(tokens, 1).abs() + 0.5
        inputs = {
            form.logits: normal(tokens, experts), form.correction: (0.05 * normal(experts)).bfloat16(),
            form.tokens: normal(tokens, 128).to(torch.float8_e4m3fn),
            form.token_scale: scale.T.contiguous() if form.scale_is_transposed else scale,
            form.into: (4 * normal(local, 256, 128)).to(torch.float8_e4m3fn),
            form.into_scale: (normal(local, 2, 1).abs() + 0.5) / 64,
            form.out_of: (4 * normal(local, 128, 128)).to(torch.float8_e4m3fn),
            form.out_of_scale: (normal(local, 1, 1).abs() + 0.5) / 64,
            form.first_local: local, form.routed_scale: 2.5,
        }  # fmt: skip
        wide = {n: t.double() if isinstance(t, torch.Tensor) else t for n, t in inputs.items()}
        truths.append(layer(form, wide))
        output = torch.full((tokens, 128), float("nan"), dtype=torch.bfloat16)
        calls.append(([inputs[name] for name in form.inputs], [output]))
    (results,) = run_interpreted([(path, calls)], tmp_path)
    for (output,), truth in zip(results, truths, strict=True):
        assert (output.double() - truth).abs().max() <= 0.05 * truth.abs().max()


def test_decoder_layers_are_right(tmp_path: Path) -> None:
    attention = {"hidden_size": 48, "query_width": 256, "kv_width": 128, "inner_size": 40}
    tasks = (
        shipped("l2_decoder", attention, {"batch_size": 2, "seq_len": 7}),
        shipped("l2_mlp_block", {"hidden_size": 48, "inner_size": 40}, {"num_tokens": 9}),
    )
    jobs, wanted = [], []
    for task in tasks:
        form, inputs = FAMILIES["decoder"].matches(task), draw(task)
        proposal = FAMILIES["decoder"].render(form, FAMILIES["decoder"].knobs(form).start[0])
        truths = expected(task, inputs)
        path = tmp_path / f"{task.name}.py"
        path.write_text(proposal.source)
        jobs.append((path, [(list(inputs.values()), [torch.full_like(t, float("nan")) for t in truths])]))
        wanted.append(truths)
    for (outputs,), truths in zip(run_interpreted(jobs, tmp_path), wanted, strict=True):
        assert worst_error(outputs, truths) < 0.05


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") == "1", reason="the interpreter does not compile")
@pytest.mark.parametrize(
    ("family", "name"),
    [("swiglu", "l1_swiglu"), ("rope", "l1_rope"), *((family, name) for name, family in BELONG.items())],
)
def test_what_is_tried_first_compiles_for_hopper_and_blackwell_and_hardly_spills(
    family: str, name: str, tmp_path: Path, programs: Programs
) -> None:
    task = load(name)
    task = task.model_copy(update={"workloads": task.workloads[2:3]})
    match = FAMILIES[family].matches(task)
    proposal = FAMILIES[family].render(match, FAMILIES[family].knobs(match).start[0])
    candidate = proposal.candidate(task, "template", Hardware.B200)
    reports, _ = examine(candidate, task, ("sm_90a", "sm_100a"), None, tmp_path, programs=programs)
    for report in reports:
        assert report.ok and report.kernels, report.error
        assert all(kernel.spill_bytes <= 64 for kernel in report.kernels), report.kernels
