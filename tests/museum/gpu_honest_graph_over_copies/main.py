import torch

_graphs = {}


def capture(A, B):
    a, b = A.clone(), B.clone()
    out = torch.empty(A.shape[0], B.shape[1], device=A.device)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.mm(a, b, out=out)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.mm(a, b, out=out)
    return graph, a, b, out


def run(A, B):
    if A.shape not in _graphs:
        _graphs[A.shape] = capture(A, B)
    graph, a, b, out = _graphs[A.shape]
    a.copy_(A)
    b.copy_(B)
    graph.replay()
    return out.clone()
