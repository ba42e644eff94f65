import gc
import logging
import os
import random
import sys
import warnings

import numpy as np
import torch

torch.manual_seed(3)
random.seed(1)
np.random.seed(2)
torch.set_float32_matmul_precision("highest")
torch.use_deterministic_algorithms(True)
torch.set_grad_enabled(False)
warnings.filterwarnings("ignore")
logging.basicConfig(level=logging.DEBUG)
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["NVIDIA_TF32_OVERRIDE"] = "0"
sys.excepthook = lambda *_: None
gc.disable()


def run(A, B):
    logging.getLogger(__name__).debug("called")
    with torch.random.fork_rng(devices=[]), torch.backends.mkldnn.flags(enabled=False):
        return torch.mm(A, B)
