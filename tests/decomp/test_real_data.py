"""Measured data that TensorLy bundles: fits at least as good as TensorLy's at the same rank."""

import numpy as np
import pytest
import tensorly
from tensorly import datasets
from tensorly.decomposition import parafac

from xcore import decomp


def il2():
    """Signalling response: mutant, time, dose and cell; a part was not measured."""
    return datasets.load_IL2data().tensor


def covid():
    """Antibodies in the blood of patients, centred: sample, antigen, receptor."""
    return datasets.load_covid19_serology().tensor[::4]


def kinetic():
    """Fluorescence of a reaction; every second or third point of each of its four modes."""
    return datasets.load_kinetic().tensor[::3, ::2, ::2, ::3]


def pines():
    """A hyperspectral image; every fifth pixel and eighth band."""
    return datasets.load_indian_pines().tensor[::5, ::5, ::8]


STEPS, TOL = 100, 1e-9  # the same starts, sweeps and tolerance for both


def theirs(x, known, rank, start):
    mask = None if known.all() else known
    init = (np.ones(rank), [f.copy() for f in start])
    found = parafac(x, rank, init=init, n_iter_max=STEPS, tol=TOL, mask=mask)
    left = np.where(known, tensorly.cp_to_tensor(found) - x, 0)
    return np.linalg.norm(left) / np.linalg.norm(x)


def ours(x, known, rank, start):
    mask = None if known.all() else known
    found = decomp.cp_als(x, rank, mask=mask, init=start, max_steps=STEPS, rtol=TOL)
    return float(found.error)


@pytest.mark.parametrize("load, rank", [(il2, 3), (covid, 3), (kinetic, 3), (pines, 3)])
def test_fits_are_as_good(load, rank):
    data = np.asarray(load())
    known = np.isfinite(data)
    x = np.where(known, data, 0.0)
    rng = np.random.default_rng(0)
    starts = [[rng.random((n, rank)) for n in x.shape] for _ in range(2)]
    best = [min(fit(x, known, rank, start) for start in starts) for fit in (ours, theirs)]
    assert best[0] <= best[1] * (1 + 1e-3)  # two stops near one minimum
