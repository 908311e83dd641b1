"""What is compiled for accelerators besides single operations: (name, function, arguments) by subject.

Arguments are shapes, float32 unless said. Functions of `n` × `n` matrices come once, in a batch, and,
where another path is taken for large ones, beyond 1024 rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp, fft, lax, linalg, nn, optimize, pde, random, sparse, special, stats


class Row(NamedTuple):
    """A program, and what must be in what is lowered for it."""

    name: str
    f: Callable
    shapes: tuple
    dtype: str = "float32"

    def arguments(self) -> list:
        return [
            s if isinstance(s, xc.ShapeDtypeStruct) else xc.ShapeDtypeStruct(s, self.dtype)
            for s in self.shapes
        ]


N = 12
SQUARE, BATCH, WIDE, LARGE = (N, N), (3, N, N), (8, N), (1100, 1100)


def _named(prefix: str, functions: dict, *shapes, dtypes=("float32",)) -> list[Row]:
    return [
        Row(f"{prefix}.{name}-{dtype}", f, shapes, dtype)
        for name, f in functions.items() for dtype in dtypes
    ]  # fmt: skip


def _hermitian(a):
    return a + xnp.swapaxes(xnp.conj(a), -1, -2)


def _positive(a):
    return xnp.matmul(a, xnp.swapaxes(xnp.conj(a), -1, -2)) + xnp.eye(N, dtype=a.dtype)


FACTORS = {
    "cholesky": lambda a: xnp.linalg.cholesky(_positive(a)),
    "lu": linalg.lu,
    "qr": xnp.linalg.qr,
    "qr_complete": lambda a: xnp.linalg.qr(a, "complete"),
    "qr_pivoting": lambda a: linalg.qr(a, pivoting=True),
    "eigh": lambda a: xnp.linalg.eigh(_hermitian(a)),
    "svd": lambda a: xnp.linalg.svd(a, full_matrices=False),
    "svd_full": xnp.linalg.svd,
    "eigvals": xnp.linalg.eigvals,
    "eig": xnp.linalg.eig,
    "schur": linalg.schur,
    "hessenberg": linalg.hessenberg,
}
OF_ANY_SHAPE = ("lu", "qr", "qr_complete", "qr_pivoting", "svd", "svd_full")
OF_SQUARES = {
    "inv": xnp.linalg.inv, "det": xnp.linalg.det, "slogdet": xnp.linalg.slogdet, "pinv": xnp.linalg.pinv,
    "matrix_rank": xnp.linalg.matrix_rank, "cond": xnp.linalg.cond, "norm": xnp.linalg.norm,
    "expm": linalg.expm, "logm": linalg.logm, "sqrtm": linalg.sqrtm, "polar": linalg.polar,
    "matrix_power": lambda a: xnp.linalg.matrix_power(a, 5), "rref": linalg.rref,
    "null_space": lambda a: linalg.svd(a)[2], "ldl": lambda a: linalg.ldl(_hermitian(a)),
}  # fmt: skip
OF_TWO = {
    "solve": xnp.linalg.solve, "lstsq": lambda a, b: xnp.linalg.lstsq(a, b)[0],
    "gauss_solve": linalg.gauss_solve, "linear_solve": lambda a, b: linalg.solve(a, b),
    "solve_positive": lambda a, b: linalg.solve(_positive(a), b, assume_a="pos"),
    "solve_triangular": lambda a, b: linalg.solve_triangular(a, b),
    "sylvester": lambda a, b: linalg.solve_sylvester(a, b, a),
    "lyapunov": linalg.solve_continuous_lyapunov, "discrete_lyapunov": linalg.solve_discrete_lyapunov,
    "continuous_are": lambda a, b: linalg.solve_continuous_are(a, b, _positive(b), _positive(a)),
    "discrete_are": lambda a, b: linalg.solve_discrete_are(a, b, _positive(b), _positive(a)),
}  # fmt: skip


def linear_algebra() -> list[Row]:
    kinds = ("float32", "complex64", "float64", "complex128")
    rows = _named("linalg", FACTORS, SQUARE, dtypes=kinds)
    rows += _named("linalg.batch", FACTORS, BATCH)
    rows += _named("linalg.wide", {k: FACTORS[k] for k in OF_ANY_SHAPE}, WIDE)
    rows += _named(
        "linalg.large", {k: FACTORS[k] for k in ("svd", "eigh", "lu") if k != "eigh"}, LARGE
    )
    rows += _named("linalg", OF_SQUARES, SQUARE)
    rows += _named("linalg", OF_TWO, SQUARE, SQUARE)
    rows += _named(
        "linalg.grad", {"solve": lambda a, b: xc.grad(lambda a: xnp.linalg.solve(a, b).sum())(a),
                        "eigh": lambda a, b: xc.grad(lambda a: FACTORS["eigh"](a)[1].sum())(a),
                        "svd": lambda a, b: xc.grad(lambda a: FACTORS["svd"](a)[0].sum())(a),
                        "cholesky": lambda a, b: xc.grad(lambda a: FACTORS["cholesky"](a).sum())(a)},
        SQUARE, SQUARE,
    )  # fmt: skip
    rows.append(
        Row("linalg.solve_banded", lambda ab, b: linalg.solve_banded((1, 1), ab, b), ((3, N), (N,)))
    )
    rows.append(
        Row(
            "linalg.solve_banded_batch",
            lambda ab, b: linalg.solve_banded((1, 1), ab, b),
            ((4, 3, N), (4, N, 1)),
        )
    )
    rows.append(
        Row("linalg.sylvester_large", linalg.solve_sylvester, ((36, 36), (30, 30), (36, 30)))
    )
    rows.append(Row("linalg.toeplitz", linalg.solve_toeplitz, ((N,), (N,))))
    rows.append(
        Row("linalg.cg", lambda a, b: linalg.linear_solve(a, b, linalg.CG()), (SQUARE, (N,)))
    )
    rows.append(
        Row("linalg.gmres", lambda a, b: linalg.linear_solve(a, b, linalg.GMRES()), (SQUARE, (N,)))
    )
    return rows


def transforms() -> list[Row]:
    c = "complex64"
    return [
        Row("fft.fft", xnp.fft.fft, (SQUARE,), c), Row("fft.ifftn", xnp.fft.ifftn, (BATCH,), c),
        Row("fft.rfft", xnp.fft.rfft, (SQUARE,)), Row("fft.irfft2", xnp.fft.irfft2, (SQUARE,), c),
        Row("fft.dct", fft.dct, ((N, 64),)), Row("fft.dst", lambda x: fft.dst(x, type=1), ((N, 64),)),
        Row("fft.fft-double", xnp.fft.fft, (SQUARE,), "complex128"),
    ]  # fmt: skip


def equations() -> list[Row]:
    grid, cube, box = pde.Grid((16, 16)), pde.Grid((8, 8, 8)), pde.Grid((64, 64))
    lap = pde.Laplacian(grid)
    return [
        Row("pde.laplacian", lambda u: lap(u), ((15, 15),)),
        Row("pde.poisson", lambda f: pde.poisson(f, grid), ((15, 15),)),
        Row("pde.poisson_3d", lambda f: pde.poisson(f, cube), ((7, 7, 7),)),
        Row("pde.poisson-float64", lambda f: pde.poisson(f, grid), ((15, 15),), "float64"),
        Row("pde.poisson_compact", lambda f: pde.poisson(f, grid, order="compact"), ((17, 17),)),
        Row("pde.grad_poisson", xc.grad(lambda f: pde.poisson(f, grid).sum()), ((15, 15),)),
        Row("pde.multigrid", lambda f: pde.solve(pde.Laplacian(box), f, method="multigrid"), ((63, 63),)),
        Row("pde.solve_direct", lambda f: pde.solve_direct(lap, f, 1.0, -1.0), ((15, 15),)),
    ]  # fmt: skip


def drawing() -> list[Row]:
    key = xc.ShapeDtypeStruct((2,), "uint32")  # what random.PRNGKey gives
    draws = {
        "bits": lambda k: random.bits(k, (64,)), "uniform": lambda k: random.uniform(k, (64,)),
        "normal": lambda k: random.normal(k, (64,)), "gamma": lambda k: random.gamma(k, 2.5, (64,)),
        "beta": lambda k: random.beta(k, 2.0, 3.0, (64,)), "poisson": lambda k: random.poisson(k, 4.0, (64,)),
        "binomial": lambda k: random.binomial(k, 10, 0.3, (64,)), "permutation": lambda k: random.permutation(k, 64),
        "choice": lambda k: random.choice(k, 64, (8,), replace=False), "categorical": lambda k: random.categorical(k, xnp.zeros(5)),
        "split": lambda k: random.split(k, 3), "orthogonal": lambda k: random.orthogonal(k, 5),
        "multivariate_normal": lambda k: random.multivariate_normal(k, xnp.zeros(3), xnp.eye(3)),
    }  # fmt: skip
    return [Row(f"random.{name}", f, (key,)) for name, f in draws.items()]


def minimising() -> list[Row]:
    rosen = lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    found = [
        Row(f"optimize.{m}", lambda x, m=m: optimize.minimize(rosen, x, method=m).x, ((4,),))
        for m in ("BFGS", "L-BFGS", "Newton-CG", "trust-ncg", "Nelder-Mead")
    ]
    residual = lambda p: p[0] * xnp.exp(-p[1] * xnp.arange(5.0)) - 1.0
    return [
        *found,
        Row("optimize.least_squares", lambda p: optimize.least_squares(residual, p).x, ((2,),)),
        Row("optimize.root", lambda x: optimize.root(lambda y: y**3 - x, x).x, ((3,),)),
        Row("optimize.root_scalar", lambda x: optimize.root_scalar(lambda y: y**3 - x, bracket=(0.0, 4.0)).x, ((),)),
        Row("optimize.minimize_scalar", lambda x: optimize.minimize_scalar(lambda y: (y - x) ** 2, bracket=(0.0, 1.0)).x, ((),)),
    ]  # fmt: skip


def tensors() -> list[Row]:
    cube = (6, 5, 4)
    return [
        Row("decomp.cp_als", lambda x: decomp.cp_als(x, 2, max_steps=3).value, (cube,)),
        Row("decomp.hosvd", lambda x: decomp.hosvd(x, (2, 2, 2)), (cube,)),
        Row("decomp.tt_svd", lambda x: decomp.tt_svd(x, (2, 2)), (cube,)),
        Row("decomp.mttkrp", lambda x, a, b, c: decomp.mttkrp(x, (a, b, c), 0), (cube, (6, 2), (5, 2), (4, 2))),
    ]  # fmt: skip


def sparse_matrices() -> list[Row]:
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(8, 8))
    grid = sparse.kronsum(line, line)
    pattern, n = grid.pattern, grid.shape[0]
    of = lambda v: sparse.Sparse(v, pattern)
    values, many, x = (pattern.nnz,), (4, pattern.nnz), (n,)
    several, classical = (
        sparse.multigrid(grid),
        sparse.multigrid(grid, kind="classical", max_coarse=20),
    )
    chain = lambda x: xnp.concatenate([x[1:] - x[:-1], x**2 - 1])
    method = optimize.SparseLevenbergMarquardt(factors="cholesky")
    return [
        Row("sparse.product", lambda v, x: of(v) @ x, (values, x)),
        Row("sparse.product of batches", lambda v, x: of(v) @ x, (many, x)),
        Row("sparse.grad of a product", xc.grad(lambda v, x: ((of(v) @ x) ** 2).sum(), (0, 1)), (values, x)),
        Row("sparse.matmul", lambda v, w: (of(v) @ of(w).T).values, (values, values)),
        Row("sparse.cholesky", lambda v, b: sparse.factorise(of(v), "cholesky").solve(b, report=True), (values, x)),
        Row("sparse.cholesky of batches", xc.vmap(lambda v: sparse.factorise(of(v), "cholesky").logdet()), (many,)),
        Row("sparse.grad of logdet", xc.grad(lambda v: sparse.factorise(of(v), "cholesky").logdet()), (values,)),
        Row("sparse.lu", lambda v, b: sparse.factorise(of(v), on="device").solve(b, report=True), (values, x)),
        Row("sparse.grad of slogdet", xc.grad(lambda v: sparse.factorise(of(v), on="device").slogdet()[1]), (values,)),
        Row("sparse.solve_triangular", lambda v, b: sparse.solve_triangular(sparse.tril(of(v)), b), (values, x)),
        Row("sparse.ilu0", lambda v, b: sparse.factorise(of(v), "ilu0") @ b, (values, x)),
        Row("sparse.multigrid", lambda v, b: several.update(of(v)) @ b, (values, x)),
        Row("sparse.multigrid, classical", lambda v, b: classical.update(of(v)) @ b, (values, x)),
        Row("sparse.multigrid, solution", lambda v, b: several.update(of(v)).solve(b, report=True), (values, x)),
        Row("sparse.jacobian", lambda x: sparse.jacobian(chain)(x).values, ((N,),)),
        Row("sparse.jacobian, bidirectional", lambda x: sparse.jacobian(lambda x: (x**2 + x[0]).at[0].set(x @ x))(x).values, ((N,),)),
        Row("sparse.least_squares", lambda x: optimize.least_squares(chain, x, method=method).x, ((N,),)),
        Row("sparse.solve by the host", lambda v, b: sparse.solve(of(v), b), (values, x)),
        Row("sparse.lstsq by QR", lambda v, b: sparse.lstsq(of(v), b, method="qr", report=True), (values, x)),
        Row("sparse.lstsq by the host", lambda v, b: sparse.lstsq(of(v), b), (values, x)),
    ]  # fmt: skip


def special_functions() -> list[Row]:
    one = """bessel_j0 digamma ellipk erfcx erfinv exp1 expi gammaln i0e k1 lambertw log_ndtr ndtri spence zeta_
        j0 y1 sinc dawsn fresnel_sin""".split()  # fmt: skip
    two = "betaln gammainc gammaincinv jn_ owens_t xlogy kl_div".split()
    three = "betainc betaincinv hyp2f1_".split()
    table = [(name, k) for k, names in ((1, one), (2, two), (3, three)) for name in names]
    return [
        Row(f"special.{name}", getattr(special, name), ((5,),) * k)
        for name, k in table if hasattr(special, name)
    ]  # fmt: skip


def probabilities() -> list[Row]:
    shapes = {"norm": 0, "gamma": 1, "beta": 2, "t": 1, "expon": 0, "cauchy": 0, "laplace": 0}
    return [
        Row(f"stats.{name}.{what}", getattr(getattr(stats, name), what), ((5,),) * (1 + k))
        for name, k in shapes.items() for what in ("logpdf", "cdf", "ppf")
        if hasattr(getattr(stats, name, None), what)
    ]  # fmt: skip


def control() -> list[Row]:
    x = (N,)
    return [
        Row("lax.cond", lambda v: lax.cond(v.sum() > 0, xnp.sin, xnp.cos, v), (x,)),
        Row("lax.switch", lambda v: lax.switch(v.sum().astype("int32"), [xnp.sin, xnp.cos, xnp.tan], v), (x,)),
        Row("lax.while_loop", lambda v: lax.while_loop(lambda s: s.sum() < 9, lambda s: s + 1, v), (x,)),
        Row("lax.fori_loop", lambda v: lax.fori_loop(0, 9, lambda i, s: s * 2 + i, v), (x,)),
        Row("lax.scan", lambda v: lax.scan(lambda c, a: (c + a, c * a), 0.0, v), (x,)),
        Row("lax.grad_scan", xc.grad(lambda v: lax.scan(lambda c, a: (xnp.sin(c + a), c), 0.0, v)[0]), (x,)),
        Row("lax.associative_scan", lambda v: lax.associative_scan(xnp.add, v), (x,)),
        Row("lax.map", lambda v: lax.map(xnp.sin, v), (x,)),
        Row("lax.sort", lambda v: (xnp.sort(v), xnp.argsort(v), lax.top_k(v, 3)), (x,)),
        Row("lax.scatter", lambda v: v.at[xnp.asarray([1, 3])].add(2.0), (x,)),
        Row("lax.cumsum", lambda v: (xnp.cumsum(v), xnp.cumprod(v), lax.cumlogsumexp(v)), (x,)),
        Row("lax.conv", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME"), ((2, 3, 9, 9), (4, 3, 3, 3))),
        Row("lax.conv-complex64", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME"),
            ((2, 3, 9, 9), (4, 3, 3, 3)), "complex64"),
        Row("lax.conv-int32", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME"),
            ((2, 3, 9, 9), (4, 3, 3, 3)), "int32"),
        Row("lax.dot-int8", lambda a, b: lax.dot_general(
            a, b, (((1,), (0,)), ((), ())), preferred_element_type=xnp.float32), (SQUARE, SQUARE), "int8"),
        Row("lax.reduce_window", lambda v: lax.reduce_window(v, 0.0, lax.add, (3,), (1,), "SAME"), (x,)),
        Row("lax.platform_dependent", lambda v: lax.platform_dependent(v, cpu=linalg.schur, default=lambda v: (v, v)), (SQUARE,)),
        Row("debug.print", lambda v: (xc.debug.print("{}", v[0]), v)[1], (x,)),
        Row("pure_callback", lambda v: xc.pure_callback(lambda a: a, xc.ShapeDtypeStruct((N,), "float32"), v), (x,)),
        Row("checkpoint", xc.grad(lambda v: xc.checkpoint(lambda u: xnp.sin(xnp.sin(u)))(v).sum()), (x,)),
        Row("hessian", xc.hessian(lambda v: xnp.sin(v).prod()), ((4,),)),
        Row("nn.softmax", nn.softmax, (SQUARE,)), Row("nn.gelu", nn.gelu, (SQUARE,)),
        Row("numpy.einsum", lambda a, b: xnp.einsum("ij,kj->ik", a, b), (SQUARE, SQUARE)),
        Row("numpy.unique", lambda v: xnp.unique(v, size=4), (x,)),
        Row("numpy.interp", lambda v: xnp.interp(v, xnp.arange(4.0), xnp.arange(4.0)), (x,)),
        Row("numpy.median", xnp.median, (SQUARE,)),
    ]  # fmt: skip


def wide_inside() -> list[Row]:
    """Functions of 32 bits whose programs hold 64 bits inside."""
    x, q, key = (N,), (3,), xc.ShapeDtypeStruct((2,), "uint32")
    numbers = {
        "linspace": lambda x: xnp.linspace(0, 1, 9) * x[0], "logspace": lambda x: xnp.logspace(0, 1, 9) * x[0],
        "geomspace": lambda x: xnp.geomspace(1, 2, 9) * x[0], "polyint": xnp.polyint,
        "linspace of integers": lambda x: xnp.linspace(x[0], x[1], 9, dtype="int32"),
        "gradient": lambda x: xnp.gradient(x, np.linspace(0, 1, N)), "nanmedian": xnp.nanmedian,
        "histogram": lambda x: xnp.histogram(x, 4), "histogram2d": lambda x: xnp.histogram2d(x, x, 4),
        "poisson.pmf": lambda x: stats.poisson.pmf(x, 3.5), "solve": lambda x: pde.solve(pde.Laplacian(pde.Grid((N + 1,))), x),
    }  # fmt: skip
    long = lambda i: (i.astype("int64") // 7, i.astype("int64") % i)
    return [
        *[Row(f"inside.{name}", f, (x,)) for name, f in numbers.items()],
        Row("inside.quantile", xnp.quantile, (SQUARE, q)), Row("inside.nanquantile", xnp.nanquantile, (SQUARE, q)),
        Row("random.randint", lambda k: random.randint(k, (64,), 0, 10), (key,)),
        Row("random.multinomial", lambda k: random.multinomial(k, 10, xnp.array([0.2, 0.3, 0.5])), (key,)),
        Row("random.negative_binomial", lambda k: random.negative_binomial(k, 3, 0.3, (64,)), (key,)),
        Row("lax.long division", long, (x,), "int32"),
    ]  # fmt: skip


def functions() -> list[Row]:
    """All rows."""
    parts = (
        linear_algebra, transforms, equations, drawing, minimising, tensors, sparse_matrices, special_functions, probabilities,
        control, wide_inside,
    )  # fmt: skip
    return [row for part in parts for row in part()]
