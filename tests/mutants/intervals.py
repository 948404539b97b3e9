"""Planted in intervals: what a record may move, who is in which part, what the width counts."""

from tests.mutants.mutant import Mutant

WHITE = ("tests/inference/test_intervals.py",)
COVERAGE = ("tests/inference/test_coverage.py",)
RELEASED = ("tests/inference/test_release.py",)
MOVED = ("tests/inference/test_moves.py",)
BASE = "src/sparsedp/solvers/pursuit/inference/"
RECORDS, MATRICES = BASE + "records.py", BASE + "matrices.py"
ESTIMATE, SOLVER, PLAN = BASE + "estimate.py", BASE + "pursuit.py", BASE + "plan.py"
HALVES = "src/sparsedp/fit/parts/halves.py"
TABLE = "src/sparsedp/inference/table.py"
INFERENCE = "src/sparsedp/inference/inference.py"

REST = ("tests/inference/test_rest.py",)

MUTANTS = [
    # Leverage that is not limited, or limited by half; noise for add/remove under replace-one.
    Mutant(
        RECORDS,
        "shortened(np.square(block.norms), self.reach**2)",
        "np.ones(len(block.norms))",
        MOVED,
    ),
    Mutant(RECORDS, "shortened(np.square(block.norms)", "shortened(block.norms", MOVED),
    Mutant(MATRICES, "replace_one=math.sqrt(2) * largest", "replace_one=largest", MOVED),
    Mutant(
        SOLVER,
        "noisy = moments.release(score, far * clip, share)",
        "noisy = moments.release(score, clip, share)",
        MOVED,
    ),
    Mutant(SOLVER, "released(spread, (clip * far) ** 2", "released(spread, clip * far", MOVED),
    # What the width counts: noise of scores, of the right release, squares, the right weights.
    Mutant(
        ESTIMATE,
        "curvature.spread + self.noise**2 * float(parts @ parts) * np.eye(p)",
        "curvature.spread + 0.0",
        COVERAGE,
    ),
    Mutant(
        SOLVER,
        "moments.deviation(far * clip, share), start",
        "moments.deviation(far * clip, 1.0), start",
        COVERAGE,
    ),
    Mutant(
        RECORDS,
        "(np.sqrt(weights * curvatures), weights * residuals)",
        "(np.sqrt(weights * curvatures), np.sqrt(weights * np.abs(residuals)))",
        WHITE,
    ),
    Mutant(
        RECORDS,
        "(np.sqrt(weights * curvatures),",
        "(np.sqrt(weights * weights * curvatures),",
        WHITE,
    ),
    # What has no interval is shown; p-values of one side; claims without a limit.
    Mutant(
        INFERENCE,
        "errors = np.sqrt(np.where(shown, variances, np.nan))",
        "errors = np.sqrt(variances)",
        WHITE,
    ),
    Mutant(INFERENCE, "shown &= ~known.moving", "pass", WHITE),
    Mutant(TABLE, "return 2 * ndtr(", "return ndtr(", ("tests/inference/test_table.py",)),
    Mutant(
        TABLE,
        "np.arange(1, len(p) + 1) / max(len(p), 1)",
        "np.ones(len(p))",
        ("tests/inference/test_table.py",),
    ),
    # Who is in which part: the same records twice, a mode by the number of records.
    Mutant(
        HALVES,
        "return cls(solver, (one, other), (budget, later), (first, second))",
        "return cls(solver, (one, other), (budget, later), (first, first))",
        WHITE,
    ),
    Mutant(
        PLAN,
        'divides=records == "split" or not plan.takes_all',
        'divides=records == "split"',
        WHITE,
    ),
    # Weights without a best value: two values that nobody declared, those who have one, noise.
    Mutant(BASE + "rest.py", " | self.coordinates.two_valued()", "", REST),
    Mutant(BASE + "rest.py", " & (self.coordinates.farthest(self.weights) > FAR)", "", REST),
    Mutant(BASE + "rest.py", "math.exp(-1) - HIDDEN * 2 * noise", "math.exp(-1)", REST),
    Mutant(BASE + "coordinates.py", " + DOUBTED * self.deviation", "", REST),
    Mutant(BASE + "coordinates.py", "(end - mean) * slopes", "(end - mean) * weights", REST),
    # Files.
    Mutant(
        "src/sparsedp/release/intervals/stored.py",
        "(errors[known] > 0).all()",
        "(errors[known] >= 0).all()",
        RELEASED,
    ),
]
