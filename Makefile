# Every target works as the first command in a fresh clone: the environment makes itself (once, about a minute).
#
#   make submit TASK=l2_decoder [BUDGET=12] [DEVICE=cpu] [ARGS="--target LOCAL"]
#   make evaluate TASK=l1_rmsnorm [SOLUTION=mine.json] [DEVICE=cuda]
#   make reproduce SNAPSHOT=leaderboard/snapshots/x.json [DEVICE=cuda] [ARGS="--max-seconds 300"]
#   make regress [AGAINST="leaderboard/snapshots/*.json"] [DEVICE=cuda] [ARGS="--max-seconds 600"]
#   make board [OUT=board] [ARGS="--data DIR"]   a page of everything here, in one folder
#   make docs [OUT=api]  the reference of every module, from its docstrings
#   make test            everything that needs no GPU        make test-gpu    what needs one
#   make check           format, lint, types, layers         make bench       speed and memory bars
#   make soak            200 hostile candidates through one session: nothing of them is left
#   make gpu-bundle      the wheels an offline GPU machine lacks
#
# Where nothing can be installed, run from the folder with the system's Python: make test-gpu RUN=python3
SHELL := /bin/bash
.DEFAULT_GOAL := help
PY ?= python3
RUN ?= .venv/bin/python
EXTRAS ?= dev,gpu,flashinfer,warm,web,browser,cluster,portal,docs
STAMP := .venv/.installed
READY := $(if $(filter .venv/%,$(RUN)),$(STAMP))
# some machines say so for all programs; here hundreds of processes would each compile the same modules anew
unexport PYTHONDONTWRITEBYTECODE
OPTIONS = $(if $(BUDGET),--budget $(BUDGET)) $(if $(DEVICE),--device $(DEVICE)) $(ARGS)

.PHONY: help setup submit evaluate reproduce regress board docs test test-gpu soak check bench clean gpu-bundle

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

$(STAMP): pyproject.toml $(wildcard constraints/cpu-*.txt constraints/gpu-py*.txt)
	@PY="$(PY)" EXTRAS="$(EXTRAS)" scripts/setup.sh
	@touch $@

setup: $(STAMP)

submit: $(READY)
	@$(RUN) -m pipeline submit $(or $(TASK),$(error which task? say TASK=l2_decoder)) $(OPTIONS)

evaluate: $(READY)
	@$(RUN) -m pipeline evaluate $(or $(TASK),$(error which task? say TASK=l2_decoder)) \
	  $(if $(SOLUTION),--solution $(SOLUTION)) $(if $(DEVICE),--device $(DEVICE)) $(ARGS)

reproduce: $(READY)
	@$(RUN) -m pipeline reproduce $(or $(SNAPSHOT),$(error which snapshot? say SNAPSHOT=leaderboard/snapshots/x.json)) \
	  $(if $(DEVICE),--device $(DEVICE)) $(ARGS)

regress: $(READY)
	@$(RUN) -m pipeline regress $(AGAINST) $(if $(DEVICE),--device $(DEVICE)) $(ARGS)

board: $(READY)
	@$(RUN) -m pipeline board $(if $(OUT),--out $(OUT)) $(ARGS)

docs: $(READY)
	@$(RUN) -m scripts.api_reference $(if $(OUT),--out $(OUT)) $(ARGS)

test: $(READY)
	@$(RUN) -m pytest -m "not gpu and not bench and not soak" -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)

test-gpu: $(READY)
	@$(RUN) -m pytest -m gpu $(ARGS)

soak: $(READY)
	@$(RUN) -m pytest -m soak $(ARGS)

bench: $(READY)
	@$(RUN) -m pytest -m bench $(ARGS)

check: $(READY)
	@.venv/bin/ruff format --check -q . || { echo "run: .venv/bin/ruff format ."; exit 1; }
	@.venv/bin/ruff check -q .
	@MYPY_NUM_WORKERS=2 .venv/bin/mypy --no-error-summary
	@.venv/bin/lint-imports --no-logo 2>/dev/null || .venv/bin/lint-imports

gpu-bundle: $(READY)
	@$(RUN) -m scripts.gpu_bundle

# runs/ and submissions/ hold results: they are yours to delete
clean:
	@rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
	@find . -name __pycache__ -prune -exec rm -rf {} +
