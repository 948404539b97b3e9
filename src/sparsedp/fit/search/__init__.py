"""A private search: many trials at the price of one charge (search.md).

search.py has the order, trial.py one trial: a fit on some records and a noisy score on the others.
"""
