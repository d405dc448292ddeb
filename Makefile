# Two commands: `make demo` and `make test`. Both set up .venv by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
STRICT := $(VENV)/.strict
DEV := $(VENV)/.dev
HEAVY := $(VENV)/.heavy
# tests and commands start many processes; without compiled files each would compile every module again
unexport PYTHONDONTWRITEBYTECODE

PYX := $(shell find forestalign -name '*.pyx' -o -name '*.pxd')
SOURCES := $(PYX) $(shell grep -rl --include='*.py' '^    import cython$$' forestalign)

.PHONY: demo test test-all test-heavy test-patient test-pythons test-sanitized check lint size budget examples bench models core sdist wheels \
	annotations-archive clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(CORE): pyproject.toml $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e .
	touch $@

# the core is built once, with warnings as errors where that works; without a compiler the plain twins are tested
INSTALL = HATCH_BUILD_NO_HOOKS=true $(BIN)/python -m pip install --quiet
$(DEV): pyproject.toml $(SOURCES) | $(BIN)/python
	$(INSTALL) -e '.[dev]'
	$(BIN)/python scripts/build_core.py --strict && touch $(STRICT) || $(BIN)/python scripts/build_core.py || true
	touch $@ $(CORE)

# torch first and by its exact version: anything looser brings several GB of CUDA along
$(HEAVY): $(DEV)
	$(INSTALL) torch==2.13.0
	$(INSTALL) 'transformers>=4.57,<5'
	$(INSTALL) -e '.[dev,benepar,train,cluster,viewer-test]'
	touch $@

demo: $(CORE)
	$(BIN)/forestalign align tests/data/pairs.tsv

# one process per core; the tests of a file stay together, as they share what is loaded
test: $(DEV)
	$(BIN)/python -m pytest -m "not heavy" -n auto --dist loadfile --durations 20

# what needs torch, a browser, a cluster, or patience
test-heavy: $(HEAVY)
	sh scripts/install_chromium.sh
	$(BIN)/python -m pytest -m "heavy and not pythons and not patient" -n auto --dist loadfile --durations 20

# a fresh installation for every Python that the machine has
test-pythons: $(DEV)
	$(BIN)/python -m pytest -m pythons

# commands one after the other, each in processes of its own
test-patient: $(HEAVY)
	$(BIN)/python -m pytest -m patient

test-all: test test-heavy test-patient test-pythons test-sanitized

# what must pass before a commit: size, format, lint, types, counts of work, fast tests
check: size lint budget test

# the tests of the compiled core with address and undefined-behaviour sanitizers; the core is built anew afterwards
SANITIZERS = $(shell gcc -print-file-name=libasan.so) $(shell gcc -print-file-name=libubsan.so)
test-sanitized: $(DEV)
	$(BIN)/python scripts/build_core.py --sanitize
	LD_PRELOAD="$(SANITIZERS)" ASAN_OPTIONS=detect_leaks=0 $(BIN)/python -m pytest -p no:faulthandler \
		tests/test_compiled.py tests/phrases/search/test_search.py tests/chart/test_chart.py \
		tests/words/crf/test_lattice.py tests/forest/test_forest.py \
		-m "not heavy" -k "not plain and not oracle"; \
		status=$$?; $(MAKE) core; exit $$status

# the compiled core alone, in place, with warnings as errors
core: | $(BIN)/python
	$(BIN)/python scripts/build_core.py --strict
	touch $(STRICT)

$(STRICT): $(SOURCES) | $(DEV)
	$(MAKE) core

lint: $(DEV) $(STRICT)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cython-lint $(PYX)

# lines and modules by folder; fails above the budget of .ci/budget.json
size:
	@$(PYTHON) scripts/size.py

# Python calls, nodes and searches of a pair; fails above the budget, whatever the machine
budget: $(DEV)
	$(BIN)/python scripts/bench.py --check

# runs the examples of the pages and the tutorial and writes their real outputs into them, and docs/api.md
examples: $(DEV)
	$(BIN)/python -m tests.documents
	$(BIN)/python scripts/build_api.py

bench: $(DEV)
	$(BIN)/python scripts/bench.py

# what a release uploads; `tool.cibuildwheel` in pyproject.toml says for which Pythons
sdist:
	pipx run build --sdist

wheels:
	pipx run cibuildwheel==2.23.3 --output-dir wheelhouse

# the weights that depend on the parser: lists the commands in order; make models MODELS="--run --set treebank=DIR" runs them
models: $(DEV)
	@$(BIN)/python scripts/make_models.py $(MODELS)

# the annotated set for those who want only the data; equal data give equal archives
ANNOTATIONS := dist/forestalign-annotations.tar.gz
annotations-archive:
	mkdir -p dist
	tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rw,go=r \
		--transform='s,^annotations/,forestalign-annotations/,' \
		annotations/*.jsonl annotations/README.md annotations/GUIDELINES.md annotations/LICENSE | gzip -n -9 > $(ANNOTATIONS)
	@echo $(ANNOTATIONS)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
