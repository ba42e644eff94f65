"""Gathers the wheels that an offline GPU machine lacks: `make gpu-bundle`.

The list with its versions is `constraints/gpu-bundle.txt`; the wheels are those of Python 3.12 on x86-64
Linux, whatever machine this runs on.
"""

import argparse
import subprocess
import sys
from pathlib import Path

LIST = Path(__file__).parent.parent / "constraints" / "gpu-bundle.txt"
PYTHON = "3.12"
# pip matches the glibc version in a wheel's name exactly, so every one in use is named
GLIBC = ("2_5", "2_12", "2_17", "2_24", "2_26", "2_27", "2_28", "2_31", "2_34", "2_35")
PLATFORMS = (
    *(f"manylinux_{version}_x86_64" for version in GLIBC),
    "manylinux2014_x86_64",
    "manylinux1_x86_64",
)
MOST_MB = 60.0


def wanted(text: str) -> list[str]:
    """The `name==version` lines."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def command(requirements: list[str], folder: Path) -> list[str]:
    """One pip call that takes exactly these wheels and none of their needs."""
    tags = [f"--platform={platform}" for platform in PLATFORMS]
    python = [f"--python-version={PYTHON}", "--implementation=cp"]
    return [
        sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:",
        *python, *tags, "-d", str(folder), *requirements,
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("gpu-bundle"))
    folder: Path = parser.parse_args().out
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.whl"):  # two versions of one package stop the whole install
        old.unlink()
    done = subprocess.run(command(wanted(LIST.read_text()), folder))
    if done.returncode:
        print("gpu-bundle: pip could not gather the wheels; its last lines say which", file=sys.stderr)
        return 3
    wheels = sorted(folder.glob("*.whl"))
    size = sum(wheel.stat().st_size for wheel in wheels) / 1e6
    print(f"{len(wheels)} wheels, {size:.1f} MB in {folder}/")
    if size > MOST_MB:
        print(f"gpu-bundle: more than {MOST_MB:.0f} MB, too much to carry", file=sys.stderr)
        return 1
    print("on the GPU machine, in the folder of the checkout:")
    print(
        f"  python3 -m pip install -q --no-index --no-deps --no-compile --target /tmp/site {folder}/*.whl"
        " && export PYTHONPATH=/tmp/site"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
