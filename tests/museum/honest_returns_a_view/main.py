import torch


def run(A, B):
    room = torch.empty(B.shape[1] + 8, A.shape[0])
    torch.mm(B.t(), A.t(), out=room[: B.shape[1]])
    return room[: B.shape[1]].t()
