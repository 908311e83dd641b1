"""Differential fuzzing: random programs, run by xcore, by NumPy and, where it is installed, by jax.

``python -m tests.fuzz --seed S --count N`` is the way in (``__main__``). A program is data
(``programs``), made of rows of a table (``table``) and of transformations (``nests``); its source text
is what the libraries run, and what is printed when they disagree. ``reference`` interprets the same
data with NumPy, in wide arithmetic, several times with other rounding errors: the spread says how far
a right answer may lie away. ``differences`` lists by rule where xcore is meant to differ.
"""
