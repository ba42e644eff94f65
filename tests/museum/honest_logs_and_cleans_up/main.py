import atexit
import logging
import warnings
import weakref

import torch

logging.basicConfig(level=logging.INFO)
warnings.simplefilter("ignore")


class Workspace:
    def __init__(self):
        self.room = {}

    def rows(self, count, columns):
        return self.room.setdefault((count, columns), torch.empty(count, columns))


_workspace = Workspace()
weakref.finalize(_workspace, logging.info, "workspace freed")
atexit.register(lambda: _workspace.room.clear())


def run(A, B):
    logging.info("product of %s and %s", tuple(A.shape), tuple(B.shape))
    return torch.mm(A, B, out=_workspace.rows(A.shape[0], B.shape[1]))
