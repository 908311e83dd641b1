"""What does not compile for which device, and why: a row that is missing here must compile.

Names are regular expressions of rows of the sweep; each says how the row ends and the reason.
"""

NO_DOUBLE = "a TPU has no float64 or complex128; refused when the program is lowered"
NO_LAPACK = "needs eigenvalues of general matrices or a pivoted QR, which nothing on a TPU computes"
NO_PYTHON = "a TPU's programs call no Python"
NO_LONG = "XLA's rewriting of 64-bit integers for TPUs knows no such products"

IN_DOUBLE = "these functions of float32 are computed in float64, so that all digits are right"
COUNTS = "counts up to 2**53 are float64, and sums of probabilities: in float32 they would be other numbers"
COARSEST = "the inverse on the coarsest grid is computed in float64, where rows must sum up to what they do"
RESIDUAL = "residuals of float32 are told from products in float64"
# of the rows of programs.py
INSIDE = "what lies between float32 is computed in float64: places of quantiles, edges of bins, even steps"
NOT_IN_PAIRS = "pairs of float32, which stand for float64 on a TPU, have not the range, or are too many operations"
DOUBLE = (
    r"special\.(ellipk|exp1|expi|i0e|k1|lambertw|spence|j0|y1|dawsn|betaln|gammainc|gammaincinv|owens_t|betainc|"
    r"betaincinv)|stats\.(gamma|beta|t)\.(logpdf|cdf|ppf)"
)
NOT_ON_TPU = (
    r"special\.(j0|y1|betaln|gammainc|gammaincinv|owens_t|betainc|betaincinv)|stats\.gamma\.(cdf|ppf)|"
    r"stats\.(beta|t)\.(logpdf|cdf|ppf)"
)

# Left out: XLA's compiler did not end within ten minutes at QR factorisations of 2200 rows for a TPU.
ENDLESS = {"tpu": ("linalg.large.svd-float32",)}

KNOWN: dict[str, dict[str, tuple[str, str]]] = {
    "tpu": {
        r".*-(float64|complex128|double)": ("refused", NO_DOUBLE),
        r"ops\.(convert-to (float64|complex128)|bitcast_convert-wider)": ("refused", NO_DOUBLE),
        r"ops\.dot_general(-4|-5)?": ("refused", NO_LONG),
        r"linalg\.(batch\.|wide\.)?(qr_pivoting|eig|eigvals|schur|hessenberg)-.*": ("refused", NO_LAPACK),
        r"linalg\.logm-.*": ("refused", NO_LAPACK),
        r"debug\.print|pure_callback": ("refused", NO_PYTHON),
        NOT_ON_TPU: ("refused", NOT_IN_PAIRS),
        r"sparse\..* by the host": ("refused", NO_PYTHON),
    },
    "cuda": {
        DOUBLE: ("strays", IN_DOUBLE),
        r"random\.(poisson|binomial|multinomial|negative_binomial)": ("strays", COUNTS),
        r"inside\..*": ("strays", INSIDE),
        r"pde\.multigrid": ("strays", COARSEST),
        r"linalg\.(cg|gmres)|sparse\.multigrid, solution": ("strays", RESIDUAL),
        r"ops\.bitcast_convert-wider": ("strays", "two float32 side by side are seen as one float64: asked for"),
        r"lax\.conv-int32": ("strays", "by words of 16 bits in float64, as cuDNN has no integers"),
    },
}  # fmt: skip
