"""What is known of a value without running anything: its element type and its sizes, in the definition's axes."""

from dataclasses import dataclass

from tasks.definition import AxisConst, Definition, TensorSpec

Size = int | str | None
"""A number, an axis name, or not known."""


@dataclass(frozen=True)
class Kind:
    """A tensor. `shape` None: not even the number of dimensions is known."""

    dtype: str | None = None
    shape: tuple[Size, ...] | None = None

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    def same_shape(self, other: "Kind") -> bool:
        """Surely the same shape: every size is known, and equal."""
        return self.shape is not None and self.shape == other.shape and None not in self.shape


@dataclass(frozen=True)
class Scalar:
    """A Python number, which leaves the type of a tensor it meets as it is; its value when it is known."""

    value: int | float | str | None = None
    """A str is an axis name."""


Known = Kind | Scalar | None

_FLOATS = ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64")


def kind_of_spec(definition: Definition, spec: TensorSpec) -> Kind | Scalar:
    if spec.shape is None:
        return Scalar()
    return Kind(spec.dtype.value, tuple(axis_size(definition, axis) for axis in spec.shape))


def axis_size(definition: Definition, axis: str) -> Size:
    """The number that `axis` always is, or else its name."""
    if axis.isdigit():
        return int(axis)
    entry = definition.axes[axis]
    if isinstance(entry, AxisConst):
        return entry.value
    constants = {name: 0 for name in definition.var_axes}
    other = {name: 1 for name in definition.var_axes}
    try:
        size, size_elsewhere = definition.resolve_axes(constants)[axis], definition.resolve_axes(other)[axis]
    except ValueError:
        return axis
    return size if size == size_elsewhere and axis not in definition.var_axes else axis


def promoted(first: Known, second: Known) -> Known:
    """The kind of `first + second`."""
    if isinstance(first, Scalar) and isinstance(second, Scalar):
        return Scalar()
    if isinstance(first, Scalar):
        return second
    if isinstance(second, Scalar):
        return first
    if first is None or second is None:
        return None
    return Kind(_promoted_dtype(first, second), broadcast(first.shape, second.shape))


def _promoted_dtype(first: Kind, second: Kind) -> str | None:
    if first.dtype == second.dtype:
        return first.dtype
    if first.dtype not in _FLOATS or second.dtype not in _FLOATS:
        floats = [d for d in (first.dtype, second.dtype) if d in _FLOATS]
        known = first.dtype is not None and second.dtype is not None
        return floats[0] if known and floats else None
    if {first.dtype, second.dtype} == {"float16", "bfloat16"}:
        return "float32"
    return max(first.dtype, second.dtype, key=_FLOATS.index)


def broadcast(first: tuple[Size, ...] | None, second: tuple[Size, ...] | None) -> tuple[Size, ...] | None:
    if first is None or second is None:
        return None
    length = max(len(first), len(second))
    left = (1,) * (length - len(first)) + first
    right = (1,) * (length - len(second)) + second
    return tuple(_broadcast_size(a, b) for a, b in zip(left, right, strict=True))


def _broadcast_size(first: Size, second: Size) -> Size:
    if first == second or second == 1:
        return first
    if first == 1:
        return second
    return first if isinstance(first, int) and second is None else second if isinstance(second, int) else None
