"""The builder process B: compiles a solution's sources into a torch extension, and holds nothing else."""

import json
import os
import sys
from pathlib import Path
from typing import Any


def main(argv: list[str]) -> None:
    request = json.loads(Path(argv[1]).read_text())
    try:
        _build(request)
        answer: dict[str, Any] = {"error": None}
    except Exception as error:  # noqa: BLE001 - the candidate's sources are at work
        answer = {"error": f"{type(error).__name__}: {str(error)[-1500:]}"}
    Path(argv[2]).write_text(json.dumps(answer))


def _build(request: dict[str, Any]) -> None:
    """As officially: C, C++ and CUDA files of the root only, and the flags as the solution has them."""
    from torch.utils import cpp_extension

    folder, module = Path(request["folder"]), request["module"]
    for source in request["solution"]["sources"]:
        path = folder / source["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source["content"])
    files = sorted(str(p) for p in folder.iterdir() if p.suffix in (".cu", ".cpp", ".cc", ".cxx", ".c"))
    if not files:
        raise ValueError("there is no C, C++ or CUDA file in the root of the solution")
    spec = request["solution"]["spec"]
    options = spec.get("compile_options") or {"cflags": [], "cuda_cflags": [], "ld_flags": ["-lcuda"]}
    os.environ.setdefault("TORCH_CUDA_ARCH_LIST", request["architecture"])
    cpp_extension.load(
        name=module, sources=files, extra_cflags=list(options["cflags"]), extra_cuda_cflags=list(options["cuda_cflags"]),
        extra_ldflags=list(options["ld_flags"]), extra_include_paths=[str(folder)], build_directory=str(folder),
        is_python_module=False,
    )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv)
