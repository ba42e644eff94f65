"""Triton's own intermediate text (TTIR) as a tree of operations: only as much grammar as counting needs."""

import re
from dataclasses import dataclass, field
from math import prod

_LOCATION = re.compile(r"\s*loc\((?:[^()]|\([^()]*\))*\)")
_RESULT = re.compile(r"^(%[\w$.#-]+)(?::\d+)?\s*=\s*")
_NAME = re.compile(r'^"?([a-z_]\w*\.[\w.]+)"?')
_OPERAND = re.compile(r"%[\w$.#-]+")
_TENSOR = re.compile(r"tensor<((?:\d+x)*)(!tt\.ptr<[^>]*>|[\w]+)")
_PARAMETER = re.compile(r"(%[\w$.-]+):\s*(!tt\.\w+<.*?>+|[\w]+)(?=\s*[{,)]|\s*$)")

_BITS = {"bf16": 16, "f16": 16, "f32": 32, "f64": 64, "f8E4M3FN": 8, "f8E5M2": 8, "f8E4M3": 8}


@dataclass
class Operation:
    """One line: `result = name(operands) : types`, and the regions that follow it."""

    name: str
    result: str | None
    operands: list[str]
    text: str
    regions: list[list["Operation"]] = field(default_factory=list)

    @property
    def types(self) -> str:
        """What follows the last colon that stands before a type."""
        return self.text.rsplit(" : ", 1)[-1]


@dataclass(frozen=True)
class TensorType:
    shape: tuple[int, ...]
    element: str
    """`bf16`, or `!tt.ptr<bf16>`."""

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """Of the values, or of what the pointers point at."""
        return self.elements * element_bits(self.element) // 8


@dataclass
class Kernel:
    parameters: list[tuple[str, str]]
    """Name and type, in order."""
    body: list[Operation]


def parse_kernel(ttir: str) -> Kernel:
    """The one public function of the module `ttir`; helper functions stay uncounted (they are inlined)."""
    lines = [_LOCATION.sub("", line).strip() for line in ttir.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    start = next(i for i, line in enumerate(lines) if line.startswith("tt.func public"))
    body, _ = _region(lines, start + 1)
    signature = lines[start].split("(", 1)[1]
    return Kernel(_PARAMETER.findall(signature.split(") attributes")[0]), body)


def tensor_types(text: str) -> list[TensorType]:
    """Every tensor type that `text` mentions, in order."""
    return [
        TensorType(tuple(int(d) for d in shape.split("x") if d), element)
        for shape, element in _TENSOR.findall(text)
    ]


def element_bits(element: str) -> int:
    """Bits of one element, of the pointee for pointers; 32 where the type is unknown."""
    element = element.removeprefix("!tt.ptr<").split(",")[0].rstrip(">")
    if element in _BITS:
        return _BITS[element]
    integer = re.fullmatch(r"i(\d+)", element)
    return max(int(integer[1]), 8) if integer else 32


def _region(lines: list[str], start: int) -> tuple[list[Operation], int]:
    """Operations from `start` to the brace that closes the region, and the index of that line."""
    operations: list[Operation] = []
    at = start
    while at < len(lines) and not lines[at].startswith("}"):
        operation = _operation(lines[at])
        if lines[at].endswith("{"):
            at = _regions_of(operation, lines, at)
        if operation.name:
            operations.append(operation)
        at += 1
    return operations, at


def _regions_of(operation: Operation, lines: list[str], at: int) -> int:
    """Fills `operation.regions` (several for `} else {` and `} do {`); the index of its last line."""
    while True:
        region, at = _region(lines, at + 1)
        operation.regions.append(region)
        if at >= len(lines) or not lines[at].endswith("{"):
            break
    if at < len(lines) and " : " in lines[at]:
        operation.text += lines[at].lstrip("})")
    return at


def _operation(line: str) -> Operation:
    result = _RESULT.match(line)
    rest = line[result.end() :] if result else line
    name = _NAME.match(rest)
    operands = _OPERAND.findall(rest)
    return Operation(name[1] if name else "", result[1] if result else None, operands, rest)
