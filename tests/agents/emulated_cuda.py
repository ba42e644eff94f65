"""Runs the kernel for few rows on a CPU: every lane a thread, tensor cores and barriers by what PTX says of them."""

import re
import subprocess
from pathlib import Path

NUMBERS = r"""
#include <algorithm>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>
#define __global__
#define __device__
#define __launch_bounds__(...)
#define __shared__ static
using std::min;
struct uint4 { uint32_t x, y, z, w; };
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }
template <class T> T __ldg(const T *from) { T value; std::memcpy(&value, from, sizeof value); return value; }
struct __nv_bfloat16 {
  uint16_t bits;
  __nv_bfloat16() = default;
  explicit __nv_bfloat16(float value) {
    uint32_t raw; std::memcpy(&raw, &value, 4);
    bits = (raw + 0x7fff + (raw >> 16 & 1)) >> 16;
  }
  explicit operator float() const {
    uint32_t raw = uint32_t{bits} << 16; float value; std::memcpy(&value, &raw, 4); return value;
  }
};
inline __nv_bfloat16 __float2bfloat16(float value) { return __nv_bfloat16(value); }
inline float __bfloat162float(__nv_bfloat16 value) { return float(value); }
"""
"""What both emulations need: bf16, and the words of CUDA that mean nothing here."""

_SHIM = r"""
struct Index { int x; };
static thread_local Index threadIdx;
static Index blockIdx;
static std::barrier<> *everyone;
static std::vector<std::barrier<> *> of_warp;
inline void __syncthreads() { everyone->arrive_and_wait(); }

// Fragments of m16n8k16 as the PTX manual lays them out: by group (lane / 4) and place (lane % 4).
static uint32_t given[64][32][6];
inline float half_of(uint32_t pair, int which) {
  uint32_t raw = (which ? pair >> 16 : pair & 0xffff) << 16; float value; std::memcpy(&value, &raw, 4); return value;
}
inline void mma(float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint32_t own[6] = {a0, a1, a2, a3, b0, b1};
  std::memcpy(given[warp][lane], own, sizeof own);
  of_warp[warp]->arrive_and_wait();
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    for (int k = 0; k < 16; ++k) {
      const int place = k % 8 / 2, late = k / 8;
      const uint32_t a = given[warp][row % 8 * 4 + place][late * 2 + row / 8], b = given[warp][column * 4 + place][4 + late];
      sum[i] += half_of(a, k % 2) * half_of(b, k % 2);
    }
  }
  of_warp[warp]->arrive_and_wait();
}
"""
_MAIN = r"""
template <class Kernel, class... Arguments> void launch(Kernel kernel, int blocks, int threads, Arguments... arguments) {
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    std::barrier<> all(threads); everyone = &all; of_warp.clear();
    for (int w = 0; w < threads / 32; ++w) of_warp.push_back(new std::barrier<>(32));
    std::vector<std::thread> lanes;
    for (int t = 0; t < threads; ++t) lanes.emplace_back([=] { threadIdx.x = t; kernel(arguments...); });
    for (auto &lane : lanes) lane.join();
    for (auto *barrier : of_warp) delete barrier;
  }
}
extern "C" void run(const void *rows, const void *weight, const void *residual, void *result, int m, int n, int k) {
  auto *kernel = m <= 8 ? few_rows<1> : m <= 16 ? few_rows<2> : m <= 32 ? few_rows<4> : few_rows<8>;
  launch(kernel, (n + kTall - 1) / kTall, kWarps * 32, (const Element *)rows, (const Element *)weight,
         (const Element *)residual, (Element *)result, m, n, k, int64_t{k}, int64_t{k}, int64_t{n});
}
"""


def build(source: str, folder: Path) -> Path:
    """A shared library with `run(rows, weight, residual, result, m, n, k)` on dense bf16 matrices."""
    kernel = re.sub(r"#include.*\n", "", source.split("const char *multiply_few")[0])
    kernel = re.sub(
        r'asm volatile\("ld\.global.*?\);',
        "value = *reinterpret_cast<const uint4 *>(from);",
        kernel,
        flags=re.S,
    )
    kernel = re.sub(r'asm\("createpolicy.*?\);', "policy = 0;", kernel, flags=re.S)
    kernel = re.sub(r'asm\("mma\.sync.*?\);', "mma(sum, a0, a1, a2, a3, b0, b1);", kernel, flags=re.S)
    return library(folder / "few.cpp", NUMBERS + _SHIM + kernel + _MAIN, "-O1")


def library(path: Path, source: str, optimised: str) -> Path:
    """`source` as a shared library beside `path`; no instruction of the GPU's may be left in it."""
    assert "asm" not in source, "an instruction that is not emulated"
    path.write_text(source)
    built = path.with_suffix(".so")
    command = [
        "g++",
        "-std=c++20",
        optimised,
        "-shared",
        "-fPIC",
        "-pthread",
        "-w",
        str(path),
        "-o",
        str(built),
    ]
    subprocess.run(command, check=True)
    return built
