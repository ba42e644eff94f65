"""The few small problems that the museum's candidates claim to solve."""

from collections.abc import Callable

from tasks.definition import AxisConst, AxisExpr, AxisVar, Definition, DType, TensorSpec
from tasks.task import Task
from tasks.workload import CustomInput, RandomInput, Tolerance, Workload

Shape = tuple[str, ...]

_OFFICIAL = Tolerance()
"""One hundredth, absolute and relative, for 99 % of the elements: wide enough to hide much."""

_WIDE = Tolerance(max_atol=1.0, max_rtol=0.1)

_MATMUL = "import torch\n\n\ndef run(A, B):\n    return torch.mm(A, B)\n"
_BY_HAND = (
    f"{_MATMUL}\n\ndef get_inputs(axes_and_scalars, device):\n    shapes = {{'A': (axes_and_scalars['M'], 128), 'B': (128, 128)}}\n"
    "    return {name: torch.randn(shape, device=device) for name, shape in shapes.items()}\n"
)
_NORM = (
    "import torch\n\n\ndef run(x, norm_weight):\n"
    "    scale = torch.rsqrt(x.square().mean(dim=1, keepdim=True) + 1e-6)\n    return x * scale * norm_weight\n"
)
_NORM_HALVES = (
    "import torch\n\n\ndef run(x, norm_weight):\n    wide = x.float()\n"
    "    scale = torch.rsqrt(wide.square().mean(dim=1, keepdim=True) + 1e-6)\n"
    "    return (wide * scale * norm_weight.float()).to(x.dtype)\n"
)
_SILU = "import torch\n\n\ndef run(x):\n    wide = x.float()\n    return (wide * torch.sigmoid(wide)).to(x.dtype)\n"
_MEAN = "import torch\n\n\ndef run(x):\n    return x.mean(dim=1)\n"
_GATED = "import torch\n\n\ndef run(a, b, gate):\n    return torch.where(gate[:, None] > 0, a @ b, 0.0)\n"
_SOFTMAX = "import torch\n\n\ndef run(x):\n    return torch.softmax(x * 30.0, dim=1)\n"
_PAIR = "import torch\n\n\ndef run(x):\n    return x.sum(dim=1), x.amax(dim=1)\n"
_ENERGY = "import torch\n\n\ndef run(x):\n    return x.square().mean()\n"


def _task(
    name: str,
    reference: str,
    inputs: dict[str, Shape],
    outputs: dict[str, Shape],
    rows: tuple[int, ...],
    tolerance: Tolerance = _OFFICIAL,
    dtype: str = "float32",
    **consts: int,
) -> Task:
    axes: dict[str, AxisConst | AxisVar | AxisExpr] = {"M": AxisVar()}
    axes |= {axis: AxisConst(value=value) for axis, value in consts.items()}
    definition = Definition(
        name=name,
        axes=axes,
        inputs={key: TensorSpec(shape=shape, dtype=DType(dtype)) for key, shape in inputs.items()},
        outputs={key: TensorSpec(shape=shape, dtype=DType(dtype)) for key, shape in outputs.items()},
        reference=reference,
    )
    workloads = tuple(
        Workload(
            axes={"M": m},
            inputs={key: RandomInput() for key in inputs},
            uuid=f"{name}-{m}",
            tolerance=tolerance,
        )
        for m in rows
    )
    return Task(name=name, definition=definition, workloads=workloads)


def _matmul(name: str, rows: tuple[int, ...], side: int) -> Task:
    return _task(name, _MATMUL, {"A": ("M", "K"), "B": ("K", "N")}, {"C": ("M", "N")}, rows, K=side, N=side)


def _by_hand(task: Task, entrypoint: str) -> Task:
    """The same with the definition's own generator for its inputs."""
    definition = task.definition.model_copy(update={"custom_inputs_entrypoint": entrypoint})
    made = {name: CustomInput() for name in definition.inputs}
    workloads = tuple(workload.model_copy(update={"inputs": made}) for workload in task.workloads)
    return task.model_copy(update={"definition": definition, "workloads": workloads})


TASKS: dict[str, Callable[[], Task]] = {
    "matmul": lambda: _matmul("matmul", (24, 40), 128),
    "matmul_by_hand": lambda: _by_hand(
        _task(
            "matmul_by_hand",
            _BY_HAND,
            {"A": ("M", "K"), "B": ("K", "N")},
            {"C": ("M", "N")},
            (24, 40),
            K=128,
            N=128,
        ),
        "get_inputs",
    ),
    # one call takes milliseconds, so that an answer without work would show
    "matmul_large": lambda: _matmul("matmul_large", (384,), 512),
    "matmul_gpu": lambda: _matmul("matmul_gpu", (512, 1024), 1024),
    "norm": lambda: _task(
        "norm", _NORM, {"x": ("M", "H"), "norm_weight": ("H",)}, {"y": ("M", "H")}, (16, 48), H=256
    ),
    # standard deviation of the output: 1 / sqrt(N) = 0.0028, far below the absolute tolerance
    "mean": lambda: _task("mean", _MEAN, {"x": ("M", "N")}, {"y": ("M",)}, (6, 8), N=131072),
    "gated": lambda: _task(
        "gated", _GATED, {"a": ("M", "K"), "b": ("K", "K"), "gate": ("M",)}, {"y": ("M", "K")}, (32, 56), K=96
    ),
    # exp(30 x) overflows for x above 2.96: one element in six hundred
    "softmax": lambda: _task("softmax", _SOFTMAX, {"x": ("M", "N")}, {"y": ("M", "N")}, (24, 32), N=512),
    "pair": lambda: _task(
        "pair", _PAIR, {"x": ("M", "N")}, {"total": ("M",), "peak": ("M",)}, (24, 48), N=200
    ),
    # sixteen bits, and tolerances in which eight would pass: as wide as those of some problems
    "matmul_halves": lambda: _task(
        "matmul_halves",
        _MATMUL,
        {"A": ("M", "K"), "B": ("K", "N")},
        {"C": ("M", "N")},
        (24, 40),
        _WIDE,
        "bfloat16",
        K=128,
        N=128,
    ),
    "norm_halves": lambda: _task(
        "norm_halves",
        _NORM_HALVES,
        {"x": ("M", "H"), "norm_weight": ("H",)},
        {"y": ("M", "H")},
        (8, 24),
        _WIDE,
        "bfloat16",
        H=2048,
    ),
    "silu_halves": lambda: _task(
        "silu_halves", _SILU, {"x": ("M", "N")}, {"y": ("M", "N")}, (24, 40), _WIDE, "bfloat16", N=512
    ),
    "energy": lambda: _task("energy", _ENERGY, {"x": ("M", "N")}, {"energy": ()}, (24, 48), N=200),
}
