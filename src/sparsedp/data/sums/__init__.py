"""Products with records and sums over them, as exact as sensitivities need (summation.md)."""
