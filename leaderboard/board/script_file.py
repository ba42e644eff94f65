"""Data as script files, since a page opened from disk may load scripts and nothing else.

Each holds one call with gzip in base64: a browser unpacks it by itself, and a task's twenty kernels, which are
much alike, take little more room than one.
"""

import base64
import gzip
import json
import re
from typing import Any

LEVEL = 6


def script_file(name: str, content: Any) -> str:
    """JavaScript that hands `content`, JSON, to the page under `name`; the same text for the same content."""
    text = json.dumps(content, separators=(",", ":"), sort_keys=True, ensure_ascii=False, allow_nan=False)
    packed = gzip.compress(text.encode(), compresslevel=LEVEL, mtime=0)
    return f'kernelarc.receive({json.dumps(name)},"{base64.b64encode(packed).decode()}");\n'


def read_script(script: str) -> Any:
    """What `script_file` packed; for tests, and for whoever wants the figures without a browser."""
    packed = re.search(r',"([A-Za-z0-9+/=]*)"\);', script)
    if packed is None:
        raise ValueError("is no data file of a board")
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))
