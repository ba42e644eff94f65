"""Loops over a length, each step of which reads what the step before left, as one kernel that walks the length."""
