"""The official trace file: what happened when one solution met one workload."""

from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from tasks.definition import NonEmpty
from tasks.errors import FieldFault
from tasks.value import OfficialModel
from tasks.workload import Workload

NonNegative = Annotated[float, Field(ge=0)]


class Status(StrEnum):
    PASSED = "PASSED"
    INVALID_REFERENCE = "INVALID_REFERENCE"
    INCORRECT_SHAPE = "INCORRECT_SHAPE"
    INCORRECT_NUMERICAL = "INCORRECT_NUMERICAL"
    INCORRECT_DTYPE = "INCORRECT_DTYPE"
    RUNTIME_ERROR = "RUNTIME_ERROR"
    COMPILE_ERROR = "COMPILE_ERROR"
    TIMEOUT = "TIMEOUT"
    REWARD_HACK = "REWARD_HACK"


class Correctness(OfficialModel):
    """The record with the largest absolute error, with its own relative error |d| / max(|ref|, max_atol)."""

    max_relative_error: NonNegative = 0.0
    max_absolute_error: NonNegative = 0.0
    has_nan: bool = False
    has_inf: bool = False
    extra: dict[str, Any] | None = None


class Performance(OfficialModel):
    latency_ms: NonNegative = 0.0
    reference_latency_ms: NonNegative = 0.0
    speedup_factor: NonNegative = 0.0


class TraceEnvironment(OfficialModel):
    hardware: NonEmpty
    libs: dict[str, str] = {}


class Evaluation(OfficialModel):
    """PASSED has correctness and performance, INCORRECT_NUMERICAL correctness only, the others neither."""

    status: Status
    environment: TraceEnvironment
    timestamp: NonEmpty
    log: str = ""
    correctness: Correctness | None = None
    performance: Performance | None = None

    @model_validator(mode="after")
    def _figures_fit_the_status(self) -> Self:
        wanted = {
            Status.PASSED: (True, True),
            Status.INCORRECT_NUMERICAL: (True, False),
        }.get(self.status, (False, False))
        if (self.correctness is not None, self.performance is not None) != wanted:
            raise FieldFault(
                "status",
                f"{self.status} does not fit the figures given",
                "give correctness and performance with PASSED, correctness with INCORRECT_NUMERICAL, else none",
            )
        return self


class Trace(OfficialModel):
    definition: NonEmpty
    workload: Workload
    solution: str | None = None
    evaluation: Evaluation | None = None
