"""A process that computes on the GPU beside the guard, so that the guard can show that it notices."""

import json
import sys
import time
from pathlib import Path


def main(argv: list[str]) -> None:
    import torch

    seconds = json.loads(Path(argv[1]).read_text())["seconds"]
    a = torch.randn(2048, 2048, device="cuda")
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        a = torch.mm(a, a).clamp_(-1, 1)
        torch.cuda.synchronize()
    Path(argv[2]).write_text(json.dumps({"device": torch.cuda.get_device_name()}))


if __name__ == "__main__":
    main(sys.argv)
