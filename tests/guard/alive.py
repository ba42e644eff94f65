"""What a session has running."""

import time

from guard.session import Session
from guard.warden import at_work, descendants


def alive_below(session: Session) -> list[int]:
    """What works below the zygote, once a warden that has said its last has gone too."""
    deadline = time.monotonic() + 5
    while len(found := at_work(descendants(session.zygote.pid))) > 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    return found
