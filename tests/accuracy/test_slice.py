"""A slice of the ledger in every test run, and what its judges must notice."""

import dataclasses

import mpmath
import numpy as np
import pytest

from tests.accuracy import book, matrices, page, structured, wide
from tests.accuracy.routines import BY_NAME, ROUTINES

QUICK = [(r.name, d) for r in ROUTINES if r.quick for d in r.dtypes if d in ("f32", "c128")]
LARGEST = (
    30.0  # LAPACK's threshold; elimination that lets elements grow is not among these routines
)


@pytest.mark.parametrize("name, dtype", QUICK)
def test_slice(name, dtype):
    entries = book.run(BY_NAME[name], dtype, sizes=(7,), ways=("one",))
    assert entries
    assert [e.command() for e in entries if e.false] == []
    assert [
        (e.command(), e.ratio) for e in entries if e.kind == "ratio" and e.ratio > LARGEST
    ] == []


def _liar(name, lie):
    row = BY_NAME[name]
    return dataclasses.replace(row, call=lambda *arrays: lie(row.call(*arrays)))


def _moved(factor):
    return lambda answer: answer.replace(value=answer.value * factor)


def test_false_claims_are_noticed():
    entries = book.run(_liar("solve-report", _moved(1 + 1e-4)), "f32", ["random"], (7,), ("one",))
    told = {e.what: e for e in entries if e.false}
    assert set(told) == {"digits", "ok: backward error"}
    assert "--routine solve-report --dtype f32 --family random --size 7" in page.summary(entries)
    assert max(e.ratio for e in entries) > LARGEST


@pytest.mark.parametrize("name", ["solve_continuous_lyapunov", "expm"])
def test_false_claims_of_matrix_equations_and_functions_are_noticed(name):
    entries = book.run(_liar(name, _moved(1 + 1e-3)), "f32", ["random"], (1,), ("one",))
    assert {e.what for e in entries if e.false} == {"digits"}
    entries = book.run(_liar(name, _moved(-1)), "f32", ["random"], (1,), ("one",))
    assert {e.what for e in entries if e.false} == {"digits", "ok"}


def test_stationarity_under_proximal_maps_is_judged_beside_the_gradient():
    entries = book.run(BY_NAME["proximal-l1"], "f32", ways=("one",))
    assert [e.claims for e in entries] == [1, 1, 1] and [e for e in entries if e.false] == []
    moved = _liar("proximal-l1", lambda answer: (answer[0] * 1.01, answer[1]))
    assert all(e.false for e in book.run(moved, "f32", ways=("one",)))


def test_errors_in_place_of_results_are_entries():
    def fails(answer):
        raise ValueError("no\nsecond line")

    (entry,) = book.run(_liar("cholesky", fails), "f32", ["random"], (7,), ("one",))
    assert (entry.kind, entry.words) == ("refused", "ValueError: no")


def test_pessimism_is_the_distance_to_the_truth():
    where = ("r", "p", "f32", "random", 7, "one")
    entry = book._claims(
        book.Claim("digits", [1e-5, 0.0, 1.0], [1e-3, 1e-3, 0.5], floor=1e-6), *where
    )
    assert (entry.claims, entry.false) == (3, 1)
    np.testing.assert_allclose(entry.pessimism, (2, 3), rtol=1e-6)
    assert book._claims(book.Claim("ok", np.nan, 1.0, True), *where).false == 1  # NaN is no success
    assert book._claims(book.Claim("ok", 0.5, 1.0, False), *where).shy == 1


# The references


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("family", ["rows", "near-singular", "wilkinson", "growth"])
def test_references_in_extended_precision(family, dtype):
    a = matrices.matrix(family, 12, dtype)
    s = wide.svd(a)[1]
    with mpmath.workdps(400):
        exact = mpmath.svd_c(wide.mp_matrix(a), compute_uv=False)
    exact = np.array([np.longdouble(mpmath.nstr(x, 25)) for x in exact])
    assert (np.abs(s - np.sort(exact)[::-1]) <= 1e-17 * s[0]).all()
    b = matrices.sides(a)
    x, off = wide.solve(a, b)  # of this size by elimination in extended precision
    with mpmath.workdps(400):
        true = wide._mp_solve(a, b)
    assert (np.abs(x - true).max(0) <= off).all()


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_spectra_in_extended_precision(dtype):
    a = matrices.matrix("repeated", 10, dtype, "symmetric")
    values, v = wide.eigh(a)
    left = wide.widest(a) @ v - v * values
    assert np.abs(left).max() <= 1e-17 and np.abs(wide.adjoint(v) @ v - np.eye(10)).max() <= 1e-17
    _, log, _ = wide.slogdet(a)
    assert abs(log - np.log(np.abs(values)).sum()) <= 1e-15


@pytest.mark.parametrize("parts", [structured._continuous_parts, structured._discrete_parts])
def test_riccati_in_extended_precision(parts):
    """From near the stabilising solution; another solution is refused."""
    a, b, q = np.array([[0.3]]), np.array([[1.0]]), np.array([[1.0]])
    continuous = parts is structured._continuous_parts
    # 2 a x - x² + 1 = 0, and a² x / (1 + x) - x + 1 = 0
    roots = (np.roots([-1, 0.6, 1]) if continuous else np.roots([-1, 0.09, 1])).astype(
        np.longdouble
    )
    stable = lambda v: (v.real < 0).all() if continuous else (np.abs(v) < 1).all()
    x = structured._stabilising(parts, stable, a, b, q, roots.max()[None, None] * (1 + 1e-3))
    assert abs(parts(a, b, q, x)[0]) < 1e-18
    assert structured._stabilising(parts, stable, a, b, q, roots.min()[None, None]) is None


def test_every_family_exists_in_every_dtype():
    for dtype in matrices.DTYPES.values():
        for family in matrices.FAMILIES:
            for kind in matrices.KINDS:
                a = matrices.matrix(family, 7, dtype, kind)
                assert a.dtype == dtype and np.isfinite(wide.wide(a)).all(), (family, kind)


def test_problems_do_not_depend_on_what_else_is_run():
    first, again = (matrices.matrix("random", 7, np.float32) for _ in range(2))
    assert (first == again).all()


def test_the_page_begins_with_sums_and_says_what_was_not_run():
    entries = book.run(_liar("solve-report", _moved(2.0)), "f32", ["random"], (7,), ("one",))
    entries += book.run(
        _liar("cholesky", lambda answer: 1 / 0), "f32", ["random"], (7,), ("one", "vmap")
    )
    options = type("Options", (), {"load": None, "platform": None})
    words = page.text(entries, options, 60.0)
    # routines, problems, ratios, claims, false, unclaimed, refused
    assert "| linalg | 2 | 2 | 1 | 3 | 3 | 0 | 1 | - |" in words
    assert words.index("## Summary") < words.index("## False claims") < words.index("## Largest")
    assert "| cholesky | - |" not in words and "the others were not run" in words
    assert "| one | 0 | 0 | 2 | 0 | 0 | 0 |" in words


def test_rows_that_run_in_one_way_only_are_few():
    """Special functions element by element, and faces of routines that have rows of their own."""
    single = {r.part for r in ROUTINES if r.ways == ("one",)}
    assert single <= {"special", "stats", "numpy.linalg", "decomp", "optimize", "pde"}
    assert all("one" in r.ways for r in ROUTINES)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize(
    "name",
    ["lstsq", "lstsq-qr", "solve-positive-definite", "solve_banded", "cho_solve", "lu_solve"],
)
def test_digits_of_results_in_16_bits_count_their_rounding(name, dtype):
    families = ["random", "growth", "rows", "columns", "repeated"]
    entries = book.run(BY_NAME[name], dtype, families, (7,), ("one",))
    assert sum(e.claims for e in entries) and [e.command() for e in entries if e.false] == []


@pytest.mark.parametrize("name", ["eigh", "svd"])
def test_spectra_in_16_bits_are_good_by_what_16_bits_hold(name):
    entries = book.run(BY_NAME[name], "bf16", ["random", "rows", "small"], (7,), ("one",))
    assert [e.command() for e in entries if e.false] == []
    assert [e.claims for e in entries if e.what.startswith("ok")] == [1, 1, 1]
