"""A workload's inputs, bit for bit as the official generator makes them, and fresh ones of our own."""

import hashlib
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch

from tasks.blobs import find_blob, read_blob
from tasks.definition import Definition, Shape, TensorSpec
from tasks.dtypes import torch_dtype
from tasks.errors import TaskError
from tasks.inputs_reference import Reference, load_reference
from tasks.inputs_rules import Wanted, draw, draw_by_type, is_norm_bias, is_norm_weight
from tasks.inputs_synthetic import stand_ins
from tasks.workload import CustomInput, SafetensorsInput, ScalarInput, Workload

Policy = Literal["recorded", "auto", "synthetic"]
"""Recorded files only; recorded where found, else stand-ins; stand-ins always."""

Input = torch.Tensor | int | float | bool

__all__ = ["Input", "InputGenerator", "Policy", "Reference", "load_reference", "seed_all", "seeded"]


def seed_all(seed: int) -> None:
    """Seed as officially: Python's `random`, torch on the CPU, and torch on every GPU."""
    random.seed(seed)
    torch.manual_seed(seed)


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Inside, the global generators start at `seed`; afterwards they continue as if nothing had been drawn.

    Covers `random`, torch on the CPU and on `device`, and NumPy where it is loaded (custom input functions
    may draw from any of them).
    """
    python_state, numpy = random.getstate(), sys.modules.get("numpy")
    numpy_state = numpy.random.get_state() if numpy else None
    cuda = [device.index or 0] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda):
        try:
            random.seed(seed)
            torch.default_generator.manual_seed(seed)
            for index in cuda:
                torch.cuda.default_generators[index].manual_seed(seed)
            if numpy:
                numpy.random.seed(seed % 2**32)
            yield
        finally:
            random.setstate(python_state)
            if numpy:
                numpy.random.set_state(numpy_state)


class InputGenerator:
    """Makes the inputs of one workload, as often as asked.

    Recorded tensors are read once, stand-ins for missing recordings are made once: they are the same in every
    `make`, as a recording would be. `TaskError` when recordings are missing, or cannot be stood in for.
    """

    def __init__(
        self,
        definition: Definition,
        workload: Workload,
        device: str | torch.device = "cpu",
        blob_roots: Sequence[str | Path] = (),
        policy: Policy = "auto",
        reference: Reference | None = None,
    ) -> None:
        self.definition, self.workload, self.device = definition, workload, torch.device(device)
        self.axes = definition.resolve_axes(workload.axes)
        self.shapes = definition.input_shapes(workload.axes)
        self._custom = (reference or load_reference(definition)).custom if self._names_custom else None
        recorded = {n: s for n, s in workload.inputs.items() if isinstance(s, SafetensorsInput)}
        recorded = {n: s for n, s in recorded.items() if n in definition.inputs}
        self.synthetic = frozenset(
            n for n, s in recorded.items()
            if policy == "synthetic" or (policy == "auto" and find_blob(s.path, blob_roots) is None)
        )  # fmt: skip
        self._fixed: dict[str, torch.Tensor] = self._stand_ins(_seed_of(workload.uuid))
        for name, source in recorded.items():
            if name not in self.synthetic:
                dtype = torch_dtype(definition.inputs[name].dtype)
                self._fixed[name] = read_blob(source, blob_roots, name, self.shapes[name], dtype)

    def make(self, seed: int | None = None) -> list[Input]:
        """The inputs in definition order.

        Without `seed` they are drawn from torch's global generator, exactly as officially. With one they
        depend on it alone, and the global generators are left as they were.
        """
        if seed is None:
            return self._make(self._fixed, vary=False)
        with seeded(seed, self.device):
            return self._make(self._fixed, vary=False)

    def vary(self, seed: int) -> list[Input]:
        """Like `make(seed)`, but what the official rules leave constant is varied too, for untimed checks.

        Norm weights become 1 + 0.1 N, norm biases 0.1 N, and stand-ins are made anew. Recorded and custom
        inputs, masks and indices stay what their structure demands.
        """
        fixed = {**self._fixed, **self._stand_ins(seed)}
        with seeded(seed, self.device):
            return self._make(fixed, vary=True)

    @property
    def _names_custom(self) -> bool:
        return self.definition.custom_inputs_entrypoint is not None

    def _stand_ins(self, seed: int) -> dict[str, torch.Tensor]:
        if not self.synthetic:
            return {}
        with seeded(seed, torch.device("cpu")):
            return stand_ins(self.definition, self.workload.axes, self.synthetic)

    def _make(self, fixed: Mapping[str, torch.Tensor], vary: bool) -> list[Input]:
        # the custom function is called first, and even for workloads that do not use it, as officially:
        # its draws move the generator
        made: Any = {}
        if self._custom is not None:
            made = self._custom({**self.axes, **self.workload.scalars}, self.device)
        return [self._one(name, spec, made, fixed, vary) for name, spec in self.definition.inputs.items()]

    def _one(
        self,
        name: str,
        spec: TensorSpec,
        made: Mapping[str, Any],
        fixed: Mapping[str, torch.Tensor],
        vary: bool,
    ) -> Input:
        source, shape = self.workload.inputs.get(name), self.shapes[name]
        if name in fixed:
            return fixed[name].to(self.device, copy=True)
        if isinstance(source, ScalarInput):
            return source.value
        if isinstance(source, CustomInput):
            return self._custom_input(name, made)
        if shape is None:
            scalar: int | float | bool = draw_by_type((), spec.dtype, self.device).item()
            return scalar
        return self._random(name, shape, spec, vary)

    def _custom_input(self, name: str, made: Mapping[str, Any]) -> Input:
        function = self.definition.custom_inputs_entrypoint
        if not isinstance(made, Mapping):
            raise self._bad_custom(
                f"{function!r} returned a {type(made).__name__}", "let it return a dict of every input"
            )
        if name not in made:
            names = sorted(map(str, made))
            raise self._bad_custom(
                f"custom input {name!r} is not among what {function!r} made ({names})",
                "let it return every input",
            )
        value = made[name]
        if isinstance(value, torch.Tensor) and not value.is_meta and value.layout == torch.strided:
            return value.to(self.device)
        if isinstance(value, int | float | bool):
            return value
        what = (
            f"a {value.layout} {value.device} tensor"
            if isinstance(value, torch.Tensor)
            else repr(type(value))
        )
        raise self._bad_custom(
            f"custom input {name!r} is {what}", f"let {function!r} make plain tensors and numbers"
        )

    def _bad_custom(self, problem: str, mend: str) -> TaskError:
        return TaskError(problem, file=self.definition.name, field="custom_inputs_entrypoint", mend=mend)

    def _random(self, name: str, shape: Shape, spec: TensorSpec, vary: bool) -> torch.Tensor:
        value = draw(name, shape, spec.dtype, self.device, spec.description)
        if self.definition.op_type == "sampling" and name == "probs":
            value = torch.softmax(value, dim=-1)
        wanted = Wanted(name, shape, value.dtype, self.device, "")
        if not vary or value.dtype.itemsize < 2 or not value.is_floating_point():
            return value
        if is_norm_weight(wanted):
            return 1 + 0.1 * wanted.randn()
        return 0.1 * wanted.randn() if is_norm_bias(wanted) else value


def _seed_of(uuid: str) -> int:
    return int.from_bytes(hashlib.sha256(uuid.encode()).digest()[:4], "little")
