"""Builds the documentation site: ``python -m tools.site`` (``make docs``).

The source of the site is docs/, a few pages of the root, the docstrings and the results of the examples. All of it
is put together in build/site/source, from which Sphinx makes build/docs.
"""
