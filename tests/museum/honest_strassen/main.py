import torch


def run(A, B):
    m, k, n = A.shape[0] // 2, A.shape[1] // 2, B.shape[1] // 2
    a, b, c, d = A[:m, :k], A[:m, k:], A[m:, :k], A[m:, k:]
    e, f, g, h = B[:k, :n], B[:k, n:], B[k:, :n], B[k:, n:]
    p1, p2, p3, p4 = a @ (f - h), (a + b) @ h, (c + d) @ e, d @ (g - e)
    p5, p6, p7 = (a + d) @ (e + h), (b - d) @ (g + h), (a - c) @ (e + f)
    upper = torch.cat([p5 + p4 - p2 + p6, p1 + p2], dim=1)
    return torch.cat([upper, torch.cat([p3 + p4, p1 + p5 - p3 - p7], dim=1)])
