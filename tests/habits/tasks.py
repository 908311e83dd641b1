"""What people do on their first day, as they would write it: a program for each, its import lines included.

Programs are those of the tutorials of MATLAB, SciPy, NumPy and JAX in spirit, with nothing changed but
where names are imported from. A program that ends has succeeded; it asserts what it found.
"""

TASKS = {
    # A MATLAB engineer
    "matlab: ode45 of van der Pol": """
        import numpy as np
        from xcore.scipy.integrate import solve_ivp
        def vdp(t, y, mu):
            return [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]
        sol = solve_ivp(vdp, [0, 20], [2, 0], args=(1.0,), rtol=1e-6, atol=1e-9)
        assert sol.success and sol.t[-1] == 20 and sol.y.shape == (2, len(sol.t))
        assert np.allclose(sol.y[:, -1], [2.0081, -0.0425], atol=1e-3)
        """,
    "matlab: ode45 at given times": """
        import xcore.numpy as np
        from xcore.scipy.integrate import solve_ivp
        t = np.linspace(0, 1, 11)
        sol = solve_ivp(lambda t, y: -y, (0, 1), np.array([1.0]), t_eval=t)
        assert np.allclose(sol.y[0], np.exp(-t), atol=1e-3)
        """,
    "matlab: polyfit and polyval": """
        import xcore.numpy as np
        p = np.polyfit(np.array([0., 1, 2, 3]), np.array([1., 3, 7, 13]), 2)
        assert np.allclose(np.polyval(p, 4), 21, atol=1e-3)
        """,
    "matlab: spectrum of a signal": """
        import xcore.numpy as np
        fs = 1000
        t = np.arange(0, 1, 1 / fs)
        x = np.sin(2 * np.pi * 50 * t) + 0.5 * np.sin(2 * np.pi * 120 * t)
        f = np.fft.rfftfreq(len(x), d=1 / fs)
        assert f[np.argmax(np.abs(np.fft.rfft(x)))] == 50
        """,
    "matlab: fzero": """
        from xcore.scipy.optimize import brentq
        r = brentq(lambda x: x ** 3 - 2, 0, 2)
        assert abs(r - 2 ** (1 / 3)) < 1e-6
        """,
    "matlab: fsolve": """
        import xcore.numpy as np
        from xcore.scipy.optimize import fsolve
        x = fsolve(lambda x: [x[0] * np.cos(x[1]) - 4, x[1] * x[0] - x[1] - 5], [1, 1])
        assert abs(x[0] - 6.50409711) < 1e-4 and abs(x[1] - 0.90841421) < 1e-4
        """,
    "matlab: fminsearch": """
        from xcore.scipy.optimize import fmin
        x = fmin(lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, [-1.2, 1], disp=False)
        assert abs(float(x[0]) - 1) < 1e-2
        """,
    "matlab: lsqcurvefit": """
        import numpy as np
        import xcore.numpy as xnp
        from xcore.scipy.optimize import curve_fit
        x = np.linspace(0, 4, 50)
        y = 2.5 * np.exp(-1.3 * x) + 0.5
        popt, pcov = curve_fit(lambda x, a, b, c: a * xnp.exp(-b * x) + c, x, y)
        assert np.allclose(popt, [2.5, 1.3, 0.5], atol=1e-6) and pcov.shape == (3, 3)
        perr = np.sqrt(np.diag(pcov))
        """,
    "matlab: trapz and cumtrapz": """
        import xcore.numpy as np
        from xcore.scipy.integrate import cumulative_trapezoid, simpson, trapezoid
        x = np.linspace(0, np.pi, 101)
        assert abs(trapezoid(np.sin(x), x) - 2) < 1e-3 and abs(simpson(np.sin(x), x=x) - 2) < 1e-5
        assert cumulative_trapezoid(np.sin(x), x, initial=0).shape == (101,)
        """,
    "matlab: poisson and a picture": """
        import matplotlib
        matplotlib.use("Agg")
        from xcore import pde
        grid = pde.Grid((20, 20))
        u = pde.poisson(1.0, grid)
        assert grid.plot(u) is not None
        """,
    "matlab: [U, S, V] = svd(A, 'econ')": """
        import xcore.numpy as np
        from xcore.linalg import svd
        A = np.arange(6.0).reshape(3, 2)
        U, S, Vt = svd(A, full_matrices=False)
        assert np.allclose(U * S @ Vt, A, atol=1e-5)
        """,
    "matlab: expm, null, rank": """
        import xcore.numpy as np
        from xcore.scipy.linalg import expm, null_space
        assert np.allclose(expm([[0, 1], [-1, 0]])[0, 0], np.cos(1), atol=1e-6)
        assert null_space([[1, 1], [1, 1]]).shape == (2, 1) and np.linalg.matrix_rank(np.ones((2, 2))) == 1
        """,
    # A user of SciPy
    "scipy: rosen by BFGS": """
        from xcore.scipy.optimize import minimize, rosen, rosen_der
        res = minimize(rosen, [1.3, 0.7, 0.8, 1.9, 1.2], method="BFGS", jac=rosen_der, options={"disp": False})
        assert res.success and abs(float(res.x[0]) - 1) < 1e-2
        """,
    "scipy: minimize with no method": """
        import numpy as np
        from xcore.scipy.optimize import minimize
        res = minimize(lambda x: (x[0] - 1) ** 2 + (x[1] - 2.5) ** 2, (2, 0))
        assert res.success and np.allclose(res.x, [1, 2.5], atol=1e-3), res.message
        """,
    "scipy: L-BFGS-B with bounds and ftol": """
        import numpy as np
        from xcore.scipy.optimize import minimize
        res = minimize(lambda x: ((x - 3) ** 2).sum(), np.zeros(2), method="L-BFGS-B",
                       bounds=[(0, 1), (0, None)], options={"ftol": 1e-9, "maxiter": 100})
        assert np.allclose(res.x, [1, 3])
        """,
    "scipy: SLSQP with dicts": """
        import numpy as np
        from xcore.scipy.optimize import minimize
        cons = ({"type": "ineq", "fun": lambda x: x[0] - 2 * x[1] + 2},
                {"type": "ineq", "fun": lambda x: -x[0] - 2 * x[1] + 6},
                {"type": "ineq", "fun": lambda x: -x[0] + 2 * x[1] + 2})
        bnds = ((0, None), (0, None))
        res = minimize(lambda x: (x[0] - 1) ** 2 + (x[1] - 2.5) ** 2, (2, 0), method="SLSQP",
                       bounds=bnds, constraints=cons)
        assert np.allclose(res.x, [1.4, 1.7], atol=5e-3)
        """,
    "scipy: least_squares": """
        import numpy as np
        from xcore.scipy.optimize import least_squares
        from xcore import numpy as xnp
        res = least_squares(lambda x: xnp.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]), [2, 2],
                            bounds=([-np.inf, 1.5], np.inf), method="trf", ftol=1e-10, xtol=1e-10)
        assert np.allclose(res.x, [1.22437075, 1.5], atol=1e-3) and res.cost > 0 and res.optimality >= 0
        """,
    "scipy: root and root_scalar": """
        import numpy as np
        from xcore import numpy as xnp
        from xcore.scipy.optimize import root, root_scalar
        sol = root(lambda x: xnp.array([x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1, 0.5 * (x[1] - x[0]) ** 3 + x[1]]),
                   [0, 0], method="hybr")
        assert np.allclose(sol.x, [0.8411639, 0.1588361], atol=1e-4)
        assert abs(root_scalar(lambda x: x ** 3 - 1, bracket=[0, 3], method="brentq").root - 1) < 1e-5
        """,
    "scipy: solve with assume_a": """
        import numpy as np
        from xcore import linalg
        A, b = np.array([[4., 1], [1, 3]]), np.array([1., 2])
        assert np.allclose(linalg.solve(A, b, assume_a="pos"), np.linalg.solve(A, b))
        """,
    "scipy: a sparse solution": """
        import numpy as np
        from xcore.scipy.sparse import csr_array, diags_array
        from xcore.scipy.sparse.linalg import spsolve

        A = csr_array(diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(5, 5)))
        x = spsolve(A, np.ones(5))
        np.testing.assert_allclose(A @ x, np.ones(5), atol=1e-5)
    """,
    "scipy: eigsh and svds of a sparse matrix": """
        import numpy as np
        import scipy.sparse as sp
        from xcore.scipy.sparse.linalg import eigsh, svds
        A = sp.diags_array([np.arange(1.0, 51)], offsets=[0]).tocsr()
        w, v = eigsh(A, k=3, which="SA")
        assert np.allclose(w, [1, 2, 3]) and v.shape == (50, 3)
        u, s, vt = svds(A, k=2)
        assert np.allclose(s, [49, 50])
        """,
    "scipy: eigs of an unsymmetric sparse matrix": """
        import numpy as np
        import scipy.sparse as sp
        from xcore.scipy.sparse.linalg import eigs
        A = sp.diags_array([np.arange(1.0, 41), np.ones(39)], offsets=[0, 1], format="csr")
        w, v = eigs(A, k=3, which="LR")
        assert np.allclose(np.sort(np.real(w)), [38, 39, 40], atol=1e-4)
        assert np.allclose(A @ np.asarray(v), np.asarray(v) * np.asarray(w), atol=1e-3)
    """,
    "scipy: cg and its info": """
        import numpy as np
        from xcore.scipy.sparse.linalg import cg
        A = np.array([[4., 1, 0], [1, 4, 1], [0, 1, 4]])
        x, info = cg(A, np.ones(3), rtol=1e-10, atol=0)
        assert info == 0 and np.allclose(A @ x, 1)
        """,
    "scipy: gmres of a LinearOperator": """
        import numpy as np
        from xcore.scipy.sparse.linalg import LinearOperator, gmres
        A = LinearOperator((3, 3), matvec=lambda v: np.array([2., 3, 4]) * v)
        x, info = gmres(A, np.array([2., 3, 4]))
        assert info == 0 and np.allclose(x, 1)
        """,
    "scipy: odeint of a pendulum": """
        import numpy as np
        from xcore import numpy as xnp
        from xcore.scipy.integrate import odeint
        def pend(y, t, b, c):
            theta, omega = y
            return [omega, -b * omega - c * xnp.sin(theta)]
        sol = odeint(pend, [np.pi - 0.1, 0.0], np.linspace(0, 10, 101), args=(0.25, 5.0))
        assert sol.shape == (101, 2) and abs(float(sol[-1, 0])) < 2
        """,
    "scipy: an interval by Student's t": """
        import numpy as np
        from xcore.scipy import stats
        x = np.array([5.1, 4.9, 5.6, 5.2, 5.0])
        half = stats.t.ppf(0.975, df=len(x) - 1) * stats.sem(x)
        assert np.asarray(half).dtype == np.float64 and abs(half - 0.3364) < 1e-3
        """,
    "scipy: an event": """
        from xcore.scipy.integrate import solve_ivp
        hit = lambda t, y: y[0]
        hit.terminal, hit.direction = True, -1
        sol = solve_ivp(lambda t, y: [y[1], -9.81], [0, 100], [0.0, 10.0], events=hit, max_step=0.1)
        assert sol.status == 1 and abs(sol.t_events[0][0] - 20 / 9.81) < 1e-3
        """,
    "scipy: convolve, welch, find_peaks": """
        import numpy as np
        from xcore.scipy.signal import convolve, welch
        f, p = welch(np.sin(np.arange(1024.0)), nperseg=256)
        assert p.shape == (129,)
        """,
    "scipy: differential evolution": """
        from xcore.scipy.optimize import differential_evolution
        res = differential_evolution(lambda x: (x ** 2).sum(), [(-5, 5), (-5, 5)], seed=1)
        assert res.fun < 1e-3
        """,
    "scipy: lists in solve_banded": """
        from xcore.scipy.linalg import solve_banded
        x = solve_banded((1, 1), [[0, 1, 1], [4, 4, 4], [1, 1, 0]], [1, 2, 3])
        assert abs(float(4 * x[0] + x[1]) - 1) < 1e-5
        """,
    # A user of NumPy
    "numpy: a mean of random numbers": """
        import xcore.numpy as np
        rng = np.random.default_rng(42)
        x = rng.normal(loc=1.0, scale=2.0, size=(1000, 3))
        assert x.mean(axis=0).shape == (3,)
        """,
    "numpy: masks and where": """
        import xcore.numpy as np
        x = np.array([1, -2, 3, -4])
        assert (x[x > 0] == np.array([1, 3])).all() and np.where(x < 0, 0, x).sum() == 4
        """,
    "numpy: least squares line": """
        import xcore.numpy as np
        x, y = np.array([0, 1, 2, 3]), np.array([-1, 0.2, 0.9, 2.1])
        A = np.vstack([x, np.ones(len(x))]).T
        m, c = np.linalg.lstsq(A, y, rcond=None)[0]
        assert abs(m - 1) < 1e-5 and abs(c + 0.95) < 1e-5
        """,
    "numpy: saving and loading": """
        import os, tempfile
        import xcore.numpy as np
        path = os.path.join(tempfile.mkdtemp(), "x.npz")
        np.savez(path, a=np.arange(3), b=np.ones(2))
        assert (np.load(path)["a"] == np.arange(3)).all()
        """,
    "numpy: float64 stays": """
        import numpy
        import xcore.numpy as np
        x = np.linspace(0, 1, 5, dtype=np.float64)
        assert (x * 2.0).dtype == numpy.float64 and np.mean(x).dtype == numpy.float64
        """,
    # A user of JAX
    "jax: a gradient step under jit": """
        import xcore as jax
        import xcore.numpy as jnp
        from xcore import grad, jit, random, vmap
        loss = lambda w, x, y: jnp.mean((x @ w - y) ** 2)
        key = random.key(0)
        x = random.normal(key, (8, 3))
        step = jit(lambda w: w - 0.1 * grad(loss)(w, x, jnp.ones(8)))
        assert step(jnp.zeros(3)).shape == (3,)
        """,
    "jax: scan and fori_loop": """
        import xcore.numpy as jnp
        from xcore import lax
        total, parts = lax.scan(lambda c, x: (c + x, c), 0.0, jnp.arange(4.0))
        assert total == 6 and lax.fori_loop(0, 3, lambda i, x: x + i, 0) == 3
        """,
    "jax: training with optax's names": """
        import xcore as jax
        import xcore.numpy as jnp
        from xcore import optimize as optax
        params = {"w": jnp.zeros(3)}
        opt = optax.adam(1e-1)
        state = opt.init(params)
        @jax.jit
        def step(params, state):
            value, grads = jax.value_and_grad(lambda p: ((p["w"] - 1) ** 2).sum())(params)
            updates, state = opt.update(grads, state, params)
            return optax.apply_updates(params, updates), state, value
        for _ in range(3):
            params, state, value = step(params, state)
        assert value < 3
        """,
    "jax: saving and restoring": """
        import os, tempfile
        import xcore as xc
        import xcore.numpy as jnp
        path = os.path.join(tempfile.mkdtemp(), "run")
        xc.checkpoint.save(path, {"x": jnp.ones(3), "layers": [jnp.zeros(2), {"b": jnp.ones(())}]})
        back = xc.checkpoint.restore(path)
        assert set(back) == {"x", "layers"} and (back["x"] == 1).all() and back["layers"][1]["b"] == 1
        """,
    "jax: fit that stops early": """
        import xcore.numpy as jnp
        import xcore.optimize as xo
        seen = []
        def callback(fit):
            seen.append((int(fit.epoch), float(fit.losses.mean())))
            return seen[-1][1] < 1e-6
        x = jnp.linspace(0.0, 1.0, 8)
        done = xo.fit(lambda w, b: jnp.mean((w * b[0] - b[1]) ** 2), jnp.asarray(0.0), (x, 3 * x), xo.sgd(0.5),
                      epochs=500, callback=callback)
        assert int(done.epoch) < 500 and len(seen) == int(done.epoch)
        """,
    "jax: odeint": """
        import xcore.numpy as jnp
        from xcore.experimental.ode import odeint
        y = odeint(lambda y, t: -y, 1.0, jnp.linspace(0.0, 1.0, 3))
        assert abs(y[-1] - jnp.exp(-1.0)) < 1e-4
        """,
    # A second day: MATLAB, SciPy, JAX, PyTorch
    "matlab: accumarray, histc, sortrows, find": """
        import xcore.numpy as np
        A = np.array([[3, 1], [1, 2], [2, 0]])
        assert (A[np.lexsort((A[:, 1], A[:, 0]))][:, 0] == np.array([1, 2, 3])).all()
        assert (np.bincount(np.array([0, 1, 1]), weights=np.array([1.0, 2, 3])) == np.array([1.0, 5])).all()
        counts, edges = np.histogram(np.array([1.0, 2, 2, 3]), bins=3)
        assert counts.sum() == 4 and (np.nonzero(np.array([0, 3, 0, 4]))[0] == np.array([1, 3])).all()
        """,
    "matlab: fmincon": """
        import numpy as np
        from xcore.scipy.optimize import NonlinearConstraint, minimize
        con = NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, -np.inf, 1.0)
        res = minimize(lambda x: (x[0] - 2) ** 2 + (x[1] - 1) ** 2, np.array([0.5, 0.5]), constraints=[con], bounds=[(0, 1), (0, 1)])
        assert res.success and abs(res.x[0] ** 2 + res.x[1] ** 2 - 1) < 1e-3
        """,
    "matlab: heat equation (pdepe)": """
        import xcore.numpy as np
        from xcore import pde
        grid = pde.Grid(32)
        lap = pde.Laplacian(grid)
        x = lap.field(lambda x: np.sin(np.pi * x))
        u = pde.trajectory(pde.ThetaMethod(lap), x, 1e-3, 100, every=100)[-1]
        assert abs(float(u.max()) - np.exp(-np.pi ** 2 * 0.1)) < 1e-3
        """,
    "matlab: eigs of a sparse Laplacian": """
        import numpy as np
        import scipy.sparse as sp
        from xcore.scipy.sparse.linalg import eigsh
        A = sp.diags_array([-np.ones(99), 2 * np.ones(100), -np.ones(99)], offsets=[-1, 0, 1]).tocsc()
        w, v = eigsh(A, k=3, sigma=0, which="LM")
        assert np.allclose(np.sort(w), 2 - 2 * np.cos(np.pi * np.arange(1, 4) / 101), atol=1e-6)
        """,
    "scipy: curve_fit with sigma and bounds": """
        import numpy as np
        from xcore import numpy as xnp
        from xcore.scipy.optimize import curve_fit
        x = np.linspace(0, 4, 50)
        y = 2.5 * np.exp(-1.3 * x) + 0.5
        popt, pcov = curve_fit(lambda x, a, b, c: a * xnp.exp(-b * x) + c, x, y, p0=[1, 1, 1], sigma=np.full(50, 0.1),
                               absolute_sigma=True, bounds=(0, [3.0, 2.0, 1.0]))
        assert np.allclose(popt, [2.5, 1.3, 0.5], atol=1e-3)
        """,
    "scipy: Nelder-Mead with its options": """
        from xcore.scipy.optimize import minimize, rosen
        res = minimize(rosen, [1.3, 0.7, 0.8], method="nelder-mead", options={"xatol": 1e-8, "disp": False})
        assert abs(float(res.x[0]) - 1) < 1e-2
        """,
    "scipy: comb and factorial": """
        from xcore.scipy.special import comb, factorial
        assert comb(5, 2) == 10 and factorial(5) == 120
        """,
    "scipy: lu_factor, lu_solve": """
        import numpy as np
        from xcore.scipy.linalg import lu_factor, lu_solve, cho_factor, cho_solve
        A = np.array([[2.0, 1], [1, 3]])
        assert np.allclose(A @ lu_solve(lu_factor(A), np.ones(2)), 1)
        assert np.allclose(A @ cho_solve(cho_factor(A), np.ones(2)), 1)
        """,
    "scipy: fft2 and fftfreq": """
        import numpy as np
        from xcore.scipy import fft
        assert fft.ifft2(fft.fft2(np.eye(4))).shape == (4, 4) and fft.next_fast_len(13) >= 13
        """,
    "jax: vmap of grad with in_axes": """
        import xcore as jax, xcore.numpy as jnp
        f = lambda w, x: jnp.tanh(w @ x)
        g = jax.vmap(jax.grad(f), in_axes=(None, 0))(jnp.ones(3), jnp.ones((5, 3)))
        assert g.shape == (5, 3)
        """,
    "jax: x64 by config": """
        import xcore as jax, xcore.numpy as jnp
        old = jax.config.jax_enable_x64
        jax.config.update("jax_enable_x64", True)
        try:
            assert jnp.ones(3).dtype == jnp.float64
        finally:
            jax.config.update("jax_enable_x64", old)
        """,
    "jax: tree_map, partial, static_argnums": """
        import functools
        import xcore as jax, xcore.numpy as jnp
        @functools.partial(jax.jit, static_argnums=1)
        def power(x, n):
            return x ** n
        out = jax.tree_util.tree_map(lambda x: power(x, 2), {"a": jnp.arange(3.0), "b": [jnp.ones(2)]})
        assert out["a"][2] == 4 and jax.tree.leaves(out)[1].shape == (2,)
        """,
    "jax: has_aux": """
        import xcore as jax, xcore.numpy as jnp
        def loss(w):
            return (w ** 2).sum(), {"norm": jnp.linalg.norm(w)}
        (value, aux), g = jax.value_and_grad(loss, has_aux=True)(jnp.ones(4))
        assert value == 4 and aux["norm"] == 2 and g.shape == (4,)
        """,
    "jax: custom_vjp": """
        import xcore as jax, xcore.numpy as jnp
        @jax.custom_vjp
        def clip(lo, hi, x):
            return x
        def fwd(lo, hi, x):
            return x, (lo, hi)
        def bwd(res, g):
            lo, hi = res
            return None, None, jnp.clip(g, lo, hi)
        clip.defvjp(fwd, bwd)
        assert jax.grad(lambda x: clip(-1.0, 1.0, 5 * x))(2.0) == 5
        """,
    "jax: initializers, relu, one_hot": """
        import xcore as jax, xcore.numpy as jnp
        w = jax.nn.initializers.glorot_normal()(jax.random.key(0), (4, 3))
        assert jax.nn.relu(w).shape == (4, 3) and jax.nn.one_hot(jnp.array([0, 2]), 3).shape == (2, 3)
        """,
    "jax: optax chain and schedule": """
        import xcore.numpy as jnp
        from xcore import optimize as optax
        tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-3, 100)))
        p = {"w": jnp.ones(3)}
        s = tx.init(p)
        u, s = tx.update({"w": jnp.ones(3)}, s, p)
        assert optax.apply_updates(p, u)["w"].shape == (3,)
        """,
    "torch: softmax, cross entropy": """
        import xcore.numpy as xnp
        from xcore import nn
        logits = xnp.array([[1.0, 2.0, 0.5]])
        p = nn.softmax(logits, axis=-1)
        loss = -nn.log_softmax(logits)[0, 1]
        assert abs(float(p.sum()) - 1) < 1e-6
        """,
    "torch: item and tolist": """
        import xcore.numpy as xnp
        x = xnp.arange(3.0)
        assert x.sum().item() == 3 and x.tolist() == [0, 1, 2]
        """,
}

# What there is none of, and what one is told.
ELSEWHERE = {
    "matlab: x = A \\ b": (
        """
        from xcore.numpy.linalg import solve
        x = solve([[4, 1], [2, 3]], [1, 2])
        assert abs(float(x[0]) - 0.1) < 1e-6
        """,
        "Lists are not arrays",
    ),
    "matlab: integral": (
        """
        import xcore.numpy as np
        from xcore.scipy.integrate import quad
        value, error = quad(lambda x: np.exp(-x ** 2), 0, np.inf)
        assert abs(value - np.sqrt(np.pi) / 2) < 1e-6
        """,
        "from scipy.integrate import quad",
    ),
    "matlab: interp1 with splines": (
        """
        import xcore.numpy as np
        from xcore.scipy.interpolate import CubicSpline, interp1d
        x = np.linspace(0, 3, 10)
        assert abs(CubicSpline(x, np.sin(x))(1.5) - np.sin(1.5)) < 1e-2
        assert abs(interp1d(x, np.sin(x))(1.5) - np.sin(1.5)) < 1e-1
        """,
        "from scipy.interpolate import CubicSpline",
    ),
    "scipy: Bessel functions": (
        """
        from xcore.scipy.special import gamma, jv, erf
        assert abs(jv(0, 2.0) - 0.22389) < 1e-4
        """,
        "jn, j0 and j1",
    ),
    "scipy: a linear program": ("from xcore.scipy.optimize import linprog", "SciPy's own"),
    "scipy: sparse matrices": ("from xcore.scipy.sparse import csr_matrix", "take csr_array"),
    "scipy: one more Krylov method": (
        "from xcore.scipy.sparse.linalg import qmr",
        "Take gmres or bicgstab",
    ),
    "scipy: distances": ("from xcore.scipy.spatial import distance", "from scipy import spatial"),
    "scipy: constants": ("from xcore.scipy import constants", "from scipy import constants"),
    "scipy: a t-test": (
        "from xcore.scipy.stats import ttest_ind",
        "from scipy.stats import ttest_ind",
    ),
    "scipy: a filter": (
        "from xcore.scipy.signal import butter, lfilter",
        "from scipy.signal import butter",
    ),
    "scipy: a misspelt name": ("import xcore.scipy.optimize as o; o.minimise", "There is minimize"),
    "numpy: random numbers without a generator": (
        "import xcore.numpy as np; np.random.rand(3)",
        "default_rng",
    ),
    "torch: backward": ("import xcore.numpy as xnp; xnp.ones(3).sum().backward()", r"xcore\.grad"),
    "torch: detach": ("import xcore.numpy as xnp; xnp.ones(3).detach()", "stop_gradient"),
    "torch: x.numpy()": ("import xcore.numpy as xnp; xnp.ones(3).numpy()", r"numpy\.asarray"),
    "torch: unsqueeze": ("import xcore.numpy as xnp; xnp.ones(3).unsqueeze(0)", "expand_dims"),
    "torch: x.cuda()": ("import xcore.numpy as xnp; xnp.ones(3).cuda()", "device_put"),
    "torch: fill_": ("import xcore.numpy as xnp; xnp.ones(3).fill_(0)", r"x\.at\[index\]\.set"),
    "torch: layers": ("from xcore import nn; nn.Linear(3, 2)", "stax"),
    "torch: optim": ("from xcore import optim", r"xcore\.optimize"),
    "torch: Adam": ("from xcore.optimize import Adam", "There is adam"),
    "torch: no_grad": ("import xcore as xc; xc.no_grad()", "leave it out"),
    "torch: tensor": ("import xcore as xc; xc.tensor([1.0, 2.0])", r"numpy\.asarray"),
    "torch: manual_seed": ("import xcore as xc; xc.manual_seed(0)", r"random\.key\(0\)"),
    "matlab: norm in the wrong place": (
        "from xcore.linalg import norm",
        r"xcore\.numpy\.linalg\.norm",
    ),
    "scipy: a fit of a family": (
        "from xcore.scipy.stats import norm; norm.fit([1.0])",
        "from scipy.stats import norm",
    ),
    "scipy: peaks": (
        "from xcore.scipy.signal import find_peaks",
        "from scipy.signal import find_peaks",
    ),
    "scipy: linregress": (
        "from xcore.scipy.stats import linregress",
        "from scipy.stats import linregress",
    ),
}
