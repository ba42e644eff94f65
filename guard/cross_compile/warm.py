"""What Triton does once in every process that compiles, done before processes are forked."""

import contextlib
from importlib import import_module


def warm_up() -> None:
    """Triton's own files are digested for its cache (0.4 s), and a language imported that every compilation asks for.
    So are torch's symbolic sizes, with sympy (0.5 s), which every call on tensors without values asks for.

    Nothing is compiled: that would start threads, and who has threads cannot be forked. What a version of Triton keeps
    elsewhere is left for the first compilation.
    """
    with contextlib.suppress(ImportError):
        import_module("torch.fx.experimental.symbolic_shapes")
    with contextlib.suppress(ImportError, AttributeError):
        import_module("triton.experimental.gluon")
        import_module("triton.runtime.cache").triton_key()
