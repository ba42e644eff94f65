import ctypes
import subprocess
from pathlib import Path

import torch

CODE = """
extern "C" void product(const float *a, const float *b, float *c, long m, long k, long n) {
#pragma omp parallel for
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) c[i * n + j] = 0;
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}
"""
_library = []


def library():
    if not _library:
        built = Path("product.so").resolve()
        if not built.exists():
            Path("product.cpp").write_text(CODE)
            command = ["g++", "-O2", "-fopenmp", "-shared", "-fPIC", "product.cpp", "-o", str(built)]
            subprocess.run(command, check=True)
        _library.append(ctypes.CDLL(str(built)))
    return _library[0]


def run(A, B):
    out = torch.empty(A.shape[0], B.shape[1])
    pointers = [ctypes.c_void_p(t.data_ptr()) for t in (A, B, out)]
    library().product(*pointers, *map(ctypes.c_long, (A.shape[0], A.shape[1], B.shape[1])))
    return out
