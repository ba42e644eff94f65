"""A reference, or its input generator, that raised: whose fault that is, in one sentence."""

import torch

from guard.outputs import WrongOutputs

_DEFINITIONS_FAULTS = (
    NameError, AttributeError, ImportError, SyntaxError, TypeError, KeyError, IndexError, RecursionError, WrongOutputs,
)  # fmt: skip


class ReferenceFailed(Exception):
    """The reference or its input generator raised; `blame` is `task` or `machine`."""

    def __init__(self, message: str, blame: str) -> None:
        self.blame = blame
        super().__init__(message)


def failure_of(error: Exception, task: str, device: torch.device) -> ReferenceFailed:
    """`error` as the fault of the definition, or of the machine that it was to run on."""
    if isinstance(error, torch.OutOfMemoryError):
        return ReferenceFailed(f"the reference does not fit in the memory of {device}: {error}", "machine")
    if isinstance(error, MemoryError):
        return ReferenceFailed("the reference does not fit in this machine's memory", "machine")
    blame = "task" if isinstance(error, _DEFINITIONS_FAULTS) else "machine"
    first = next(iter(str(error).strip().splitlines()), "")[:300]
    mend = "; it needs a GPU" if blame == "machine" and device.type == "cpu" else ""
    said = f"the reference of {task} does not run on {device.type}: {type(error).__name__}: {first}{mend}"
    return ReferenceFailed(said, blame)
