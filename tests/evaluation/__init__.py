"""Private scores of a model."""
