"""The command line of `python -m scripts.sentinels`."""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import get_args

import click

from leaderboard.frozen.kernel import MANIFEST, ROOT, Architecture, FrozenKernel, frozen_kernels
from scripts.sentinels import __doc__ as about
from scripts.sentinels.problems import write_problem


@click.command(help=about)
@click.option("--check", is_flag=True)
def main(check: bool) -> None:
    os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # the same bytes wherever the sources lie
    os.environ.pop("TRITON_INTERPRET", None)
    with TemporaryDirectory(prefix="sentinels-") as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        built = list(_built())
    if check:
        _compare(built)
        return
    for path in (ROOT / "cubins").glob("*.cubin"):
        path.unlink()
    (ROOT / "cubins").mkdir(exist_ok=True)
    for kernel, image in built:
        kernel.file.write_bytes(image)
    content = [kernel.model_dump(mode="json") for kernel, _ in built]
    MANIFEST.write_text(json.dumps(content, indent=1) + "\n")
    for name in {kernel.name for kernel, _ in built}:
        write_problem(name, ROOT / "problems" / name)
    click.echo(f"{len(built)} cubins, {sum(len(image) for _, image in built)} bytes")


def _compare(built: list[tuple[FrozenKernel, bytes]]) -> None:
    frozen = {(kernel.name, kernel.architecture): kernel for kernel in frozen_kernels()}
    for kernel, _ in built:
        same = frozen[kernel.name, kernel.architecture].cubin == kernel.cubin
        click.echo(f"{kernel.name} {kernel.architecture}: {'the same bytes' if same else 'other bytes'}")


def _built() -> Iterator[tuple[FrozenKernel, bytes]]:
    from scripts.sentinels.recipes import RECIPES

    for name in RECIPES:
        for architecture in get_args(Architecture):
            yield _one(name, architecture)


def _one(name: str, architecture: Architecture) -> tuple[FrozenKernel, bytes]:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from scripts.sentinels.recipes import RECIPES

    recipe = RECIPES[name]
    arguments = recipe.kernel.arg_names
    types = [f"*{pointer}" for pointer in recipe.pointers]
    types += ["i32", *["constexpr"] * (len(arguments) - len(types) - 1)]
    source = ASTSource(
        fn=recipe.kernel,
        signature=dict(zip(arguments, types, strict=True)),
        constexprs={(arguments.index(each),): value for each, value in recipe.constants.items()},
        attrs={(place,): [["tt.divisibility", 16]] for place in range(len(recipe.pointers))},
    )
    target = GPUTarget("cuda", int(re.sub(r"\D", "", architecture)), 32)
    options = {"num_warps": recipe.warps, "num_stages": recipe.stages}
    compiled = triton.compile(source, target=target, options=options)
    _refuse_other_arguments(name, compiled.asm["ptx"], len(recipe.pointers))
    made, image = compiled.metadata, compiled.asm["cubin"]
    if made.global_scratch_size or made.profile_scratch_size or made.num_ctas != 1:
        raise SystemExit(f"{name}: needs memory or a cluster that the launching code does not give it")
    return (
        FrozenKernel(
            name=name, architecture=architecture, cubin=hashlib.sha256(image).hexdigest(), entry=made.name,
            grid=recipe.programs, threads=32 * made.num_warps, shared_bytes=made.shared,
            pointers=len(recipe.pointers),
            built_with={"triton": triton.__version__, "ptx": _version(compiled.asm["ptx"])},
        ),
        image,
    )  # fmt: skip


def _refuse_other_arguments(name: str, ptx: str, pointers: int) -> None:
    """What the launching code passes must be what the kernel takes: pointers, an i32, two pointers to scratch."""
    found = re.findall(r"^\s*\.param \.(u64|u32|b64|b32)\b", ptx, re.M)
    if [kind[1:] for kind in found] != [*["64"] * pointers, "32", "64", "64"]:
        raise SystemExit(f"{name}: takes {found}")


def _version(ptx: str) -> str:
    found = re.search(r"^\.version (\S+)", ptx, re.M)
    return found[1] if found else "unknown"
