"""Products of two columns each: margins, sums and norms; ``crossed_reference`` has the contract."""
