def run(A, B):
    parts = (A[:, k : k + 16] @ B[k : k + 16] for k in range(0, A.shape[1], 16))
    return sum(part.bfloat16().float() for part in parts)
