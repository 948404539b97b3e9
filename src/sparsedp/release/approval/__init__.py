"""For whoever must approve a model: verification, signature, and the ledger that paid for it."""
