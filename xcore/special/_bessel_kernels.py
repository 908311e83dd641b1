"""Bessel functions of real argument and whole order, in float64."""

from __future__ import annotations

import math

from .. import _ops as ops
from ._elementary import full, horner, odd, rational, root_factor, where, whole
from ._gamma_kernels import gamma_positive, log_quotient
from ._kernel import backward, forward, forward_slope, kernel

# fmt: off
# e^-x I0(x) on [0, 8]
_I0 = (
    (1.0, 0.06710005613148315, 0.2305340631058199, 0.015158316116039088, 0.010952176198777976,
     0.0006653751336530053, 0.0001770516924083665, 8.941264417220042e-06, 1.0543855048356348e-06,
     3.49971080546882e-08, 1.6811671861950471e-09, 8.24264282277728e-12),
    (1.0, 1.0671000561314832, 0.5476341192373047, 0.17913405992137652, 0.041694003413777166,
     0.007291268888997851, 0.0009842311878268447, 0.0001034261648346358, 8.381915663985768e-06,
     5.062376229653769e-07, 2.0936940682032463e-08, 4.633062002315357e-10))
# e^-x I1(x)/x on [0, 8]
_I1 = (
    (0.5, 0.037459054872064, 0.052244544383631006, 0.0037002527891022603, 0.0014273675731042886,
     8.627913520016732e-05, 1.3345053272485517e-05, 5.503972528428107e-07, 3.4509739540938575e-08,
     2.4505044417034753e-10, -2.767947025582387e-13),
    (1.0, 1.0749181097441247, 0.5544071985114829, 0.1816505521651783, 0.0421435702570857,
     0.007292464711762267, 0.0009629613715103542, 9.71308024900325e-05, 7.301553508520379e-06,
     3.806124538018441e-07, 1.1110137367191338e-08))
# √x e^-x I(x) beyond, in v = 16/x - 1
_I0_FAR = (
    0.4021765094450081, 0.0033605519836678844, 0.00013621607439240856, 1.1143033788559087e-05,
    1.4838475391383468e-06, 2.9735993216471474e-07, 8.872278303607728e-08, 3.9324793517123454e-08,
    2.1541699603632043e-08, 7.563107589679047e-09, -6.7023325619894366e-09,
    -1.3450608319883882e-08, -5.6022211783247e-09, 7.687473295440412e-09, 8.006764881281122e-09,
    -3.799241020140616e-09, -7.1046429701883025e-09, 1.9518431205146255e-09,
    5.2159872385826355e-09, -9.961827005971165e-10, -3.0791787996480336e-09,
    4.1991218209463363e-10, 1.3291938884143105e-09, -1.1746991110551324e-10,
    -3.6353603909526465e-10, 1.556423962829591e-11, 4.655655751294525e-11)
_I1_FAR = (
    0.38939845902587233, -0.009749577193235758, -0.00021923576383438729, -1.5038547198351201e-05,
    -1.8349101048965518e-06, -3.483856445811428e-07, -1.000134929730233e-07,
    -4.312819645562664e-08, -2.336697227282623e-08, -8.435630024967513e-09, 6.687257309165881e-09,
    1.4073201407347145e-08, 6.180080050252965e-09, -7.768471997806944e-09, -8.488549054437278e-09,
    3.7003762012994875e-09, 7.441519822394391e-09, -1.842354234931444e-09, -5.438072168110142e-09,
    9.265252428334351e-10, 3.2055586346236238e-09, -3.8986710944632543e-10,
    -1.3834389708637022e-09, 1.0940884042721056e-10, 3.784510012514866e-10,
    -1.4553819054184817e-11, -4.848238653363404e-11)
# K0(x) + log(x) I0(x) in x² on [0, 1]
_K0 = (
    (0.11593151565841245, 0.2764832791273692, 0.019260628838368123, 0.0003660777840984841,
     2.094942419086247e-06),
    (1.0, -0.021561003261605656, 0.00023159939092345588, -1.5294445517698054e-06, 5.524989015230045e-09))
# x (K1(x) - log(x) I1(x)) in x² on [0, 1]
_K1 = (
    (1.0, -0.3334813499918782, -0.07718052353971558, -0.002568969739726679, -2.1595823881210686e-05),
    (1.0, -0.02551559216267193, 0.0003322675120970722, -2.744424320995043e-06, 1.2932209826854373e-08))
# √x e^x K(x) in 1/x on [0, 1]
_K0_FAR = (
    (1.2533141373155001, 18.652703342350893, 102.28948634068682, 263.2066996096257, 335.66370904025956,
     206.3627401035838, 54.918494367436274, 4.906781969646014, 0.06829742026821312),
    (1.0, 15.007704014097754, 83.42085238545837, 219.45418146497067, 290.3741800677237,
     190.1739318372666, 56.72679647802176, 6.370651529044629, 0.16639613854339463))
_K1_FAR = (
    (1.2533141373155003, 18.405110933218083, 100.58375767347253, 262.85784270934266, 352.3468618507885,
     241.79363007859834, 79.70491360186428, 10.699689585636756, 0.37711091505536143),
    (1.0, 14.310153853478768, 75.00510712013582, 183.17773130682647, 219.90697861828212,
     126.01935998733856, 30.84533859596512, 2.4718540206979114, 0.027560339129705073))
# J0(x)/(x² - z²) in v = x²/8 - 1 on [0, 4], and in v = (x² - 40)/24 on [4, 8]; z is the zero there
_J0_LOW = (
    (-0.08866241912277732, 0.05508973772184986, -0.010556147258876734, 0.0008634299851787479,
     -3.227168074861797e-05, 4.6613791306763057e-07),
    (1.0, 0.10794139374671646, 0.005701848307010046, 0.00018805807304181403, 3.971158507458726e-06,
     4.4324636880070724e-08))
_J0_HIGH = (
    (0.024016173691452314, -0.014123582115884319, -0.00854359012056243, 0.006667988035833484,
     -0.0015496519710827149, 0.00016719407219637048, -8.758505783809713e-06,
     1.8328393721828296e-07),
    (1.0, 0.25803131448246264, 0.03324180777545417, 0.0028046626001332676, 0.00016971353280994646,
     7.488451028682373e-06, 2.2764242024271148e-07, 3.771664728078622e-09))
# J1(x)/(x (x² - z²)), likewise
_J1_LOW = (
    (-0.021174890016472454, 0.008468414708814067, -0.0011714405517145986, 7.394682825223433e-05,
     -2.2292746940312944e-06, 2.680634491760691e-08),
    (1.0, 0.09738655108438285, 0.0045981657741840124, 0.00013407243638697473, 2.4701784543361468e-06,
     2.367484070629634e-08))
_J1_HIGH = (
    (0.003460082100149452, 0.00030777956260273035, -0.0018807551068597773, 0.000743849738348183,
     -0.00012481131709220886, 1.0656732997171487e-05, -4.624787208569523e-07,
     8.254881219252665e-09),
    (1.0, 0.23784332263687524, 0.028071989349303574, 0.0021545852940541574, 0.00011761561258315871,
     4.634830975161505e-06, 1.2427277138575565e-07, 1.7872728602704098e-09))
# (Y0(x) - (2/π) log(x/z) J0(x))/(x² - z²) on [0, 3], [3, 5.5] and [5.5, 8], in v = (x² - middle)/half
_Y0_A = (
    (0.11731068956802439, -0.04782675727532366, 0.005711525242150459, -0.0002838204107408905,
     6.3466180498190115e-06, -5.428766801915269e-08),
    (1.0, 0.062287232361543696, 0.001903530805264373, 3.643346276158221e-05, 4.48126575648351e-07,
     2.9270430093018375e-09))
_Y0_B = (
    (-0.03758204840401605, 0.009339677741901182, 0.0025252368202286785, -0.0008244174828524606,
     7.726012068662927e-05, -3.0560351097189974e-06, 4.521916119466888e-08),
    (1.0, 0.13287852503626668, 0.008800803366181149, 0.0003781552794126451, 1.1347360212751713e-05,
     2.3136152992981715e-07, 2.592081808953157e-09))
_Y0_C = (
    (0.019735159455870212, 0.002533643042172615, -0.003445074135536158, 0.00019923079989367696,
     7.166396651480975e-05, -9.004830219646457e-06, 2.955449710080256e-07),
    (1.0, 0.2242014976437067, 0.025344134115328078, 0.0018875456524048019, 0.00010044296101317309,
     3.7595225627573017e-06, 8.369164924588606e-08))
# x (Y1(x) - (2/π) log(x/z) J1(x))/(x² - z²) on [0, 4] and [4, 8]
_Y1_LOW = (
    (0.18612623508607282, 0.016922118805408715, -0.04196638529062283, 0.008168651211574177,
     -0.0006056438245789742, 1.9761898195105182e-05, -2.430086973121019e-07),
    (1.0, 0.10743241023336987, 0.005775578025815044, 0.00020225369191050228, 4.9656719604832066e-06,
     8.310316934666784e-08, 7.647764526824313e-10))
_Y1_HIGH = (
    (-0.1365849336422602, 0.0191596574362018, 0.06474929316900947, -0.011561790049335857,
     -0.004225084552812159, 0.0012786427200167222, -0.00011581154371335916, 3.571705225556971e-06),
    (1.0, 0.2956661716737445, 0.04421181298281734, 0.004397756234731266, 0.0003198851788321789,
     1.739888956231016e-05, 6.74938106432642e-07, 1.5061189697223477e-08))
# modulus and phase for x >= 8: P in 1/x², and x Q
_P0 = (
    (1.0, 116.08915912899995, 3802.0484303887447, 39984.45803504104, 112993.54762297132,
     41823.50440351398),
    (1.0, 116.15947162899994, 3810.103741138102, 40239.90092705609, 115456.03199479397,
     47014.24394961819))
_Q0 = (
    (-0.125, -16.658031964562007, -640.8684560776592, -8173.6076910191505, -29166.634906313095,
     -13201.27453995491),
    (1.0, 133.85019321649537, 5203.558632197849, 68208.45588147485, 265499.82458384824,
     187476.44477744878))
_P1 = (
    (1.0, 113.95189647895309, 3641.2800705386744, 37034.747713903496, 100339.78616194715,
     38220.963655412466),
    (1.0, 113.83470897895312, 3628.084261136784, 36625.319456270736, 96500.77430353555,
     30400.808526560137))
_Q1 = (
    (0.375, 49.24463388859589, 1860.8104849044269, 23243.290570981906, 81641.51416274448,
     40388.79417117033),
    (1.0, 131.59246120292212, 4997.403402832143, 63256.49651818535, 231935.19950748203,
     142914.98442909692))
# fmt: on
_J0_ZEROS = (2.404825557695773, -1.176691651530894e-16), (5.520078110286311, 8.088597146146722e-17)
_J1_ZEROS = (
    (3.8317059702075125, -1.5269184090088067e-16),
    (7.015586669815619, -9.414165653410389e-17),
)
_Y0_ZEROS = (
    (0.8935769662791675, 2.6596231539720385e-17), (3.957678419314858, -1.0764340697562706e-16),
    (7.086051060301773, -8.835285723085408e-17),
)  # fmt: skip
_Y1_ZEROS = (2.197141326031017, -4.8259835876454966e-17), (5.429681040794135, 4.162514026670377e-16)

# Modified: I and K


def _is_zero(x):
    return x == 0.0


def _i_far(x, table):
    return horner(16.0 / x - 1.0, table) / ops.sqrt(x)


def i0e_f(x):
    x = ops.abs(x)
    near = x < 8.0
    return where(near, rational(where(near, x, 0.0), _I0), _i_far(where(near, 8.0, x), _I0_FAR))


def _i1e_parts(x):
    """(|x| < 8, e^-|x| I1(x)/x there, e^-|x| I1(|x|) elsewhere)."""
    x = ops.abs(x)
    near = x < 8.0
    return near, rational(where(near, x, 0.0), _I1), _i_far(where(near, 8.0, x), _I1_FAR)


def _i1e_over_x(x):
    near, inner, outer = _i1e_parts(x)
    return where(near, inner, outer / where(near, 8.0, ops.abs(x)))


def i1e_f(x):
    near, inner, outer = _i1e_parts(x)
    return where(near, x * inner, ops.sign(x) * outer)


def _grown(value, x):
    """value e^|x|, also where e^|x| alone would overflow."""
    half = ops.exp(0.5 * ops.abs(x))
    infinite = ops.abs(x) == math.inf
    return where(infinite, math.inf, value * half * half)


def i0_f(x):
    return _grown(i0e_f(x), x)


def i1_f(x):
    return ops.sign(x) * _grown(ops.abs(i1e_f(x)), x)


def _k_far(x, pair):
    """√x e^x K(x) for x >= 1."""
    return rational(1.0 / x, pair)


def _k_parts(x, order: int):
    """(x < 1, K(x) there, √x e^x K(x) elsewhere) for x > 0."""
    near = x < 1.0
    z = where(near, x, 0.5)
    if order == 0:
        value = rational(z * z, _K0) - ops.log(z) * rational(z, _I0) * ops.exp(z)
    else:
        value = rational(z * z, _K1) / z + ops.log(z) * z * rational(z, _I1) * ops.exp(z)
    return near, value, _k_far(where(near, 1.0, x), (_K0_FAR, _K1_FAR)[order])


def _k(order: int, scaled: bool, from_: float = math.inf):
    """K, times e^x where it is scaled: everywhere, or from some x on."""

    def f(x):
        near, value, far = _k_parts(where(x > 0.0, x, 1.0), order)
        z = where(near, 1.0, where(x > 0.0, x, 1.0))
        if scaled:
            value, far = value * ops.exp(where(near, x, 0.0)), far / ops.sqrt(z)
        else:
            far = ops.exp(-where(z > from_, 0.0, z)) * far / ops.sqrt(z)
        far = where(z == math.inf, 0.0, far)
        return where(x > 0.0, where(near, value, far), where(_is_zero(x), math.inf, math.nan))

    return f


# Oscillating: J and Y


def _two(x, cut, low, high):
    """One of two fits in shifted x², by where x lies."""
    s = x * x
    left = x < cut
    v = where(left, 0.125 * s - 1.0, 0.0)
    w = where(left, 0.0, (s - 40.0) * (1.0 / 24.0))
    return where(left, rational(v, low), rational(w, high))


def _factored(x, cut, zeros, fits):
    """A function of x² that vanishes at two known places, from fits of what is left of it."""
    (r1, d1), (r2, d2) = zeros
    slope = _two(x, cut, *fits)
    return where(
        x < cut, root_factor(x, r1, d1, (x + r1) * slope), root_factor(x, r2, d2, (x + r2) * slope)
    )


def _waves(x, order: int):
    """(√(πx) J, √(πx) Y) for x >= 8."""
    w = 1.0 / (x * x)
    p = rational(w, (_P0, _P1)[order])
    q = rational(w, (_Q0, _Q1)[order]) / x
    sin, cos = ops.sin(x), ops.cos(x)
    plus, minus = sin + cos, sin - cos
    if order == 0:
        return p * plus - q * minus, p * minus + q * plus
    return p * minus + q * plus, q * minus - p * plus


def _far_wave(x, order: int, which: int):
    z = where(x < math.inf, x, 8.0)
    size = math.sqrt(math.pi) * ops.sqrt(z)  # where πz overflows, this does not
    return where(x == math.inf, 0.0, _waves(z, order)[which] / size)


def j0_f(x):
    x = ops.abs(x)
    near = x < 8.0
    inner = _factored(where(near, x, 1.0), 4.0, _J0_ZEROS, (_J0_LOW, _J0_HIGH))
    return where(near, inner, _far_wave(where(near, 8.0, x), 0, 0))


def _j1_over_x(x):
    """J1(x)/x for 0 <= x < 8."""
    return _factored(x, 4.0, _J1_ZEROS, (_J1_LOW, _J1_HIGH))


def j1_f(x):
    size = ops.abs(x)
    near = size < 8.0
    outer = ops.sign(x) * _far_wave(where(near, 8.0, size), 1, 0)
    return where(near, x * _j1_over_x(where(near, size, 1.0)), outer)


def _log_from(x, zero):
    """log(x/z) for a z known to twice the precision."""
    return log_quotient(x, full(x, zero[0])) - zero[1] / zero[0]


def _y_inner(x, cuts, zeros, fits, regular, power):
    """(2/π) log(x/z) J + (x² - z²) R x^power, with the zero and the fit of the interval of x."""
    value = None
    for cut, zero, (middle, half, pair) in zip(cuts, zeros, fits, strict=True):
        smooth = rational((x * x - middle) * (1.0 / half), pair)
        smooth = root_factor(x, *zero, (x + zero[0]) * smooth)
        piece = (2.0 / math.pi) * _log_from(x, zero) * regular + (smooth / x if power else smooth)
        value = piece if value is None else where(x < cut, value, piece)
    return value


def _y(order: int, cuts, zeros, fits):
    def f(x):
        near = x < 8.0
        z = where(ops.and_(near, x > 0.0), x, 1.0)
        regular = j1_f(z) if order else j0_f(z)
        inner = _y_inner(z, cuts, zeros, fits, regular, order)
        outer = _far_wave(where(near, 8.0, x), order, 1)
        value = where(near, inner, where(x < math.inf, outer, 0.0))
        return where(x > 0.0, value, where(_is_zero(x), -math.inf, math.nan))

    return f


y0_f = _y(
    0,
    (0.0, 3.0, 5.5),
    _Y0_ZEROS,
    ((4.5, 4.5, _Y0_A), (19.625, 10.625, _Y0_B), (47.125, 16.875, _Y0_C)),
)
y1_f = _y(1, (0.0, 4.0), _Y1_ZEROS, ((8.0, 8.0, _Y1_LOW), (40.0, 24.0, _Y1_HIGH)))


# Any whole order


def _upward(n, x, first, second, sign: float):
    """Order n from orders 0 and 1 by f_{k+1} = (2k/x) f_k + sign f_{k-1}."""

    def step(k, before, now):
        new = (2.0 * (k + 1.0) / x) * now + sign * before
        # once infinite, always infinite: the difference of two infinities would be NaN
        return now, where((ops.abs(now) == math.inf), now, new)

    before, now = forward(step, (first, second), ops.max(n - 1.0, full(n, 0.0)))
    return where(n < 1.0, before, now)


def _downward(n, x):
    """(J_n/J_0, J_n/J_1) c for one c, and both denominators, by Miller's algorithm, for 0 < x <= n."""
    start = n + 20.0 + 16.0 * ops.cbrt(n)

    def step(k, after, now, found):
        new = (2.0 * k / x) * now - after
        shrink = where(ops.abs(new) > 1e200, 1e-200, 1.0)
        found = where(n == k - 1.0, new, found) * shrink
        return now * shrink, new * shrink, found

    zero = full(x, 0.0)
    return backward(step, (zero, full(x, 1e-280), zero), start)


_MOST = 1e6  # as many steps as an order may take


def _order(n):
    """(whether n is an order, |n|, or 0 where it is not)."""
    valid = ops.and_(whole(n), ops.abs(n) <= _MOST)
    return valid, where(valid, ops.abs(n), 0.0)


def jn_f(n, x):
    valid, order = _order(n)
    size = ops.abs(x)
    tiny = size < 1e-4
    inner = ops.and_(ops.not_(tiny), size <= order)
    outer = ops.not_(ops.or_(tiny, inner))
    at_0, at_1 = j0_f(size), j1_f(size)
    up = _upward(where(outer, order, 0.0), where(outer, size, 1.0), at_0, at_1, -1.0)
    one, zero, found = _downward(where(inner, order, 0.0), where(inner, size, 1.0))
    by_zero = ops.abs(at_0) > ops.abs(at_1)
    down = found * where(by_zero, at_0 / zero, at_1 / one)
    half = where(tiny, 0.5 * size, 0.0)
    series = (
        ops.pow(half, order) / gamma_positive(order + 1.0) * (1.0 - half * half / (order + 1.0))
    )
    value = where(
        tiny, series, where(order > 1.0, where(inner, down, up), where(order > 0.0, at_1, at_0))
    )
    flips = ops.ne(x < 0.0, n < 0.0)
    value = where(ops.and_(odd(order), flips), -value, value)
    return where(valid, value, math.nan)


def yn_f(n, x):
    valid, order = _order(n)
    value = _upward(order, where(x > 0.0, x, 1.0), y0_f(x), y1_f(x), -1.0)
    value = where(x > 0.0, value, y0_f(x))
    value = where(ops.and_(n < 0.0, odd(order)), -value, value)
    return where(valid, value, math.nan)


_FAR = 500.0


def kn_f(n, x):
    valid, order = _order(n)
    first, second = (
        _k(m, False, _FAR)(x) for m in (0, 1)
    )  # K_0 vanishes before orders above it do
    value = _upward(order, where(x > 0.0, x, 1.0), first, second, 1.0)
    half = ops.exp(-0.5 * where(x > _FAR, x, 0.0))
    value = where(ops.abs(value) == math.inf, value, value * half * half)
    return where(valid, where(x > 0.0, value, where(_is_zero(x), math.inf, math.nan)), math.nan)


# Slopes


def _slope_by_parts(near_limit: float, near, f):
    """A slope by the recurrence near 0, and farther out, where that cancels, by forward mode."""

    def slope(_, x):
        is_near = ops.abs(x) < near_limit
        return where(
            is_near,
            near(where(is_near, x, 1.0)),
            forward_slope(f, where(is_near, 2.0 * near_limit, x)),
        )

    return slope


def _j1_slope(_, x):
    size = ops.abs(x)
    near = size < 8.0
    ratio = where(near, _j1_over_x(where(near, size, 1.0)), j1(x) / where(near, 1.0, x))
    return j0(x) - ratio


def _i1_slope(_, x):
    least, ratio = i0(x), _grown(_i1e_over_x(x), x)
    return least - where(least == math.inf, 0.0, ratio)


def _y1_slope(y, x):
    zero = _is_zero(x)  # there infinities of two signs would meet
    return where(zero, math.inf, where(zero, 0.0, y0(x)) - y / x)


# fmt: off
i0e = kernel("special.i0e", i0e_f, _slope_by_parts(4.0, lambda x: i1e(x) - ops.sign(x) * i0e(x), i0e_f))
i1e = kernel("special.i1e", i1e_f,
    _slope_by_parts(4.0, lambda x: i0e(x) - _i1e_over_x(x) - ops.sign(x) * i1e(x), i1e_f))
i0 = kernel("special.i0", i0_f, lambda _, x: i1(x))
i1 = kernel("special.i1", i1_f, _i1_slope)
k0 = kernel("special.k0", _k(0, False), lambda _, x: -k1(x))
k1 = kernel("special.k1", _k(1, False), lambda y, x: -(k0(x) + y / x))
k0e = kernel("special.k0e", _k(0, True), _slope_by_parts(2.0, lambda x: k0e(x) - k1e(x), _k(0, True)))
k1e = kernel("special.k1e", _k(1, True), _slope_by_parts(2.0, lambda x: k1e(x) - k0e(x) - k1e(x) / x, _k(1, True)))
# fmt: on
j0 = kernel("special.j0", j0_f, lambda _, x: -j1(x))
j1 = kernel("special.j1", j1_f, _j1_slope)
y0 = kernel("special.y0", y0_f, lambda _, x: -y1(x))
y1 = kernel("special.y1", y1_f, _y1_slope)
jn = kernel("special.jn", jn_f, None, lambda _, n, x: 0.5 * (jn(n - 1.0, x) - jn(n + 1.0, x)))
yn = kernel("special.yn", yn_f, None, lambda _, n, x: 0.5 * (yn(n - 1.0, x) - yn(n + 1.0, x)))
kn = kernel("special.kn", kn_f, None, lambda _, n, x: -0.5 * (kn(n - 1.0, x) + kn(n + 1.0, x)))
