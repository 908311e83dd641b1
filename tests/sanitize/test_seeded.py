"""Mistakes are told, with their lines; the mended programs run without a word."""

import inspect
import warnings

import pytest

import xcore as xc
from tests.sanitize import seeded
from xcore._core import findings


@pytest.fixture(autouse=True)
def sanitizing():
    findings.forget()
    xc.config.update("sanitize", True)
    yield
    xc.config.update("sanitize", False)


def told(f) -> str:
    """What is told while a program runs and its results are read."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            for x in xc.tree.leaves(f()):
                float(x.sum())
        except (xc.errors.XcoreError, IndexError) as e:
            return str(e)
    kinds = (xc.errors.SanitizeWarning,)
    return "\n".join(str(w.message) for w in given if issubclass(w.category, kinds))


def marked_line(f) -> int:
    lines, first = inspect.getsourcelines(f)
    (found,) = [first + i for i, text in enumerate(lines) if "# <- here" in text]
    return found


@pytest.mark.parametrize(("f", "fragment"), seeded.BUGS, ids=lambda x: getattr(x, "__name__", ""))
def test_reported_with_its_line(f, fragment):
    report = told(f)
    assert fragment in report
    assert f"seeded.py:{marked_line(f)} " in report or f"seeded.py:{marked_line(f)})" in report


@pytest.mark.parametrize("f", seeded.MENDED, ids=lambda f: f.__name__)
def test_mended_runs_clean(f):
    assert told(f) == ""


def test_there_are_fifty_of_each():
    assert len(seeded.BUGS) >= 50
    assert len(seeded.BUGS) == len(seeded.MENDED)


def test_off_nothing_is_told():
    xc.config.update("sanitize", False)
    for f in (seeded.log_of_returns, seeded.off_by_one, seeded.change_that_is_lost):
        assert told(f) == ""
