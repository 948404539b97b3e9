"""Faults in products of features: columns, what gets around the door, which pairs stay, units."""

from tests.mutants.mutant import Mutant

SUBSET = "src/sparsedp/data/columns/subset.py"
INDEX = "src/sparsedp/data/columns/index.py"
PAIRS = "src/sparsedp/solvers/pursuit/columns/pairs.py"
STEP = "src/sparsedp/solvers/pursuit/step.py"
PLAN = "src/sparsedp/solvers/pursuit/plan.py"
PURSUIT = "src/sparsedp/solvers/pursuit/pursuit.py"
MODEL = "src/sparsedp/solvers/pursuit/model.py"
EXACT = "src/sparsedp/solvers/pursuit/exact.py"
TESTS = ("tests/additive/test_interacting.py",)

MUTANTS = [
    # Columns that are not products of what was clipped, or know other records.
    Mutant(
        SUBSET,
        "np.multiply(units[:, one], units[:, other], out=more[:, pair])",
        "np.add(units[:, one], units[:, other], out=more[:, pair])",
        TESTS,
    ),
    Mutant(
        SUBSET,
        "storage=index.beside(before.storage, more),",
        "storage=index.beside(before.storage, more * (1 + 1e-15 * len(more))),",
        TESTS,
    ),
    Mutant(INDEX, "values = (more.T if by_columns else more)", "values = more", TESTS),
    Mutant(INDEX, "return np.hstack([storage, more])", "return np.hstack([more, storage])", TESTS),
    # An exact number that gets around the door.
    Mutant(
        STEP,
        "self._gram, self._metric = gram, back.T @ back",
        "gram = gram * (1 + 1e-9 * self._data.n_records)\n"
        "        self._gram, self._metric = gram, back.T @ back",
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
    Mutant(STEP, "places = np.concatenate([places, others])", "pass", TESTS),
    Mutant(STEP, "clipped * of_noise + chance", "0 * (of_noise + chance)", TESTS),
    Mutant(PAIRS, "np.argsort(-moves, kind=", "np.argsort(moves, kind=", TESTS),
    # Steps that are too long.
    Mutant(PAIRS, "* np.outer(stretch, stretch)", "", TESTS),
    Mutant(PAIRS, "> EVEN] = -np.inf", "> EVEN] = 0", TESTS),
    Mutant(PAIRS, "<= ALIKE * np.sqrt", "<= 2 * np.sqrt", TESTS),
    Mutant(PAIRS, "left[0] = means[first] * means[second] -", "left[0] = -", TESTS),
    Mutant(PAIRS, "products + across * across.T", "products", TESTS),
    Mutant(PAIRS, "-unwhitening @ self.left", "unwhitening @ self.left", TESTS),
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
