"""Several projections of one input: one product with the weights stacked.

Stacking copies the weights on every call, since they may be other ones next time; it pays where rows are many.
"""

from agents.library.rules.base import Rule, Writer
from agents.reading.pattern import Found, Pattern
from agents.reading.reading import Reading
from agents.reading.term import Term

_PROJECTION = Pattern(
    "torch.matmul(_x, _weight.transpose(-2, -1))", "torch.nn.functional.linear(_x, _weight)"
)


def match(term: Term, reading: Reading) -> Found | None:
    found = _PROJECTION.match(term, reading)
    if found is None or not _is_input_matrix(found["weight"], reading):
        return None
    weights = _weights_of(found["x"], reading)
    place = next((i for i, other in enumerate(weights) if reading.same(other, found["weight"])), None)
    if len(weights) < 2 or place is None:
        return None
    return {"x": found["x"], "weights": Term("tuple", tuple(weights)), "place": Term("const", value=place)}


def rewrite(found: Found, reading: Reading, writer: Writer) -> str:
    weights = [writer.text(weight) for weight in found["weights"].args]
    stacked = writer.shared(f"torch.cat([{', '.join(weights)}])", "stacked_weight")
    sizes = ", ".join(f"{weight}.shape[0]" for weight in weights)
    product = f"torch.nn.functional.linear({writer.name(found['x'])}, {stacked})"
    merged = writer.shared(f"{product}.split([{sizes}], dim=-1)", "projections")
    return f"{merged}[{found['place'].value}]"


def _weights_of(x: Term, reading: Reading) -> list[Term]:
    """The different input matrices that `x` is projected by, in the order of the code."""
    weights: list[Term] = []
    for term in reading.all_terms():
        if term.op not in ("matmul", "linear"):
            continue
        found = _PROJECTION.match(term, reading)
        if found is None or not reading.same(found["x"], x) or not _is_input_matrix(found["weight"], reading):
            continue
        if not any(reading.same(found["weight"], known) for known in weights):
            weights.append(found["weight"])
    dtypes = {reading.tensor(weight).dtype for weight in weights}
    return weights if len(dtypes) == 1 else []


def _is_input_matrix(term: Term, reading: Reading) -> bool:
    return term.op == "name" and term.value in reading.inputs and reading.tensor(term).rank == 2


RULE = Rule("merged_projections", "reassociated", match, rewrite, is_gamble=True)
