"""Runs the Hopper kernel on a CPU: a cluster's lanes as threads; barriers, tensor maps and warpgroups as PTX has them.

What is emulated follows the manual, not the kernel: a wrong parity hangs, a wrong swizzle or fragment gives wrong numbers.
"""

import re
from pathlib import Path

from tests.agents.emulated_cuda import NUMBERS, library

_SHIM = r"""
#include <condition_variable>
#include <map>
#include <mutex>
#define __grid_constant__
struct CUtensorMap { uint8_t *data; int64_t rows, columns; int box_rows; };
struct Index { int x; };
static thread_local Index threadIdx, blockIdx;
static thread_local int own_rank;
static Index gridDim;
uint8_t raw[1];
static std::vector<uint8_t> memory[2];
struct Barrier { int count = 0, pending = 0, phase = 0; int64_t bytes = 0; };
static std::map<uint32_t, Barrier> barriers[2];
static std::mutex lock;
static std::condition_variable changed;
static std::barrier<> *of_cluster, *of_block[2], *of_group[2][3], *of_warp[2][12];
static uint32_t places[2][12][32];

inline uint32_t address(const void *) { return 16; }  // not where a swizzled tile may begin
inline void barrier_init(uint32_t at, int count) {
  std::lock_guard<std::mutex> held(lock); barriers[own_rank][at] = {count, count};
}
inline void settle(Barrier &b) {
  if (b.pending == 0 && b.bytes == 0) { ++b.phase; b.pending = b.count; changed.notify_all(); }
}
inline void barrier_expect(uint32_t at, int bytes) {
  std::lock_guard<std::mutex> held(lock); Barrier &b = barriers[own_rank].at(at); b.bytes += bytes; --b.pending; settle(b);
}
inline void barrier_arrive(uint32_t at, uint32_t rank) {
  std::lock_guard<std::mutex> held(lock); Barrier &b = barriers[rank].at(at); --b.pending; settle(b);
}
inline void barrier_wait(uint32_t at, uint32_t parity) {
  std::unique_lock<std::mutex> held(lock); Barrier &b = barriers[own_rank].at(at);
  changed.wait(held, [&] { return static_cast<uint32_t>(b.phase & 1) != parity; });
}
inline uint32_t swizzled(uint32_t at) { return at ^ (at >> 7 & 7) << 4; }
inline uint8_t *element(const CUtensorMap *map, int row, int column) {
  return row < map->rows && column < map->columns ? map->data + (row * map->columns + column) * 2 : nullptr;
}
inline void copy_in(int rank, uint32_t into, const CUtensorMap *map, uint32_t told, int column, int row) {
  std::lock_guard<std::mutex> held(lock);
  for (int r = 0; r < map->box_rows; ++r)
    for (int c = 0; c < 64; ++c) {
      uint16_t value = 0;
      if (uint8_t *at = element(map, row + r, column + c)) std::memcpy(&value, at, 2);
      std::memcpy(&memory[rank][swizzled(into + r * 128 + c * 2)], &value, 2);
    }
  Barrier &b = barriers[rank].at(told); b.bytes -= map->box_rows * 128; settle(b);
}
inline void fetch(uint32_t into, const CUtensorMap *map, uint32_t told, int column, int row) {
  copy_in(own_rank, into, map, told, column, row);
}
inline void fetch_for(int blocks, uint32_t into, const CUtensorMap *map, uint32_t told, int column, int row) {
  for (int rank = 0; rank < 2; ++rank) if (blocks >> rank & 1) copy_in(rank, into, map, told, column, row);
}
inline void write_out(const CUtensorMap *map, uint32_t from, int column, int row) {
  for (int r = 0; r < map->box_rows; ++r)
    for (int c = 0; c < 64; ++c)
      if (uint8_t *at = element(map, row + r, column + c))
        std::memcpy(at, &memory[own_rank][swizzled(from + r * 128 + c * 2)], 2);
}
template <int left> void wait_until_read() {}
inline float value_at(uint64_t tile, int row, int k) {
  const uint32_t begin = (tile & 0x3FFF) * 16, eight_rows = (tile >> 32 & 0x3FFF) * 16;
  const uint32_t at = begin + row / 8 * eight_rows + row % 8 * 128 + k * 2;
  uint16_t bits; std::memcpy(&bits, &memory[own_rank][swizzled(at)], 2);
  uint32_t wide = uint32_t{bits} << 16; float value; std::memcpy(&value, &wide, 4); return value;
}
template <int sums> void multiply(float (&sum)[sums], uint64_t a, uint64_t b, int keep) {
  const int thread = threadIdx.x % 128, lane = thread % 32;
  for (int i = 0; i < sums; ++i) {
    const int row = thread / 32 * 16 + lane / 4 + i % 4 / 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    float whole = keep ? sum[i] : 0.0f;
    for (int k = 0; k < 16; ++k) whole += value_at(a, row, k) * value_at(b, column, k);
    sum[i] = whole;
  }
}
inline void wgmma_begin() {}
inline void wgmma_commit() {}
template <int left> void wgmma_wait() { of_group[own_rank][threadIdx.x / 128]->arrive_and_wait(); }
inline void __syncwarp() { of_warp[own_rank][threadIdx.x / 32]->arrive_and_wait(); }
inline void __syncthreads() { of_block[own_rank]->arrive_and_wait(); }
inline void cluster_sync() { of_cluster->arrive_and_wait(); }
inline uint32_t cluster_rank() { return own_rank; }
inline uint32_t packed(float low, float high) { return __nv_bfloat16(low).bits | uint32_t{__nv_bfloat16(high).bits} << 16; }
inline uint32_t added(uint32_t first, uint32_t second) {
  auto wide = [](uint32_t bits) { uint32_t r = bits << 16; float v; std::memcpy(&v, &r, 4); return v; };
  return packed(wide(first & 0xffff) + wide(second & 0xffff), wide(first >> 16) + wide(second >> 16));
}
// Lane 8 i + r gives the address of row r of matrix i; a lane's share of matrix i is two elements of row lane / 4.
inline void matrices(uint32_t where, uint32_t *values[4], bool store) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  places[own_rank][warp][lane] = where;
  __syncwarp();
  for (int i = 0; i < 4; ++i) {
    uint8_t *at = &memory[own_rank][places[own_rank][warp][8 * i + lane / 4] + lane % 4 * 4];
    store ? std::memcpy(at, values[i], 4) : std::memcpy(values[i], at, 4);
  }
  __syncwarp();
}
inline void stmatrix(uint32_t where, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  uint32_t *values[] = {&a, &b, &c, &d};
  matrices(where, values, true);
}
inline void ldmatrix(uint32_t where, uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d) {
  uint32_t *values[] = {&a, &b, &c, &d};
  matrices(where, values, false);
}
"""
_MAIN = r"""
extern "C" void run(uint8_t *rows, uint8_t *weight, uint8_t *residual, uint8_t *result, int m, int n, int k) {
  const CUtensorMap of_rows{rows, m, k, kHeight}, of_weight{weight, n, k, kWidth / kCluster}, of_result{result, m, n, 16};
  const CUtensorMap of_residual{residual, m, n, 16};
  const int high = (m + kHeight * kCluster - 1) / (kHeight * kCluster), wide = (n + kWidth - 1) / kWidth;
  gridDim.x = std::min(high * wide, 2) * kCluster;
  for (int cluster = 0; cluster < gridDim.x / kCluster; ++cluster) {
    of_cluster = new std::barrier<>(kCluster * kThreads);
    std::vector<std::thread> lanes;
    for (int rank = 0; rank < kCluster; ++rank) {
      memory[rank].assign(kSharedBytes + 16, 0xff); barriers[rank].clear();
      of_block[rank] = new std::barrier<>(kThreads);
      for (auto &group : of_group[rank]) group = new std::barrier<>(128);
      for (auto &warp : of_warp[rank]) warp = new std::barrier<>(32);
    }
    for (int t = 0; t < kCluster * kThreads; ++t)
      lanes.emplace_back([=] {
        own_rank = t / kThreads, threadIdx.x = t % kThreads, blockIdx.x = cluster * kCluster + own_rank;
        product(of_rows, of_weight, RESIDUAL of_result, high, wide, (k + kDepth - 1) / kDepth);
      });
    for (auto &lane : lanes) lane.join();
  }
}
"""
_NOTHING = ("fence.mbarrier_init", "setmaxnreg", "fence.proxy.async", "cp.async.bulk.wait_group")


def build(source: str, folder: Path) -> Path:
    """A shared library with `run(rows, weight, residual, result, m, n, k)` on dense bf16 matrices."""
    constants = source[source.index("constexpr int kHeight") : source.index("#if defined(__CUDA_ARCH_FEAT")]
    described = source[
        source.index("__device__ inline uint64_t described") : source.index("__device__ inline void multiply")
    ]
    order = source[source.index("struct Place") : source.index("#endif", source.index("struct Place"))]
    kernel = source[source.index("__global__") : source.index("// The driver's own function")]
    kernel = re.sub(r"#(if|endif).*\n", "", kernel)
    kernel = kernel.replace("extern __shared__", "extern")
    for name in _NOTHING:
        kernel = re.sub(rf'asm volatile\("{re.escape(name)}.*?\);', ";", kernel, flags=re.S)
    kernel = re.sub(r'asm volatile\("stmatrix.*?\);', "stmatrix(where, v0, v1, v2, v3);", kernel, flags=re.S)
    kernel = re.sub(r'asm volatile\("ldmatrix.*?\);', "ldmatrix(where, r0, r1, r2, r3);", kernel, flags=re.S)
    ending = _MAIN.replace("RESIDUAL", "of_residual," if "residual" in kernel else "")
    source = NUMBERS + _SHIM + constants + described + order + kernel + ending
    return library(folder / "hopper.cpp", source, "-O2")
