"""Some columns of records: chosen for a step, picked into dense copies, or transposed."""
