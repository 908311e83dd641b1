"""Strict settings hold for the operands that users write, and for nothing that we compute with."""

import doctest
import importlib
import inspect
import warnings

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore._core import structures

RANK = {"numpy_rank_promotion": "raise"}
DTYPE = {"numpy_dtype_promotion": "strict"}

A, B = xnp.ones((2, 3)), xnp.ones(3)
I, F, H = xnp.arange(3), xnp.ones(3), xnp.ones(3, xnp.float16)
host = np.ones((2, 3), np.float32)

# What users write

OF_RANKS = {
    "+": lambda: A + B,
    "+ of NumPy's": lambda: host + B,
    "*=": lambda: operator_in_place(),
    "**": lambda: A**B,
    "//": lambda: A // B,
    "<": lambda: A < B,
    "divmod": lambda: divmod(A, B),
    "add": lambda: xnp.add(A, B),
    "power": lambda: xnp.power(A, B),
    "maximum": lambda: xnp.maximum(A, B),
    "arctan2": lambda: xnp.arctan2(A, B),
    "hypot": lambda: xnp.hypot(A, B),
    "logaddexp": lambda: xnp.logaddexp(A, B),
    "copysign": lambda: xnp.copysign(A, B),
    "ldexp": lambda: xnp.ldexp(A, I),
    "isclose": lambda: xnp.isclose(A, B),
    "allclose": lambda: xnp.allclose(A, B),
    "clip": lambda: xnp.clip(A, B, None),
    "betaln": lambda: xc.special.betaln(A, B),
    "in jit": lambda: xc.jit(lambda x, y: x + y)(A, B),
    "jit of it": lambda: xc.jit(xnp.add)(A, B),
    "in grad": lambda: xc.grad(lambda x: (x * B).sum())(A),
    "vmap of it": lambda: xc.vmap(xnp.add, (None, 0))(A, xnp.ones((4, 3))),
    "in vmap": lambda: xc.vmap(lambda y: A * y)(xnp.ones((4, 3))),
    "in scan": lambda: lax.scan(lambda c, _: (c + B, None), A, None, 2),
    "in cond": lambda: lax.cond(True, lambda x: x + B, lambda x: x, A),
    "over a tree": lambda: xc.tree.map(xnp.add, {"a": A}, {"a": B}),
    "in an objective": lambda: xc.scipy.optimize.minimize(
        lambda x: (x * A).sum(), B, method="BFGS"
    ),
    "in a right-hand side": lambda: xc.experimental.ode.odeint(
        lambda y, t: (-y * A).sum(0), B, xnp.asarray([0.0, 1.0])
    ),
}

OF_DTYPES = {
    "+": lambda: I + F,
    "*": lambda: F * H,
    "**": lambda: H**F,
    "<": lambda: I < F,
    "@": lambda: H @ F,
    "add": lambda: xnp.add(I, F),
    "where": lambda: xnp.where(F > 0, I, F),
    "concatenate": lambda: xnp.concatenate([I, F]),
    "stack": lambda: xnp.stack([H, F]),
    "hstack": lambda: xnp.hstack([H, F]),
    "vstack": lambda: xnp.vstack([H, F]),
    "append": lambda: xnp.append(I, F),
    "array": lambda: xnp.array([I[0], F[0]]),
    "asarray": lambda: xnp.asarray([I[0], F[0]]),
    "dot": lambda: xnp.dot(H, F),
    "inner": lambda: xnp.inner(H, F),
    "outer": lambda: xnp.outer(H, F),
    "tensordot": lambda: xnp.tensordot(H, F, 1),
    "einsum": lambda: xnp.einsum("i,i", H, F),
    "kron": lambda: xnp.kron(H, F),
    "cross": lambda: xnp.cross(H, F),
    "convolve": lambda: xnp.convolve(H, F),
    "polyval": lambda: xnp.polyval(H, F),
    "searchsorted": lambda: xnp.searchsorted(F, H),
    "isin": lambda: xnp.isin(H, F),
    "gcd": lambda: xnp.gcd(I, I.astype(xnp.int8)),
    "result_type": lambda: xnp.result_type(I, F),
    "promote_types": lambda: xnp.promote_types("int32", "float16"),
    "at": lambda: F.at[0].set(H[0]),
    "at, add": lambda: I.at[0].add(F[0]),
    "in jit": lambda: xc.jit(lambda x, y: x + y)(I, F),
    "in an objective": lambda: xc.scipy.optimize.minimize(
        lambda x: (x * I).sum(), F, method="BFGS"
    ),
}


def operator_in_place():
    x = A
    x *= B
    return x


@pytest.mark.parametrize(
    "settings, table, case",
    [(s, t, c) for s, t in ((0, OF_RANKS), (1, OF_DTYPES)) for c in t],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_what_users_write_is_refused(settings, table, case):
    table[case]()
    with xc.config.override(**(RANK, DTYPE)[settings]):
        for _ in range(2):
            with pytest.raises((TypeError, ValueError), match="promotion"):
                table[case]()


def test_plain_numbers_and_equal_ranks_are_allowed():
    with xc.config.override(**RANK, **DTYPE):
        assert float((A * 2 + 1 - A[:1] / 2.0).sum()) == 15 and (F + 1 > 0).all()
        assert xnp.where(B > 0, A, 0.0).shape == A.shape  # as JAX, which asks it of ufuncs alone


def test_what_we_make_of_operands_is_our_business():
    with xc.config.override(**RANK, **DTYPE):
        assert xnp.add.outer(A, B).shape == (2, 3, 3) and xnp.add.reduce(A).shape == (3,)
        assert A.at[0].set(B).shape == A.shape and xnp.sum(A, where=B > 0) == 6
        assert xnp.vectorize(lambda x, y: x + y)(A, A).shape == A.shape
        assert xc.vmap(xnp.linalg.solve, (0, None))(xnp.stack([xnp.eye(3)] * 2), B).shape == (2, 3)


def test_a_warning_names_the_line():
    with xc.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match="ranks") as told:
        assert (A - B).shape == A.shape
    assert told[0].filename == __file__


def test_what_we_computed_before_does_not_let_users_pass():
    """Programs are kept by types; those of ours are other ones than those of users."""
    x, y = xnp.ones((2, 7)), xnp.ones(7)
    xc.config.update("numpy_rank_promotion", "raise")
    try:
        for _ in range(4):
            assert xnp.cov(x).shape == (2, 2)
            xc.nn.standardize(x)
            for f in (
                lambda: x - y,
                lambda: xnp.subtract(x, y),
                lambda: xc.jit(xnp.subtract)(x, y),
            ):
                with pytest.raises(ValueError, match="ranks"):
                    f()
    finally:
        xc.config.update("numpy_rank_promotion", "allow")
    assert (x - y).shape == x.shape


# What is our own

# What examples say themselves in operands of several dtypes.
SAID = {"promote_types", "result_type", "average", "tt_cross", "scale_by_schedule"}


def public_functions():
    """Functions and classes with an example, each once, by the module that users name."""
    from tests.test_complete import classes, functions, ours, public_modules

    seen = {}
    for name in public_modules():
        module = importlib.import_module(name)
        both = functions(module) | {n: c for n, c in classes(module).items() if ours(c)}
        for n, f in both.items():
            if n not in SAID and ">>>" in (inspect.getdoc(f) or ""):
                seen.setdefault(id(inspect.unwrap(f)), (f"{name}.{n}", f))
    return [*seen.values()]


def run_example(name: str, f) -> None:
    """The lines of an example as a user's, up to one that is to raise."""
    found = doctest.DocTestParser().get_examples(inspect.getdoc(f))
    scope = {"__name__": "user", **vars(inspect.getmodule(inspect.unwrap(f)))} | {
        "__name__": "user"
    }
    for example in found:
        if "Traceback" in example.want:
            return
        if example.options.get(doctest.SKIP):
            continue
        exec(compile(example.source, name, "single"), scope)


PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_every_public_function_computes_under_strict_settings(part, capsys, monkeypatch):
    broken = []
    # examples register classes, as the same ones do that run as doctests
    for known in ("_by_class", "_by_name"):
        monkeypatch.setattr(structures, known, dict(getattr(structures, known)))
    with xc.config.override(**RANK, **DTYPE), warnings.catch_warnings():
        for name, f in public_functions()[part::PARTS]:
            try:
                run_example(name, f)
            except Exception as e:
                if "promotion" in str(e):
                    broken.append(f"{name}: {e}")
    assert broken == []
