"""The tables of those who come from elsewhere: every row is run. Not with `make test`, by `make docs-check`."""

import doctest
import re

import numpy as np
import pytest

from tools.site.names import ROOT

TABLES = sorted((ROOT / "docs" / "start").glob("from_*.md"))


def _run(code, space):
    """The value of the last of several statements."""
    *before, last = code.split("; ")
    for statement in before:
        exec(statement, space)
    if last.startswith("with "):
        head, _, last = last.partition(": ")
        exec(f"{head}:\n    _ = {last}", space)
        return space["_"]
    return eval(last, space)


def _close(got, want):
    if isinstance(got, tuple | list):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            _close(g, w)
    else:
        np.testing.assert_allclose(
            np.asarray(got, float), np.asarray(want, float), rtol=2e-3, atol=2e-3
        )


@pytest.mark.parametrize("page", TABLES, ids=lambda p: p.stem)
def test_rows_of_tables_give_what_they_say(page):
    """Where the left column is NumPy or SciPy it is run as well, and gives the same."""
    text = page.read_text()
    space = {}
    for example in doctest.DocTestParser().get_examples(text):
        exec(example.source, space)
    text = text.replace("\\|", "∣")
    rows = re.findall(r"^\| `(.*?)`[^|]* \| `(.*?)` \| `(.*?)` \|$", text, re.M)
    assert len(rows) > 14
    assert len(rows) == len(re.findall(r"^\| [^|]*`[^|]*\|[^|]*`[^|]*\|[^|]*`[^|]*\|$", text, re.M))
    for left, here, gives in rows:
        want = eval(gives, {})
        _close(_run(here, space), want)
        if page.stem in ("from_numpy", "from_scipy"):
            _close(_run(left, space), want)
