"""Solvers made of solvers: keep the heaviest, screen first, let blocks vote.

The only family that knows the others.
"""
