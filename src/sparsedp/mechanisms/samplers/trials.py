"""How many settings to try: a random number, so that the number itself tells nothing."""

from decimal import Decimal, localcontext

from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.privacy.account.repeat import SHAPES, stopping_rate

UNIFORM_BITS = 160


def n_trials(expected_trials: float, distribution: str, stream: KeyStream) -> int:
    """Draw from the truncated negative binomial distribution with this mean.

    By inversion in 60 decimal digits from 160 random bits: the distance from the exact law is far
    below anything that an accountant could resolve.
    """
    with localcontext() as context:
        context.prec = 60
        uniform = Decimal(stream.bits(UNIFORM_BITS)) / Decimal(2) ** UNIFORM_BITS
        gamma = Decimal(stopping_rate(expected_trials, distribution))
        shape = Decimal(SHAPES[distribution])
        if shape == 0:
            probability = (1 - gamma) / -gamma.ln()
        else:
            probability = shape * (1 - gamma) / (gamma**-shape - 1)
        k, reached = 1, probability
        while reached <= uniform:
            probability *= (1 - gamma) * (k + shape) / (k + 1)
            k += 1
            reached += probability
        return k
