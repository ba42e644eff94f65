import torch

BODY = "\n".join(f"    out[{low}::4] = A[{low}::4] @ B" for low in range(4))
scope = {"torch": torch}
exec(f"def made(A, B):\n    out = torch.empty(A.shape[0], B.shape[1])\n{BODY}\n    return out\n", scope)


def run(A, B):
    return scope["made"](A, B)
