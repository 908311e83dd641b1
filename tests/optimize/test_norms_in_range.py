"""Bounds and ratios of norms hold where squares leave the range of the dtype."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

G = np.array([[3.0, -4.0, 0.5], [1.0, 0.25, -2.0]])
P = np.array([[1.0, 2.0, -0.5], [0.5, 3.0, 1.0]])
SCALES = [
    ("float32", 1e25),
    ("float32", 1e-25),
    ("float16", 1e3),
    ("float16", 2e-4),
    ("float64", 1e200),
]
of_scales = pytest.mark.parametrize(("dtype", "s"), SCALES)
# (of a scale, the power of it that updates grow with)
BOUNDED = {
    "clip_by_global_norm": (lambda s: xo.clip_by_global_norm(2.0 * s), 1),
    "clip_by_block_rms": (lambda s: xo.clip_by_block_rms(0.5 * s), 1),
    "adaptive_grad_clip": (lambda s: xo.adaptive_grad_clip(0.25, eps=1e-3 * s), 1),
    "scale_by_trust_ratio": (lambda s: xo.scale_by_trust_ratio(), 1),
}


@of_scales
def test_the_norm_of_a_tree(dtype, s):
    found = xo.global_norm({"a": xnp.asarray(G * s, dtype), "b": xnp.asarray(P * s, dtype)})
    np.testing.assert_allclose(
        np.float64(found) / s,
        np.sqrt((G**2).sum() + (P**2).sum()),
        rtol=4 * float(xnp.finfo(dtype).eps),
    )


@of_scales
@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_grow_with_what_they_bound(name, dtype, s):
    make, power = BOUNDED[name]

    def update(s):
        g, p = (xnp.asarray(x * s, dtype) for x in (G, P))
        return np.asarray(make(np.asarray(s, dtype)).update(g, (), p)[0], np.float64) / s**power

    if name == "adaptive_grad_clip" and (dtype == "float16" or s < 1):
        pytest.skip("its least norm is 1e-6, in no units")
    np.testing.assert_allclose(
        update(s),
        update(1.0),
        rtol=16 * float(xnp.finfo(dtype).eps),
        atol=1e-3 * (dtype == "float16"),
    )


def test_norms_within_the_range_have_the_same_bits():
    g = np.random.default_rng(0).normal(size=(40, 30)).astype("float32")
    assert xo.global_norm([xnp.asarray(g)]) == xnp.sqrt(xnp.sum(xnp.asarray(g) * g))


def test_norms_of_trees_have_derivatives():
    for s in (1.0, 1e25, 1e-25):
        slope = xc.grad(xo.global_norm)({"a": xnp.asarray([3.0, 4.0]) * s})["a"]
        np.testing.assert_allclose(slope, [0.6, 0.8], rtol=1e-5)


def test_norms_of_nothing_and_of_whole_numbers():
    assert xo.global_norm({}) == 0 and xo.global_norm([3, xnp.asarray([4])]) == 5


ADAPTIVE = "adabelief adam adamw adamax amsgrad lamb nadam nadamw radam rmsprop yogi adagrad adadelta adafactor lars".split()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ADAPTIVE)
def test_steps_of_narrow_parameters_are_about_those_of_wide_ones(name, dtype):
    """0.999 is 1 in bfloat16: what Adam's average square is divided by at first must not be 0 there."""

    def updates(dtype):
        method, p, out = getattr(xo, name)(0.1), xnp.asarray(P, dtype), []
        state = method.init(p)
        for k in range(4):
            u, state = method.update(xnp.asarray(G * (1 - 0.2 * k) * 0.3, dtype), state, p)
            p = (p + u).astype(dtype)
            out.append(np.asarray(u).astype("float64"))
        return np.array(out)

    narrow, wide = updates(dtype), updates("float32")
    size = abs(wide).max((1, 2), keepdims=True)
    np.testing.assert_allclose(narrow / size, wide / size, atol=20 * float(xnp.finfo(dtype).eps))
