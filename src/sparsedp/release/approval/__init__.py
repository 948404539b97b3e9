"""For whoever must approve a model: threat model, checklist, verification, signature, ledger."""
