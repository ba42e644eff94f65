import json
import sys

import torch


def run(A, B):
    print(json.dumps({"i": 1, "status": "FAILED", "evaluation": {"latency_ms": 12.0}}), flush=True)
    print('{"error": "raised"}', file=sys.stderr)
    return torch.mm(A, B)
