"""Samplers and entropy, also in the compiled kernel."""

from tests.mutants.mutant import Mutant

SELECT = "src/sparsedp/mechanisms/samplers/select.py"
NOISE = "src/sparsedp/mechanisms/samplers/gaussian.py"
LINEAR = "src/sparsedp/mechanisms/samplers/linear.py"
COUNT = "src/sparsedp/mechanisms/samplers/count.py"
ENTROPY = "src/sparsedp/mechanisms/entropy.py"
SAMPLE = "src/sparsedp/_kernels/sampling/sample.pyx"


def of(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/mechanisms/test_samplers.py::{name}" for name in names)


MUTANTS = [
    Mutant(
        SELECT,
        "Fraction(score_range) / Fraction(grid) + 2",
        "Fraction(score_range) / Fraction(grid)",
        of("test_bounded_range_is_exact", "test_bounded_range_is_attained"),
    ),
    Mutant(
        SELECT,
        "return grid, Fraction(epsilon0) / n_units",
        "return grid, 2 * Fraction(epsilon0) / n_units",
        of("test_exponential_mechanism"),
    ),
    Mutant(
        SELECT,
        "        self._counts[self._levels[candidate]] -= 1\n",
        "",
        of("test_top_k_is_one_selection_after_the_other", "test_top_k"),
    ),
    Mutant(
        NOISE,
        "rounding = math.isqrt(max(n_values, 1) - 1) + 1",
        "rounding = 0",
        of("test_gaussian_pays_for_its_grid", "test_rounded_vectors_move_as_stated"),
    ),
    Mutant(
        NOISE,
        "sigma = -(-(a + rounding * b) * q // (b * p))",
        "sigma = (a + rounding * b) * q // (b * p)",
        of("test_gaussian_pays_for_its_grid"),
    ),
    Mutant(
        NOISE,
        "return -magnitude if first & 1 else magnitude",
        "return magnitude",
        of("test_rare_paths_of_the_gaussian"),
    ),
    Mutant(
        LINEAR,
        "units = math.ceil(span / grid) + flat.size",
        "units = math.ceil(span / grid)",
        of("test_laplace_releases_pay_for_their_grid"),
    ),
    Mutant(
        LINEAR, "math.sqrt(n) * grid / 2", "grid / 2", of("test_linear_terms_pay_for_their_grid")
    ),
    Mutant(
        COUNT,
        "discrete_laplace(epsilon, int(upper) - int(lower), stream)",
        "discrete_laplace(epsilon, 1, stream)",
        of("test_noisy_count"),
    ),
    Mutant(
        COUNT,
        "        if negative and magnitude == 0:\n            continue",
        "        if False:\n            continue",
        of("test_discrete_laplace"),
    ),
    Mutant(
        ENTROPY,
        "            self._position = missing\n",
        "            self._position = 0\n",
        of("test_words_do_not_depend_on_the_requests"),
    ),
    Mutant(
        ENTROPY,
        "        if self.seeded:\n            raise",
        "        if False:\n            raise",
        of("test_fork_never_repeats_words"),
    ),
    Mutant(
        ENTROPY,
        "        self._start(os.urandom(32))\n",
        "        self._process = os.getpid()\n",
        of("test_fork_never_repeats_words"),
    ),
    Mutant(
        SAMPLE,
        "rounded[i] = rint(source[i] * inverse) * grid",
        "rounded[i] = <int64_t>(source[i] * inverse) * grid",
        of("test_compiled_kernels_equal_the_reference", "test_rounding_to_the_grid"),
        ("sample",),
    ),
    Mutant(
        SAMPLE,
        "        if height >= density * excess:\n",
        "        if height >= density * 1.01:\n",
        of("test_compiled_kernels_equal_the_reference", "test_decisions_next_to_the_curve"),
        ("sample",),
    ),
]
