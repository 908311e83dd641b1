"""Which module of JAX's is which of ours: a row for each, and the names that are ours under another name.

A row is: modules, the modules of xcore that have their names, and names that are elsewhere, ``name`` or
``name=other``, behind a colon and the file of this package, or the module of xcore, where they are.
"""

from __future__ import annotations

import os
from functools import partial

from ._modules import MISSING, VERSION, Face, held

_HERE = "xcore.as_jax."

# Names of xcore's own, which JAX does not have.
_HIDDEN = frozenset(
    """
    Certificate Mesh SingleDeviceSharding Solution Status decomp fft get_mesh linalg memory_stats multihost optimize
    pde plot sanitize sparse special stats testing topology tree_map tree_multimap device_put_replicated
    device_put_sharded config checkify explain
    """.split()
)

# Modules whose names are those of the module of the same name of xcore.
_SAME = """
    ad_checkpoint custom_batching distributed example_libraries example_libraries.optimizers example_libraries.stax
    experimental.jet experimental.mesh_utils experimental.ode experimental.shard_map image nn numpy.fft
    numpy.linalg ops scipy scipy.cluster scipy.cluster.vq scipy.fft scipy.integrate scipy.interpolate scipy.ndimage
    scipy.optimize scipy.signal scipy.sparse scipy.spatial scipy.spatial.transform scipy.stats test_util typing
""".split()

_ROWS = """
jax: xcore: _settings: config Ref new_ref transfer_guard transfer_guard_device_to_device
    transfer_guard_device_to_host transfer_guard_host_to_device _jaxprs: make_jaxpr _wrappers: copy_to_host_async
    device_put host_count host_id host_ids enable_custom_prng threefry_partitionable _types:
    typeof=typeof_ _small_modules: make_mesh default_prng_impl _lax: smap _settings:
    allow_f16_reductions=no_guard array_garbage_collection_guard=no_guard legacy_prng_key=no_guard
    softmax_custom_jvp=no_guard thread_guard=no_guard xcore._core.array: Shard
jax.api_util: : _linear_util: debug_info flatten_fun flatten_fun_nokwargs safe_map shaped_abstractify
    _small_modules: flatten_axes argnums_partial donation_vector rebase_donate_argnums
jax.core: xcore.core: _primitives: Primitive _behind: is_constant_dim definitely_equal
    unsafe_get_axis_names_DO_NOT_USE=axis_names unsafe_get_axis_names=axis_names
    _linear_util: DebugInfo _small_modules: Effects no_effects gensym _types: typeof=typeof_ get_aval=typeof_
    _settings: ShapedArray AbstractValue Trace
    TraceTag is_concrete valid_jaxtype get_opaque_trace_state trace_state_clean pytype_aval_mappings _jaxprs:
    Jaxpr ClosedJaxpr JaxprEqn Atom DropVar eval_jaxpr jaxpr_as_fun jaxprs_in_params subjaxprs new_jaxpr_eqn
    _wrappers: concrete_or_error xcore._core.trace: ensure_compile_time_eval
jax.custom_derivatives: xcore.custom_derivatives: _rule_tables: zero_from_primal _small_modules:
    custom_vjp_primal_tree_values _wrappers: custom_jvp_call_p custom_vjp_call_p
jax.debug: xcore.debug: _small_modules: log=debug_log
jax.dlpack: xcore.dlpack: _small_modules: is_supported_dtype
jax.dtypes: xcore.dtypes: _wrappers: TypePromotionError canonicalize_dtype finfo issubdtype scalar_type_of
    _small_modules: itemsize_bits
jax.errors: xcore.errors: _small_modules: JAXTypeError JAXIndexError JaxprTypeError
    InconclusiveDimensionOperation
jax.experimental: xcore.experimental: _settings: EArray cur_qdd _wrappers: enable_x64 disable_x64
jax.experimental.array_serialization.serialization: : _wrappers: GlobalAsyncCheckpointManager
    GlobalAsyncCheckpointManagerBase get_tensorstore_spec
jax.experimental.checkify: xcore.experimental.checkify: _wrappers: ErrorCategory init_error
jax.experimental.colocated_python: : _wrappers: colocated_python colocated_python_class colocated_cpu_devices
jax.experimental.colocated_python.serialization: : _wrappers: DeviceList _get_cpu_device_map=known_backends
    _reduce_device_list=_no_colocated _reduce_mesh=_no_colocated _reduce_single_device_sharding=_no_colocated
    xb=known_backends
jax.experimental.compilation_cache.compilation_cache: : _wrappers: set_cache_dir reset_cache
jax.experimental.compute_on: : _small_modules: compute_on compute_on2
jax.experimental.custom_partitioning: : _small_modules: custom_partitioning
jax.experimental.hijax: : _settings: AbstractValue AvalMutableQDD AvalQDD HiPrimitive HiType MutableHiType
    ShapedArray aval_method aval_property control_flow_allowed_effects register_hitype _rule_tables: Zero
    instantiate_zeros is_undefined_primal
jax.experimental.layout: : _settings: Format Layout _small_modules: with_layout_constraint
jax.experimental.multihost_utils: xcore.experimental.multihost_utils: _wrappers: reached_preemption_sync_point
jax.experimental.pjit: xcore.experimental.pjit: _wrappers: with_sharding_constraint
jax.experimental.rnn: : _rnn: get_num_params_in_lstm init_lstm_weight lstm lstm_ref swap_lstm_gates
    unpack_lstm_weights
jax.experimental.scheduling_groups: : _small_modules: scheduling_group
jax.experimental.shard_alike: : _small_modules: shard_alike
jax.experimental.sparse jax.experimental.sparse.bcoo jax.experimental.sparse.bcsr jax.experimental.sparse.ad
    jax.experimental.sparse.coo jax.experimental.sparse.csr jax.experimental.sparse.random
    jax.experimental.sparse.transform jax.experimental.sparse.util: xcore.experimental.sparse:
    _small_modules: SparseInfo
jax.experimental.sparse.linalg: xcore.experimental.sparse.linalg
jax.experimental.xla_metadata: : _small_modules: set_xla_metadata
jax.export: xcore.export: _small_modules: SymbolicScope is_symbolic_dim symbolic_args_specs
    default_export_platform maximum_supported_calling_convention_version
    minimum_supported_calling_convention_version
jax.extend.backend: : _wrappers: get_backend backends get_default_device clear_backends
jax.extend.core: xcore.core: _settings: ShapedArray AbstractValue Effect TraceTag find_top_trace
    get_opaque_trace_state valid_jaxtype set_current_trace take_current_trace _primitives: Primitive _jaxprs:
    Jaxpr ClosedJaxpr JaxprEqn DropVar jaxpr_as_fun jaxprs_in_params subjaxprs new_jaxpr_eqn _rule_tables:
    mapped_aval unmapped_aval _linear_util: DebugInfo _wrappers: concrete_or_error _small_modules:
    JaxprTypeError InconclusiveDimensionOperation check_jaxpr gensym no_effects Effects Token AbstractToken
jax.extend.core.primitives: : @primitives
jax.extend.ifrt_programs: : _wrappers: ifrt_programs=known_backends
jax.extend.linear_util: : _linear_util: StoreException WrappedFun cache transformation transformation2
    transformation_with_aux transformation_with_aux2 wrap_init
jax.extend.random: : _small_modules: random_seed rbg_prng_impl seed_with_impl threefry_2x32 threefry_prng_impl
    unsafe_rbg_prng_impl
jax.extend.source_info_util: : _settings: register_exclusion _behind: user_context
jax.interpreters.ad: : _rule_tables: UndefinedPrimal Zero add_tangents defbilinear defjvp defjvp2 deflinear
    deflinear2 instantiate_zeros is_undefined_primal zeros_like_aval _primitives: primitive_jvps=jvps
    primitive_transposes=transposes _wrappers: jvp linearize _small_modules: get_primitive_transpose
    xcore._transforms.jvp: JVPTracer JVPTrace
jax.interpreters.batching: : _rule_tables: bdim_at_front defbroadcasting defvectorized moveaxis=moveto broadcast
    _primitives: axis_primitive_batchers=axis_batchers fancy_primitive_batchers=fancy_batchers
    primitive_batchers=batchers _wrappers: not_mapped _small_modules: defreducer
    register_vmappable xcore._transforms.vmap:
    BatchTracer BatchTrace
jax.interpreters.mlir: : _rule_tables: aval_to_ir_type dtype_to_ir_type ir_constant _primitives:
    emit_python_callback lower_fun register_lowering LoweringRuleContext=Context
jax.interpreters.partial_eval: : _linear_util: PartialVal trace_to_jaxpr_nounits _small_modules: dce_jaxpr
    trace_to_jaxpr_dynamic _wrappers: DynamicJaxprTracer JaxprTracer
jax.interpreters.xla: : _primitives: apply_primitive _wrappers: canonicalize_dtype_handlers
jax.lax: xcore.lax: _wrappers: with_sharding_constraint random_gamma_grad igamma_grad_a @primitives _lax:
    ConvGeneralDilatedDimensionNumbers DotAlgorithm DotAlgorithmPreset DotDimensionNumbers PrecisionLike
    RaggedDotDimensionNumbers RandomAlgorithm after_all approx_max_k approx_min_k broadcast_like composite
    conv_general_dilated_local conv_general_permutations conv_general_shape_tuple conv_shape_tuple
    conv_transpose_shape_tuple create_token dce_sink ragged_dot ragged_dot_general reduce_window_shape_tuple
    ragged_all_to_all rng_bit_generator rng_uniform scaled_dot shape_as_value _forms: conj top_k
jax.lax.linalg: xcore.lax.linalg: @primitives _forms: hessenberg lu schur tridiagonal
    _wrappers: cholesky_update_p lu_pivots_to_permutation_p ormqr_p
    symmetric_product_p
jax.monitoring: : _settings: clear_event_listeners record_event record_event_duration_secs
    record_event_time_span record_scalar register_event_duration_secs_listener register_event_listener
    register_event_time_span_listener register_scalar_listener unregister_event_duration_listener
    unregister_event_listener unregister_event_time_span_listener unregister_scalar_listener
jax.nn.initializers: xcore.nn.initializers: _small_modules: Initializer
jax.numpy: xcore.numpy: _forms: bincount einsum_path power promote_types pow=power
    xcore.numpy: complex_=complex128 float_=float64 int_=int64 uint=uint64
    _wrappers: array asarray finfo histogram histogram2d histogramdd issubdtype ndim shape size
jax.profiler: xcore.profiler: _small_modules: ProfileOptions stop_server
jax.random: xcore.random: _rejection: key PRNGKey ball beta chisquare dirichlet f gamma generalized_normal
    loggamma poisson t _draws: bernoulli binomial categorical choice gumbel multinomial randint
    _wrappers: random_gamma_p
jax.scipy.special: xcore.scipy.special: _legendre: lpmn lpmn_values
jax.scipy.linalg: xcore.scipy.linalg: _forms: cho_solve lu_factor lu_solve schur=scipy_schur solve solve_triangular
jax.scipy.sparse.linalg: xcore.scipy.sparse.linalg: _forms: cg bicgstab
jax.sharding: xcore.sharding: _settings: get_abstract_mesh _small_modules: AbstractDevice auto_axes
    explicit_axes make_mesh make_single_device_sharding use_abstract_mesh
jax.stages: xcore.stages: _wrappers: CompilerOptions ArgInfo OutInfo
jax.tree: xcore.tree: _trees: all broadcast flatten flatten_with_path leaves leaves_with_path map map_with_path
    reduce reduce_associative structure transpose
jax.tree_util jax._src.tree_util: xcore.tree_util: _trees: all_leaves tree_all=all tree_broadcast=broadcast
    tree_flatten=flatten tree_flatten_with_path=flatten_with_path tree_leaves=leaves
    tree_leaves_with_path=leaves_with_path tree_map=map tree_map_with_path=map_with_path tree_reduce=reduce
    tree_reduce_associative=reduce_associative tree_structure=structure tree_transpose=transpose
    tree_multimap=map flatten_one_level _settings: _registry=nodes
jax.version: : _wrappers: __version__ __version_info__
jax._src.ad_checkpoint: jax.ad_checkpoint
jax._src.ad_util: jax.interpreters.ad: _wrappers: stop_gradient_p
jax._src.api: jax jax.api_util
jax._src.api_util: jax.api_util: _behind: infer_argnums_and_argnames
jax._src.array: : xcore._core: ArrayImpl=Array
jax._src.callback: jax.experimental jax
jax._src.checkify: xcore.experimental.checkify: _wrappers: Out ErrorCategory
jax._src.compiler: : _wrappers: backend_compile_and_load
jax._src.config: jax: _settings: config
jax._src.core: jax.extend.core jax.core: _behind: full_lower _settings: physical_aval Trace trace_state_clean
jax._src.custom_derivatives: jax.custom_derivatives jax
jax._src.dispatch: : _wrappers: wait_for_tokens _primitives: apply_primitive
jax._src.distributed: : _settings: global_state
jax._src.dtypes: xcore.dtypes: _settings: supports_inf _wrappers: TypePromotionError DType ExtendedDType
    canonicalize_dtype _behind: to_complex_dtype to_inexact_dtype
jax._src.earray: : _settings: EArray
jax._src.effects: : _settings: Effect control_flow_allowed_effects
jax.flatten_util jax._src.flatten_util: xcore.flatten_util: _small_modules: ravel_pytree
jax._src.interpreters.ad: jax.interpreters.ad
jax._src.interpreters.batching: jax.interpreters.batching
jax._src.interpreters.mlir: jax.interpreters.mlir
jax._src.interpreters.partial_eval: jax.interpreters.partial_eval
jax._src.interpreters.pxla: : _wrappers: global_result_handlers
jax._src.lax.control_flow jax._src.lax.lax jax._src.lax.slicing: jax.lax
jax._src.lax.linalg: jax.lax.linalg
jax._src.lib: : _wrappers: xla_client
jax._src.literals: : _settings: LiteralArray TypedNdArray=LiteralArray _behind: TypedInt TypedFloat TypedComplex
jax._src.mesh: jax.sharding
jax._src.nn.functions: jax.nn
jax._src.nn.initializers: jax.nn.initializers
jax._src.numpy.lax_numpy jax._src.numpy.reductions jax._src.numpy.ufuncs: jax.numpy
jax._src.numpy.linalg: jax.numpy.linalg
jax._src.numpy.util: : _behind: check_arraylike ensure_arraylike promote_args promote_args_inexact promote_dtypes
    promote_dtypes_complex promote_dtypes_inexact promote_dtypes_numeric promote_shapes
jax._src.pjit: jax.sharding: _wrappers: jit_p with_sharding_constraint
jax._src.public_test_util: jax.test_util: _behind: check_close
jax._src.scipy.linalg: jax.scipy.linalg
jax._src.scipy.special: jax.scipy.special
jax._src.sharding_impls: jax.sharding: _behind: canonicalize_sharding
jax._src.state.types: : _settings: AbstractRef
jax._src.traceback_util: : _settings: _exclude_paths=exclude_paths api_boundary include_frame register_exclusion
jax._src.typing: xcore.typing
jax._src.util: : _behind: HashablePartial canonicalize_axis merge_lists partition_list safe_zip split_list
    unzip2 unzip3 _linear_util: safe_map functools: wraps
jax._src.xla_bridge: : _wrappers: _backends=known_backends get_backend
jax.experimental.array_serialization jax.experimental.colocated_python.func jax.experimental.compilation_cache
    jax.extend jax.interpreters jax.interpreters.pxla jax.lib jax._src jax._src.interpreters jax._src.lax jax._src.nn
    jax._src.numpy jax._src.scipy jax._src.state:
"""


def _read() -> dict[str, tuple[tuple, dict]]:
    """For each module the modules that have its names, and the names that are elsewhere."""
    found: dict = {f"jax.{module}": ((f"xcore.{module}",), {}) for module in _SAME}
    for line in _ROWS.replace("\n    ", " ").strip().split("\n"):
        modules, _, rest = line.partition(":")
        sources, _, names = rest.strip().partition(": ")
        for module in modules.split():
            found[module] = tuple(sources.split()), _names(names.split())
    found |= {f"jax.experimental.{module}": ((), {}) for module in _KERNELS}
    for family in _FAMILIES:
        found[f"jax.scipy.stats.{family}"] = (f"xcore.scipy.stats:{family}",), {}
    return found


def _names(words: list[str]) -> dict:
    found, here = {}, ""
    for word in words:
        if word == "@primitives":
            found.update({f"{n}_p": f"{_HERE}_wrappers:{n}_p" for n in PRIMITIVES})
        elif word.endswith(":"):
            here = _HERE + word[:-1] if word.startswith("_") else word[:-1]
        else:
            name, _, other = word.partition("=")
            found[name] = f"{here}:{other or name}"
    return found


# Libraries import kernels of their own for accelerators, and use them there alone. These modules have no names.
_KERNELS = """
    pallas pallas.fuser pallas.mosaic_gpu pallas.ops pallas.ops.gpu pallas.ops.gpu.attention
    pallas.ops.gpu.decode_attention pallas.ops.gpu.layer_norm pallas.ops.gpu.paged_attention
    pallas.ops.gpu.rms_norm pallas.ops.gpu.softmax pallas.ops.tpu pallas.ops.tpu.all_gather
    pallas.ops.tpu.flash_attention pallas.ops.tpu.matmul pallas.ops.tpu.megablox pallas.ops.tpu.megablox.gmm
    pallas.ops.tpu.paged_attention pallas.ops.tpu.paged_attention.paged_attention_kernel
    pallas.ops.tpu.ragged_paged_attention pallas.ops.tpu.random pallas.ops.tpu.random.philox
    pallas.ops.tpu.random.threefry pallas.ops.tpu.splash_attention
    pallas.ops.tpu.splash_attention.splash_attention_kernel
    pallas.ops.tpu.splash_attention.splash_attention_mask
    pallas.ops.tpu.splash_attention.splash_attention_mask_info pallas.tpu pallas.tpu_sc pallas.triton
""".split()

# What are modules there are objects here.
_FAMILIES = """
    bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l gumbel_r laplace logistic
    multinomial multivariate_normal nbinom norm pareto poisson t truncnorm uniform vonmises wrapcauchy
""".split()

# The operations that interpreters may ask for by name.
PRIMITIVES = """
    abs acos acosh add add_jaxvals after_all all_gather all_to_all and approx_top_k argmax argmin asin
    asinh atan atan2 atanh axis_index bessel_i0e bessel_i1e bitcast_convert_type broadcast_in_dim call
    cbrt ceil cholesky clamp closed_call clz complex composite concatenate cond conj conv_general_dilated
    convert_element_type copy cos cosh create_token cumlogsumexp cummax cummin cumprod cumsum
    custom_jvp_call custom_vjp_call dce_sink device_put digamma div dot_general dynamic_slice
    dynamic_update_slice eig eigh eq eq_to erf erf_inv erfc exp exp2 expm1 fft floor gather ge gt
    hessenberg householder_product igamma igamma_grad_a igammac imag integer_pow iota is_finite jit le
    le_to lgamma linear_solve log log1p logistic lt lt_to lu max min mul mulhi name ne neg nextafter not
    optimization_barrier or pad pmax pmin polygamma population_count pow ppermute psum qr
    ragged_all_to_all ragged_dot_general random_bits random_fold_in random_gamma random_seed random_split
    random_unwrap random_wrap real reduce reduce_and reduce_max reduce_min reduce_or reduce_precision
    reduce_prod reduce_sum reduce_window reduce_window_max reduce_window_min reduce_window_sum reduce_xor
    regularized_incomplete_beta rem remat reshape rev rng_bit_generator rng_uniform round rsqrt scan
    scatter scatter_add scatter_max scatter_min scatter_mul scatter_sub schur select_and_gather_add
    select_and_scatter select_and_scatter_add select_n sharding_constraint shift_left
    shift_right_arithmetic shift_right_logical sign sin sinh slice sort split sqrt square squeeze stack
    stop_gradient sub svd tan tanh threefry2x32 tile top_k transpose triangular_solve tridiagonal
    tridiagonal_solve unstack while xor zeta
""".split()

MISSING.update({
    "jax.experimental.pallas": "Kernels are written by the compiler here: libraries have another way for CPUs.",
    "jax.experimental.jax2tf": "Programs go elsewhere by jax.export.",
    "jax.experimental.topologies": "There is xcore.topology.",
    "jax.experimental.transfer": "Arrays travel by jax.device_put.",
    "jax.ffi": "Calls of compiled code are those that xcore makes itself.",
    "jax.ref": "Arrays that change in place are not here.",
})  # fmt: skip


def strict() -> bool:
    """Whether what JAX does is done where xcore does better: widths of what comes in, bits of some draws."""
    return os.environ.get("XCORE_AS_JAX_STRICT", "1") != "0"


def table() -> dict:
    """A function for each module that makes it."""
    rows = _read()
    if not strict():
        rows["jax.random"] = rows["jax.random"][0], {}
    below = {
        name: frozenset(m.rpartition(".")[2] for m in rows if m.rpartition(".")[0] == name)
        for name in rows
    }
    return {
        name: partial(_make_face, name, own, sources, below[name])
        for name, (sources, own) in rows.items()
    }


def _make_face(name: str, own: dict, sources: tuple, below: frozenset) -> Face:
    face = Face(name, own, sources, _HIDDEN if name == "jax" else frozenset(), below)
    held(face)["__file__"] = __file__
    if name in ("jax", "jax.version", "jax.lib"):
        held(face)["__version__"] = VERSION
        held(face)["__version_info__"] = tuple(map(int, VERSION.split(".")))
    return face
