"""The family of matrix products."""

from collections.abc import Mapping
from pathlib import Path

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.gemm.form import Gemm, Shape
from agents.templates.gemm.knobs import gemm_knobs
from agents.templates.gemm.plan import Plan, class_of, experience, plan_of_knobs, suited
from agents.templates.gemm.recognise import recognise
from agents.templates.source import rendered
from tasks.solution import Language
from tasks.task import Task

_TEMPLATE = Path(__file__).parent / "kernel.py.j2"
_GROUP = 8


class GemmFamily:
    name = "gemm"
    numerics = (
        "Products and sums are fp32 over operands as they are given; the sum is taken in another order than the "
        "library's. What follows a product is fp32 and rounded where the reference keeps a narrower type. Parts of "
        "the length are summed in fp32, in a fixed order: the same inputs always give the same bits."
    )

    def matches(self, task: Task) -> Gemm | None:
        return recognise(task)

    def knobs(self, match: Gemm) -> KnobSpace:
        return gemm_knobs(match)

    def render(self, match: Gemm, knobs: Knobs) -> Proposal:
        """`knobs` for the shapes of their class; the other shapes of the task as experience says."""
        own = plan_of_knobs(knobs)
        plans = {
            shape: suited(own, shape) if class_of(shape) == knobs["rows"] else experience(shape, match)
            for shape in match.shapes
        }
        return _proposal(match, plans, f"{knobs['rows']} rows {_words(own)}")

    def render_table(self, match: Gemm, best: Mapping[Shape, Knobs]) -> Proposal:
        """A setting a shape, such as a recorded landscape gives; experience for shapes that it lacks."""
        plans = {
            shape: suited(plan_of_knobs(best[shape]), shape) if shape in best else experience(shape, match)
            for shape in match.shapes
        }
        return _proposal(match, plans, f"a plan for each of {len(plans)} shapes")


def _proposal(gemm: Gemm, plans: Mapping[Shape, Plan], words: str) -> Proposal:
    title = _title(gemm)
    besides = [f"in_{name}" for name in (*gemm.tiles, *gemm.vectors, *gemm.scalars)]
    texts = {shape: plan.text for shape, plan in plans.items()}
    source = rendered(_TEMPLATE, gemm=gemm, besides=besides, plans=texts, group=_GROUP, title=title)
    return Proposal(
        strategy=f"Triton {title[0].lower()}{title[1:].rstrip('.')}: {words}"[:160],
        source=source,
        languages=(Language.TRITON,),
        destination_passing_style=True,
    )


def _title(gemm: Gemm) -> str:
    extras = [
        f"{len(names)} {word}" for word, names in (("tile", gemm.tiles), ("vector", gemm.vectors)) if names
    ]
    what = "Two products of the same rows" if len(gemm.products) == 2 else "One matrix product"
    return f"{what}{' with ' + ' and '.join(extras) if extras else ''}, finished in registers."


def _words(plan: Plan) -> str:
    how = [f"{plan.block_m}x{plan.block_n}x{plan.block_k}", f"{plan.warps} warps", f"{plan.stages} stages"]
    how += [f"{plan.parts} parts"] if plan.parts > 1 else []
    how += [word for word in ("persistent", "swapped") if getattr(plan, word)]
    return " ".join([*how, "in halves"] if plan.pieces > 1 else how)
