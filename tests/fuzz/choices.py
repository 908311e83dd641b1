"""Parameters and shapes that fit: what the rows of the table draw for the values they are given.

A function ``make(rng, *values)`` returns the parameters as a dict, or None where the operation does not fit.
One of ``shapes(rng, shape)`` returns the shapes of all arguments, near to that of the first.
"""

import numpy as np

from tests.fuzz.programs import Code, Const

MAX_SIZE = 24


def _axis(rng, ndim):
    return int(rng.integers(-ndim, ndim))


def axis(rng, x, *_):
    return {"axis": _axis(rng, x.ndim)} if x.ndim else None


def full_axis(rng, x, *_):
    """An axis that is not empty."""
    fitting = [a for a in range(x.ndim) if x.shape[a] > 0]
    return {"axis": int(rng.choice(fitting))} if fitting else None


def _keep(rng):
    return {"keep": bool(rng.integers(2))}


def axis_keep(rng, x):
    return {**axis(rng, x), **_keep(rng)} if x.ndim else None


def full_axis_keep(rng, x):
    found = full_axis(rng, x)
    return found and {**found, **_keep(rng)}


def axes_keep(rng, x):
    """None, one axis, or some."""
    how = rng.integers(3) if x.ndim else 0
    some = tuple(int(a) for a in rng.permutation(x.ndim)[: rng.integers(1, 3)])
    return {"axis": [None, some[0] if some else None, some][how], **_keep(rng)}


def full_axes_keep(rng, x):
    return axes_keep(rng, x) if x.size else None


def full_axes(rng, x):
    return {"axes": tuple(sorted(int(a) for a in rng.permutation(x.ndim)[:2]))} if x.size else None


def scan_axis(rng, x):
    return {"axis": int(rng.integers(x.ndim)), "flag": bool(rng.integers(2))} if x.size and x.ndim else None  # fmt: skip


def quantile(rng, x):
    found = full_axis(rng, x)
    return found and {**found, "q": float(rng.choice([0.0, 0.25, 0.4, 1.0]))}


def small_power(rng, x):
    return {"n": int(rng.integers(0, 5))}


def shift(rng, x):
    return {"n": int(rng.integers(0, 8))}


def exponent(rng, x):
    return {"n": int(rng.integers(-3, 4))}


def digits(rng, x):
    return {"n": int(rng.integers(0, 3))}


def flag(rng, x):
    return {"flag": bool(rng.integers(2))}


def bounds(rng, x):
    low = int(rng.integers(0, 2)) - (2 if x.dtype.kind != "u" else 0)
    return {"low": low, "high": low + int(rng.integers(0, 4))} if x.dtype.kind in "iu" else {"low": float(low), "high": low + 1.5}  # fmt: skip


def classes(rng, x):
    return {"n": int(rng.integers(1, 4))} if x.size <= MAX_SIZE // 4 else None


def turns(rng, x):
    return {"n": int(rng.integers(1, 4))} if x.ndim >= 2 and x.size <= 8 else None


def two_axes(rng, x):
    return {"i": _axis(rng, x.ndim), "j": _axis(rng, x.ndim)} if x.ndim else None


def new_axis(rng, x, *_):
    return {"axis": int(rng.integers(x.ndim + 1))} if x.ndim < 4 and x.size <= 8 else None


def roll(rng, x):
    return {"n": int(rng.integers(-3, 4)), "axis": _axis(rng, x.ndim)} if x.ndim else None


def tiles(rng, x):
    return {"n": tuple(int(n) for n in rng.integers(1, 3, max(1, x.ndim)))} if x.size <= 6 else None


def repeats(rng, x):
    return {"n": int(rng.integers(0, 3)), "axis": _axis(rng, x.ndim)} if x.ndim and x.size <= 8 else None  # fmt: skip


def _factors(rng, size):
    if size == 0:
        return [(0,), (0, 2), (3, 0)][rng.integers(3)]
    shape = []
    while size > 1:
        n = int(rng.choice([d for d in range(2, size + 1) if size % d == 0]))
        shape.append(n)
        size //= n
    if rng.integers(4) == 0:
        shape.insert(int(rng.integers(len(shape) + 1)), 1)
    return tuple(shape)


def reshape(rng, x):
    return {"shape": _factors(rng, x.size)}


def permutation(rng, x):
    return {"axes": tuple(int(a) for a in rng.permutation(x.ndim))}


def broadcast(rng, x):
    return {"shape": (int(rng.integers(1, 4)), *x.shape)} if x.size <= 8 and x.ndim < 4 else None


def new_shape(rng, x):
    return {"shape": [(3,), (2, 2), (2, 3), ()][rng.integers(4)]} if x.size else None


def pad(rng, x):
    modes = ["constant", "edge", "wrap"] if x.size and x.size <= 6 else ["constant"]
    return {"n": 1, "mode": modes[rng.integers(len(modes))]} if x.ndim and x.size <= 8 else None


def lax_pad(rng, x):
    if x.ndim == 0 or x.size > 8 or x.size == 0:
        return None
    return {"config": [(int(rng.integers(-1, 2)), int(rng.integers(0, 2)), int(rng.integers(0, 2))) for n in x.shape]}  # fmt: skip


def halves(rng, x):
    even = [a for a in range(x.ndim) if x.shape[a] % 2 == 0]
    return {"n": 2, "axis": int(rng.choice(even))} if even else None


def top(rng, x):
    return {"n": int(rng.integers(1, x.shape[-1] + 1))} if x.ndim and x.size else None


def diagonal(rng, x):
    return {"n": int(rng.integers(-1, 2))} if x.ndim >= 2 and min(x.shape[:2]) > 1 and min(x.shape) > 1 else None  # fmt: skip


def low_rank(rng, x):
    return {} if x.ndim == 2 or (x.ndim == 1 and x.size <= 4) else None


def matrix_only(rng, x):
    return {} if x.ndim == 2 else None


def sized(rng, x):
    return {"n": int(rng.integers(1, 5))} if x.ndim == 1 else None


def fft(rng, x):
    return {} if x.ndim and x.shape[-1] > 0 and x.size else None


def convolution(rng, x, y):
    return {"mode": str(rng.choice(["full", "same", "valid"]))}


def filled_with(rng):
    dtype = str(rng.choice(["float32", "int32", "bool", "float16"]))
    return {"shape": shape(rng), "value": int(rng.integers(-2, 3)), "dtype": dtype}


def count(rng):
    return {"n": int(rng.integers(0, 5))}


def drawn(rng):
    return {"seed": int(rng.integers(100)), "shape": shape(rng)}


def shape(rng):
    return [(), (1,), (2,), (3,), (4,), (2, 3), (3, 3), (1, 3), (2, 2, 2), (0,), (0, 2)][
        rng.choice(11, p=[0.12, 0.06, 0.12, 0.2, 0.1, 0.16, 0.1, 0.04, 0.04, 0.03, 0.03])
    ]


DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 float16 bfloat16 float32 float64".split()
CHANCES = np.array([2, 2, 2, 1, 1, 6, 1, 1, 2, 2, 8, 2.0])


def dtype(rng, x):
    return {"dtype": str(rng.choice(DTYPES, p=CHANCES / CHANCES.sum()))}


def complex_dtype(rng, x):
    return {"dtype": "complex64"}


# Indices


def index(rng, x, *_):
    """A basic index, or one of arrays, as source."""
    if x.ndim == 0:
        return {"index": Code(str(rng.choice(["None", "...", "()"])))}
    parts = [_part(rng, n) for n in x.shape[: rng.integers(1, x.ndim + 1)]]
    if rng.integers(8) == 0:
        parts.insert(int(rng.integers(len(parts) + 1)), "None")
    if rng.integers(8) == 0 and len(parts) < x.ndim:
        parts.append("...")
    if sum("np" in p for p in parts) > 1:
        parts = [p if "np" not in p else ":" for p in parts]
    return {"index": Code(", ".join(parts))}


def _part(rng, n):
    slices = [":", "1:", ":-1", "::-1", "::2", "1:1", "-2:", "10:"]
    if n and rng.integers(2):
        many = ", ".join(str(int(i)) for i in rng.integers(-n, n, 3))
        return [str(int(rng.integers(-n, n))), f"np.array([{many}])"][rng.integers(2)]
    return slices[rng.integers(len(slices))]


def index_update(rng, x, *_):
    return index(rng, x)


def along(rng, x, y):
    found = full_axis(rng, x)
    return found and {**found, "n": x.shape[found["axis"]]}


def length(rng, x, *_):
    return {"n": int(rng.integers(1, x.shape[0] + 1))}


def dynamic_axis(rng, x, *_):
    found = full_axis(rng, x)
    return found and {**found, **flag(rng, x)}


# Shapes


def _vector(shape):
    return (int(np.prod(shape)) or 3,)


def vectors(rng, s):
    n = _vector(s) if np.prod(s) <= 5 else (3,)
    return [n, n]


def matrices(rng, s):
    m, k = s if len(s) == 2 else (2, 3)
    return [(m, k), (k, int(rng.integers(1, 4)))]


def matrices_turned(rng, s):
    m, k = s if len(s) == 2 else (2, 3)
    return [(m, k), (int(rng.integers(1, 4)), k)]


def matrices_back(rng, s):
    m, k = s if len(s) == 2 else (2, 3)
    return [(m, k), (k, m)]


def matrix_vector(rng, s):
    m, k = s if len(s) == 2 else (2, 3)
    return [(m, k), (k,)]


def square(rng, s):
    n = int(rng.integers(1, 4))
    return [(n, n)]


def square_vector(rng, s):
    n = int(rng.integers(1, 4))
    return [(n, n), (n,)]


def vector_and_any(rng, s):
    return [(4,), s]


def any_and_indices(rng, s):
    return [s if np.prod(s) and s else (3,), [(), (2,), (2, 2)][rng.integers(3)]]


def any_and_scalar(rng, s):
    return [s if np.prod(s) and s else (3,), ()]


def any_indices_scalar(rng, s):
    return [*any_and_indices(rng, s), ()]


def vector_and_scalar(rng, s):
    return [_vector(s), ()]


def two_vectors_and_scalar(rng, s):
    (n,) = _vector(s)
    return [(n,), (int(rng.integers(1, n + 1)),), ()]


def any_and_two_vectors(rng, s):
    return [s, (4,), (4,)]


def number(rng, letters):
    """A Python number of one of these kinds."""
    kinds = [k for k in "bifc" if k in letters]
    letter = kinds[int(rng.choice(len(kinds)))] if kinds else "f"
    if letter == "c" and rng.integers(3):
        letter = "f" if "f" in kinds else "c"
    return Const(
        {
            "b": bool(rng.integers(2)),
            "i": int(rng.integers(1, 4)),
            "f": float(rng.choice([0.5, 1.5, 2.0, -0.3, 3.0])),
            "c": complex(0.5, float(rng.choice([1.0, -0.25]))),
        }[letter]
    )
