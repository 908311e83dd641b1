"""Time: orders of steppers, and errors of steps that choose their length, beside closed forms."""

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from tests.accuracy.book import Claim, Ratio, Routine
from tests.accuracy.matrices import eps

pde = xc.pde
# Fixed steps: half as long a step divides the error by 2^order
CELLS = 16
X = np.arange(1, CELLS) / CELLS
SLOW = -4 * CELLS**2 * np.sin(np.pi / (2 * CELLS)) ** 2  # the least eigenvalue of the differences
MODE = np.sin(np.pi * X)
END, COUNTS = 0.5, (16, 32, 64)


def _turning(u, t):
    """u'' = -u, and u = u₀ cos t + v₀ sin t."""
    return xnp.stack([u[1], -u[0]])


def _logistic(u, t):
    return u * (1 - u)


def _turned(u, t):
    return np.array([u[0] * np.cos(t) + u[1] * np.sin(t), u[1] * np.cos(t) - u[0] * np.sin(t)])


def _grown(u, t):
    return u * np.exp(t) / (1 - u + u * np.exp(t))


def _both(u, t):
    return xnp.concatenate([_turning(u[:2], t), _logistic(u[2:], t)])


def _both_exact(u, t):
    return np.concatenate([_turned(u[:2], t), _grown(u[2:], t)])


def _first(family, n, dtype):
    return (np.array([0.3, 0.6, 0.2], dtype),)


def _ends(step_of):
    """The states at the end, by three numbers of steps."""

    def call(u):
        kept = [pde.trajectory(step_of(), u, END / n, n, every=n) for n in COUNTS]
        return [k[-1] if not isinstance(k, tuple) else k[0][-1] for k in kept]

    return call


def _order(order, exact):
    """Of the last two; errors at rounding tell nothing."""

    def judge(arrays, ends):
        true = exact(arrays[0].astype(np.longdouble), np.longdouble(END))
        errors = [float(np.abs(e.astype(np.longdouble) - true).max()) for e in ends]
        if errors[-1] < 1e3 * eps(arrays[0].dtype):
            return [Claim("order", 0.0 if errors[-1] < 1e-9 else 1.0, 0.5)]
        found = np.log2(errors[-2] / errors[-1])
        return [Claim("order", order - found if np.isfinite(found) else np.inf, 0.15)]

    return judge


def _runge_kutta(name):
    tableau = getattr(pde, name)
    call = _ends(lambda: pde.RungeKutta(_both, tableau))
    return Routine(
        f"RungeKutta-{name}", "pde: time", _first, call, _order(tableau.order, _both_exact),
        ("turning and logistic",), ("f64",), (3,), ("one", "jit", "vmap"), (3,),
    )  # fmt: skip


def _mode(family, n, dtype):
    return (MODE.astype(dtype),)


def _op():
    return pde.Laplacian(pde.Grid(CELLS))


def _decayed(rate):
    return lambda u, t: u * np.exp((SLOW + rate) * t)


def _swung(u, t):
    return u * np.cos(np.sqrt(-SLOW) * t)


class _Still:
    """A stepper of pairs (u, v) from rest."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, u):
        kept = [
            pde.trajectory(self.inner(), (u, xnp.zeros_like(u)), END / n, n, every=n)
            for n in COUNTS
        ]
        return [k[0][-1] for k in kept]


LINEAR = {
    "ThetaMethod-1": (_ends(lambda: pde.ThetaMethod(_op(), theta=1.0)), 1, _decayed(0)),
    "ThetaMethod-0.5": (_ends(lambda: pde.ThetaMethod(_op())), 2, _decayed(0)),
    "IMEX": (_ends(lambda: pde.IMEX(_op(), lambda u, t: u)), 2, _decayed(1)),
    "Newmark": (_Still(lambda: pde.Newmark(_op())), 2, _swung),
    "Leapfrog": (_Still(lambda: pde.Leapfrog(_op())), 2, _swung),
}  # fmt: skip


def _exact_steps(arrays, ends):
    true = _decayed(0)(arrays[0].astype(np.longdouble), np.longdouble(END))
    error = np.abs(ends[-1].astype(np.longdouble) - true).max() / np.abs(arrays[0]).max()
    return [Ratio("|u - exact|", float(error / (CELLS * eps(arrays[0].dtype))))]


# Steps that choose their length: each errs by at most atol + rtol |u|, and errors of steps add


def _pole(u, t):
    return u * u


def _kepler(s, t):
    r = xnp.sqrt(s[0] ** 2 + s[1] ** 2)
    return xnp.stack([s[2], s[3], -s[0] / r**3, -s[1] / r**3])


def _around(s, t):
    """The ellipse that begins at its nearest point, eccentricity 0.5: Kepler's equation."""
    e, axis = 0.5, 1.0
    angle = t + e * np.sin(t)
    for _ in range(100):
        angle = angle - (angle - e * np.sin(angle) - t) / (1 - e * np.cos(angle))
    b = np.sqrt(1 - e * e)
    speed = 1 / (1 - e * np.cos(angle))
    return axis * np.array(
        [np.cos(angle) - e, b * np.sin(angle), -np.sin(angle) * speed, b * np.cos(angle) * speed]
    )


TIMES = np.array([0.0, 0.5, 1.0, 2.0])
# name: (f, first state, closed form, exists up to)
FLOWS = {
    "decay": (lambda u, t: -3 * u, [1.0, 2.0], lambda u, t: u * np.exp(-3 * t), np.inf),
    "turning": (_turning, [0.3, 0.6], _turned, np.inf),
    "logistic": (_logistic, [0.3, 0.6], _grown, np.inf),
    "time": (lambda u, t: -2 * t * u, [1.0, -1.0], lambda u, t: u * np.exp(-t * t), np.inf),
    "kepler": (_kepler, [0.5, 0.0, 0.0, 3**0.5], _around, np.inf),
    "pole": (_pole, [0.75, 0.25], lambda u, t: u / (1 - u * t), 1 / 0.75),
}  # fmt: skip
RTOL = {"f32": 1e-4, "f64": 1e-8}
ADD = 100  # steps, at most about so many here; amplification by the flow is a few


def _flow(family):
    f, first, exact, until = FLOWS[family]

    def problem(_, n, dtype):
        return np.array(first, dtype), TIMES.astype(dtype)

    def call(tableau):
        rtol = lambda u: RTOL["f64" if u.dtype.itemsize == 8 else "f32"]
        return lambda u, times: pde.integrate(
            f, u, times, tableau=tableau, rtol=rtol(u), atol=rtol(u), report=True
        )

    def judge(arrays, answer):
        (first, times), told = arrays, answer.value.astype(np.longdouble)
        goal, claims = RTOL["f64" if first.dtype.itemsize == 8 else "f32"], []
        for k, t in enumerate(times.astype(np.longdouble)):
            exists = t < until
            true = exact(first.astype(np.longdouble), t) if exists else np.inf
            error = np.abs(told[k] - true) / (1 + np.abs(true)) if exists else np.inf
            error = np.nan_to_num(np.asarray(error, float), nan=np.inf).max()
            claims.append(
                Claim("finite: error of a state", error, ADD * goal, np.isfinite(told[k]).all())
            )
        lost = not np.isfinite(told).all() or times[-1] >= until
        return [
            *claims,
            Claim("success: all states", 1.0 if lost else 0.0, 0.5, answer.status == 0),
        ]

    return problem, call, judge


def _adaptive(name, family):
    problem, call, judge = _flow(family)
    return Routine(f"integrate-{name}-{family}", "pde: time", problem, call(getattr(pde, name)), judge,
                   (family,), ("f32", "f64"), (2,), ("one", "vmap"), (2,))  # fmt: skip


ROUTINES = [
    *(
        _runge_kutta(name)
        for name in ("EULER", "MIDPOINT", "HEUN", "SSP3", "RK4", "BOGACKI_SHAMPINE", "DORMAND_PRINCE")
    ),
    *(Routine(name, "pde: time", _mode, call, _order(order, exact), ("mode",), ("f64",), (CELLS,), ("one", "vmap"), (CELLS,))
      for name, (call, order, exact) in LINEAR.items()),
    Routine("ExponentialIntegrator", "pde: time", _mode, _ends(lambda: pde.ExponentialIntegrator(_op())), _exact_steps, ("mode",),
            ("f32", "f64"), (CELLS,), ("one", "vmap"), (CELLS,)),
    *(_adaptive(name, family) for name in ("DORMAND_PRINCE", "BOGACKI_SHAMPINE", "HEUN") for family in FLOWS
      if name == "DORMAND_PRINCE" or family in ("turning", "pole")),
]  # fmt: skip
