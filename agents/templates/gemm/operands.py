"""Which inputs a matrix product multiplies, and how they lie."""

from agents.reading.kinds import Kind
from agents.reading.pattern import Pattern
from agents.reading.reading import Reading
from agents.reading.term import Term
from agents.templates.gemm.form import Product

_FORMS = (
    Pattern("torch.nn.functional.linear(_rows, _weight, _bias)"),
    Pattern("torch.matmul(_rows, _weight)"),
    Pattern("torch.addmm(_bias, _rows, _weight)"),
)
_TURNED = Pattern("cast(_weight.transpose(-2, -1))")
ELEMENTS = ("bfloat16", "float16")


def product_of(plain: Term, reading: Reading) -> tuple[str, Product, Term | None] | None:
    """The rows, the product and the bias of a term that multiplies two inputs; None for any other."""
    for form in _FORMS:
        found = form.match(plain, reading)
        if found is not None:
            return _completed(dict(found), plain.op == "linear", reading)
    return None


def _completed(
    found: dict[str, Term], turned: bool, reading: Reading
) -> tuple[str, Product, Term | None] | None:
    weight = found["weight"]
    inner = _TURNED.match(weight, reading)
    if inner is not None:
        turned, weight = not turned, inner["weight"]
    bias = found.get("bias")
    if bias is not None and reading.look_through(bias).op == "const":
        bias = None
    first, second = _operand(found["rows"], reading, many=True), _operand(weight, reading)
    if first is None or second is None:
        return None
    (_, many), (_, two) = first, second
    if many.shape is None or len(many.shape) < 2 or two.rank != 2 or many.dtype != two.dtype:
        return None
    return first[0], Product(second[0], turned), bias


def _operand(term: Term, reading: Reading, many: bool = False) -> tuple[str, Kind] | None:
    """An input of a narrow type; widening it first changes nothing, since sums are fp32 anyway.

    `many`: its rows may be counted in other ways first, by `reshape`.
    """
    types, plain = [reading.tensor(term).dtype], reading.look_through(term)
    while plain.op == "to" or (many and _keeps_rows(plain, reading)):
        types.append(reading.tensor(plain).dtype)
        plain = reading.look_through(plain.args[0])
    kind = reading.inputs.get(str(plain.value)) if plain.op == "name" else None
    if not isinstance(kind, Kind) or kind.dtype not in ELEMENTS:
        return None
    return (str(plain.value), kind) if set(types) <= {kind.dtype, "float32"} else None


def _keeps_rows(plain: Term, reading: Reading) -> bool:
    """`x.contiguous()`, and `x.reshape(-1, hidden)` where the last size stays."""
    if plain.op == "reshape":
        before, after = reading.tensor(plain.args[0]).shape, reading.tensor(plain).shape
        return bool(before and after and before[-1] is not None and before[-1] == after[-1])
    return plain.op == "contiguous"
