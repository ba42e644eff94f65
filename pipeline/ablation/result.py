"""What an ablation found, as a value, and as the table that documents show."""

from collections.abc import Sequence

import numpy as np

from pipeline.ablation.plan import Contrast, Plan
from tasks.value import Value


class Needed(Value):
    shape: str
    settings: int
    near: int
    """Settings within 5 % of the best."""
    strategy: str
    evaluations: tuple[tuple[int | None, ...], ...]
    """A seed each: until each share of the best; None where it was not reached."""


class Compared(Value):
    contrast: Contrast
    shapes: int
    ratio: float
    """Evaluations of the better one as a share of the worse one's, geometric mean over shapes."""
    low: float
    high: float
    p: float
    """One-sided, adjusted by Holm over the plan's contrasts."""
    holds: bool


class Result(Value):
    plan: Plan
    needed: tuple[Needed, ...]
    compared: tuple[Compared, ...]

    @property
    def page(self) -> str:
        """Markdown: a row a shape, then the contrasts."""
        plan = self.plan
        goal = ", ".join(f"{share:.0%}" for share in plan.shares)
        lines = [
            f"### {plan.question}", "",
            f"Evaluations until {goal} of the best: mean over {plan.seeds} seeds, in brackets the middle 80 %. `-`: "
            f"some seeds were not there after {plan.evaluations}, which count as {plan.evaluations + 1}.", "",
            f"| shape | settings (near) | {' | '.join(plan.strategies)} |", "|---" * (2 + len(plan.strategies)) + "|",
        ]  # fmt: skip
        shapes = list(dict.fromkeys(each.shape for each in self.needed))
        for shape in shapes:
            some = {each.strategy: each for each in self.needed if each.shape == shape}
            one = next(iter(some.values()))
            cells = " | ".join(self._cell(some[name].evaluations) for name in plan.strategies)
            lines.append(f"| {shape} | {one.settings} ({one.near}) | {cells} |")
        return "\n".join([*lines, "", *map(self._sentence, self.compared)]) + "\n"

    def _cell(self, found: Sequence[tuple[int | None, ...]]) -> str:
        return ", ".join(
            self._figure([one[place] for one in found]) for place in range(len(self.plan.shares))
        )

    def _figure(self, found: Sequence[int | None]) -> str:
        counted = [self.plan.evaluations + 1 if each is None else each for each in found]
        low, high = np.quantile(counted, (0.1, 0.9))
        return f"{np.mean(counted):.1f} [{low:.0f} to {high:.0f}]{' -' if None in found else ''}"

    def _sentence(self, compared: Compared) -> str:
        c = compared.contrast
        bar = f", wanted at most {c.at_most:g}" if c.at_most < 1 else ""
        word = "holds" if compared.holds else "is not shown"
        return (
            f"- `{c.better}` against `{c.worse}` at {c.share:.0%} on {compared.shapes} shapes: {compared.ratio:.2f} of the "
            f"evaluations [{compared.low:.2f} to {compared.high:.2f}]{bar}; p {compared.p:.4f} (Holm, by {c.unit}): {word}."
        )
