"""How sure are we of a time: pure functions of raw samples, nothing here reads a clock or a device.

Times come in milliseconds, process locations are natural logarithms of them, so that a difference of
locations is the logarithm of a ratio. Every function works on the last axis and keeps the axes before it:
the path that simulations run by the thousand is the one that decides a single comparison.
"""
