"""The error function's family, the normal distribution, and Dawson's and Fresnel's integrals."""

from __future__ import annotations

import math

from .. import _ops as ops
from ._elementary import exp_square, full, halves, horner, log1p, odd, rational, where
from ._kernel import forward_slope, kernel

# fmt: off
# (1 + 2x) erfcx(x) for x >= 1/2, in v = ((x - 2)/(x + 2) - 1/5) 5/4
_ERFCX = (
    (1.2530080582697296, -0.65109245566249, 0.780624363501266, -0.10685944958236869,
     0.07232255156123672, 0.045156270405451046, -0.013288366503353048, 0.00879213748922446,
     -0.0014747421620195378, 0.0002824024503996562, -1.4688219245154489e-05),
    (1.0, -0.4294265018282187, 0.625660183506333, -0.0952095143530084, 0.11447440363312353,
     0.0033192561698097305, 0.009184993065852552, 0.0012161841987865748,
     0.0003418842570407765, 3.743256514376589e-05, 2.616136002609709e-06))
# erfinv(x)/x in x² on [0, 1/4]
_ERFINV = (
    (0.886226925452758, -2.1283376047042344, 1.7925253281505578, -0.6198657481127238,
     0.07629273320544518, -0.0016215363099984022),
    (1.0, -2.6633712014933715, 2.5759854559597484, -1.0881550044942367, 0.18701479166346802,
     -0.00889993928028413))
# erfcinv(exp(-r²))/r on [0.83, 3] and [3, 27]
_TAIL_NEAR = (
    (8.14240822109222e-05, 0.8849511110630351, 2.5711627934891284, 5.60591290745201,
     7.575852117862373, 7.1707012353536586, 4.903675692554603, 1.0908347144304227,
     0.05411486550599459),
    (1.0, 2.890664383116664, 6.873769963668941, 9.843182976047768, 11.436616887105787,
     8.675931986182702, 5.026922295562265, 1.091419499796794, 0.054110424274798195))
_TAIL_FAR = (
    (0.010858051504127431, 0.812341919512633, 2.077070707049637, 2.6854648581061653,
     3.269499567928368, 1.3321498473434645, 0.1945801798509338, 0.010838099814400192,
     0.000216383052307478, 1.1597548820041696e-06),
    (1.0, 2.07540074120981, 4.055759264194231, 4.070838166872523, 3.5610770433719545,
     1.3535755033033112, 0.1951279060153578, 0.010841988174377802, 0.00021638460258658818,
     1.1597532800033869e-06))
# D(x)/x in x² on [0, 12.5], and x² (2x D(x) - 1) in 1/x² on [1/36, 1/12.5] and [0, 1/36]
_DAWSON = (
    (1.0, -0.10953160749210572, 0.04426538037480964, -0.0016306966015773082,
     0.0003826969818567598, -3.283992318035302e-06, 1.0184641340262512e-06,
     5.1538500744818135e-09, 8.172670094231993e-10, 4.710904780103452e-12,
     1.921099524374911e-14),
    (1.0, 0.5571350591745599, 0.14902208649120005, 0.025338488136370112,
     0.003052967871882284, 0.00027459001590197615, 1.8865720956371134e-05,
     9.912838995722322e-07, 3.887726128797721e-08, 1.059552829886048e-09,
     1.6241884476231436e-11))
_DAWSON_MIDDLE = (
    (0.547259345263275, 0.5189619971644426, 0.516995221887056, 0.21994360030422472,
     0.1191980301219059, 0.024055107805648977, 0.010951151030859193, 0.0006160086157518289,
     0.00045817053426385276, -5.437541089691846e-06, 3.4229266942724506e-06),
    (1.0, 0.8986325919866404, 0.8950063180737715, 0.3519331917858373, 0.19467173077699726,
     0.03138869533056137, 0.016921766011106787, -0.00011131420721951085,
     0.0007205092285707835, -5.0579903780856684e-05, 7.660203323902673e-06))
_DAWSON_FAR = (
    0.5107971299269338, 0.011197659848835246, 0.00042200237740638353, 2.300282514472214e-05,
    1.6684752364534578e-06, 1.5339783792413113e-07, 1.7325829090342335e-08,
    2.353489774496984e-09, 3.788444436098036e-10, 7.170210781654907e-11, 1.588199497970618e-11,
    3.7994745238409434e-12, 9.770227398388166e-13, 6.080822581513149e-13,
    3.892174509234488e-13, 5.475407681840134e-14, -2.6355033779399638e-14)
# Fresnel: S/x³ and C/x in x⁴ up to 1.6, then π x f and π² x³ g in 1/x⁴
_FRESNEL_S = (
    (0.5235987755982989, -0.07387448129697909, 0.004320404284577653, -0.00011025003058199929,
     1.30041817737257e-06, -5.883090246457845e-09),
    (1.0, 0.03515306933257104, 0.0006103259029883516, 6.706933049575404e-06,
     4.823168501308945e-08, 1.907323730158122e-10))
_FRESNEL_C = (
    (1.0, -0.2133651876240311, 0.020508820610701316, -0.0007958378411347547,
     1.4787867133335043e-05, -1.3072848797186972e-07, 4.514438664652863e-10),
    (1.0, 0.03337492240320288, 0.0005582517587237687, 6.099490183047818e-06,
     4.696688082025805e-08, 2.490082633728868e-10, 7.414416996712547e-13))
_FRESNEL_F = (
    (1.0, 363.54980303092407, 47775.105644790565, 2946951.0942321685, 92878770.58816677,
     1528391058.3531346, 12897425483.248014, 52651401377.04199, 92273632805.31184,
     54026587005.75527, 5215002169.340308),
    (1.0, 363.85376658185106, 47884.6259995625, 2961124.8794511305, 93730948.96819957,
     1554136983.420531, 13292780674.317589, 55631179276.18953, 102358592337.8683,
     66756160417.442, 9012395946.006432))
_FRESNEL_G = (
    (1.0, 407.2714321610102, 60187.78977851088, 4189430.885942149, 149388301.96615103,
     2784537765.28462, 26574172338.452164, 121857900072.65074, 235516211027.1106,
     144063845123.80774, 10553037948.706432),
    (1.0, 408.79124991564424, 60799.37662484652, 4278009.59190452, 155354089.59493327,
     2986353488.561582, 30037731560.713036, 150945172231.4923, 344883981969.1522,
     297450132462.63934, 62142819908.97776))
# fmt: on

_ROOT_HALF = 0.7071067811865476
_TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)


def erfcx_right(x):
    """erfcx(x) for x >= 1/2."""
    v = (x - 2.0) / (x + 2.0) * 1.25 - 0.25
    v = where(x == math.inf, 1.0, v)
    return rational(v, _ERFCX) * 0.5 / (0.5 + x)


def erfcx_f(x):
    size = ops.abs(x)
    right = erfcx_right(ops.max(size, full(x, 0.5)))
    near = size < 0.5
    small = where(near, x, 0.0)
    small = exp_square(small, 1.0) * (1.0 - ops.erf(small))
    left = where(x < -27.0, math.inf, 2.0 * exp_square(x, 1.0) - right)
    return where(near, small, where(x < 0.0, left, right))


def erfc_f(x):
    far = x > 0.5
    tail = exp_square(where(far, x, 1.0), -1.0) * erfcx_right(where(far, x, 1.0))
    return where(far, tail, 1.0 - ops.erf(x))


def ndtr_f(x):
    y = x * _ROOT_HALF
    size = ops.abs(y)
    far = size > 0.5
    tail = 0.5 * exp_square(x, -0.5) * erfcx_right(where(far, size, 1.0))
    return where(far, where(x > 0.0, 1.0 - tail, tail), 0.5 + 0.5 * ops.erf(y))


def log_ndtr_f(x):
    far = x < -1.0
    y = where(far, -x * _ROOT_HALF, 1.0)
    tail = ops.log(0.5 * erfcx_right(y)) - 0.5 * x * x
    z = where(far, 0.0, x)
    right = z > 0.0
    upper = ndtr_f(-ops.abs(z))
    body = where(right, log1p(-upper), ops.log(upper))
    return where(far, tail, body)


def erfcinv_small(p):
    """erfcinv(p) for 0 < p <= 1/2."""
    r = ops.sqrt(-ops.log(p))
    near = r < 3.0
    return r * where(
        near, rational(where(near, r, 1.0), _TAIL_NEAR), rational(where(near, 4.0, r), _TAIL_FAR)
    )


def erfinv_f(x):
    size = ops.abs(x)
    middle = size <= 0.5
    z = where(middle, x, 0.0)
    p = where(middle, 0.25, 1.0 - size)
    tail = erfcinv_small(where(p > 0.0, p, 0.25)) * ops.sign(x)
    value = where(middle, x * rational(z * z, _ERFINV), tail)
    value = where(p == 0.0, math.inf * ops.sign(x), value)
    return where(size > 1.0, math.nan, value)


def erfcinv_f(p):
    low, high = p < 0.5, p > 1.5
    z = where(ops.or_(low, high), 0.0, 1.0 - p)
    q = where(low, p, where(high, 2.0 - p, 0.25))
    tail = erfcinv_small(where(q > 0.0, q, 0.25))
    tail = where(q == 0.0, math.inf, tail)
    value = where(low, tail, where(high, -tail, z * rational(z * z, _ERFINV)))
    return where(ops.or_(p < 0.0, p > 2.0), math.nan, value)


def ndtri_f(p):
    return -math.sqrt(2.0) * erfcinv_f(2.0 * p)


def _dawson_excess(x):
    """2x D(x) - 1, positive and about 1/(2x²), for x² >= 12.5."""
    w = 1.0 / (x * x)
    middle = w > 1.0 / 36.0
    v = where(middle, 38.297872340425535 * (w - 0.05388888888888889), 0.0)
    u = where(middle, 0.0, 72.0 * w - 1.0)
    return w * where(middle, rational(v, _DAWSON_MIDDLE), horner(u, _DAWSON_FAR))


def dawsn_f(x):
    near = ops.abs(x) <= 3.5
    z = where(near, x, 0.0)
    inner = z * rational(z * z, _DAWSON)
    z = where(near, 4.0, x)
    return where(near, inner, 0.5 * (1.0 + _dawson_excess(z)) / z)


def _dawson_slope(y, x):
    near = ops.abs(x) <= 3.5
    z = where(near, x, 0.0)
    inner = 1.0 - 2.0 * z * dawsn(z)
    end = ops.abs(x) == math.inf
    outer = -_dawson_excess(where(ops.or_(near, end), 4.0, x))
    return where(near, inner, where(end, 0.0, outer))


def erfi_f(x):
    value = _TWO_OVER_ROOT_PI * exp_square(x, 1.0) * dawsn_f(x)
    return where(ops.abs(x) < 27.0, value, ops.sign(x) * math.inf)


# Fresnel


def _quarter_turns(x):
    """sin and cos of πx²/2. x² is reduced modulo 4 in parts, for it may have many more bits than x."""
    x = ops.min(ops.abs(x), full(x, 1e100))
    h, r = halves(x)
    first, second = h * h, 2.0 * h * r
    first = first - 4.0 * ops.round_even(first * 0.25)
    second = second - 4.0 * ops.round_even(second * 0.25)
    last = r * r
    last = last - 4.0 * ops.round_even(last * 0.25)
    turns = ops.round_even(first + second + last)
    angle = (0.5 * math.pi) * ((first - turns) + (second + last))
    sin, cos = ops.sin(angle), ops.cos(angle)
    swapped, back = odd(turns), odd(ops.floor(0.5 * turns))
    sin, cos = where(swapped, cos, sin), where(swapped, -sin, cos)
    return where(back, -sin, sin), where(back, -cos, cos)


def _fresnel(x):
    size = ops.abs(x)
    near = size < 1.6
    t = ops.pow(where(near, size, 0.0), full(x, 4.0))
    big = where(near, 2.0, size)
    w = 1.0 / (big * big * big * big)
    f = rational(w, _FRESNEL_F) / (math.pi * big)
    g = rational(w, _FRESNEL_G) / (math.pi * math.pi * big * big * big)
    return near, t, f, g, *_quarter_turns(big)


def fresnel_s_f(x):
    near, t, f, g, sin, cos = _fresnel(x)
    far = ops.sign(x) * (0.5 - (f * cos + g * sin))
    return where(near, x * x * x * rational(t, _FRESNEL_S), far)


def fresnel_c_f(x):
    near, t, f, g, sin, cos = _fresnel(x)
    far = ops.sign(x) * (0.5 + (f * sin - g * cos))
    return where(near, x * rational(t, _FRESNEL_C), far)


# Slopes


def _erfcx_slope(y, x):
    near = x < 1.5
    far = forward_slope(erfcx_right, where(near, 2.0, x))
    return where(near, 2.0 * x * erfcx(x) - _TWO_OVER_ROOT_PI, far)


def _exp_square_of_inverse(y, p):
    """exp(y²) for erfc(y) = p, without squaring the rounded y."""
    return where(p == 0.0, math.inf, erfcx(y) / p)


def _erfinv_slope(_, x):
    middle, size = ops.abs(x) <= 0.5, ops.abs(x)
    y = erfinv(x)
    tail = _exp_square_of_inverse(ops.abs(y), 1.0 - where(middle, 0.5, size))
    return where(middle, ops.exp(y * y), tail) / _TWO_OVER_ROOT_PI


def _erfcinv_slope(_, p):
    low, high = p < 0.5, p > 1.5
    y = erfcinv(p)
    q = where(low, p, where(high, 2.0 - p, 0.5))
    tail = _exp_square_of_inverse(ops.abs(y), q)
    return where(ops.or_(low, high), tail, ops.exp(y * y)) / -_TWO_OVER_ROOT_PI


def _mills(_, x):
    """φ(x)/Φ(x), the derivative of log Φ."""
    far, end = x < -1.0, x < -1e4
    tail = math.sqrt(2.0 / math.pi) / erfcx(
        where(ops.and_(far, ops.not_(end)), -x * _ROOT_HALF, 1.0)
    )
    # two terms of its series, whose slope at infinity is -1 and not a quotient of zeros
    t = where(end, -x, 1.0)
    tail = where(end, t + 1.0 / t, tail)
    z = where(far, 0.0, x)
    return where(far, tail, half_gauss(z) / (math.sqrt(2.0 * math.pi) * ndtr(z)))


erf = kernel("special.erf", ops.erf, lambda _, x: _TWO_OVER_ROOT_PI * gauss(x), narrow=True)
erfcx = kernel("special.erfcx", erfcx_f, _erfcx_slope, narrow=True)
erfc = kernel("special.erfc", erfc_f, lambda _, x: -_TWO_OVER_ROOT_PI * gauss(x), narrow=True)
# fmt: off
gauss = kernel("special.gauss", lambda x: exp_square(x, -1.0),
    lambda y, x: -2.0 * where(y == 0.0, 0.0, x) * gauss(x), narrow=True)
half_gauss = kernel("special.half_gauss", lambda x: exp_square(x, -0.5),
    lambda y, x: -where(y == 0.0, 0.0, x) * half_gauss(x), narrow=True)
_growing_gauss = kernel("special.growing_gauss", lambda x: exp_square(x, 1.0),
    lambda _, x: 2.0 * x * _growing_gauss(x), narrow=True)
erfinv = kernel("special.erfinv", erfinv_f, _erfinv_slope, narrow=True)
erfcinv = kernel("special.erfcinv", erfcinv_f, _erfcinv_slope, narrow=True)
ndtr = kernel("special.ndtr", ndtr_f, lambda _, x: half_gauss(x) / math.sqrt(2.0 * math.pi), narrow=True)
ndtri = kernel("special.ndtri", ndtri_f, lambda _, p: -math.sqrt(8.0) * _erfcinv_slope(None, 2.0 * p), narrow=True)
log_ndtr = kernel("special.log_ndtr", log_ndtr_f, _mills, narrow=True)
dawsn = kernel("special.dawsn", dawsn_f, _dawson_slope)
erfi = kernel("special.erfi", erfi_f, lambda _, x: _TWO_OVER_ROOT_PI * _growing_gauss(x))
fresnel_s = kernel("special.fresnel_s", fresnel_s_f, lambda _, x: fresnel_sin(x))
fresnel_c = kernel("special.fresnel_c", fresnel_c_f, lambda _, x: fresnel_cos(x))
fresnel_sin = kernel("special.fresnel_sin", lambda x: _quarter_turns(x)[0], lambda _, x: math.pi * x * fresnel_cos(x))
fresnel_cos = kernel("special.fresnel_cos", lambda x: _quarter_turns(x)[1],
    lambda _, x: -math.pi * x * fresnel_sin(x))
# fmt: on
