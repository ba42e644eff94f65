import torch

_side = None


def run(A, B):
    global _side
    if _side is None:
        _side = torch.cuda.Stream()
    main = torch.cuda.current_stream()
    out = torch.empty(A.shape[0], B.shape[1], device=A.device)
    middle = A.shape[0] // 2
    _side.wait_stream(main)
    with torch.cuda.stream(_side):
        torch.mm(A[:middle], B, out=out[:middle])
    torch.mm(A[middle:], B, out=out[middle:])
    main.wait_stream(_side)
    out.record_stream(_side)
    return out
