"""Library calls that stay one node, and a GPU that is only pretended.

torch takes attention and norms to pieces before a dispatch mode sees them, and offers no device where there
is none: both are settled one level higher, where the reference's Python calls torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from tasks.tensors import tensors_in

if TYPE_CHECKING:
    from tasks.graph.recorder import Recorder

CUDA = torch.device("cuda", 0)
META = torch.device("meta")
_MAKES_FROM_DATA = (torch.tensor, torch.as_tensor, torch.asarray, torch.from_numpy)


class WholeCalls(TorchFunctionMode):
    """`cuda` means tensors without memory; fused attention and RMS norms are noted as they are called."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        asked = getattr(func, "__self__", None) if getattr(func, "__name__", "") == "__get__" else None
        if asked is not None:
            return _asked(asked, func, args)
        if func is torch.device:
            return func(*args, **kwargs)
        if func in (torch.Tensor.cuda, torch.Tensor.pin_memory):
            return args[0] if args[0].is_meta else self.recorder.lift(args[0])
        args = tuple([_here(value) for value in args])
        if kwargs:
            kwargs = {name: _here(value) for name, value in kwargs.items()}
            kwargs.pop("pin_memory", None)
        if func in _MAKES_FROM_DATA:
            return self._from_data(func, args, kwargs)
        if func in _WHOLE and _differentiated(args, kwargs) is False:
            return self._whole(func, args, kwargs)
        return func(*args, **kwargs)

    def _from_data(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """What Python's numbers become is known."""
        device = kwargs.pop("device", None)
        if args and isinstance(args[0], torch.Tensor):
            return func(*args, **kwargs) if device is None else func(*args, device=device, **kwargs)
        made = func(*args, **kwargs)
        if device is None or torch.device(device).type != "meta":
            return made
        return self.recorder.lift(made)

    def _whole(self, func: Any, args: Any, kwargs: Any) -> Any:
        """One call of an operator that is not taken to pieces."""
        operator, arguments, options = _WHOLE[func](*args, **kwargs)
        operands = list(tensors_in((arguments, options)))
        if not operands or not all(tensor.is_meta for tensor in operands):
            return func(*args, **kwargs)
        self.recorder.paused = True
        try:
            return self.recorder.call(operator, arguments, options, operands)
        finally:
            self.recorder.paused = False


def _differentiated(args: Any, kwargs: Any) -> bool:
    return torch.is_grad_enabled() and any(t.requires_grad for t in tensors_in((args, kwargs)))


def _asked(attribute: Any, func: Any, args: Any) -> Any:
    """A tensor without memory says that it is on the GPU."""
    if attribute is torch.Tensor.device:
        device = func(*args)
        return CUDA if device.type == "meta" else device
    if attribute is torch.Tensor.is_cuda:
        return args[0].is_meta
    return func(*args)


def _here(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == "cuda":
        return META
    if isinstance(value, str) and value.split(":")[0] == "cuda":
        return "meta"
    return value


def _attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: Any = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    options = {"scale": scale, "enable_gqa": enable_gqa}
    return (
        torch.ops.aten.scaled_dot_product_attention.default,
        (query, key, value, attn_mask, dropout_p, is_causal),
        options,
    )


def _rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
    return torch.ops.aten.rms_norm.default, (input, list(normalized_shape), weight, eps), {}


_WHOLE: dict[Any, Any] = {
    torch.nn.functional.scaled_dot_product_attention: _attention,
    torch.nn.functional.rms_norm: _rms_norm,
    torch.rms_norm: _rms_norm,
}
