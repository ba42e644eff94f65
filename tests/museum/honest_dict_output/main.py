import torch


def run(x):
    return {"peak": x.max(dim=1).values, "total": x.sum(dim=1)}
