"""What is compared, on what, and which contrasts were declared before anything ran."""

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from tasks.errors import TaskError
from tasks.value import Value
from tasks.yaml_file import in_a_sentence, read_yaml

MOST_CONTRASTS = 3


class Contrast(Value):
    """`better` needs fewer evaluations than `worse`: at most the share `at_most` of them."""

    better: str
    worse: str
    share: float = Field(default=0.97, gt=0, le=1)
    """Of the best, that both are to reach."""
    at_most: float = Field(default=1.0, gt=0)
    unit: Literal["shape", "seed"] = "shape"
    """What is drawn anew by the test: shapes speak for shapes that were not recorded, seeds for these alone."""


class Plan(Value):
    question: str
    landscapes: tuple[Path, ...]
    """Files or folders, from the plan's own folder."""
    strategies: tuple[str, ...] = Field(min_length=1)
    families: tuple[str, ...] = ()
    """Judged on; all by default. Records of the others are still learned from."""
    fewest: int = Field(default=8, ge=2)
    """Settings that a shape must have."""
    rarer_than: float = Field(default=1.0, gt=0, le=1)
    """Only shapes of whose settings a smaller share is within 5 % of the best."""
    seeds: int = Field(default=50, ge=2, le=1000)
    evaluations: int = Field(default=100, ge=1)
    shares: tuple[float, ...] = (0.95, 0.97)
    alpha: float = 0.01
    contrasts: tuple[Contrast, ...] = Field(default=(), max_length=MOST_CONTRASTS)

    @model_validator(mode="after")
    def _contrasts_are_of_what_is_run(self) -> "Plan":
        for contrast in self.contrasts:
            for name in (contrast.better, contrast.worse):
                if name not in self.strategies:
                    raise ValueError(f"the contrast's {name!r} is none of the strategies")
            if contrast.share not in self.shares:
                raise ValueError(f"the contrast's share {contrast.share} is none of the shares")
        return self


def read_plan(file: Path) -> Plan:
    """Raises `TaskError` naming the file, the field and the mend."""
    content = read_yaml(file, "give a plan as in docs/concepts/ablation.md")
    try:
        plan = Plan.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or None
        said = in_a_sentence(first["msg"].removeprefix("Value error, "))
        said = "holds no keys" if first["type"] == "model_type" and field is None else said
        mend = "give a plan as in docs/concepts/ablation.md"
        raise TaskError(said, file=file, field=field, mend=mend) from None
    _known(plan, file)
    return plan.model_copy(update={"landscapes": tuple(file.parent / path for path in plan.landscapes)})


def _known(plan: Plan, file: Path) -> None:
    from pipeline.ablation.strategies import STRATEGIES

    unknown = [name for name in plan.strategies if name not in STRATEGIES]
    if unknown:
        raise TaskError(
            f"there is no strategy {unknown[0]!r}", file=file, field="strategies",
            mend=f"here are {', '.join(STRATEGIES)}; those that grow trees need kernelarc[warm]",
        )  # fmt: skip
