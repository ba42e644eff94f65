#pragma once

#include <cstdint>

// Addresses of 2-byte elements; strides count elements, and columns lie side by side. The result has no gaps.
struct Matrices {
  const void *rows, *weight, *residual;
  void *result;
  int64_t m, n, k, rows_stride, weight_stride, residual_stride;
};

// Both say what went wrong, or nullptr.
const char *multiply_on_hopper(const Matrices &given, int device, void *stream);
const char *multiply_few(const Matrices &given, void *stream);  // at most 64 rows

bool is_hopper(int device);
