"""Kernels that never ran: samplers whose truth is known, played through the real decision functions."""
