"""Pursuit: features chosen in a few rounds, fitted by whitened Newton steps (pursuit.md).

pursuit.py has the order, plan.py the shares of the budget, step.py the steps, targets/ what
depends on the kind of target; records.py is what a block of records computes.
"""
