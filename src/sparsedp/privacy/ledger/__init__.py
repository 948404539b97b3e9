"""A privacy budget that several fits draw from; ledger.md says what holds and why.

ledger.py is what users hold; store.py its file, chain.py the hashes of its lines, state.py what is
in force, rules.py how charges add up, upgrade.py files of version 0.1.
"""

from sparsedp.privacy.ledger.entries import Charge, Remaining
from sparsedp.privacy.ledger.errors import BudgetExceeded, LedgerBusy, LedgerError, LedgerGone
from sparsedp.privacy.ledger.head import Receipt
from sparsedp.privacy.ledger.ledger import Ledger
from sparsedp.privacy.ledger.ledger import _reopen as _reopen  # where pickles of version 0.1 look

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
