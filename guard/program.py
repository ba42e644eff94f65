"""Runs one of the guard's programs, inside the sandbox when asked: `python -m guard.program sandboxed MODULE ASK ANSWER`."""

import runpy
import sys
from pathlib import Path

from guard.sandbox import landlock, limits, seccomp


def main(argv: list[str]) -> None:
    mode, module, ask, answer = argv[1:5]
    if mode == "sandboxed":
        limits.set_limits(None)
        limits.leave_network()
        limits.give_up_privileges()
        scratch, checkout = Path(ask).parent, Path(__file__).resolve().parent.parent
        # the program is ours and imports our modules while it runs, so it may read them; it holds no secret
        landlock.restrict([checkout / "guard", checkout / "tasks"], [scratch], gpu=False)
        seccomp.forbid(seccomp.NEVER, inet=False)
    sys.argv = [module, ask, answer]
    runpy.run_module(module, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv)
