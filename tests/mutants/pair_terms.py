"""Planted in interactions and in what estimators do with them; files are in interactions.py."""

from tests.mutants.mutant import Mutant

PAIRS = ("tests/additive/test_pairs.py",)
INTERACTION = "src/sparsedp/data/interaction.py"
PREDICT = "src/sparsedp/data/predict.py"
COEFFICIENTS = "src/sparsedp/fit/coefficients.py"
PLAN = "src/sparsedp/fit/plan.py"
SUM_UP = 'return shapes == "auto" and not monotone'

MUTANTS = [
    # Units that leave [-1, 1], or miss the limits.
    Mutant(
        INTERACTION,
        "return 2 * part - 1",
        "return (values - (lower + upper) / 2) / np.where(apart, width / 2, 1.0)",
        PAIRS,
    ),
    Mutant(INTERACTION, "width, 1.0), 0.5)", "width, 1.0), 0)", PAIRS),
    # What is no interaction, or does not stay the same.
    Mutant(INTERACTION, "0 <= self.first < self.second", "0 <= self.first <= self.second", PAIRS),
    Mutant(INTERACTION, "not np.isfinite(weights).all()", "np.isinf(weights).any()", PAIRS),
    Mutant(INTERACTION, "weights.setflags(write=False)", "pass", PAIRS),
    # What others there are decides how a record's term is rounded.
    Mutant(
        INTERACTION,
        "return (first * second)[:, None] * self.weights",
        "return (first * second)[:, None] * self.weights * (1 + 1e-15 * len(first))",
        PAIRS,
    ),
    # Interactions that a step forgets.
    Mutant(PREDICT, "used(coef, bends, interactions)", "used(coef, bends)", PAIRS),
    Mutant("src/sparsedp/data/used.py", " | interacting(interactions, n_features)", "", PAIRS),
    Mutant(COEFFICIENTS, "=scaled(self.interactions, factor)", "=self.interactions", PAIRS),
    Mutant(
        COEFFICIENTS,
        "tuple(scaled(some, factor) for some in self.path_interactions)",
        "self.path_interactions",
        PAIRS,
    ),
    Mutant("src/sparsedp/fit/solve.py", "in solution.interactions:", "in ():", PAIRS),
    Mutant(
        "src/sparsedp/estimators/path.py", "interactions[k - 1] if", "interactions[-1] if", PAIRS
    ),
    Mutant("src/sparsedp/solvers/solver.py", "enters = [max(", "enters = [min(", PAIRS),
    # Pairs where effects were promised to add up.
    Mutant(PLAN, SUM_UP, 'return shapes == "auto"', PAIRS),
    Mutant(PLAN, SUM_UP, "return not monotone", PAIRS),
]
