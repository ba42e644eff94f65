#pragma once

#include <cstdint>

// Addresses of 2-byte elements; strides count elements, and columns lie side by side. The result has no gaps.
struct Matrices {
  const void *rows, *weight, *residual;
  void *result;
  int64_t m, n, k, rows_stride, weight_stride, residual_stride;
};

// What went wrong, or nullptr.
const char *multiply_on_hopper(const Matrices &given, int device, void *stream);

bool is_hopper(int device);
