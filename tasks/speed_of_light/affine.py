"""Amounts that grow by fixed steps in every axis: found from a few sizes, checked on others, told for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Axes = Mapping[str, int]
CHECKS = 2
"""Sizes beyond those that fix the steps, on which they have to prove right."""


class Affine:
    """One amount as a sum of fixed steps, from what was counted so far."""

    def __init__(self, axes: Sequence[str]) -> None:
        self._axes = tuple(axes)
        self._rows: list[list[float]] = []
        self._amounts: list[float] = []
        self._steps: np.ndarray | None = None

    def add(self, at: Axes, amount: int) -> None:
        self._rows.append(self._row(at))
        self._amounts.append(float(amount))
        self._steps = None

    def tell(self, at: Axes) -> int | None:
        """The amount at those sizes; `None` while it is not known, or where it does not grow by fixed steps."""
        if not self._is_checked(at):
            return None
        if self._steps is None:
            self._steps = np.linalg.lstsq(np.array(self._rows), np.array(self._amounts), rcond=None)[0]
        misses = np.array(self._rows) @ self._steps - np.array(self._amounts)
        if np.abs(misses).max() > 0.5 + 1e-9 * max(self._amounts):
            return None
        return round(float(np.array(self._row(at)) @ self._steps))

    def _is_checked(self, at: Axes) -> bool:
        """Whether the rows counted reach `at`, with some to spare."""
        if len(self._rows) < CHECKS + 1:
            return False
        rank = np.linalg.matrix_rank(np.array(self._rows))
        if len(self._rows) < rank + CHECKS:
            return False
        return bool(np.linalg.matrix_rank(np.array([*self._rows, self._row(at)])) == rank)

    def _row(self, at: Axes) -> list[float]:
        return [1.0, *(float(at[axis]) for axis in self._axes)]
