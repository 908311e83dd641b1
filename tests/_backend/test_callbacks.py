"""Python functions called by compiled modules: what goes in, what comes out, what they raise."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests._backend.compiled import run, type_of
from xcore._backend import callbacks, client


def through(function, arguments, results, name="f"):
    """Call a Python function from inside a compiled module."""
    wrapped = callbacks.wrap_callback(function, results, name)
    write = lambda builder, values, out: builder.callback(wrapped, values, out)[0]
    return run(write, arguments, results)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint64", "float16", "float32", "float64", "complex128"]
)
def test_round_trip(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    seen = []

    def f(a, b):
        seen.append((type(a), a.dtype, a.shape))
        return a.T, b

    transposed, scalar = through(f, [x, x[0, 0]], [type_of((3, 2), dtype), type_of((), dtype)])
    np.testing.assert_array_equal(transposed, x.T)
    assert scalar.shape == () and scalar == x[0, 0]
    assert seen == [(np.ndarray, np.dtype(dtype), (2, 3))]


def test_python_numbers_and_wide_results_are_converted():
    one = [type_of((), "float32")]
    assert through(lambda x: (2,), [np.float32(1)], one)[0] == 2
    assert through(lambda x: (2.5,), [np.float32(1)], one)[0] == 2.5
    assert through(lambda x: (np.float64(0.1),), [np.float32(1)], one)[0] == np.float32(0.1)


WRONG = [
    (lambda x: x, TypeError, "must return a tuple of 1 arrays"),
    (lambda x: None, ValueError, "must return 1 arrays, but returned 0"),
    (lambda x: (x, x), ValueError, "but returned 2"),
    (lambda x: (x[:2],), TypeError, r"result 0 of norm must be float32\[3\], but is float32\[2\]"),
    (lambda x: (x.astype("i4"),), TypeError, r"but is int32\[3\]"),
    (lambda x: (1.5,), TypeError, r"but is float32\[\]"),
    (lambda x: 1 / 0, ZeroDivisionError, "division"),
]


@pytest.mark.parametrize("function, error, message", WRONG)
def test_what_is_wrong_is_kept(function, error, message):
    with pytest.raises(client.RuntimeFailure) as caught:
        through(function, [np.ones(3, "f4")], [type_of((3,), "f4")], "norm")
    name, original = callbacks.raised(str(caught.value))
    assert name == "norm" and isinstance(original, error)
    with pytest.raises(error, match=message):
        raise original


def test_failures_are_told_apart():
    texts = []
    for k in range(2 * callbacks._KEPT):
        with pytest.raises(callbacks._Failure) as caught:
            callbacks.wrap_callback(lambda k=k: {}[k], [], str(k))()
        texts.append(str(caught.value))
    name, error = callbacks.raised(texts[-2])
    assert name == error.args[0].__repr__() == str(2 * callbacks._KEPT - 2)
    assert callbacks.raised(texts[0]) is None  # long ago
    assert callbacks.raised("out of memory") is None


def test_fractions_do_not_become_integers():
    with pytest.raises(TypeError, match=r"must be int32\[\], but is float64\[\]"):
        callbacks.checked((0.5,), [SimpleNamespace(shape=(), dtype="i4")], "f")


def test_token_is_passed_on():
    assert callbacks.wrap_callback(lambda: None, [], "f", token=True)("token") == ("token",)
