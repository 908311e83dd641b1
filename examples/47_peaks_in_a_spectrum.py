"""Are there two peaks in this spectrum, or three?

Peaks on a sloping background are fitted with one, two, three and four of them, by least squares with their
derivatives. More peaks always fit better; what is worth its parameters is told by the criterion of
Schwarz (1978), n log(misfit / n) + k log n: the least wins. Areas of the peaks come with error bars.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

xc.config.update("default_bits", 64)
rng = np.random.default_rng(4)
TRUE = np.array([[3.0, 4.0, 0.5], [2.0, 5.4, 0.6], [1.2, 8.0, 0.8]])  # area, centre, width


def spectrum(x, background, peaks):
    area, centre, width = peaks.T[:, :, None]
    shapes = area / (width * np.sqrt(2 * np.pi)) * xnp.exp(-0.5 * ((x - centre) / width) ** 2)
    return background[0] + background[1] * x + shapes.sum(0)


def model(x, *parameters):
    p = xnp.stack(parameters)
    return spectrum(x, p[:2], p[2:].reshape(-1, 3))


x = np.linspace(0, 12, 240)
y = np.asarray(spectrum(x, np.array([0.4, 0.03]), TRUE)) + 0.06 * rng.normal(size=x.size)

fits, score = {}, {}
start = [0.4, 0.0]
for count in (1, 2, 3, 4):
    rest = y - (np.asarray(model(x, *fits[count - 1].popt)) if count > 1 else y.min())
    smooth = np.convolve(rest, np.ones(15) / 15, "same")  # the next peak: where most is left
    start = [*start, 1.0, x[smooth.argmax()], 0.6]
    fits[count] = xo.curve_fit(model, x, y, start)
    start = list(np.asarray(fits[count].popt))
    misfit = float(np.sum((np.asarray(model(x, *start)) - y) ** 2))
    score[count] = x.size * np.log(misfit / x.size) + len(start) * np.log(x.size)
    print(f"{count} peaks: misfit {misfit:.3f}, Schwarz's criterion {score[count]:.1f}")

best = min(score, key=score.get)
fit = fits[best]
order = np.argsort(np.asarray(fit.popt)[3::3])
areas, errors = (np.asarray(v)[2::3][order] for v in (fit.popt, fit.stderr))
for area, error, true in zip(areas, errors, TRUE[:, 0]):
    print(f"area {area:.3f} ± {error:.3f}, true {true}")
low, high = fit.band(model, x)
with figure("spectrum", rows=2, size=(8, 6)) as (above, below):
    above.plot(x, y, ".", color="0.6", markersize=3, label="measured")
    above.plot(x, np.asarray(model(x, *fit.popt)), "k", linewidth=1, label=f"{best} peaks")
    above.fill_between(x, np.asarray(low), np.asarray(high), alpha=0.5, label="95 % confidence")
    for peak in np.asarray(fit.popt)[2:].reshape(-1, 3):
        above.plot(
            x, np.asarray(spectrum(x, np.asarray(fit.popt)[:2], peak[None])), "--", linewidth=0.8
        )
    above.set(xlabel="energy (keV)", ylabel="counts (scaled)")
    above.legend()
    below.plot([*score], [*score.values()], "o-")
    below.set(xlabel="peaks in the model", ylabel="Schwarz's criterion", xticks=[*score])

assert best == 3 and np.all(abs(areas - TRUE[:, 0]) < 4 * errors)
