"""The state of every random generator that a reference may draw from: taken, and put back."""

import random
from typing import Any

import torch


def random_state(device: torch.device) -> tuple[Any, ...]:
    cuda = torch.cuda.get_rng_state(device) if device.type == "cuda" else None
    return random.getstate(), torch.get_rng_state(), cuda


def set_random_state(state: tuple[Any, ...], device: torch.device) -> None:
    python, cpu, cuda = state
    random.setstate(python)
    torch.set_rng_state(cpu)
    if cuda is not None:
        torch.cuda.set_rng_state(cuda, device)
