"""How long a default fit takes, against another tree of the library, and what either reaches.

    python benchmarks/default_fit.py --data DIR --reference TREE [--sets german,phishing] [--fits 7]

TREE is a checkout with its kernels built in place (``python setup.py build_ext --inplace``). Both
trees run in processes of their own with one thread, and fit in turns: a set, a split, a seed. Times
are processor time, the least of several fits; a ratio is that of the two least ones.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SETS = ("german", "phishing", "usps_even", "mnist49", "california", "adult", "covtype", "w8a")


def fitted(part, seed):
    """A model by the defaults at epsilon = 1, and the processor time that it took."""
    from sparsedp import SparseLinearRegression, SparseLogisticRegression

    table = part.table
    common = {"epsilon": 1.0, "delta": 1e-6, "bounds": (table.lower, table.upper)}
    if table.target_bounds is None:
        model = SparseLogisticRegression(classes=(0, 1), random_state=seed, **common)
    else:
        model = SparseLinearRegression(
            target_bounds=table.target_bounds, random_state=seed, **common
        )
    begin = time.process_time()
    model.fit(part.X, part.y)
    return model, time.process_time() - begin


def answer(name, cache, seed):
    """Time and score of one fit: AUC, or R2 of a numeric target."""
    from benchmarks.rivals import sets
    from sklearn.metrics import r2_score, roc_auc_score

    part = sets.split(sets.table(name, cache), 0)
    model, seconds = fitted(part, seed)
    if part.table.target_bounds is None:
        score = roc_auc_score(part.y_test, model.decision_function(part.X_test))
    else:
        score = r2_score(part.y_test, model.predict(part.X_test))
    return {"seconds": seconds, "score": float(score), "shape": part.X.shape}


class Tree:
    """A process that fits with the library of one tree."""

    def __init__(self, root, cache):
        paths = os.pathsep.join([str(Path(root).resolve() / "src"), str(ROOT)])
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [sys.executable, str(Path(__file__).resolve()), "--serve", str(cache)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | one | {"PYTHONPATH": paths},
            text=True,
        )

    def fit(self, name, seed):
        """Have one set fitted."""
        self._process.stdin.write(json.dumps([name, seed]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        """End the process."""
        self._process.stdin.close()
        self._process.wait()


def serve(cache):
    """Answer line by line."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        name, seed = json.loads(line)
        print(json.dumps(answer(name, cache, seed)), flush=True)


def compared(name, trees, n_fits):
    """One line of the table."""
    found = [[], []]
    for seed in range(n_fits + 1):  # the first one loads what is needed
        for answers, tree in zip(found, trees, strict=True):
            answers.append(tree.fit(name, seed))
    ours, theirs = ([a["seconds"] for a in answers[1:]] for answers in found)
    scores = [np.mean([a["score"] for a in answers]) for answers in found]
    n, d = found[0][0]["shape"]
    return (
        f"| {name} | {n:,} x {d} | {min(ours):.3f} | {min(theirs):.3f} "
        f"| {min(ours) / min(theirs):.2f} | {scores[0]:.3f} | {scores[1]:.3f} |"
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--fits", type=int, default=7)
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "default_fit")
    parser.add_argument("--serve", metavar="CACHE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve is not None:
        serve(arguments.serve)
        return
    if arguments.reference is None:
        parser.error("say where the other tree is: --reference TREE")
    sys.path.insert(0, str(ROOT))
    from benchmarks.rivals import sets

    trees = [Tree(root, arguments.cache) for root in (ROOT, arguments.reference)]
    print("| set | records x features | seconds | reference | ratio | score | reference |")
    print("|---|---|---|---|---|---|---|")
    for name in arguments.sets.split(","):
        sets.table(name, arguments.cache, arguments.data)
        print(compared(name, trees, arguments.fits), flush=True)
    for tree in trees:
        tree.close()


if __name__ == "__main__":
    main()
