"""Sources of candidates that are only ever compiled or followed on shapes."""

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n"

VECTOR_ADD = (
    HEAD
    + """
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def run(x, y, out):
    assert x.is_cuda and x.device == torch.device("cuda", 0)
    n = x.numel()
    add[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=1024)
"""
)

ROW_NORM = (
    HEAD
    + """
@triton.heuristics({"BLOCK": lambda given: triton.next_power_of_2(given["width"])})
@triton.jit
def norm(x, weight, out, width, eps, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    inside = column < width
    value = tl.load(x + row * width + column, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, 0) / width + eps)
    by = tl.load(weight + column, mask=inside).to(tl.float32)
    tl.store(out + row * width + column, (value * scale * by).to(tl.bfloat16), mask=inside)


def run(x, weight):
    out = torch.empty_like(x)
    norm[(x.shape[0],)](x, weight, out, x.shape[1], 1e-6, num_warps=8)
    return out
"""
)

_PRODUCT = """
@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    left, right = a + row[:, None] * K + depth[None, :], b + depth[:, None] * N + column[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += BK
        right += BK * N
    tl.store(c + row[:, None] * N + column[None, :], total.to(tl.bfloat16))
"""


def product(rows: int, columns: int, depth: int, warps: int, stages: int) -> str:
    """A matrix product with tiles of that size."""
    call = f"BM={rows}, BN={columns}, BK={depth}, num_warps={warps}, num_stages={stages}"
    return f"""{HEAD}{_PRODUCT}

def run(a, b):
    M, K, N = *a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=a.dtype, device=a.device)
    product[(M // {rows}, N // {columns})](a, b, c, M, N, K, {call})
    return c
"""


AUTOTUNED_PRODUCT = f"""{HEAD}
@triton.autotune([
    triton.Config(dict(BM=128, BN=128, BK=128), num_warps=8, num_stages=6),
    triton.Config(dict(BM=128, BN=128, BK=64), num_warps=8, num_stages=3),
], key=["M", "N", "K"]){_PRODUCT}

def run(a, b):
    M, K, N = *a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=a.dtype, device=a.device)
    product[lambda meta: (M // meta["BM"], N // meta["BN"])](a, b, c, M, N, K)
    return c
"""

DESCRIPTOR_PRODUCT = (
    HEAD
    + """
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def product(a, b, c_pointer, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr):
    c = tl.make_tensor_descriptor(c_pointer, [M, N], [N, 1], [BM, BN])
    across = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * across, SMS, flatten=True):
        row, column = tile // across * BM, tile % across * BN
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            total = tl.dot(a.load([row, k * BK]), b.load([k * BK, column]), total)
        c.store([row, column], total.to(tl.bfloat16))


def run(a, b):
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    M, K, N = *a.shape, b.shape[1]
    sms = torch.cuda.get_device_properties(a.device).multi_processor_count
    c = torch.empty(M, N, dtype=a.dtype, device="cuda")
    left = TensorDescriptor.from_tensor(a, [128, 64])
    right = TensorDescriptor.from_tensor(b, [64, 128])
    product[(sms,)](left, right, c, M, N, K, BM=128, BN=128, BK=64, SMS=sms, num_warps=8)
    return c
"""
)

CAUSAL_ATTENTION = (
    HEAD
    + """
@triton.jit
def attend(q, k, v, out, scale, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    block, base = tl.program_id(0), tl.program_id(1) * N * D
    rows, depth, step = block * BM + tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    asked = tl.load(q + base + rows[:, None] * D + depth[None, :])
    top, bottom = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for start in range(0, tl.minimum((block + 1) * BM, N), BN):
        columns = start + step
        score = tl.dot(asked, tl.load(k + base + columns[None, :] * D + depth[:, None])) * scale
        score = tl.where(rows[:, None] >= columns[None, :], score, float("-inf"))
        now = tl.maximum(top, tl.max(score, 1))
        share, keep = tl.exp2(score - now[:, None]), tl.exp2(top - now)
        bottom = bottom * keep + tl.sum(share, 1)
        values = tl.load(v + base + columns[:, None] * D + depth[None, :])
        total = tl.dot(share.to(values.dtype), values, total * keep[:, None])
        top = now
    tl.store(out + base + rows[:, None] * D + depth[None, :], (total / bottom[:, None]).to(tl.bfloat16))


def run(q, k, v):
    out = torch.empty_like(q)
    heads, length = q.shape[0] * q.shape[1], q.shape[2]
    attend[(length // 128, heads)](q, k, v, out, 0.127, length, BM=128, BN=64, D=128, num_warps=8)
    return out
"""
)

LOOP_OVER_VALUES = (
    HEAD
    + """
@triton.jit
def total(x, lengths, out, BLOCK: tl.constexpr):
    row, sum_ = tl.program_id(0), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, tl.load(lengths + row), BLOCK):
        sum_ += tl.load(x + start + tl.arange(0, BLOCK))
    tl.store(out + row * BLOCK + tl.arange(0, BLOCK), sum_)


def run(x, lengths):
    out = torch.empty(lengths.numel(), 128, device=x.device)
    total[(lengths.numel(),)](x, lengths, out, BLOCK=128)
    return out
"""
)

CUDA_ADD = """
__global__ void add(const float* x, const float* y, float* out, int n) {
    __shared__ float part[256];
    int at = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = at < n ? x[at] + y[at] : 0.0f;
    __syncthreads();
    if (at < n) out[at] = part[threadIdx.x];
}
"""

BLACKWELL_ONLY = """
#include <cstdint>
__global__ void allocate(uint32_t* out) {
    __shared__ uint32_t address;
    uint32_t where = (uint32_t)__cvta_generic_to_shared(&address);
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(where));
    *out = address;
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(address));
}
"""
