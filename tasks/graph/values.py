"""Real values beside tensors without memory, for as long as they are small enough to be kept.

Index structures steer what a reference does. Their values are followed on the CPU along with the shapes; what
depends on anything large has none.
"""

from __future__ import annotations

from typing import Any

import torch

INTEGER_LIMIT = 160 * 2**20
"""Bytes of one integer or boolean tensor whose values are followed."""
TABLE_LIMIT = 2**18
"""Bytes of one floating-point tensor of which the same holds always: tables, thresholds, scales."""
FLOAT_LIMIT = 48 * 2**20
"""And where values decide what is done next."""
_TOTAL_LIMIT = 640 * 2**20
_WORK_LIMIT = 400_000_000
"""Operations of one call that is followed with values."""


class Values:
    """The contents of storages by their address. Views share them, and writes in place reach them."""

    def __init__(self, wanted: frozenset[str] = frozenset()) -> None:
        """`wanted`: the steps and inputs whose floating-point values are to be followed as well."""
        self.wanted = wanted
        self._contents: dict[int, tuple[torch.UntypedStorage, Any]] = {}
        self._total = 0

    def allows(self, tensor: torch.Tensor, name: str = "") -> bool:
        """Whether the values of a tensor that `name` makes would be kept."""
        dtype, bytes_ = tensor.dtype, tensor.untyped_storage().nbytes()
        if not dtype.is_floating_point and not dtype.is_complex:
            limit = INTEGER_LIMIT
        else:
            limit = FLOAT_LIMIT if name in self.wanted else TABLE_LIMIT
        return bytes_ <= limit and (self._total + bytes_ <= _TOTAL_LIMIT or self._sweep(bytes_))

    def get(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """`tensor` with memory: a view of what is known, or `None`."""
        found = self._contents.get(tensor.untyped_storage()._cdata)
        if found is None:
            return None
        real = torch.empty(0, dtype=tensor.dtype)
        return real.set_(found[0], tensor.storage_offset(), tensor.size(), tensor.stride())

    def known(self, tensor: torch.Tensor) -> bool:
        return tensor.untyped_storage()._cdata in self._contents

    def put(self, tensor: torch.Tensor, real: torch.Tensor) -> None:
        """Say that `tensor`, which begins its storage, holds what `real` does."""
        storage = tensor.untyped_storage()
        if tensor.storage_offset():
            return
        copy = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
        copy.copy_(real)
        if copy.untyped_storage().nbytes() != storage.nbytes():
            return
        self.forget(tensor)
        self._contents[storage._cdata] = (copy.untyped_storage(), storage._weak_ref())
        self._total += storage.nbytes()

    def forget(self, tensor: torch.Tensor) -> None:
        """What it holds is no longer known."""
        found = self._contents.pop(tensor.untyped_storage()._cdata, None)
        if found is not None:
            self._total -= found[0].nbytes()
            torch.UntypedStorage._free_weak_ref(found[1])

    def follow(self, function: Any, args: Any, kwargs: Any, work: int) -> Any:
        """Call with real operands; `None` when it is too much work or not all are known."""
        if work > _WORK_LIMIT:
            return None
        try:
            real_args, real_kwargs = self.real(args), self.real(kwargs)
        except KeyError:
            return None
        if "device" in real_kwargs:
            real_kwargs["device"] = torch.device("cpu")
        return function(*real_args, **real_kwargs)

    def real(self, value: Any) -> Any:
        """Nested arguments with real tensors; `KeyError` when one is not known."""
        if isinstance(value, torch.Tensor):
            if not value.is_meta:
                return value
            found = self.get(value)
            if found is None:
                raise KeyError
            return found
        if isinstance(value, dict):
            return {key: self.real(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.real(item) for item in value]
        return value

    def _sweep(self, wanted: int) -> bool:
        """Drop what nobody can look at any more."""
        for address, (storage, weak) in list(self._contents.items()):
            if torch.UntypedStorage._expired(weak):
                torch.UntypedStorage._free_weak_ref(weak)
                self._total -= storage.nbytes()
                del self._contents[address]
        return self._total + wanted <= _TOTAL_LIMIT
