"""Rewriting: what a reference does between its matrix products and other library calls, as few Triton kernels."""
