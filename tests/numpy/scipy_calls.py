"""Run by test_interop in a process with SCIPY_ARRAY_API=1, which SciPy reads when it is imported.

Each call is made with NumPy arrays and with ours; results must agree, and ours must be our arrays.
A line for each call that does otherwise is printed.
"""

import importlib
import warnings

import numpy as np

import xcore as xc
import xcore.numpy as xnp

MODULES = """special stats signal ndimage integrate fft constants optimize interpolate spatial cluster.vq
cluster.hierarchy""".split()
rng = np.random.default_rng(0)
X, Y = rng.uniform(0.1, 0.9, (2, 12))
TABLE, IMAGE = rng.uniform(0.1, 1, (6, 4)), rng.uniform(size=(7, 8))

CALLS = """
special.erf(x) | special.ndtri(x) | special.i0e(x) | special.gammaln(x) | special.gammainc(x, y) | special.betainc(x, y, x)
special.logit(x) | special.expit(x) | special.entr(x) | special.xlogy(x, y) | special.stdtr(x, y) | special.digamma(x)
special.softmax(t, axis=1) | special.zeta(1 + x, y) | special.binom(x, y) | special.chdtrc(x, y)
stats.moment(x, order=3) | stats.skew(x) | stats.kurtosis(x) | stats.sem(x) | stats.gmean(x) | stats.hmean(x) | stats.pmean(x, 2)
stats.ttest_1samp(x, 0.5) | stats.ttest_ind(x, y) | stats.jarque_bera(x) | stats.chisquare(x) | stats.entropy(x)
stats.differential_entropy(x) | stats.kstat(x) | stats.circmean(x) | stats.tmin(x) | stats.rankdata(x) | stats.combine_pvalues(x)
signal.convolve(x, y) | signal.fftconvolve(x, y) | signal.oaconvolve(x, y) | signal.correlate(x, y) | signal.detrend(x)
signal.resample_poly(x, 2, 1) | signal.lfilter(x[:2], y[:2], x) | signal.medfilt(x, 3) | signal.freqz(x[:3]) | signal.wiener(i)
signal.convolve2d(i, i[:3, :3]) | signal.upfirdn(y[:3], x, 2) | signal.zpk2tf(x[:1], y[:1], 1.0)
ndimage.gaussian_filter(i, 1.0) | ndimage.uniform_filter(i) | ndimage.sobel(i) | ndimage.laplace(i) | ndimage.zoom(i, 2.0)
ndimage.binary_erosion(i > 0.3) | ndimage.fourier_gaussian(i, 1.0) | ndimage.convolve(i, i[:3, :3]) | ndimage.center_of_mass(i)
integrate.trapezoid(x) | integrate.cumulative_trapezoid(x) | vq.vq(t, t[:2]) | hierarchy.linkage(t)
fft.fft(x) | fft.rfft(x) | fft.irfft(x + 1j * y) | fft.ifft2(i) | fft.rfftn(i) | fft.hfft(x + 1j * y) | fft.fftshift(x) | fft.dct(x) | fft.idst(x)
constants.convert_temperature(x, 'C', 'K') | constants.lambda2nu(x) | optimize.rosen(x) | spatial.distance.pdist(t)
interpolate.CubicSpline(x.cumsum(), y)(x) | interpolate.make_interp_spline(x.cumsum(), y)(x)
spatial.transform.Rotation.from_rotvec(x[:3]).as_quat()
"""


def parts(result):
    return [p for r in result for p in parts(r)] if isinstance(result, (tuple, list)) else [result]


def difference(text, modules):
    def call(array):
        arrays = {"x": array(X), "y": array(Y), "t": array(TABLE), "i": array(IMAGE)}
        return parts(eval(text, modules | arrays))

    want, got = call(np.asarray), call(xnp.asarray)
    if not all(isinstance(g, xc.Array) for g in got):
        return f"gave {[type(g).__name__ for g in got]}"
    if [np.shape(w) for w in want] != [g.shape for g in got]:
        return "other shapes"
    close = [
        np.allclose(np.asarray(g), w, rtol=1e-7, atol=1e-10, equal_nan=True)
        for g, w in zip(got, want)
    ]
    return None if all(close) else "other values"


def main():
    warnings.simplefilter("ignore")
    modules = {n.split(".")[-1]: importlib.import_module(f"scipy.{n}") for n in MODULES}
    for line in CALLS.strip().splitlines():
        for text in line.split(" | "):
            try:
                found = difference(text, modules)
            except Exception as e:
                found = f"{type(e).__name__}: {e}"
            if found:
                print(f"{text}: {found}")


if __name__ == "__main__":
    main()
