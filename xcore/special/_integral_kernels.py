"""Exponential, sine and cosine integrals, the dilogarithm, elliptic integrals, Lambert's W."""

from __future__ import annotations

import math
import sys

from .. import _ops as ops
from ._elementary import (
    full,
    horner,
    log1p,
    log1p_excess,
    odd,
    product_error,
    rational,
    root_factor,
    together,
    where,
    whole,
)  # fmt: skip
from ._gamma_kernels import digamma, gamma_positive, log_quotient
from ._kernel import backward, kernel, repeat

# fmt: off
# E1(x) + log x on [0, 1], and x e^x E1(x) in 1/x beyond
_E1 = (
    (-0.5772156649015329, 0.7541642330195054, 0.129849307999767, 0.024068194984261156,
     0.001320851171978335, 6.577483750948436e-05),
    (1.0, 0.42589933352282094, 0.07977958382488139, 0.008302115321813809, 0.0004864310307206217,
     1.306572850796779e-05))
_E1_FAR = (
    (1.0, 40.925252296253326, 647.3665210453346, 5115.60537488812, 21837.47364093078,
     51001.85405685899, 63242.61481020513, 38615.70701487959, 10005.662513839325,
     790.6931059886784, 4.346800622759068),
    (1.0, 41.92525229625327, 687.2917733416207, 5725.046643629339, 26415.488252662475,
     69204.79352652759, 101782.7439203009, 80409.31398652558, 31251.860052801825,
     5044.4707777250305, 227.70702526765015))
# (Ei(x) - log(x/z))/(x - z) on [0, 6] in v = x/3 - 1; z is the zero
_EI_NEAR = (
    2.986772243435986, 3.8535675550242976, 3.434770585137441, 2.321720096290807, 1.26645768150805,
    0.5800776053970588, 0.22925545808420017, 0.07974156050117809, 0.024780457940573368,
    0.0069618361322455295, 0.0017851254524644405, 0.0004210737592068845, 9.197223533183093e-05,
    1.8706970235171657e-05, 3.5604150540240223e-06, 6.367638426877605e-07, 1.074113349062698e-07,
    1.714739969946709e-08, 2.597573227110029e-09, 3.7284264006836596e-10, 5.129847213573324e-11,
    7.383085342518905e-12, 9.231206270641244e-13)
# x e^-x Ei(x) in shifted 1/x on [6, 12], [12, 24] and [24, ∞]
_EI_6 = (
    1.181847986987208, 0.09097863630348527, 0.010157308753614768, -0.0033533886601641496,
    -0.0011258914511366237, 0.00037313842208676866, 4.205947124337085e-05,
    -4.5551152374781146e-05, 9.196638958577559e-06, 1.4333328689456408e-06,
    -1.445225997712143e-06, 4.245502126918812e-07, -2.9677475546905584e-08,
    -3.060602075171684e-08, 1.6871170821563835e-08, -4.7027524006427355e-09,
    5.395696534070252e-10, 2.3255190669576732e-10, -2.0532627336424486e-10, 7.544475266518182e-11,
    -3.668665802863074e-12, -3.936979246190809e-12)
_EI_12 = (
    1.0723449766623854, 0.028391549978593646, 0.0019403040279314951, 0.0002684049246132978,
    3.961169113206575e-05, -5.372759665110625e-06, -5.1601824157520336e-06,
    -2.2547746506916206e-07, 4.92289486157313e-07, 4.03613830614863e-09, -4.963249124444018e-08,
    7.113352195673709e-09, 3.6718704174745736e-09, -1.5789095491126171e-09,
    3.4827139447440243e-11, 1.5623518164810785e-10, -5.250761362150708e-11,
    -8.616601413709098e-13, 5.775084207614193e-12, -1.138612607824876e-12, -1.266975574676496e-13)
_EI_24 = (
    1.0217607036601566, 0.022753072027361206, 0.0010637687855484471, 7.863790795873787e-05,
    8.211967433144953e-06, 1.1430194773121487e-06, 2.0531358833628248e-07, 4.6838596673631086e-08,
    1.3562995269888153e-08, 5.07149275800525e-09, 2.4825118401162973e-09, 1.530257218408641e-09,
    9.779219348446523e-10, 1.8736729232029494e-10, -7.828521001407397e-10, -9.262242043227494e-10,
    -3.0900032786422005e-12, 5.708507537369784e-10, 1.5650950211117573e-10,
    -2.0537994653311827e-10, -6.941108715770958e-11, 4.561195869310604e-11,
    1.1175004886882619e-11, -4.882847683362605e-12)
# Si(x)/x in x² on [0, 4]
_SI = (
    (1.0, -0.041347063434461165, 0.000976946665439648, -9.757620533280601e-06, 4.625939936003097e-08,
     -8.391749250248877e-11),
    (1.0, 0.014208492121094478, 9.964067216690559e-05, 4.4182336507515877e-07, 1.2799564420771416e-09,
     2.0326307415763146e-12))
# (Ci(x) - log(x/z))/(x² - z²) in x² on [0, 3], and Ci(x)/(x - z) in v = (x - 3.75)/0.75 on [3, 4.5]
_CI = (
    (-0.2460741137876754, 0.007214202246218607, -0.00011874903435855822, 9.06628877463093e-07,
     -3.4399132032889344e-09, 5.214331975725175e-12),
    (1.0, 0.012658501394970923, 7.799776383872245e-05, 2.9839256103015833e-07, 7.269878112223166e-10,
     9.330414648967428e-13))
_CI_3 = (
    (-0.25450516798885003, -0.02274169860806989, 0.00754864137061075, 0.005168212645153488,
     0.0009453477541480198, -0.0002225300286418419, -1.9711537726110673e-05, 2.807223170268083e-06),
    (1.0, 0.3768554533096644, 0.12595371680486875, 0.017168595258578674, 0.001231291266308972,
     0.00019943067758429117, 4.48536185804618e-06, 9.901908424879874e-07))
# the auxiliary functions x f and x² g in 1/x² for x >= 4
_SI_F = (
    (1.0, 946.9148975185516, 324689.6734693034, 52344420.88027634, 4317424295.192746,
     186067273547.84183, 4110146854276.316, 43791917008221.93, 198561396513926.9,
     292906974607338.5, 61695289370831.47),
    (1.0, 948.9148975185508, 326563.50326435, 52975493.92921878, 4416180657.8192835,
     193828717079.24112, 4419755939839.456, 49840649629936.14, 251492804787673.62,
     465344958447199.8, 194849416321422.1))
_SI_G = (
    (1.0, 1301.3125810287206, 630899.5378418053, 148627037.51746485, 18630535305.425087,
     1280871775843.809, 48084978256471.14, 951909061424734.5, 9232411752708046.0,
     3.809565829766687e+16, 4.919795283487136e+16, 6169582940379440.0),
    (1.0, 1307.31258102872, 638623.4133279864, 152306940.48765042, 19473968114.37562,
     1382222932378.8884, 54623280563463.49, 1175319322877409.2, 1.308725156066729e+16,
     6.8662717386402776e+16, 1.4201539909306848e+17, 7.640453037937211e+16))
# B_2k/(2k + 1)!
_DILOG = (0.027777777777777776, -0.0002777777777777778, 4.72411186696901e-06, -9.185773074661964e-08,
          1.8978869988971e-09, -4.0647616451442256e-11, 8.921691020456452e-13, -1.9939295860721074e-14)
# W + 1 in p = ±√(2(e x + 1)), beginning with the term p
_LAMBERT = (
    1.0, -0.3333333333333333, 0.1527777777777778, -0.07962962962962963, 0.044502314814814814,
    -0.02598471487360376, 0.01563563253233392, -0.009616892024299432, 0.006014543252956118,
    -0.0038112980348919993, 0.0024408779911439826, -0.0015769303446867841, 0.0010262633205076071,
    -0.0006720616311561362, 0.0004424730618146209, -0.00029267722472962746, 0.00019438727605453933,
    -0.00012957426685274883, 8.665035805208128e-05, -5.811360750441382e-05, 3.907668486743905e-05,
    -2.63380647472311e-05, 1.7790345805079586e-05, -1.2040352739559977e-05, 8.163531982496613e-06)
# fmt: on
_EI_ZERO = (0.3725074107813666, 1.3140183414386028e-17)
_CI_ZEROS = (
    (0.6165054856207163, -4.209920321433186e-17),
    (3.3841804225511862, 1.972125462363411e-16),
)


def _log_from(x, zero):
    """log(x/z) for a z known to twice the precision."""
    return log_quotient(x, full(x, zero[0])) - zero[1] / zero[0]


# Exponential integrals


def _scaled_e1(x):
    """(x < 1, E1(x) there, x e^x E1(x) elsewhere) for x > 0."""
    near = x < 1.0
    z = where(near, x, 1.0)
    return near, rational(z, _E1) - ops.log(z), rational(1.0 / where(near, 1.0, x), _E1_FAR)


def exp1_f(x):
    near, inner, outer = _scaled_e1(where(x > 0.0, x, 1.0))
    z = where(near, 1.0, where(x > 0.0, x, 1.0))
    value = where(near, inner, ops.exp(-z) / z * outer)
    return where(x > 0.0, value, where(x == 0.0, math.inf, math.nan))


def expi_f(x):
    z = where(x > 0.0, x, 1.0)
    near = z < 6.0
    y = where(near, z, 1.0)
    smooth = horner(y * (1.0 / 3.0) - 1.0, _EI_NEAR)
    inner = _log_from(y, _EI_ZERO) + root_factor(y, *_EI_ZERO, smooth)
    u = 1.0 / where(near, 6.0, z)
    first, second = u > 1.0 / 12.0, u > 1.0 / 24.0
    tail = horner(48.0 * where(second, 0.0, u) - 1.0, _EI_24)
    tail = where(second, horner(48.0 * where(second, u, 0.0625) - 3.0, _EI_12), tail)
    tail = where(first, horner(24.0 * where(first, u, 0.125) - 3.0, _EI_6), tail)
    half = ops.exp(0.5 * where(near, 6.0, z))
    value = where(near, inner, where(z < 720.0, half * (u * tail) * half, math.inf))
    left = -exp1_f(where(x < 0.0, -x, 1.0))
    return where(x > 0.0, value, where(x == 0.0, -math.inf, where(x < 0.0, left, math.nan)))


def _expn_fraction(n, x, active):
    """e^x E_n(x) for x >= 1 (DLMF 8.19.17)."""

    def step(k, value):
        return ((x + n + (2.0 * k - 2.0)) - k * (n + k - 1.0) / value,)

    counts = 8.0 + 108.0 / x
    start = x + n + 2.0 * ops.ceil(counts)
    return 1.0 / backward(step, (start,), where(active, counts, 0.0))[0]


def _expn_series(n, x):
    """E_n(x) for n >= 1 and x <= 1 (DLMF 8.19.8)."""
    term, total = full(x, 1.0), full(x, 0.0)
    for k in range(21):
        gap = float(k) - n + 1.0
        total = total - where(gap == 0.0, 0.0, term / where(gap == 0.0, 1.0, gap))
        term = term * x * (-1.0 / (k + 1.0))
    power = ops.pow(x, n - 1.0) / gamma_positive(n)
    power = where(odd(n), power, -power)
    return total + power * (digamma(n) - ops.log(x))


def expn_f(n, x):
    simple = n < 1.0
    inside = ops.and_(x > 0.0, x < math.inf)
    order, z = where(simple, 1.0, n), where(inside, x, 1.0)
    far = z > 1.0
    fraction = ops.exp(-z) * _expn_fraction(order, where(far, z, 2.0), far)
    value = where(far, fraction, _expn_series(order, where(far, 0.5, z)))
    value = where(simple, ops.exp(-z) / z, value)
    at_zero = where(n > 1.0, 1.0 / (where(n > 1.0, n, 2.0) - 1.0), math.inf)
    value = where(inside, value, where(x == 0.0, at_zero, where(x > 0.0, 0.0, math.nan)))
    return where(ops.and_(whole(n), n >= 0.0), value, math.nan)


def _expn_slope(_, n, x):
    simple = n < 1.0
    return where(simple, -ops.exp(-x) * (1.0 + 1.0 / x) / x, -expn(where(simple, 0.0, n - 1.0), x))


# Sine and cosine integrals


def _waves(x):
    """(f, g, sin x, cos x) for x >= 4."""
    w = 1.0 / (x * x)
    return rational(w, _SI_F) / x, rational(w, _SI_G) * w, ops.sin(x), ops.cos(x)


def si_f(x):
    size = ops.abs(x)
    near = size <= 4.0
    z = where(near, x, 0.0)
    f, g, sin, cos = _waves(where(near, 4.0, ops.min(size, full(x, sys.float_info.max))))
    return where(near, z * rational(z * z, _SI), ops.sign(x) * (0.5 * math.pi - f * cos - g * sin))


def ci_f(x):
    size = ops.abs(x)
    near, middle = size < 3.0, size < 4.5
    z = where(ops.and_(near, size > 0.0), size, 1.0)
    zero = _CI_ZEROS[0]
    inner = _log_from(z, zero) + root_factor(z, *zero, (z + zero[0]) * rational(z * z, _CI))
    y = where(middle, size, 3.75)
    between = root_factor(y, *_CI_ZEROS[1], rational((y - 3.75) * (4.0 / 3.0), _CI_3))
    f, g, sin, cos = _waves(where(middle, 4.5, ops.min(size, full(x, sys.float_info.max))))
    value = where(near, inner, where(middle, between, f * sin - g * cos))
    return where(x == 0.0, -math.inf, where(size == math.inf, 0.0, value))


# Dilogarithm


def spence_f(x):
    zero, infinite = x == 0.0, x == math.inf
    small = ops.and_(x < 0.5, ops.not_(zero))
    large = ops.and_(x > 2.0, ops.not_(infinite))
    low, high = where(small, x, 0.25), where(large, x, 4.0)
    middle = where(ops.and_(x >= 0.5, x <= 2.0), x, 1.0)
    # the dilogarithm Li of z in u = -log(1 - z), where z is 1 - x, its mirror x, or 1/(1 - x)
    u = where(small, -log1p(-low), where(large, log1p(-1.0 / high), -ops.log(middle)))
    s = u * u
    series = u - 0.25 * s + u * s * horner(s, _DILOG)
    sixth = math.pi**2 / 6.0
    left = sixth - ops.log(low) * log1p(-low) - series
    log_high = ops.log(high - 1.0)
    right = -series - sixth - 0.5 * log_high * log_high
    value = where(small, left, where(large, right, series))
    value = where(zero, sixth, where(infinite, -math.inf, value))
    return where(x < 0.0, math.nan, value)


def _spence_slope(_, x):
    """log(x)/(1 - x), with derivatives at 1."""
    t = x - 1.0
    near = ops.abs(t) < 0.5
    u = where(near, t, 0.0)
    far = where(x == math.inf, 0.0, -ops.log(x) / where(near, 1.0, t))
    return where(near, u * log1p_excess(u) - 1.0, far)


# Elliptic integrals


def _agm(p, m):
    """(1/AGM(1, √p), S/m) for p = 1 - m, where E/K = 1 - S (DLMF 19.8.6); smooth at m = 0."""
    first, second = full(p, 1.0), ops.sqrt(p)

    def step(k, a, b, weight, delta, total):
        # c = δ m is half the difference of the last two means
        a, b = 0.5 * (a + b), ops.sqrt(a * b)
        c = delta * m
        return a, b, 2.0 * weight, delta * c / (2.0 * (a + b)), total + weight * delta * c

    state = (first, second, full(p, 1.0), 0.5 / (1.0 + second), full(p, 0.5))
    mean, _, _, _, total = repeat(step, state, 12)
    return 1.0 / mean, total


def _k_of(p):
    inside = ops.and_(p > 0.0, p < math.inf)
    z = where(inside, p, 1.0)
    value = 0.5 * math.pi * _agm(z, 1.0 - z)[0]
    return where(inside, value, where(p == 0.0, math.inf, where(p > 0.0, 0.0, math.nan)))


def _k_slope(p, m):
    """dK/dm."""
    far = p == math.inf
    p, m = where(far, 1.0, p), where(far, 0.0, m)
    inverse, share = _agm(p, m)
    return where(far, 0.0, 0.25 * math.pi * inverse * (1.0 - share) / p)


def ellipe_f(m):
    """For m < 0, E(m) = √(1 - m) E(-m/(1 - m))."""
    inside = ops.and_(m < 1.0, m > -math.inf)
    y = where(inside, m, 0.5)
    left = y < 0.0
    p, z = where(left, 1.0 / (1.0 - y), 1.0 - y), where(left, -y / (1.0 - y), y)
    right = z > 0.5
    # where z > 1/2, Legendre's relation with the complementary integrals, which cancels nothing
    calls = (p, z), (where(right, z, 0.5), where(right, p, 0.5))
    (inverse, share), (other, other_share) = together(_agm, *calls)
    k, k_other = 0.5 * math.pi * inverse, 0.5 * math.pi * other
    by_legendre = 0.5 * math.pi / k_other + k * p * other_share
    value = where(right, by_legendre, k * (1.0 - z * share))
    value = where(left, ops.sqrt(1.0 - y) * value, value)
    return where(inside, value, where(m == 1.0, 1.0, where(m < 1.0, math.inf, math.nan)))


# Lambert W


def _lambert_gap(x):
    """e x + 1, with e to twice the precision."""
    product = x * math.e
    return (product + 1.0) + (
        product_error(x, full(x, math.e), product) + 1.4456468917292502e-16 * x
    )


def _lambert(sign: float):
    """The real branch 0 (sign 1) or -1 (sign -1)."""
    lower = sign < 0.0

    def f(x):
        gap = _lambert_gap(x)
        p = sign * ops.sqrt(2.0 * ops.max(gap, full(x, 0.0)))
        close = ops.abs(p) < 0.35
        series = -1.0 + p * horner(where(close, p, 0.0), _LAMBERT)
        flat = ops.abs(x) < (0.0 if lower else 1e-300)
        outside = ops.or_(gap < -1e-15, x > (0.0 if lower else math.inf))
        edge = ops.or_(ops.or_(close, outside), ops.or_(x == 0.0, x == math.inf))
        safe = where(ops.or_(edge, flat), -0.1 if lower else 1.0, x)
        w = _lambert_iterate(safe, _start_below(safe) if lower else _start_above(safe))
        value = where(close, series, where(flat, x, w))
        value = where(outside, math.nan, value)
        at_zero = -math.inf if lower else 0.0
        return where(
            x == 0.0, at_zero, where(x == math.inf, math.nan if lower else math.inf, value)
        )

    return f


def _start_above(x):
    y = log1p(x)
    return y * (1.0 - log1p(y) / (2.0 + y))


def _start_below(x):
    outer = ops.log(-x)
    inner = ops.log(-outer)
    return outer - inner + inner / outer


def _lambert_iterate(x, w):
    for _ in range(3):
        w = _lambert_step(w, ops.log(x / w) - w)
    return w


def _lambert_step(w, z):
    """Fritsch, Shafer and Crowley's step, of fourth order; z is what log x - log w - w leaves."""
    u = 1.0 + w
    q = 2.0 * u * (u + z * (2.0 / 3.0))
    return w * (1.0 + z / u * (q - z) / (q - 2.0 * z))


def _lambert_slope(w, x):
    return ops.exp(-w) / (1.0 + w)


def _lambert_root(k, x, y):
    """(p, |p|): W_k is a series in p next to -1/e; |p| is infinite where the branch is not there."""
    inside = ops.abs(x) + ops.abs(y) < 10.0
    gap = ops.complex(_lambert_gap(where(inside, x, 1.0)), math.e * where(inside, y, 0.0))
    root = ops.sqrt(2.0 * gap)
    sides = ops.or_(ops.and_(k == -1.0, y >= 0.0), ops.and_(k == 1.0, y < 0.0))
    there = ops.and_(inside, ops.or_(k == 0.0, sides))
    return where(k == 0.0, root, -root), where(there, ops.abs(root), math.inf)


def _lambert_begin(k, z, logs, p, size):
    """The series at -1/e, what serves the real branch 0, or log z + 2πik - log(log z + 2πik) + …"""
    outer = ops.log(logs)
    far = logs - outer + outer / logs
    beside = ops.and_(k == 0.0, ops.and_(ops.abs(z) < 10.0, ops.real(z) > -0.5))
    near = ops.log(1.0 + z)
    near = near * (1.0 - ops.log(1.0 + near) / (2.0 + near))
    start = where(beside, near, far)
    return where(size < 1.2, -1.0 + p * horner(p, _LAMBERT[:4]), start)


def _lambert_refine(k, z, logs, w):
    """Steps towards w + log w = log z + 2πik, which holds up to 2πi on every branch."""
    small = ops.and_(k == 0.0, ops.abs(z) < 3.0)

    def step(_, w):
        found = ops.log(where(small, z / w, w))
        rest = where(small, found, logs - found) - w
        turn = ops.imag(rest)
        turn = turn - 2.0 * math.pi * ops.round_even(turn * (0.5 / math.pi))
        return (_lambert_step(w, ops.complex(ops.real(rest), turn)),)

    w = repeat(step, (w,), 5)[0]
    # the compiler's logarithm is off by some units, which show where it is small; exp is better
    return where(small, w - (w - z * ops.exp(-w)) / (1.0 + w), w)


def complex_lambert_f(k, z):
    """Any branch. The cuts on the real axis belong to the half plane above, as log's does."""
    k, x, y = ops.real(k), ops.real(z), ops.imag(z)
    y = where(y == 0.0, 0.0, y)
    p, reach = _lambert_root(k, x, y)
    size = ops.abs(z)
    flat, close = ops.and_(k == 0.0, size < 1e-5), reach < 0.35
    lost = ops.or_(size == 0.0, size == math.inf)
    safe = where(ops.or_(lost, ops.or_(flat, close)), 2.0, ops.complex(x, y))
    logs = ops.log(safe) + ops.complex(full(k, 0.0), 2.0 * math.pi * k)
    w = _lambert_refine(k, safe, logs, _lambert_begin(k, safe, logs, p, reach))
    w = where(close, -1.0 + p * horner(p, _LAMBERT), w)
    w = where(flat, z * horner(z, (1.0, -1.0, 1.5, -8.0 / 3.0)), w)
    below = ops.or_(k == 0.0, ops.and_(k == -1.0, x < 0.0))
    real = ops.and_(ops.and_(below, y == 0.0), x * math.e > -1.0)
    w = where(real, ops.complex(ops.real(w), full(x, 0.0)), w)
    w = where(ops.and_(size == 0.0, ops.ne(k, full(k, 0.0))), -math.inf, w)
    infinite = ops.complex(full(x, math.inf), ops.atan2(y, x) + 2.0 * math.pi * k)
    return where(size == math.inf, infinite, w)


def _complex_lambert_slope(_, k, z):
    """W/(z (1 + W)); where |W| < 1, e^-W/(1 + W), which is right at 0."""
    w = lambertw(k, z)
    size = ops.abs(z)
    small, lost = ops.abs(w) < 1.0, ops.or_(size == 0.0, size == math.inf)
    near = ops.exp(-where(small, w, 0.0)) / (1.0 + w)
    # whose square, by which a quotient is formed, is in range
    scale = where(size > 1e100, 2.0**-400, where(size < 1e-100, 2.0**400, 1.0))
    scale = ops.complex(scale, full(scale, 0.0))
    v = where(lost, 1.0, w)
    far = v / (1.0 + v) / (where(lost, 1.0, z) * scale) * scale
    far = where(size == 0.0, math.inf, where(size == math.inf, 0.0, far))
    return where(small, near, far)


exp1 = kernel("special.exp1", exp1_f, lambda _, x: -ops.exp(-x) / x)
expi = kernel("special.expi", expi_f, lambda _, x: ops.exp(x) / x)
expn = kernel("special.expn", expn_f, None, _expn_slope)
# fmt: off
si = kernel("special.si", si_f, lambda _, x: where(x == 0.0, 1.0, ops.sin(x) / where(x == 0.0, 1.0, x)))
ci = kernel("special.ci", ci_f, lambda _, x: ops.cos(x) / x)
spence = kernel("special.spence", spence_f, _spence_slope)
ellipk = kernel("special.ellipk", lambda m: _k_of(1.0 - m), lambda _, m: _k_slope(1.0 - m, m))
ellipkm1 = kernel("special.ellipkm1", _k_of, lambda _, p: -_k_slope(p, 1.0 - p))
ellipe = kernel("special.ellipe", ellipe_f, lambda _, m: -0.5 * ellipk(m) * _agm(1.0 - m, m)[1])
lambertw_0 = kernel("special.lambertw_0", _lambert(1.0), lambda _, x: _lambert_slope(lambertw_0(x), x))
lambertw_1 = kernel("special.lambertw_1", _lambert(-1.0), lambda _, x: _lambert_slope(lambertw_1(x), x))
lambertw = kernel("special.lambertw", complex_lambert_f, None, _complex_lambert_slope, kind="complex")
# fmt: on
