"""Wide sweeps, of which `make test` runs a slice: `make test-slow` runs what is left.

Of each test here the cases whose names in brackets match the pattern are the slice. It has each class
of case (each operation, method, kind of matrix, dtype, transformation), not each with each. None: all of it is left.
"""

SLICES = {
    # programs of one word length and special values are in every part
    "tests/fuzz/test_slice.py::test_slice": r"^[03]$",
    # each function under grad; each transformation of a function of each kind
    "tests/numpy/test_steps.py::test_a_step_has_no_slope": r"-grad$|^(floor|//|sign|argsort|angle|modf|integers|a rank)-",
    # each routine in a real and a complex dtype, by lanes and as a batch; two of them in all
    "tests/linalg/test_certificates.py::test_digits_of_equations_are_there": r"-float32$|^solve-",
    # each method in one of them, which cannot count to its 400 steps
    "tests/optimize/test_scales.py::test_every_method_ends_in_sixteen_bits": r"^(lbfgs|lbfgsb|brent|nelder-mead|trust-ncg)-bfloat16$",
    # each condition on the smallest grid and an odd one; each kind of box
    "tests/pde/test_modes.py::test_all_modes_of_boxes_beside_dense_matrices": r"[^36]$|^Periodic",
    "tests/pde/test_modes.py::test_modes_of_higher_order_beside_dense_matrices": (
        r"-compact$|^(line|mixed|square|solid|Robin)-4$|^(ring|Neumann line|torus)-6$"
    ),
    "tests/pde/test_mode_claims.py::test_claims_do_not_depend_on_units": (
        r"^(Neumann|numbers)-float32-auto$|^jump-float64-auto$|^ring-float32-shift"
    ),
    "tests/pde/test_modes.py::test_no_mode_of_parts_is_lost": r"^(rooms-1-float32-lobpcg|discs-20-float64-shift-invert)$",
    # some functions of each package
    "tests/test_strict.py::test_every_public_function_computes_under_strict_settings": r"^0$",
    # each way to solve, in one precision or the other
    "tests/pde/test_claims.py::test_claims_of_each_way_to_solve": r"^(direct|Neumann)-float64$|^(order 4, mixed|damped|cycles)-float32$",
    "tests/pde/test_claims.py::test_claims_where_coefficients_jump": r"^(Dirichlet-multigrid|odd rings|Neumann|mixed)",
    "tests/pde/test_claims.py::test_where_rounding_is_the_excuse_the_solution_still_has_digits": r"^thin-(cg-1|multigrid-50)$|-cg-100$",
    # each kind of operator: symmetric, of flows, of waves, complex, with a mask, by a Stencil
    "tests/pde/test_any.py::test_survey_beside_scipy": (
        r"^(reaction|order 6|lognormal at each node|anisotropy 1e4 at 45|flow bent, Péclet 1e3|waves that vary, kh 0.6|complex)"
    ),
    "tests/pde/test_any.py::test_cycles_solve_the_survey_in_few_steps": r"^(checkers|flow bent|periodic|order 4)",
    # eight of the twenty problems
    "tests/pde/test_estimates.py::test_error_bars_are_right_within_a_factor_of_two": r"^lines$",
    # each way once, steps up and down
    "tests/pde/test_interfaces.py::test_on_a_line": r"^(nodes-flow-up|cells-flow-down|level set-value-up)$",
    "tests/pde/test_interfaces.py::test_a_straight_interface_in_two_dimensions": r"^nodes-down$",
    # each way to solve once, one of the published problems of each kind
    "tests/pde/test_stiff.py::test_derivatives_are_those_of_the_steps": None,
    "tests/pde/test_stiff.py::test_ways_to_solve_the_linear_systems_agree": r"^sparse$",
    "tests/pde/test_stiff.py::test_published_numbers": r"^(Robertson|van der Pol)$",
    # in two dimensions, and on a line of another order
    "tests/pde/test_waves.py::test_little_comes_back_from_open_edges": r"^(1-100-8|2-40-4)$",
    "tests/pde/test_waves.py::test_walls_reflect_at_the_edge_and_the_order_is_that_asked_for": r"^4$",
    # each kind of case once: the other dtypes, sizes and methods run in `make test-slow`
    "tests/decomp/test_uncertainty.py::test_intervals_cover": r"^(tiny units|missing)$",
    "tests/decomp/test_all_at_once.py::test_gauss_newton_finds_what_sweeps_find_with_most_missing": r"^\(10, 11, 12\)-2",
    "tests/decomp/test_scale.py::test_powers_of_two_change_nothing_else": r"^(?!cp_gauss_newton-|cp_gradient masked).*-float32$",
    "tests/decomp/test_scale.py::test_transformed": r"^1e\+25$",
    "tests/decomp/test_noise.py::test_factors_under_noise": r"^(hals|sampled)$",
    "tests/linalg/test_certificates.py::test_reports_of_all_sizes_ways_and_dtypes": r"^(inv|det|eigh|eigvalsh|lstsq)$",
    "tests/linalg/test_certificates.py::test_what_is_not_read_may_be_anything": r"-float32$",
    "tests/linalg/test_certificates.py::test_digits_of_solutions_with_factors_are_there": r"^complex64-1$",
    "tests/linalg/test_scales.py::test_lsmr_reaches_at_all_sizes_what_it_reaches_at_size_1": r"^complex64",
    "tests/linalg/test_truth.py::test_sizes_of_right_hand_sides_change_nothing_but_the_size": None,
    "tests/linalg/test_claims.py::test_krylov_methods_claim_what_the_residual_shows": r"-float32-1e-05$",
    "tests/linalg/test_claims.py::test_claims_of_pairs_hold_for_all_spectra_at_all_sizes": r"^complex128",
    "tests/linalg/test_claims.py::test_lsmr_claims_what_the_gradient_shows": r"^float32",
    "tests/linalg/test_claims.py::test_eigsh_claims_hold_at_all_sizes": r"^complex64",
    "tests/linalg/test_claims.py::test_lobpcg_leaves_eigenvectors_that_are_not_wanted": r"^float64",
    "tests/linalg/test_sensitivity.py::test_reports_of_edges": r"^(sqrtm|lyapunov)$",
    "tests/linalg/test_at_eigenvalues.py::test_reports_of_edges": r"^funmh$",
    "tests/linalg/test_closed_loops.py::test_claims_with_all_terms_are_true": r"^discrete$",
    "tests/linalg/test_closed_loops.py::test_reports_of_edges": r"^discrete$",
    "tests/linalg/test_closed_loops.py::test_claims_are_true": r"-(float64-15|float32-9)$",
    "tests/linalg/test_matrix_free.py::test_lsmr": None,
    "tests/linalg/test_matrix_free.py::test_lsmr_without_elements": None,
    "tests/linalg/test_coalescing.py::test_second_derivatives_of_determinants": r"^(complex|rank|zero)",
    "tests/linalg/test_matrix_free.py::test_eigenpairs_differentiate_twice": None,
    "tests/linalg/test_scales.py::test_what_is_reached_at_size_1_is_reached_at_all_sizes": (
        r"^(CG-bfloat16|MINRES-complex128|GMRES-float32|BiCGStab-complex64)"
    ),
    "tests/linalg/test_sensitivity.py::test_claims_of_functions_of_matrices_are_true": (
        r"^(expm-complex128|sqrtm-complex64|logm-float32)"
    ),
    "tests/linalg/test_at_eigenvalues.py::test_claims_of_any_function_are_true": r"^(exp|inverse|square)-",
    "tests/linalg/test_certificates.py::test_backward_errors_after_elements_grew_are_those_of_the_matrix": r"^complex64",
    "tests/linalg/test_structured.py::test_iterative_solvers": r"^(CG|BiCGStab)$",
    "tests/linalg/test_structured.py::test_tridiagonal_differentiates": r"^(lapack|cyclic)$",
    "tests/linalg/test_riccati.py::test_derivatives": r"^discrete$",
    "tests/linalg/test_without_forms.py::test_derivatives_batches_and_what_is_empty": r"^tpu$",
    "tests/linalg/test_without_forms.py::test_what_is_not_found_is_left_to_the_host_of_a_gpu": r"^cuda$",
    "tests/decomp/test_truncation.py::test_cross_interpolation": None,
    "tests/decomp/test_truncation.py::test_tolerances_below_the_root_of_eps_are_kept": r"^tt_svd$",
    "tests/decomp/test_implicit.py::test_all_methods_have_the_derivatives_of_one_minimum": r"^gradient$",
    "tests/decomp/test_als.py::test_single_precision_in_a_program_of_the_users": r"^cp_nonneg$",
    "tests/_ops/test_rows.py::test_derivatives_of_batches_are_those_of_each": r"^(lu|qr)$",
    "tests/optimize/test_scales.py::test_units_change_nothing": r"^(bfgs|nelder-mead)$",
    "tests/optimize/test_constrained_scales.py::test_single_precision_gets_there_in_all_units": r"HS71$",
    "tests/optimize/test_root_claims.py::test_what_has_no_root_is_no_success": r"-(hybr|newton)$|^contradiction|^nearly",
    "tests/optimize/test_held_out.py::test_success_is_a_minimum": r"^bfgs-float32",
    "tests/optimize/test_minimum_claims.py::test_success_at_minima_of_high_order_is_as_near_as_it_says": r"^nelder",
    "tests/optimize/test_minimum_claims.py::test_a_minimum_on_a_line_is_one": r"^float32",
    "tests/optimize/test_least_squares_claims.py::test_units_change_nothing": r"^float32",
    "tests/optimize/test_least_squares_claims.py::test_sixteen_bits_end": r"^bfloat16",
    "tests/optimize/test_least_squares_claims.py::test_fits_that_could_walk_off_find_the_minimum_or_do_not_claim_it": (
        r"^float64$"
    ),
    "tests/optimize/test_curve_fit_claims.py::test_intervals_of_robust_losses_cover": r"^huber$",
    "tests/optimize/test_many_variables.py::test_success_is_a_minimum_in_all_units": r"^lbfgs$",
    "tests/optimize/test_proximal_claims.py::test_success_is_a_minimum_in_all_units": r"float32$|^nonneg",
    "tests/_core/test_dispatch.py::test_any_order_of_calls": r"^2$",
    "tests/sharding/test_programs.py::test_fits_of_tensors_exchange_factors_only": r"model'\)$",
    "tests/pde/test_multigrid.py::test_convergence_factors": r"^(inclusion of|smooth|odd rings|jump, ring|L$|cube|constant$|Dirichlet, Neumann)",
    "tests/pde/test_claims.py::test_smallest_grids": r"cells[0-46]$|^DD",
    "tests/pde/test_modes.py::test_modes_by_shift_and_inversion": r"^(jump|L)$",
    "tests/pde/test_modes.py::test_modes_from_coarse_grids_up": r"^(Neumann and ring|discs)$",
    "tests/sparse/test_spectra.py::test_no_claim_is_false": r"float32|complex128",
    "tests/stats/test_families.py::test_derivatives": r"^(?!t-cdf)",
    "tests/stats/test_tails.py::test_quantiles_whose_beta_variable_vanishes": r"^f$",
    "tests/stats/test_tails.py::test_t_probabilities_over_the_range_of_floats": None,
    "tests/special/test_derivatives.py::test_slopes": r"^(?!hyp2f1)",
    "tests/linalg/test_coalescing.py::test_third_derivatives_of_functions_of_hermitian_matrices": None,
    "tests/linalg/test_claims.py::test_eigsh_says_what_it_did_not_reach": None,
    "tests/sparse/test_cholesky.py::test_by_fronts_as_by_columns": None,
    "tests/sparse/test_spectra.py::test_shifts_by_sparse_factors": None,
    "tests/pde/test_masked.py::test_first_eigenvalue_of_an_l": None,
    "tests/pde/test_modes.py::test_modes_in_single_precision_their_derivatives_and_lanes": None,
    "tests/pde/test_waves.py::test_memory_of_a_gradient_does_not_grow_with_the_steps": None,
    "tests/pde/test_systems.py::test_stokes_flow_on_faces_and_cells": None,
    "tests/pde/test_every_step.py::test_orders_in_time": None,
    "tests/pde/test_interfaces.py::test_a_ball_and_what_solvers_make_of_it": None,
    "tests/pde/test_any.py::test_large_diffusions_and_waves_that_vary_are_solved_by_their_elements": None,
    "tests/optimize/test_sparse_newton.py::test_ten_thousand_unknowns": None,
    "tests/optimize/test_traced_once.py::test_settings_and_clear_caches": None,
    # one of each package
    "tests/test_interrupted.py::test_goes_on_to_the_same_bits": (
        r"^(minimize|root|proximal|cp_als|tucker_als|lobpcg|solve_nonlinear)$"
    ),
    "tests/test_history.py::test_eigenpairs": r"^(lobpcg|by cycles)$",
    "tests/test_history.py::test_compiled_ones_repeat_the_last_row": r"^lm$",
    "tests/test_argument_names.py::test_other_names_work": r"^(?!eigsh)",
    "tests/optimize/test_scales.py::test_verdicts": r"^(lbfgsb|trust-exact)$",
    "tests/optimize/test_curve_fit_claims.py::test_intervals_cover_in_all_units": r"^(plain|squares that are hardly numbers)$",
    "tests/linalg/test_claims.py::test_eigsh_finds_what_repeats": r"^(SA|BE)$",
    "tests/pde/test_multigrid.py::test_steps_do_not_grow_on_odd_rings": r"^\((65|1021)",
    "tests/pde/test_multigrid.py::test_steps_do_not_grow_with_jumps": r"^(inclusion|slanted)",
    "tests/pde/test_every_step.py::test_steps_beside_dense_matrices": r"^(interface|sum|mask|complex|flow on a ring)$",
    "tests/pde/test_masked.py::test_derivatives_with_respect_to_the_boundary": r"^an? (distance|image)$",
    "tests/pde/test_masked.py::test_full_multigrid_and_estimates_of_errors": r"-symmetric$",
    "tests/pde/test_cells.py::test_first_derivatives_and_stencils": r"^pairs1$",
    "tests/random/test_bits.py::test_eager_and_mapped": r"^(?!binomial-threefry|poisson-philox|gamma-threefry|von_mises-philox)",
}
