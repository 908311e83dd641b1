"""Copies and pickles of what users keep in their own objects, and send to other processes."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp, linalg, optimize, pde, random, sparse, stats

X = xnp.arange(6.0)
GRID = pde.Grid((4, 5))
KEPT = {
    "array": X, "number": xnp.float32(3), "bfloat16": xnp.ones(2, xnp.bfloat16), "empty": xnp.zeros((0, 2)), "int4": xnp.ones(2, "int4"),
    "weak": xnp.asarray(1.0), "dtype": xnp.float32, "finfo": xnp.finfo("float32"), "finfo of bfloat16": xnp.finfo(xnp.bfloat16),
    "finfo of complex": xnp.finfo("complex64"), "iinfo": xnp.iinfo("int8"), "struct": xc.ShapeDtypeStruct((2,), np.float32),
    "tree": xc.tree.structure({"a": [1, None]}), "spec": xc.sharding.PartitionSpec("a"), "error": xc.errors.ShapeError("a"),
    "keys": random.split(random.key(1), 3), "generator": random.default_rng(0), "solution": linalg.solve(xnp.eye(2), xnp.ones(2), report=True),
    "factors": linalg.lu_factor(xnp.eye(2)), "grid": GRID, "operator": pde.Laplacian(GRID), "sparse": sparse.eye(3),
    "state": optimize.adam(0.1).init(X), "method": optimize.LBFGS(), "minimum": optimize.minimize(lambda x: (x - 1) ** 2, 0.0),
    "fit": optimize.curve_fit(lambda x, a: a * x, X, 2 * X), "decomposition": decomp.cp_als(xnp.ones((3, 3, 3)), 1),
    "normal": stats.norm, "gamma": stats.gamma, "poisson": stats.poisson, "frozen": stats.gamma(2.0, scale=3.0),
    "frozen by arrays": stats.norm(X), "vectors": stats.multivariate_normal, "multinomial": stats.multinomial,
    "density": stats.gaussian_kde(X), "interpolator": xc.scipy.interpolate.RegularGridInterpolator((X,), X),
}  # fmt: skip
WAYS = {
    "pickle": lambda v: pickle.loads(pickle.dumps(v)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", KEPT)
def test_a_copy_says_the_same(name, way):
    value = KEPT[name]
    again = WAYS[way](value)
    assert type(again) is type(value)
    assert repr(again) == repr(value) or " object at 0x" in repr(value)


@pytest.mark.parametrize("way", WAYS)
def test_copies_of_families_are_themselves(way):
    for family in (stats.norm, stats.poisson, stats.multivariate_normal):
        assert WAYS[way](family) is family
    assert float(WAYS[way](stats.norm(1.0, 2.0)).cdf(1.0)) == 0.5


def test_in_a_new_process(tmp_path):
    kept = {k: KEPT[k] for k in ("frozen", "vectors", "keys", "finfo", "sparse", "generator")}
    (tmp_path / "kept").write_bytes(pickle.dumps(kept))
    program = (
        "import pickle, sys; print([*map(repr, pickle.load(open(sys.argv[1], 'rb')).values())])"
    )
    out = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "kept")], capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert out.stdout.strip() == str([*map(repr, kept.values())]), out.stderr
