"""How sure can one be of a fitted curve?

NIST's data set Misra1a: volume adsorbed against pressure, y = b1 (1 - exp(-b2 x)), with certified
parameters and standard deviations. `curve_fit` gives both to ten digits, and the band in which the
curve lies with 95 % confidence, by Student's t.
"""

import numpy as np
from _figures import figure

import xcore.numpy as xnp
import xcore.optimize as xo

X = np.array(
    [
        77.6,
        114.9,
        141.1,
        190.8,
        239.9,
        289.0,
        332.8,
        378.4,
        434.8,
        477.3,
        536.8,
        593.1,
        689.1,
        760.0,
    ]
)
Y = np.array(
    [
        10.07,
        14.73,
        17.94,
        23.93,
        29.61,
        35.18,
        40.02,
        44.82,
        50.76,
        55.05,
        61.01,
        66.40,
        75.47,
        81.78,
    ]
)
CERTIFIED = np.array([2.3894212918e02, 5.5015643181e-04])
DEVIATIONS = np.array([2.7070075241e00, 7.2668688436e-06])


def adsorbed(x, b1, b2):
    return b1 * (1 - xnp.exp(-b2 * x))


fit = xo.curve_fit(adsorbed, X, Y, (np.float64(500), np.float64(1e-4)))
low, high = fit.interval(0.95)
for name, p, s, a, b in zip(("b1", "b2"), fit.popt, fit.stderr, low, high):
    print(f"{name} = {float(p):.10e} ± {float(s):.10e}   95 %: [{float(a):.4e}, {float(b):.4e}]")
print(f"relative errors {np.abs(np.asarray(fit.popt) / CERTIFIED - 1)} of the certified values")

far = np.linspace(0, 2500, 100)
below, above = fit.band(adsorbed, far)
fitted = np.asarray(adsorbed(far, *fit.popt))
with figure("band", cols=2, size=(9, 4), title="The band widens where there are no data") as axes:
    axes[0].plot(X, Y, "ko", markersize=4, label="measured")
    axes[0].plot(far, fitted, label="fitted")
    axes[0].set(xlabel="pressure (unit not published)", ylabel="volume (unit not published)")
    axes[1].plot(X, Y - np.asarray(adsorbed(X, *fit.popt)), "ko", markersize=4, label="measured")
    axes[1].fill_between(far, below - fitted, above - fitted, alpha=0.3, label="95 % confidence")
    axes[1].set(xlabel="pressure (unit not published)", ylabel="volume beside the fitted one")
    for ax in axes:
        ax.legend(loc="upper left")

assert np.allclose(fit.popt, CERTIFIED, rtol=1e-9) and np.allclose(
    fit.stderr, DEVIATIONS, rtol=1e-7
)
