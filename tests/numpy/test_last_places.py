"""Elementary functions are within a few units of the last place, over the whole range of the dtype."""

import numpy as np
import pytest

import xcore.numpy as xnp

ANY, POSITIVE, INSIDE, FROM_ONE, MODEST = "any", "positive", "inside", "from one", "modest"
RANGES = {
    "sin": ANY, "cos": ANY, "tan": ANY, "sinh": MODEST, "cosh": MODEST, "tanh": MODEST,
    "exp": MODEST, "exp2": MODEST, "expm1": MODEST, "arcsin": INSIDE, "arccos": INSIDE, "arctanh": INSIDE,
    "arctan": ANY, "arcsinh": ANY, "cbrt": ANY, "log": POSITIVE, "log2": POSITIVE, "log10": POSITIVE,
    "sqrt": POSITIVE, "log1p": "above -1", "arccosh": FROM_ONE,
}  # fmt: skip
MOST = {"float16": 4, "bfloat16": 4, "float32": 8, "float64": 8}  # units of the last place


def _samples(kind, largest):
    rng = np.random.default_rng(3)
    sizes = 10.0 ** rng.uniform(-largest, largest, 4000)
    inside = np.linspace(-0.9999, 0.9999, 20001)
    if kind == POSITIVE:
        return np.concatenate([sizes, np.linspace(0.5, 2, 20001)])
    if kind == FROM_ONE:
        return 1 + sizes
    if kind == INSIDE:
        return np.concatenate([inside, 1 - 10.0 ** rng.uniform(-9, 0, 4000), 0.9 / (1 + sizes)])
    if kind == "above -1":
        return np.concatenate([inside, sizes])
    if kind == MODEST:
        return np.concatenate(
            [3 * inside, 2.3 * largest * rng.uniform(-1, 1, 4000), 1 / (1 + sizes)]
        )
    return np.concatenate([3 * inside, sizes, -sizes])


@pytest.mark.parametrize("dtype", MOST)
@pytest.mark.parametrize("name", RANGES)
def test_units_of_the_last_place(name, dtype):
    dtype = xnp.dtype(dtype)
    finfo = xnp.finfo(dtype)
    x = _samples(RANGES[name], np.log10(float(finfo.max)) - 2).astype(dtype)
    y = np.asarray(getattr(xnp, name)(xnp.asarray(x)))
    wide = np.longdouble if dtype == np.float64 else np.float64
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(wide))
        unit = 2.0 ** np.floor(np.log2(np.abs(exact).astype(float))) * float(finfo.eps)
        known = np.isfinite(exact) & (np.abs(exact) < 0.99 * float(finfo.max))
        known &= (np.abs(exact) >= float(finfo.tiny)) & (
            np.abs(x.astype(float)) >= float(finfo.tiny)
        )
        error = np.abs(y.astype(wide) - exact) / unit
    worst = np.argmax(np.where(known, np.where(np.isnan(error), np.inf, error), 0))
    assert not known.any() or error[worst] <= MOST[dtype.name], (x[worst], y[worst], exact[worst])
