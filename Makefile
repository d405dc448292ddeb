# Two commands: `make demo` and `make test`. Both set up .venv by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
DEV := $(VENV)/.dev
HEAVY := $(VENV)/.heavy

.PHONY: demo test test-all check bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(CORE): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(DEV): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@ $(CORE)

# torch first and by its exact version: anything looser brings several GB of CUDA along
$(HEAVY): $(DEV)
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet 'transformers>=4.57,<5'
	$(BIN)/python -m pip install --quiet -e '.[dev,benepar,train,cluster,viewer-test]'
	touch $@

demo: $(CORE)
	$(BIN)/forestalign align tests/data/pairs.tsv

test: $(DEV)
	$(BIN)/python -m pytest -m "not heavy"

test-all: $(HEAVY)
	sh scripts/install_chromium.sh
	$(BIN)/python -m pytest

check: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(DEV)
	$(BIN)/python scripts/bench.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
