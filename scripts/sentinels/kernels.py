"""The sentinel kernels in Triton. Each is launched as one wave of programs that walk over the work.

So every program ends with the kernel, and `cycles` at the end of each lengthens the kernel by just so many cycles of
the multiprocessors' clock: what a driver check is tested with. In a sentinel it is 0.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import triton
import triton.language as tl


@triton.jit
def wait(cycles):
    """Keep every thread here for so many cycles; nothing for 0."""
    if cycles > 0:
        tl.inline_asm_elementwise(
            "{ .reg .pred early; .reg .u64 begin, now, past, wanted; cvt.u64.u32 wanted, $1; mov.u64 begin, %clock64; "
            "AGAIN: mov.u64 now, %clock64; sub.u64 past, now, begin; setp.lt.u64 early, past, wanted; @early bra AGAIN; "
            "mov.u32 $0, 0; }",
            "=r,r",
            [cycles],
            dtype=tl.int32,
            is_pure=False,
            pack=1,
        )


@triton.jit
def copy(x, y, cycles, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """`y = 2 x`."""
    for start in range(tl.program_id(0) * BLOCK, SIZE, tl.num_programs(0) * BLOCK):
        place = start + tl.arange(0, BLOCK)
        tl.store(y + place, tl.load(x + place) * 2)
    wait(cycles)


@triton.jit
def reduce(x, total, cycles, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """`total = x.sum(-1)`."""
    for row in range(tl.program_id(0), ROWS, tl.num_programs(0)):
        tl.store(total + row, tl.sum(tl.load(x + row * WIDTH + tl.arange(0, WIDTH)), axis=0))
    wait(cycles)


@triton.jit
def arithmetic(x, y, cycles, SIZE: tl.constexpr, BLOCK: tl.constexpr, STEPS: tl.constexpr):
    """`y = x`, drawn towards one by a thousandth in each of STEPS steps."""
    for start in range(tl.program_id(0) * BLOCK, SIZE, tl.num_programs(0) * BLOCK):
        place = start + tl.arange(0, BLOCK)
        value = tl.load(x + place)
        for _ in range(STEPS):
            value = value * 0.999 + 0.001
        tl.store(y + place, value)
    wait(cycles)


@triton.jit
def product(
    a, b, c, cycles, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
):  # fmt: skip
    """`c = a b`, one block a program."""
    across = N // COLUMNS
    rows = tl.program_id(0) // across * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(0) % across * COLUMNS + tl.arange(0, COLUMNS)
    depth = tl.arange(0, DEPTH)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, K, DEPTH):
        left = tl.load(a + rows[:, None] * K + (start + depth)[None, :])
        right = tl.load(b + (start + depth)[:, None] * N + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16))
    wait(cycles)


@triton.jit
def gather(table, index, picked, cycles, COUNT: tl.constexpr, WIDTH: tl.constexpr, LOWEST: tl.constexpr):
    """`picked = table[index - LOWEST]`."""
    column = tl.arange(0, WIDTH)
    for place in range(tl.program_id(0), COUNT, tl.num_programs(0)):
        row = tl.load(index + place) - LOWEST
        tl.store(picked + place * WIDTH + column, tl.load(table + row * WIDTH + column))
    wait(cycles)


@triton.jit
def step(x, y, cycles, SIZE: tl.constexpr):
    """`y = x + 1`."""
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(y + place, tl.load(x + place) + 1)
    wait(cycles)
