"""What a solver can ask at the door, one file per kind of question, with every answer to it.

A question says which releases can pay for it, what it charges, how noise answers it, how it is
answered exactly, and what an audit keeps of it. A new one is one file here and one in
privacy/events/; solvers ask it with ``curator.ask``.
"""
