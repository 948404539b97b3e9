# make demo   a private model and its card in demo-model/, from nothing
# make test   every check that CI runs
# make mutants   plant faults one at a time in a scratch copy and see whether tests notice, in half an hour
# make kills   1,000 kill -9 while ledgers are made and charged, 1,000 into fits, and 32 processes on one ledger, in twenty minutes
# make interrupts   how long Ctrl-C takes, at random times in fits and plans, in ten minutes
# make utility DATA=DIR   benchmarks/utility.md from the data sets in DIR, in about ten minutes
# make bench [DATA=DIR]   benchmarks/results.md: speed and memory against others, in a quarter of an hour
PYTHON ?= python3
BIN := .venv/bin
KERNELS := $(wildcard src/sparsedp/_kernels/*.pyx src/sparsedp/_kernels/*.h)
JOBS ?= 2
# One BLAS thread per test process: more threads than cores only slow each other down.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test check unit mutants kills interrupts install utility bench clean

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

mutants: install
	$(BIN)/python -m tests.mutants.run --jobs $(JOBS)

kills: install
	$(BIN)/python -m tests.faults.kill_ledger
	$(BIN)/python -m tests.faults.kill_fit

interrupts: install
	$(BIN)/python -m tests.faults.interrupts

utility: install
	test -n "$(DATA)" || { echo "say where the data sets are: make utility DATA=DIR"; exit 2; }
	$(BIN)/python benchmarks/utility.py --data "$(DATA)" --output build/utility
	cp build/utility/utility.md build/utility/utility.svg benchmarks/

bench: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt celer skglm
	PYTHONPATH=. $(BIN)/python benchmarks/bench.py $(if $(DATA),--data "$(DATA)")
	cp build/bench/results.md build/bench/results-*.svg benchmarks/

clean:
	rm -rf .venv build dist demo-model src/*.egg-info
	find src -name '*.so' -delete -o -name '*.c' -delete
