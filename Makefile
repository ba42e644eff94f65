# Every target works as the first command in a fresh clone: the environment makes itself.
SHELL := /bin/bash
PY ?= python3
EXTRAS ?= dev,gpu,flashinfer,data
STAMP := .venv/.installed

$(STAMP): pyproject.toml $(wildcard constraints/*.txt)
	@echo "[1/3] creating .venv"
	@$(PY) -m venv .venv
	@echo "[2/3] installing the installer"
	@.venv/bin/python -m pip install -q --disable-pip-version-check uv
	@echo "[3/3] installing kernelarc and what it needs (about a minute)"
	@.venv/bin/uv pip install -q --python .venv/bin/python --compile-bytecode $(if $(PIP_FIND_LINKS),--find-links $(PIP_FIND_LINKS)) \
	  --overrides constraints/cpu-overrides.txt -c constraints/cpu-py311.txt -e '.[$(EXTRAS)]'
	@touch $@

.PHONY: setup
setup: $(STAMP)
