"""Triton lines that choose the largest of every row, one round a value.

A value and its place make one whole number, so that rounds compare one thing, equal values come in the order in which
they stand, -0.0 equals 0.0, and NaN is larger than all, as torch has it.
"""

TAKEN = "-0x7FFFFFFFFFFFFFFF"
"""What the rounds leave of a value that they chose."""
HELPERS = '''
@triton.jit
def _float_keys(values):
    """Whole numbers in the order of the values; NaN is the largest."""
    bits = tl.where(values == 0.0, 0.0, values).to(tl.int32, bitcast=True)
    keys = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    return tl.where(values != values, 0x7FFFFFFF, keys)


@triton.jit
def _float_values(keys):
    """What had these keys."""
    return tl.where(keys < 0, keys ^ 0x7FFFFFFF, keys).to(tl.float32, bitcast=True)


@triton.jit
def _largest(keys, wanted, COUNT: tl.constexpr, SLOTS: tl.constexpr):
    """COUNT keys of the last of three dimensions, the largest first, each with its place below; and what is left."""
    place = tl.arange(0, keys.shape[2])[None, None, :]
    slot = tl.arange(0, SLOTS)[None, None, :]
    none = -0x7FFFFFFFFFFFFFFF
    left = tl.where(wanted, (keys.to(tl.int64) << 32) | (0x7FFFFFFF - place).to(tl.int64), none)
    best = tl.full((keys.shape[0], keys.shape[1], SLOTS), none, tl.int64)
    for number in range(COUNT):
        most = tl.max(left, axis=2, keep_dims=True)
        best = tl.where(slot == number, most, best)
        left = tl.where(left == most, none, left)
    return best, left


@triton.jit
def _as_they_stand(best, COUNT: tl.constexpr, SLOTS: tl.constexpr):
    """The chosen in the order of their places, those that equal the last of them after the others."""
    slot = tl.arange(0, SLOTS)[None, None, :]
    place = 0x7FFFFFFF - (best & 0x7FFFFFFF)
    last = tl.max(tl.where(slot == COUNT - 1, best >> 32, -0x80000000), axis=2, keep_dims=True)
    order = tl.where((best >> 32) == last, place + 0x80000000, place)
    order = tl.where(slot < COUNT, order, 0x7FFFFFFFFFFFFFFF)
    before = (order[:, :, None, :] < order[:, :, :, None]).to(tl.int32)
    rank = tl.sum(before, axis=3)
    here = rank[:, :, :, None] == tl.arange(0, SLOTS)[None, None, None, :]
    return tl.sum(tl.where(here, best[:, :, :, None], 0), axis=2)
'''
