"""Programs of libraries written for JAX, on xcore, beside their results under real JAX.

``make test-ecosystem`` runs them in an environment of their own, as ``python -m xcore.as_jax -m pytest``; elsewhere, where
jax is another one or no library is there, they are skipped.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import reference

sys.path.pop(0)

# Names of packages where they are others than the library's.
PACKAGES = {
    "flax_linen": "flax", "flax_nnx": "flax", "orbax": "orbax.checkpoint",
}  # fmt: skip
# Sums in another order, which long chains of steps make more of: what may differ, and why.
TOLERANCES = {
    "numpyro.first_example": (2e-3, "a chain of NUTS"),
    "blackjax.first_example": (2e-3, "a chain of NUTS"),
    "blackjax.window_adaptation": (2e-3, "a chain of NUTS that tunes itself"),
    "diffrax.explicit_solvers": (1e-4, "steps by errors of 1e-5"),
    "diffrax.steady_state_and_steps": (1e-4, "ends where a slope is below 1e-4"),
    "optimistix.minimisers": (5e-4, "Nelder and Mead's ends where values of 4 differ by 1e-5"),
}
USUAL = 2e-5
CASES = [(library, name) for library in reference.LIBRARIES for name in reference.names(library)]


def here(library: str) -> bool:
    package = PACKAGES.get(library, library)
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


active = any(type(f).__module__ == "xcore.as_jax._modules" for f in sys.meta_path)
needs_as_jax = pytest.mark.skipif(not active, reason="runs by make test-ecosystem")


@pytest.fixture(scope="module")
def results():
    return reference.stored()


@needs_as_jax
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("library", "name"), CASES)
def test_program_is_as_under_jax(results, library, name):
    if not here(library):
        pytest.skip(f"{library} is not installed")
    found = reference.leaves(getattr(_module(library), name)())
    assert np.sum([k.startswith(f"{library}.{name}.") for k in results]) == len(found)
    tolerance = TOLERANCES.get(f"{library}.{name}", (USUAL,))[0]
    for i, x in enumerate(found):
        want = results[f"{library}.{name}.{i}"]
        assert x.shape == want.shape
        if x.dtype.kind not in "fcV":
            np.testing.assert_array_equal(x, want)
            assert x.dtype == want.dtype
            continue
        assert x.dtype == want.dtype or x.dtype.kind == "V"
        np.testing.assert_allclose(
            x.astype(want.dtype), want, rtol=tolerance, atol=tolerance * 1e-1
        )


_modules: dict = {}


def _module(library):
    if library not in _modules:
        _modules[library] = reference.module(library)
    return _modules[library]


@needs_as_jax
def test_nothing_of_the_real_jax_is_loaded():
    files = {
        getattr(m, "__file__", None) or ""
        for n, m in sys.modules.items()
        if n.split(".")[0] == "jax"
    }
    assert all("as_jax" in f for f in files)


def test_every_program_has_results():
    kept = {k.rpartition(".")[0] for k in reference.stored()}
    assert kept == {f"{library}.{name}" for library, name in CASES}


def test_tolerances_are_of_programs():
    assert set(TOLERANCES) <= {f"{library}.{name}" for library, name in CASES}
