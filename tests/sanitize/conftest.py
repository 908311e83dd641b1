"""What is told while a function runs."""

import warnings

import pytest

import xcore as xc
from xcore._core import findings


def _told(f) -> str:
    findings.forget()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            for x in xc.tree.leaves(f()):
                float(x.sum())
        except (xc.errors.XcoreError, ArithmeticError) as e:
            return str(e)
    return "\n".join(str(w.message) for w in given)


@pytest.fixture
def told():
    """Under the setting sanitize, what is told while a function runs and its results are read."""
    with xc.config.override(sanitize=True):
        yield _told
    findings.forget()
