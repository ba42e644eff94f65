"""A guess, without running it, at what a reference costs on a CPU: operations and memory of its own.

The guess mostly errs high, but what a reference makes of its inputs on the way does not show. It reads what
the shapes give away: two tensors that share an axis are multiplied over it, scores of an attention are queries
by keys, a Python loop costs its calls, fp8 and fp4 are widened.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from tasks.definition import AxisConst, Definition, DType, Shape, TensorSpec
from tasks.dtypes import FP4, FP8
from tasks.effort_loops import Loops
from tasks.resolved import Resolver
from tasks.sizes import tensor_bytes

OPERATIONS_PER_CALL = 400_000
"""What one call from Python costs, in the fp32 multiply-adds that two CPU cores do meanwhile (about 10 us)."""
_OPERATIONS_PER_ELEMENT = 200
"""Of drawing an element and passing over it a few times, in the same measure: 137 M normals a second and core
against 23 G multiply-adds, measured on a CPU with AVX2."""
_SLOWER_IN_16_BITS = 4
"""Matrix products of bf16 or fp16 on that CPU, against fp32: 5.4 against 23 G multiply-adds a second. Taken for
all products of a task with such inputs: a reference that names float32 somewhere need not multiply in it."""
_EXPERTS_PER_TOKEN = 8
"""Of a weight with an axis of experts, a token meets a few only."""
_ATTENTION = re.compile(r"softmax\s*\(|scaled_dot_product_attention")
_SCORE_BYTES = 3 * 4
"""fp32 scores: raw, masked and normalised."""

Term = tuple[tuple[str, int], ...]
"""A product of axes with their powers."""


class Effort:
    """Reads a definition once; then prices any number of sizes."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.at = Resolver(definition)
        self.loops = Loops(definition)
        self._moving = {axis for axis in definition.axes if not isinstance(definition.axes[axis], AxisConst)}
        self._widens = "float32" in definition.reference or ".float()" in definition.reference
        types = {spec.dtype for spec in definition.inputs.values()}
        self._is_slow = bool(types & {DType.BFLOAT16, DType.FLOAT16})
        self._scores = self._attention_scores()
        self._products = self._matrix_products() | {term for term, _ in self._scores}

    def operations(self, values: Mapping[str, int]) -> int:
        """fp32 multiply-adds that take as long, at the workload's axes `values`."""
        at = self.at(values)
        axes = self._counted(at.axes)
        shapes = (*at.inputs.values(), *at.outputs.values())
        elements = sum(math.prod(shape) for shape in shapes if shape is not None)
        products = sum(_size(term, axes) for term in self._products)
        products *= _SLOWER_IN_16_BITS if self._is_slow else 1
        return products + elements * _OPERATIONS_PER_ELEMENT + self.loops.calls(at) * OPERATIONS_PER_CALL

    def memory_bytes(self, values: Mapping[str, int]) -> int:
        """Bytes the reference takes beside its inputs and outputs."""
        at = self.at(values)
        inputs = self.definition.inputs.items()
        widened = sum(self._widened_bytes(at.inputs[name], spec.dtype) for name, spec in inputs)
        scores = max((_size(score, at.axes) for _, score in self._scores), default=0)
        return widened + scores * _SCORE_BYTES

    def tensors_bytes(self, values: Mapping[str, int]) -> tuple[int, int]:
        """Bytes of all inputs and of all outputs."""
        at, definition = self.at(values), self.definition
        return (
            sum(tensor_bytes(at.inputs[name], spec.dtype) for name, spec in definition.inputs.items()),
            sum(tensor_bytes(at.outputs[name], spec.dtype) for name, spec in definition.outputs.items()),
        )

    def _widened_bytes(self, shape: Shape | None, dtype: DType) -> int:
        """An fp8 element becomes three fp32 ones (value, scale, product), a packed fp4 byte six."""
        if shape is None:
            return 0
        each = {**dict.fromkeys(FP8, 12), **dict.fromkeys(FP4, 24)}.get(dtype, 0)
        if dtype in (DType.BFLOAT16, DType.FLOAT16) and self._widens:
            each = 8
        return math.prod(shape) * each

    def _counted(self, axes: Mapping[str, int]) -> dict[str, int]:
        return {
            name: min(size, _EXPERTS_PER_TOKEN) if "expert" in name and name not in self._moving else size
            for name, size in axes.items()
        }

    def _matrix_products(self) -> set[Term]:
        """For each constant tensor its largest product with one that varies, and the largest among those."""
        tensors = {**self.definition.inputs, **self.definition.outputs}
        counted = [c for c in (_axes(spec) for spec in tensors.values()) if c]
        # pages are looked up, never multiplied as a whole
        varying = [c for c in counted if self._moving & set(c) and not any("page" in axis for axis in c)]
        constant = [c for c in counted if not self._moving & set(c) and c.total() > 1]
        largest = [self._largest(weight, varying) for weight in constant]
        among = [t for one in varying if (t := self._largest(one, varying))]
        return {t for t in largest if t} | set(among)

    def _largest(self, one: Counter[str], others: Iterable[Counter[str]]) -> Term | None:
        """The product with the most axes that `one` makes with another tensor over a shared axis."""
        unions = [_term(one | other) for other in others if one is not other and _contracted(one, other)]
        return max(unions, key=lambda term: (sum(power for _, power in term), term), default=None)

    def _attention_scores(self) -> list[tuple[Term, Term]]:
        """Where the reference attends and no input is already queries by keys: (work, size of the scores)."""
        heads = [axis for axis in self.definition.axes if "heads" in axis and "kv" not in axis]
        if not heads or not _ATTENTION.search(self.definition.reference) or self.loops:
            return []
        found = []
        for spec in self.definition.inputs.values():
            axes = _axes(spec)
            for length in (
                a for a in axes if a in self._moving and ("len" in a or "seq" in a or "token" in a)
            ):
                rows = Counter({a: 1 for a in axes if a in self._moving})
                found.append(
                    (_term(axes + Counter({length: 1})), _term(rows + Counter({length: 1, heads[0]: 1})))
                )
        return found


def _contracted(one: Counter[str], other: Counter[str]) -> bool:
    """Whether they share an axis to multiply over; the batch is walked side by side."""
    return any("batch" not in axis for axis in set(one) & set(other))


def _axes(spec: TensorSpec) -> Counter[str]:
    return Counter(axis for axis in spec.shape or () if axis not in ("0", "1"))


def _term(axes: Counter[str]) -> Term:
    return tuple(sorted(axes.items()))


def _size(term: Term, axes: Mapping[str, int]) -> int:
    return math.prod((int(a) if a.isdecimal() else axes[a]) ** power for a, power in term)
