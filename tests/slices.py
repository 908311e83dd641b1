"""Wide sweeps, of which `make test` runs a slice: `make test-slow` runs what is left.

Of each test here the cases whose names in brackets match the pattern are the slice. It has each class
of case (each operation, method, kind of matrix, dtype, transformation), not each with each.
"""

SLICES = {
    # programs of one word length and special values are in every part
    "tests/fuzz/test_slice.py::test_slice": r"^[03]$",
    # each function under grad; each transformation of a function of each kind
    "tests/numpy/test_steps.py::test_a_step_has_no_slope": r"-grad$|^(floor|//|sign|argsort|angle|modf|integers|a rank)-",
    # each routine in a real and a complex dtype, by lanes and as a batch; two of them in all
    "tests/linalg/test_certificates.py::test_digits_of_equations_are_there": r"-(float32|complex64)$|^(solve|definite)-",
    # each method in one of them, which cannot count to its 400 steps
    "tests/optimize/test_scales.py::test_every_method_ends_in_sixteen_bits": r"-bfloat16$|^(lbfgs|brent|nelder-mead)-",
    # each condition on the smallest grid and an odd one; each kind of box
    "tests/pde/test_modes.py::test_all_modes_of_boxes_beside_dense_matrices": r"[^36]$|^Periodic",
    "tests/pde/test_modes.py::test_modes_of_higher_order_beside_dense_matrices": (
        r"-compact$|^(line|mixed|square|solid|Robin)-4$|^(ring|Neumann line|torus)-6$"
    ),
    "tests/pde/test_modes.py::test_no_mode_of_parts_is_lost": r"-float32-lobpcg$|-float64-shift-invert$",
    # some functions of each package
    "tests/test_strict.py::test_every_public_function_computes_under_strict_settings": r"^0$",
    # each way to solve, in one precision or the other
    "tests/pde/test_claims.py::test_claims_of_each_way_to_solve": (
        r"^(direct|Neumann|waves|mask|mask once)-float64$|^(order 4, mixed|damped|cycles|symmetric mask)-float32$"
    ),
    "tests/pde/test_claims.py::test_claims_where_coefficients_jump": (
        r"^(Dirichlet-multigrid|odd rings|Neumann|stretched-cg-float32|mixed)"
    ),
    "tests/pde/test_claims.py::test_where_rounding_is_the_excuse_the_solution_still_has_digits": (
        r"^thin-|-(auto|multigrid)-1$|-cg-100$"
    ),
    # each kind of operator: symmetric, of flows, of waves, complex, with a mask, by a Stencil
    "tests/pde/test_any.py::test_survey_beside_scipy": (
        r"^(reaction|order 6|lognormal at each node|anisotropy 1e4 at 45|flow bent, Péclet 1e3|waves that vary, kh 0.6|complex)"
    ),
    "tests/pde/test_any.py::test_cycles_solve_the_survey_in_few_steps": r"^(checkers|flow bent|periodic|order 4)",
    # each way to solve once, one of the published problems of each kind
    "tests/pde/test_stiff.py::test_derivatives_are_those_of_the_steps": r"^dense$",
    "tests/pde/test_stiff.py::test_ways_to_solve_the_linear_systems_agree": r"^sparse$",
    "tests/pde/test_stiff.py::test_published_numbers": r"^(Robertson|van der Pol)$",
    # in two dimensions, and on a line of another order
    "tests/pde/test_waves.py::test_little_comes_back_from_open_edges": r"^(1-100-8|2-40-4)$",
    "tests/pde/test_waves.py::test_walls_reflect_at_the_edge_and_the_order_is_that_asked_for": r"^4$",
}
