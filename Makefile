# make demo   a private model and its card in demo-model/, from nothing
# make test   every check that CI runs
PYTHON ?= python3
BIN := .venv/bin
KERNELS := $(wildcard src/sparsedp/_kernels/*.pyx)
JOBS ?= 2
# One BLAS thread per test process: more threads than cores only slow each other down.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test check unit install clean

install: .venv/.installed
.venv/.installed: pyproject.toml setup.py constraints.txt $(KERNELS)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt setuptools Cython numpy
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-build-isolation -e ".[test]"
	touch $@

demo: install
	$(BIN)/sparsedp demo

test: check unit

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyrefly check
	$(BIN)/lint-imports

unit: install
	$(BIN)/python -m pytest -n $(JOBS)

clean:
	rm -rf .venv build dist demo-model src/*.egg-info
	find src -name '*.so' -delete -o -name '*.c' -delete
