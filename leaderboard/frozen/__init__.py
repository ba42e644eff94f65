"""Frozen sentinel kernels: built once per architecture, kept by digest, launched through the CUDA driver alone."""
