"""A privacy budget that several fits draw from; ledger.md says what holds and why."""

from sparsedp.privacy.ledger.errors import BudgetExceeded, LedgerBusy, LedgerError, LedgerGone
from sparsedp.privacy.ledger.head import Receipt
from sparsedp.privacy.ledger.ledger import Charge, Ledger, Remaining

__all__ = [
    "BudgetExceeded",
    "Charge",
    "Ledger",
    "LedgerBusy",
    "LedgerError",
    "LedgerGone",
    "Receipt",
    "Remaining",
]
