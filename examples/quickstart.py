"""A private sparse classifier, a budget, and the page that goes with the published model."""

from pathlib import Path
from tempfile import mkdtemp

from sparsedp import Bounds, Ledger, SparseLogisticRegression
from sparsedp.data.synthetic import wang_zhang
from sparsedp.release import PublishedModel, write_report

made = wang_zhang(n=10_000, d=100, seed=0)  # stands in for sensitive records
folder = Path(mkdtemp())
ledger = Ledger(epsilon=3.0, delta=1e-5, path=folder / "patients.ledger")

model = SparseLogisticRegression(
    epsilon=1.0,
    delta=1e-6,
    bounds=Bounds(lower=-1, upper=1),  # known without looking at the records
    n_nonzero=15,
    classes=[0, 1],
    ledger=ledger,
).fit(made.X, made.y)

print(model.privacy_.statement())
print(f"features used: {model.coef_.any(axis=0).nonzero()[0].tolist()}")
print(f"left in the ledger: {ledger.remaining()}")

published = PublishedModel.from_estimator(model, target_name="sick")
published.save(folder)
print(f"report: {write_report(published, folder / 'report.html')}")
