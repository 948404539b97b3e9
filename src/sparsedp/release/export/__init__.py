"""Published models in other languages: written down as a small program first, then as text.

expression.py is the language in between, cells.py, calendar.py and program.py write a model in it,
python.py, sklearn.py, javascript.py, sql.py, onnx.py and pmml.py write programs for engines.
card.py writes for readers.
"""
