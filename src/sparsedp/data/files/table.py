"""What a file holds, before the gate."""

from dataclasses import dataclass

from sparsedp.data.raw import RawArray, RawTable


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """What a file holds, before the gate.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
        Features; a missing cell is NaN.
    y : ndarray of shape (n,), or None
        Labels as the file has them: numbers, or text where a cell is not a number.
    feature_names : tuple of str, or None
    target_name : str, or None

    Notes
    -----
    *Privacy.* Nothing here is clipped or private yet: hand it to an estimator, do not print it.
    """

    X: RawTable
    y: RawArray | None
    feature_names: tuple[str, ...] | None
    target_name: str | None

    def __repr__(self) -> str:
        return f"Table(n_features={self.X.shape[1]}, target={self.target_name!r}, records private)"
