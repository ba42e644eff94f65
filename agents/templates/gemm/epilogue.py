"""From what a reference does to a product to Triton statements on fp32 tiles, rounded where it rounds."""

from agents.reading.kinds import Kind, Scalar
from agents.reading.reading import Reading
from agents.reading.term import Term
from agents.templates.gemm.form import Product
from agents.templates.gemm.operands import product_of

_NARROW = ("bfloat16", "float16")
_BINARY = {"add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "div": "{0} / {1}"}
_UNARY = {
    "neg": "-{0}",
    "abs": "tl.abs({0})",
    "exp": "tl.exp({0})",
    "sqrt": "tl.sqrt({0})",
    "rsqrt": "tl.rsqrt({0})",
    "sigmoid": "tl.sigmoid({0})",
    "tanh": "2 * tl.sigmoid(2 * {0}) - 1",
    "silu": "{0} * tl.sigmoid({0})",
}
_GELU = {
    "none": "0.5 * {0} * (1 + tl.erf({0} * 0.7071067811865476))",
    "tanh": "{0} * tl.sigmoid(1.5957691216057308 * ({0} + 0.044715 * {0} * {0} * {0}))",
}
_POWERS = {2: "{0} * {0}", 3: "{0} * {0} * {0}"}


class NotPointwise(Exception):
    """The term mixes elements, or is of a kind that is not known here."""


class Epilogue:
    """Walks a term once; afterwards holds the products, the inputs by their part, and the statements."""

    def __init__(self, reading: Reading, columns: int | str, rank_sizes: tuple[object, ...]) -> None:
        self._reading, self._columns, self._shape = reading, columns, rank_sizes
        self.products: list[Product] = []
        self.rows: set[str] = set()
        self.tiles: list[str] = []
        self.vectors: list[str] = []
        self.scalars: list[str] = []
        self.steps: list[str] = []
        self._known: dict[int, str] = {}

    def write(self, term: Term) -> str:
        """The name or number that holds `term`. Raises `NotPointwise`."""
        number = self._reading.number(term)
        if number not in self._known:
            self._known[number] = self._written(self._reading.look_through(term), term)
        return self._known[number]

    def _written(self, plain: Term, term: Term) -> str:
        kind = self._reading.kind(term)
        if isinstance(kind, Scalar):
            return self._scalar(plain, kind)
        if plain.op == "name":
            return self._input(str(plain.value), kind)
        if plain.op == "to":
            return self._rounded(self.write(plain.args[0]), kind, self._dtype(plain.args[0]))
        if plain.op in ("reshape", "contiguous") and self._keeps_columns(plain):
            return self.write(plain.args[0])
        product = product_of(plain, self._reading)
        if product is not None:
            return self._product(product, kind)
        return self._rounded(self._operation(plain), kind)

    def _operation(self, plain: Term) -> str:
        if plain.op in _BINARY:
            return _BINARY[plain.op].format(*(self.write(arg) for arg in plain.args))
        if plain.op in _UNARY:
            return _UNARY[plain.op].format(self.write(plain.args[0]))
        if plain.op == "gelu" and plain.args[1].value in _GELU:
            return _GELU[str(plain.args[1].value)].format(self.write(plain.args[0]))
        if plain.op == "pow" and (text := _POWERS.get(self._power(plain))):
            return text.format(self.write(plain.args[0]))
        raise NotPointwise(plain.op)

    def _power(self, plain: Term) -> int:
        value = self._reading.scalar(plain.args[1])
        return int(value) if isinstance(value, int | float) and value == int(value) else 0

    def _scalar(self, plain: Term, kind: Scalar) -> str:
        if plain.op == "name":
            return self._listed(self.scalars, str(plain.value))
        if isinstance(kind.value, int | float):
            return repr(float(kind.value))
        raise NotPointwise("a number that is not known")

    def _input(self, name: str, kind: object) -> str:
        if not isinstance(kind, Kind) or kind.dtype not in ("float32", *_NARROW) or kind.shape is None:
            raise NotPointwise(name)
        if kind.shape == (self._columns,):
            return self._listed(self.vectors, name)
        if kind.shape == self._shape:
            return self._listed(self.tiles, name)
        raise NotPointwise(name)

    def _product(self, found: tuple[str, Product, Term | None], kind: object) -> str:
        rows, product, bias = found
        self.rows.add(rows)
        self.products.append(product)
        text = f"product_{len(self.products) - 1}"
        # a library adds the bias before the one rounding
        return self._rounded(text if bias is None else f"{text} + {self.write(bias)}", kind)

    def _keeps_columns(self, plain: Term) -> bool:
        before, after = self._reading.tensor(plain.args[0]), self._reading.tensor(plain)
        return plain.op == "contiguous" or (
            before.shape is not None and after.shape is not None and before.shape[-1] == after.shape[-1]
        )

    def _dtype(self, term: Term) -> str | None:
        return self._reading.tensor(term).dtype

    def _rounded(self, text: str, kind: object, before: str | None = None) -> str:
        """A new name for `text`, rounded to the type that the reference keeps it in."""
        dtype = kind.dtype if isinstance(kind, Kind) else None
        if dtype not in ("float32", *_NARROW):
            raise NotPointwise(f"a type that is not known: {dtype}")
        if text.isidentifier() and (dtype == "float32" or dtype == before):
            return text
        name = f"step_{len(self.steps)}"
        rounding = f"({text}).to(tl.{dtype}).to(tl.float32)" if dtype in _NARROW else text
        self.steps.append(f"{name} = {rounding}")
        return name

    @staticmethod
    def _listed(names: list[str], name: str) -> str:
        if name not in names:
            names.append(name)
        return f"in_{name}"
