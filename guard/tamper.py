"""What a candidate changed around itself and left so, as seen from inside its own process.

A courtesy, not a wall: a candidate could silence it, and nothing that decides a verdict lies in this process. But
where it speaks it names the thing, which a stale output or a strange time never does. Taken before the candidate
is loaded, asked after its last call. What is honest to change is left out: `torch.compile` rebinds a few functions
by itself, a default device is a function mode, and flags may always be set to the more exact side.
"""

import builtins
import contextlib
import gc
import json
import math
import operator
import os
import random
import statistics
import sys
import threading
import time
import timeit
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any, Literal

import numpy
import torch
from torch.utils._device import DeviceContext

Kind = Literal["changed", "precision"]
"""`precision`: a flag that lets products be less exact, which is for the precision policy to judge."""
Change = tuple[Kind, str]

_MODULES: tuple[ModuleType, ...] = (
    builtins, gc, json, math, numpy, os, random, statistics, sys, threading, time, timeit, torch, torch.cuda,
    torch.functional, torch.nn.functional, torch.random, torch.testing,
)  # fmt: skip
_CLASSES: tuple[type, ...] = (
    torch.Tensor, torch.Generator, torch.cuda.Event, torch.cuda.Stream, torch.cuda.CUDAGraph, json.JSONEncoder,
)  # fmt: skip
_REBOUND = {
    "torch.manual_seed", "torch.seed", "torch.random.manual_seed", "torch.cuda.manual_seed",
    "sys.excepthook", "sys.unraisablehook", "sys.displayhook", "sys.breakpointhook", "threading.excepthook",
}  # fmt: skip
"""What importing the compiler rebinds, and what is there to be rebound."""
_OPERATORS = (
    "abs", "add.Tensor", "allclose", "clone", "copy_", "div.Tensor", "empty.memory_format", "eq.Tensor", "equal",
    "isclose", "isfinite", "isnan", "matmul", "max", "mean", "mm", "mul.Tensor", "sub.Tensor", "sum", "zero_",
)  # fmt: skip
_EXACTNESS = {
    "highest": 2, "high": 1, "medium": 0, "ieee": 2, "tf32": 1, "bf16": 0, "f16": 0, "any": 0, "none": 2, "strict": 2,
}  # fmt: skip
_FLAGS: Mapping[str, Callable[[], bool | str]] = {
    "float32_matmul_precision": torch.get_float32_matmul_precision,
    "cuda.matmul.allow_tf32": lambda: torch.backends.cuda.matmul.allow_tf32,
    "cudnn.allow_tf32": lambda: torch.backends.cudnn.allow_tf32,
    "cuda.matmul.allow_fp16_accumulation": lambda: torch.backends.cuda.matmul.allow_fp16_accumulation,
    "fp32_precision": lambda: _named(torch.backends, "fp32_precision"),
    "mkldnn.fp32_precision": lambda: _named(torch.backends, "mkldnn.fp32_precision"),
    "mkldnn.matmul.fp32_precision": lambda: _named(torch.backends, "mkldnn.matmul.fp32_precision"),
    "NVIDIA_TF32_OVERRIDE": lambda: os.environ.get("NVIDIA_TF32_OVERRIDE", "0") == "1",
    "ONEDNN_DEFAULT_FPMATH_MODE": lambda: os.environ.get("ONEDNN_DEFAULT_FPMATH_MODE", "strict").lower(),
}


class TamperWatch:
    """The state of things at one moment; `changes` says what is no longer so."""

    def __init__(self, own: Iterable[ModuleType | type] = ()) -> None:
        self._spaces = (*_MODULES, *_CLASSES, *own)
        self._names = {space: _callables(space) for space in self._spaces}
        self._bodies = {function: _body(function) for function in _functions(self._names.values())}
        self._registered = {name: _kernels(name) for name in _OPERATORS}
        self._flags = _flags()
        self._dtype = torch.get_default_dtype()

    def changes(self) -> list[Change]:
        """Everything that is not as it was, in words."""
        found: list[Change] = [("changed", said) for said in self._changed()]
        found += [("precision", said) for said in self._lowered()]
        return found

    def _changed(self) -> Iterator[str]:
        yield from self._rebound()
        for function, body in self._bodies.items():
            if _body(function) != body:
                yield f"the code of {function.__module__}.{function.__qualname__} was replaced"
        for module in _MODULES:
            if sys.modules.get(module.__name__) is not module:
                yield f"another module stands under the name {module.__name__}"
        for name, kernels in self._registered.items():
            if _kernels(name) != kernels:
                yield f"the operator aten::{name} was registered anew"
        yield from _left_on()
        if torch.get_default_dtype() != self._dtype:
            yield f"the default dtype is {torch.get_default_dtype()}"

    def _rebound(self) -> Iterator[str]:
        for space, before in self._names.items():
            now = _callables(space)
            for name, value in before.items():
                said = f"{_name_of(space)}.{name}"
                if now.get(name) is not value and said not in _REBOUND:
                    yield f"{said} was replaced"

    def _lowered(self) -> Iterator[str]:
        for name, now in _flags().items():
            before = self._flags.get(name)
            if before is not None and _exactness(now) < _exactness(before):
                yield f"{name} was set from {before} to {now}"


def _callables(space: ModuleType | type) -> dict[str, Any]:
    """By name, with what a class inherits: an override in a subclass hides what was there."""
    chain = [vars(part) for part in reversed(space.__mro__)] if isinstance(space, type) else [vars(space)]
    return {
        name: value
        for part in chain
        for name, value in part.items()
        if callable(value) or isinstance(value, property | staticmethod | classmethod)
    }


def _functions(spaces: Iterable[dict[str, Any]]) -> set[FunctionType]:
    return {value for space in spaces for value in space.values() if isinstance(value, FunctionType)}


def _body(function: FunctionType) -> tuple[object, ...]:
    return (function.__code__, function.__defaults__)


def _name_of(space: ModuleType | type) -> str:
    return space.__name__ if isinstance(space, ModuleType) else f"{space.__module__}.{space.__qualname__}"


def _kernels(name: str) -> list[str]:
    """Where the kernels of an operator come from, one line a backend; descriptions of shapes alone are left out."""
    dump: str = torch._C._dispatch_dump(f"aten::{name}")
    return [
        line
        for line in dump.splitlines()
        if line.split(":")[0] in ("CPU", "CUDA", "AutogradCPU", "AutogradCUDA")
    ]


def _left_on() -> Iterator[str]:
    """Modes and hooks that should have ended with the call."""
    for index in range(torch._C._len_torch_function_stack()):
        mode = torch._C._get_function_stack_at(index)
        if not isinstance(mode, DeviceContext):
            yield f"the function mode {type(mode).__name__} was left on"
    if torch._C._len_torch_dispatch_stack():
        yield "a dispatch mode was left on"
    yield from _hooks_of_torch()
    hooks = (sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile())
    if any(hook is not None for hook in hooks):
        yield "a trace or profile hook was left on"
    if torch.cuda.is_initialized() and torch.cuda.current_stream() != torch.cuda.default_stream():
        yield "another stream was left current"


def _hooks_of_torch() -> Iterator[str]:
    """Those that every module and every graph of the process would call."""
    module = torch.nn.modules.module
    if any(
        hooks
        for name, hooks in vars(module).items()
        if name.startswith("_global_") and isinstance(hooks, dict)
    ):
        yield "a hook on all modules was left on"
    if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
        yield "a hook on saved tensors was left on"


def _flags() -> dict[str, bool | str]:
    """Those that can be read: the older and the newer way to set them refuse each other."""
    found: dict[str, bool | str] = {}
    for name, read in _FLAGS.items():
        with contextlib.suppress(RuntimeError, AttributeError):
            found[name] = read()
    return found


def _named(space: object, name: str) -> str:
    """What older versions of torch do not have, and its types not at all; `AttributeError` there."""
    return str(operator.attrgetter(name)(space))


def _exactness(value: bool | str) -> int:
    return _EXACTNESS.get(value, 2) if isinstance(value, str) else int(not value)
