"""Lets code that was written for a GPU run where there is none: it sees the target, and computes nothing.

Tensors are meta tensors (shapes without memory), or small real ones on the CPU where the code looks at
values; both say that they are on `cuda:0`. `torch.cuda` answers from the target's hardware file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode

from guard.cross_compile.library_calls import LibraryCalls, matrix_arithmetic, note_call
from guard.cross_compile.steps import Recorder
from tasks.gpu import Gpu

CUDA = torch.device("cuda", 0)
_ALIGNED = 1 << 20
"""Where every storage pretends to start: aligned as the evaluator's buffers are."""


@contextmanager
def pretend_gpu(gpu: Gpu, recorder: Recorder, device_type: str) -> Iterator[None]:
    """Inside, `cuda` means `device_type` (meta or cpu), `torch.cuda` is `gpu`, and launches are recorded."""
    with ExitStack() as stack:
        for name, value in _cuda_answers(gpu).items():
            stack.enter_context(mock.patch.object(torch.cuda, name, value, create=True))
        stack.enter_context(mock.patch.object(torch, "compile", _compile_of(recorder)))
        stack.enter_context(mock.patch.object(torch.nn.Module, "compile", lambda self, **_: None))
        stack.enter_context(mock.patch.object(torch.version, "cuda", "13.0"))
        stack.enter_context(_Cuda(recorder, device_type))
        stack.enter_context(LibraryCalls(recorder, device_type))
        yield


class _Cuda(TorchFunctionMode):
    """Turns `cuda` into the device that there is, on the way in, and the other way round for questions."""

    def __init__(self, recorder: Recorder, device_type: str) -> None:
        super().__init__()
        self.recorder, self.device_type = recorder, device_type

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        asked = getattr(func, "__self__", None) if getattr(func, "__name__", "") == "__get__" else None
        if asked is torch.Tensor.device:
            device = func(*args)
            return CUDA if device.type == self.device_type else device
        if asked is torch.Tensor.is_cuda:
            return self._stands_for_cuda(args[0])
        if func is torch.Tensor.data_ptr:
            return _ALIGNED + args[0].storage_offset() * args[0].element_size()
        if func in (torch.Tensor.cuda, torch.Tensor.pin_memory):
            return args[0].to(self.device_type)
        if func is torch.Tensor.get_device:
            return 0
        if func is torch.device:
            return func(*args, **kwargs)  # a name only; it is turned where it is used
        args = tuple(self._here(value) for value in args)
        kwargs = {name: self._here(value) for name, value in kwargs.items()}
        kwargs.pop("pin_memory", None)
        note = _LIBRARY.get(func)
        if note is None:
            return func(*args, **kwargs)
        with self.recorder.paused():
            out = func(*args, **kwargs)
        note(self.recorder, out, *args, **kwargs)
        return out

    def _stands_for_cuda(self, tensor: torch.Tensor) -> bool:
        return bool(torch.Tensor.device.__get__(tensor).type == self.device_type)

    def _here(self, value: Any) -> Any:
        if isinstance(value, torch.device) and value.type == "cuda":
            return torch.device(self.device_type)
        if isinstance(value, str) and value.split(":")[0] == "cuda":
            return self.device_type
        return value


def _note_attention(
    recorder: Recorder, out: Any, query: Any, key: Any, value: Any, attn_mask: Any = None,
    dropout_p: float = 0.0, is_causal: bool = False, **_: Any,
) -> None:  # fmt: skip
    rows, columns, depth = query.shape[-2], key.shape[-2], query.shape[-1] + value.shape[-1]
    flops = 2 * query.shape[:-2].numel() * rows * columns * depth
    if is_causal and rows == columns:
        flops //= 2
    backends: Any = torch.backends.cuda
    cudnn_only = backends.cudnn_sdp_enabled() and not backends.flash_sdp_enabled()
    note_call(
        recorder, "attention", "cudnn_attention" if cudnn_only else "attention",
        (query, key, value, attn_mask), out, flops={matrix_arithmetic(query.dtype): flops},
    )  # fmt: skip


def _note_rms_norm(recorder: Recorder, out: Any, *args: Any, **kwargs: Any) -> None:
    note_call(recorder, "rms_norm", "rows", (args, kwargs), out)


_LIBRARY: dict[Any, Callable[..., None]] = {
    torch.nn.functional.scaled_dot_product_attention: _note_attention,
    torch.nn.functional.rms_norm: _note_rms_norm,
    torch.rms_norm: _note_rms_norm,
}
"""One fused kernel on a GPU, many small ones elsewhere."""


def _compile_of(recorder: Recorder) -> Callable[..., Any]:
    """A torch.compile that compiles nothing and marks what its function does as one region."""

    def compile(model: Any = None, **_: Any) -> Any:
        if model is None:
            return compile
        if isinstance(model, torch.nn.Module):
            model.forward = _in_region(recorder, model.forward)
            return model
        return _in_region(recorder, model)

    return compile


def _in_region(recorder: Recorder, function: Callable[..., Any]) -> Callable[..., Any]:
    def compiled(*args: Any, **kwargs: Any) -> Any:
        with recorder.compiled_region():
            return function(*args, **kwargs)

    return compiled


class _Stream:
    """A stream or event that has always finished."""

    cuda_stream = 0
    device = CUDA

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: {"query": True, "elapsed_time": 1.0}.get(name, self)

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        return None


def _cuda_answers(gpu: Gpu) -> dict[str, Any]:
    major, minor = gpu.capability
    properties = SimpleNamespace(
        name=f"NVIDIA {gpu.name}", major=major, minor=minor, warp_size=32,
        multi_processor_count=gpu.sms, total_memory=int(gpu.memory_gib * 2**30),
        L2_cache_size=int(gpu.l2_mib * 2**20), regs_per_multiprocessor=gpu.registers_per_sm,
        max_threads_per_multi_processor=gpu.threads_per_sm, shared_memory_per_block=48 * 1024,
        shared_memory_per_block_optin=gpu.shared_kib_per_block * 1024,
        shared_memory_per_multiprocessor=gpu.shared_kib_per_sm * 1024,
    )  # fmt: skip
    stream = _Stream()
    answers: dict[str, Any] = {
        "is_available": True, "is_initialized": True, "device_count": 1, "current_device": 0,
        "get_device_name": properties.name, "get_device_capability": gpu.capability,
        "get_device_properties": properties, "current_stream": stream, "default_stream": stream,
        "stream": stream, "device": nullcontext(), "synchronize": None, "set_device": None, "init": None,
        "set_stream": None, "is_current_stream_capturing": False, "empty_cache": None,
        "get_arch_list": [gpu.target], "is_bf16_supported": True, "memory_allocated": 0,
        "mem_get_info": (properties.total_memory, properties.total_memory),
    }  # fmt: skip
    functions: dict[str, Any] = {name: _always(answer) for name, answer in answers.items()}
    return {**functions, "Stream": _Stream, "Event": _Stream}


def _always(answer: Any) -> Callable[..., Any]:
    return lambda *_, **__: answer
