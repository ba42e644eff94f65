"""A GPU as data: what it can do at most, what was measured of it, and where each figure comes from."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from tasks.errors import TaskError
from tasks.value import Value
from tasks.yaml_file import read_yaml

FOLDER = Path(__file__).with_name("hardware")
Arithmetic = Literal["fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "nvfp4", "int8"]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0)]
Fraction = Annotated[float, Field(gt=0, le=1)]


class Clocks(Value):
    """MHz. `locked` is the preset that the official evaluator locks to, `boost` the highest SM clock."""

    locked_sm: Positive | None = None
    locked_memory: Positive | None = None
    boost_sm: Positive


class Efficiency(Value):
    """The share of a peak that good code of one kind reaches."""

    fraction: Fraction
    source: str
    """What was measured, or which other card it is carried over from."""


class Efficiencies(Value):
    """Shares of the memory bandwidth (`copies` to `weights`) and of the arithmetic peak (the others)."""

    copies: Efficiency
    """One pass of element-wise work, read and written once."""
    rows: Efficiency
    """A library's row-wise norm or softmax."""
    fused: Efficiency
    """What torch.compile makes of a chain with a reduction in it."""
    written_rows: Efficiency
    """A hand-written kernel that reduces."""
    gather: Efficiency
    """Rows picked by an index."""
    weights: Efficiency
    """The library's matrix products where few rows meet a large matrix that has to be streamed."""
    gemm: dict[Arithmetic, Efficiency]
    attention: Efficiency
    """A library's fused attention as torch chooses it, of the peak of its format."""
    cudnn_attention: Efficiency
    """The same where only the cuDNN backend is allowed."""
    written_gemm: Efficiency
    """A matrix product written in Triton or CUDA, as a share of what the library's reaches."""
    vector: Efficiency
    """Arithmetic outside the matrix units, of the fp32 peak."""


class Gpu(Value):
    """One product at the clocks its `peaks_tflops` are quoted at; dense figures, never with sparsity."""

    name: str
    target: Annotated[str, Field(pattern=r"^sm_\d{2,3}[af]?$")]
    """What the compilers call it, such as `sm_100a`."""
    sms: Count
    memory_gib: Positive
    bandwidth_tb_per_s: Positive
    """10^12 bytes a second."""
    l2_mib: Positive
    l2_tb_per_s: Positive
    shared_kib_per_sm: Count
    shared_kib_per_block: Count
    """The most that one block may ask for (the opt-in limit)."""
    registers_per_sm: Count = 65536
    threads_per_sm: Count = 2048
    blocks_per_sm: Count = 32
    tensor_memory_columns: int = 0
    """512 where there is tensor memory (sm_100), otherwise 0."""
    clocks_mhz: Clocks
    peaks_tflops: dict[Arithmetic, Positive]
    """10^12 operations a second; a multiply-add is two."""
    peaks_source: str
    efficiencies: Efficiencies
    kernel_floor_us: Positive
    """The shortest that a kernel takes, however little it does."""
    kernel_gap_us: Annotated[float, Field(ge=0)]
    """From the end of a kernel to the start of the next in a chain that the host keeps fed."""
    overhead_source: str

    @property
    def capability(self) -> tuple[int, int]:
        """The compute capability: (10, 0) for `sm_100a`."""
        number = int(self.target.removeprefix("sm_").rstrip("af"))
        return divmod(number, 10)

    @property
    def bandwidth(self) -> float:
        """Bytes a millisecond."""
        return self.bandwidth_tb_per_s * 1e9

    @property
    def l2_bandwidth(self) -> float:
        """Bytes a millisecond that all SMs together read from the second-level cache."""
        return self.l2_tb_per_s * 1e9

    def peak(self, arithmetic: Arithmetic) -> float:
        """Operations a millisecond; a format the card lacks runs at the speed of the next wider one."""
        for candidate in (arithmetic, *_WIDER[arithmetic]):
            if candidate in self.peaks_tflops:
                return self.peaks_tflops[candidate] * 1e9
        return self.peaks_tflops["fp32"] * 1e9

    @model_validator(mode="after")
    def _has_the_peaks_everything_falls_back_to(self) -> Gpu:
        missing = [name for name in ("fp32", "bf16") if name not in self.peaks_tflops]
        if missing:
            raise ValueError(f"peaks_tflops lacks {missing}")
        if self.shared_kib_per_block > self.shared_kib_per_sm:
            raise ValueError("shared_kib_per_block is larger than shared_kib_per_sm")
        return self


_WIDER: dict[Arithmetic, tuple[Arithmetic, ...]] = {
    "nvfp4": ("fp8", "bf16"),
    "fp8": ("bf16",),
    "int8": ("bf16",),
    "fp16": ("bf16",),
    "bf16": (),
    "tf32": ("fp32",),
    "fp32": (),
    "fp64": (),
}


def known_gpus() -> tuple[str, ...]:
    """The names that `load_gpu` finds without a path."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def load_gpu(name: str | Path) -> Gpu:
    """The GPU of that name, or the one that a YAML file of your own describes; `TaskError` otherwise."""
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        path = FOLDER / f"{name}.yaml"
        if str(name) not in known_gpus():
            raise TaskError(f"no hardware file for {str(name)!r}", mend=_nearest(str(name)))
    return _parse(path, read_yaml(path))


def gpu_of_target(target: str) -> Gpu:
    """The first known GPU that `target` (`sm_90a`, `sm_100a`) is compiled for; `TaskError` when none is."""
    gpus = [load_gpu(name) for name in known_gpus()]
    for gpu in sorted(gpus, key=lambda gpu: -gpu.memory_gib):
        if gpu.target == target:
            return gpu
    known = ", ".join(sorted({gpu.target for gpu in gpus}))
    raise TaskError(f"no GPU is known for target {target!r}", mend=f"use one of {known}")


def _nearest(name: str) -> str:
    close = difflib.get_close_matches(name.upper(), known_gpus(), n=1, cutoff=0.3)
    known = f"known are {', '.join(known_gpus())}, or give the path of a .yaml file"
    return f"did you mean {close[0]}? {known}" if close else known


def _parse(path: Path, content: Any) -> Gpu:
    try:
        return Gpu.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        template = FOLDER / "H200.yaml"
        raise TaskError(
            first["msg"], file=path, field=field or None, mend=f"see {template} for a file that holds"
        ) from error
