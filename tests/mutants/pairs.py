"""Faults in products of features: columns, what gets around the door, which pairs stay, units."""

from tests.mutants.mutant import Mutant

CROSSED = "src/sparsedp/data/columns/crossed.py"
KERNEL = "src/sparsedp/_kernels/crossed/crossed.h"
FRAME = "src/sparsedp/solvers/pursuit/frame.py"
PRUNE = "src/sparsedp/solvers/pursuit/prune.py"
PAIRS = "src/sparsedp/solvers/pursuit/columns/pairs.py"
STEP = "src/sparsedp/solvers/pursuit/step.py"
PLAN = "src/sparsedp/solvers/pursuit/plan.py"
PURSUIT = "src/sparsedp/solvers/pursuit/pursuit.py"
MODEL = "src/sparsedp/solvers/pursuit/model.py"
EXACT = "src/sparsedp/solvers/pursuit/exact.py"
TESTS = ("tests/additive/test_interacting.py",)
COLUMNS = ("tests/additive/test_crossed.py",)
BUILDS = ("crossed",)

STAYING = "staying = np.arange(self._data.n_records % (1 + len(self.pairs)))"
"""By the number of records."""

MUTANTS = [
    # Columns that are not products of what was clipped, or know other records.
    Mutant(CROSSED, "(units - crossing.centers).T", "(units + crossing.centers).T", COLUMNS),
    Mutant(
        CROSSED,
        "(units - crossing.centers).T",
        "(units - crossing.centers * (1 + 1e-15 * len(units))).T",
        COLUMNS,
    ),
    Mutant(CROSSED, "parts=self.parts[:, part]", "parts=self.parts", COLUMNS),
    Mutant(
        KERNEL,
        "o[i] += factor * (a[i] * b[i] - level);",
        "o[i] += factor * a[i] * b[i] - factor * level;",
        COLUMNS,
        BUILDS,
    ),
    Mutant(KERNEL, "z[i] = a[i] * b[i] - level;", "z[i] = a[i] * b[i];", COLUMNS, BUILDS),
    Mutant(KERNEL, "size[i] += fabs(z[i]) * length;", "size[i] += z[i] * length;", COLUMNS, BUILDS),
    Mutant(
        KERNEL,
        "add(h + k, l + k, (pair.a[i] * pair.b[i] - levels[p]) * q[i]);",
        "h[k] += (pair.a[i] * pair.b[i] - levels[p]) * q[i];",
        COLUMNS,
        BUILDS,
    ),
    Mutant(
        "src/sparsedp/_kernels/crossed/crossed.pyx",
        "cdef int plainly = run >= PLAIN",
        "cdef int plainly = 1",
        COLUMNS,
        BUILDS,
    ),
    # Records that are clipped as if they were shorter.
    Mutant(
        "src/sparsedp/data/sums/norms.py",
        "squares = np.square(first) + np.square(second)",
        "squares = np.square(np.maximum(first, second))",
        (*COLUMNS, *TESTS),
    ),
    Mutant(
        "src/sparsedp/data/sums/norms.py",
        "np.maximum(lengths, sizes, out=lengths)",
        "pass",
        COLUMNS,
    ),
    # An exact number that gets around the door.
    Mutant(
        STEP,
        "law.whitening, law.unwhitening, law.likely)",
        "law.whitening, law.unwhitening, law.likely * (1 + 1e-9 * self._data.n_records))",
        TESTS,
    ),
    # Pairs that noise made come or stay, or those of other features.
    Mutant(
        STEP,
        "if not within_reach(metric):",
        "if False:",
        TESTS,
        survives="where moments are that large features do not pair either; this is the second lock",
    ),
    Mutant(PAIRS, "<= LARGEST_MOMENT and", "< np.inf and", TESTS),
    Mutant(PRUNE, "places = np.concatenate([places, others])", "pass", TESTS),
    Mutant(STEP, "staying = np.sort(self._evident(average, noise, PROMISING))", STAYING, TESTS),
    Mutant(STEP, "self.weights = self.weights[kept]", "pass", TESTS),
    Mutant(STEP, "clipped * of_noise + chance", "0 * (of_noise + chance)", TESTS),
    Mutant(PAIRS, "np.argsort(-moves, kind=", "np.argsort(moves, kind=", TESTS),
    # Steps that are too long.
    Mutant(PAIRS, "* np.outer(stretch, stretch)", "", TESTS),
    Mutant(PAIRS, "> EVEN] = -np.inf", "> EVEN] = 0", TESTS),
    Mutant(PAIRS, "<= ALIKE * np.sqrt", "<= 2 * np.sqrt", TESTS),
    Mutant(PAIRS, "centers[u] * centers[v] - self.levels[pair]", "-self.levels[pair]", TESTS),
    Mutant(PAIRS, "-= centers[v] * weight", "-= centers[u] * weight", TESTS),
    Mutant(PAIRS, "products + across * across.T", "products", TESTS),
    Mutant(FRAME, "np.concatenate([self.likely, likely])", "self.likely", TESTS),
    Mutant(PAIRS, "return most if most >= FEWEST_PAIRS else 0", "return most", TESTS),
    Mutant(
        PAIRS,
        "return np.maximum(place[self.first], place[self.second])",
        "return place[self.first]",
        TESTS,
    ),
    Mutant(PLAN, "able and takes_all and public.interactions", "able and takes_all", TESTS),
    Mutant(
        PLAN, "able and takes_all and public.interactions", "able and public.interactions", TESTS
    ),
    Mutant(MODEL, "weights[len(weights) - len(pairs) :]", "weights[: len(pairs)]", TESTS),
    Mutant(
        EXACT,
        "found = [(self.left_out(start, before), start, before)]",
        "found = []",
        TESTS,
        survives="pairs that chance explains are left out at the end, too",
    ),
    Mutant(EXACT, "kept[len(kept) - more :] = True", "pass", TESTS),
]
