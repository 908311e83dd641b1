"""The ledger of accuracy: residuals over rounding, and what claims were true.

``python -m tests.accuracy`` (``make accuracy``) is the way in. A routine is a row of a table
(``dense``, ``functions``, ``structured``, ``krylov``, …): how to draw its problems, how to call it, how to judge what comes back.
Judges never call xcore: residuals are computed by NumPy in a wider type (``wide``), references by
mpmath, exact formulas, or Jacobi's methods in extended precision. ``book`` runs the rows,
``page`` writes ``docs/accuracy.md``.
"""
