"""Losses: bounds that are too small, curvatures of something else, clips that let NaN through."""

from tests.mutants.mutant import Mutant

LOSSES = "src/sparsedp/losses/"
TESTS = ("tests/records/test_losses.py",)


def _in(file: str, old: str, new: str) -> Mutant:
    return Mutant(LOSSES + file, old, new, TESTS)


MUTANTS = [
    _in("clip.py", "    np.copyto(values, 0.0, where=np.isnan(values))\n", ""),
    _in(
        "clip.py",
        "np.clip(values, -bound, bound, out=values)",
        "np.minimum(values, bound, out=values)",
    ),
    _in(
        "logistic.py",
        "float(expit(np.abs(weights).sum()))",
        "float(expit(np.abs(weights).max(initial=0)))",
    ),
    _in("squared.py", "float(1 + np.abs(weights).sum())", "float(1 + np.abs(weights.sum()))"),
    _in("multinomial.py", "float(max((1 - least).max(), most.max()))", "float(most.max())"),
    _in("log_cosh.py", "float(1 + np.abs(weights).sum())", "float(np.abs(weights).sum())"),
    _in("log_cosh.py", "        return self.clip\n", "        return self.clip / 2\n"),
    _in("multinomial.py", "lipschitz = math.sqrt(2)", "lipschitz = 1.0"),
    _in("multinomial.py", "residual_lipschitz = math.sqrt(0.5)", "residual_lipschitz = 0.25"),
    _in("logistic.py", "    curvature_bound = 0.25\n", "    curvature_bound = 0.125\n"),
    _in(
        "logistic.py",
        "self.residual(margins, nothing) * self.residual(-margins, nothing)",
        "self.residual(margins, nothing) ** 2",
    ),
    _in(
        "log_cosh.py",
        "return 1 - _tanh((margins - target) / self.clip) ** 2",
        "return np.ones_like(margins)",
    ),
    _in("multinomial.py", "        hessian[:, k, k] += p\n", "        hessian[:, k, k] += p**2\n"),
]
