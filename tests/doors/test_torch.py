"""Functions and arrays that cross the border between xcore and PyTorch, beside PyTorch's own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.torch as border

torch = pytest.importorskip("torch")
# PyTorch's forward mode uses what it has deprecated itself.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
ROOT = Path(__file__).resolve().parents[2]


def close(found, wanted, rtol=1e-12):
    found, wanted = xc.tree.leaves(found), xc.tree.leaves(wanted)
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted, strict=True):
        f, w = (border.from_torch(x.detach()) if isinstance(x, torch.Tensor) else x for x in (f, w))
        assert f.dtype == w.dtype or f.dtype.kind == "i"
        np.testing.assert_allclose(np.asarray(f), np.asarray(w), rtol=rtol, atol=rtol / 10)


def tensor(*shape, seed=0, dtype=torch.float64):
    made = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)
    return made.requires_grad_()


# A function in both libraries: trees, a number, results that have no derivative.
def ours(d, n):
    y = xnp.sin(d["x"]) * n * d["w"].sum() + d["k"]
    return {"y": xnp.exp(-(y**2)), "z": (y.sum(), xnp.argmax(y, axis=-1))}


def theirs(d, n):
    y = torch.sin(d["x"]) * n * d["w"].sum() + d["k"]
    return {"y": torch.exp(-(y**2)), "z": (y.sum(), torch.argmax(y, dim=-1))}


DTYPES = (
    "bool int8 uint8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128 "
    "float8_e4m3fn float8_e5m2"
).split()
VIEWS = {
    "rows": lambda x: x, "columns": lambda x: x.T, "every second": lambda x: x[::2, 1:], "one": lambda x: x[1, 2],
    "none": lambda x: x[:0], "not aligned": lambda x: x.reshape(-1)[1:], "repeated": lambda x: x[:1].expand(5, 4),
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_there_and_back(dtype):
    whole = torch.arange(12).reshape(3, 4).to(getattr(torch, dtype))
    for view in VIEWS.values():
        x = view(whole)
        y = border.from_torch({"x": [x]})["x"][0]
        assert type(y) is xc.Array and y.dtype == dtype and y.shape == tuple(x.shape)
        back = border.to_torch(y)
        assert back.dtype == x.dtype and back.shape == x.shape
        wide = torch.complex128 if x.is_complex() else torch.float64
        assert torch.equal(back.to(wide), x.to(wide))
        assert np.array_equal(np.asarray(y).astype(complex), x.to(wide).numpy())


def test_memory_is_shared_where_it_can_be():
    x = torch.arange(64.0)
    assert border.to_torch(border.from_torch(x)).data_ptr() == x.data_ptr()
    y = xnp.arange(64.0)
    assert border.to_torch(y).data_ptr() == border.to_torch(y).data_ptr()


def test_conjugates_and_negatives_that_pytorch_has_not_written_yet():
    x = torch.tensor([1 + 2j, 3 - 4j])
    assert border.from_torch(x.conj()).tolist() == [1 - 2j, 3 + 4j]
    assert border.from_torch(x.conj().imag).tolist() == [-2, 4]


def test_what_is_refused_says_why():
    with pytest.raises(ValueError, match=r"requires a gradient.*x.detach\(\)"):
        border.from_torch(torch.ones(2, requires_grad=True))
    with pytest.raises(TypeError, match=r"dense tensors.*sparse_coo"):
        border.from_torch(torch.ones(2, 2).to_sparse())
    with pytest.raises(Exception, match=r"torch.from_torch: values.*tensors of torch"):
        border.from_torch(np.ones(2))
    with pytest.raises(Exception, match=r"torch.to_torch: values.*from_torch_function"):
        xc.jit(border.to_torch)(1.0)
    f = border.from_torch_function(lambda x: torch.ones(int(x)))
    with pytest.raises(TypeError, match="result_shape_dtypes="):
        xc.jit(f)(3.0)


def test_value_and_gradient_of_ours_in_pytorch():
    d = {"x": tensor(3, 4), "w": tensor(5, seed=1), "k": torch.arange(4)}
    f = border.as_torch_function(ours)
    close(f(d, 2), theirs(d, 2))
    for loss in (
        lambda o: o["y"].sum(),
        lambda o: o["z"][0],
        lambda o: (o["y"] * 3).sum() + o["z"][0] ** 2,
    ):
        found, wanted = (torch.autograd.grad(loss(g(d, 2)), [d["x"], d["w"]]) for g in (f, theirs))
        close(found, wanted)
    assert not f(d, 2)["z"][1].requires_grad
    with torch.no_grad():
        assert not f(d, 2)["y"].requires_grad
    d["w"] = d["w"].detach()
    close(
        torch.autograd.grad(f(d, 2)["y"].sum(), d["x"]),
        torch.autograd.grad(theirs(d, 2)["y"].sum(), d["x"]),
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_pytorch_checks_our_derivatives(dtype):
    x, y = tensor(3, dtype=dtype), tensor(3, seed=1, dtype=dtype)
    f = border.as_torch_function(lambda x, y: xnp.sin(x) * y * xnp.conj(y) + x**2)
    assert torch.autograd.gradcheck(f, (x, y), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, (x, y))


def test_ours_under_transformations_of_pytorch():
    f = border.as_torch_function(lambda x, w: xnp.tanh(x @ w).sum())
    g = lambda x, w: torch.tanh(x @ w).sum()
    x, w, v = (tensor(*s, seed=i).detach() for i, s in enumerate([(5, 3), (3, 2), (2,)]))
    func = torch.func
    each = {
        "grad": lambda f: func.grad(f, (0, 1))(x, w),
        "third": lambda f: func.grad(
            lambda a: func.grad(lambda b: func.grad(f)(x * b, w).sum())(a)
        )(x[0, 0]),
        "vmap": lambda f: func.vmap(f, (0, None))(x, w),
        "vmap of columns": lambda f: func.vmap(f, (None, 1))(x, w),
        "vmap of vmap": lambda f: func.vmap(func.vmap(f, (None, 1)), (0, None))(x, w),
        "gradients of examples": lambda f: func.vmap(func.grad(f, 1), (0, None))(x, w),
        "jvp": lambda f: func.jvp(lambda w: f(x, w), (w,), (torch.ones_like(w),)),
        "jacobians": lambda f: (func.jacrev(f, 1)(x, w), func.jacfwd(f, 1)(x, w)),
        "hessian": lambda f: func.hessian(lambda v: f(x, w * v))(v),
        "reverse over forward": lambda f: func.jacrev(func.jacfwd(lambda v: f(x, w * v)))(v),
        "vjp": lambda f: func.vjp(f, x, w)[1](torch.tensor(2.0, dtype=torch.float64)),
    }
    for transformed in each.values():
        close(transformed(f), transformed(g))


def test_ours_in_a_module_that_is_trained():
    solve = border.as_torch_function(lambda a, b: xc.linalg.solve(a, b))
    a, b = tensor(4, 4), tensor(4, seed=1).detach()
    with torch.no_grad():
        a += 4 * torch.eye(4)
    losses = []
    step = torch.optim.SGD([a], 0.1)
    for _ in range(5):
        step.zero_grad()
        loss = ((solve(a, b) - 1) ** 2).sum()
        loss.backward()
        close(a.grad, torch.autograd.grad(((torch.linalg.solve(a, b) - 1) ** 2).sum(), a)[0], 1e-10)
        step.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_what_our_function_gives_is_its_own():
    kept = xnp.arange(3.0)
    f = border.as_torch_function(lambda x: (x, kept))
    x = torch.ones(3)
    for y in f(x):
        y.zero_()
    assert x.tolist() == [1, 1, 1] and kept.tolist() == [0, 1, 2]


def test_other_widths_and_shapes_of_ours():
    f = border.as_torch_function(lambda x: x * x)
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.complex64):
        for shape in ((), (0, 3), (5,), (2, 3, 1)):
            x = torch.ones(shape, dtype=dtype).requires_grad_()
            f(x).abs().sum().backward()
            assert x.grad.dtype == dtype and torch.equal(x.grad, 2 * x.detach())
            close(
                f(x.detach().T) if x.ndim == 2 else f(x),
                x.detach().T ** 2 if x.ndim == 2 else x**2,
                1e-3,
            )
    assert f(torch.arange(3)).tolist() == [0, 1, 4]


def test_pytorch_in_a_program_of_ours():
    d = {"x": tensor(3, 4), "w": tensor(5, seed=1), "k": torch.arange(4)}
    given = border.from_torch({k: v.detach() for k, v in d.items()})
    f = border.from_torch_function(theirs)
    for g in (f, xc.jit(f)):
        close(g(given, 2), ours(given, 2))
    loss = lambda f: (
        lambda x, w: (lambda o: o["y"].sum() + o["z"][0] ** 2)(f({**given, "x": x, "w": w}, 2))
    )
    x, w = given["x"], given["w"]
    close(xc.jit(xc.grad(loss(f), (0, 1)))(x, w), xc.grad(loss(ours), (0, 1))(x, w))
    close(
        xc.vmap(lambda x: f({**given, "x": x}, 2)["y"])(x),
        xc.vmap(lambda x: ours({**given, "x": x}, 2)["y"])(x),
    )
    twice = lambda f: xc.jit(xc.grad(lambda w: (xc.grad(loss(f), 1)(x, w) ** 2).sum()))(w)
    close(twice(f), twice(ours))


def test_complex_functions_of_pytorch():
    z = xnp.asarray(np.array([1 + 2j, -0.5j, 3.0]))
    pairs = [
        (lambda z: (torch.sin(z) * z.conj()).abs().sum(), lambda z: xnp.abs(xnp.sin(z) * xnp.conj(z)).sum()),
        (lambda z: (z**3).sum().real, lambda z: (z**3).sum().real),
    ]  # fmt: skip
    for g, f in pairs:
        close(xc.grad(border.from_torch_function(g))(z), xc.grad(f)(z))


def test_pytorch_functions_that_look_at_values_or_write_to_them():
    def g(x):
        x.mul_(2)
        return torch.from_numpy(np.cumsum(x.detach().numpy()))

    x = xnp.arange(3.0)
    f = border.from_torch_function(g, x)
    assert xc.jit(f)(x).tolist() == [0, 2, 6] and x.tolist() == [0, 1, 2]
    double = border.from_torch_function(lambda x: x.mul_(2).exp_(), x)
    close(xc.jit(xc.grad(lambda x: double(x).sum()))(x), 2 * xnp.exp(2 * x), 1e-6)
    assert xc.grad(lambda x: border.from_torch_function(lambda x: x.detach() * 1.0, x)(x).sum())(
        x
    ).tolist() == [0, 0, 0]


def test_there_and_back_again():
    f = border.as_torch_function(border.from_torch_function(lambda x: torch.cumsum(x**3, 0)))
    x = tensor(4)
    f(x)[-1].backward()
    close(x.grad, 3 * x.detach() ** 2)


@pytest.mark.parametrize("hidden", [False, True])
def test_pytorch_is_imported_when_it_is_needed(hidden):
    text = "import sys, xcore.torch\nassert 'torch' not in sys.modules\n"
    text += "sys.modules['torch'] = None\nxcore.torch.to_torch(1.0)" if hidden else ""
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True)
    assert ("xcore.torch needs PyTorch, which is not installed here" in done.stderr) == hidden
