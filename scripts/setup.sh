#!/usr/bin/env bash
# Makes .venv with kernelarc and everything it needs: quietly, one line a step. Called by the Makefile.
set -euo pipefail
cd "$(dirname "$0")/.."
PY=${PY:-python3}
EXTRAS=${EXTRAS:-dev,gpu,flashinfer}

if ! "$PY" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
  echo "kernelarc needs Python 3.11 to 3.13, and $PY is $("$PY" --version 2>&1 || echo missing); say PY=python3.11" >&2
  exit 2
fi

# With a GPU the CUDA build of torch and all that FlashInfer asks for; without one neither.
if command -v nvidia-smi >/dev/null; then
  constraints=constraints/gpu-py312.txt overrides=()
else
  constraints=constraints/cpu-py311.txt overrides=(--overrides constraints/cpu-overrides.txt)
fi

# One that works is kept and brought up to date: another command may be running in it.
if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
  echo "[1/3] creating .venv"
  "$PY" -m venv --clear .venv
else
  echo "[1/3] keeping .venv"
fi
echo "[2/3] installing the installer"
if .venv/bin/python -m pip install -q --disable-pip-version-check uv 2>.venv/pip.log; then
  echo "[3/3] installing kernelarc and what it needs (under a minute)"
  # uv reads none of pip's settings
  links=(); for place in ${PIP_FIND_LINKS:-}; do links+=(--find-links "$place"); done
  .venv/bin/uv pip install -q --python .venv/bin/python "${links[@]}" "${overrides[@]}" \
    -c "$constraints" -e ".[$EXTRAS]"
else
  cat .venv/pip.log >&2
  echo "[3/3] installing kernelarc and what it needs with pip (two to three minutes)"
  .venv/bin/python -m pip install -q --disable-pip-version-check -c "$constraints" -e ".[$EXTRAS]"
fi

# The guard starts many processes, and modules that are compiled start three times faster. Compiling what is
# imported takes some seconds; compiling all that is installed would take thirty. Workers and programs may not write
# here: what they alone import, and is left out, is compiled again in every run.
PYTHONDONTWRITEBYTECODE='' .venv/bin/python - <<'PYTHON' 2>/dev/null || true
import click, jinja2, numpy, optuna, pydantic, rich.progress, safetensors.torch, scipy.stats, torch, triton, yaml
import torch._dynamo, torch._inductor.compile_fx, triton.compiler, triton.runtime.interpreter
import contextlib, importlib
for name in ("_dynamo.backends.cudagraphs", "_dynamo.backends.distributed", "_dynamo.backends.tvm", "_dynamo.repro.after_dynamo",
             "_functorch._aot_autograd.subclass_codegen", "_inductor.codegen.cpp", "_inductor.codegen.memory_planning",
             "_inductor.compiler_bisector", "_subclasses.schema_check_mode", "distributed.tensor.experimental",
             "export._trace", "export._unlift", "fx.experimental.validator", "utils.cpp_extension"):
    with contextlib.suppress(ImportError):
        importlib.import_module(f"torch.{name}")
import triton.compiler.code_generator, triton.experimental.gluon
torch._inductor.codegen.common.init_backend_registration()
PYTHON
