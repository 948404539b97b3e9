"""The ledger: its file, its rules, its mathematics."""
