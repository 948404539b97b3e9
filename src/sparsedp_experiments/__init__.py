"""The tables and figures of the papers: ``sparsedp reproduce`` runs them."""
