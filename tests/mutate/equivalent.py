"""Survivors that no test can kill: what the mistake changes cannot be seen. Each with the reason.

A row is (file, function, part of the text "before → after", reason); function and part may be "*".
"""

from __future__ import annotations

ACCELERATOR = "runs on an accelerator alone, whose tests are marked so"
FORM = "chooses between forms that give the same values; benchmarks tell them apart"
PROMISE = "a promise to the compiler, which code for the CPU makes no use of"
SYMMETRIC = "the operands may change places"
EMPTY = "fills an array that has no elements"
ALL_ALIKE = "all of them have as many"
DEFINED = "runs when operations are defined, before a mistake is made"
NOTHING_MORE = "joins or adds an array without elements"
MARGIN = "how much is left to rounding"
MORE = "a block more than is needed"

_OPS, _CPU = "xcore/_ops/", "xcore/_cpu/"
ROWS: tuple = (
    (_OPS + "factor.py", "_permuted", "*", ACCELERATOR),
    (_OPS + "factor.py", "_tridiagonal_gpu", "*", ACCELERATOR),
    (_OPS + "spectral.py", "_svd_gpu", "*", ACCELERATOR),
    (_OPS + "spectral.py", "_svd_gpu_qr", "*", ACCELERATOR),
    (_OPS + "factor.py", "_tridiagonal_lower", "_tridiagonal_gpu", ACCELERATOR),
    (_CPU + "order.py", "rows_by_kernel", "*", FORM),
    (_CPU + "dot.py", "_better_form", "*", FORM),
    (_CPU + "reduce.py", "extremum_with_nans", "_MANY_RESULTS", FORM),
    (_OPS + "spectral.py", "_svd_cpu", "m <= n", FORM),
    (_OPS + "conv.py", "_frames_by_band", "64 if piece", FORM),
    (_OPS + "cumulative.py", "_totals", "by_blocks if blocks", FORM),
    (_OPS + "slicing.py", "_gather_batch", "sorted=False", PROMISE),
    (_OPS + "slicing.py", "_scatter_batch", "sorted=False", PROMISE),
    (
        _OPS + "conv.py",
        "_frames",
        "block + taps - 1 → block + taps",
        "one element more, times zero",
    ),
    (
        "xcore/_control/implicit.py",
        "_slope_program",
        "zeros(t.strong())",
        "each equation has an unknown",
    ),
    (_CPU + "dot.py", "_in_form", "form == 'left' → ", FORM),
    (_CPU + "reduce.py", "position_in_rows.applies", "_LONG_ROW → ", FORM),
    (_CPU + "sort.py", "_partial_sort", "is_worth_it(ctx, x) and", FORM),
    (_CPU + "reduce.py", "extremum_with_nans", "if not large → ", FORM),
    (
        _OPS + "reduce.py",
        "_arg_reduction.lower",
        "ctx.full(scalars[1], 0)",
        "an element has the smaller number",
    ),
    (_OPS + "conv.py", "_frames_by_band", "piece <= 128 → piece <= 129", FORM),
    (_OPS + "factor.py", "_with_rows_at", "unique=True", PROMISE),
    (
        _OPS + "transcendental.py",
        "_pow_jvp_base",
        "const(y, 1) → const(y, 2)",
        "a stand-in that is not taken",
    ),
    (_OPS + "factor.py", "_order_values", "and t_pivots.shape[-1]", FORM),
    (_CPU + "fft.py", "_call_for_one_row", "lengths[0] % 2 → lengths[0]", FORM),
    (_OPS + "conv.py", "_by_taps", "0 in x.shape → 1 in x.shape", FORM),
    (_OPS + "collectives.py", "_rows", "groups[0]", ALL_ALIKE),
    (_OPS + "conv.py", "_frames_by_band", "min(taps, _PIECE)", FORM),
    (
        _OPS + "cumulative.py",
        "_totals",
        "is_floating",
        "whole numbers wrap in a wider dtype as in theirs",
    ),
    (
        _CPU + "dot.py",
        "in_better_form",
        "count == len(x_shape)",
        "m is 1 then, which keeps the form",
    ),
    (_CPU + "dot.py", "in_better_form", "y_transposed or other == leading → y_transposed", FORM),
    (_CPU + "dot.py", "_as_stored", "len(shape) == 2", FORM),
    (_OPS + "elementwise.py", "_select_batch", "not batched[0] and", "what is batched has an axis"),
    (
        _OPS + "elementwise.py",
        "_select_batch",
        "typeof(x).ndim - typeof(which).ndim",
        "asked for being 0 only",
    ),
    (
        _OPS + "elementwise.py",
        "_convert_lower",
        "dtypes.bool_ or not",
        "a choice of 1 or 0 converts a bool too",
    ),
    (
        _OPS + "elementwise.py",
        "_convert_lower",
        "dtypes.is_inexact(dtype) → dtype",
        "a choice of 1 or 0 converts a bool too",
    ),
    (
        _OPS + "elementwise.py",
        "_convert_jvp",
        "tangents[0] is not None and",
        "callers drop tangents of whole numbers",
    ),
    (_OPS + "factor.py", "_triangular_batch", "ndim > 2 → ", FORM),
    (_OPS + "factor.py", "_cholesky_lower", "ctx.full(t, 0)", EMPTY),
    (_OPS + "factor.py", "_tridiagonal_lower", "ctx.full(t_b, 0)", EMPTY),
    (_OPS + "orthogonal.py", "_qr_lower", "ctx.full(t_r, 0)", EMPTY),
    (
        _OPS + "families.py",
        "elementwise.type_rule",
        "args == 2 and t is not types[1] → args == 2",
        "equal types pass",
    ),
    (_CPU + "reduce.py", "extremum_with_nans", "<= _FEW", FORM),
    (
        _OPS + "reduce.py",
        "_precedes",
        "'LT') → ctx.compare(i, j, boolean, 'LE'",
        "two places are never the same",
    ),
    (_OPS + "families.py", "per_argument", "*", DEFINED),
    (_OPS + "families.py", "check_derivatives", "*", DEFINED),
    (_OPS + "families.py", "derive_jvp", "*", DEFINED),
    (
        _OPS + "conv.py",
        "_by_taps",
        "→ kernel.shape[1] != 1 or",
        "dilations have an entry for each axis",
    ),
    (_OPS + "conv.py", "_by_taps", "x.ndim != 3 → ", FORM),
    (_OPS + "conv.py", "_by_taps", "0 in x.shape → 0 not in", FORM),
    (
        _OPS + "conv.py",
        "_by_taps",
        "→ groups != 1 ==",
        "the number of groups divides that of results",
    ),
    (_OPS + "conv.py", "_by_taps", "alone and taps > _FEW_TAPS", FORM),
    (_OPS + "conv.py", "_by_taps", "→ x.dtype not in", FORM),
    (_OPS + "conv.py", "_by_taps", "taps <= _MOST_TAPS → ", FORM),
    (_OPS + "conv.py", "_shifted_sum", "result.itemsize < 4 → ", "float32 is converted to itself"),
    (_OPS + "conv.py", "_shifted_sum", "t % 4 == 3", FORM),
    (_OPS + "conv.py", "_frames_by_band", "1024 if piece <= 1024 else 256", FORM),
    (_OPS + "conv.py", "_frames_by_band", "block + piece → piece", MORE),
    (_OPS + "conv.py", "_frames_by_band", "→ block + piece - 2", MORE),
    (_OPS + "conv.py", "_conv_lower", "→ ctx.in_types[1]", ALL_ALIKE),
    (
        _OPS + "cumulative.py",
        "_extremum_jvp.rule",
        "→ _shift(out, 1",
        "the first place is taken anyway",
    ),
    (_OPS + "cumulative.py", "_logsumexp_jvp", "[-np.inf, 1]", "times the exponential of -inf"),
    (_OPS + "cumulative.py", "by_doubling", "→ combine(xs, shifted)", SYMMETRIC),
    (_CPU + "dot.py", "in_better_form", "y_transposed or other == leading → ", FORM),
    (
        _CPU + "dot.py",
        "in_better_form",
        "y_transposed and count < len(y_shape) → y_transposed",
        FORM,
    ),
    (_OPS + "dot.py", "_dot_batch", "batch[0] → batch[1]", ALL_ALIKE),
    (_OPS + "elementwise.py", "_abs_jvp", "const(y, 1) → ", "what is divided by it is zero"),
    (
        _CPU + "fft.py",
        "_call_for_one_row",
        "→ math.prod(t.shape[:-1]) != 1",
        "transforms of one point change nothing",
    ),
    (_CPU + "fft.py", "_call_for_one_row", "lengths[0] >= _HALVED_FROM and", FORM),
    (_OPS + "fft.py", "_is_spread", "ctx.partitions > 1", FORM),
    (_OPS + "matrices.py", "conj_values", "*", ACCELERATOR),
    (
        _OPS + "matrices.py",
        "finite_or_zero",
        "→ t.dtype",
        "the imaginary part of a real number is 0",
    ),
    (_OPS + "orthogonal.py", "_qr_jvp", "n > k → n >= k", NOTHING_MORE),
    (_OPS + "orthogonal.py", "_geqrf_lower", "ctx.full(o, 0)", EMPTY),
    (_OPS + "spectral.py", "_svd_lower", "ctx.full(t_values, 0)", EMPTY),
    (_OPS + "spectral.py", "_svd_cpu", "full and vectors → full", "without vectors none are taken"),
    (_OPS + "spectral.py", "_svd_jvp", "> typeof(u).shape[-1] → ", NOTHING_MORE),
    (_CPU + "reduce.py", "extremum_with_nans", "→ sorted(axes) != ", FORM),
    (_CPU + "reduce.py", "_extremum_with_flag", "[a, b] → [b, a]", SYMMETRIC),
    (
        _OPS + "reduce.py",
        "_prod_jvp",
        "reverse=True → ",
        "the axes stay until the end, in any order",
    ),
    (
        _OPS + "slicing.py",
        "_update_batch",
        "→ full_like_type(typeof(starts[0]).strong(), 1)",
        "a start is clamped: all lanes are written",
    ),
    (_OPS + "slicing.py", "_stack_starts", "(size, 0) → ", "without starts none has lanes"),
    (
        _OPS + "transcendental.py",
        "_in_single_precision.g",
        "itemsize > 3",
        "no dtype has three bytes",
    ),
    (_OPS + "slicing.py", "_gather_jvp", "*", "what is filled is chosen outside of the rule"),
    (
        _OPS + "trigonometric.py",
        "_along",
        "→ 1 - t.ndim",
        "axes are put in the order that they have",
    ),
    (_OPS + "coalescing.py", "_coupled_values", "→ min(t.shape[-2:])", "both sides of a square"),
    ("xcore/_control/custom_batch.py", "_jvp_of", "→ len(found) + 2", "it is found before"),
    (
        "xcore/_control/scan.py",
        "_batch",
        "len(s.body.outputs) - nk → ",
        "flags beyond the results are not read",
    ),
    ("xcore/_control/cond.py", "_jvp", "branches[0]", ALL_ALIKE),
    ("xcore/_control/checkpoint.py", "_cut", "→ v in made", "a literal is made by nothing"),
    ("xcore/_control/call.py", "_lower", "<= _INLINE", FORM),
    ("xcore/_control/checkpoint.py", "_cut", "no condition", "more is kept than is needed"),
    ("xcore/_control/cond.py", "_linearize", "branches[0]", ALL_ALIKE),
    ("xcore/_control/progress.py", "_start", "(run.number, 1)", "how often Python is called"),
    ("xcore/_control/progress.py", "_step", "2 ** 62", "never, as before"),
    ("xcore/_control/checkpoint.py", "_lower", "differentiated and prevent_cse", PROMISE),
    (
        "xcore/random/_continuous.py",
        "_tail_slopes",
        "where(whole > 0, whole, 2)",
        "0 is divided by it",
    ),
    (
        "xcore/decomp/_implicit.py",
        "follow.tangent",
        "=True →",
        "no more than it is told of CG's operator",
    ),
    (
        "xcore/experimental/ode.py",
        "_attempt.rule",
        "0 * size",
        "nothing moves with the size of an error",
    ),
    ("xcore/experimental/ode.py", "_attempt.rule", "size < 1", "sizes of errors are not 1"),
    ("xcore/experimental/ode.py", "_attempt.rule", "0 * h → 0", "the same zero"),
    (
        "xcore/numpy/_determinant.py",
        "_adjugate_change",
        "stop_gradient(a) → a",
        "it has a rule of its own",
    ),
    ("xcore/numpy/_determinant.py", "_adjugate", "full=False → ", "both sides of a square"),
    ("xcore/optimize/_bracket.py", "root_scalar.(x, aux).λ", "solve(b, a)", SYMMETRIC),
    ("xcore/_control/while_loop.py", "_batch", "[True] → [False]", "it is batched here anyhow"),
    (
        "xcore/_control/custom_ops.py",
        "_linearize_rule",
        "dtypes.is_inexact",
        "changes of whole numbers are float0 to whoever takes them",
    ),
    (_OPS + "coalescing.py", "_aligned_lower", "size == 0 → ", "a single number is not turned"),
    (
        _OPS + "dot.py",
        "_dot_transpose_one",
        "out if typeof(out).dtype == target.dtype",
        "cotangents take the dtype of their value later",
    ),
    (_OPS + "elementwise.py", "_rounded_to_float4", "*", "some jaxlibs do without"),
    (_OPS + "factor.py", "_exchange_values", "0 in t.shape or", EMPTY),
    (_OPS + "spectral.py", "_differentiable", "30 * t.shape", MARGIN),
    (_OPS + "spectral.py", "_differentiable", "0.1 / eps", MARGIN),
    (_OPS + "spectral.py", "_differentiable", "and_(ill, ", "the others were found fine before"),
    (_OPS + "trigonometric.py", "_cosine_4", "n % 2", FORM),
    ("xcore/special/_series_kernels.py", "hyp1f1_f", "x < 0.0 → ", "both forms hold at 0"),
    ("xcore/special/_series_kernels.py", "hyp1f1_f", ", 2.0)", "what is not near is at x = 0"),
)


def reason(mutant) -> str | None:
    """Why a mutant changes nothing that can be seen; None if it should be killed."""
    for path, function, part, why in ROWS:
        if path == mutant.path and function in ("*", mutant.function):
            if part == "*" or part in mutant.text:
                return why
    return None
