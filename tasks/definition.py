"""The official definition file: what a problem computes, as SOL-ExecBench and FlashInfer-Bench write it."""

import ast
import warnings
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tasks.errors import FieldFault
from tasks.expression import evaluate
from tasks.value import OfficialModel, digest_of

NonEmpty = Annotated[str, Field(min_length=1)]
Shape = tuple[int, ...]


class DType(StrEnum):
    """Element types a definition may name; `float4_e2m1fn_x2` packs two values into a byte."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FLOAT8_E4M3FN = "float8_e4m3fn"
    FLOAT8_E5M2 = "float8_e5m2"
    FLOAT4_E2M1 = "float4_e2m1"
    FLOAT4_E2M1FN_X2 = "float4_e2m1fn_x2"
    INT64 = "int64"
    INT32 = "int32"
    INT16 = "int16"
    INT8 = "int8"
    BOOL = "bool"

    @property
    def bytes(self) -> int:
        """Bytes that one stored element takes."""
        return _BYTES[self]


_BYTES = {
    DType.FLOAT64: 8, DType.FLOAT32: 4, DType.FLOAT16: 2, DType.BFLOAT16: 2, DType.FLOAT8_E4M3FN: 1,
    DType.FLOAT8_E5M2: 1, DType.FLOAT4_E2M1: 1, DType.FLOAT4_E2M1FN_X2: 1, DType.INT64: 8, DType.INT32: 4,
    DType.INT16: 2, DType.INT8: 1, DType.BOOL: 1,
}  # fmt: skip


class AxisConst(OfficialModel):
    type: Literal["const"] = "const"
    value: Annotated[int, Field(ge=0)]
    description: str | None = None


class AxisVar(OfficialModel):
    type: Literal["var"] = "var"
    description: str | None = None


class AxisExpr(OfficialModel):
    type: Literal["expr"] = "expr"
    expression: NonEmpty
    description: str | None = None


class TensorSpec(OfficialModel):
    """A tensor by axis names or digit strings; `[]` is a 0-d tensor, `None` a Python scalar."""

    shape: tuple[NonEmpty, ...] | None
    dtype: DType
    description: str | None = None


class Definition(OfficialModel):
    """What is to be computed; the order of `inputs`, then of `outputs`, is the calling convention."""

    name: NonEmpty
    op_type: NonEmpty | None = None
    axes: dict[NonEmpty, AxisConst | AxisVar | AxisExpr]
    custom_inputs_entrypoint: NonEmpty | None = None
    inputs: dict[NonEmpty, TensorSpec]
    outputs: dict[NonEmpty, TensorSpec]
    reference: NonEmpty
    description: str | None = None
    hf_id: NonEmpty | None = None

    @property
    def digest(self) -> str:
        """sha256 of every field, defaults filled in."""
        return digest_of(self.model_dump(mode="json"))

    @property
    def var_axes(self) -> tuple[str, ...]:
        return tuple(name for name, axis in self.axes.items() if isinstance(axis, AxisVar))

    def resolve_axes(self, values: Mapping[str, int]) -> dict[str, int]:
        """Axes by name: constants, then the given `values`, then expressions in file order.

        A variable axis without a value is left out: some serve only the input generator. `ValueError` says
        which expression has no integer value.
        """
        axes = {name: axis.value for name, axis in self.axes.items() if isinstance(axis, AxisConst)}
        axes.update(values)
        for name, axis in self.axes.items():
            if isinstance(axis, AxisExpr):
                axes[name] = evaluate(axis.expression, axes)
        return axes

    def input_shapes(self, values: Mapping[str, int]) -> dict[str, Shape | None]:
        return self._shapes(self.inputs, values)

    def output_shapes(self, values: Mapping[str, int]) -> dict[str, Shape | None]:
        return self._shapes(self.outputs, values)

    def _shapes(
        self, tensors: Mapping[str, TensorSpec], values: Mapping[str, int]
    ) -> dict[str, Shape | None]:
        axes = self.resolve_axes(values)
        return {
            name: None if spec.shape is None else tuple(_length(axis, axes) for axis in spec.shape)
            for name, spec in tensors.items()
        }

    @model_validator(mode="after")
    def _reference_defines_run(self) -> Self:
        run = _top_level_function(self.reference, "run")
        if run is None:
            raise FieldFault("reference", "defines no top-level function `run`", "add `def run(...)`")
        parameters = [a.arg for a in (*run.args.posonlyargs, *run.args.args)]
        if parameters != list(self.inputs):
            raise FieldFault(
                "reference",
                f"`run` takes {parameters} but the inputs are {list(self.inputs)}",
                "give both the same names in the same order",
            )
        return self

    @model_validator(mode="after")
    def _custom_entry_point_exists(self) -> Self:
        name = self.custom_inputs_entrypoint
        if name is not None and (
            not name.isidentifier() or _top_level_function(self.reference, name) is None
        ):
            raise FieldFault(
                "custom_inputs_entrypoint",
                f"{name!r} is not a top-level function of the reference",
                "define it there or remove the key",
            )
        return self

    @model_validator(mode="after")
    def _names_do_not_collide(self) -> Self:
        for name in self.inputs:
            if name in self.axes:
                raise FieldFault(f"inputs.{name}", "is also the name of an axis", "rename one of them")
            if name in self.outputs:
                raise FieldFault(f"outputs.{name}", "is also the name of an input", "rename one of them")
        return self

    @model_validator(mode="after")
    def _shapes_name_defined_axes(self) -> Self:
        for part, tensors in (("inputs", self.inputs), ("outputs", self.outputs)):
            for name, spec in tensors.items():
                for axis in spec.shape or ():
                    if not axis.isdecimal() and axis not in self.axes:
                        raise FieldFault(
                            f"{part}.{name}.shape", f"axis {axis!r} is not defined", "add it to `axes`"
                        )
        return self


def _length(axis: str, axes: Mapping[str, int]) -> int:
    if axis.isdecimal():
        return int(axis)
    if axis not in axes:
        raise ValueError(f"axis {axis!r} has no value")
    return axes[axis]


def _top_level_function(source: str, name: str) -> ast.FunctionDef | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape such as "\\d" is no fault of the definition
            module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"{error.msg}, line {error.lineno}" if isinstance(error, SyntaxError) else str(error)
        raise FieldFault("reference", f"is not valid Python ({where})", "correct the code") from error
    return next((n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == name), None)
