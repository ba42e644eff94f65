"""Where in its own code a candidate failed: its frames alone, by the names of its files."""

import linecache
import traceback
from pathlib import Path

_MOST_FRAMES = 12
_LONGEST_LINE = 160


def own_frames(error: BaseException, source: Path) -> list[str]:
    """`main.py:12, in run: x + y`, outermost first, for each frame whose file lies in `source`; none may do."""
    found = []
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename)
        if path.is_relative_to(source):
            said = f"{path.relative_to(source)}:{frame.lineno}, in {frame.name}"
            line = linecache.getline(frame.filename, frame.lineno or 0).strip()[:_LONGEST_LINE]
            found.append(f"{said}: {line}" if line else said)
    return found[-_MOST_FRAMES:]


def words(error: BaseException) -> str:
    """What an error says of itself; its class may be the candidate's, and fail at that too."""
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 - whatever it is, it is no answer
        return "what it says of itself fails too"


def told(error: BaseException, source: Path) -> str:
    """What was raised and, where it came out of the candidate's own code, from which lines of it."""
    said = f"{type(error).__name__}: {words(error)}"
    frames = own_frames(error, source)
    return f"{said} (at {' > '.join(frames)})" if frames else said
