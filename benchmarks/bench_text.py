"""What benchmarks/results.md says around its tables."""

INTRODUCTION = """\
# Speed and memory

Made by benchmarks/bench.py (`make bench DATA=DIR`), sparsedp {sparsedp}, in {runs}.
Change the script, not this page.

**Settings.** CPU time of one thread (BLAS too), what is to be compared taken in turn,
medians of the turns. T = 1,000 steps, δ = 1/n, logistic loss, no intercept, features scaled to
[-1, 1]. Radius 50 (rcv1, news20, url, imdb) or 10. Data are synthetic in the shapes of well-known
sets, with columns by Zipf's law (benchmarks/shapes.py), unless marked "real" (training parts).

**Noise.** "Published" is the Laplace noise of Khanna et al. (2024), as in appendix B; "sound" is
our default, the exponential mechanism with exact accounting. It is quieter at the same ε, so more
of the scores matter and there is more to do. Budgets are calibrated before the clock starts.

**Machine.** {cpu}, {cores} cores, {system}, Python {python}; {packages};
{diffprivlib} in an environment of its own. Other programs may have been running: CPU times
and even more their ratios bear that, wall times do not.
"""

GOALS = """\
## What was to be reached

*Faster* is at the published noise, mode auto. Twenty million records out of core and, where they
are missing here, rounds on a Dask cluster: see [large-data.md](../docs/large-data.md).
"""

REASONS = {
    "sparse steps": """\
**Sparse data at ε = 10.** Most of the time goes into sums over columns, and most of these into the
first hundred steps, which move derivatives so far that no bound on scores survives them. The
profile is in [lazy.md](lazy.md).
""",
    "dense steps": """\
**gisette at ε = 10.** Sums over dense columns, read from main memory. The bound of Cauchy and
Schwarz is far wider than what scores of such columns really change by, so many are computed anew.
The profile is in [lazy.md](lazy.md).
""",
    "memory": """\
**Memory with the records.** A value and an index in SciPy's CSR format take 12 bytes, and the gate
makes a copy of its own, so that nothing that happens to the records later matters.
""",
    "growth": """\
**Doubling d.** Nothing in a step grows with d; what is read lies further apart, so that caches
help less.
""",
    "choice": """\
**Lazy or full.** The choice is made while steps are taken, from their cost so far: a fit that is
over after few steps has paid for finding out.
""",
    "products": """\
**Other solvers over their products.** On a9a and w8a a product takes half a millisecond, so that
what lies between products shows. Of the time of `Pursuit` there
(`python benchmarks/solver_speed.py --data DIR --profile a9a Pursuit`, and w8a) 41 and 40 % are
products, 10 and 11 % picking the columns of newly chosen features out of sparse rows, once per
round (17 and 6 rounds), 3 % derivatives; noise, selections and the rest of some 18,000 and 10,000
calls of Python and NumPy take what is left, none of them more than 3 %. Between runs these two
figures moved from 2.1 to 2.5.
""",
}
"""Why a figure was missed."""

STEPS = """\
## A step of private Frank-Wolfe

CPU microseconds per step. *Appendix B* is the listing of Khanna et al. (2024) with its sign
corrected (benchmarks/appendix_b.py), *afrl-ri* the algorithm of the research code
afrl-ri/differential-privacy-review in our own words, *NumPy* the best we could do with NumPy and
SciPy (both in benchmarks/peers.py). A step of these three costs the same from the first to the
last, so only a few were taken, as the column says, and of *full* twice as many. *Lazy* and
*auto* are whole fits. *Faster* is appendix B over auto. Preparing the records (the gate, the
compact copy) is done once for all fits of a set, and not part of a step: see whole fits.

![CPU time per step, by set and epsilon](results-steps.svg)
"""

SCALING = """\
## Cost against the size of the data

CPU microseconds per step on text-like data, n = {n:,}, d = {d:,}, {per_row} entries per record
before duplicates are merged, radius 50, with one of the three changed; times are those of whole
fits. At fixed ε more records also mean less noise. As d doubles from {first:,} to {last:,}, each
doubling multiplies the cost of a step at ε = 1 by {published} (published noise) and by {sound}
(sound). A fit also returns its weights, one number per feature, in memory that has to be cleared:
with that, a step of 1,000 costs {whole} times as much (published noise).

![CPU time per step against n, d and entries per record](results-scaling.svg)
"""

FITS = """\
## Whole fits

CPU seconds. Liblinear (scikit-learn), celer and skglm are not private; they and our `Lasso`
minimize the same objective, without intercept, at the penalty to which the radius amounts, at
tolerance 1e-4 (ours: 1e-6), compiled before. In brackets: features with non-zero weight. Ours
private: 1,000 steps, mode auto, prepared before; *prepared* is the time from the records as given
to the first step. Diffprivlib has no L1 penalty and takes no sparse input: it is given a dense copy
where that has at most half a GB, and all its coefficients are non-zero.
"""

COUNT = """\
## The count of features without privacy

What `Sparsifier(n_nonzero="count")` asks for: the minimum over the ball and its features. *Gap* is
the Frank-Wolfe gap, a certificate of how far above the minimum the mean loss can be. The paper
takes 50,000 steps of Frank-Wolfe without noise; their time is that of a few steps of appendix B
times 50,000.
"""

CHOICE = """\
## Lazy or full steps

Time of `mode="auto"` over the better of "lazy" and "full", on all sets above (1,000 steps) and in
short fits (100 steps, radius 10 and 50) on {short}, for ε = 0.1, 1 and 10 and both
kinds of noise: {count} points, {above} of them above 1.2, median {median:.2f}. The worst:
"""

MEMORY = """\
## Memory

In a process of its own, ε = 1, published noise, in MB and, in brackets, bytes per entry. *Given*
are the records in CSR format (float64 and int32), *gate* is the copy that the gate makes of them.
*Fit* is the peak beyond these: the *compact copy* and all that the walk needs. *Process* is the
peak of all together, with Python and the libraries.
"""

THREADS = """\
## Threads

A grid of fits (5 radii, 5 values of ε from 0.1 to 10, some seeds; published noise) on shared
records, the interpreter lock released: seconds, each measured twice, the smaller. With other
programs running the wall time of two threads says little; equal CPU time says that nothing is lost.
"""

IMPORTS = """\
## Imports

CPU milliseconds in a fresh interpreter; all but the first after NumPy and SciPy have been imported.
"""

ROUNDS = """\
## Rounds on a Dask cluster

1,000 steps on a cluster of two worker processes on this machine, the records in four blocks, beside
the plain loop that takes one round per step (timed over a few steps). A round is one task for each
block. Wall times, of a machine that may have been busy.
"""

SOLVERS = """\
## Other solvers over their bare products

CPU milliseconds of a fit after the gate (ε = 1, δ = 1e-6, defaults), of the same products with the
records by themselves, and of the same products by SciPy and BLAS, which round as they like
(benchmarks/solver_speed.py).
"""
