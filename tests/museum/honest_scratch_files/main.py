import json
import tempfile
from pathlib import Path

import torch

NOTE = Path(tempfile.gettempdir()) / "tuning.json"


def run(A, B):
    if not NOTE.exists():
        NOTE.write_text(json.dumps({"rows": 8}))
    step = json.loads(NOTE.read_text())["rows"]
    return torch.cat([part @ B for part in A.split(step)])
