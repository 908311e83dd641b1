# ruff: noqa: E501 (a row of a table stands on one line)
"""Words that people type, and what they mean here: other libraries' names, and names of tasks.

Each is printed on the page of its function, where the search of the site finds it, and puts that page first.
"""

import json
import re

WORDS = {
    "xcore.pde.poisson": "plate temperature, steady heat, electrostatic potential, elliptic equation, Laplace equation, pdepe",
    "xcore.pde.solve": "elliptic equation, Helmholtz, screened Poisson, steady state, variable coefficients",
    "xcore.pde.AcousticWave": "sound, velocity-pressure, staggered grid, seismic, full waveform inversion, FDTD, CPML",
    "xcore.pde.OpenHelmholtz": "PML, perfectly matched layer, absorbing boundary, radiation condition, Sommerfeld, scattering",
    "xcore.pde.eigenmodes": "eigs, drum, vibration, membrane, resonance, standing wave, natural frequencies, eigenmodes",
    "xcore.pde.trajectory": "time stepping, simulation, heat equation, wave equation, method of lines",
    "xcore.pde.integrate": "ode45, ode15s, stiff equations, adaptive time steps, method of lines",
    "xcore.pde.Masked": "irregular domain, own domain, complex geometry, domain from an image, heat equation on a disc",
    "xcore.pde.Dirichlet": "boundary condition, fixed temperature, essential condition, bcArgs",
    "xcore.plot.field": "plot the solution, plot temperature, plot a field, contour, imagesc, surf, pcolor, heat map, draw a field, quiver",
    "xcore.plot.movie": "animation, film, GIF, draw a trajectory",
    "xcore.plot.convergence": "convergence plot, order of accuracy, loglog, slope",
    "xcore.plot.history": "convergence plot, callback, loss curve, draw the iterations",
    "xcore.linalg.solve": "mldivide, backslash, A\\b, linear system, linsolve, gesv, torch.linalg.solve",
    "xcore.linalg.solve_banded": "banded, tridiagonal, spdiags, Thomas algorithm, gbsv",
    "xcore.linalg.solveh_banded": "banded, positive definite, spdiags, pbsv",
    "xcore.linalg.linear_solve": "sparse, A\\b, matrix-free, Krylov, iterative solver, pcg, gmres, bicgstab, LinearOperator",
    "xcore.sparse.solve": "sparse, A\\b, spsolve, splu, direct solver, SuperLU, UMFPACK",
    "xcore.sparse.multigrid": "sparse, AMG, algebraic multigrid, pyamg, smoothed aggregation, preconditioner, Poisson",
    "xcore.sparse.csr_array": "sparse, csr_matrix, compressed rows",
    "xcore.sparse.coo_array": "sparse, accumarray, triplets, BCOO, coordinates, assembly",
    "xcore.experimental.sparse.BCOO": "sparse, jax.experimental.sparse, batched coordinates, coordinates, scatter",
    "xcore.sparse.diags_array": "spdiags, sparse, diagonals, tridiagonal, stencil",
    "xcore.sparse.jacobian": "sparse Jacobian, colouring, jacobian pattern",
    "xcore.linalg.CG": "pcg, conjugate gradients, cg",
    "xcore.linalg.GMRES": "gmres, general minimal residual",
    "xcore.linalg.lstsq": "least squares, regression, overdetermined, lsqlin, mldivide, A\\b",
    "xcore.linalg.eigsh": "eigs, Lanczos, few eigenvalues, largest eigenvalue, ARPACK, sparse eigenvalues",
    "xcore.linalg.svd": "PCA, principal components, singular values, svds, dimension reduction",
    "xcore.linalg.randomized_svd": "PCA, principal components, truncated SVD, svds, TruncatedSVD, svd_lowrank",
    "xcore.linalg.eigh": "eig, eigenvalues, eigenvectors, symmetric, spectrum",
    "xcore.linalg.expm": "matrix exponential",
    "xcore.scipy.sparse.linalg.cg": "sparse, pcg, conjugate gradients",
    "xcore.scipy.integrate.solve_ivp": "ode45, ode23, ode15s, odeint, differential equation, initial value problem, stiff",
    "xcore.scipy.interpolate.RegularGridInterpolator": "griddata, interp2, interp3, interpn, griddedInterpolant, grid_sample, interpolation in two dimensions",
    "xcore.scipy.signal.convolve2d": "blur, conv2, filter2, image filter, smoothing",
    "xcore.scipy.signal.convolve": "conv, filter, smoothing",
    "xcore.numpy.fft.fft": "lowpass, filter, spectrum, frequency, cut off high frequencies, low-pass filter, low pass",
    "xcore.fft.dct": "cosine transform, Chebyshev",
    "xcore.optimize.minimize": "fmincon, fminunc, fminsearch, bounds, constraints, optimisation, L-BFGS, lbfgs, nonlinear programming",
    "xcore.optimize.minimize_constrained": "fmincon, constraints, bounds, SQP, interior point, quadprog, quadratic programming, QP",
    "xcore.optimize.curve_fit": "curve fit, curve fitting, nonlinear fit, cftool, lsqcurvefit, nlinfit, error bars, fit a curve, standard errors, nonlinear regression, confidence band",
    "xcore.optimize.least_squares": "lsqnonlin, Levenberg-Marquardt, nonlinear least squares, Gauss-Newton",
    "xcore.optimize.root": "fsolve, nonlinear equations, Newton, root finding",
    "xcore.scipy.optimize.brentq": "fzero, root of a function of one variable, bisection",
    "xcore.optimize.adam": "Adam, torch.optim.Adam, optax.adam, training, stochastic gradient",
    "xcore.optimize.fit": "training loop, early stopping, epochs, checkpoints, progress bar, validation, train a neural network, train neural network, progress",
    "xcore.decomp.cp_als": "parafac, CANDECOMP, cp, tensor rank, tensorly.parafac, cp_als, canonical polyadic",
    "xcore.decomp.hosvd": "Tucker, tucker_als, multilinear SVD, tucker decomposition",
    "xcore.decomp.tt_svd": "tensor train, MPS, matrix product state",
    "xcore.stats.t": "confidence interval, Student, t test, tinv, t.ppf, t.interval, quantile of t",
    "xcore.stats.norm": "confidence interval, Gauss, bell curve, norminv, normpdf, normcdf, normal distribution",
    "xcore.random.key": "random, seed, random seed, rng, PRNGKey, reproducible, key reuse",
    "xcore.random.split": "random, seed, parallel streams, key reuse, independent random numbers",
    "xcore.random.normal": "Monte Carlo, randn, Gaussian noise, simulation, normal distribution",
    "xcore.random.uniform": "Monte Carlo, rand",
    "xcore.random.permutation": "shuffle, randperm",
    "xcore.checkpoint.save": "save, load, resume, state on disk, torch.save, orbax",
    "xcore.checkpoint.restore": "save, load, resume, state from disk, torch.load, orbax",
    "xcore.NamedSharding": "two devices, several devices, data parallel, multi GPU, spread an array",
    "xcore.block_until_ready": "timing, benchmark, tic toc, asynchronous, synchronize, two devices",
    "xcore.device_put": "to GPU, move to device, cuda",
    "xcore.jit": "compile, make faster, torch.compile, tf.function",
    "xcore.grad": "gradient, backward, autograd, derivative, automatic differentiation",
    "xcore.vmap": "batch, parfor, vectorize, for loop over examples, parallel for loop, arrayfun, cellfun",
    "xcore.hessian": "second derivatives, curvature",
    "xcore.lax.scan": "for loop, recurrence, time loop, progress bar, progress",
    "xcore.lax.fori_loop": "for loop, progress bar",
    "xcore.lax.while_loop": "while loop, iterate until",
    "xcore.lax.cond": "if, branch",
    "xcore.lax.stop_gradient": "detach, no gradient",
    "xcore.numpy.where": "mask, choose, conditional",
    "xcore.numpy.einsum": "Einstein summation, contraction, tensor product",
    "xcore.numpy.interp": "interp1, linear interpolation",
    "xcore.numpy.linspace": "grid of points, linspace",
    "xcore.numpy.meshgrid": "ndgrid, meshgrid",
    "xcore.Array": "tensor, ndarray, .at, index update, set elements, lowpass, set high frequencies to zero",
    "xcore.Solution": "success, status, converged, did it converge, progress, history",
    "xcore.linalg.inv": "matrix inverse, inverse matrix, pinv",
    "xcore.linalg.det": "determinant",
    "xcore.scipy.integrate.cumulative_trapezoid": "cumtrapz, running integral, primitive",
    "xcore.numpy.trapezoid": "quadgk, numerical integration, integral, quad, trapz, quadrature",
    "xcore.scipy.integrate.simpson": "numerical integration, integral, quad, quadrature",
    "xcore.optimize.sgd": "gradient descent, stochastic gradient",
    "xcore.numpy.fft.fft2": "2d fourier transform, image spectrum",
    "xcore.numpy.corrcoef": "correlation, Pearson",
    "xcore.numpy.convolve": "moving average, smoothing, movmean, smoothdata",
    "xcore.numpy.lexsort": "sortrows, sort by several columns, order by",
    "xcore.enable_x64": "double precision, 64 bits",
    "xcore.config.update": "settings, options, configuration, config, default_bits, jax.config, precision, float64, debug_nans",
    "xcore.config.override": "settings for a block, context manager of settings",
    "xcore.print_environment_info": "version, which version",
    "xcore.numpy.asarray": "from numpy, list to array",
    "xcore.numpy.roll": "circshift, cyclic shift, rotate elements",
    "xcore.decomp.hooi": "Tucker, tucker decomposition",
    "xcore.pde.ThetaMethod": "heat equation, Crank-Nicolson, diffusion in time, implicit Euler",
    "xcore.pde.RODAS5P": "stiff, stiff equations, Rosenbrock, ode23s",
    "xcore.pde.Leapfrog": "wave equation, Verlet, second order in time",
    "xcore.debug.print": "how to print inside jit, print inside jit, print in a compiled function, host_callback",
    "xcore.image.resize": "imresize, zoom, resample",
}  # fmt: skip

# The same of pages written by hand; no reader sees these words, the search does.
PAGES = {
    "start/install": "pip, version, double precision, float64, 64 bits, set up, windows, mac",
    "start/ten_minutes": "tutorial, introduction, getting started, first steps, quickstart",
    "howto/which_solver": "which solver, choose a solver, compare methods, linear programming, Navier Stokes",
    "howto/gradients": "gradient NaN, gradient zero, nan, vanishing gradient, debug gradient",
    "howto/compiles": "recompile, compile time, slow first call, retrace, cache",
    "howto/slow": "for loop slow, slow, speed, performance, faster, profile, timing, benchmark",
    "howto/memory": "out of memory, OOM, memory leak, large arrays",
    "howto/random": "random seed, random, parallel random numbers, seed, random key reuse",
    "howto/resume": "save, load, resume, restart, checkpoint",
    "howto/beside": "convert to numpy, to numpy, from numpy, dataframe, pandas, torch tensor, dlpack",
    "howto/ecosystem": "neural network, flax, equinox, optax, haiku, train neural network",
    "howto/gpu": "use GPU, cuda, nvidia, move to GPU, graphics card",
    "devices": "multiple GPUs, cluster, distributed, MPI, two devices",
    "pde": "finite differences, finite elements, finite volumes, boundary conditions, Navier Stokes, advection",
    "sparse": "sparse, sparse matrix, sparse matrices, csr, spsolve, A\\b",
    "sanitize": "debug, find bugs, nan, out of bounds",
    "trust/citing": "cite, bibtex, reference, paper",
}

# Sphinx takes the points of its search from here: those it has itself, and many for a page that has the words typed;
# pages that explain stand before those of single functions.
_SCORER = """var WORDS = %s;
// Names are found without the package of another library that people type in front of them. The search reads its
// question from the address, as soon as it is loaded and of nobody else.
var ASKED = URLSearchParams.prototype.get;
URLSearchParams.prototype.get = function (name) {
  const found = ASKED.call(this, name);
  const front = /^(np|jnp|numpy|jax|torch|tf|tensorflow)\\.(\\w+\\.)*(?=\\w+$)/i;
  return name === "q" && found ? found.trim().replace(front, "") : found;
};
var TYPED = (new URLSearchParams(window.location.search).get("q") || "").toLowerCase();
// A function is found by its name and its page by its title, which is the same: the second comes behind all others.
var twice = (page, title, anchor) =>
  page.startsWith("reference/") && !anchor && TYPED && title.toLowerCase().includes(TYPED);
var Scorer = {
  // names of others for what the house has by names of its own
  score: ([page, title, anchor, descr, score]) =>
    (twice(page, title, anchor) ? -500 : 0) + (page.startsWith("reference/xcore.experimental") ? -20 : 0) + score + ((WORDS[page] || []).some((w) => w === TYPED) ? (page.startsWith("reference/") ? 200 : 230) :
             (WORDS[page] || []).some((w) => TYPED.length > 3 && w.includes(TYPED)) ? 60 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
"""


def keywords(page: str, text: str) -> str:
    """The Markdown of a page with its words, one by one, as the search takes them."""
    if page not in PAGES:
        return text
    words = ", ".join(dict.fromkeys(re.findall(r"\w+", PAGES[page].lower())))
    return f'---\nmyst:\n  html_meta:\n    keywords: "{words}"\n---\n{text}'


def scorer(page_of: dict[str, str]) -> str:
    """The script that scores results of a search."""
    told = {page_of[name]: text for name, text in WORDS.items()} | PAGES
    words = {page: [w.strip().lower() for w in text.split(",")] for page, text in told.items()}
    return _SCORER % json.dumps(words)
