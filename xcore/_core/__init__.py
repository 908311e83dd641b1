"""What the folders above take of the core, by name: ``from .._core import Array, errors, typeof``.

What few need stays in the file of its subject, which ARCHITECTURE names.
"""

# pyright: reportUnusedImport=false

# fmt: off
from .array import Array, is_traced
from .eval import from_numpy, is_array_like, to_array, to_value
from .fused import fused
from .mesh import Mesh, PartitionSpec
from .op import Alternative, Linear, Op
from .program import Eqn, Literal, Program, Var, eval_program, trace_closed, trace_program
from .settings import one_of, require
from .sharding import NamedSharding
from .source import boundary
from .struct import static, struct
from .trace import Tracer, bind, ensure_compile_time_eval, is_evaluating
from .types import ArrayType, ShapeDtypeStruct, Value, typeof
from .typing import ArrayLike, Axis, DTypeLike, Index, Key, PyTree, Shape
# fmt: on
