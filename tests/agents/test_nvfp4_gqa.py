"""Attention over an NVFP4 cache: what is recognised, and that the kernels are right under the interpreter."""

from pathlib import Path
from typing import Any

import pytest
import torch

from agents.templates.nvfp4_gqa import Nvfp4GqaFamily
from tasks.loading import load
from tests.agents.interpreted import run_interpreted

FAMILY = Nvfp4GqaFamily()
TASK = load("quant_nvfp4_gqa")
WIDTH = 64
"""Of the tokens; the heads' sizes are written into the reference."""


def namespace() -> dict[str, Any]:
    made: dict[str, Any] = {}
    exec(compile(TASK.definition.reference, "reference", "exec"), made)
    return made


def test_inputs_are_told_apart() -> None:
    match = FAMILY.matches(TASK)
    assert match is not None
    assert (match.token.codes, match.weight.scales) == ("token_fp4", "weight_scale")
    assert (match.key.factor, match.value.codes) == ("key_cache_global_scale", "value_cache_fp4")
    assert (match.query_heads, match.kv_heads, match.head_dim, match.output) == (32, 8, 128, "attended")


@pytest.mark.parametrize("name", ["quant_nvfp4_linear", "quant_fp8_linear", "fi_paged_decode"])
def test_others_are_left_alone(name: str) -> None:
    assert FAMILY.matches(load(name)) is None


def test_every_code_and_scale_is_decoded_exactly() -> None:
    """What the kernel does with bits: an fp16 number of the code's bits times a scale 2^7 too large."""
    codes = torch.arange(16, dtype=torch.int16)
    bits = ((codes & 7) << 9) | ((codes & 8) << 12)
    scales = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).float()
    scales = scales[scales.isfinite()]
    decoded = bits.view(torch.float16)[:, None] * (scales * 128).half()
    magnitude = torch.tensor(namespace()["E2M1"])
    wanted = torch.cat([magnitude, -magnitude])[:, None] * scales
    assert torch.equal(decoded.float() * 2**7, wanted)


def test_kernels_are_right_for_any_lengths(tmp_path: Path) -> None:
    torch.manual_seed(1)
    match, reference = FAMILY.matches(TASK), namespace()
    assert match is not None
    calls, wanted = [], []
    for batch, new, cached in ((2, 3, 77), (1, 17, 0), (1, 1, 130)):
        axes = {"batch_size": batch, "new_tokens": new, "cached_tokens": cached}
        sizes = {**TASK.definition.resolve_axes(axes), "hidden_size": WIDTH}
        inputs = list(reference["get_inputs"](sizes, "cpu").values())
        inputs[6] = torch.stack([inputs[6].view(torch.uint8)] * 2)[1].view(inputs[6].dtype)
        wanted.append(reference["run"](*inputs))
        # where the output is part of a larger one
        calls.append((inputs, [torch.full((*wanted[-1].shape, 2), float("nan")).bfloat16()[..., 1]]))
    (tmp_path / "k.py").write_text(FAMILY.render(match, FAMILY.knobs(match).start[0]).source)
    (results,) = run_interpreted([(tmp_path / "k.py", calls)], tmp_path)
    for (output,), truth in zip(results, wanted, strict=True):
        # as the task tolerates: products of fp16 and weights rounded to it
        assert torch.allclose(output.float(), truth.float(), rtol=2**-6, atol=2**-6)
