"""Which names a reader of one page looks for next."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterable

from . import names
from .names import canonical, places

# Distributions of similar use: on the line, with heavy tails, of tests, positive, on an interval, of extremes, of
# lengths of vectors, on the circle, of counts, of vectors.
_DISTRIBUTIONS = """
    norm truncnorm lognorm gennorm
    norm t
    t cauchy laplace logistic
    chi2 f t
    chi2 gamma
    expon gamma weibull_min
    lognorm gamma pareto weibull_min
    gamma loggamma beta
    invgauss wald
    beta uniform triang truncnorm
    gumbel_r gumbel_l weibull_min
    maxwell rayleigh chi2
    vonmises wrapcauchy
    bernoulli binom betabinom
    poisson nbinom binom
    geom nbinom bernoulli
    randint uniform
    multivariate_normal multinomial dirichlet
    multivariate_normal norm
    dirichlet beta
    multinomial binom
"""
# The functions of xcore.random that draw from a distribution.
_SAMPLERS = {
    "bernoulli": "bernoulli", "beta": "beta", "binom": "binomial", "cauchy": "cauchy", "chi2": "chisquare",
    "dirichlet": "dirichlet", "expon": "exponential", "f": "f", "gamma": "gamma", "gennorm": "generalized_normal",
    "geom": "geometric", "gumbel_r": "gumbel", "laplace": "laplace", "loggamma": "loggamma", "logistic": "logistic",
    "lognorm": "lognormal", "maxwell": "maxwell", "multinomial": "multinomial",
    "multivariate_normal": "multivariate_normal", "nbinom": "negative_binomial", "norm": "normal",
    "pareto": "pareto", "poisson": "poisson", "randint": "randint", "rayleigh": "rayleigh", "t": "t",
    "triang": "triangular", "truncnorm": "truncated_normal", "uniform": "uniform", "vonmises": "von_mises",
    "wald": "wald", "weibull_min": "weibull_min",
}  # fmt: skip
# What is looked for together, by packages; a name may stand in several rows.
FAMILIES = {
    "xcore": """
        grad value_and_grad jacfwd jacrev hessian jvp vjp linearize
        jit vmap pmap shard_map eval_shape make_jaxpr
        custom_jvp custom_vjp custom_gradient
        device_put device_get devices local_devices block_until_ready
        """,
    "xcore.numpy": """
        sin cos tan arcsin arccos arctan arctan2 hypot
        sinh cosh tanh arcsinh arccosh arctanh
        exp expm1 exp2 log log1p log2 log10 logaddexp
        sum prod mean std var median nansum nanmean
        max min argmax argmin maximum minimum nanmax nanmin
        cumsum cumprod diff gradient trapezoid
        zeros ones full empty zeros_like ones_like full_like eye
        arange linspace logspace geomspace meshgrid indices
        asarray array copy astype
        concatenate stack hstack vstack dstack column_stack block append
        split array_split hsplit vsplit
        reshape ravel transpose swapaxes moveaxis expand_dims squeeze
        broadcast_to broadcast_arrays broadcast_shapes tile repeat
        sort argsort partition argpartition lexsort searchsorted unique
        where select piecewise clip nonzero
        dot matmul inner outer tensordot einsum vdot kron
        floor ceil round trunc rint
        add subtract multiply divide power mod floor_divide negative
        unique union1d intersect1d setdiff1d setxor1d isin
        polyadd polymul polydiv polyder polyint polyfit polyval roots
        isreal iscomplex isrealobj iscomplexobj
        cov corrcoef var std
        isnan isinf isfinite nan_to_num isclose allclose
        any all logical_and logical_or logical_not
        real imag conj angle abs
        take take_along_axis put_along_axis compress choose
        roll flip fliplr flipud rot90 pad
        interp polyfit polyval roots convolve correlate
        histogram bincount digitize histogram2d percentile quantile
        tril triu diag diagonal trace
        save load savez
        """,
    "xcore.numpy.fft": "fft ifft rfft irfft fft2 fftn fftfreq fftshift",
    "xcore.linalg": """
        solve linear_solve lstsq inv solve_banded solve_triangular solve_toeplitz solve_circulant
        lu cholesky qr svd eigh ldl schur
        eigh eigsh svd randomized_svd lobpcg
        CG GMRES BiCGStab MINRES linear_solve
        expm logm sqrtm funm
        """,
    "xcore.sparse": """
        csr_array coo_array csc_array diags_array eye_array block_array kron
        solve factorise multigrid
        jacobian hessian
        """,
    "xcore.pde": """
        poisson solve solve_direct solve_nonlinear solve_system eigenmodes
        Dirichlet Neumann Robin Periodic
        Laplacian Diffusion Advection Helmholtz Masked CutDiffusion Wave
        OpenHelmholtz AcousticWave
        trajectory integrate Leapfrog Newmark ThetaMethod RungeKutta IMEX
        """,
    "xcore.optimize": """
        minimize minimize_constrained least_squares curve_fit root fit
        adam adamw adabelief adagrad nadam sgd rmsprop lion
        """,
    "xcore.decomp": "cp_als cp_nonneg hosvd tt_svd cp_arls cp_gauss_newton",
    "xcore.random": """
        key split fold_in uniform normal
        normal uniform randint choice permutation bernoulli exponential poisson gamma
        """,
    "xcore.lax": """
        scan fori_loop while_loop map associative_scan
        cond switch select
        """,
    "xcore.special": """
        erf erfc erfinv ndtr
        gamma gammaln digamma polygamma beta
        """,
    "xcore.nn": """
        relu leaky_relu elu selu gelu silu softplus sigmoid swish
        softmax log_softmax logsumexp standardize one_hot
        """,
    "xcore.scipy.sparse.linalg": """
        cg bicgstab gmres minres
        spsolve splu spilu factorized inv
        lsqr lsmr norm onenormest
        eigsh eigs svds lobpcg
        expm expm_multiply matrix_power
        is_sptriangular spbandwidth spsolve_triangular
        """,
    "xcore.scipy.sparse.csgraph": """
        shortest_path floyd_warshall bellman_ford johnson yen reconstruct_path
        breadth_first_order depth_first_order breadth_first_tree depth_first_tree
        maximum_flow maximum_bipartite_matching min_weight_full_bipartite_matching
        reverse_cuthill_mckee structural_rank
        """,
    "xcore.scipy.sparse": "find load_npz save_npz random_array",
    "xcore.experimental.sparse": """
        BCOO BCSR COO CSR CSC JAXSparse
        bcoo_fromdense bcoo_todense todense bcoo_update_layout bcoo_extract
        bcoo_dot_general bcoo_dot_general_sampled bcoo_multiply_dense bcoo_multiply_sparse sparsify
        bcoo_sort_indices bcoo_sum_duplicates bcoo_reduce_sum
        bcoo_transpose bcoo_reshape bcoo_squeeze bcoo_broadcast_in_dim bcoo_concatenate bcoo_rev
        bcoo_slice bcoo_dynamic_slice
        empty eye random_bcoo
        grad value_and_grad jacfwd jacrev jacobian
        """,
    "xcore.scipy.integrate": "solve_ivp odeint cumulative_trapezoid simpson",
    "xcore.stats": _DISTRIBUTIONS,
    "xcore.scipy.stats": _DISTRIBUTIONS,
    "xcore.plot": "field movie modes convergence spectrum matrix spy factors history program sharding",
}  # fmt: skip
# The same across packages, after those of one package.
ACROSS = """
    experimental.io_callback pure_callback debug.callback debug.print
    experimental.jet.jet jvp jacfwd hessian linearize
    experimental.sparse.BCOO sparse.Sparse sparse.coo_array
    experimental.sparse.linalg.spsolve sparse.solve linalg.linear_solve
    experimental.sparse.linalg.lobpcg_standard linalg.eigsh linalg.lobpcg
    scipy.cluster.vq.vq numpy.argmin numpy.digitize numpy.linalg.norm
    scipy.ndimage.map_coordinates image.resize image.scale_and_translate numpy.interp
    scipy.interpolate.RegularGridInterpolator scipy.ndimage.map_coordinates numpy.interp
    testing.assert_close testing.tolerance testing.check_grads numpy.allclose numpy.isclose
    debug_nans debug_infs checkify.checkify enable_checks sanitize.allow
    """ + "\n".join(
    f"{package}.{name} random.{sampler}"
    for package in ("stats", "scipy.stats")
    for name, sampler in _SAMPLERS.items()
)
# Whose names mean a distribution, and elsewhere something else.
CHANCE = ("xcore.random", "xcore.stats", "xcore.scipy.stats")
MOST = 8
NEAR = 4
FEW = 9  # a file with more names than this is a list, not a subject


@functools.cache
def mentions() -> dict[str, frozenset[str]]:
    """The public names between backticks in the docstring of each name."""
    found = {}
    for name, place in places().items():
        doc = inspect.getdoc(place.value) or "" if place.kind != "data" else ""
        told = re.findall(r"`([\w.]+)(?:\(\))?`", doc)
        found[name] = frozenset(_meant(told, place.package)) - {name}
    return found


def _meant(told: Iterable[str], package: str) -> Iterable[str]:
    for code in told:
        if code.startswith(("numpy.", "np.", "scipy.")):
            continue
        short = re.sub(r"^xc\.", "xcore.", re.sub(r"^xnp\.", "xcore.numpy.", code))
        for full in (short, f"{package}.{short}", f"xcore.{short}"):
            if full in canonical() and (full != f"xcore.{short}" or len(short) > 2):
                yield canonical()[full]
                break


@functools.cache
def mentioned_by() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, told in mentions().items():
        for other in told:
            found.setdefault(other, set()).add(name)
    return {k: frozenset(v) for k, v in found.items()}


@functools.cache
def namesakes() -> dict[str, tuple[str, ...]]:
    """Names by their last part, those of packages that only pass on left out."""
    found: dict[str, list[str]] = {}
    for name, place in places().items():
        found.setdefault(place.short, []).append(name)
    return {k: tuple(v) for k, v in found.items()}


@functools.cache
def _files() -> dict[str, tuple[str, ...]]:
    """Names by the file and package that they stand in, where these are few."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, place in places().items():
        if place.kind != "data" and (where := names.definition(place.package, place.short)):
            found.setdefault((str(where[0]), place.package), []).append(name)
    return {n: tuple(rows) for rows in found.values() if len(rows) <= FEW for n in rows}


@functools.cache
def _neighbours(by_file: bool) -> dict[str, tuple[str, ...]]:
    """The names of a package that are defined next to one in its file, or stand next to it in the list."""
    files: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for k, (name, place) in enumerate(places().items()):
        known = by_file and place.kind != "data"
        where = names.definition(place.package, place.short) if known else None
        file, line = (str(where[0]), where[1]) if where else ("", k)
        files.setdefault((place.package, file), []).append((line, name))
    found = {}
    for rows in files.values():
        told = [name for _, name in sorted(rows)]
        for i, name in enumerate(told):
            start = max(0, min(i - NEAR // 2, len(told) - NEAR - 1))
            found[name] = tuple(told[start : start + NEAR + 1])
    return found


@functools.cache
def families() -> dict[str, tuple[str, ...]]:
    """The other names of a name's rows in FAMILIES."""
    found: dict[str, dict[str, None]] = {}
    for package, text in (*FAMILIES.items(), ("xcore", ACROSS)):
        for row in text.strip().splitlines():
            told = [
                canonical()[f"{package}.{s}"]
                for s in row.split()
                if f"{package}.{s}" in canonical()
            ]
            for name in told:
                found.setdefault(name, {}).update(dict.fromkeys(told))
    return {k: tuple(v) for k, v in found.items()}


@functools.cache
def _parts() -> dict[tuple[str, str], tuple[str, ...]]:
    """Names by their package and a word of four letters or more, or their first four letters."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, place in places().items():
        for word in _words(place.short):
            found.setdefault((place.package, word), []).append(name)
    return {k: tuple(v) for k, v in found.items()}


def _words(short: str) -> set[str]:
    short = short.casefold()
    return {w for w in (*short.split("_"), short[:4]) if len(w) > 3}


def _alike(place: names.Place) -> list[str]:
    """Names of the same package that share a word, or begin alike."""
    return [n for word in sorted(_words(place.short)) for n in _parts()[place.package, word]]


def of(name: str) -> list[str]:
    """Others than those that its docstring names: of its family, or that name it, or have its name or its file."""
    place = places()[name]
    package = place.package
    near = [n for n in sorted(mentioned_by().get(name, ())) if places()[n].package == package]
    chance = package in CHANCE
    same = [n for n in namesakes()[place.short] if (places()[n].package in CHANCE) == chance]
    found = dict.fromkeys([
        *families().get(name, ()), *near, *(same if place.kind == "function" else ()), *_files().get(name, ()),
    ])  # fmt: skip
    if len(found) < 3 and place.kind != "data":
        found |= dict.fromkeys(_alike(place))
    for by_file in (True, False):
        if found.keys() <= {name, *mentions()[name]} and place.kind != "data":
            found |= dict.fromkeys(_neighbours(by_file)[name])
    return [n for n in found if n != name and n not in mentions()[name]][:MOST]
