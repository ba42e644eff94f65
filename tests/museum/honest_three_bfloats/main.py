def parts(x):
    found = []
    for _ in range(3):
        found.append(x.bfloat16().float())
        x = x - found[-1]
    return found


def run(A, B):
    a, b = parts(A), parts(B)
    return sum(a[i] @ b[j] for i in range(3) for j in range(3 - i))
