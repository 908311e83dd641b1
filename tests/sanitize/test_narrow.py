"""Numbers of 64 bits that come in and are made 32 bits of: told where they become others."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

WIDE, SMALL = np.asarray([1, 2**40]), np.asarray([1, 2**20])
ENTRIES = {
    "asarray": xnp.asarray,
    "operator": lambda x: xnp.zeros(2, "int32") + x,
    "function": xnp.sum,
    "scalar": lambda x: xnp.arange(3) * x[1],
    "jit": xc.jit(lambda x: x % 7),
    "constant": lambda x: xc.jit(lambda y: x + y)(1),
    "vmap": xc.vmap(lambda x: x + 1),
    "scan": lambda x: xc.lax.scan(lambda c, y: (c, y), 0, x)[1],
    "where": lambda x: xnp.where(True, x, 0),
    "device_put": xc.device_put,
    "list": lambda x: xnp.stack([x, x]),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_integers(told, entry):
    with xc.config.override(narrow=True):
        report = told(lambda: ENTRIES[entry](WIDE))
        assert "1099511627776 comes in as int64 and does not fit in int32" in report
        assert "test_narrow.py:" in report
        assert told(lambda: ENTRIES[entry](SMALL)) == ""


@pytest.mark.filterwarnings("error")
def test_floats(told):
    with xc.config.override(narrow=True):
        assert "1e+300 comes in as float64" in told(lambda: xnp.asarray(np.full(2, 1e300)))
        assert told(lambda: xnp.isinf(xnp.asarray(np.asarray([np.inf, np.nan, 0.1])))) == ""


CASTS = {
    "numbers": lambda x: xnp.asarray([0.5, float(x)], dtype="int32"),
    "number": lambda x: xnp.asarray(float(x), dtype="int32"),
    "full": lambda x: xnp.full(2, float(x), dtype="int32"),
    "linspace": lambda x: xnp.linspace(0.0, float(x), 4, dtype="int32"),
    "logspace": lambda x: xnp.logspace(0.0, np.log2(x), 4, base=2.0, dtype="int32"),
    "geomspace": lambda x: xnp.geomspace(1.0, float(x), 4, dtype="int32"),
    "sum of casts": lambda x: xnp.asarray([x, 0.0]).sum(dtype="int32"),
    "sum": lambda x: xc.jit(lambda v: v.sum(dtype="int8"))(xnp.asarray([int(x) // 2**33, 1])),
    "running sum": lambda x: xnp.cumsum(xnp.asarray([100, int(x) // 2**32]), dtype="int8"),
}


@pytest.mark.parametrize("cast", CASTS)
def test_casts(told, cast):
    assert "does not fit in int" in told(lambda: CASTS[cast](2.0**40))
    assert told(lambda: CASTS[cast](2.0**20)) == ""


@pytest.mark.parametrize("run", [lambda f: f, xc.jit], ids=["eager", "jit"])
def test_integers_that_are_not_counted(told, run):
    count = run(lambda x: xnp.bincount(x, length=4))
    assert "index 4 is out of bounds" in told(lambda: count(xnp.asarray([0, 4])))
    assert "index -1 is out of bounds" in told(lambda: count(xnp.asarray([0, -1])))
    assert told(lambda: count(xnp.asarray([0, 3]))) == ""


def test_wide_as_they_are(told):
    assert told(lambda: xnp.asarray(WIDE)) == ""


@pytest.mark.parametrize("run", [lambda f: f, xc.jit], ids=["eager", "jit"])
def test_results_of_callbacks(run):
    shape = xc.ShapeDtypeStruct((2,), "int32")
    assert run(lambda: xc.pure_callback(lambda: SMALL, shape))().tolist() == [1, 2**20]
    with pytest.raises(xc.errors.CallbackError, match=r"1099511627776 .* int64 does not fit"):
        run(lambda: xc.pure_callback(lambda: WIDE, shape))()
