"""Alternating least squares on samples: known factors come back, also where mass sits in few rows."""

import numpy as np
import pytest

import xcore as xc
from xcore import decomp

RNG = np.random.default_rng(8)


def tensor(shape, rank, imaginary=0):
    return decomp.CP(None, [
        RNG.normal(size=(n, rank)) + (1j * RNG.normal(size=(n, rank)) if imaginary else 0) for n in shape
    ])  # fmt: skip


@pytest.mark.parametrize("true, options", [
    (tensor((12, 10, 11), 3), {}), (tensor((6, 8, 5, 7), 2, imaginary=1), {"mix": False, "samples": 30}),
], ids=["mixed", "four modes, complex, unmixed"])  # fmt: skip
def test_known_factors_come_back(true, options):
    found = decomp.cp_arls(true.to_dense(), true.rank, **options)
    assert decomp.factor_match_score(true, found.value) > 0.999 and float(found.error) < 1e-3
    history = np.asarray(found.history)
    assert int(found.status) == 0 and np.isfinite(history).all()
    assert len(history) == int(found.steps) + 1


def test_noise_in_single_precision():
    """The published experiments: 1 and 10 % noise, with errors close to those of the whole problem."""
    true = tensor((20, 15, 18), 3)
    x = np.asarray(true.to_dense())
    noise = RNG.normal(size=x.shape) * np.linalg.norm(x) / np.sqrt(x.size)
    for share in (0.01, 0.1):
        found = decomp.cp_arls((x + share * noise).astype("f4"), 3)
        assert (
            decomp.factor_match_score(true, found.value) > 0.97 and found.value.dtype == np.float32
        )
        assert float(found.error) < 1.3 * share


def test_mixing_finds_what_sits_in_single_rows():
    """A term in one element of 24000: rows drawn at random miss it, unless the modes are mixed."""
    shape = (40, 30, 20)
    point = [np.eye(n, 1) for n in shape]
    wide = [np.full((n, 1), n**-0.5) for n in shape]
    true = decomp.CP(None, [np.hstack(p) for p in zip(point, wide, strict=True)])
    x = np.asarray(true.to_dense())
    mixed, plain = (decomp.cp_arls(x, 2, mix=mix, key=xc.random.key(5)) for mix in (True, False))
    assert decomp.factor_match_score(true, mixed.value) > 0.999
    assert decomp.factor_match_score(true, plain.value) < 0.9


@pytest.mark.parametrize("options, words", [
    ({"rank": 0}, "rank"), ({"rank": 21}, "at most 20"), ({"rank": 3, "samples": 2}, "samples"),
    ({"rank": 2, "init": "svd"}, "init"),
], ids=str)  # fmt: skip
def test_bad_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        decomp.cp_arls(np.ones((5, 4, 6)), **options)
