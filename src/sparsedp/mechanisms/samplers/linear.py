"""Random linear terms for objective perturbation, and what else only minima and votes need."""

import math

import numpy as np

from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.samplers.count import discrete_laplace
from sparsedp.mechanisms.samplers.gaussian import rounded_gaussian

_BITS = 44  # of the standard deviation in grid units
_MANTISSA_BITS = 31  # that the sampler takes


def gaussian_linear_term(n: int, sigma: float, stream: KeyStream) -> tuple[np.ndarray, float]:
    """Draw a vector of Gaussians of at least the given standard deviation, rounded to a grid.

    Returns
    -------
    vector : ndarray of shape (n,)
    slip : float
        A bound on the L2 distance between the vector and real Gaussians of which it is the
        rounding: whoever uses it as a real vector pays for that distance.
    """
    if not 0 < sigma < math.inf:
        raise ValueError(f"sigma must be positive and finite, got {sigma}")
    grid = math.ldexp(1.0, math.frexp(sigma)[1] - _BITS)
    units = math.ceil(sigma / grid * (1 + 1e-15))
    dropped = max(0, units.bit_length() - _MANTISSA_BITS)
    units = -(-units >> dropped) << dropped
    return rounded_gaussian(n, units, stream) * grid, math.sqrt(n) * grid / 2


def gamma_linear_term(n: int, rate: float, stream: KeyStream) -> tuple[np.ndarray, float]:
    """Draw a vector b with a density proportional to ``exp(-rate * ||b||)``, in double precision.

    Its norm is a sum of n exponentials, its direction uniform.

    Returns
    -------
    vector : ndarray of shape (n,)
    slip : float
        A bound on its distance from a real vector of that law; it holds unless the norm exceeds
        a thousand times its mean, which happens with probability below exp(-900).
    """
    if not 0 < rate < math.inf:
        raise ValueError(f"rate must be positive and finite, got {rate}")
    norm = -math.fsum(np.log(uniforms(n, stream))) / rate
    direction = np.zeros(n)
    while not direction.any():
        direction = rounded_gaussian(n, 2**_BITS, stream).astype(np.float64)
    return direction * (norm / np.linalg.norm(direction)), 2.0**-30 * n / rate


def laplace_release(
    values: np.ndarray, sensitivity: float, epsilon: float, stream: KeyStream
) -> np.ndarray:
    """Add discrete Laplace noise to a vector that moves by at most ``sensitivity`` in L2 norm.

    Notes
    -----
    *Privacy.* Exactly epsilon-DP: the values are rounded to a grid of integers, on which they move
    by at most sqrt(n) times the sensitivity, plus one unit each, in L1 norm.
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    span = sensitivity * math.sqrt(flat.size)
    grid = math.ldexp(1.0, math.frexp(span)[1] - 20)
    units = math.ceil(span / grid) + flat.size
    noise = np.array([discrete_laplace(epsilon, units, stream) for _ in range(flat.size)], float)
    return ((np.round(flat / grid) + noise) * grid).reshape(np.shape(values))


def laplace_top_k(scores: np.ndarray, scale: float, k: int, stream: KeyStream) -> np.ndarray:
    """Return the k largest of scores with Laplace noise, best first.

    Kept to reproduce published methods. *Privacy.* That of releasing all noisy scores; the noise is
    computed in ordinary double precision, so near ties are decided up to rounding errors.
    """
    magnitude = -scale * np.log(uniforms(scores.size, stream))
    signs = np.where(stream.words(scores.size) & np.uint64(1), -1.0, 1.0)
    return np.argsort(-(scores + signs * magnitude), kind="stable")[:k]


def uniforms(n: int, stream: KeyStream) -> np.ndarray:
    """Draw numbers in (0, 1) from 126 bits each: those near zero keep their full precision."""
    first, second = stream.words(2 * n).reshape(2, -1)
    coarse = (first >> np.uint64(1)).view(np.int64).astype(np.float64)
    fine = ((second >> np.uint64(1)).view(np.int64) + 0.5) * 2.0**-63
    return (coarse + fine) * 2.0**-63
