"""docs/reproduction.md: its tables and numbers from stored results, its claims checked by them."""
