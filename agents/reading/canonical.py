"""From an expression as written to a term: aliases resolved, arguments put in order, one spelling an idea."""

import ast
from collections.abc import Mapping

from agents.reading.operations import (
    DEFAULTS,
    DTYPE_METHODS,
    DTYPES,
    RENAMED_KEYWORDS,
    SIGNATURES,
    SPELLINGS,
    VARIADIC,
)
from agents.reading.term import ABSENT, Constant, Term

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.MatMult: "matmul",
    ast.FloorDiv: "floordiv", ast.Mod: "mod",
}  # fmt: skip
_BINARY_FUNCTIONS = frozenset({"add", "sub", "mul", "div"})
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
_FUNCTION_HOMES = ("torch.nn.functional.", "torch.special.", "torch.")

Aliases = Mapping[str, str]
"""What imported names stand for: `F` for `torch.nn.functional`."""

STANDARD_ALIASES: Aliases = {"torch": "torch", "F": "torch.nn.functional", "math": "math"}


def canonical(node: ast.expr, aliases: Aliases = STANDARD_ALIASES) -> Term:
    """The term of `node`; what is not known keeps its text and matches nothing but itself."""
    term = _term(node, aliases)
    return Term(term.op, term.args, term.value, node)


def _term(node: ast.expr, aliases: Aliases) -> Term:
    match node:
        case ast.Name(id=text):
            return Term("name", value=text)
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return Term("const", value=value)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return Term("tuple", tuple(canonical(item, aliases) for item in items))
        case ast.UnaryOp():
            return _unary(node, aliases)
    return _operator(node, aliases) or _access(node, aliases) or _opaque(node)


def _operator(node: ast.expr, aliases: Aliases) -> Term | None:
    match node:
        case ast.BinOp(left=ast.Name(id=first) as left, op=ast.Mult(), right=ast.Name(id=second)) if (
            first == second
        ):
            return Term("pow", (canonical(left, aliases), Term("const", value=2)))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return Term(_BINARY[type(op)], (canonical(left, aliases), canonical(right, aliases)))
        case ast.Compare(left=left, ops=[comparison], comparators=[right]) if (
            type(comparison) in _COMPARISONS
        ):
            return Term(_COMPARISONS[type(comparison)], (canonical(left, aliases), canonical(right, aliases)))
    return None


def _access(node: ast.expr, aliases: Aliases) -> Term | None:
    match node:
        case ast.Attribute():
            return _attribute(node, aliases)
        case ast.Subscript(value=base, slice=index):
            return Term("index", (canonical(base, aliases), _index(index, aliases)))
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as text)], keywords=[]):
            return _float(node, text)
        case ast.Call():
            return _call(node, aliases)
    return None


def _float(node: ast.expr, text: str) -> Term:
    try:
        return Term("const", value=float(text))
    except ValueError:
        return _opaque(node)


def _opaque(node: ast.AST) -> Term:
    return Term("opaque", value=ast.unparse(node))


def _unary(node: ast.UnaryOp, aliases: Aliases) -> Term:
    operand = canonical(node.operand, aliases)
    if isinstance(node.op, ast.UAdd):
        return operand
    if isinstance(node.op, ast.USub):
        if operand.op == "const" and isinstance(operand.value, int | float):
            return Term("const", value=-operand.value)
        return Term("neg", (operand,))
    return Term("not", (operand,))


def _index(node: ast.expr, aliases: Aliases) -> Term:
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return Term("slice", tuple(ABSENT if end is None else canonical(end, aliases) for end in ends))
    if isinstance(node, ast.Tuple):
        return Term("tuple", tuple(_index(item, aliases) for item in node.elts))
    if isinstance(node, ast.Constant) and node.value is Ellipsis:
        return Term("ellipsis")
    return canonical(node, aliases)


def dotted(node: ast.expr, aliases: Aliases) -> str | None:
    """`torch.nn.functional.silu` for `F.silu`; None when the root is no imported name."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id)
    if isinstance(node, ast.Attribute):
        root = dotted(node.value, aliases)
        return None if root is None else f"{root}.{node.attr}"
    return None


def _attribute(node: ast.Attribute, aliases: Aliases) -> Term:
    path = dotted(node, aliases)
    if path is not None:
        short = path.removeprefix("torch.")
        return Term("dtype", value=DTYPES[short]) if short in DTYPES else Term("path", value=path)
    base = canonical(node.value, aliases)
    if node.attr in ("T", "mT"):
        return _swap_last(base)
    return Term("attribute", (base,), node.attr)


def _swap_last(base: Term) -> Term:
    return Term("transpose", (base, Term("const", value=-2), Term("const", value=-1)))


def _call(node: ast.Call, aliases: Aliases) -> Term:
    keywords = {k.arg: canonical(k.value, aliases) for k in node.keywords if k.arg is not None}
    starred = any(isinstance(arg, ast.Starred) for arg in node.args)
    if starred or len(keywords) != len(node.keywords):
        return _opaque(node)
    positional = [canonical(arg, aliases) for arg in node.args]
    path = dotted(node.func, aliases)
    if path is not None:
        home = next((h for h in _FUNCTION_HOMES if path.startswith(h)), None)
        if home is None or "." in path.removeprefix(home):
            return Term("call", tuple(positional), path) if not keywords else _opaque(node)
        return _operation(node, path.removeprefix(home), positional, keywords)
    if isinstance(node.func, ast.Attribute):
        base = canonical(node.func.value, aliases)
        return _operation(node, node.func.attr, [base, *positional], keywords)
    return _opaque(node)


def _operation(node: ast.Call, name: str, positional: list[Term], keywords: dict[str, Term]) -> Term:
    special = _special(name, positional, keywords)
    if special is not None:
        return special
    op = SPELLINGS.get(name, name)
    if op in _BINARY_FUNCTIONS and len(positional) == 2 and not keywords:
        return Term(op, tuple(positional))
    if op not in SIGNATURES:
        return _opaque(node)
    return _ordered(op, positional, keywords) or _opaque(node)


def _special(name: str, positional: list[Term], keywords: dict[str, Term]) -> Term | None:
    """Spellings that are not a mere renaming: `x.t()`, `x.float()`, `x.size(0)`, `x.square()`, `x.type_as(y)`."""
    if keywords or not positional:
        return None
    base, rest = positional[0], positional[1:]
    if name == "t" and not rest:
        return _swap_last(base)
    if name == "square" and not rest:
        return Term("pow", (base, Term("const", value=2)))
    if name in DTYPE_METHODS and not rest:
        return Term("to", (base, Term("dtype", value=DTYPE_METHODS[name])))
    if name in ("to", "type") and len(rest) == 1 and _may_be_dtype(rest[0]):
        return Term("to", (base, rest[0]))
    if name in ("type_as", "to") and len(rest) == 1 and rest[0].op == "name":
        return Term("to", (base, Term("attribute", (rest[0],), "dtype"))) if name == "type_as" else None
    if name == "size":
        shape = Term("attribute", (base,), "shape")
        return shape if not rest else Term("index", (shape, rest[0]))
    return None


def _may_be_dtype(term: Term) -> bool:
    return term.op in ("dtype", "name") or (term.op == "attribute" and term.value == "dtype")


def _ordered(op: str, positional: list[Term], keywords: dict[str, Term]) -> Term | None:
    """Arguments in the order of the signature, defaults filled in; None when they do not fit it."""
    parameters = SIGNATURES[op]
    keywords = {RENAMED_KEYWORDS.get(key, key): value for key, value in keywords.items()}
    if op == "var" and "unbiased" in keywords:
        keywords["correction"] = Term("const", value=int(keywords.pop("unbiased").value is not False))
    if op in VARIADIC:
        positional = _gather_sizes(op, positional)
    if len(positional) > len(parameters):
        return None
    given: dict[str, Term] = dict(zip(parameters, positional, strict=False))
    ignored = ("dtype", "device") if op == "full" else ("device",)
    given.update({key: value for key, value in keywords.items() if key not in ignored})
    if not given.keys() <= set(parameters):
        return None
    return Term(op, tuple(_plain(given.get(p, _default(op, p))) for p in parameters))


def _gather_sizes(op: str, positional: list[Term]) -> list[Term]:
    first = 0 if op in ("ones", "full") else 1
    sizes = positional[first:]
    if op == "full" or (sizes and sizes[0].op == "tuple"):
        return positional
    if len(sizes) == 1 and sizes[0].op in ("attribute", "name"):
        return positional
    return [*positional[:first], Term("tuple", tuple(sizes))]


def _default(op: str, parameter: str) -> Term:
    value: Constant = DEFAULTS.get((op, parameter))
    return Term("const", value=value) if (op, parameter) in DEFAULTS else ABSENT


def _plain(term: Term) -> Term:
    """A tuple of one constant is that constant: `dim=(-1,)` is `dim=-1`."""
    if term.op == "tuple" and len(term.args) == 1 and term.args[0].op == "const":
        return term.args[0]
    return term
