"""What notebooks show is the value, and HTML that is well formed whatever is in it."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp, pde
from xcore._core.notebook import shown


def deleted():
    x = xnp.ones(2)
    x.delete()
    return x


SHOWN = {
    "array": (lambda: xnp.asarray([[1.5, 2.0]]), ["Array 1 × 2, float32", "1.5"]),
    "number": (lambda: xnp.asarray(3), ["a number", "3"]),
    "empty": (lambda: xnp.zeros((0, 2)), ["0 × 2"]),
    "deleted": (deleted, ["deleted"]),
    "program": (lambda: xc.make_jaxpr(lambda x: x < 1)(1.0), ["Program, 1 equations", "lt"]),
    "solution": (
        lambda: xc.linalg.solve(xnp.eye(2), xnp.ones(2), report=True),
        ["reached", "condition"],
    ),
    "grid": (
        lambda: pde.Grid((4, 2), upper=(2.0, 1.0)),
        ["4 cells from 0 to 2", "2 cells from 0 to 1"],
    ),
    "cp": (lambda: decomp.CP(None, (np.eye(3, 2), np.eye(4, 2))), ["rank 2", "4 × 2"]),
}


@pytest.mark.parametrize("name", SHOWN)
def test_shown(name):
    make, parts = SHOWN[name]
    page = make()._repr_html_()
    text = "".join(ET.fromstring(page).itertext())
    assert [p for p in parts if p not in text] == []


def test_text_is_text():
    page = shown("<b>", [("a&b", "<script>")], "x < y")
    assert "".join(ET.fromstring(page).itertext()) == "<b>a&b<script>x < y"
    assert shown("title") == "<div><b>title</b></div>"
