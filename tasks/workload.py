"""The official workload file: one line a workload, with sizes, where inputs come from, and the tolerance."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tasks.definition import NonEmpty
from tasks.errors import FieldFault
from tasks.value import OfficialModel


class RandomInput(OfficialModel):
    type: Literal["random"] = "random"


class ScalarInput(OfficialModel):
    type: Literal["scalar"] = "scalar"
    value: int | float | bool


class SafetensorsInput(OfficialModel):
    type: Literal["safetensors"] = "safetensors"
    path: NonEmpty
    tensor_key: NonEmpty


class CustomInput(OfficialModel):
    """Made by the definition's `custom_inputs_entrypoint`; all inputs of a workload or none."""

    type: Literal["custom"] = "custom"


InputSource = RandomInput | SafetensorsInput | ScalarInput | CustomInput


class Tolerance(OfficialModel):
    """An element passes when |out - ref| <= max_atol + max_rtol * |ref|; enough elements must pass."""

    max_atol: float = 1e-2
    max_rtol: float = 1e-2
    required_matched_ratio: float = 0.99
    max_error_cap: float | None = None
    allow_negative_inf: bool = False


class Workload(OfficialModel):
    axes: dict[str, Annotated[int, Field(ge=0)]]
    inputs: dict[str, InputSource]
    uuid: NonEmpty
    tolerance: Tolerance = Tolerance()

    @property
    def scalars(self) -> dict[str, int | float | bool]:
        return {name: s.value for name, s in self.inputs.items() if isinstance(s, ScalarInput)}

    @model_validator(mode="after")
    def _custom_is_all_or_nothing(self) -> Self:
        custom = [name for name, source in self.inputs.items() if isinstance(source, CustomInput)]
        if custom and len(custom) != len(self.inputs):
            raise FieldFault(
                "inputs", f"{custom} are custom and the others are not", "make all inputs custom, or none"
            )
        return self
