import torch
import torch.multiprocessing as processes


def work(asked, done):
    while True:
        A, B, out = asked.get()
        torch.mm(A, B, out=out)
        torch.cuda.synchronize()
        done.put(True)


_asked = _done = None


def run(A, B):
    global _asked, _done
    if _asked is None:
        context = processes.get_context("spawn")
        _asked, _done = context.Queue(), context.Queue()
        context.Process(target=work, args=(_asked, _done), daemon=True).start()
    a, b = A.clone(), B.clone()
    out = torch.empty(A.shape[0], B.shape[1], device=A.device)
    _asked.put((a, b, out))
    _done.get(timeout=10)
    return out.clone()
