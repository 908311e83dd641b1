"""What type checkers see of jaxlib's objects, which come without types: what is used here, and no more.

A module takes this one for ``jaxlib._jax`` and ``jaxlib.xla_client`` under ``TYPE_CHECKING``. Nothing
imports it when a program runs. What another version of jaxlib does not have is for ``VERSION`` to tell.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

NDArray: TypeAlias = "np.ndarray[Any, Any]"
Capsule: TypeAlias = object  # a pointer for C++, such as a DLPack tensor or a function to call
Options: TypeAlias = "Mapping[str, Any]"  # by name: numbers, texts, lists of them

_version: int

class XlaRuntimeError(RuntimeError): ...

class HasType(Protocol):
    """Whatever says of an array what it is: C++ reads these attributes, and some more by name."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...

# Devices

class Memory:
    kind: str

class Device:
    """A device that computes."""

    id: int
    platform: str
    device_kind: str
    process_index: int
    local_hardware_id: int
    client: Client

    def default_memory(self) -> Memory: ...
    def memory_stats(self) -> dict[str, int] | None: ...

class DeviceList:
    def __init__(self, devices: tuple[Device, ...]) -> None: ...

class Client:
    platform: str
    platform_version: str

    def devices(self) -> list[Device]: ...
    def local_devices(self) -> list[Device]: ...
    def process_index(self) -> int: ...
    def live_arrays(self) -> list[Buffer]: ...
    def heap_profile(self) -> bytes: ...
    def compile_and_load(
        self, module: object, devices: DeviceList, options: CompileOptions, callbacks: list[Any]
    ) -> LoadedExecutable: ...
    def compile(
        self, module: object, devices: DeviceList, options: CompileOptions
    ) -> LoadedExecutable: ...
    def deserialize_executable(
        self, blob: bytes, devices: DeviceList, options: CompileOptions, callbacks: list[Any]
    ) -> LoadedExecutable: ...

class Topology:
    """Devices that are not here."""

    def _make_compile_only_devices(self) -> list[Device]: ...

def make_tfrt_tpu_c_api_device_topology(name: str) -> Topology: ...

class Collectives: ...

def make_cpu_client(
    asynchronous: bool = True, distributed_client: DistributedRuntimeClient | None = None,
    node_id: int = 0, num_nodes: int = 1, collectives: Collectives | None = None,
    num_devices: int | None = None,
) -> Client: ...  # fmt: skip
def make_gloo_tcp_collectives(distributed_client: DistributedRuntimeClient) -> Collectives: ...

# Plugins

def pjrt_plugin_loaded(name: str) -> bool: ...
def load_pjrt_plugin_dynamically(name: str, library: str) -> Capsule: ...
def pjrt_plugin_initialized(name: str) -> bool: ...
def initialize_pjrt_plugin(name: str) -> None: ...
def generate_pjrt_gpu_plugin_options() -> Options: ...
def make_c_api_client(
    name: str, options: Options, distributed_client: DistributedRuntimeClient | None = None
) -> Client: ...
def register_custom_type_handler(platform: str, handler: Callable[..., Any]) -> None: ...
def register_custom_call_handler(platform: str, handler: Callable[..., Any]) -> None: ...
def register_custom_type(name: str, kind: Capsule, platform: str) -> None: ...
def register_custom_call_target(
    name: str, function: Capsule, platform: str, api_version: int
) -> None: ...
def register_custom_call_as_batch_partitionable(name: str, c_api: Capsule = None) -> None: ...

# Placements

class OpSharding:
    class Type(enum.Enum):
        OTHER = 0

    type: Type
    tile_assignment_dimensions: list[int]
    tile_assignment_devices: list[int]
    replicate_on_last_tile_dim: bool

class Shape:
    """XLA's shape of a value."""

    def dimensions(self) -> tuple[int, ...]: ...
    def is_tuple(self) -> bool: ...
    def tuple_shapes(self) -> list[Shape]: ...

class HloSharding:
    @staticmethod
    def tuple_sharding(shape: Shape, shardings: list[HloSharding]) -> HloSharding: ...
    def tuple_elements(self) -> list[HloSharding]: ...
    @staticmethod
    def from_proto(proto: OpSharding) -> HloSharding: ...
    @staticmethod
    def replicate() -> HloSharding: ...
    def to_proto(self) -> OpSharding: ...
    def is_replicated(self) -> bool: ...
    def is_maximal(self) -> bool: ...
    def num_devices(self) -> int: ...
    def tile_assignment_dimensions(self) -> list[int]: ...
    def tile_assignment_devices(self) -> list[int]: ...
    def tile(self, shape: Shape) -> Shape: ...

class Sharding: ...

class SingleDeviceSharding(Sharding):
    _memory_kind: str | None

    def __init__(self, device: Device) -> None: ...

def register_custom_call_partitioner(
    name: str, prop_user_sharding: Callable[..., Any], partition: Callable[..., Any],
    infer_sharding_from_operands: Callable[..., Any],
    can_side_effecting_have_replicated_sharding: bool = False,
) -> None: ...  # fmt: skip

# Arrays

class Buffer:
    """jaxlib's ``ArrayImpl``: an array on one device or several."""

    aval: HasType | None
    _sharding: Any
    _arrays: list[Buffer]
    _pjrt_layout: object

    def __init__(
        self, aval: HasType, sharding: Sharding, arrays: Sequence[Buffer], committed: bool,
        _skip_checks: bool = False,
    ) -> None: ...  # fmt: skip
    def is_ready(self) -> bool: ...
    def is_deleted(self) -> bool: ...
    def delete(self) -> None: ...
    def block_until_ready(self) -> Self: ...
    def unsafe_buffer_pointer(self) -> int: ...
    def on_device_size_in_bytes(self) -> int: ...
    def _single_device_array_to_np_array_did_copy(self) -> tuple[NDArray, bool]: ...
    def _copy_single_device_array_to_host_async(self) -> None: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

ArrayImpl = Buffer

class ArrayCopySemantics(enum.Enum):
    REUSE_INPUT = 1

def batched_device_put(
    aval: HasType, sharding: Sharding, xs: Sequence[NDArray], devices: Sequence[Device],
    committed: bool = True, force_copy: bool = False, *, enable_x64: bool,
) -> Buffer: ...  # fmt: skip
def batched_copy_array_to_devices_with_sharding(
    arrays: Sequence[Buffer], devices: Sequence[DeviceList], shardings: Sequence[Sharding],
    semantics: Sequence[ArrayCopySemantics],
) -> list[Buffer]: ...  # fmt: skip
def batched_block_until_ready(arrays: Sequence[Buffer]) -> None: ...
def buffer_to_dlpack_managed_tensor(buffer: Buffer, stream: int | None = None) -> Capsule: ...
def dlpack_managed_tensor_to_buffer(
    tensor: Capsule, device: Device, stream: int | None, *, copy: bool | None = None
) -> Buffer: ...

# Compiling and running

class DebugOptions:
    xla_disable_hlo_passes: str
    xla_gpu_cuda_data_dir: str

class ExecutableBuildOptions:
    use_spmd_partitioning: bool
    use_shardy_partitioner: bool
    allow_spmd_sharding_propagation_to_output: list[bool]
    debug_options: DebugOptions

class DeviceAssignment:
    @staticmethod
    def create(ids: NDArray) -> DeviceAssignment: ...

class CompileOptions:
    num_replicas: int
    num_partitions: int
    device_assignment: DeviceAssignment
    env_option_overrides: list[tuple[str, Any]]
    executable_build_options: ExecutableBuildOptions

class HloModule:
    def to_string(self) -> str: ...

class Token:
    """Of a running program: what waits for its end."""

    def block_until_ready(self) -> None: ...

class Handler:
    """What makes an array of a result."""

def array_result_handler(
    aval: HasType, sharding: Sharding, committed: bool, _skip_checks: bool = False
) -> Handler: ...

class ExecuteResults:
    def consume_token(self) -> Token: ...
    def consume_with_handlers(self, handlers: Sequence[Handler]) -> list[Buffer]: ...

class CompiledMemoryStats:
    output_size_in_bytes: int
    temp_size_in_bytes: int
    alias_size_in_bytes: int

class LoadedExecutable:
    def get_compiled_memory_stats(self) -> CompiledMemoryStats: ...
    def local_devices(self) -> list[Device]: ...
    def serialize(self) -> bytes: ...
    def hlo_modules(self) -> list[HloModule]: ...
    def get_output_shardings(self) -> list[OpSharding] | None: ...
    def execute_sharded(
        self, arguments: Sequence[Buffer], with_tokens: bool = False
    ) -> ExecuteResults: ...

class XlaComputation:
    def as_hlo_text(self) -> str: ...

class _Mlir:
    def mlir_module_to_xla_computation(self, bytecode: bytes) -> XlaComputation: ...
    def serialize_portable_artifact(
        self, bytecode: bytes, version: str, use_mixed_serialization: bool
    ) -> bytes: ...

class _Xla:
    mlir: _Mlir

    def get_default_c_api_topology(
        self, platform: str, name: str, options: Options
    ) -> Topology: ...

_xla: _Xla

# Several processes

class DistributedRuntimeService:
    def shutdown(self) -> None: ...

class DistributedRuntimeClient:
    def connect(self) -> None: ...
    def shutdown(self) -> None: ...
    def key_value_set_bytes(self, key: str, value: bytes) -> None: ...
    def blocking_key_value_get_bytes(self, key: str, timeout_in_ms: int) -> bytes: ...
    def wait_at_barrier(
        self, name: str, timeout_in_ms: int, processes: Sequence[int] | None = None
    ) -> None: ...

def get_distributed_runtime_service(
    address: str, num_nodes: int, *, heartbeat_timeout: int, cluster_register_timeout: int,
    shutdown_timeout: int, recoverable: bool,
) -> DistributedRuntimeService: ...  # fmt: skip
def get_distributed_runtime_client(
    address: str, node_id: int, *, init_timeout: int, heartbeat_timeout: int,
    shutdown_timeout: int, use_compression: bool, shutdown_on_destruction: bool,
) -> DistributedRuntimeClient: ...  # fmt: skip

# The profiler

class TraceMe:
    """``with TraceMe(name):`` names a part of what the profiler records."""

    def __init__(self, name: str, **metadata: Any) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...

class ProfileOptions:
    python_tracer_level: int

class ProfilerSession:
    def __init__(self, options: ProfileOptions | None = None) -> None: ...
    def stop_and_export(self, folder: str) -> None: ...

class ProfilerServer: ...

def start_server(port: int) -> ProfilerServer: ...

# Pytrees

NodeData: TypeAlias = "tuple[type, Any] | None"  # a node's class and what it needs beside children

class DictKey:
    def __init__(self, key: Any) -> None: ...
    @property
    def key(self) -> Any: ...

class SequenceKey:
    def __init__(self, idx: int) -> None: ...
    @property
    def idx(self) -> int: ...

class GetAttrKey:
    def __init__(self, name: str) -> None: ...
    @property
    def name(self) -> str: ...

class FlattenedIndexKey:
    def __init__(self, key: int) -> None: ...
    @property
    def key(self) -> int: ...

class PyTreeDef:
    """The structure of a tree: what is left of it without its leaves."""

    num_leaves: int
    num_nodes: int

    def unflatten(self, leaves: Iterable[Any], /) -> Any: ...
    def flatten_up_to(self, tree: Any, /) -> list[Any]: ...
    def children(self) -> list[PyTreeDef]: ...
    def node_data(self) -> NodeData: ...
    @staticmethod
    def from_node_data_and_children(
        registry: PyTreeRegistry, node_data: NodeData, children: Iterable[PyTreeDef]
    ) -> PyTreeDef: ...

class PyTreeRegistry:
    __name__: str

    def __init__(
        self, *, enable_none: bool = True, enable_tuple: bool = True,
        enable_namedtuple: bool = True, enable_list: bool = True, enable_dict: bool = True,
    ) -> None: ...  # fmt: skip
    def flatten(
        self, tree: Any, leaf_predicate: Callable[[Any], bool] | None = None
    ) -> tuple[list[Any], PyTreeDef]: ...
    def flatten_with_path(
        self, tree: Any, leaf_predicate: Callable[[Any, Any], bool] | None = None
    ) -> tuple[list[tuple[tuple[Any, ...], Any]], PyTreeDef]: ...
    def flatten_one_level(self, tree: Any) -> tuple[Iterable[Any], Any] | None: ...
    def is_node(self, type: type, /) -> bool: ...
    def register_node(
        self, type: type, to_iterable: Callable[[Any], tuple[Iterable[Any], Any]],
        from_iterable: Callable[[Any, Any], Any],
        to_iterable_with_keys: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
    ) -> None: ...  # fmt: skip
    def register_dataclass_node(
        self, type: type, data_fields: list[str], meta_fields: list[str]
    ) -> None: ...

def treedef_tuple(registry: PyTreeRegistry, treedefs: Sequence[PyTreeDef]) -> PyTreeDef: ...
