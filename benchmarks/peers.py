"""What others do, for benchmarks/bench.py: two more ways to write the steps, and diffprivlib.

Liblinear, celer and skglm are in reference.py, the listing of Khanna et al. (2024) in
appendix_b.py.
"""

import json
import math
import multiprocessing
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.special import expit

DIFFPRIVLIB = ("scikit-learn==1.5.2", "diffprivlib==0.6.6")
DIFFPRIVLIB_FIT = """
import json, sys, time, warnings
import numpy as np
from diffprivlib.models import LogisticRegression

warnings.simplefilter("ignore")
X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
norm = float(np.sqrt(np.einsum("ij,ij->i", X, X).max()))
seconds = {}
for epsilon in map(float, sys.argv[3:]):
    model = LogisticRegression(epsilon=epsilon, data_norm=norm, fit_intercept=False, random_state=0)
    start = time.process_time()
    model.fit(X, y)
    seconds[epsilon] = time.process_time() - start
print(json.dumps({"seconds": seconds, "features": int(np.count_nonzero(model.coef_))}))
"""


def better_numpy(X, y, *, radius, n_steps, epsilon, delta, rng, n_run):
    """The steps of appendix B with the means of NumPy and SciPy, but with care.

    Margins follow the chosen column instead of being computed anew, records are held by column, so
    that the one product that is left reads memory in order, noise comes from the fastest generator
    (a random sign times an exponential variable), and no step allocates arrays. Same parameters as
    ``appendix_b``; X is an ndarray in Fortran order or a CSC array.

    Returns
    -------
    ndarray of shape (d,)
    """
    n, d = X.shape
    scale = math.sqrt(8 * n_steps * math.log(1 / delta)) / epsilon  # of sums of derivatives
    transposed = X.T
    w, margins, residual = np.zeros(d), np.zeros(n), np.empty(n)
    noise = np.empty(2 * d)
    for t in range(1, n_run + 1):
        expit(margins, out=residual)
        residual -= y
        gradient = transposed @ residual
        rng.standard_exponential(out=noise)
        noise *= scale
        bits = np.unpackbits(np.frombuffer(rng.bytes(d // 4 + 1), dtype=np.uint8), count=2 * d)
        np.negative(noise, out=noise, where=bits.view(bool))
        noise[:d] += gradient
        noise[d:] -= gradient
        vertex = int(noise.argmin())
        feature, step = vertex % d, 2 / (t + 2)
        toward = step * (radius if vertex < d else -radius)
        w *= 1 - step
        w[feature] += toward
        margins *= 1 - step
        if isinstance(X, np.ndarray):
            margins += toward * X[:, feature]
        else:
            entries = slice(X.indptr[feature], X.indptr[feature + 1])
            margins[X.indices[entries]] += toward * X.data[entries]
    return w


def vertex_matrix(X, y, *, radius, n_steps, epsilon, delta, rng, n_run):
    """The algorithm of the research code afrl-ri/differential-privacy-review, in our own words.

    All 2 d vertices of the ball are the rows of a sparse matrix; a step multiplies it by the
    gradient, adds Laplace noise, takes the least, and moves toward that row written out as an
    array. Which is appendix B with its sign corrected. Same parameters as ``appendix_b``.

    Returns
    -------
    ndarray of shape (d,)
    """
    n, d = X.shape
    one = sparse.identity(d, format="csc")
    vertices = radius * sparse.vstack((one, -one), format="csc")
    scale = radius * math.sqrt(8 * n_steps * math.log(1 / delta)) / (n * epsilon)
    w = np.zeros(d)
    for t in range(1, n_run + 1):
        probability = 1 / (1 + np.exp(-(X @ w)))
        gradient = X.T @ (probability - y) / n
        noisy = vertices @ gradient + rng.laplace(scale=scale, size=2 * d)
        vertex = vertices[[int(np.argmin(noisy))], :].toarray()[0]
        w = w + 2 / (t + 2) * (vertex - w)
    return w


def limited(function, *arguments, seconds):
    """CPU seconds of a call and its result, or None if it takes longer: in a child process."""

    def report():
        start = time.process_time()
        result = function(*arguments)
        sender.send((time.process_time() - start, result))

    context = multiprocessing.get_context("fork")  # shares what is in memory already
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=report)
    child.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(seconds) else None
    except EOFError:  # it failed, and has said why
        return None
    finally:
        child.kill()
        child.join()


class Diffprivlib:
    """Fits of diffprivlib, in a virtual environment of its own: it needs an old scikit-learn.

    Parameters
    ----------
    folder : Path
        Of the environment; made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.python = folder / "bin" / "python"
        self.missing = ""
        try:
            if not self.python.exists():
                subprocess.run(["python3", "-m", "venv", folder], check=True)
                pip = [self.python, "-m", "pip", "install", "--quiet"]
                subprocess.run([*pip, "--disable-pip-version-check", *DIFFPRIVLIB], check=True)
            subprocess.run([self.python, "-c", "import diffprivlib.models"], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            self.missing = f"could not be installed ({type(error).__name__})"

    def fit(self, X, y, epsilons):
        """CPU seconds by epsilon, and the number of coefficients that are not zero."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / "X.npy", Path(folder) / "y.npy"]
            np.save(paths[0], X if isinstance(X, np.ndarray) else X.toarray())
            np.save(paths[1], y)
            command = [self.python, "-c", DIFFPRIVLIB_FIT, *paths, *map(str, epsilons)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)
