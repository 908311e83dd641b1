"""Complex functions at infinities, NaN and on their cuts, as C's Annex G has them."""

import numpy as np
import pytest

import xcore as xc
from xcore import lax

INF, NAN = np.inf, np.nan
# (function, argument, value)
EDGES = [
    *[("exp", complex(-INF, y), 0j) for y in (0.0, 2.0, -3.0)],
    ("exp", complex(-INF, INF), 0j), ("exp", complex(-INF, NAN), 0j), ("exp", complex(INF, 0.0), complex(INF, 0.0)),
    ("exp", complex(1.0, INF), complex(NAN, NAN)), ("expm1", complex(-INF, 2.0), -1 + 0j),
    ("sqrt", complex(-4.0, 0.0), 2j), ("sqrt", complex(-4.0, -0.0), complex(0.0, -2.0)), ("sqrt", complex(4.0, -0.0), complex(2.0, -0.0)),
    ("sqrt", complex(1.0, INF), complex(INF, INF)), ("sqrt", complex(NAN, -INF), complex(INF, -INF)),
    ("sqrt", complex(-INF, 1.0), complex(0.0, INF)), ("log", complex(-1.0, -0.0), complex(0.0, -np.pi)),
    ("log", complex(-1.0, 0.0), complex(0.0, np.pi)), ("log", 0j, complex(-INF, 0.0)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_edges(dtype):
    names = sorted({name for name, _, _ in EDGES})
    rows = {name: [(z, w) for n, z, w in EDGES if n == name] for name in names}
    f = xc.jit(lambda zs: {name: getattr(lax, name)(z) for name, z in zs.items()})
    found = f({name: np.array([z for z, _ in row], dtype) for name, row in rows.items()})
    for name, row in rows.items():
        got, want = np.asarray(found[name]), np.array([w for _, w in row], dtype)
        for part in ("real", "imag"):
            a, b = getattr(got, part), getattr(want, part)
            np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=f"{name} {part} {row}")
            signs = ~np.isnan(b) & (name in ("sqrt", "log"))
            np.testing.assert_array_equal(np.signbit(a)[signs], np.signbit(b)[signs])
