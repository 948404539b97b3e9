"""Pursuit: features chosen in a few rounds, fitted by whitened Newton steps (pursuit.md)."""
