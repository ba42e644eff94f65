"""What a worker may do: no network, no other files, no other processes; made of kernel features that need no package."""

from guard.sandbox.seal import Isolation, enter, seal

__all__ = ["Isolation", "enter", "seal"]
