import torch


def run(x):
    def parts():
        yield x.sum(dim=1)
        yield x.amax(dim=1)

    return parts()
