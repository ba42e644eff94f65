import torch


def run(x):
    return float((x.double() ** 2).mean())
