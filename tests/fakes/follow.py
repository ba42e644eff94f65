"""Small problems, and the in-process way to follow a candidate through them."""

import time
from pathlib import Path
from typing import Any

from guard.cross_compile.request import Request
from tasks.definition import Definition
from tasks.gpu import Gpu, load_gpu
from tasks.solution import BuildSpec, Language, Solution, SourceFile
from tasks.workload import Workload


def problem(
    inputs: dict[str, tuple[str, list[str]]], outputs: dict[str, tuple[str, list[str]]], body: str = "pass"
) -> Definition:
    """A definition from `name: (dtype, axes)`; every axis is a variable one."""
    tensors = {**inputs, **outputs}
    axes = {axis: {"type": "var"} for _, shape in tensors.values() for axis in shape}
    return Definition.model_validate(
        {
            "name": "problem",
            "axes": axes,
            "inputs": {name: {"dtype": dtype, "shape": shape} for name, (dtype, shape) in inputs.items()},
            "outputs": {name: {"dtype": dtype, "shape": shape} for name, (dtype, shape) in outputs.items()},
            "reference": f"import torch\ndef run({', '.join(inputs)}):\n    {body}\n",
        }
    )


ADD = problem({"x": ("float32", ["n"]), "y": ("float32", ["n"])}, {"out": ("float32", ["n"])}, "return x + y")
NORM = problem(
    {"x": ("bfloat16", ["rows", "width"]), "weight": ("bfloat16", ["width"])},
    {"out": ("bfloat16", ["rows", "width"])},
    "h = x.float(); return (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6) * weight.float()).to(x.dtype)",
)
PRODUCT = problem(
    {"a": ("bfloat16", ["m", "k"]), "b": ("bfloat16", ["k", "n"])},
    {"c": ("bfloat16", ["m", "n"])},
    "return a @ b",
)
ATTENTION = problem(
    {name: ("bfloat16", ["batch", "heads", "length", "depth"]) for name in ("q", "k", "v")},
    {"out": ("bfloat16", ["batch", "heads", "length", "depth"])},
    "return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)",
)


def workload(definition: Definition, **axes: int) -> Workload:
    inputs: dict[str, Any] = {name: {"type": "random"} for name in definition.inputs}
    return Workload(axes=axes, inputs=inputs, uuid="-".join(f"{k}{v}" for k, v in axes.items()))


def solution(source: str, language: str = "triton", fills_outputs: bool = False) -> Solution:
    path = "kernel.cu" if Language(language).is_cpp else "main.py"
    spec = BuildSpec.model_validate(
        {
            "languages": [language],
            "target_hardware": ["B200"],
            "entry_point": f"{path}::run",
            "destination_passing_style": fills_outputs,
        }
    )
    return Solution(
        name="s",
        definition="problem",
        author="a",
        spec=spec,
        sources=(SourceFile(path=path, content=source),),
    )


def follow(
    source: str,
    definition: Definition,
    folder: Path,
    *workloads: Workload,
    gpu: str | Gpu = "H200",
    small: dict[str, Workload] | None = None,
    language: str = "triton",
    fills_outputs: bool = False,
) -> Any:
    """The examination of `source`, in this process; for sources of our own only."""
    from guard.cross_compile.candidate_code import lay_out
    from guard.cross_compile.examination import examine_python

    target = gpu if isinstance(gpu, Gpu) else load_gpu(gpu)
    what = solution(source, language, fills_outputs)
    request = Request(
        solution=what, definition=definition, workloads=workloads, small=small or {}, gpus=(target,),
        folder=str(folder), limit_s=60,
    )  # fmt: skip
    lay_out(what, folder)
    return examine_python(request, target, folder, time.monotonic() + 60)
